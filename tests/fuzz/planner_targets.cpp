#include <array>
#include <string>
#include <vector>

#include "planner/analysis/sweep.hpp"
#include "planner/calibration/probe.hpp"
#include "planner/request/fields.hpp"
#include "planner/request/names.hpp"
#include "planner/validation/nccl_tests.hpp"
#include "planner/validation/report.hpp"
#include "tests/fuzz/planning.hpp"
#include "tests/fuzz/target.hpp"

namespace smplan::fuzz {
namespace {

void runs(std::string_view bytes) {
  const Result<CsvTable> table = parse_csv(bytes, "runs.csv");
  if (!table) return;
  const Result<std::vector<MeasuredRun>> rows = read_measured_runs(*table, "runs.csv");
  if (!rows) return;
  const std::vector<ComparedRun> compared = compare_runs(*rows, shipped_catalog());
  require(compared.size() == rows->size(), "every row is answered");
  static_cast<void>(summarise_time(compared, GroupBy::Stack));
  static_cast<void>(summarise_memory(compared));
  require(parse_csv(report_csv(compared), "report.csv").has_value(), "the report is CSV");
  require(parse_json(report_json(compared, 3), "report.json").has_value(), "the report is JSON");
}

void request(std::string_view bytes) {
  Result<RequestSpec> spec = read_request_words(bytes, {}, "words");
  if (!spec) return;
  // Files have targets of their own; here a name must not lead to one.
  spec->hf_config.reset();
  spec->arch.reset();
  require(parse_json(request_key(*spec), "key").has_value(), "a request's identity is JSON");
  static_cast<void>(resolve(*spec, shipped_catalog(), std::nullopt));
  estimate_all(*spec, shipped_catalog());
}

void lists(std::string_view bytes) {
  Diagnostics faults;
  for (const std::int32_t value : parse_integers(bytes, "--x", 1, 4096, faults)) {
    require(value >= 1 && value <= 4096, "a listed number is in its range");
  }
  const auto bounded = parse_bounded(bytes, "--x", -5, 1'000'000, faults);
  require(!bounded || (*bounded >= -5 && *bounded <= 1'000'000), "a number is in its range");
  static_cast<void>(parse_switch(bytes, "--x", faults));
  const Result<Scenario> scenario = parse_scenario(bytes, "--what-if");
  if (scenario) {
    for (const ScenarioKnob& knob : scenario_knobs()) {
      const double factor = (*scenario).*knob.factor;
      require(factor >= 0.01 && factor <= 100, "a factor is in its range");
    }
    static_cast<void>(to_string(*scenario));
  }
  const Result<SweepAxis> axis = parse_sweep_axis(bytes, "--axis");
  if (axis) static_cast<void>(sweep_requests({}, {*axis}, "--axis"));
  const std::string text(bytes);
  static_cast<void>(read_trials({text, text, text}));
  if (sweep_identity(bytes)) static_cast<void>(sweep_status(bytes));
}

void nccl_tests(std::string_view bytes) {
  static_cast<void>(is_nccl_tests(bytes));
  const Result<NcclSweep> sweep = read_nccl_tests(bytes, "sweep.txt");
  if (!sweep) return;
  require(!sweep->points.empty(), "a sweep has a point");
  std::vector<std::string> assumptions;
  const Result<Cluster> cluster = cluster_of(sweep->machine, shipped_catalog(), assumptions);
  if (!cluster) return;
  for (const ComparedCollective& c : compare_collectives(*sweep, CollectiveKind::AllReduce, *cluster)) {
    require(c.ratio() >= 0, "a time is no less than nothing");
  }
}

void probe(std::string_view bytes) {
  const Result<JsonValue> document = parse_json(bytes, "probe.json");
  if (!document) return;
  const Result<Probe> read = read_probe(*document);
  if (!read) return;
  const Result<ProbeFit> fit = fit_probe(*read, shipped_catalog());
  if (!fit) return;
  for (const ProbedNumber& n : fit->numbers) require(n.after > 0 && n.after <= 1, "an efficiency is in its range");
  const Result<JsonValue> overlay = parse_json(probe_overlay(*fit, *read), "overlay");
  require(overlay.has_value(), "the overlay is JSON");
  Catalog catalog = shipped_catalog();
  require(catalog.merge(*overlay).has_value(), "the catalog takes the overlay");
}

constexpr std::array<Target, 5> kTargets{
    {{"runs", runs}, {"request", request}, {"lists", lists}, {"nccl_tests", nccl_tests}, {"probe", probe}}};

}  // namespace

std::span<const Target> planner_targets() { return kTargets; }

}  // namespace smplan::fuzz
