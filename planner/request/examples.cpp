#include "planner/request/examples.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "base/parallel_for.hpp"

namespace smplan {
namespace {

constexpr std::size_t kMaxLine = std::size_t{16} << 20;

/// What a record holds beside its form.
struct Form {
  std::string_view name;
  bool pair = false;
  bool counted = false;
};

/// Text and turns, or tokens.
struct Size {
  std::vector<std::string> texts;
  std::int64_t turns = 0;
  std::int64_t tokens = 0;
};

void add_text(const std::optional<JsonValue>& value, Size& size, Diagnostics& out) {
  if (value && !value->is_null()) size.texts.push_back(value->as_text(out));
}

/// A chat: turns of `content` or `value`; a text of several parts counts its texts.
void add_turns(const JsonValue& value, Size& size, Diagnostics& out) {
  if (value.is_string()) {
    add_text(value, size, out);
    return;
  }
  for (const JsonValue& turn : value.as_array(out)) {
    ++size.turns;
    if (!turn.is_object()) {
      add_text(turn, size, out);
      continue;
    }
    const auto content = turn.find("content") ? turn.find("content") : turn.find("value");
    if (!content || content->is_null()) continue;
    if (!content->is_array()) {
      add_text(content, size, out);
      continue;
    }
    for (const JsonValue& part : content->as_array(out)) add_text(part.find("text"), size, out);
  }
}

Size operator+(Size a, const Size& b) {
  a.texts.insert(a.texts.end(), b.texts.begin(), b.texts.end());
  a.turns += b.turns;
  return a;
}

/// Trainers tokenize a prompt and its completion as one text.
Size joined(Size prompt, Size completion) {
  if (prompt.turns > 0 || completion.turns > 0 || prompt.texts.empty() || completion.texts.empty()) {
    return std::move(prompt) + completion;
  }
  prompt.texts.front() += completion.texts.front();
  return prompt;
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
    sizes.push_back(joined(turns_of("prompt"), turns_of("completion")));
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

struct Line {
  std::int64_t number = 0;
  std::string text;
};

/// What a line says.
struct Record {
  std::int64_t line = 0;
  Form form;
  std::vector<std::int64_t> tokens;  ///< of its one or two sequences
  bool turns = false;
};

/// Lines that one thread reads, and what it found: records up to the first fault.
struct Part {
  std::vector<Line> lines;
  std::vector<Record> records;
  Diagnostics faults;
};

/// Reads a file in batches of parts, which threads share.
class ExampleReader {
 public:
  ExampleReader(std::istream& in, const std::string& name, const TextMeasure& measure)
      : in_(in),
        name_(name),
        measure_(measure),
        threads_(measure.threads > 0 ? measure.threads : std::max(1U, std::thread::hardware_concurrency())) {
    for (unsigned i = 0; i < threads_; ++i) counters_.push_back(measure.counter ? measure.counter() : nullptr);
  }

  Result<ExampleLengths> run() {
    while (true) {
      Result<std::vector<Part>> parts = next_batch();
      if (!parts) return tl::unexpected<Diagnostics>(std::move(parts.error()));
      if (parts->empty()) break;
      std::atomic<std::size_t> worker{0};
      parallel_for(threads_, parts->size(), [&] {
        // Words that a counter remembers are of use to the next batch.
        return [&, count = counters_[worker++]](std::size_t i) { read((*parts)[i], count); };
      });
      for (Part& part : *parts) {
        if (Result<void> added = add(part); !added) return tl::unexpected<Diagnostics>(std::move(added.error()));
      }
    }
    if (in_.bad()) return fail("io", name_, "cannot be read to its end", "check the file");
    if (!form_) return fail("empty", name_, "holds no example", "write one JSON object a line");
    lengths_.pairs = form_->pair;
    lengths_.counted = form_->counted;
    std::sort(lengths_.tokens.begin(), lengths_.tokens.end());
    return std::move(lengths_);
  }

 private:
  static constexpr std::size_t kPartBytes = std::size_t{256} << 10;
  static constexpr std::size_t kBatchParts = 64;

  [[nodiscard]] std::string place(std::int64_t number) const { return fmt::format("{}:{}", name_, number); }

  /// Empty at the end of the file.
  Result<std::vector<Part>> next_batch() {
    std::vector<Part> parts;
    std::size_t bytes = 0;
    std::string line;
    while (parts.size() < kBatchParts && std::getline(in_, line)) {
      ++number_;
      if (line.size() > kMaxLine) {
        return fail("too-large", place(number_), "a line of more than 16 MiB", "split the record");
      }
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (parts.empty() || bytes > kPartBytes) {
        parts.emplace_back();
        bytes = 0;
      }
      bytes += line.size();
      parts.back().lines.push_back({number_, std::move(line)});
    }
    return parts;
  }

  void read(Part& part, const TextMeasure::Count& count) const {
    std::vector<std::vector<Size>> sizes;
    for (const Line& line : part.lines) {
      Record record;
      sizes.emplace_back();
      part.faults = read(line, record, sizes.back());
      if (!part.faults.empty()) {
        sizes.pop_back();
        break;
      }
      part.records.push_back(std::move(record));
    }
    part.lines.clear();
    measure(part, sizes, count);
  }

  /// The line's record without its tokens, and the text of its sequences; else what is wrong with it.
  Diagnostics read(const Line& line, Record& record, std::vector<Size>& sizes) const {
    const std::string where = place(line.number);
    if (line.text[line.text.find_first_not_of(" \t\r")] == '[') {
      return {{"type", where, "an array, where each line is one object", "write one object a line: jq -c '.[]' FILE"}};
    }
    const Result<JsonValue> value = parse_json(line.text, where);
    if (!value) return value.error();
    if (!value->is_object()) return {{"type", where, "a record must be an object", "write one JSON object a line"}};
    Diagnostics faults;
    const std::optional<Form> form = read_record(*value, sizes, faults);
    if (!faults.empty()) return faults;
    if (!form) {
      return {{"missing", where, "a record without text that a trainer takes",
               "give text, messages, prompt and completion, instruction and output, prompt with chosen and "
               "rejected, or input_ids"}};
    }
    record.line = line.number;
    record.form = *form;
    return {};
  }

  void measure(Part& part, std::vector<std::vector<Size>>& sizes, const TextMeasure::Count& count) const {
    std::vector<std::string> texts;
    for (std::vector<Size>& record : sizes) {
      for (Size& size : record) {
        if (count) std::move(size.texts.begin(), size.texts.end(), std::back_inserter(texts));
      }
    }
    Result<std::vector<std::int64_t>> counted = std::vector<std::int64_t>();
    if (!texts.empty()) counted = count(texts);
    if (!counted) {
      // Records before a fault of the file are in order; it is told where these texts stand.
      part.faults = std::move(counted.error());
      part.faults.front().location += fmt::format(" for {}", place(part.records.front().line));
      part.records.clear();
      return;
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < part.records.size(); ++i) {
      Record& record = part.records[i];
      for (const Size& size : sizes[i]) {
        record.turns = record.turns || size.turns > 0;
        std::int64_t tokens = size.tokens;
        if (!record.form.counted) {
          tokens = kTokensOfATurn * size.turns;
          tokens += count ? measure_.added_to_a_sequence : divided(size);
          for (std::size_t n = 0; count && n < size.texts.size(); ++n) tokens += (*counted)[next++];
        }
        record.tokens.push_back(std::max<std::int64_t>(1, tokens));
      }
    }
  }

  [[nodiscard]] std::int64_t divided(const Size& size) const {
    double sum = 0;
    for (const std::string& text : size.texts) sum += static_cast<double>(text.size());
    return static_cast<std::int64_t>(std::ceil(sum / measure_.characters_per_token));
  }

  Result<void> add(Part& part) {
    for (const Record& record : part.records) {
      if (form_ && form_->name != record.form.name) {
        return fail("conflict", place(record.line),
                    fmt::format("a record with `{}`; those before have `{}`", record.form.name, form_->name),
                    "write all records in one form");
      }
      form_ = record.form;
      if (++lengths_.examples > kMaxExamples) {
        return fail("too-large", name_, fmt::format("more than {} examples", kMaxExamples), "give a sample of them");
      }
      lengths_.tokens.insert(lengths_.tokens.end(), record.tokens.begin(), record.tokens.end());
      lengths_.turns = lengths_.turns || record.turns;
    }
    if (!part.faults.empty()) return tl::unexpected<Diagnostics>(std::move(part.faults));
    return {};
  }

  std::istream& in_;
  const std::string& name_;
  const TextMeasure& measure_;
  unsigned threads_;
  std::vector<TextMeasure::Count> counters_;  ///< one a thread
  std::int64_t number_ = 0;                   ///< of the line read last
  std::optional<Form> form_;
  ExampleLengths lengths_;
};

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

TextMeasure measure_of(const Tokenizer& tokenizer) {
  TextMeasure measure;
  measure.added_to_a_sequence = tokenizer.added_to_a_sequence();
  measure.counter = [tokenizer]() -> TextMeasure::Count {
    return [counter = std::make_shared<TokenCounter>(tokenizer)](
               const std::vector<std::string>& texts) -> Result<std::vector<std::int64_t>> {
      std::vector<std::int64_t> out;
      for (const std::string& text : texts) {
        Result<std::int64_t> tokens = counter->count(text);
        if (!tokens) return tl::unexpected<Diagnostics>(std::move(tokens.error()));
        out.push_back(*tokens);
      }
      return out;
    };
  };
  return measure;
}

Result<ExampleLengths> read_examples(const std::string& path, const TextMeasure& measure) {
  if (path == "-") return ExampleReader(std::cin, "<stdin>", measure).run();
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail("io", path, "cannot be opened", "give a file of JSON lines");
  return ExampleReader(file, path, measure).run();
}

}  // namespace smplan
