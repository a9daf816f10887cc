#include "catalogs/published.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalogs/import/import.hpp"
#include "tests/support/shipped_catalog.hpp"

namespace smplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(PublishedSources, AreReadWhole) {
  const Result<PublishedSources> sources = PublishedSources::shipped();
  ASSERT_TRUE(sources) << to_string(sources.error());
  EXPECT_THAT(sources->names(),
              ElementsAre("offers", "savings-plans", "spot-advisor", "spot-prices", "training-plans"));
  for (const PublishedFile& file : sources->files) {
    EXPECT_TRUE(file.host.starts_with("https://")) << file.name;
    EXPECT_GE(file.max_bytes, std::uint64_t{1} << 20) << file.name;
  }
  EXPECT_EQ(sources->files[1].needs, sources->files[0].name) << "and stands behind it, as the import reads them";
  EXPECT_FALSE(sources->commands[0].by_instance());
  EXPECT_TRUE(sources->commands[1].by_instance());
  for (const PublishedCommand& command : sources->commands) EXPECT_THAT(command.arguments, Contains("{region}"));
}

std::string listed(std::string_view text) {
  const auto files = read_region_index(text, "index.json");
  if (!files) return to_string(files.error());
  std::string out;
  for (const RegionFile& file : *files) out += file.region + " " + file.path + "\n";
  return out;
}

TEST(RegionIndex, IsAnObjectOfOffersOrAnArrayOfSavingsPlans) {
  EXPECT_EQ(
      listed(R"({"regions": {"us-east-1": {"regionCode": "us-east-1", "currentVersionUrl": "/o/1/us-east-1/index.json"},
                                   "us-east-1-dfw-2a": {"regionCode": "us-east-1-dfw-2a", "currentVersionUrl": "/o/1/x.json"}}})"),
      "us-east-1 /o/1/us-east-1/index.json\n")
      << "a Local Zone is left out";
  EXPECT_EQ(listed(R"({"regions": [{"regionCode": "eu-west-1", "versionUrl": "/s/eu-west-1/index.json"}]})"),
            "eu-west-1 /s/eu-west-1/index.json\n");
}

TEST(RegionIndex, LeadsToNoOtherHost) {
  for (const char* path : {"//evil.example.com/x", "https://evil.example.com/x", "/a/../b", "x", "", "/", "/a b",
                           "/a?b", "/a#b", "/a%2e%2e/b", "/a@b"}) {
    EXPECT_THAT(listed(std::string(R"({"regions": [{"regionCode": "us-east-1", "versionUrl": ")") + path + R"("}]})"),
                HasSubstr("index.json:/regions/0: names the region 'us-east-1'"))
        << path;
  }
  EXPECT_THAT(listed("{}"), HasSubstr("is no region index"));
  EXPECT_THAT(listed(R"({"regions": "all"})"), HasSubstr("is no region index"));
}

TEST(RegionName, IsPlain) {
  for (const char* name : {"us-east-1", "us-gov-west-1", "ap-southeast-3", "cn-north-1"}) {
    EXPECT_TRUE(is_region_name(name)) << name;
  }
  for (const char* name : {"", "1", "Any", "us-east", "US-EAST-1", "us east-1", "us-east-1;", "-1", "../x-1",
                           "us-east-1a", "a-123456789012345678901234567890123"}) {
    EXPECT_FALSE(is_region_name(name)) << name;
  }
}

TEST(Import, NamesWhereAFileWasFetched) {
  const std::string folder = std::string(SMPLAN_TEST_DATA) + "/data/aws/";
  ImportOptions options;
  options.as_of = "2026-01-01";
  options.origins[folder + "spot-advisor-data.json"] = {"https://advisor.example.com/a.json", "2026-11-28"};
  options.origins[folder + "AmazonSageMaker-index.json"] = {"https://offers.example.com/o.json", "2026-11-27"};
  const auto facts = import_files({folder + "AmazonSageMaker-index.json", folder + "spot-advisor-data.json"},
                                  test::shipped_catalog(), options);
  ASSERT_TRUE(facts) << to_string(facts.error());
  for (const SpotInterruption& rate : facts->spot) {
    EXPECT_THAT(rate.provenance.source, HasSubstr(", https://advisor.example.com/a.json"));
    EXPECT_EQ(rate.provenance.as_of, "2026-11-28");
  }
  for (const Price& price : facts->prices) {
    EXPECT_THAT(price.provenance.source, HasSubstr(", https://offers.example.com/o.json"));
    EXPECT_EQ(price.provenance.as_of, "2026-09-24") << "the list's own day comes first";
  }
}

TEST(Import, OfAFileWithNothingToTakeFailsUnlessItMay) {
  ImportOptions options;
  options.as_of = "2026-01-01";
  options.region = "eu-north-1";
  const std::vector<std::string> files = {std::string(SMPLAN_TEST_DATA) + "/data/aws/AmazonSageMaker-index.json"};
  EXPECT_EQ(import_files(files, test::shipped_catalog(), options).error().front().code, "nothing-to-import");
  options.may_be_empty = true;
  EXPECT_TRUE(import_files(files, test::shipped_catalog(), options)->prices.empty());
}

TEST(Catalog, TakesAnOverlayThatSaysWhenItWasRefreshed) {
  Catalog catalog = test::shipped_catalog();
  const auto overlay = parse_json(
      R"({"schema": "smplan.catalog/1", "refreshed": {"on": "2026-11-28", "savings_plan_years": 1, "files": []}})",
      "o");
  EXPECT_TRUE(catalog.merge(*overlay));
  EXPECT_FALSE(catalog.overlays().empty());
}

}  // namespace
}  // namespace smplan
