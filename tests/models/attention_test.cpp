#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "models/machine/compute.hpp"
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
  [[nodiscard]] Seconds flash(const AttentionShape& s, Pass pass, AttentionKernel kernel = AttentionKernel::Flash2,
                              Precision precision = Precision::Fp16) const {
    return flash_attention_time(s, pass, precision, accelerator, profile, kernel);
  }
  [[nodiscard]] Seconds unfused(const AttentionShape& s, Pass pass, ScoreKernels kernels = {}) const {
    return unfused_attention_time(s, pass, Precision::Fp16, accelerator, profile, kernels);
  }
};

Device device(const std::string& key) {
  return {*shipped_catalog().find_accelerator(key), *shipped_catalog().find_accelerator_profile(key)};
}

AttentionShape shape(std::int64_t seq, std::int64_t dim = 128, bool causal = true) {
  return {.batch = 2,
          .heads = 32,
          .kv_heads = 32,
          .query_len = seq,
          .key_len = seq,
          .head_dim = dim,
          .value_dim = dim,
          .causal = causal};
}

TEST(MeanAttendedKeys, CountsTheTriangleTheSquareAndTheBand) {
  EXPECT_EQ(mean_attended_keys(shape(4, 128, false)), 4);
  EXPECT_EQ(mean_attended_keys(shape(4)), 2.5);  // (1 + 2 + 3 + 4) / 4
  AttentionShape band = shape(4);
  band.window = 2;
  EXPECT_EQ(mean_attended_keys(band), 1.75);  // (1 + 2 + 2 + 2) / 4
  band.window = 4;
  EXPECT_EQ(mean_attended_keys(band), 2.5);
}

TEST(FlashAttention, NeverBeatsTheRoofline) {
  for (const std::string key : {"V100-32GB", "T4", "A10G", "A100-80GB", "H100-80GB", "B200", "GB300", "Trainium2"}) {
    const Device d = device(key);
    for (std::int64_t seq : {128, 2048, 65536}) {
      for (std::int64_t dim : {32, 64, 80, 128, 256}) {
        for (bool causal : {false, true}) {
          const AttentionShape s = shape(seq, dim, causal);
          const double pairs = 64.0 * static_cast<double>(seq) * mean_attended_keys(s);
          for (const auto kernel : {AttentionKernel::Flash2, AttentionKernel::Vendor}) {
            const Seconds least =
                Flops(4 * static_cast<double>(dim) * pairs) / d.accelerator.peak_rate(Precision::Fp16);
            EXPECT_GE(d.flash(s, Pass::Forward, kernel), least) << key << " " << seq << " " << dim;
            EXPECT_GE(d.flash(s, Pass::Backward, kernel), 2.5 * least);
          }
        }
      }
    }
  }
}

TEST(FlashAttention, ReproducesMeasuredKernels) {
  MeanErrors errors;
  for (const KernelPoint& point : kernel_points()) {
    if (point.kind.rfind("flash_attn", 0) != 0 || point.library == "PyTorch standard attention") continue;
    const Device d = device(point.gpu);
    const auto kernel = point.library == "FlashAttention-2" ? AttentionKernel::Flash2 : AttentionKernel::Vendor;
    Seconds time;
    if (point.kind != "flash_attn_bwd") time += d.flash(point.attention, Pass::Forward, kernel, point.precision);
    if (point.kind != "flash_attn_fwd") time += d.flash(point.attention, Pass::Backward, kernel, point.precision);
    errors.add(point.kind + " " + point.gpu + " " + std::string(to_string(point.precision)), time, point.time);
  }
  errors.expect_within({{"flash_attn_fwdbwd A100-80GB fp16", 0.04},
                        {"flash_attn_fwdbwd H100-80GB fp16", 0.04},
                        {"flash_attn_fwd H100-80GB fp16", 0.10},
                        {"flash_attn_fwd H200 bf16", 0.06},
                        {"flash_attn_fwd H200 fp8", 0.02},
                        {"flash_attn_bwd H200 bf16", 0.08},
                        {"flash_attn_bwd H200 fp8", 0.25},
                        {"flash_attn_fwd GB200 bf16", 0.08},
                        {"flash_attn_fwd GB200 fp8", 0.10},
                        {"flash_attn_bwd GB200 bf16", 0.12},
                        {"flash_attn_bwd GB200 fp8", 0.25},
                        {"flash_attn_fwd GB300 bf16", 0.08},
                        {"flash_attn_fwd GB300 fp8", 0.10},
                        {"flash_attn_bwd GB300 bf16", 0.10},
                        {"flash_attn_bwd GB300 fp8", 0.25}});
}

TEST(UnfusedAttention, ReproducesMeasuredKernels) {
  MeanErrors errors;
  for (const KernelPoint& point : kernel_points()) {
    if (point.library != "PyTorch standard attention") continue;
    const Device d = device(point.gpu);
    errors.add(point.gpu, d.unfused(point.attention, Pass::Forward) + d.unfused(point.attention, Pass::Backward),
               point.time);
  }
  errors.expect_within({{"A100-80GB", 0.12}, {"H100-80GB", 0.15}});
}

TEST(FlashAttention, OfTheVendorIsTwiceAsFastOnHopperAndTheSameOnAmpere) {
  const AttentionShape s = shape(8192);
  const Device hopper = device("H100-80GB");
  EXPECT_GT(hopper.flash(s, Pass::Forward) / hopper.flash(s, Pass::Forward, AttentionKernel::Vendor), 1.7);
  const Device ampere = device("A100-80GB");
  EXPECT_EQ(ampere.flash(s, Pass::Forward), ampere.flash(s, Pass::Forward, AttentionKernel::Vendor));
}

TEST(FlashAttention, InTritonTakesUpToTwoAndAHalfTimesAsLong) {
  const Device d = device("A100-80GB");
  const AttentionShape s = shape(8192);
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    const double slower = d.flash(s, pass, AttentionKernel::Triton) / d.flash(s, pass);
    EXPECT_GT(slower, 1.3);
    EXPECT_LT(slower, 2.5);
  }
}

TEST(FlashAttention, PadsOddHeadDimensions) {
  const Device d = device("A100-80GB");
  EXPECT_EQ(d.flash(shape(4096, 80), Pass::Forward), d.flash(shape(4096, 96), Pass::Forward));
  EXPECT_LT(d.flash(shape(4096, 64), Pass::Forward), d.flash(shape(4096, 80), Pass::Forward));
}

TEST(FlashAttention, OfLatentHeadsCostsTheirOwnDimensions) {
  const Device d = device("H200");
  AttentionShape latent = shape(8192, 192);
  latent.value_dim = 128;
  // (192 + 128) / (128 + 128) forward, (3 * 192 + 2 * 128) / (5 * 128) backward.
  const double forward = d.flash(latent, Pass::Forward) / d.flash(shape(8192), Pass::Forward);
  const double backward = d.flash(latent, Pass::Backward) / d.flash(shape(8192), Pass::Backward);
  EXPECT_NEAR(forward, 1.25, 1e-9);
  EXPECT_NEAR(backward, 1.3, 1e-9);
}

TEST(FlashAttention, LeavesSmsIdleWithFewHeads) {
  const Device d = device("H100-80GB");
  AttentionShape few = shape(1024);
  few.batch = few.heads = 1;  // 8 blocks of 128 queries for 132 SMs
  AttentionShape full = few;
  full.heads = 16;  // 128 blocks
  EXPECT_EQ(d.flash(few, Pass::Forward), d.flash(full, Pass::Forward));
}

TEST(FlashAttention, IsCheaperThroughAWindow) {
  const Device d = device("H200");
  AttentionShape band = shape(32768, 64);
  band.window = 1024;
  EXPECT_LT(d.flash(band, Pass::Forward) * 5, d.flash(shape(32768, 64), Pass::Forward));
}

TEST(UnfusedAttention, MovesTheBytesOfItsKernels) {
  const Device d = device("A100-80GB");
  const auto bytes_beyond_plain = [&](Pass pass, bool causal, ScoreKernels kernels) {
    const AttentionShape s = shape(1024, 128, causal);
    const Seconds more = d.unfused(s, pass, kernels) - d.unfused(s, pass);
    const double scores = 2 * 32 * 1024.0 * 1024.0;
    return more.value() * d.accelerator.memory_bandwidth.value() * d.profile.memory_efficiency / scores;
  };
  // Three bytes of a causal score forward and four backward, five and six of others; PyTorch's: 13.8 and 20.7.
  const ScoreKernels fused{.fused_softmax = true};
  EXPECT_NEAR(bytes_beyond_plain(Pass::Forward, true, fused), 3 - 13.8, 1e-6);
  EXPECT_NEAR(bytes_beyond_plain(Pass::Backward, true, fused), 4 - 20.7, 1e-6);
  EXPECT_NEAR(bytes_beyond_plain(Pass::Forward, false, fused), 5 - 9.8, 1e-6);
  EXPECT_NEAR(bytes_beyond_plain(Pass::Backward, false, fused), 6 - 14.6, 1e-6);
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    EXPECT_NEAR(bytes_beyond_plain(pass, true, {.dropout = true}), 5, 1e-6);
  }
}

TEST(FusedSoftmax, TakesScoresByFoursUpToItsLongestRow) {
  EXPECT_TRUE(takes_fused_softmax(shape(2048)));
  EXPECT_TRUE(takes_fused_softmax(shape(4096)));
  EXPECT_FALSE(takes_fused_softmax(shape(4100))) << "longer than its rows";
  EXPECT_FALSE(takes_fused_softmax(shape(16))) << "too short for it";
  EXPECT_FALSE(takes_fused_softmax(shape(1022))) << "rows of no whole fours";
  AttentionShape two = shape(1024);
  two.heads = 1;
  EXPECT_FALSE(takes_fused_softmax(two)) << "two matrices of scores";
}

TEST(UnfusedAttention, IsSlowerThanFused) {
  const Device d = device("A100-80GB");
  EXPECT_GT(d.unfused(shape(2048), Pass::Forward), d.flash(shape(2048), Pass::Forward) * 3);
}

// BigScience's BLOOM prequel: 128 heads of 108 take 44 ms more a layer and micro-batch of four than 96 of 144, of which
// a rank of eight has 16 and 12; forward, recomputation and backward.
TEST(UnfusedAttention, OfOddHeadsLeavesTheTensorCores) {
  const Device d = device("A100-80GB");
  const auto seconds = [&](std::int64_t heads, std::int64_t dim) {
    AttentionShape s = shape(2048, dim);
    s.batch = 4;
    s.heads = s.kv_heads = heads;
    const auto pass = [&](Pass p) { return d.unfused(s, p) + misaligned_attention_time(s, p, d.accelerator); };
    return (2 * pass(Pass::Forward) + pass(Pass::Backward)).value();
  };
  EXPECT_NEAR(seconds(16, 108) - seconds(12, 144), 0.044, 0.005);
  EXPECT_EQ(misaligned_attention_time(shape(2048, 144), Pass::Forward, d.accelerator), Seconds());
}

}  // namespace
}  // namespace smplan
