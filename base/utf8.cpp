#include "base/utf8.hpp"

namespace smplan {
namespace {

/// Length of the well-formed sequence at the start of `text`, 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto in = [](unsigned value, unsigned low, unsigned high) { return value >= low && value <= high; };
  const auto tail = [&](std::size_t i) { return in(byte(i), 0x80, 0xBF); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (in(lead, 0xC2, 0xDF)) return tail(1) ? 2 : 0;
  if (in(lead, 0xE0, 0xEF)) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return in(byte(1), low, high) && tail(2) ? 3 : 0;
  }
  if (in(lead, 0xF0, 0xF4)) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    return in(byte(1), low, high) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

CodePoint first_code_point(std::string_view text) {
  const std::size_t length = sequence_length(text);
  if (length == 0 || text.empty()) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  constexpr char32_t kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t value = byte(0) & kLeadBits[length];
  for (std::size_t i = 1; i < length; ++i) value = value << 6 | (byte(i) & 0x3FU);
  return {value, length};
}

}  // namespace smplan
