#pragma once

#include <string_view>

namespace smplan {

/// What a fit may do with a number of a profile.
struct FitKnob {
  std::string_view key;  ///< as in catalog files
  /// Width of the prior on the logit scale; 0: step times tell nothing about it, it stays.
  double prior_width = 0;
  std::string_view meaning;
  double beside_devices = 1;  ///< factor on that width where what accelerators sustain is fitted too
};

/// Whether a program that is slower as a whole is so in this number: what the device computes and the host launches,
/// not what the network carries.
bool is_of_program(std::string_view key);

/// nullptr for a number that is not fitted.
const FitKnob* find_fit_knob(std::string_view key);

}  // namespace smplan
