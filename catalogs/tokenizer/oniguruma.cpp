#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "catalogs/tokenizer/pattern.hpp"

namespace smplan {
namespace {

// What the two engines mean by one letter differs. Source: Oniguruma's doc/RE and pcre2pattern(3), 10.42, read 2026-11.
constexpr std::string_view kWord = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
// Outside of a class and in \\W, superscripts and fractions of Latin-1 are of words too: Oniguruma 6.9 looks them up in
// another table. Source: its unicode.c, EncUNICODE_ISO_8859_1_CtypeTable, read 2026-11.
constexpr std::string_view kWordOutside = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";
constexpr std::string_view kHexDigit = "0-9A-Fa-f";

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPosixBrackets{{{"alpha", "\\p{Alphabetic}"},
                                                                                       {"digit", "\\p{Nd}"},
                                                                                       {"upper", "\\p{Uppercase}"},
                                                                                       {"lower", "\\p{Lowercase}"},
                                                                                       {"space", "\\p{White_Space}"},
                                                                                       {"xdigit", kHexDigit}}};

/// Control characters that a letter stands for.
constexpr std::array<std::pair<char, char32_t>, 7> kControls{
    {{'t', '\t'}, {'n', '\n'}, {'r', '\r'}, {'f', '\f'}, {'v', '\v'}, {'a', '\a'}, {'e', 0x1B}}};

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string code_point(char32_t c) { return fmt::format("\\x{{{:X}}}", static_cast<std::uint32_t>(c)); }

/// Reads a pattern from left to right; the first fault ends it.
class Translator {
 public:
  Translator(std::string_view text, bool (*is_script)(std::string_view)) : text_(text), is_script_(is_script) {}

  std::string run() {
    std::string out;
    while (!done() && fault.empty()) out += next();
    return out;
  }

  std::string fault;

 private:
  /// What a class holds between two `&&`: members, and what PCRE2 cannot say as a member.
  struct Union {
    std::string members;
    std::vector<std::string> others;
  };

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] bool ahead(std::string_view words) const { return text_.substr(at_).starts_with(words); }
  bool take(std::string_view words) {
    if (!ahead(words)) return false;
    at_ += words.size();
    return true;
  }
  std::string refuse(std::string what) {
    if (fault.empty()) fault = std::move(what);
    at_ = text_.size();
    return {};
  }
  char32_t character() {
    const CodePoint c = first_code_point(text_.substr(at_));
    at_ += std::max<std::size_t>(1, c.length);
    return c.value;
  }

  std::string next() {
    const char c = text_[at_];
    if (c == '\\') return escape_outside();
    if (c == '[') return bracket();
    if (c == '(') return group();
    if (c == '{') return interval();
    if (std::string_view(")|^$.*+?").find(c) != std::string_view::npos) {
      ++at_;
      return std::string(1, c);
    }
    return code_point(character());
  }

  std::string group() {
    for (const std::string_view plain : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"}) {
      if (take(plain)) return std::string(plain);
    }
    if (!ahead("(?")) {
      ++at_;
      return "(?:";
    }
    // (?i), (?i:, (?mi-: and so on; m is PCRE2's s.
    std::size_t end = at_ + 2;
    std::string out = "(?";
    while (end < text_.size() && std::string_view("im-").find(text_[end]) != std::string_view::npos) {
      out += text_[end] == 'm' ? 's' : text_[end];
      ++end;
    }
    if (end > at_ + 2 && end < text_.size() && (text_[end] == ':' || text_[end] == ')')) {
      out += text_[end];
      at_ = end + 1;
      return out;
    }
    return refuse(fmt::format("the group {}", quote(text_.substr(at_, 6))));
  }

  /// {n}, {n,}, {n,m} and {,m}; anything else is text.
  std::string interval() {
    const std::size_t end = text_.find('}', at_);
    const std::string_view inside = end == std::string_view::npos ? "" : text_.substr(at_ + 1, end - at_ - 1);
    const std::size_t comma = inside.find(',');
    const std::string_view low = inside.substr(0, comma);
    const std::string_view high = comma == std::string_view::npos ? "" : inside.substr(comma + 1);
    const auto digits = [](std::string_view text) {
      return text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if ((low.empty() && high.empty()) || !digits(low) || !digits(high)) return code_point(character());
    at_ = end + 1;
    if (ahead("+") || (comma == std::string_view::npos && ahead("?"))) {
      return refuse(fmt::format("'{}' behind {{{}}}", text_[at_], inside));
    }
    return low.empty() ? fmt::format("{{0,{}}}", high) : fmt::format("{{{}}}", inside);
  }

  std::string escape_outside() {
    switch (at_ + 1 < text_.size() ? text_[at_ + 1] : '\0') {
      case 'w':
        return taken(2, fmt::format("[{}]", kWordOutside));
      case 'W':
        return taken(2, fmt::format("[^{}]", kWordOutside));
      case 'H':
        return taken(2, fmt::format("[^{}]", kHexDigit));
      case 'b':
        return taken(2, fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", kWordOutside));
      case 'B':
        return taken(2, fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", kWordOutside));
      case 'A':
        return taken(2, "\\A");
      case 'z':
        return taken(2, "\\z");
      case 'Z':
        return taken(2, "\\Z");
      case 'R':
        return taken(2, "\\R");
      default:
        break;
    }
    if (const auto members = class_escape()) return members->front() == '\\' ? *members : "[" + *members + "]";
    return code_point(literal_escape());
  }

  std::string taken(std::size_t bytes, std::string out) {
    at_ += bytes;
    return out;
  }

  /// \d, \s, \p{L} and their like, as members of a class; nullopt, and nothing is read, if it is another escape.
  std::optional<std::string> class_escape() {
    switch (at_ + 1 < text_.size() ? text_[at_ + 1] : '\0') {
      case 'd':
        return taken(2, "\\p{Nd}");
      case 'D':
        return taken(2, "\\P{Nd}");
      case 's':
        return taken(2, "\\p{White_Space}");
      case 'S':
        return taken(2, "\\P{White_Space}");
      case 'w':
        return taken(2, std::string(kWord));
      case 'h':
        return taken(2, std::string(kHexDigit));
      case 'p':
      case 'P':
        return property();
      default:
        return std::nullopt;
    }
  }

  std::string property() {
    const std::size_t end = text_.find('}', at_);
    const std::size_t begin = at_ + 3;
    if (at_ + 2 >= text_.size() || text_[at_ + 2] != '{' || end == std::string_view::npos) {
      return refuse("\\p without a name in braces");
    }
    std::string_view name = text_.substr(begin, end - begin);
    bool negated = text_[at_ + 1] == 'P';
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    for (const char c : name) {
      if (!is_letter_or_digit(c) && c != '_' && c != ' ' && c != '-') return refuse("a property that is no name");
    }
    if (name.empty() || name.size() > 64) return refuse("a property that is no name");
    at_ = end + 1;
    // PCRE2 takes the name of a script alone for its extensions too.
    return fmt::format("\\{}{{{}{}}}", negated ? 'P' : 'p', is_script_(name) ? "sc:" : "", name);
  }

  /// A character that is written with a backslash.
  char32_t literal_escape() {
    const std::size_t start = at_;
    ++at_;
    if (done()) return refused("a backslash at the end");
    const char letter = text_[at_];
    for (const auto& [name, value] : kControls) {
      if (letter == name) {
        ++at_;
        return value;
      }
    }
    if (letter == 'u' || letter == 'x') return hexadecimal();
    if (is_letter_or_digit(letter)) return refused(fmt::format("the escape {}", quote(text_.substr(start, 2))));
    return character();
  }

  char32_t refused(std::string what) {
    refuse(std::move(what));
    return 0;
  }

  /// \uHHHH, \xHH and \x{H...}, behind the letter's backslash.
  char32_t hexadecimal() {
    const bool braces = text_.substr(at_).starts_with("x{");
    const std::size_t begin = at_ + (braces ? 2 : 1);
    const std::size_t close = text_.find('}', begin);
    const std::size_t wanted = text_[at_] == 'u' ? 4 : 2;
    const std::string_view digits = text_.substr(begin, braces ? close - begin : wanted);
    const bool short_of =
        braces ? close == std::string_view::npos || digits.empty() || digits.size() > 6 : digits.size() != wanted;
    if (short_of || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
      return refused("an escape without its hexadecimal digits");
    }
    char32_t value = 0;
    for (const char c : digits) {
      const auto low = static_cast<unsigned char>(c | 0x20);
      value = value * 16 + static_cast<char32_t>(c <= '9' ? c - '0' : low - 'a' + 10);
    }
    at_ = begin + digits.size() + (braces ? 1 : 0);
    // Above ASCII, \xHH is a byte of UTF-8 there.
    if (wanted == 2 && !braces && value > 0x7F) return refused("a byte that is no character");
    return value;
  }

  /// A class as an expression of one character.
  std::string bracket() {
    if (++depth_ > kMaxDepth) return refuse("classes within classes within classes");
    ++at_;
    const bool negated = take("^");
    std::vector<Union> parts(1);
    if (ahead("]")) return refuse("an empty class");
    while (!take("]")) {
      if (done()) return refuse("a class without its end");
      if (take("&&")) {
        parts.emplace_back();
      } else {
        member(parts.back());
      }
    }
    --depth_;
    return expression(parts, negated);
  }

  void member(Union& to) {
    if (ahead("[:")) return posix_bracket(to);
    if (ahead("[")) {
      const std::string inner = bracket();
      const bool plain = inner.starts_with("[") && !inner.starts_with("[^");
      if (plain) {
        to.members += inner.substr(1, inner.size() - 2);
      } else {
        to.others.push_back(inner);
      }
      return;
    }
    if (ahead("\\")) {
      if (take("\\W")) {
        to.others.push_back(fmt::format("[^{}]", kWord));
        return;
      }
      if (take("\\H")) {
        to.others.push_back(fmt::format("[^{}]", kHexDigit));
        return;
      }
      if (const auto members = class_escape()) {
        to.members += *members;
        return;
      }
    }
    const char32_t first = single();
    const bool range = ahead("-") && at_ + 1 < text_.size() && text_[at_ + 1] != ']' && text_[at_ + 1] != '[' &&
                       text_.substr(at_ + 1, 2) != "&&";
    if (!range) {
      to.members += code_point(first);
      return;
    }
    ++at_;
    const char32_t last = single();
    if (last < first) refuse("a range that ends before it begins");
    to.members += code_point(first) + "-" + code_point(last);
  }

  char32_t single() {
    if (!ahead("\\")) return character();
    if (ahead("\\b")) {
      at_ += 2;
      return '\b';
    }
    return literal_escape();
  }

  void posix_bracket(Union& to) {
    for (const auto& [name, members] : kPosixBrackets) {
      if (take(fmt::format("[:{}:]", name))) {
        to.members += members;
        return;
      }
    }
    refuse(fmt::format("the bracket {}", quote(text_.substr(at_, 10))));
  }

  static std::string expression(const Union& part) {
    const std::string own = part.members.empty() ? "" : "[" + part.members + "]";
    if (part.others.empty()) return own;
    if (own.empty() && part.others.size() == 1) return part.others.front();
    std::string out = "(?:" + own;
    for (const std::string& other : part.others) out += (out.size() > 3 ? "|" : "") + other;
    return out + ")";
  }

  std::string expression(const std::vector<Union>& parts, bool negated) {
    for (const Union& part : parts) {
      if (part.members.empty() && part.others.empty()) return refuse("a class with nothing on one side of &&");
    }
    if (parts.size() == 1 && parts.front().others.empty()) {
      return fmt::format("[{}{}]", negated ? "^" : "", parts.front().members);
    }
    std::string all = parts.size() == 1 ? "" : "(?:";
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) all += "(?=" + expression(parts[i]) + ")";
    all += expression(parts.back());
    if (parts.size() > 1) all += ")";
    return negated ? "(?:(?!" + all + ")(?s:.))" : all;
  }

  static constexpr int kMaxDepth = 8;

  std::string_view text_;
  bool (*is_script_)(std::string_view);
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<std::string> from_oniguruma(std::string_view pattern, const std::string& where,
                                   bool (*is_script)(std::string_view name)) {
  if (!is_utf8(pattern)) return fail("bad-text", where, "is no UTF-8", "write it anew");
  Translator translator(pattern, is_script);
  std::string out = translator.run();
  if (translator.fault.empty()) return out;
  return fail("unsupported", where, fmt::format("the regular expression {} holds {}", quote(pattern), translator.fault),
              "count by characters, or give lengths");
}

}  // namespace smplan
