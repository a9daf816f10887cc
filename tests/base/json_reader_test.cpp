#include "base/json_reader.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "base/printable.hpp"
#include "base/units.hpp"

namespace smplan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

JsonValue parse(std::string_view text) {
  auto value = parse_json(text, "f.json");
  EXPECT_TRUE(value) << (value ? "" : to_string(value.error()));
  return *value;
}

Diagnostic refusal(std::string_view text) {
  const auto value = parse_json(text, "f.json");
  EXPECT_FALSE(value) << text;
  if (value) return {};
  EXPECT_THAT(value.error(), SizeIs(1));
  return value.error().at(0);
}

TEST(ParseJson, GivesSyntaxErrorsALineAndColumn) {
  EXPECT_EQ(refusal("[1,\n 2,,3]").location, "f.json:2:4");
  EXPECT_EQ(refusal("").location, "f.json:1:1");
  EXPECT_EQ(refusal("{\"é\": }").location, "f.json:1:7");  // columns count characters
  EXPECT_EQ(refusal("{\"a\":1} trailing").code, "json-syntax");
}

TEST(ParseJson, RefusesWhatIsNotJson) {
  for (const std::string text : {"NaN",          "Infinity",    "-Infinity",
                                 "[1,]",         "{\"a\":1,}",  "'a'",
                                 "{a:1}",        "01",          "+1",
                                 "1.",           ".5",          "// c\n1",
                                 "[1] [2]",      "\"\xff\"",    "\"\xed\xa0\x80\"",
                                 "\"\xc0\xaf\"", "\"\\ud800\"", "\"tab\tinside\"",
                                 "nul",          "[",           "{",
                                 "\"",           "\x01"}) {
    EXPECT_FALSE(parse_json(text, "f")) << text;
  }
  EXPECT_FALSE(parse_json(std::string_view("1\0", 2), "f"));
}

TEST(ParseJson, RefusesNumbersThatOverflow) {
  EXPECT_THAT(refusal("[1e999]").message, HasSubstr("too large"));
  EXPECT_THAT(refusal("[-1e999]").message, HasSubstr("too large"));
}

TEST(ParseJson, RefusesDuplicateKeysWithTheirPointer) {
  const Diagnostic twice = refusal(R"({"a":{"b":[0,{"x":1,"x/~":2,"y":3,"x/~":4}]}})");
  EXPECT_EQ(twice.code, "duplicate-key");
  EXPECT_EQ(twice.location, "f.json:/a/b/1/x~1~0");
  EXPECT_EQ(refusal(R"({"a":1,"\u0061":2})").code, "duplicate-key");
}

TEST(ParseJson, LimitsDepthInsteadOfOverflowingTheStack) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth), "f"));
  EXPECT_EQ(refusal(nested(kMaxJsonDepth + 1)).code, "json-too-deep");
  EXPECT_EQ(refusal(std::string(5'000'000, '[')).code, "json-too-deep");
  std::string objects;
  for (int i = 0; i < 70; ++i) objects += "{\"a\":";
  EXPECT_EQ(refusal(objects).code, "json-too-deep");
}

TEST(ParseJson, LimitsSize) { EXPECT_EQ(refusal(std::string(kMaxJsonBytes + 1, ' ')).code, "json-too-large"); }

TEST(JsonValue, CopiesEveryKindInOrder) {
  const std::string text = R"({"b":[1,-2,0.5,null,true,"x"],"a":{},"c":[]})";
  EXPECT_EQ(parse(text).copy().dump(), text);
  EXPECT_DOUBLE_EQ(parse("18446744073709551615").copy().number(), 18446744073709551615.0);
  EXPECT_DOUBLE_EQ(parse("7").copy().number(), 7);
}

TEST(ParseJson, AcceptsAByteOrderMark) { EXPECT_EQ(parse("\xEF\xBB\xBF[1]").dump(), "[1]"); }

TEST(ParseJson, KeepsHostileTextOutOfMessages) {
  EXPECT_EQ(refusal("[\"" + std::string(100000, 'x') + "\x1b\"]").message.find('\x1b'), std::string::npos);
  EXPECT_LT(refusal("[\"" + std::string(100000, 'x')).message.size(), 300U);
  EXPECT_LT(refusal("{\"" + std::string(100000, 'x') + "\" 1}").message.size(), 300U);
}

TEST(ParseJson, SurvivesMutations) {
  const std::string seed = R"({"a":[1,2.5,-3e7,"x\u00e9",true,null,{"b":{}}],"c":"é"})";
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    const auto value = parse_json(text, "f");
    if (!value) {
      ASSERT_FALSE(value.error().empty());
      continue;
    }
    const auto again = parse_json(value->dump(), "f");
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(again->dump(), value->dump());
  }
}

TEST(JsonValue, DumpsWhatItRead) {
  const std::string text = R"({"z":1,"a":[-2,18446744073709551615,1.50,1e3,"q\"\\",true,false,null],"e":{},"f":[]})";
  EXPECT_EQ(parse(text).dump(), text);
}

TEST(JsonValue, KnowsWhereItIs) {
  const JsonValue root = parse(R"({"a/b":[{"c~":7}]})");
  Diagnostics out;
  const JsonValue seven = *root.find("a/b")->as_array(out)[0].find("c~");
  EXPECT_EQ(seven.location(), "f.json:/a~1b/0/c~0");
  EXPECT_EQ(root.location(), "f.json");
  EXPECT_EQ(seven.as_integer(out), 7);
  EXPECT_THAT(out, IsEmpty());
}

TEST(JsonValue, OutlivesTheDocumentHandle) {
  std::optional<JsonValue> inner;
  {
    const JsonValue root = parse(R"({"a":{"b":"kept"}})");
    inner = root.find("a")->find("b");
  }
  Diagnostics out;
  EXPECT_EQ(inner->as_string(out), "kept");
}

TEST(JsonValue, KeepsKeysInFileOrderAndFindsEach) {
  const JsonValue root = parse(R"({"z":0,"a":1,"m":2,"":3})");
  Diagnostics out;
  EXPECT_THAT(root.keys(out), ElementsAre("z", "a", "m", ""));
  EXPECT_EQ(root.find("m")->as_integer(out), 2);
  EXPECT_EQ(root.find("")->as_integer(out), 3);
  EXPECT_FALSE(root.find("b"));
  EXPECT_FALSE(root.find("z")->find("x"));
}

TEST(JsonValue, ReadsWholeNumbersStrictly) {
  const auto read = [](std::string_view text, Diagnostics& out) { return parse(text).as_integer(out); };
  Diagnostics out;
  EXPECT_EQ(read("9223372036854775807", out), INT64_MAX);
  EXPECT_EQ(read("-9223372036854775808", out), INT64_MIN);
  EXPECT_EQ(read("-0", out), 0);
  EXPECT_THAT(out, IsEmpty());
  struct Case {
    const char* text;
    const char* code;
  };
  for (const Case& c : {Case{"8.0", "not-an-integer"}, Case{"8.7", "not-an-integer"}, Case{"1e3", "not-an-integer"},
                        Case{"9223372036854775808", "out-of-range"}, Case{"18446744073709551616", "out-of-range"},
                        Case{"-9223372036854775809", "out-of-range"}, Case{"\"8\"", "wrong-kind"},
                        Case{"true", "wrong-kind"}, Case{"null", "wrong-kind"}}) {
    out.clear();
    EXPECT_EQ(read(c.text, out), 0) << c.text;
    ASSERT_THAT(out, SizeIs(1)) << c.text;
    EXPECT_EQ(out[0].code, c.code) << c.text;
  }
}

TEST(JsonValue, ReportsAWrongKindAndGoesOn) {
  const JsonValue root = parse(R"({"n":"x"})");
  Diagnostics out;
  const JsonValue text = *root.find("n");
  EXPECT_EQ(text.as_number(out), 0);
  EXPECT_FALSE(text.as_bool(out));
  EXPECT_THAT(text.as_array(out), IsEmpty());
  EXPECT_THAT(text.keys(out), IsEmpty());
  EXPECT_EQ(root.as_string(out), "");
  ASSERT_THAT(out, SizeIs(5));
  EXPECT_EQ(to_string(out[0]), "f.json:/n: must be a number, not a string");
  EXPECT_EQ(to_string(out[4]), "f.json: must be a string, not an object");
}

TEST(JsonValue, RoundTripsDoubles) {
  std::mt19937_64 random(5);
  Diagnostics out;
  for (int round = 0; round < 20000; ++round) {
    const double x = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 600) - 300);
    EXPECT_EQ(parse(format_shortest(x)).as_number(out), x);
  }
}

TEST(ObjectReader, ReadsEveryKind) {
  const JsonValue root = parse(R"({"s":"x","n":2.5,"i":7,"b":true,"a":[1],"v":null,"note":"free"})");
  Diagnostics out;
  ObjectReader reader(root, out);
  EXPECT_EQ(reader.string("s"), "x");
  EXPECT_EQ(reader.number("n", 0, 10), 2.5);
  EXPECT_EQ(reader.integer("i", 7, 7), 7);
  EXPECT_TRUE(reader.boolean("b"));
  EXPECT_THAT(reader.array("a"), SizeIs(1));
  EXPECT_TRUE(reader.value("v")->is_null());
  EXPECT_FALSE(reader.has("v"));
  reader.ignore("note");
  reader.finish();
  EXPECT_THAT(out, IsEmpty()) << to_string(out);
}

TEST(ObjectReader, CollectsEveryFaultInOnePass) {
  const JsonValue root = parse(R"({"nmae":"x","n":99,"i":0.5})");
  Diagnostics out;
  ObjectReader reader(root, out);
  reader.string("name");
  EXPECT_EQ(reader.number("n", 0, 10), 10);
  EXPECT_EQ(reader.integer("i", 1, 8), 1);
  reader.finish();
  EXPECT_EQ(to_string(out),
            "f.json: key 'name' is missing\n"
            "f.json:/n: 99 is outside [0, 10]\n"
            "f.json:/i: must be a whole number without point or exponent, not '0.5'\n"
            "f.json:/nmae: unknown key 'nmae' (did you mean name?)\n");
}

TEST(ObjectReader, TreatsNullAsAbsentForOptionalKeysOnly) {
  const JsonValue root = parse(R"({"a":null,"b":null})");
  Diagnostics out;
  ObjectReader reader(root, out);
  EXPECT_FALSE(reader.optional_string("a"));
  EXPECT_FALSE(reader.optional_number("absent"));
  EXPECT_THAT(out, IsEmpty());
  reader.string("b");
  EXPECT_EQ(out.at(0).code, "wrong-kind");
}

TEST(ObjectReader, ReadsOptionalValuesThatAreThere) {
  const JsonValue root = parse(R"({"s":"x","n":2,"i":3,"b":false,"a":[1,2],"v":{}})");
  Diagnostics out;
  ObjectReader reader(root, out);
  EXPECT_EQ(reader.optional_string("s"), "x");
  EXPECT_EQ(reader.optional_number("n"), 2.0);
  EXPECT_EQ(reader.optional_integer("i"), 3);
  EXPECT_EQ(reader.optional_bool("b"), false);
  EXPECT_THAT(reader.optional_array("a"), SizeIs(2));
  EXPECT_TRUE(reader.optional_value("v")->is_object());
  reader.finish();
  EXPECT_THAT(out, IsEmpty());
}

TEST(ObjectReader, NamesTheFirstTwentyOfManyUnknownKeys) {
  std::string text = "{\"a\":1";
  for (int i = 0; i < 300'000; ++i) text += ",\"key" + std::to_string(i) + "\":0";
  const JsonValue root = parse(text + "}");
  Diagnostics out;
  ObjectReader reader(root, out);
  reader.integer("a");
  reader.finish();
  ASSERT_THAT(out, SizeIs(21));
  EXPECT_THAT(to_string(out.front()), HasSubstr("unknown key 'key0'"));
  EXPECT_THAT(to_string(out.back()), HasSubstr("299980 more unknown keys"));
}

TEST(ObjectReader, ReadsNamesByTheirRule) {
  const JsonValue root = parse(R"({"good":"ml.p5","bad":"a b","kind":1})");
  Diagnostics out;
  ObjectReader reader(root, out);
  EXPECT_EQ(reader.string("good", is_identifier, kIdentifierRule), "ml.p5");
  EXPECT_THAT(out, IsEmpty());
  EXPECT_EQ(reader.string("bad", is_identifier, kIdentifierRule), "");
  EXPECT_THAT(to_string(out.back()), HasSubstr("f.json:/bad: 'a b' is no name (write 1 to 64 letters"));
  reader.string("kind", is_identifier, kIdentifierRule);
  EXPECT_EQ(out.size(), 2u) << "a wrong kind is reported once";
}

TEST(JsonValue, IsAStringOfOnePrintableLine) {
  const JsonValue root = parse("[\"a\\nb\", \"\\u202ex\", \"" + std::string(kMaxJsonLine + 1, 'a') + "\", \"" +
                               std::string(kMaxJsonLine, 'a') + "\", \"é\"]");
  Diagnostics out;
  const std::vector<JsonValue> items = root.as_array(out);
  EXPECT_EQ(items[3].as_string(out).size(), kMaxJsonLine);
  EXPECT_EQ(items[4].as_string(out), "é");
  EXPECT_THAT(out, IsEmpty());
  for (int i : {0, 1, 2}) EXPECT_EQ(items[static_cast<std::size_t>(i)].as_string(out), "");
  ASSERT_THAT(out, SizeIs(3));
  EXPECT_EQ(out[0].code, "unprintable");
  EXPECT_EQ(out[1].code, "unprintable");
  EXPECT_EQ(out[2].code, "too-long");
  EXPECT_EQ(items[0].as_text(out), "a\nb");
  EXPECT_THAT(out, SizeIs(3));
}

TEST(ObjectReader, SaysOnceThatItIsNoObject) {
  const JsonValue root = parse("[1]");
  Diagnostics out;
  ObjectReader reader(root, out);
  reader.string("a");
  reader.integer("b", 1, 2);
  reader.finish();
  EXPECT_EQ(to_string(out), "f.json: must be an object, not an array\n");
}

}  // namespace
}  // namespace smplan
