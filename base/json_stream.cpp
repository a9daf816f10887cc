#include "base/json_stream.hpp"

#include <array>
#include <optional>
#include <streambuf>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace smplan {
namespace {

/// Passes bytes on until a string gets too long or the document too large: the parser would hold the string.
class BoundedBuffer : public std::streambuf {
 public:
  explicit BoundedBuffer(std::istream& in) : in_(in) {}
  [[nodiscard]] const std::string& fault() const { return fault_; }

 protected:
  int_type underflow() override {
    if (!fault_.empty()) return traits_type::eof();
    in_.read(chunk_.data(), static_cast<std::streamsize>(chunk_.size()));
    const auto got = static_cast<std::size_t>(in_.gcount());
    if (in_.bad()) fault_ = "cannot be read to its end";
    total_ += got;
    if (total_ > kMaxStreamedBytes) fault_ = fmt::format("is larger than the limit of {} bytes", kMaxStreamedBytes);
    for (std::size_t i = 0; i < got && fault_.empty(); ++i) scan(chunk_[i]);
    if (got == 0 || !fault_.empty()) return traits_type::eof();
    setg(chunk_.data(), chunk_.data(), chunk_.data() + got);
    return traits_type::to_int_type(chunk_[0]);
  }

 private:
  void scan(char c) {
    if (!in_string_) {
      in_string_ = c == '"';
      length_ = in_string_ || c <= ' ' ? 0 : length_ + 1;  // numbers grow too
    } else if (escaped_) {
      escaped_ = false;
      ++length_;
    } else if (c == '\\') {
      escaped_ = true;
      ++length_;
    } else if (c == '"') {
      in_string_ = false;
      length_ = 0;
    } else {
      ++length_;
    }
    const bool breaks = !in_string_ && (c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']');
    if (breaks) length_ = 0;
    if (length_ > kMaxStreamedString) {
      fault_ = fmt::format("has a string or number longer than {} bytes", kMaxStreamedString);
    }
  }

  std::istream& in_;
  std::array<char, std::size_t{1} << 16> chunk_{};
  std::string fault_;
  std::uint64_t total_ = 0;
  std::size_t length_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

std::vector<std::string> split_pointer(std::string_view pattern) {
  std::vector<std::string> parts;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);  // the slash
    const std::size_t end = std::min(pattern.find('/'), pattern.size());
    parts.emplace_back(pattern.substr(0, end));
    pattern.remove_prefix(end);
  }
  return parts;
}

/// Follows the events of the parser, knows where it is, and writes out again what lies at the patterns.
class PieceCutter : public nlohmann::json_sax<nlohmann::json> {
 public:
  PieceCutter(std::string_view name, const std::vector<std::string>& patterns,
              const std::function<Diagnostics(const JsonPiece&)>& take)
      : name_(name), take_(take) {
    for (const std::string& pattern : patterns) patterns_.push_back(split_pointer(pattern));
  }
  [[nodiscard]] const Diagnostics& faults() const { return faults_; }

  bool null() override { return scalar("null"); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return scalar(text); }
  bool string(string_t& value) override {
    if (!capturing() && !starts_here()) return after_value();
    return scalar(nlohmann::json(value).dump());
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open('{', false); }
  bool start_array(std::size_t) override { return open('[', true); }
  bool end_object() override { return close('}'); }
  bool end_array() override { return close(']'); }
  bool key(string_t& value) override {
    path_.back().key = value;
    if (capturing()) {
      separate();
      append(nlohmann::json(value).dump());
      append(":");
      after_key_ = true;
    }
    return faults_.empty();
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    if (!faults_.empty()) return false;
    const std::string_view what = error.what();
    const std::size_t text = what.rfind(": ");
    add("json-syntax", fmt::format("is no complete JSON document: byte {}: {}", position,
                                   text == std::string_view::npos ? what : what.substr(text + 2)));
    return false;
  }

 private:
  struct Level {
    bool array = false;
    std::size_t position = 0;
    std::string key;
  };

  [[nodiscard]] bool capturing() const { return pattern_.has_value(); }
  [[nodiscard]] std::string own_key() const {
    if (path_.empty()) return {};
    const Level& level = path_.back();
    return level.array ? std::to_string(level.position) : level.key;
  }

  [[nodiscard]] bool matches(const std::vector<std::string>& pattern) const {
    if (pattern.size() != path_.size()) return false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == "*") continue;
      const Level& level = path_[i];
      if (pattern[i] != (level.array ? std::to_string(level.position) : level.key)) return false;
    }
    return true;
  }

  bool starts_here() {
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (!matches(patterns_[i])) continue;
      pattern_ = i;
      captured_from_ = path_.size();
      text_.clear();
      return true;
    }
    return false;
  }

  void add(std::string code, std::string message) {
    faults_.push_back({std::move(code), name_, std::move(message), "fetch the file again; nothing was taken from it"});
  }
  void append(std::string_view text) {
    if (text_.size() + text.size() > kMaxStreamedPiece) {
      if (faults_.empty()) add("file-too-large", fmt::format("has an entry larger than {} bytes", kMaxStreamedPiece));
      return;
    }
    text_ += text;
  }
  /// A comma before every element but the first, and none after a key.
  void separate() {
    if (!after_key_ && !text_.empty() && text_.back() != '{' && text_.back() != '[') append(",");
    after_key_ = false;
  }

  bool scalar(std::string_view text) {
    if (capturing() || starts_here()) {
      separate();
      append(text);
      if (path_.size() == captured_from_) finish();
    }
    return after_value();
  }
  bool open(char bracket, bool array) {
    if (capturing() || starts_here()) {
      separate();
      append({&bracket, 1});
    }
    path_.push_back({array, 0, {}});
    if (path_.size() > static_cast<std::size_t>(kMaxJsonDepth)) {
      add("json-depth", fmt::format("is nested deeper than {} levels", kMaxJsonDepth));
    }
    return faults_.empty();
  }
  bool close(char bracket) {
    path_.pop_back();
    if (capturing()) {
      append({&bracket, 1});
      after_key_ = false;
      if (path_.size() == captured_from_) finish();
    }
    return after_value();
  }
  bool after_value() {
    if (!path_.empty() && path_.back().array) ++path_.back().position;
    return faults_.empty();
  }
  void finish() {
    const std::size_t pattern = *pattern_;
    pattern_.reset();
    if (!faults_.empty()) return;
    std::string pointer;
    for (const Level& level : path_) pointer += "/" + (level.array ? std::to_string(level.position) : level.key);
    const Result<JsonValue> value = parse_json(text_, name_, pointer);
    faults_ = value ? take_({pattern, own_key(), *value}) : value.error();
  }

  std::string name_;
  const std::function<Diagnostics(const JsonPiece&)>& take_;
  std::vector<std::vector<std::string>> patterns_;
  std::vector<Level> path_;
  std::optional<std::size_t> pattern_;
  std::size_t captured_from_ = 0;
  std::string text_;
  bool after_key_ = false;
  Diagnostics faults_;
};

}  // namespace

Result<void> stream_json(std::istream& in, std::string_view name, const std::vector<std::string>& patterns,
                         const std::function<Diagnostics(const JsonPiece&)>& take) {
  BoundedBuffer buffer(in);
  std::istream bounded(&buffer);
  PieceCutter cutter(name, patterns, take);
  const bool whole = nlohmann::json::sax_parse(bounded, &cutter);
  if (!buffer.fault().empty()) {
    return fail("file-too-large", std::string(name), buffer.fault(), "fetch the file again; nothing was taken from it");
  }
  if (!cutter.faults().empty()) return tl::unexpected<Diagnostics>(cutter.faults());
  if (!whole) return fail("json-syntax", std::string(name), "is no JSON document", "fetch the file again");
  return {};
}

}  // namespace smplan
