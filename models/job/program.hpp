#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace smplan {

/// Whose program runs the step.
enum class Program : std::uint8_t {
  Unknown,  ///< a user's: most are slower than the published ones, some are faster
  Tuned,    ///< a recipe that was tuned and published, as those are that profiles rest on
};

/// `user` and `tuned`.
constexpr std::string_view to_string(Program program) { return program == Program::Tuned ? "tuned" : "user"; }
/// `unknown` is another word for a user's.
constexpr std::optional<Program> program_from(std::string_view name) {
  if (name == "tuned") return Program::Tuned;
  return name == "user" || name == "unknown" ? std::optional(Program::Unknown) : std::nullopt;
}

}  // namespace smplan
