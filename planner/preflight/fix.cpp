#include <algorithm>

#include <fmt/format.h>

#include "planner/preflight/check.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

/// One piece of text in place of another.
struct Replacement {
  Span span;
  std::string text;
};

/// The member with its comma, so that what is left is JSON: the comma after it, else the one before.
Span with_comma(std::string_view text, const Node& member) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t next = text.find_first_not_of(kBlanks, member.span.end);
  if (text[next] == ',') {
    // Take the blanks up to the next member, so that no hole stays.
    return {member.key_span.begin, text.find_first_not_of(kBlanks, next + 1)};
  }
  const std::size_t before = text.find_last_not_of(kBlanks, member.key_span.begin - 1);
  return {text[before] == ',' ? before : member.key_span.begin, member.span.end};
}

class Fixer {
 public:
  Fixer(std::string_view text, const Node& root, Syntax syntax) : text_(text), root_(root), syntax_(syntax) {}

  /// All edits of one finding, or none: an edit that meets an earlier one would fight it.
  bool take(const std::vector<Edit>& edits) {
    std::vector<Replacement> wanted;
    for (const Edit& edit : edits) {
      const std::optional<Replacement> r = replacement(edit);
      if (!r || clashes(*r)) return false;
      wanted.push_back(*r);
    }
    replacements_.insert(replacements_.end(), wanted.begin(), wanted.end());
    return true;
  }

  [[nodiscard]] std::string text() const {
    std::vector<Replacement> sorted = replacements_;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    std::string out;
    std::size_t at = 0;
    for (const Replacement& r : sorted) {
      out += text_.substr(at, r.span.begin - at);
      out += r.text;
      at = r.span.end;
    }
    out += text_.substr(at);
    return out;
  }

 private:
  [[nodiscard]] bool clashes(const Replacement& r) const {
    return std::any_of(replacements_.begin(), replacements_.end(), [&](const Replacement& other) {
      return r.span.begin < other.span.end && other.span.begin < r.span.end;
    });
  }

  [[nodiscard]] std::optional<Replacement> replacement(const Edit& edit) const {
    const Node* node = node_at(root_, edit.path);
    if (node == nullptr || !node->where.file.empty() || (syntax_ != Syntax::Json && edit.kind != Edit::Kind::Set))
      return std::nullopt;
    switch (edit.kind) {
      case Edit::Kind::Set:
        // A JSON scalar is one of YAML and of TOML too.
        if (node->span.end == 0) return std::nullopt;
        return Replacement{node->span, edit.json};
      case Edit::Kind::Rename:
        return Replacement{node->key_span, json_text(edit.json)};
      case Edit::Kind::Remove: {
        const Node* parent = node_at(root_, parent_of(edit.path));
        if (parent == nullptr || !parent->is_object()) return std::nullopt;
        return Replacement{with_comma(text_, *node), ""};
      }
      case Edit::Kind::Insert:
        return insertion(*node, edit.json);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Replacement> insertion(const Node& object, const std::string& member) const {
    if (!object.is_object() || object.items.empty()) return std::nullopt;
    const Node& last = object.items.back();
    // Indented as the last member is.
    const std::size_t line = text_.rfind('\n', last.key_span.begin);
    const bool own_line = line != std::string_view::npos && line > object.span.begin;
    const std::string gap = own_line ? std::string(text_.substr(line, last.key_span.begin - line)) : std::string(" ");
    return Replacement{{last.span.end, last.span.end}, "," + gap + member};
  }

  std::string_view text_;
  const Node& root_;
  Syntax syntax_;
  std::vector<Replacement> replacements_;
};

std::string in_words(const Edit& edit) {
  switch (edit.kind) {
    case Edit::Kind::Set:
      return fmt::format("set {} to {}", edit.path, edit.json);
    case Edit::Kind::Remove:
      return fmt::format("removed {}", edit.path);
    case Edit::Kind::Rename:
      return fmt::format("renamed {} to {}", edit.path, edit.json);
    case Edit::Kind::Insert:
      return fmt::format("added {}", edit.json);
  }
  return {};
}

}  // namespace

Result<Fixed> apply_fixes(std::string_view text, const Job& job, const std::vector<Finding>& findings) {
  const Syntax syntax = syntax_of(job.kind, job.file, text);
  if (syntax == Syntax::Arguments) {
    return fail("fix-arguments", "--fix", fmt::format("{} is a list of arguments, which is not rewritten", job.file),
                "make the changes that the findings name");
  }
  Fixer fixer(text, job.root(), syntax);
  Fixed fixed;
  for (const Finding& finding : findings) {
    if (finding.edits.empty()) continue;
    if (fixer.take(finding.edits)) {
      for (const Edit& edit : finding.edits)
        fixed.changes.push_back(fmt::format("{}: {}", finding.rule, in_words(edit)));
    } else if (syntax != Syntax::Json) {
      fixed.left.push_back(fmt::format("{}: {} is left to you: only single plain values are rewritten in YAML and TOML",
                                       finding.rule, finding.where.name()));
    }
  }
  fixed.text = fixer.text();
  if (!parse_document(fixed.text, job.file, syntax)) {
    return fail("fix-failed", job.file, "the corrected text could not be read", "report this as a fault of smplan");
  }
  return fixed;
}

}  // namespace smplan
