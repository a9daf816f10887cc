#include "models/machine/compute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "models/machine/kernel_clock.hpp"
#include "tests/support/kernel_points.hpp"

namespace smplan {
namespace {

using testing::kernel_points;
using testing::KernelPoint;
using testing::MeanErrors;
using testing::shipped_catalog;

struct Device {
  const Accelerator& accelerator;
  const AcceleratorProfile& profile;
  [[nodiscard]] Seconds gemm(std::int64_t m, std::int64_t n, std::int64_t k, Precision p) const {
    return gemm_time({.m = m, .n = n, .k = k}, p, accelerator, profile);
  }
};

Device device(const std::string& key) {
  return {*shipped_catalog().find_accelerator(key), *shipped_catalog().find_accelerator_profile(key)};
}

const std::vector<std::string> kPlannable{"V100-16GB",
                                          "V100-32GB",
                                          "T4",
                                          "A10G",
                                          "A40",
                                          "L4",
                                          "L40S",
                                          "A100-40GB",
                                          "A100-80GB",
                                          "H100-80GB",
                                          "H100-96GB-HBM2e-500W",
                                          "H200",
                                          "B200",
                                          "B300",
                                          "GB200",
                                          "GB300",
                                          "Trainium1",
                                          "Trainium2",
                                          "RTX-PRO-6000"};

TEST(AcceleratorProfiles, ExistForEveryPlannableAccelerator) {
  for (const std::string& key : kPlannable) {
    const AcceleratorProfile* profile = shipped_catalog().find_accelerator_profile(key);
    ASSERT_NE(profile, nullptr) << key;
    EXPECT_FALSE(profile->provenance.source.empty()) << key;
  }
}

TEST(GemmTime, NeverBeatsTheRoofline) {
  for (const std::string& key : kPlannable) {
    const Device d = device(key);
    for (int i = 0; i < kPrecisionCount; ++i) {
      const auto p = static_cast<Precision>(i);
      if (!d.accelerator.supports(p)) continue;
      for (std::int64_t m : {1, 100, 4096, 65536}) {
        for (std::int64_t n : {64, 1000, 12288}) {
          for (std::int64_t k : {32, 4096, 28672}) {
            const Seconds time = d.gemm(m, n, k, p);
            const double mnk = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
            EXPECT_GE(time, Flops(2 * mnk) / d.accelerator.peak_rate(p)) << key << " " << m << "x" << n << "x" << k;
            // Half a byte per weight is the least that any format takes.
            const Bytes weights(0.5 * static_cast<double>(n) * static_cast<double>(k));
            EXPECT_GE(time, weights / d.accelerator.memory_bandwidth);
          }
        }
      }
    }
  }
}

TEST(GemmTime, GrowsWithEveryDimension) {
  for (const std::string& key : kPlannable) {
    const Device d = device(key);
    for (std::int64_t size = 64; size <= 16384; size += 192) {
      EXPECT_LE(d.gemm(size, 4096, 4096, Precision::Fp16), d.gemm(size + 192, 4096, 4096, Precision::Fp16)) << key;
      EXPECT_LE(d.gemm(4096, size, 4096, Precision::Fp16), d.gemm(4096, size + 192, 4096, Precision::Fp16)) << key;
      EXPECT_LE(d.gemm(4096, 4096, size, Precision::Fp16), d.gemm(4096, 4096, size + 192, Precision::Fp16)) << key;
    }
  }
}

// 8192 x 14336 in 128 x 256 tiles is 64 x 56 = 3,584 blocks: 24.2 waves of 148 SMs, 23.6 of 152. With
// whole waves and no other effect, 25 rounds of one tile against 24. One step of k cannot be split.
TEST(GemmTime, CountsWavesOfTiles) {
  Accelerator a = device("B200").accelerator;
  AcceleratorProfile p = device("B200").profile;
  p.gemm_wave_rounding = 1;
  p.gemm_half_k = 0;
  p.gemm_half_tile = 1e6;  // small tiles never pay
  p.gemm_floor = Seconds();
  a.memory_bandwidth = BytesPerSecond(1e30);
  const double rate = a.peak_rate(Precision::Bf16).value() * p.gemm_efficiency[static_cast<int>(Precision::Bf16)];
  for (const auto& [sms, waves] : {std::pair{148, 25.0}, std::pair{152, 24.0}}) {
    a.sm_count = sms;
    const double tile = 2.0 * 128 * 256 * 64 / (rate / sms);
    EXPECT_NEAR(gemm_time({.m = 8192, .n = 14336, .k = 64}, Precision::Bf16, a, p).value() / tile, waves, 1e-6);
  }
}

TEST(GemmTime, SplitsSkinnyProductsAlongK) {
  const Device d = device("A100-80GB");
  // One 128 x 128 tile per SM would leave 107 SMs idle: faster than an eighth of that is a split.
  const double one_tile = 2.0 * 128 * 128 * 65536 / (d.accelerator.peak_rate(Precision::Fp16).value() / 108);
  EXPECT_LT(d.gemm(128, 128, 65536, Precision::Fp16).value(), one_tile / 4);
}

TEST(GemmTime, PaysForRowsOffSixteenBytes) {
  const Device d = device("A100-80GB");
  const double even = d.gemm(8192, 768, 50304, Precision::Bf16).value();
  const double odd = d.gemm(8192, 768, 50257, Precision::Bf16).value();
  EXPECT_GT(odd, 2.5 * even);
  EXPECT_LT(odd, 4.0 * even);
  const GemmShape gradient{.m = 768, .n = 50257, .k = 8192, .misaligned = true};
  EXPECT_GT(gemm_time(gradient, Precision::Bf16, d.accelerator, d.profile).value(),
            2.5 * d.gemm(768, 50257, 8192, Precision::Bf16).value());
}

TEST(GemmTime, WritesRowsOffSixteenBytesForNothing) {
  const Device d = device("A100-80GB");
  EXPECT_NEAR(d.gemm(8192, 50257, 768, Precision::Bf16) / d.gemm(8192, 50304, 768, Precision::Bf16), 1, 0.01);
}

TEST(GemmTime, OfGroupedProductsSharesWaves) {
  const Device d = device("H100-80GB");
  const Seconds one = d.gemm(256, 2048, 4096, Precision::Bf16);
  const Seconds sixteen =
      gemm_time({.m = 256, .n = 2048, .k = 4096, .batch = 16}, Precision::Bf16, d.accelerator, d.profile);
  EXPECT_LT(sixteen, one * 16);
  EXPECT_GT(sixteen, one * 4);
}

TEST(GemmTime, IsInfiniteWithoutUnitsForThePrecision) {
  EXPECT_TRUE(std::isinf(device("V100-32GB").gemm(1024, 1024, 1024, Precision::Fp8).value()));
}

TEST(GemmTime, IsNeverLongerOnAFasterAccelerator) {
  const std::vector<std::string> order{"T4", "V100-32GB", "A100-80GB", "H100-80GB", "B200"};
  for (std::size_t i = 1; i < order.size(); ++i) {
    for (std::int64_t m : {512, 2048, 8192, 32768}) {
      for (std::int64_t n : {1024, 5120, 12288}) {
        for (std::int64_t k : {1024, 8192}) {
          EXPECT_LE(device(order[i]).gemm(m, n, k, Precision::Fp16),
                    device(order[i - 1]).gemm(m, n, k, Precision::Fp16))
              << order[i] << " against " << order[i - 1] << " on " << m << "x" << n << "x" << k;
        }
      }
    }
  }
}

TEST(GemmTime, IsBelowTheBestShapesThatWereFoundButNear) {
  // Best of thousands of shapes: stas00/ml-engineering@744d01e1, maximum achievable matmul, TFLOP/s.
  struct Case {
    const char* key;
    GemmShape shape;
    Precision precision;
    double tflops;
  };
  for (const Case& c : {Case{"A100-80GB", {1024, 10240, 5120}, Precision::Bf16, 271.2},
                        Case{"H100-80GB", {2048, 2048, 13312}, Precision::Bf16, 794.5},
                        Case{"H100-80GB", {1024, 9216, 14336}, Precision::Fp8, 1402.6},
                        Case{"B200", {1792, 16128, 3072}, Precision::Bf16, 1745},
                        Case{"B200", {15360, 4096, 3072}, Precision::Fp8, 3432.5},
                        Case{"B300", {12288, 18432, 1024}, Precision::Bf16, 1769},
                        Case{"GB200", {4096, 9728, 2048}, Precision::Bf16, 1822}}) {
    const Device d = device(c.key);
    const double mnk = static_cast<double>(c.shape.m) * static_cast<double>(c.shape.n) * static_cast<double>(c.shape.k);
    const double predicted = 2 * mnk / gemm_time(c.shape, c.precision, d.accelerator, d.profile).value() / 1e12;
    EXPECT_LT(predicted, c.tflops) << c.key;
    EXPECT_GT(predicted, 0.85 * c.tflops) << c.key;
  }
}

TEST(GemmTime, ReproducesMeasuredKernels) {
  MeanErrors errors;
  for (const KernelPoint& point : kernel_points()) {
    if (point.kind != "gemm") continue;
    const Device d = device(point.gpu);
    errors.add(point.gpu + " " + std::string(to_string(point.precision)),
               gemm_time(point.gemm, point.precision, d.accelerator, d.profile), point.time);
  }
  errors.expect_within({{"A100-40GB fp16", 0.09},
                        {"A100-80GB bf16", 0.15},
                        {"A100-80GB fp16", 0.10},
                        {"A40 fp16", 0.12},
                        {"B200 bf16", 0.15},
                        {"B200 fp8", 0.15},
                        {"B300 bf16", 0.15},
                        {"B300 fp8", 0.15},
                        {"GB200 bf16", 0.15},
                        {"GB200 fp8", 0.15},
                        {"H100-80GB bf16", 0.15},
                        {"H100-80GB fp16", 0.07},
                        {"H100-80GB fp8", 0.12},
                        {"H200 fp8", 0.15},
                        {"V100-16GB fp16", 0.12},
                        {"V100-32GB fp16", 0.06}});
}

TEST(PoweredRate, IsTheCapOverTheEnergyOfAFlop) {
  const Device b200 = device("B200");
  const double at_16_bits = 1000 / 0.92;  // W over pJ: TFLOP/s
  EXPECT_NEAR(powered_rate(Precision::Bf16, b200.accelerator, b200.profile).value() / 1e12, at_16_bits, 1e-6);
  EXPECT_NEAR(powered_rate(Precision::Fp8, b200.accelerator, b200.profile).value() / 1e12, 2 * at_16_bits, 1e-6)
      << "half the bits, twice the rate";
  EXPECT_EQ(powered_rate(Precision::Fp32, b200.accelerator, b200.profile), b200.accelerator.peak_rate(Precision::Fp32));
}

TEST(PoweredRate, IsThePeakWhereNoCapIsKnownToBind) {
  for (const char* key : {"A100-80GB", "Trainium1", "L40S"}) {
    const Device d = device(key);
    EXPECT_EQ(powered_rate(Precision::Bf16, d.accelerator, d.profile), d.accelerator.peak_rate(Precision::Bf16)) << key;
  }
}

TEST(PoweredRate, BindsTheProductsOfAPassAndNotSmallOnes) {
  const Accelerator& a = *shipped_catalog().find_accelerator("B200");
  AcceleratorProfile profile = *shipped_catalog().find_accelerator_profile("B200");
  profile.sustained_fraction = 1;
  Stack stack;
  stack.profile.gemm_slowdown = 1;
  const Workload workload{.precision = Precision::Bf16};
  const Cluster cluster{.accelerator = a, .accelerator_profile = profile};
  const KernelClock clock(workload, cluster, stack);
  const GemmShape large{.m = 16384, .n = 16384, .k = 16384};
  EXPECT_EQ(clock.gemm(large.m, large.n, large.k), large.flops() / powered_rate(Precision::Bf16, a, profile));
  EXPECT_EQ(clock.gemm(256, 256, 4096), gemm_time({.m = 256, .n = 256, .k = 4096}, Precision::Bf16, a, profile));
}

// What a stack loses beside the benchmark of a kernel is lost for each token, and the kernel grows with their pairs.
TEST(AttentionSlowdown, FadesBeyondTheLengthThatItWasFittedAt) {
  Stack stack;
  stack.flash_attention = true;
  const Workload workload{.precision = Precision::Bf16};
  const Cluster cluster{.accelerator = *shipped_catalog().find_accelerator("A100-80GB"),
                        .accelerator_profile = *shipped_catalog().find_accelerator_profile("A100-80GB")};
  const auto slower = [&](std::int64_t tokens, double slowdown, bool ring = false) {
    const AttentionShape shape{.batch = 1,
                               .heads = 32,
                               .kv_heads = 32,
                               .query_len = tokens,
                               .key_len = tokens,
                               .head_dim = 128,
                               .value_dim = 128};
    const auto time = [&](double factor) {
      stack.profile.attention_slowdown = factor;
      return KernelClock(workload, cluster, stack).attention(shape, Pass::Forward, ring);
    };
    return time(slowdown) / time(1);
  };
  EXPECT_DOUBLE_EQ(slower(2048, 1.5), 1.5);
  EXPECT_DOUBLE_EQ(slower(8192, 1.5), 1.5);
  EXPECT_DOUBLE_EQ(slower(16384, 1.5), 1.25);
  EXPECT_DOUBLE_EQ(slower(65536, 1.5), 1.0625);
  EXPECT_DOUBLE_EQ(slower(65536, 1.5, true), 1.5) << "a ring joins pieces at any length";
  EXPECT_DOUBLE_EQ(slower(65536, 0.9), 0.9) << "a faster kernel is faster at any length";
}

TEST(StreamingTime, ReproducesMeasuredKernels) {
  MeanErrors errors;
  for (const KernelPoint& point : kernel_points()) {
    if (point.traffic.value() <= 0) continue;
    const Device d = device(point.gpu);
    errors.add(point.gpu, streaming_time(point.traffic, d.accelerator, d.profile), point.time);
  }
  errors.expect_within({{"A100-80GB", 0.10},
                        {"A10G", 0.05},
                        {"A40", 0.08},
                        {"H100-80GB", 0.10},
                        {"H200", 0.12},
                        {"GB200", 0.12},
                        {"GB300", 0.12}});
}

TEST(StreamingTime, NeverBeatsTheDataSheet) {
  for (const std::string& key : kPlannable) {
    const Device d = device(key);
    for (double bytes : {1.0, 1e6, 1e10}) {
      EXPECT_GE(streaming_time(Bytes(bytes), d.accelerator, d.profile), Bytes(bytes) / d.accelerator.memory_bandwidth);
    }
    EXPECT_GE(streaming_time(Bytes(1), d.accelerator, d.profile), microseconds(1));
  }
}

}  // namespace
}  // namespace smplan
