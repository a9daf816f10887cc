#include "cli/version.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan::cli {
namespace {

/// The first facts of a kind, dated anew.
std::string overlay(const std::string& kind, const std::string& date) {
  std::ifstream file(std::string(SMPLAN_TEST_DATA "/data/frozen/") + kind + ".json");
  nlohmann::json entry = nlohmann::json::parse(file).at(kind).at(0);
  entry["as_of"] = date;
  return nlohmann::json{{"schema", "smplan.catalog/1"}, {kind, {entry}}}.dump();
}

TEST(CatalogDate, IsTheNewestOfEveryKindOfFact) {
  EXPECT_EQ(catalog_date(Catalog()), "");
  for (const std::string kind : {"accelerators", "instances", "prices", "models", "stacks"}) {
    Catalog catalog = smplan::test::catalog();
    EXPECT_LT(catalog_date(catalog), "2099");
    const Result<void> merged = catalog.merge(*parse_json(overlay(kind, "2099-01-02"), kind));
    ASSERT_TRUE(merged) << to_string(merged.error());
    EXPECT_EQ(catalog_date(catalog), "2099-01-02") << kind;
  }
}

TEST(VersionText, HasTheSpanOfPrices) {
  Catalog catalog = smplan::test::catalog();
  ASSERT_TRUE(catalog.merge(*parse_json(overlay("prices", "2099-01-02"), "prices")));
  const auto text = nlohmann::json::parse(version_text(true, catalog));
  EXPECT_EQ(text["schema_version"], 1);
  EXPECT_EQ(text["catalog"]["date"], "2099-01-02");
  EXPECT_EQ(text["catalog"]["newest_price"], "2099-01-02");
  EXPECT_EQ(text["catalog"]["prices"], catalog.prices().size());
  EXPECT_EQ(text["catalog"]["instance_types"], catalog.instances().size());
  std::string oldest = "9999";
  for (const Price& price : catalog.prices()) oldest = std::min(oldest, price.provenance.as_of);
  EXPECT_EQ(text["catalog"]["oldest_price"], oldest);
  EXPECT_EQ(version_text(false, catalog).substr(0, 7), "smplan ");
}

}  // namespace
}  // namespace smplan::cli
