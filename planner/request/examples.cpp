#include "planner/request/examples.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>

#include <fmt/format.h>

#include "base/json_reader.hpp"

namespace smplan {
namespace {

constexpr std::size_t kMaxLine = std::size_t{16} << 20;

/// What a record holds beside its form.
struct Form {
  std::string_view name;
  bool pair = false;
  bool counted = false;
};

/// Characters and turns of text, or tokens.
struct Size {
  double characters = 0;
  std::int64_t turns = 0;
  std::int64_t tokens = 0;
};

/// Unicode characters, not bytes.
double characters(const std::string& text) {
  return static_cast<double>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void add_text(const std::optional<JsonValue>& value, Size& size, Diagnostics& out) {
  if (!value || value->is_null()) return;
  size.characters += characters(value->as_text(out));
}

/// A chat: turns of `content` or `value`; a text of several parts counts its texts.
void add_turns(const JsonValue& value, Size& size, Diagnostics& out) {
  if (value.is_string()) {
    size.characters += characters(value.as_text(out));
    return;
  }
  for (const JsonValue& turn : value.as_array(out)) {
    ++size.turns;
    if (!turn.is_object()) {
      size.characters += characters(turn.as_text(out));
      continue;
    }
    const auto content = turn.find("content") ? turn.find("content") : turn.find("value");
    if (!content || content->is_null()) continue;
    if (!content->is_array()) {
      size.characters += characters(content->as_text(out));
      continue;
    }
    for (const JsonValue& part : content->as_array(out)) add_text(part.find("text"), size, out);
  }
}

Size operator+(Size a, const Size& b) {
  a.characters += b.characters;
  a.turns += b.turns;
  return a;
}

/// The form of a record, and its one or two sequences.
std::optional<Form> read_record(const JsonValue& record, std::vector<Size>& sizes, Diagnostics& out) {
  const auto turns_of = [&](std::string_view key) {
    Size size;
    if (const auto value = record.find(key)) add_turns(*value, size, out);
    return size;
  };
  sizes.clear();
  if (const auto ids = record.find("input_ids")) {
    Size size;
    size.tokens = static_cast<std::int64_t>(ids->as_array(out).size());
    sizes.push_back(size);
    return Form{"input_ids", false, true};
  }
  if (const auto tokens = record.find("tokens"); tokens && tokens->is_number()) {
    Size size;
    size.tokens = tokens->as_integer(out);
    sizes.push_back(size);
    return Form{"tokens", false, true};
  }
  if (record.find("chosen") && record.find("rejected")) {
    const Size prompt = turns_of("prompt");
    sizes = {prompt + turns_of("chosen"), prompt + turns_of("rejected")};
    return Form{"chosen", true, false};
  }
  for (const std::string_view chat : {"messages", "conversations"}) {
    if (!record.find(chat)) continue;
    sizes.push_back(turns_of(chat));
    return Form{chat};
  }
  if (record.find("prompt") && record.find("completion")) {
    sizes.push_back(turns_of("prompt") + turns_of("completion"));
    return Form{"prompt"};
  }
  if (record.find("instruction") && record.find("output")) {
    sizes.push_back(turns_of("instruction") + turns_of("input") + turns_of("output"));
    return Form{"instruction"};
  }
  if (const auto text = record.find("text")) {
    Size size;
    add_text(text, size, out);
    sizes.push_back(size);
    return Form{"text"};
  }
  return std::nullopt;
}

Result<ExampleLengths> fault(std::string code, std::string where, std::string message, std::string hint) {
  return tl::unexpected<Diagnostics>(
      Diagnostics{{std::move(code), std::move(where), std::move(message), std::move(hint)}});
}

Result<ExampleLengths> read_lines(std::istream& in, const std::string& name, double characters_per_token) {
  ExampleLengths lengths;
  std::optional<Form> form;
  std::vector<Size> sizes;
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    const std::string where = fmt::format("{}:{}", name, number);
    if (line.size() > kMaxLine) {
      return fault("too-large", where, "a line of more than 16 MiB", "split the record");
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Result<JsonValue> record = parse_json(line, where);
    if (!record) return tl::unexpected<Diagnostics>(record.error());
    if (!record->is_object()) return fault("type", where, "a record must be an object", "write one JSON object a line");
    Diagnostics faults;
    const std::optional<Form> found = read_record(*record, sizes, faults);
    if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
    if (!found) {
      return fault("missing", where, "a record without text that a trainer takes",
                   "give text, messages, prompt and completion, instruction and output, prompt with chosen and "
                   "rejected, or input_ids");
    }
    if (form && form->name != found->name) {
      return fault("conflict", where,
                   fmt::format("a record with `{}`; those before have `{}`", found->name, form->name),
                   "write all records in one form");
    }
    form = found;
    if (++lengths.examples > kMaxExamples) {
      return fault("too-large", name, fmt::format("more than {} examples", kMaxExamples), "give a sample of them");
    }
    for (const Size& size : sizes) {
      const double text = std::ceil(size.characters / characters_per_token);
      const auto tokens = found->counted ? size.tokens : static_cast<std::int64_t>(text) + kTokensOfATurn * size.turns;
      lengths.tokens.push_back(std::max<std::int64_t>(1, tokens));
    }
  }
  if (in.bad()) return fault("io", name, "cannot be read to its end", "check the file");
  if (!form) return fault("empty", name, "holds no example", "write one JSON object a line");
  lengths.pairs = form->pair;
  lengths.counted = form->counted;
  std::sort(lengths.tokens.begin(), lengths.tokens.end());
  return lengths;
}

}  // namespace

double ExampleLengths::mean() const {
  double sum = 0;
  for (const std::int64_t n : tokens) sum += static_cast<double>(n);
  return tokens.empty() ? 0 : sum / static_cast<double>(tokens.size());
}

std::int64_t ExampleLengths::quantile(double part) const {
  const auto last = static_cast<double>(tokens.size() - 1);
  return tokens[static_cast<std::size_t>(std::ceil(std::clamp(part, 0.0, 1.0) * last))];
}

ExampleLengths ExampleLengths::cut_to(std::int64_t limit) const {
  ExampleLengths out = *this;
  for (std::int64_t& n : out.tokens) n = std::min(n, limit);
  return out;
}

double ExampleLengths::padded_mean(std::int64_t together) const {
  const auto n = static_cast<double>(tokens.size());
  const auto m = static_cast<double>(std::max<std::int64_t>(1, together));
  double mean = 0;
  double below = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const double up_to = std::pow(static_cast<double>(i + 1) / n, m);
    mean += static_cast<double>(tokens[i]) * (up_to - below);
    below = up_to;
  }
  return mean;
}

ExampleLengths equal_examples(std::int64_t examples, std::int64_t length) {
  ExampleLengths out;
  out.examples = examples;
  out.tokens.assign(static_cast<std::size_t>(examples), length);
  return out;
}

Result<ExampleLengths> read_examples(const std::string& path, double characters_per_token) {
  if (path == "-") return read_lines(std::cin, "<stdin>", characters_per_token);
  std::ifstream file(path, std::ios::binary);
  if (!file) return fault("io", path, "cannot be opened", "give a file of JSON lines");
  return read_lines(file, path, characters_per_token);
}

}  // namespace smplan
