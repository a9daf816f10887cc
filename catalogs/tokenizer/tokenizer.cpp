#include "catalogs/tokenizer/tokenizer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "base/utf8.hpp"
#include "catalogs/tokenizer/added_tokens.hpp"
#include "catalogs/tokenizer/reading.hpp"
#include "catalogs/tokenizer/token_model.hpp"

namespace smplan {

struct Tokenizer::Parts {
  std::string name;
  std::vector<Normalizer> normalizers;
  AddedTokenSets added;
  std::vector<PreTokenizer> pre_tokenizers;
  std::shared_ptr<const TokenModel> model;
  std::int64_t added_to_a_sequence = 0;
};

namespace {

/// Pieces of a template: the sequence once, and special tokens.
std::int64_t read_template(ObjectReader& in, Diagnostics& out) {
  const auto tokens = in.value("special_tokens");
  const auto single = in.value("single");
  in.ignore("pair");
  if (!tokens || !single) return 0;
  std::int64_t added = 0;
  std::int64_t sequences = 0;
  for (const JsonValue& piece : single->as_array(out)) {
    ObjectReader one(piece, out);
    if (one.has("Sequence")) {
      one.ignore("Sequence");
      ++sequences;
    } else if (const auto special = one.value("SpecialToken")) {
      ObjectReader named(*special, out);
      const auto id = named.value("id");
      named.ignore("type_id");
      named.finish();
      const auto known = id && tokens->is_object() ? tokens->find(text_of(*id, out)) : std::nullopt;
      const auto ids = known && known->is_object() ? known->find("ids") : std::nullopt;
      if (ids) {
        added += static_cast<std::int64_t>(ids->as_array(out).size());
      } else {
        out.push_back({"unknown-token", special->location(), "is none of the special_tokens", "write one of them"});
      }
    }
    one.finish();
  }
  if (sequences != 1) {
    out.push_back({"unsupported", single->location(), "must hold the sequence once", "write one Sequence"});
  }
  return added;
}

std::int64_t read_post_processor(const JsonValue& value, Diagnostics& out) {
  if (value.is_null()) return 0;
  ObjectReader in(value, out);
  const std::string type = in.string("type");
  std::int64_t added = 0;
  if (type == "TemplateProcessing") {
    added = read_template(in, out);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    for (const char* end : {"sep", "cls"}) {
      if (in.value(end)) ++added;
    }
    for (const char* offsets : {"trim_offsets", "add_prefix_space"}) in.ignore(offsets);
  } else if (type == "ByteLevel") {
    for (const char* offsets : {"trim_offsets", "add_prefix_space", "use_regex"}) in.ignore(offsets);
  } else if (type == "Sequence") {
    for (const JsonValue& part : in.array("processors")) added += read_post_processor(part, out);
  } else if (!type.empty()) {
    out.push_back(unsupported_type("post-processor", type, in.location("type")));
  }
  in.finish();
  return added;
}

/// A part of a text, or nothing where the key is absent.
template <typename F>
void each_of(ObjectReader& in, std::string_view key, F&& read) {
  if (const auto value = in.optional_value(key)) read(*value);
}

}  // namespace

Result<Tokenizer> Tokenizer::parse(std::string_view text, const std::string& name) {
  const Result<JsonValue> document = parse_json(text, name);
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  Diagnostics faults;
  auto parts = std::make_shared<Parts>();
  parts->name = name;
  ObjectReader in(*document, faults);
  // The version of the format; how sequences are cut and filled, and how tokens become text again.
  for (const char* key : {"version", "truncation", "padding", "decoder"}) in.ignore(key);
  each_of(in, "normalizer", [&](const JsonValue& v) {
    read_normalizer(v, parts->normalizers, faults);
    check_steps(parts->normalizers.size(), v, faults);
  });
  each_of(in, "pre_tokenizer", [&](const JsonValue& v) {
    read_pre_tokenizer(v, parts->pre_tokenizers, faults);
    check_steps(parts->pre_tokenizers.size(), v, faults);
  });
  each_of(in, "post_processor",
          [&](const JsonValue& v) { parts->added_to_a_sequence = read_post_processor(v, faults); });
  const std::vector<JsonValue> added = in.optional_array("added_tokens");
  if (faults.empty()) parts->added = read_added_tokens(added, parts->normalizers, faults);
  if (const auto model = in.value("model"); model && faults.empty()) parts->model = read_token_model(*model, faults);
  in.finish();
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return Tokenizer(std::move(parts));
}

Result<Tokenizer> Tokenizer::read(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return tl::unexpected<Diagnostics>(text.error());
  return parse(*text, path == "-" ? "<stdin>" : path);
}

std::int64_t Tokenizer::added_to_a_sequence() const { return parts_->added_to_a_sequence; }

struct TokenCounter::State {
  explicit State(std::shared_ptr<const Tokenizer::Parts> p) : parts(std::move(p)), work(parts->model->work()) {}

  /// Tokens of a part of the text between added tokens, or the reason why there is no count.
  TokenCount count_part(std::string_view part, bool from_start) {
    NormalizedText text{std::string(part), from_start ? 1U : 0U};
    for (const Normalizer& normalizer : parts->normalizers) {
      if (!normalizer(text, matcher) || text.text.size() > kMaxStepText) return tl::unexpected(kTooLong);
    }
    std::vector<Span> between;
    std::int64_t tokens = parts->added.normalized.cut(text.text, matcher, between);
    // Characters to bytes.
    std::size_t first = 0;
    for (std::size_t n = text.from_start; n > 0 && first < text.text.size(); --n) {
      first += first_code_point(std::string_view(text.text).substr(first)).length;
    }
    for (const Span& span : between) {
      Words words{text.text.substr(span.begin, span.end - span.begin),
                  {{0, span.end - span.begin}},
                  first - std::min(first, span.begin)};
      const TokenCount more = count_words(words);
      if (!more) return more;
      tokens += *more;
    }
    return tokens;
  }

  TokenCount count_words(Words& words) {
    for (const PreTokenizer& step : parts->pre_tokenizers) {
      if (!step(words, matcher) || words.text.size() > kMaxStepText) return tl::unexpected(kTooLong);
    }
    std::int64_t tokens = 0;
    for (const Span& span : words.spans) {
      const TokenCount more = parts->model->count(words.word(span), *work);
      if (!more) return more;
      tokens += *more;
    }
    return tokens;
  }

  static constexpr std::string_view kTooLong = "a step of the tokenizer takes too long on a text, or makes it too long";

  std::shared_ptr<const Tokenizer::Parts> parts;
  std::unique_ptr<TokenModel::Work> work;
  Matcher matcher;
};

TokenCounter::TokenCounter(const Tokenizer& tokenizer) : state_(std::make_unique<State>(tokenizer.parts_)) {}
TokenCounter::~TokenCounter() = default;
TokenCounter::TokenCounter(TokenCounter&&) noexcept = default;
TokenCounter& TokenCounter::operator=(TokenCounter&&) noexcept = default;

Result<std::int64_t> TokenCounter::count(std::string_view text) {
  State& s = *state_;
  const std::string& name = s.parts->name;
  if (!is_utf8(text)) return fail("bad-text", name, "a text is no UTF-8", "write the data as UTF-8");
  s.matcher.start_text();
  std::vector<Span> between;
  std::int64_t tokens = s.parts->added.plain.cut(text, s.matcher, between);
  for (const Span& span : between) {
    const TokenCount more = s.count_part(text.substr(span.begin, span.end - span.begin), span.begin == 0);
    if (!more) {
      return fail("uncountable", name, std::string(more.error()), "count by characters, or give lengths");
    }
    tokens += *more;
  }
  return tokens;
}

}  // namespace smplan
