#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "planner/request/request.hpp"

namespace smplan {

/// What a member of a request is about.
enum class RequestGroup : std::uint8_t {
  Model,
  Work,
  Hardware,  ///< which machines, how many
  Purchase,  ///< where and how they are bought
  Software,
  Launch,  ///< what must be able to start the job
  Dimension,
  Execution,  ///< what software is told
  Operation,
  Memory,  ///< what must stay free: what is left open is filled so that it does
  Goal,    ///< judges plans
  Facts,   ///< other facts than the catalog's
  Answer,  ///< how much is shown
};

/// A member of a request: its flag, its keyword in JSON and in Python, its help. The only list of them.
struct RequestName {
  std::string_view name;  ///< that of the flag with `_` for `-`
  RequestGroup group = RequestGroup::Model;
  std::string type;  ///< in help: `N`, `on|off`
  std::string_view help;
  std::optional<std::string> RequestSpec::*member = nullptr;  ///< nullptr: a dimension; of() knows
  Dimension dimension = Dimension::Tensor;                    ///< where it is one
  bool repeats = false;                                       ///< the flag may be given several times
  bool is_switch = false;                                     ///< the flag without a value means true

  [[nodiscard]] std::optional<std::string>& of(RequestSpec& spec) const {
    return member != nullptr ? spec.*member : spec[dimension];
  }
  [[nodiscard]] const std::optional<std::string>& of(const RequestSpec& spec) const {
    return member != nullptr ? spec.*member : spec[dimension];
  }
};
/// All of them, in the order of the flags.
std::span<const RequestName> request_names();

/// The request without what is asked in these groups.
RequestSpec without(RequestSpec spec, std::initializer_list<RequestGroup> groups);

/// Sets a member by its name; `-` stands for `_` too. An unknown name is a diagnostic with the nearest ones.
Result<void> assign(RequestSpec& spec, std::string_view name, std::string value, std::string_view where);

/// `params=13B instances=ml.p4d*`: words that set members of `base`, separated by blanks.
Result<RequestSpec> read_request_words(std::string_view words, RequestSpec base, std::string_view where);

/// The members that are set, as one compact JSON object: a request's identity.
std::string request_key(const RequestSpec& spec);

/// What to write instead of a word that other tools have and requests do not, such as `epochs`; empty if it is none.
/// `-` stands for `_`, as in flags.
std::string hint_for_foreign_word(std::string_view name);

}  // namespace smplan
