#include "catalogs/tokenizer/reading.hpp"

#include <fmt/format.h>

namespace smplan {

Diagnostic unsupported_type(std::string_view kind, std::string_view type, std::string where) {
  return {"unsupported", std::move(where), fmt::format("a {} of type {} is not read", kind, quote(type)),
          "count by characters, or give lengths"};
}

void check_steps(std::size_t steps, const JsonValue& value, Diagnostics& out) {
  if (steps <= kMaxSteps) return;
  out.push_back({"too-large", value.location(), fmt::format("more than {} steps", kMaxSteps), "leave some out"});
}

std::string text_of(const JsonValue& value, Diagnostics& out) {
  std::string text = value.as_text(out);
  if (text.size() <= kMaxFieldText) return text;
  out.push_back({"too-long", value.location(),
                 fmt::format("has {} bytes, at most {} are read", text.size(), kMaxFieldText), "shorten it"});
  return {};
}

}  // namespace smplan
