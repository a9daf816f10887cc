// What scripts/probe.py wrote, and the profiles that it moves.
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/calibration/probe.hpp"
#include "tests/support/shipped_catalog.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;
using testing::HasSubstr;

Result<Probe> probe_of(const std::string& sections, const std::string& facts = R"("device": "NVIDIA H100 80GB HBM3")",
                       const std::string& head = R"("probe_version": 1, "made_at": "2026-11-26T13:26:27Z")") {
  const std::string text = "{" + head +
                           R"(, "facts": {"device_type": "cuda", "world_size": 8, "processes_on_node": 8, )" + facts +
                           R"(}, "sections": {)" + sections + "}}";
  return read_probe(parse_json(text, "probe.json").value());
}

std::string refused(const Result<Probe>& probe) { return probe ? "" : to_string(probe.error()); }

Cluster p5(std::int32_t nodes) {
  return make_cluster(shipped_catalog(), **shipped_catalog().instance("ml.p5.48xlarge", "test"), nodes).value();
}

/// A machine like ml.p5.48xlarge.
Probe machine(std::int32_t nodes = 1) {
  Probe probe;
  probe.machine.instance = "ml.p5.48xlarge";
  probe.machine.n_gpus = 8 * nodes;
  probe.machine.gpus_per_node = 8;
  probe.made_on = "2026-11-26";
  return probe;
}

/// Products that take `factor` of the time that the catalog predicts.
Probe slower_products(double factor, int records) {
  const Cluster c = p5(1);
  Probe probe = machine();
  for (int i = 0; i < records; ++i) {
    const GemmShape shape{.m = 8192, .n = 4096 + 512 * i, .k = 8192};
    const Seconds time = gemm_time(shape, Precision::Bf16, c.accelerator, c.accelerator_profile);
    probe.products.push_back({{shape, Precision::Bf16}, factor * time});
  }
  return probe;
}

double products_after(double factor, int records) {
  const Result<ProbeFit> fit = fit_probe(slower_products(factor, records), shipped_catalog());
  EXPECT_TRUE(fit) << (fit ? "" : to_string(fit.error()));
  return fit ? fit->accelerator.gemm_efficiency[static_cast<std::size_t>(Precision::Bf16)] : 0;
}

// A prior of a tenth and records of a tenth, of which ten count: 10 / 11 of the way on the scale of ratios.
TEST(Probes, MoveANumberByTheWeightOfTheirRecords) {
  const double before = p5(1).accelerator_profile.gemm_efficiency[static_cast<std::size_t>(Precision::Bf16)];
  EXPECT_NEAR(std::log(products_after(1.2, 20) / before) / -std::log(1.2), 10.0 / 11, 0.03);
  EXPECT_NEAR(std::log(products_after(1.2, 4) / before) / -std::log(1.2), 4.0 / 5, 0.03);
  EXPECT_NEAR(std::log(products_after(0.9, 20) / before) / -std::log(0.9), 10.0 / 11, 0.03);
  EXPECT_DOUBLE_EQ(products_after(1, 20), before);
}

TEST(Probes, OfTooFewRecordsMoveNothing) {
  const Result<ProbeFit> fit = fit_probe(slower_products(1.2, 3), shipped_catalog());
  ASSERT_FALSE(fit);
  EXPECT_THAT(to_string(fit.error()), HasSubstr("no kernel or collective that a profile has a place for"));
}

TEST(Probes, NeverMakeTheirOwnRecordsWorse) {
  Probe probe = slower_products(1.3, 10);
  for (std::size_t i = 0; i < probe.products.size(); i += 2) probe.products[i].time = 0.6 * probe.products[i].time;
  const Result<ProbeFit> fit = fit_probe(probe, shipped_catalog());
  ASSERT_TRUE(fit);
  EXPECT_LE(fit->numbers.at(0).error_after, fit->numbers.at(0).error_before);
}

TEST(Probes, OfCollectivesMoveTheWiresThatBoundThem) {
  for (const std::int32_t nodes : {1, 4}) {
    const Cluster c = p5(nodes);
    Probe probe = machine(nodes);
    for (int i = 1; i <= 12; ++i) {
      const Bytes size = gib(0.5 * i);
      const Seconds time =
          collective_time(CollectiveKind::AllGather, size, whole_cluster(c), c, Collectives::Nccl).time;
      probe.collectives.push_back({{CollectiveKind::AllGather, size}, 1.2 * time});
    }
    const Result<ProbeFit> fit = fit_probe(probe, shipped_catalog());
    ASSERT_TRUE(fit) << to_string(fit.error());
    EXPECT_EQ(fit->fabric.has_value(), nodes == 1);
    EXPECT_EQ(fit->network.has_value(), nodes > 1);
    const FabricProfile& moved = nodes == 1 ? *fit->fabric : *fit->network;
    const FabricProfile& before = nodes == 1 ? c.fabric_profile : c.network_profile;
    EXPECT_EQ(moved.fabric, before.fabric);
    EXPECT_LT(moved.bandwidth_efficiency, 0.9 * before.bandwidth_efficiency);
    EXPECT_EQ(moved.alltoall_efficiency, before.alltoall_efficiency) << "none was timed";
  }
}

TEST(Probes, BecomeAnOverlayThatTheCatalogTakes) {
  for (const char* name : {"h100_sxm_80gb", "h200_sxm_141gb"}) {
    const auto document = read_json_file(std::string(SMPLAN_TEST_DATA "/measured/probes/") + name + ".json");
    ASSERT_TRUE(document) << to_string(document.error());
    const Result<Probe> probe = read_probe(*document);
    ASSERT_TRUE(probe) << to_string(probe.error());
    const Result<ProbeFit> fit = fit_probe(*probe, shipped_catalog());
    ASSERT_TRUE(fit) << to_string(fit.error());
    EXPECT_GE(fit->numbers.size(), 8U);
    for (const ProbedNumber& n : fit->numbers) EXPECT_LE(n.error_after, n.error_before) << n.name;
    Catalog catalog = shipped_catalog();
    const Result<void> merged = catalog.merge(parse_json(probe_overlay(*fit, *probe), "overlay").value());
    ASSERT_TRUE(merged) << to_string(merged.error());
    const AcceleratorProfile& told = *catalog.find_accelerator_profile(fit->accelerator.accelerator);
    for (std::size_t f = 0; f < kPrecisionCount; ++f) {
      EXPECT_NEAR(told.gemm_efficiency[f], fit->accelerator.gemm_efficiency[f], 1e-6);
      EXPECT_NEAR(told.flash2.backward_efficiency[f], fit->accelerator.flash2.backward_efficiency[f], 1e-6);
    }
    EXPECT_NEAR(told.memory_efficiency, fit->accelerator.memory_efficiency, 1e-6);
    EXPECT_EQ(told.provenance.as_of, "2026-11-26");
  }
}

TEST(Probes, ArePassedOverWhereTheyFailedOrHaveNoPlace) {
  const Result<Probe> probe = probe_of(R"("gemm": {"records": [
      {"name": "gemm", "role": "layer", "dtype": "bf16", "m": 4096, "n": 4096, "k": 4096, "median_s": 0.0003},
      {"name": "gemm", "role": "layer", "dtype": "bf16", "m": 4096, "n": 4096, "k": 4096, "error": "out of memory"},
      {"name": "gemm", "role": "lora", "dtype": "bf16", "m": 4096, "n": 8, "k": 4096, "median_s": 0.0003},
      {"name": "gemm", "role": "layer", "dtype": "int3", "m": 4096, "n": 4096, "k": 4096, "median_s": 0.0003},
      {"name": "gemm", "role": "layer", "dtype": "bf16", "m": 16, "n": 16, "k": 16, "median_s": 0.0003}]},
      "weather": {"records": []})");
  ASSERT_TRUE(probe) << to_string(probe.error());
  EXPECT_EQ(probe->products.size(), 1U);
  EXPECT_EQ(probe->made_on, "2026-11-26");
  EXPECT_EQ(probe->machine.n_gpus, 8);
}

TEST(Probes, NameWhatIsWrongWithTheirFile) {
  EXPECT_THAT(refused(probe_of("", R"("device": "x")", R"("probe_version": 2, "made_at": "2026-11-26T00:00:00Z")")),
              HasSubstr("is 2, this smplan reads 1"));
  EXPECT_THAT(refused(probe_of("", R"("device": "x")", R"("probe_version": 1, "made_at": "yesterday")")),
              HasSubstr("made_at"));
  EXPECT_THAT(refused(probe_of(R"("gemm": {"records": [{"role": "layer", "dtype": "bf16", "m": 4096, "n": -1, "k": 1,
                                "median_s": 1}]})")),
              HasSubstr("/sections/gemm/records/0/n"));
  EXPECT_THAT(refused(probe_of(R"("memory_bound": {"records": [{"name": "copy", "bytes": 1e99, "median_s": 1}]})")),
              HasSubstr("bytes"));
  const std::string cpu = R"({"probe_version": 1, "made_at": "2026-11-26T00:00:00Z", "sections": {},
                             "facts": {"device_type": "cpu", "world_size": 1, "processes_on_node": 1}})";
  EXPECT_THAT(refused(read_probe(parse_json(cpu, "probe.json").value())), HasSubstr("is no accelerator"));
  const Result<Probe> unknown = probe_of(R"("memory_bound": {"records": []})", R"("device": "NVIDIA Z9000")");
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(fit_probe(*unknown, shipped_catalog()));
}

}  // namespace
}  // namespace smplan
