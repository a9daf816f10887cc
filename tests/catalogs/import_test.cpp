#include "catalogs/import/import.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "catalogs/dates.hpp"
#include "catalogs/import/reader.hpp"
#include "fixture.hpp"

namespace smplan {
namespace {

std::string sample(const char* name) { return std::string(SMPLAN_TEST_DATA) + "/data/aws/" + name; }

/// A file of the test's own, gone after it; tests run beside each other in processes of their own.
class OwnFile {
 public:
  explicit OwnFile(const std::string& text)
      : path_(testing::TempDir() + "smplan_import_" + std::to_string(getpid()) + "_" + std::to_string(++count_)) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;
  ~OwnFile() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  std::string path_;
};

ImportOptions options() {
  ImportOptions o;
  o.as_of = "2026-11-21";
  return o;
}

Result<ImportedFacts> import_text(const std::string& text) {
  const OwnFile file(text);
  return import_files({file.path()}, test::shipped(), options());
}

ImportedFacts import_sample(const std::vector<std::string>& paths) {
  auto facts = import_files(paths, test::shipped(), options());
  EXPECT_TRUE(facts.has_value()) << (facts ? "" : to_string(facts.error()));
  return facts ? *facts : ImportedFacts();
}

double usd(const ImportedFacts& facts, const char* instance, const char* region, Market market = Market::OnDemand) {
  for (const Price& p : facts.prices) {
    if (p.instance == instance && p.region == region && p.market == market) return in_usd_per_hour(p.rate);
  }
  return 0;
}

class Offer : public testing::TestWithParam<const char*> {};

TEST_P(Offer, GivesTrainingPricesWithSourceAndDate) {
  const ImportedFacts facts = import_sample({sample(GetParam())});
  EXPECT_NEAR(usd(facts, "ml.p5.48xlarge", "us-west-2"), 63.296, 1e-9);
  EXPECT_NEAR(usd(facts, "ml.p4d.24xlarge", "us-west-2"), 25.251286, 1e-9);
  EXPECT_NEAR(usd(facts, "ml.g6.xlarge", "ap-northeast-1"), 1.634, 1e-9);
  EXPECT_NEAR(usd(facts, "ml.m5.large", "us-east-1"), 0.115, 1e-9);
  EXPECT_GT(facts.other, 0u) << "the row for hosting";
  for (const Price& p : facts.prices) {
    EXPECT_EQ(p.basis, PriceBasis::Measured);
    EXPECT_EQ(p.provenance.as_of, "2026-09-24");
    EXPECT_EQ(p.provenance.source, "AWS Price List, AmazonSageMaker 20260924235900");
  }
}
INSTANTIATE_TEST_SUITE_P(Formats, Offer, testing::Values("AmazonSageMaker-index.json", "AmazonSageMaker-index.csv"),
                         [](const auto& test) { return std::string(test.index == 0 ? "json" : "csv"); });

TEST(Import, BothFormatsOfAnOfferSayTheSame) {
  EXPECT_EQ(overlay_of(import_sample({sample("AmazonSageMaker-index.json")})),
            overlay_of(import_sample({sample("AmazonSageMaker-index.csv")})));
}

TEST(Import, ReadsTheQueryApi) {
  const ImportedFacts facts = import_sample({sample("pricing-get-products.json")});
  ASSERT_EQ(facts.prices.size(), 1u);
  EXPECT_NEAR(usd(facts, "ml.m5.large", "us-east-1"), 0.115, 1e-9);
}

TEST(Import, TakesTheMiddleOfSpotZonesAsProxy) {
  const ImportedFacts facts = import_sample({sample("describe-spot-price-history.json")});
  EXPECT_NEAR(usd(facts, "ml.p5.48xlarge", "us-west-2", Market::Spot), (12.6935 + 12.9785) / 2, 1e-9);
  EXPECT_EQ(facts.prices.front().basis, PriceBasis::Derived);
  EXPECT_NE(facts.prices.front().formula.find("12.6935"), std::string::npos);
  EXPECT_EQ(facts.prices.front().provenance.as_of, "2026-03-01");
}

TEST(Import, KeepsTheLastSpotPriceOfAZone) {
  const auto facts = import_text(R"({"SpotPriceHistory": [
    {"AvailabilityZone": "us-west-2a", "InstanceType": "p4d.24xlarge", "ProductDescription": "Linux/UNIX", "SpotPrice": "9", "Timestamp": "2026-03-02T00:00:00Z"},
    {"AvailabilityZone": "us-west-2a", "InstanceType": "p4d.24xlarge", "ProductDescription": "Linux/UNIX", "SpotPrice": "7", "Timestamp": "2026-03-01T00:00:00Z"},
    {"AvailabilityZone": "us-west-2b", "InstanceType": "p4d.24xlarge", "ProductDescription": "Windows", "SpotPrice": "99", "Timestamp": "2026-03-03T00:00:00Z"}]})");
  ASSERT_TRUE(facts.has_value()) << to_string(facts.error());
  EXPECT_NEAR(usd(*facts, "ml.p4d.24xlarge", "us-west-2", Market::Spot), 9, 1e-9);
}

TEST(Import, PricesCapacityByTheFeeOfAnInstanceHour) {
  const auto facts = import_text(R"({"CapacityBlockOfferings": [
    {"InstanceType": "p5.48xlarge", "AvailabilityZone": "us-east-1b", "InstanceCount": 4, "CapacityBlockDurationHours": 48, "CapacityBlockDurationMinutes": 2880, "UpfrontFee": "7680.00", "CurrencyCode": "USD"},
    {"InstanceType": "p5.48xlarge", "AvailabilityZone": "us-east-1a", "InstanceCount": 1, "CapacityBlockDurationHours": 24, "UpfrontFee": "1200", "CurrencyCode": "USD"}]})");
  ASSERT_TRUE(facts.has_value()) << to_string(facts.error());
  EXPECT_NEAR(usd(*facts, "ml.p5.48xlarge", "us-east-1", Market::CapacityBlock), 40, 1e-9) << "the cheaper offer";
  EXPECT_EQ(facts->prices.front().provenance.as_of, "2026-11-21");
  const auto plan = import_text(R"({"TrainingPlanOfferings": [{"UpfrontFee": "4800", "CurrencyCode": "USD",
    "ReservedCapacityOfferings": [{"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2, "AvailabilityZone": "us-west-2a", "DurationHours": 47, "DurationMinutes": 60}]}]})");
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  EXPECT_NEAR(usd(*plan, "ml.p5.48xlarge", "us-west-2", Market::CapacityBlock), 50, 1e-9);
}

TEST(Import, AnOfferingWithoutAFeeIsNoPrice) {
  const auto facts = import_files({sample("search-training-plan-offerings.json")}, test::shipped(), options());
  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().front().code, "nothing-to-import");
}

TEST(Import, JoinsSavingsPlansToTheOffersSkus) {
  const OwnFile plans(R"({"offerCode": "AWSMachineLearningSavingsPlans", "publicationDate": "2026-10-01T00:00:00Z",
    "terms": {"savingsPlan": [
      {"sku": "P1", "leaseContractLength": {"duration": 1, "unit": "year"}, "rates": [
        {"discountedSku": "SYNTHETIC0000001", "discountedUsageType": "USW2-Train:ml.p5.48xlarge", "unit": "Hrs", "discountedRate": {"price": "45.5", "currency": "USD"}},
        {"discountedSku": "UNSEEN", "discountedUsageType": "USE1-Train:ml.p5.48xlarge", "unit": "Hrs", "discountedRate": {"price": "1", "currency": "USD"}},
        {"discountedSku": "HOST", "discountedUsageType": "USE1-Host:ml.p5.48xlarge", "unit": "Hrs", "discountedRate": {"price": "1", "currency": "USD"}}]},
      {"sku": "P3", "leaseContractLength": {"duration": 3, "unit": "year"}, "rates": [
        {"discountedSku": "SYNTHETIC0000001", "discountedUsageType": "USW2-Train:ml.p5.48xlarge", "unit": "Hrs", "discountedRate": {"price": "30", "currency": "USD"}}]}]}})");
  const ImportedFacts one = import_sample({sample("AmazonSageMaker-index.json"), plans.path()});
  EXPECT_NEAR(usd(one, "ml.p5.48xlarge", "us-west-2", Market::SavingsPlan), 45.5, 1e-9);
  ImportOptions three = options();
  three.savings_plan_years = 3;
  const auto long_term = import_files({sample("AmazonSageMaker-index.csv"), plans.path()}, test::shipped(), three);
  ASSERT_TRUE(long_term.has_value());
  EXPECT_NEAR(usd(*long_term, "ml.p5.48xlarge", "us-west-2", Market::SavingsPlan), 30, 1e-9);
}

std::string plan_of(const char* sku, const char* description, const char* price, const char* currency) {
  return std::string(R"({"sku": ")") + sku + R"(", "description": ")" + description +
         R"(", "leaseContractLength": {"duration": 1, "unit": "year"}, "rates": [
    {"discountedSku": "SYNTHETIC0000001", "discountedUsageType": "USW2-Train:ml.p5.48xlarge", "unit": "Hrs",
     "discountedRate": {"price": ")" +
         price + R"(", "currency": ")" + currency + R"("}}]})";
}

TEST(Import, TakesOfSavingsPlansWhatIsPaidByTheHour) {
  const auto with = [](const std::string& plans, const char* products = "[]") {
    const OwnFile file(R"({"offerCode": "AWSMachineLearningSavingsPlans", "products": )" + std::string(products) +
                       R"(, "terms": {"savingsPlan": [)" + plans + "]}}");
    const ImportedFacts facts = import_sample({sample("AmazonSageMaker-index.json"), file.path()});
    EXPECT_LE(facts.notes.size(), 1u);
    return usd(facts, "ml.p5.48xlarge", "us-west-2", Market::SavingsPlan);
  };
  const std::string all = plan_of("A", "1 year All Upfront Machine Learning Savings Plan", "40", "USD");
  const std::string some = plan_of("B", "1 year Partial Upfront Machine Learning Savings Plan", "50", "USD");
  const std::string none = plan_of("C", "1 year No Upfront Machine Learning Savings Plan", "45", "USD");
  EXPECT_NEAR(with(all + "," + some + "," + none), 45, 1e-9);
  EXPECT_EQ(with(all), 0);
  EXPECT_NEAR(with(plan_of("A", "", "40", "USD") + "," + plan_of("B", "", "45", "USD"),
                   R"([{"sku": "A", "attributes": {"purchaseOption": "All Upfront"}},
                       {"sku": "B", "attributes": {"purchaseOption": "No Upfront"}}])"),
              45, 1e-9)
      << "the list's products say it where descriptions do not";
  EXPECT_EQ(with(plan_of("C", "No Upfront", "45", "CNY")), 0);
}

TEST(Import, ReadsInterruptionRatesByTypeAndRegion) {
  const ImportedFacts facts = import_sample({sample("spot-advisor-data.json")});
  const auto rate = [&](const char* type, const char* region) {
    for (const SpotInterruption& s : facts.spot) {
      if (s.types == type && s.region == region) return std::pair(s.low, s.high);
    }
    return std::pair(-1.0, -1.0);
  };
  EXPECT_EQ(rate("ml.p4d.24xlarge", "us-east-1"), std::pair(0.10, 0.15));
  EXPECT_EQ(rate("ml.p4d.24xlarge", "us-west-2"), std::pair(0.20, 0.50)) << "over 20 %";
  EXPECT_EQ(rate("ml.p5.48xlarge", "us-west-2"), std::pair(0.05, 0.10));
  EXPECT_GT(facts.unknown, 0u) << "a type that the catalog lacks";
  Catalog merged = test::shipped();
  ASSERT_TRUE(merged.merge(test::json(overlay_of(facts))).has_value());
  EXPECT_NEAR(merged.operations().spot_monthly("ml.p5.48xlarge", "us-east-1"), 0.35, 1e-12);
}

TEST(Import, RefreshesWhatEc2KnowsOfATypeAndKeepsTheRest) {
  const auto facts = import_text(R"({"InstanceTypes": [
    {"InstanceType": "p4d.24xlarge", "VCpuInfo": {"DefaultVCpus": 97}, "GpuInfo": {"Gpus": [{"Count": 8}]}},
    {"InstanceType": "p5.48xlarge", "GpuInfo": {"Gpus": [{"Count": 4}]}},
    {"InstanceType": "zz9.large"}]})");
  ASSERT_TRUE(facts.has_value()) << to_string(facts.error());
  ASSERT_EQ(facts->instances.size(), 1u);
  InstanceType expected = *test::shipped().find_instance("ml.p4d.24xlarge");
  expected.vcpus = 97;
  expected.provenance = {"aws ec2 describe-instance-types", "2026-11-21"};
  EXPECT_EQ(facts->instances.front(), expected);
  ASSERT_EQ(facts->notes.size(), 1u);
  EXPECT_NE(facts->notes[0].find("4 GPUs in EC2 and 8"), std::string::npos) << facts->notes[0];
  EXPECT_EQ(facts->unknown, 1u);
}

TEST(Import, TheShippedTypesAgreeWithEc2) {
  const ImportedFacts facts = import_sample({sample("describe-instance-types.json")});
  EXPECT_GT(facts.used, 0u);
  EXPECT_TRUE(facts.notes.empty()) << facts.notes.front();
}

TEST(Import, AnOverlayReadsBackAsTheSameFacts) {
  ImportedFacts facts =
      import_sample({sample("AmazonSageMaker-index.json"), sample("describe-spot-price-history.json")});
  facts.instances = test::shipped().instances();
  Catalog merged = test::shipped();
  const auto accepted = merged.merge(test::json(overlay_of(facts)));
  ASSERT_TRUE(accepted.has_value()) << to_string(accepted.error());
  for (const Price& p : facts.prices) {
    const Price* back = merged.find_price(p.instance, p.region, p.market);
    ASSERT_NE(back, nullptr);
    EXPECT_NEAR(back->rate / p.rate, 1, 1e-12);
    EXPECT_EQ(back->provenance, p.provenance);
    EXPECT_EQ(back->formula, p.formula);
  }
  // Whole, so that a member that is read and not written is noticed.
  for (const InstanceType& i : test::shipped().instances()) {
    EXPECT_EQ(*merged.find_instance(i.name), i) << i.name;
  }
  for (const CatalogChange& c : catalog_changes(test::shipped(), merged)) {
    EXPECT_EQ(c.fact.rfind("prices/", 0), 0u) << c.fact << ": " << c.before << " -> " << c.after;
  }
}

TEST(Import, TakesOneRegionWhereAsked) {
  ImportOptions o = options();
  o.region = "us-west-2";
  const auto facts = import_files({sample("AmazonSageMaker-index.json")}, test::shipped(), o);
  ASSERT_TRUE(facts.has_value());
  for (const Price& p : facts->prices) EXPECT_EQ(p.region, "us-west-2");
  o.region = "eu-west-1";
  EXPECT_FALSE(import_files({sample("AmazonSageMaker-index.json")}, test::shipped(), o).has_value());
}

struct Bad {
  const char* name;
  const char* text;
  const char* code;
};
class BadFile : public testing::TestWithParam<Bad> {};

TEST_P(BadFile, IsRefusedWhole) {
  const auto facts = import_text(GetParam().text);
  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().front().code, GetParam().code) << to_string(facts.error());
}
#define PRODUCT                                                                                                \
  R"("products": {"S": {"sku": "S", "productFamily": "ML Instance", "attributes": {"component": "Training", )" \
  R"("instanceName": "ml.p5.48xlarge", "regionCode": "us-east-1"}}})"
#define TERM(price)                                                                                                     \
  R"("terms": {"OnDemand": {"S": {"S.T": {"priceDimensions": {"S.T.R": {"unit": "Hrs", "pricePerUnit": {"USD": )" price \
  "}}}}}}}"
INSTANTIATE_TEST_SUITE_P(
    Offers, BadFile,
    testing::Values(
        Bad{"truncated", R"({"offerCode": "AmazonSageMaker", "products": {"S": {"sku")", "json-syntax"},
        Bad{"another_offer", R"({"offerCode": "AmazonEC2", "products": {}})", "wrong-offer"},
        Bad{"another_service", R"({"PriceList": ["{\"serviceCode\": \"AmazonEC2\"}"]})", "wrong-offer"},
        Bad{"negative_price", "{" PRODUCT ", " TERM(R"("-1.0")") "}", "bad-price"},
        Bad{"price_in_words", "{" PRODUCT ", " TERM(R"("NaN")") "}", "bad-price"},
        Bad{"monstrous_price", "{" PRODUCT ", " TERM(R"("1e9")") "}", "bad-price"},
        Bad{"price_is_a_number", "{" PRODUCT ", " TERM("3.5") "}", "wrong-kind"},
        Bad{"terms_first", "{" TERM(R"("1")") ", " PRODUCT "}", "bad-order"},
        Bad{"nothing_inside", R"({"offerCode": "AmazonSageMaker", "products": {}, "terms": {}})", "unknown-format"},
        Bad{"monstrous_type",
            R"({"InstanceTypes": [{"InstanceType": "p5.48xlarge", "VCpuInfo": {"DefaultVCpus": 1e300}}]})",
            "out-of-range"},
        Bad{"monstrous_memory",
            R"({"InstanceTypes": [{"InstanceType": "p5.48xlarge", "MemoryInfo": {"SizeInMiB": 1e11}}]})",
            "out-of-range"},
        Bad{"monstrous_fee",
            R"({"CapacityBlockOfferings": [{"UpfrontFee": "1e300", "CapacityBlockDurationHours": 1,
                "InstanceCount": 1, "InstanceType": "p5.48xlarge", "AvailabilityZone": "us-east-1a"}]})",
            "bad-price"},
        Bad{"something_else", R"({"hello": "world"})", "unknown-format"}, Bad{"empty", "", "empty-file"},
        Bad{"a_band_in_words", R"({"ranges": [{"index": 0, "label": "seldom"}], "spot_advisor": {}})", "bad-band"},
        Bad{"a_band_that_falls", R"({"ranges": [{"index": 0, "label": "10-5%"}], "spot_advisor": {}})", "bad-band"},
        Bad{"a_band_of_more_than_half", R"({"ranges": [{"index": 0, "label": "20-50%"}], "spot_advisor": {}})",
            "bad-band"},
        Bad{"a_savings_rate_before_its_years",
            R"({"terms": {"savingsPlan": [{"sku": "P", "rates": [{"discountedSku": "S"}]}]}})", "bad-order"},
        Bad{"an_unknown_band", R"({"spot_advisor": {"us-east-1": {"Linux": {"p5.48xlarge": {"r": 9, "s": 1}}}}})",
            "bad-band"},
        Bad{"prose", "These are not prices.\n", "unknown-format"},
        Bad{"csv_of_another_offer",
            "\"FormatVersion\",\"v1.0\"\n\"Disclaimer\",\"\"\n\"Publication Date\",\"2026\"\n"
            "\"Version\",\"1\"\n\"OfferCode\",\"AmazonEC2\"\n\"SKU\",\"TermType\"\n",
            "unknown-format"},
        Bad{"csv_without_prices",
            "\"FormatVersion\",\"v1.0\"\n\"Disclaimer\",\"\"\n\"Publication Date\",\"2026\"\n"
            "\"Version\",\"1\"\n\"OfferCode\",\"AmazonSageMaker\"\n\"SKU\",\"TermType\"\n",
            "missing-column"}),
    [](const auto& test) { return test.param.name; });

// A price list holds what else runs on the same types: spot, HyperPod clusters, notebooks, endpoints.
TEST(TrainingType, IsThatOfATrainingJobAlone) {
  struct Sku {
    const char *instance, *usage, *component, *platform, *type;
  };
  const Sku skus[] = {
      {"ml.p5.48xlarge", "USE1-Train:ml.p5.48xlarge", "Training", "", "ml.p5.48xlarge"},
      {"ml.p5.48xlarge", "USE1-Train:ml.p5.48xlarge", "Training", "Training", "ml.p5.48xlarge"},
      {"ml.p5.48xlarge", "USE1-Train:ml.p5.48xlarge", "", "", "ml.p5.48xlarge"},
      {"", "USE1-Train:ml.p5.48xlarge", "", "", "ml.p5.48xlarge"},
      {"ml.p5.48xlarge", "", "Training", "", "ml.p5.48xlarge"},
      {"ml.p5.48xlarge", "USE1-Train:ml.p5.48xlarge", "Training", "HyperPod", ""},
      {"ml.p5.48xlarge", "USE1-Train:ml.p5.48xlarge", "Processing", "", ""},
      {"ml.p5.48xlarge", "USE1-Host:ml.p5.48xlarge", "", "", ""},
      {"p5.48xlarge", "", "Training", "", ""},
      {"", "USE1-Train:p5.48xlarge", "Training", "", ""},
  };
  for (const Sku& s : skus) {
    EXPECT_EQ(training_type(s.instance, s.usage, s.component, s.platform), s.type)
        << s.instance << ' ' << s.usage << ' ' << s.component << ' ' << s.platform;
  }
}

std::string message_of(const std::string& text) {
  const auto facts = import_text(text);
  return facts ? "taken" : to_string(facts.error());
}

TEST(Import, SaysWhatAFileIsThatIsNoAnswerOfAws) {
  EXPECT_NE(message_of("\x1f\x8b\x08rest").find("gunzip -c FILE | smplan catalog import -"), std::string::npos);
  EXPECT_NE(message_of("\xff\xfe{").find("UTF-16"), std::string::npos);
  EXPECT_NE(message_of("<?xml version=\"1.0\"?><Error/>").find("is XML or HTML"), std::string::npos);
  EXPECT_NE(message_of("[{\"SpotPrice\": \"1\"}]").find("without --query"), std::string::npos);
  const auto folder = import_files({testing::TempDir()}, test::shipped(), options());
  ASSERT_FALSE(folder.has_value());
  EXPECT_NE(to_string(folder.error()).find("Is a directory"), std::string::npos) << to_string(folder.error());
}

/// One row of a spot price history, with a member replaced or added.
std::string history(const char* zone, const char* member = R"("InstanceType": "p5.48xlarge")", const char* top = "") {
  return std::string(R"({"SpotPriceHistory": [{"ProductDescription": "Linux/UNIX", "SpotPrice": "9",
    "Timestamp": "2026-03-02T00:00:00Z", "AvailabilityZone": ")") +
         zone + "\", " + member + "}]" + top + "}";
}

TEST(Import, TakesFilesThatStartWithAByteOrderMark) {
  EXPECT_EQ(message_of("\xef\xbb\xbf" + history("us-west-2a")), "taken");
}

TEST(Import, PassesOverLocalZonesAndWhatIsNoRegion) {
  EXPECT_EQ(message_of(history("us-west-2a")), "taken");
  for (const char* zone : {"us-west-2-lax-1a", "US-WEST-2a", "us_w-est-2a"}) {
    EXPECT_NE(message_of(history(zone)).find("1 entries for other things"), std::string::npos);
  }
  EXPECT_NE(message_of(history("us\\n-west-2a")).find("invisible character"), std::string::npos);
}

TEST(Import, TellsThatAnAnswerHasMorePages) {
  const auto page = import_text(history("us-west-2a", R"("InstanceType": "p5.48xlarge")", R"(, "NextToken": "abc")"));
  ASSERT_TRUE(page.has_value());
  ASSERT_EQ(page->notes.size(), 1u);
  EXPECT_NE(page->notes[0].find("is one page of several"), std::string::npos);
  const auto last = import_text(history("us-west-2a", R"("InstanceType": "p5.48xlarge")", R"(, "NextToken": "")"));
  ASSERT_TRUE(last.has_value());
  EXPECT_TRUE(last->notes.empty());
}

TEST(Import, NamesThePlaceOfAFaultAsAPointerIntoTheFile) {
  const auto facts = import_text("{" PRODUCT ", " TERM("3.5") "}");
  ASSERT_FALSE(facts.has_value());
  ASSERT_EQ(facts.error().size(), 1u) << to_string(facts.error());
  const std::string& where = facts.error()[0].location;
  EXPECT_EQ(where.substr(where.find(':')), ":/terms/OnDemand/S/S.T/priceDimensions/S.T.R/pricePerUnit/USD");
}

TEST(Import, ReckonsInDollarsOnly) {
  const std::string chinese = message_of("{" PRODUCT R"(, "terms": {"OnDemand": {"S": {"S.T": {"priceDimensions":
    {"S.T.R": {"unit": "Hrs", "pricePerUnit": {"CNY": "400"}}}}}}}})");
  EXPECT_NE(chinese.find("prices in CNY"), std::string::npos) << chinese;
  const auto fee = import_text(R"({"CapacityBlockOfferings": [
    {"InstanceType": "p5.48xlarge", "AvailabilityZone": "us-east-1b", "InstanceCount": 1, "CapacityBlockDurationHours": 24, "UpfrontFee": "1200", "CurrencyCode": "USD"},
    {"InstanceType": "p5.48xlarge", "AvailabilityZone": "us-east-1b", "InstanceCount": 1, "CapacityBlockDurationHours": 24, "UpfrontFee": "12", "CurrencyCode": "EUR"}]})");
  ASSERT_TRUE(fee.has_value()) << to_string(fee.error());
  EXPECT_NEAR(usd(*fee, "ml.p5.48xlarge", "us-east-1", Market::CapacityBlock), 50, 1e-9);
  ASSERT_EQ(fee->notes.size(), 1u);
  EXPECT_NE(fee->notes[0].find("prices in EUR are passed over"), std::string::npos);
}

TEST(Import, ReportsAFaultOfTheFileOnceNotForEachOfItsPrices) {
  const std::string undated = message_of(R"({"publicationDate": "2026-99-99", )" PRODUCT ", " TERM(R"("1")") "}");
  EXPECT_EQ(undated.find("is not a date"), undated.rfind("is not a date")) << undated;
  std::string products, terms;
  for (int i = 0; i < 20; ++i) {
    const std::string sku = "S" + std::to_string(i);
    products += (i == 0 ? "\"" : ",\"") + sku + R"(": {"attributes": {"component": "Training",
      "instanceName": "ml.p5.48xlarge", "regionCode": "us-east-1"}})";
    terms += (i == 0 ? "\"" : ",\"") + sku + R"(": {"T": {"priceDimensions": {"R": {"unit": "Hrs",
      "pricePerUnit": {"USD": ")" +
             std::to_string(40 + i) + R"("}}}}})";
  }
  const auto facts = import_text("{\"products\": {" + products + "}, \"terms\": {\"OnDemand\": {" + terms + "}}}");
  ASSERT_TRUE(facts.has_value()) << to_string(facts.error());
  ASSERT_EQ(facts->notes.size(), 6u) << "five and the number of the others";
  EXPECT_EQ(facts->notes.back(), "14 more have two prices");
}

TEST(Import, OfTwoPricesForOneThingTheHigherStays) {
  const auto facts = import_text(R"({"products": {
      "A": {"attributes": {"component": "Training", "instanceName": "ml.p5.48xlarge", "regionCode": "us-east-1"}},
      "B": {"attributes": {"usagetype": "USE1-Train:ml.p5.48xlarge", "regionCode": "us-east-1"}}},
    "terms": {"OnDemand": {
      "A": {"A.T": {"priceDimensions": {"A.T.R": {"unit": "Hrs", "pricePerUnit": {"USD": "63.3"}}}}},
      "B": {"B.T": {"priceDimensions": {"B.T.R": {"unit": "Hrs", "pricePerUnit": {"USD": "60.1"}}}}}}}})");
  ASSERT_TRUE(facts.has_value()) << to_string(facts.error());
  EXPECT_NEAR(usd(*facts, "ml.p5.48xlarge", "us-east-1"), 63.3, 1e-9);
  EXPECT_EQ(facts->notes.size(), 1u);
}

TEST(CatalogChanges, ShowNewAndChangedFacts) {
  const Catalog mine =
      test::with("prices", R"({"instance": "ml.p5.48xlarge", "region": "us-west-2", "market": "on-demand",
    "usd_per_hour": 31.648, "basis": "measured", "source": "s", "as_of": "2026-11-01"},
    {"instance": "ml.p5.48xlarge", "region": "mars-1", "market": "on-demand", "usd_per_hour": 9, "basis": "measured",
     "source": "s", "as_of": "2026-11-01"})");
  const auto changes = catalog_changes(test::shipped(), mine);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].fact, "prices/ml.p5.48xlarge us-west-2 on-demand");
  EXPECT_NEAR(*changes[0].ratio, 0.5, 1e-9);
  EXPECT_EQ(changes[1].before, "");
  EXPECT_TRUE(catalog_changes(mine, mine).empty());
}

TEST(DaysBetween, CountsFromTheFirstDayOfWhatIsNotExact) {
  EXPECT_EQ(days_between("2026-01-01", "2026-04-02"), 91);
  EXPECT_EQ(days_between("2026", "2026-01-31"), 30);
  EXPECT_EQ(days_between("2026-02", "2026-01-31"), -1);
  EXPECT_EQ(days_between("2026-02-30", "2026-03-01"), std::nullopt);
  EXPECT_EQ(days_between("2026/01/01", "2026-03-01"), std::nullopt);
  EXPECT_EQ(days_between("2026-01 01", "2026-03-01"), std::nullopt);
  EXPECT_EQ(days_between("-001-01-01", "2026-03-01"), std::nullopt);
  EXPECT_EQ(days_between("", "2026-03-01"), std::nullopt);
}

TEST(IsDay, TakesWholeDaysOfTheCalendar) {
  for (const char* day : {"2026-11-22", "2024-02-29", "2026-01-31", "2026-12-01"}) EXPECT_TRUE(is_day(day)) << day;
  for (const char* none :
       {"2026-13-01", "2026-02-29", "2026-11-31", "2026-1-011", "2026-11-2x", "20261-1-22", "2026/11/22", "2026-11-2",
        "2026-11", "2026", "", "2026-00-10", "2026-10-00", "-026-10-01", "2026-11-220"}) {
    EXPECT_FALSE(is_day(none)) << none;
  }
}

}  // namespace
}  // namespace smplan
