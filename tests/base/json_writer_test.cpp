#include "base/json_writer.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace smplan {
namespace {

TEST(JsonWriter, WritesValuesInOneLine) {
  EXPECT_EQ(Json().dump(), "null");
  EXPECT_EQ(Json(true).dump(), "true");
  EXPECT_EQ(Json(-3).dump(), "-3");
  EXPECT_EQ(Json(std::size_t{7}).dump(), "7");
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(2.0).dump(), "2.0");
  EXPECT_EQ(Json("a\n\"b\"").dump(), R"("a\n\"b\"")");
  EXPECT_EQ(Json(std::string("\xff")).dump(), "\"\xEF\xBF\xBD\"") << "bytes that are no UTF-8";
  EXPECT_EQ(Json(std::vector<std::string>{"x", "y"}).dump(), R"(["x","y"])");
  EXPECT_EQ(Json(std::map<std::string, int>{{"x", 1}}).dump(), R"({"x":1})");
}

TEST(JsonWriter, ABraceListIsAnObjectWhereAllItsElementsAreMembers) {
  EXPECT_EQ((Json{{"tp", 8}, {"pp", 2}}).dump(), R"({"tp":8,"pp":2})");
  EXPECT_EQ((Json{{"name", "value"}}).dump(), R"({"name":"value"})");
  EXPECT_EQ(Json::array({"name", "value"}).dump(), R"(["name","value"])");
  EXPECT_EQ((Json{1, 2, 3}).dump(), "[1,2,3]");
  EXPECT_EQ((Json{{"a", Json{{"b", Json::array()}}}}).dump(), R"({"a":{"b":[]}})");
  EXPECT_EQ(Json::object().dump(), "{}");
}

TEST(JsonWriter, MembersKeepTheirOrderAndAreAddedWhereTheyAreMissing) {
  Json out;
  out["z"] = 1;
  out["a"]["b"] = "deep";
  out["list"].push_back(Json{{"x", 1}});
  out["z"] = 2;
  EXPECT_EQ(out.dump(), R"({"z":2,"a":{"b":"deep"},"list":[{"x":1}]})");
  out.update({{"a", nullptr}, {"new", true}});
  out.erase("list");
  EXPECT_EQ(out.dump(), R"({"z":2,"a":null,"new":true})");
  EXPECT_EQ(out.dump(2), "{\n  \"z\": 2,\n  \"a\": null,\n  \"new\": true\n}");
  EXPECT_TRUE(out.contains("a"));
  const Json& constant = out;
  EXPECT_TRUE(constant["missing"].is_null());
  EXPECT_FALSE(out.contains("missing"));
}

TEST(JsonWriter, ReadsBackWhatItWrote) {
  const Json out{{"n", 1}, {"x", 0.30000000000000004}, {"s", "ü"}, {"list", Json::array({true, nullptr, "y"})}};
  EXPECT_EQ(Json::parse(out.dump()), out);
  EXPECT_EQ(Json::parse(out.dump(2)), out);
  EXPECT_EQ(out["n"].integer(), 1);
  EXPECT_EQ(out["s"].text(), "ü");
  EXPECT_EQ(out["list"].size(), 3U);
  EXPECT_TRUE(out["list"][0].truth());
  EXPECT_TRUE(Json().empty() && Json::array().empty() && !out.empty());
}

}  // namespace
}  // namespace smplan
