#include "base/json_stream.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <sstream>
#include <streambuf>

#include "tests/support/sanitizers.hpp"

namespace smplan {
namespace {

struct Taken {
  Result<void> result;
  std::vector<std::string> pieces;  ///< `pattern key value`
};

Taken take_all(std::istream& in, const std::vector<std::string>& patterns) {
  Taken taken;
  taken.result = stream_json(in, "big.json", patterns, [&](const JsonPiece& piece) {
    taken.pieces.push_back(std::to_string(piece.pattern) + " " + piece.key + " " + piece.value.dump());
    return Diagnostics();
  });
  return taken;
}
Taken take_all(const std::string& text, const std::vector<std::string>& patterns) {
  std::istringstream in(text);
  return take_all(in, patterns);
}

TEST(StreamJson, HandsOverWhatLiesAtThePatternsInFileOrder) {
  const Taken t =
      take_all(R"({"v": 1.50, "skip": {"products": {"no": 1}}, "products": {"A": {"x": [1, {"y": "\"\u00e9"}, []]},
                                "B": {}}, "list": [true, null, "s", -3e2]})",
               {"/products/*", "/list/*", "/v"});
  ASSERT_TRUE(t.result.has_value()) << to_string(t.result.error());
  EXPECT_EQ(t.pieces, (std::vector<std::string>{"2 v 1.50", "0 A {\"x\":[1,{\"y\":\"\\\"\xC3\xA9\"},[]]}", "0 B {}",
                                                "1 0 true", "1 1 null", "1 2 \"s\"", "1 3 -3e2"}));
}

TEST(StreamJson, CountsAStringToItsEndWhateverIsEscaped) {
  // No string is long, all together are longer than one may be.
  std::string text = "[";
  while (text.size() < 2 * kMaxStreamedString) text += R"("a \" b \\", )";
  text += "1]";
  const Taken t = take_all(text, {"/0"});
  ASSERT_TRUE(t.result.has_value()) << to_string(t.result.error());
  EXPECT_EQ(t.pieces, std::vector<std::string>{R"(0 0 "a \" b \\")"});
}

TEST(StreamJson, StopsWhenAPieceIsRefused) {
  std::istringstream in(R"({"a": [1, 2, 3]})");
  int seen = 0;
  const auto result = stream_json(in, "f", {"/a/*"}, [&](const JsonPiece&) {
    return ++seen == 2 ? Diagnostics{{"mine", "f", "no", ""}} : Diagnostics();
  });
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().front().code, "mine");
  EXPECT_EQ(seen, 2);
}

struct Hostile {
  const char* name;
  std::string text;
  const char* code;
};
class HostileStream : public testing::TestWithParam<Hostile> {};

TEST_P(HostileStream, IsRefusedWithItsReason) {
  const Taken t = take_all(GetParam().text, {"/products/*"});
  ASSERT_FALSE(t.result.has_value());
  EXPECT_EQ(t.result.error().front().code, GetParam().code) << to_string(t.result.error());
}
INSTANTIATE_TEST_SUITE_P(
    Files, HostileStream,
    testing::Values(Hostile{"truncated", R"({"products": {"A": {"x": 1}, "B": {"x")", "json-syntax"},
                    Hostile{"trailing", R"({"products": {}} {})", "json-syntax"}, Hostile{"empty", "", "json-syntax"},
                    Hostile{"not_utf8", "{\"products\": {\"A\": \"\xff\"}}", "json-syntax"},
                    Hostile{"deep", std::string(200, '[') + std::string(200, ']'), "json-depth"},
                    Hostile{"long_string", "{\"a\": \"" + std::string(3 << 20, 'x') + "\"}", "file-too-large"},
                    Hostile{"long_number", "{\"a\": " + std::string(3 << 20, '7') + "}", "file-too-large"},
                    Hostile{"huge_piece",
                            [] {
                              std::string text = R"({"products": {"A": [)";
                              for (int i = 0; i < 1'000'000; ++i) text += "12345,";
                              return text + "0]}}";
                            }(),
                            "file-too-large"},
                    Hostile{"duplicate_in_piece", R"({"products": {"A": {"x": 1, "x": 2}}})", "duplicate-key"}),
    [](const auto& test) { return test.param.name; });

/// A document of any length that is never in memory.
class EndlessOffer : public std::streambuf {
 public:
  explicit EndlessOffer(std::size_t entries) : entries_(entries) {}

 protected:
  int_type underflow() override {
    if (next_ > entries_) return traits_type::eof();
    text_ = next_ == 0 ? std::string(R"({"products": {"first": {})")
                       : ", \"sku" + std::to_string(next_) + "\": {\"filler\": \"" + std::string(1000, 'x') + "\"}";
    if (next_ == entries_) text_ += "}}";
    ++next_;
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return traits_type::to_int_type(text_[0]);
  }

 private:
  std::size_t entries_;
  std::size_t next_ = 0;
  std::string text_;
};

TEST(StreamJson, HoldsOnePieceAtATime) {
  const auto peak_kib = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  EndlessOffer buffer(30'000);  // 30 MB
  std::istream in(&buffer);
  const long before = peak_kib();
  std::size_t pieces = 0;
  const auto result = stream_json(in, "offer", {"/products/*"}, [&](const JsonPiece&) {
    ++pieces;
    return Diagnostics();
  });
  ASSERT_TRUE(result.has_value()) << to_string(result.error());
  EXPECT_EQ(pieces, 30'001u);
  if (test::kSanitized) GTEST_SKIP() << "freed memory is held back, so that the peak says nothing";
  EXPECT_LT(peak_kib() - before, 8 * 1024) << "KiB more than before";
}

}  // namespace
}  // namespace smplan
