#include "fixture.hpp"

namespace smplan {
namespace {

using test::has_code;
using test::shipped;
using test::with;

TEST(CatalogChecks, PassOnTheShippedCatalog) {
  const Diagnostics found = check(shipped());
  EXPECT_TRUE(found.empty()) << to_string(found);
}

TEST(CatalogChecks, MissAStackProfile) {
  const Diagnostics found = check(with("stacks", R"({"id": "mine", "name": "Mine", "tensor_parallel": false,
    "sequence_parallel": false, "pipeline_parallel": false, "context_parallel": false, "expert_parallel": false,
    "shardings": ["none"], "recomputes": ["none"], "schedules": [], "collectives": ["nccl"], "offloads": ["none"],
    "precisions": ["bf16"], "vendors": ["nvidia"], "weight_bytes": 2, "gradient_bytes": 4,
    "gradient_reduce_bytes": 2, "master_bytes": 4, "logits_bytes": 4, "source": "test", "as_of": "2026"})"));
  EXPECT_EQ(
      std::count_if(found.begin(), found.end(),
                    [](const Diagnostic& d) { return d.code == "missing-profile" && d.location == "stacks/mine"; }),
      1)
      << to_string(found);
}

struct Contradiction {
  const char* name;
  const char* code;
  const char* section;
  const char* entry;
};

class Contradictory : public testing::TestWithParam<Contradiction> {};

TEST_P(Contradictory, IsReported) {
  const Diagnostics found = check(with(GetParam().section, GetParam().entry));
  EXPECT_TRUE(has_code(found, GetParam().code)) << to_string(found);
  EXPECT_FALSE(has_code(check(shipped()), GetParam().code)) << "must not be reported without the fault";
}

INSTANTIATE_TEST_SUITE_P(
    Facts, Contradictory,
    testing::Values(
        Contradiction{
            "MoreMemoryThanSold", "memory-contradiction", "accelerators",
            R"({"key": "T4", "name": "T4", "vendor": "nvidia", "marketing_memory_gib": 14, "device_memory_mib": 14909,
                      "memory_bandwidth_gb_per_s": 320, "peak_tflops": {"fp32": 8.1, "fp16": 65}, "source": "test",
                      "as_of": "2026"})"},
        Contradiction{
            "SparsePeakBesideDense", "peak-order", "accelerators",
            R"({"key": "L4", "name": "L4", "vendor": "nvidia", "marketing_memory_gib": 24, "device_memory_mib": 22559,
                      "memory_bandwidth_gb_per_s": 300, "peak_tflops": {"fp32": 30.3, "bf16": 242, "fp8": 121},
                      "source": "test", "as_of": "2026"})"},
        Contradiction{
            "PeakWithoutBandwidth", "missing-fact", "accelerators",
            R"({"key": "New", "name": "New", "vendor": "nvidia", "marketing_memory_gib": 24, "device_memory_mib": 22559,
                      "peak_tflops": {"bf16": 242}, "source": "test", "as_of": "2026"})"},
        Contradiction{"OtherMemoryThanTheAccelerator", "memory-contradiction", "instances",
                      R"({"name": "ml.x", "accelerator": "A100-40GB", "accelerator_count": 1,
                      "accelerator_memory_mib": 81050, "network": {"kind": "ethernet", "gbit_per_s": 1},
                      "training_support": "on-demand", "source": "test", "as_of": "2026"})"},
        Contradiction{"ManyAcceleratorsNoFabric", "missing-fact", "instances",
                      R"({"name": "ml.x", "accelerator": "A100-40GB", "accelerator_count": 8,
                      "accelerator_memory_mib": 40335, "network": {"kind": "ethernet", "gbit_per_s": 1},
                      "fabric": {"kind": "none", "gb_per_s_per_accelerator": 12, "domain_size": 8},
                      "training_support": "on-demand", "source": "test", "as_of": "2026"})"},
        Contradiction{"DomainSmallerThanTheNode", "fabric-contradiction", "instances",
                      R"({"name": "ml.x", "accelerator": "A100-40GB", "accelerator_count": 8,
                      "accelerator_memory_mib": 40335,
                      "fabric": {"kind": "nvswitch", "gb_per_s_per_accelerator": 300, "domain_size": 4},
                      "network": {"kind": "ethernet", "gbit_per_s": 1},
                      "training_support": "on-demand", "source": "test", "as_of": "2026"})"},
        Contradiction{"OnDemandWithAReasonWhyNot", "support-contradiction", "instances",
                      R"({"name": "ml.x", "accelerator_count": 0, "network": {"kind": "ethernet", "gbit_per_s": 1},
                      "training_support": "on-demand", "support_reason": "no", "source": "test", "as_of": "2026"})"},
        Contradiction{"Ec2PriceUnderAnMlName", "ec2-price", "prices",
                      R"({"instance": "ml.p4d.24xlarge", "region": "us-west-2", "market": "on-demand",
                      "usd_per_hour": 21.95764, "basis": "measured", "source": "a blog", "as_of": "2026"})"},
        Contradiction{"OnDemandPriceOfARetiredType", "market-contradiction", "prices",
                      R"({"instance": "ml.p3.2xlarge", "region": "us-east-1", "market": "on-demand",
                      "usd_per_hour": 3.825, "basis": "measured", "source": "test", "as_of": "2021"})"},
        Contradiction{"CapacityBlockOfATypeWithoutPlans", "market-contradiction", "prices",
                      R"({"instance": "ml.g5.48xlarge", "region": "us-east-1", "market": "capacity-block",
                      "usd_per_hour": 3.825, "basis": "measured", "source": "test", "as_of": "2026"})"},
        Contradiction{"SpotAboveOnDemand", "price-order", "prices",
                      R"({"instance": "ml.p4d.24xlarge", "region": "us-east-1", "market": "spot",
                      "usd_per_hour": 32.77, "basis": "measured", "source": "test", "as_of": "2026"})"},
        Contradiction{"PriceInCents", "price-spread", "prices",
                      R"({"instance": "ml.g5.xlarge", "region": "us-east-1", "market": "on-demand",
                      "usd_per_hour": 140.8, "basis": "measured", "source": "test", "as_of": "2026"})"},
        Contradiction{"EfficiencyOfAFormatThatIsNotThere", "profile-contradiction", "accelerator_profiles",
                      R"({"accelerator": "V100-32GB", "gemm_efficiency": {"fp32": 0.8, "fp16": 0.7, "bf16": 0.7},
                      "gemm_half_k": 1, "gemm_half_tile": 1, "gemm_wave_rounding": 1, "gemm_floor_us": 5,
                      "flash2": {"forward_efficiency": {"fp32": 0.5, "fp16": 0.5},
                      "backward_efficiency": {"fp32": 0.5, "fp16": 0.5}, "forward_overhead_keys": 1,
                      "backward_overhead_keys": 1, "half_dim": 1},
                      "vendor_attention": {"forward_efficiency": {"fp32": 0.5, "fp16": 0.5},
                      "backward_efficiency": {"fp32": 0.5, "fp16": 0.5}, "forward_overhead_keys": 1,
                      "backward_overhead_keys": 1, "half_dim": 1},
                      "memory_efficiency": 0.8, "kernel_floor_us": 4, "source": "test",
                      "as_of": "2026"})"},
        Contradiction{"SequenceWithoutTensorParallelism", "stack-contradiction", "stacks",
                      R"({"id": "mine", "name": "Mine", "tensor_parallel": false, "sequence_parallel": true,
                      "pipeline_parallel": false, "context_parallel": false, "expert_parallel": false,
                      "shardings": ["none"], "recomputes": ["none"], "schedules": [], "collectives": ["nccl"],
                      "offloads": ["none"], "precisions": ["bf16"], "vendors": ["nvidia"], "weight_bytes": 2,
                      "gradient_bytes": 4, "gradient_reduce_bytes": 2, "master_bytes": 4, "logits_bytes": 4,
                      "profile": {"source": "test", "as_of": "2026"}, "source": "test", "as_of": "2026"})"}),
    [](const testing::TestParamInfo<Contradiction>& test_case) { return test_case.param.name; });

}  // namespace
}  // namespace smplan
