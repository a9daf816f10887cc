#pragma once

#include <span>
#include <string>
#include <string_view>

#include "planner/request.hpp"

namespace smplan {

/// A member of a request by its name in JSON and in Python: that of the flag with `_` for `-`.
struct RequestName {
  std::string_view name;
  std::optional<std::string> RequestSpec::*field;
};
/// All of them, in the order of the flags.
std::span<const RequestName> request_names();

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
