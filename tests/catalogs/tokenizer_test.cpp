#include "catalogs/tokenizer/tokenizer.hpp"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "catalogs/tokenizer/characters.hpp"
#include "catalogs/tokenizer/pattern.hpp"

namespace smplan {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFolder = std::string(SMPLAN_TEST_DATA) + "/data/tokenizers/";

json file(const std::string& name) { return json::parse(*read_text_file(kFolder + name + ".json")); }

std::int64_t count(const json& tokenizer, std::string_view text) {
  const auto read = Tokenizer::parse(tokenizer.dump(), "t.json");
  EXPECT_TRUE(read) << to_string(read.error());
  if (!read) return -1;
  TokenCounter counter(*read);
  const auto tokens = counter.count(text);
  EXPECT_TRUE(tokens) << to_string(tokens.error());
  return tokens.value_or(-1);
}

std::string refusal(const json& tokenizer) {
  const auto read = Tokenizer::parse(tokenizer.dump(), "t.json");
  return read ? std::string() : to_string(read.error());
}

json words(json added = json::array()) {
  return {{"added_tokens", std::move(added)},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
          {"post_processor", nullptr},
          {"model", {{"type", "WordLevel"}, {"vocab", {{"<unk>", 0}, {"a", 1}}}, {"unk_token", "<unk>"}}}};
}

json added(const std::string& content, bool single_word, bool left, bool right, bool normalized) {
  return {{"id", 7},         {"content", content}, {"single_word", single_word},
          {"lstrip", left},  {"rstrip", right},    {"normalized", normalized},
          {"special", false}};
}

/// What the library counted, see tests/oracles/tokenizer_kinds.py.
TEST(Tokenizer, CountsWhatTheLibraryCounts) {
  const json counts = file("counts");
  const std::vector<std::string> texts = counts.at("texts");
  EXPECT_GE(counts.at("counts").size(), 20);
  for (const auto& [name, wanted] : counts.at("counts").items()) {
    const auto tokenizer = Tokenizer::read(kFolder + name + ".json");
    ASSERT_TRUE(tokenizer) << to_string(tokenizer.error());
    TokenCounter counter(*tokenizer);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto tokens = counter.count(texts[i]);
      ASSERT_TRUE(tokens) << name << ": " << to_string(tokens.error());
      EXPECT_EQ(*tokens + tokenizer->added_to_a_sequence(), wanted.at(i).get<std::int64_t>())
          << name << ": " << texts[i];
    }
  }
}

TEST(Tokenizer, CountsTheSameInAnyOrder) {
  const auto tokenizer = Tokenizer::read(kFolder + "llama3.json");
  TokenCounter one(*tokenizer);
  const auto first = one.count("the captain counts");
  static_cast<void>(one.count("other words in between"));
  EXPECT_EQ(one.count("the captain counts"), first) << "what it remembers changes nothing";
  EXPECT_EQ(TokenCounter(*tokenizer).count("the captain counts"), first);
}

TEST(Tokenizer, CutsAddedTokensOut) {
  EXPECT_EQ(count(words(), "b <x> b"), 3);
  EXPECT_EQ(count(words({added("<x>", false, false, false, false)}), "b<x>b"), 3);
  EXPECT_EQ(count(words({added("x", true, false, false, false)}), "x ax xa x"), 4) << "in a word it is none";
  EXPECT_EQ(count(words({added("<x>", false, true, true, false)}), "<x>  <x>"), 2);
  json lower = words({added("ABC", false, false, false, true)});
  lower["normalizer"] = {{"type", "Lowercase"}};
  EXPECT_EQ(count(lower, "1aBc2"), 3);
  lower["added_tokens"][0]["normalized"] = false;
  EXPECT_EQ(count(lower, "1aBc2"), 1);
}

TEST(Tokenizer, CountsWhatASequenceGets) {
  const auto of = [](const json& processor) {
    json tokenizer = words();
    tokenizer["post_processor"] = processor;
    const auto read = Tokenizer::parse(tokenizer.dump(), "t.json");
    return read ? read->added_to_a_sequence() : -1;
  };
  EXPECT_EQ(of(nullptr), 0);
  EXPECT_EQ(of({{"type", "BertProcessing"}, {"sep", {"s", 1}}, {"cls", {"c", 2}}}), 2);
  const json special = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const json sequence = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  json one = {{"type", "TemplateProcessing"},
              {"single", {special, sequence}},
              {"pair", json::array()},
              {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1, 2}}, {"tokens", {"<", "s>"}}}}}}};
  EXPECT_EQ(of(one), 2) << "one special token of two numbers";
  EXPECT_EQ(of({{"type", "Sequence"}, {"processors", {one, one}}}), 4);
  one["single"].push_back(sequence);
  EXPECT_EQ(of(one), -1) << "the sequence twice";
}

TEST(Tokenizer, RefusesByTheField) {
  const auto changed = [](const char* file_name, const char* pointer, const json& value) {
    json tokenizer = file(file_name);
    tokenizer[json::json_pointer(pointer)] = value;
    return refusal(tokenizer);
  };
  EXPECT_THAT(changed("gpt2", "/model/type", "Other"), HasSubstr("t.json:/model/type"));
  EXPECT_THAT(changed("gpt2", "/model/dropout", 0.1), HasSubstr("/model/dropout"));
  EXPECT_THAT(changed("gpt2", "/model/new_field", 1), HasSubstr("new_field"));
  EXPECT_THAT(changed("gpt2", "/model/merges/3", json::array({"a", "zzzz"})), HasSubstr("/model/merges/3"));
  EXPECT_THAT(changed("gpt2", "/pre_tokenizer", {{"type", "UnicodeScripts"}}), HasSubstr("UnicodeScripts"));
  EXPECT_THAT(changed("gpt2", "/normalizer", {{"type", "Other"}}), HasSubstr("/normalizer/type"));
  EXPECT_THAT(changed("gpt2", "/post_processor", {{"type", "Other"}}), HasSubstr("/post_processor/type"));
  EXPECT_THAT(changed("llama3", "/pre_tokenizer/pretokenizers/0/pattern/Regex", "(?<name>a)"), HasSubstr("the group"));
  EXPECT_THAT(changed("llama3", "/pre_tokenizer/pretokenizers/0/behavior", "Gone"),
              HasSubstr("'Gone' is no behaviour"));
  EXPECT_THAT(changed("t5", "/normalizer/normalizers/0/precompiled_charsmap", "AAAA"),
              HasSubstr("precompiled_charsmap"));
  EXPECT_THAT(changed("xlm", "/model/unk_id", 100000), HasSubstr("/model/unk_id"));
  EXPECT_THAT(changed("bert", "/added_tokens/0/lstrip", 3), HasSubstr("/added_tokens/0/lstrip"));
  EXPECT_THAT(refusal(json::array()), HasSubstr("must be an object"));
  EXPECT_THAT(refusal(json::object()), HasSubstr("'model' is missing"));
  EXPECT_FALSE(Tokenizer::read("/no/such/file"));
}

TEST(Tokenizer, SaysWhyATextHasNoCount) {
  const auto of = [](json tokenizer, std::string_view text) {
    const auto read = Tokenizer::parse(tokenizer.dump(), "t.json");
    const auto tokens = TokenCounter(*read).count(text);
    return tokens ? std::string() : to_string(tokens.error());
  };
  EXPECT_THAT(of(words(), "\xff"), HasSubstr("no UTF-8"));
  json closed = words();
  closed["model"]["unk_token"] = "[none]";
  EXPECT_EQ(of(closed, "a"), "");
  EXPECT_THAT(of(closed, "b"), HasSubstr("a word is unknown"));
}

TEST(Tokenizer, HangsOnNoPatternAndNoText) {
  json slow = words();
  slow["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"Regex", "(a+)+(a+)+$"}}}, {"behavior", "Isolated"}, {"invert", false}};
  const auto read = Tokenizer::parse(slow.dump(), "t.json");
  ASSERT_TRUE(read);
  const auto begin = std::chrono::steady_clock::now();
  const auto tokens = TokenCounter(*read).count(std::string(20000, 'a') + "b");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  ASSERT_FALSE(tokens);
  EXPECT_THAT(to_string(tokens.error()), HasSubstr("takes too long"));
  for (const char* name : {"llama2", "gpt2", "xlm"}) {
    const auto tokenizer = Tokenizer::read(kFolder + name + ".json");
    EXPECT_TRUE(TokenCounter(*tokenizer).count(std::string(300'000, 'x'))) << name << ": one long word";
  }
}

TEST(Tokenizer, BoundsWhatATextBecomes) {
  const auto of = [](const json& normalizer) {
    json tokenizer = words();
    tokenizer["normalizer"] = normalizer;
    const auto read = Tokenizer::parse(tokenizer.dump(), "t.json");
    if (!read) return to_string(read.error());
    const auto tokens = TokenCounter(*read).count(std::string(1000, 'a'));
    return tokens ? std::string() : to_string(tokens.error());
  };
  const json grow = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(1000, 'a')}};
  const auto times = [](int n, const json& step) {
    return json{{"type", "Sequence"}, {"normalizers", json(static_cast<std::size_t>(n), step)}};
  };
  EXPECT_EQ(of(times(1, grow)), "");
  EXPECT_THAT(of(times(2, grow)), HasSubstr("makes it too long"));
  EXPECT_THAT(of(times(40, {{"type", "ByteLevel"}})), "") << "of ASCII there is nothing to double";
  EXPECT_THAT(of(times(65, {{"type", "NFC"}})), HasSubstr("more than 64 steps"));
}

std::string own(std::string_view pattern) {
  const auto out = from_oniguruma(pattern, "p", [](std::string_view name) { return name == "Han"; });
  return out ? *out : out.error().front().message;
}

TEST(Oniguruma, IsWrittenForPcre2) {
  EXPECT_EQ(own(R"(\s+(?!\S))"), R"(\p{White_Space}+(?!\P{White_Space}))");
  EXPECT_EQ(own(R"(\p{N}{,3})"), R"(\p{N}{0,3})");
  EXPECT_EQ(own(R"(\p{Han}\p{^Han}\P{L})"), R"(\p{sc:Han}\P{sc:Han}\P{L})");
  EXPECT_EQ(own(R"((?m:a)(?i)b)"), R"((?s:\x{61})(?i)\x{62})");
  EXPECT_EQ(own(R"([a-c\]\-]++)"), R"([\x{61}-\x{63}\x{5D}\x{2D}]++)");
  EXPECT_EQ(own(R"([^a[bc]])"), R"([^\x{61}\x{62}\x{63}])");
  EXPECT_EQ(own(R"([\w&&[^\d]])"), R"((?:(?=[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}])[^\p{Nd}]))");
  EXPECT_EQ(own(R"(\h\x41\u00e9\v)"), R"([0-9A-Fa-f]\x{41}\x{E9}\x{B})");
  EXPECT_EQ(own("a{b"), R"(\x{61}\x{7B}\x{62})") << "no interval";
}

TEST(Oniguruma, RefusesWhatPcre2CannotSay) {
  for (const char* pattern : {"(?<n>a)", R"(\k<n>)", R"(\1)", "(?~a)", "a{2}+", "a{2}?", "[]", "[a", R"(\G)", R"(\p{)",
                              "[a&&]", R"(\xff)", "[z-a]", "[[:word:]]", "\\", "(?x)a"}) {
    EXPECT_THAT(own(pattern), HasSubstr("the regular expression")) << pattern;
  }
  EXPECT_FALSE(Pattern::oniguruma("(a", "p"));
  EXPECT_FALSE(Pattern::oniguruma(R"(\p{NoSuchThing})", "p"));
  EXPECT_FALSE(Pattern::oniguruma(std::string(20000, 'a'), "p"));
}

TEST(Matcher, CutsIntoMatchesAndWhatStandsBetween) {
  const auto cuts = [](std::string_view pattern, std::string_view text) {
    Matcher matcher;
    std::vector<Cut> out;
    EXPECT_TRUE(matcher.cut(*Pattern::oniguruma(pattern, "p"), text, out));
    std::vector<std::string> words;
    for (const Cut& cut : out) {
      words.push_back((cut.match ? "+" : "-") + std::string(text.substr(cut.begin, cut.end - cut.begin)));
    }
    return words;
  };
  EXPECT_THAT(cuts("[0-9]+", "a12b3"), ElementsAre("-a", "+12", "-b", "+3"));
  EXPECT_THAT(cuts("x*", "axb"), ElementsAre("+", "-a", "+x", "-b", "+")) << "nothing behind a match is no match";
  EXPECT_THAT(cuts("z", ""), ElementsAre("-"));
  const std::string far = std::string(5000, '.') + "z";
  EXPECT_EQ(cuts("(?<=\\.)z", far).size(), 2) << "beyond one window";
}

TEST(Characters, AreWhatUnicodeSays) {
  EXPECT_TRUE(is_white_space(0x3000));
  EXPECT_FALSE(is_white_space(0x200B));
  EXPECT_TRUE(is_number(0xBD));
  EXPECT_TRUE(is_punctuation('$')) << "every mark of ASCII";
  EXPECT_FALSE(is_punctuation(0x20AC)) << "a sign of money";
  EXPECT_EQ(normal_form("e\u0301\uFB01", NormalForm::C), "\u00E9\uFB01");
  EXPECT_EQ(normal_form("\uFB01", NormalForm::KC), "fi");
  std::string lower;
  append_lower(lower, 0x130);
  EXPECT_EQ(lower, "i\u0307");
  EXPECT_EQ(grapheme_length("e\u0301x"), 3);
  EXPECT_EQ(grapheme_length("\r\nx"), 2);
}

}  // namespace
}  // namespace smplan
