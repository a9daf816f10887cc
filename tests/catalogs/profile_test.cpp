#include "catalogs/profile.hpp"

#include "fixture.hpp"

namespace smplan {
namespace {

using test::json;

constexpr const char* kAccelerator = R"({"accelerator": "A100-80GB", "gemm_efficiency": {"bf16": 0.87},
  "gemm_half_k": 256, "gemm_half_tile": 32, "gemm_wave_rounding": 0.7, "gemm_floor_us": 5,
  "flash2": {"forward_efficiency": {"bf16": 0.6}, "backward_efficiency": {"bf16": 0.5}, "forward_overhead_keys": 100,
             "backward_overhead_keys": 200, "half_dim": 64},
  "vendor_attention": {"forward_efficiency": {"bf16": 0.7}, "backward_efficiency": {"bf16": 0.6},
             "forward_overhead_keys": 100, "backward_overhead_keys": 200, "half_dim": 64},
  "memory_efficiency": 0.9, "kernel_floor_us": 4, "source": "test", "as_of": "2026"})";

constexpr const char* kFabric = R"({"fabric": "efa", "bandwidth_efficiency": 0.8, "step_latency_us": 20,
  "base_latency_us": 30, "half_size_kib": 512, "alltoall_efficiency": 0.6, "source": "test", "as_of": "2026"})";

TEST(ReadAcceleratorProfile, TakesUnitsFromTheKeys) {
  Diagnostics out;
  const AcceleratorProfile p = read_accelerator_profile(json(kAccelerator), out);
  EXPECT_TRUE(out.empty()) << to_string(out);
  EXPECT_DOUBLE_EQ(p.gemm_efficiency[static_cast<std::size_t>(Precision::Bf16)], 0.87);
  EXPECT_DOUBLE_EQ(p.gemm_efficiency[static_cast<std::size_t>(Precision::Fp8)], 0);
  EXPECT_DOUBLE_EQ(p.kernel_floor.value(), 4e-6);
  EXPECT_DOUBLE_EQ(p.gemm_floor.value(), 5e-6);
  EXPECT_DOUBLE_EQ(p.attention(AttentionKernel::Flash2).forward_efficiency[static_cast<std::size_t>(Precision::Bf16)],
                   0.6);
  EXPECT_DOUBLE_EQ(p.attention(AttentionKernel::Vendor).backward_efficiency[static_cast<std::size_t>(Precision::Bf16)],
                   0.6);
}

TEST(ReadFabricProfile, TakesUnitsFromTheKeys) {
  Diagnostics out;
  const FabricProfile p = read_fabric_profile(json(kFabric), out);
  EXPECT_TRUE(out.empty()) << to_string(out);
  EXPECT_DOUBLE_EQ(p.half_size.value(), 512 * 1024);
  EXPECT_DOUBLE_EQ(p.step_latency.value(), 20e-6);
  EXPECT_DOUBLE_EQ(p.switch_reduction_efficiency, 0) << "absent: no in-switch reduction";
}

TEST(ReadProfiles, RefuseEfficienciesInPerCent) {
  std::string text = kFabric;
  text.replace(text.find("0.8"), 3, "80.0");
  Diagnostics out;
  read_fabric_profile(json(text), out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_NE(out.front().location.find("bandwidth_efficiency"), std::string::npos);
}

TEST(ReadProfiles, RefuseMissingAndUnknownKeys) {
  std::string text = kAccelerator;
  text.replace(text.find("gemm_half_k"), 11, "gemm_half_q");
  Diagnostics out;
  read_accelerator_profile(json(text), out);
  EXPECT_EQ(out.size(), 2U) << to_string(out);  // one key missing, one unknown
}

TEST(ShippedAcceleratorProfiles, ReachNoMoreThanTheDataSheet) {
  for (const AcceleratorProfile& p : test::shipped().accelerator_profiles()) {
    EXPECT_GT(p.memory_efficiency, 0) << p.accelerator;
    EXPECT_LE(p.memory_efficiency, 1) << p.accelerator;
    for (const double efficiency : p.gemm_efficiency) EXPECT_LE(efficiency, 1) << p.accelerator;
    EXPECT_FALSE(p.provenance.source.empty()) << p.accelerator;
  }
}

TEST(ShippedFabricProfiles, ReachNoMoreThanTheLine) {
  for (const FabricProfile& p : test::shipped().fabric_profiles()) {
    EXPECT_GT(p.bandwidth_efficiency, 0) << p.fabric;
    EXPECT_LE(p.bandwidth_efficiency, 1) << p.fabric;
    EXPECT_FALSE(p.provenance.source.empty()) << p.fabric;
  }
}

}  // namespace
}  // namespace smplan
