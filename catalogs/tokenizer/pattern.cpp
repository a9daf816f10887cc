#include "catalogs/tokenizer/pattern.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/utf8.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace smplan {
namespace {

constexpr std::size_t kMaxPattern = 16 << 10;
/// Bounds of one search: steps back, memory, and the stack of compiled code.
constexpr std::uint32_t kMaxSteps = 1'000'000;
constexpr std::uint32_t kMaxHeapKib = 64 << 10;
constexpr std::size_t kFirstStack = 32 << 10;
constexpr std::size_t kMaxStack = 1 << 20;
/// A search looks at so many places before it asks for the time.
constexpr std::size_t kWindow = 256;
/// What one text may take where matches are rare. A line of 16 MiB takes under a second with patterns of models.
constexpr std::chrono::seconds kMostTime{20};

constexpr std::uint32_t kOptions =
    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT | PCRE2_DOLLAR_ENDONLY;

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using CodePtr = std::unique_ptr<pcre2_code, Freed<pcre2_code_free>>;

CodePtr compiled(std::string_view text, int& error, std::size_t& offset) {
  const std::unique_ptr<pcre2_compile_context, Freed<pcre2_compile_context_free>> context(
      pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  return CodePtr(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), kOptions, &error, &offset, context.get()));
}

bool is_script(std::string_view name) {
  int error = 0;
  std::size_t offset = 0;
  return compiled(fmt::format("\\p{{sc:{}}}", name), error, offset) != nullptr;
}

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct Pattern::Code {
  CodePtr code;
};

struct Matcher::State {
  std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>> data{pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>> context{pcre2_match_context_create(nullptr)};
  std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack_free>> stack{
      pcre2_jit_stack_create(kFirstStack, kMaxStack, nullptr)};
};

Result<Pattern> Pattern::compile(const std::string& text, const std::string& where) {
  int error = 0;
  std::size_t offset = 0;
  CodePtr code = compiled(text, error, offset);
  if (!code) {
    return fail("unsupported", where,
                fmt::format("the regular expression {} cannot be read: {}", quote(text), message_of(error)),
                "count by characters, or give lengths");
  }
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // where there is no compiler, matches are only slower
  Pattern out;
  out.code_ = std::make_shared<const Code>(Code{std::move(code)});
  return out;
}

Result<Pattern> Pattern::oniguruma(std::string_view text, const std::string& where) {
  if (text.size() > kMaxPattern) {
    return fail("too-long", where, fmt::format("a regular expression of more than {} bytes", kMaxPattern),
                "count by characters, or give lengths");
  }
  const Result<std::string> own = from_oniguruma(text, where, is_script);
  if (!own) return tl::unexpected<Diagnostics>(own.error());
  return compile(*own, where);
}

Result<Pattern> Pattern::literal(std::string_view text, const std::string& where) {
  if (text.size() > kMaxPattern) {
    return fail("too-long", where, fmt::format("a text of more than {} bytes", kMaxPattern), "shorten it");
  }
  std::string own;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.length == 0) return fail("bad-text", where, "is no UTF-8", "write it anew");
    own += fmt::format("\\x{{{:X}}}", static_cast<std::uint32_t>(c.value));
    text.remove_prefix(c.length);
  }
  return compile(own, where);
}

Pattern Pattern::own(std::string_view text) {
  Result<Pattern> out = compile(std::string(text), "pattern");
  SMPLAN_ASSERT(out.has_value());
  return std::move(*out);
}

Matcher::Matcher() : state_(std::make_unique<State>()) {
  pcre2_set_match_limit(state_->context.get(), kMaxSteps);
  pcre2_set_heap_limit(state_->context.get(), kMaxHeapKib);
  pcre2_jit_stack_assign(state_->context.get(), nullptr, state_->stack.get());
  start_text();
}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

void Matcher::start_text() { deadline_ = std::chrono::steady_clock::now() + kMostTime; }

Matcher::Found Matcher::find(const Pattern& pattern, std::string_view text, std::size_t from, Cut& found) {
  for (std::size_t start = from; start <= text.size();) {
    const std::size_t last = std::min(text.size(), start + kWindow);
    pcre2_set_offset_limit(state_->context.get(), last);
    const int count = pcre2_match(pattern.code_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                  start, PCRE2_NO_UTF_CHECK, state_->data.get(), state_->context.get());
    if (count >= 0) {
      const std::size_t* ends = pcre2_get_ovector_pointer(state_->data.get());
      found = {ends[0], std::max(ends[0], ends[1]), true};
      return Found::Yes;
    }
    if (count != PCRE2_ERROR_NOMATCH || std::chrono::steady_clock::now() > deadline_) return Found::GaveUp;
    start = last + 1;
    while (start < text.size() && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80) ++start;
  }
  return Found::No;
}

bool Matcher::cut(const Pattern& pattern, std::string_view text, std::vector<Cut>& cuts) {
  cuts.clear();
  if (text.empty()) {
    cuts.push_back({});
    return true;
  }
  std::size_t before = 0;  // end of the last cut
  std::size_t from = 0;
  bool some = false;
  Cut match;
  while (from <= text.size()) {
    const Found found = find(pattern, text, from, match);
    if (found == Found::GaveUp) return false;
    if (found == Found::No) break;
    if (match.begin == match.end && some && match.end == before) {
      // Nothing right behind a match: go on behind the next character.
      from = match.end + 1;
      while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0U) == 0x80) ++from;
      continue;
    }
    if (match.begin > before) cuts.push_back({before, match.begin, false});
    cuts.push_back(match);
    before = from = match.end;
    some = true;
  }
  if (before < text.size()) cuts.push_back({before, text.size(), false});
  return true;
}

bool Matcher::matches(const Pattern& pattern, std::string_view text) {
  Cut found;
  return find(pattern, text, 0, found) == Found::Yes;
}

}  // namespace smplan
