#pragma once

#include <string>
#include <string_view>

#include "catalogs/architecture.hpp"

namespace smplan {

/// A config.json as Python's json writes it: NaN, Infinity and -Infinity stand for numbers there, where strict JSON has
/// no such words. Here they become texts of that name, so that a width of that value is refused by its key.
Result<JsonValue> parse_hf_config(std::string_view text, std::string_view name);
/// The same of a file; `-` is standard input.
Result<JsonValue> read_hf_config_file(const std::string& path);

}  // namespace smplan
