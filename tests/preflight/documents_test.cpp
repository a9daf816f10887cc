// What each syntax is read as, with lines and bytes: tests/data/jobs/documents.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/said_of_nodes.hpp"

namespace smplan {
namespace {

using test::Json;
using ::testing::HasSubstr;

class DocumentIn : public ::testing::TestWithParam<const char*> {};

TEST_P(DocumentIn, ASyntaxIsReadNodeByNode) {
  const Json document = Json::parse(test::read_test_file("documents.json"));
  int rows = 0;
  for (const Json& row : document["documents"]) {
    if (row["syntax"] != GetParam()) continue;
    ++rows;
    EXPECT_EQ(test::nodes_of(row).dump(1), row["says"].dump(1)) << row["text"];
  }
  EXPECT_GT(rows, 10);
}

INSTANTIATE_TEST_SUITE_P(All, DocumentIn, ::testing::Values("json", "yaml", "toml", "arguments"),
                         [](const auto& info) { return std::string(info.param); });

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// Where the reader says that a text nests too deep; `read` where it does not.
std::string depth_refusal(const std::string& text, Syntax syntax) {
  const Result<Node> root = parse_document(text, "job", syntax);
  return root ? "read" : root.error().front().code + " " + root.error().front().location;
}

TEST(Depth, OfTomlCountsBracketsAndDotsThatStandInsideEachOther) {
  const auto toml = [](const std::string& text) { return depth_refusal(text, Syntax::Toml); };
  const auto brackets = [](std::size_t n) { return repeated("[", n) + repeated("]", n); };
  EXPECT_EQ(toml("a = " + brackets(64) + "\n"), "read");
  EXPECT_EQ(toml("\n\na = " + brackets(65) + "\n"), "toml-too-deep job:3");
  EXPECT_EQ(toml(repeated("k.", 64) + "k = 1\n"), "read");
  EXPECT_EQ(toml("a = 1\n" + repeated("k.", 65) + "k = 1\n"), "toml-too-deep job:2");
  EXPECT_EQ(toml("[" + repeated("k.", 64) + "k]\n"), "toml-too-deep job:1");
  EXPECT_EQ(toml("a = {" + repeated("k.", 40) + "k = {" + repeated("j.", 40) + "j = 1}}\n"), "toml-too-deep job:1");
  EXPECT_EQ(toml("a = {" + repeated("k.", 40) + "k = 1, " + repeated("j.", 40) + "j = 1}\n"), "read");
  EXPECT_EQ(toml("a = {" + repeated("k.", 40) + "k = {b = 1}}\n" + repeated("j.", 40) + "j = 1\n"), "read");
  EXPECT_EQ(toml("a = [" + repeated("[], ", 70) + "{b.c = 1}]\n"), "read") << "lists side by side";
  EXPECT_EQ(toml("a = [" + repeated("1.5, ", 70) + "1]\n"), "read") << "dots of numbers";
  EXPECT_EQ(toml(repeated("a]", 3) + brackets(65) + "\n"), "toml-too-deep job:1") << "brackets that close nothing";
}

TEST(Depth, OfJsonAndYamlIsThatOfTheirBrackets) {
  const auto nested = [](std::size_t n) { return repeated("[", n) + "1" + repeated("]", n); };
  EXPECT_EQ(depth_refusal(nested(64), Syntax::Yaml), "read");
  EXPECT_EQ(depth_refusal("\n " + nested(65), Syntax::Yaml), "yaml-too-deep job:2:66");
  EXPECT_EQ(depth_refusal(nested(64), Syntax::Json), "read");
}

TEST(Size, OfADocumentIsLimitedInEachSyntax) {
  const auto refusal = [](const std::string& text, Syntax syntax) {
    const Result<Node> root = parse_document(text, "job", syntax);
    return root ? std::string("read") : root.error().front().message;
  };
  // The list itself is a value too.
  EXPECT_EQ(refusal("[" + repeated("1,", kMaxJobNodes - 2) + "1]", Syntax::Json), "read");
  EXPECT_EQ(refusal("[" + repeated("1,", kMaxJobNodes - 1) + "1]", Syntax::Json), "holds more than 200000 values");
  EXPECT_EQ(refusal("[" + repeated("1,", kMaxJobNodes - 2) + "1]", Syntax::Yaml), "read");
  EXPECT_EQ(refusal("[" + repeated("1,", kMaxJobNodes - 1) + "1]", Syntax::Yaml), "holds more than 200000 values");
  EXPECT_EQ(refusal("--a " + repeated("1 ", kMaxJobNodes - 1), Syntax::Arguments), "read");
  EXPECT_EQ(refusal("--a " + repeated("1 ", kMaxJobNodes), Syntax::Arguments), "holds more than 200000 words");
  const std::string thousand = "&a [" + repeated("1,", 999) + "1]";
  EXPECT_EQ(refusal("a: " + thousand + "\nb: [" + repeated("*a,", 198) + "*a]\n", Syntax::Yaml),
            "holds more than 200000 values, aliases counted");
  EXPECT_EQ(refusal("a: " + thousand + "\nb: [" + repeated("*a,", 197) + "*a]\n", Syntax::Yaml), "read");
  EXPECT_EQ(refusal(std::string(kMaxJobBytes, ' '), Syntax::Yaml), "holds nothing");
  EXPECT_THAT(refusal(std::string(kMaxJobBytes + 1, ' '), Syntax::Yaml), HasSubstr("larger than the limit of 4194304"));
}

}  // namespace
}  // namespace smplan
