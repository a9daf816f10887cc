#include "catalogs/accelerator.hpp"

#include "fixture.hpp"

namespace smplan {
namespace {

using test::has_code;
using test::json;
using test::shipped;

struct Published {
  const char* key;
  double device_gib;  ///< torch's total_memory
  double gb_per_s;
  double bf16_tflops;  ///< dense; fp16 where the part has no bf16
  double fp8_tflops;
  int sm_count;
};

class PublishedAccelerator : public testing::TestWithParam<Published> {};

TEST_P(PublishedAccelerator, MatchesTheDataSheetAndTheDriver) {
  const Published& p = GetParam();
  const Accelerator* a = shipped().find_accelerator(p.key);
  ASSERT_NE(a, nullptr);
  EXPECT_NEAR(in_gib(a->device_memory), p.device_gib, 0.006);
  EXPECT_DOUBLE_EQ(a->memory_bandwidth.value(), p.gb_per_s * 1e9);
  const Precision sixteen_bit = a->supports(Precision::Bf16) ? Precision::Bf16 : Precision::Fp16;
  EXPECT_DOUBLE_EQ(a->peak_rate(sixteen_bit).value(), p.bf16_tflops * 1e12);
  EXPECT_DOUBLE_EQ(a->peak_rate(Precision::Fp8).value(), p.fp8_tflops * 1e12);
  EXPECT_EQ(a->sm_count, p.sm_count);
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, PublishedAccelerator,
    testing::Values(Published{"V100-16GB", 15.78, 900, 125, 0, 80}, Published{"V100-32GB", 31.73, 900, 125, 0, 80},
                    Published{"T4", 14.56, 320, 65, 0, 40}, Published{"A10G", 22.06, 600, 70, 0, 80},
                    Published{"L4", 22.03, 300, 121, 242, 58}, Published{"L40S", 44.52, 864, 362, 733, 142},
                    Published{"A100-40GB", 39.39, 1555, 312, 0, 108}, Published{"A100-80GB", 79.15, 2039, 312, 0, 108},
                    Published{"H100-80GB", 79.11, 3350, 989, 1979, 132},
                    Published{"H100-96GB-HBM2e-500W", 95.0, 2400, 989, 1979, 132},
                    Published{"H200", 139.80, 4800, 989, 1979, 132}, Published{"B200", 178.35, 8000, 2250, 4500, 148},
                    Published{"B300", 267.69, 8000, 2250, 4500, 148}, Published{"GB200", 184.31, 8000, 2500, 5000, 152},
                    Published{"GB300", 276.50, 8000, 2500, 5000, 152}));

TEST(Accelerators, OfferLessThanTheyAreSoldWith) {
  for (const Accelerator& a : shipped().accelerators()) EXPECT_LE(a.device_memory, a.marketing_memory) << a.key;
}

TEST(Accelerators, OfVoltaAndTuringHaveNoBf16) {
  for (const char* key : {"V100-16GB", "V100-32GB", "T4"}) {
    const Accelerator* a = shipped().find_accelerator(key);
    ASSERT_NE(a, nullptr);
    EXPECT_FALSE(a->supports(Precision::Bf16)) << key;
    EXPECT_FALSE(a->supports(Precision::Tf32)) << key;
    EXPECT_TRUE(a->supports(Precision::Fp16)) << key;
  }
}

TEST(Accelerators, CapabilityIsATenfold) {
  Accelerator a;
  EXPECT_EQ(a.capability(), 0);
  a.compute_capability = "8.9";
  EXPECT_EQ(a.capability(), 89);
  a.compute_capability = "10.3";
  EXPECT_EQ(a.capability(), 103);
}

TEST(Accelerators, OfTrainiumAreNeuronCoresNotChips) {
  // A Trainium chip: 2 cores, 32 GiB, 190 TFLOP/s; a Trainium2 chip: 4 logical cores, 96 GiB, 667 TFLOP/s.
  const Accelerator* trn1 = shipped().find_accelerator("Trainium1");
  const Accelerator* trn2 = shipped().find_accelerator("Trainium2");
  ASSERT_NE(trn1, nullptr);
  ASSERT_NE(trn2, nullptr);
  EXPECT_EQ(trn1->device_memory * 2, gib(32));
  EXPECT_DOUBLE_EQ(trn1->peak_rate(Precision::Bf16).value() * 2, 190e12);
  EXPECT_EQ(trn2->device_memory * 4, gib(96));
  EXPECT_DOUBLE_EQ(trn2->peak_rate(Precision::Bf16).value() * 4, 667e12);
}

TEST(Accelerators, WithoutComputeFactsAreKnownAndSayWhy) {
  const Accelerator* a = shipped().find_accelerator("RTX-PRO-4500");
  ASSERT_NE(a, nullptr);
  for (int k = 0; k < kPrecisionCount; ++k) EXPECT_FALSE(a->supports(static_cast<Precision>(k)));
  EXPECT_NE(a->note.find("cannot be planned"), std::string::npos);
}

constexpr const char* kGood =
    R"({"key": "X", "name": "X", "vendor": "nvidia", "marketing_memory_gib": 80, "device_memory_mib": 81000,
  "memory_bandwidth_gb_per_s": 2000, "peak_tflops": {"bf16": 300}, "source": "test", "as_of": "2026-11"})";

TEST(ReadAccelerator, TakesUnitsFromTheKeys) {
  Diagnostics out;
  const Accelerator a = read_accelerator(json(kGood), out);
  EXPECT_TRUE(out.empty()) << to_string(out);
  EXPECT_EQ(a.vendor, Vendor::Nvidia);
  EXPECT_EQ(a.marketing_memory, gib(80));
  EXPECT_EQ(a.device_memory.value(), 81000.0 * 1024 * 1024);
  EXPECT_EQ(a.memory_bandwidth, gb_per_s(2000));
  EXPECT_EQ(a.peak_rate(Precision::Bf16), tflops(300));
  EXPECT_FALSE(a.supports(Precision::Fp8));
  EXPECT_EQ(a.provenance.as_of, "2026-11");
}

TEST(ReadAccelerator, WantsToKnowWhoMakesIt) {
  Diagnostics out;
  std::string silent = kGood;
  silent.erase(silent.find("\"vendor\": \"nvidia\", "), std::string_view("\"vendor\": \"nvidia\", ").size());
  read_accelerator(json(silent), out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_NE(out.front().message.find("'vendor' is missing"), std::string::npos) << to_string(out);
}

TEST(ShippedAccelerators, OfAwsAreTrainiumAndOnlyThose) {
  for (const Accelerator& a : shipped().accelerators()) {
    EXPECT_EQ(a.vendor == Vendor::Aws, a.key.rfind("Trainium", 0) == 0) << a.key;
    EXPECT_EQ(a.vendor == Vendor::Amd, a.key.rfind("MI", 0) == 0) << a.key;
  }
}

std::string edited(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ReadAccelerator, RefusesWhatCannotBe) {
  struct Case {
    const char* from;
    const char* to;
  };
  for (const Case& c : {Case{"\"device_memory_mib\": 81000", "\"device_memory_mib\": -1"},
                        Case{"\"device_memory_mib\": 81000", "\"device_memory_gb\": 80"},
                        Case{"\"bf16\": 300", "\"bf17\": 300"}, Case{"\"bf16\": 300", "\"bf16\": \"300\""},
                        Case{"\"source\": \"test\"", "\"compute_capability\": \"sm_90\", \"source\": \"test\""},
                        Case{"\"source\": \"test\"", "\"compute_capability\": \"99999999999.0\", \"source\": \"test\""},
                        Case{"\"nvidia\"", "\"Nvidia\""}, Case{"\"source\": \"test\"", "\"source\": \"\""},
                        Case{"\"2026-11\"", "\"last week\""}, Case{"\"2026-11\"", "\"2026-13\""},
                        Case{"\"as_of\": \"2026-11\"", "\"of\": \"2026-11\""}}) {
    Diagnostics out;
    read_accelerator(json(edited(kGood, c.from, c.to)), out);
    EXPECT_FALSE(out.empty()) << c.to;
  }
}

TEST(Precision, NamesReadBack) {
  for (int k = 0; k < kPrecisionCount; ++k) {
    const auto p = static_cast<Precision>(k);
    EXPECT_EQ(precision_from(to_string(p)), p);
  }
  EXPECT_FALSE(precision_from("BF16").has_value());
  EXPECT_FALSE(precision_from("").has_value());
}

}  // namespace
}  // namespace smplan
