// Predictions of every measured run and of 2,000 random plans, frozen to full precision, on the frozen catalog: what
// holds still while the code is rearranged. A change that moves a number is either a fault or a mended one;
// SMPLAN_UPDATE_NET=1 writes what is found, and the commit names what was mended.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/hash.hpp"
#include "base/json_reader.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/check.hpp"
#include "planner/request/names.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/search.hpp"
#include "planner/validation/prediction.hpp"
#include "tests/net/random_requests.hpp"
#include "tests/support/export_options.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

constexpr const char* kRuns = SMPLAN_TEST_DATA "/net/runs.tsv";
constexpr const char* kPlans = SMPLAN_TEST_DATA "/net/plans.tsv";
constexpr const char* kExports = SMPLAN_TEST_DATA "/net/exports.tsv";
constexpr double kRelative = 1e-9;

/// What a line of the net says of its key: words must agree exactly, numbers to kRelative.
struct Line {
  std::string key;
  std::vector<std::string> words;
};

std::string number(double value) { return fmt::format("{:.17g}", value); }

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
  return cells;
}

std::vector<Line> stored(const char* path) {
  std::ifstream file(path);
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    std::vector<std::string> cells = split(text);
    if (text.starts_with("#") || cells.empty()) continue;
    lines.push_back({cells.front(), {cells.begin() + 1, cells.end()}});
  }
  return lines;
}

bool same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  std::size_t end_a = 0;
  std::size_t end_b = 0;
  double x = 0;
  double y = 0;
  try {
    x = std::stod(a, &end_a);
    y = std::stod(b, &end_b);
  } catch (const std::exception&) {
    return false;
  }
  const bool numbers = end_a == a.size() && end_b == b.size();
  return numbers && std::abs(x - y) <= kRelative * std::max(std::abs(x), std::abs(y));
}

bool updates() {
  const char* update = std::getenv("SMPLAN_UPDATE_NET");
  return update != nullptr && std::string(update) == "1";
}

void write(const char* path, std::string_view head, const std::vector<Line>& lines) {
  std::string text = fmt::format("# {}\n", head);
  for (const Line& line : lines) {
    text += line.key;
    for (const std::string& word : line.words) text += '\t' + word;
    text += '\n';
  }
  ASSERT_TRUE(write_text_file(path, text));
}

constexpr int kShown = 20;

void expect_same(const std::vector<Line>& expected, const std::vector<Line>& found) {
  ASSERT_EQ(expected.size(), found.size()) << "lines were lost or added: SMPLAN_UPDATE_NET=1 writes them";
  int moved = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Line& a = expected[i];
    const Line& b = found[i];
    ASSERT_EQ(a.key, b.key);
    if (std::equal(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(), same)) continue;
    if (++moved <= kShown) {
      ADD_FAILURE() << a.key << "\n  was " << testing::PrintToString(a.words) << "\n  is  "
                    << testing::PrintToString(b.words);
    }
  }
  EXPECT_EQ(moved, 0) << "of " << expected.size() << " predictions";
}

constexpr std::string_view kRunColumns =
    "run\tstatus\tstack\tstep_s\tp10_s\tp90_s\tmfu\treported_peak\twanted\tout_of_memory_probability";

Line line_of(const MeasuredRun& run) {
  const RunPrediction p = predict_run(run, test::shipped_catalog());
  if (p.status != RunStatus::Ok) return {run.source + "/" + run.id, {std::string(to_string(p.status))}};
  return {run.source + "/" + run.id,
          {"ok", p.stack, number(p.step.time().value()), number(p.step.p10.value()), number(p.step.p90.value()),
           number(p.step.mfu), number(p.peak.value()), number(p.memory.wanted.value()),
           number(p.out_of_memory_probability)}};
}

TEST(Net, HoldsThePredictionsOfAllMeasuredRuns) {
  std::vector<Line> found;
  for (const MeasuredRun& run : test::measured_runs()) found.push_back(line_of(run));
  if (updates()) return write(kRuns, kRunColumns, found);
  expect_same(stored(kRuns), found);
}

constexpr std::string_view kPlanColumns =
    "request\tstack\tstrategy\tmicro_batches\tstep_s\tp10_s\tmfu\twanted\tpeak_p90\tout_of_memory_probability\t"
    "time_to_train_s\ttotal_usd";

/// The estimate of a request; a refusal has its codes instead of numbers.
Line line_of(const std::string& words) {
  const Catalog& catalog = test::shipped_catalog();
  const auto refused = [&](const Diagnostics& faults) {
    std::set<std::string> codes;
    for (const Diagnostic& fault : faults) codes.insert(fault.code);
    return Line{words, {codes.begin(), codes.end()}};
  };
  const Result<RequestSpec> spec = read_request_words(words, {}, "request");
  if (!spec) return refused(spec.error());
  const Result<PlanRequest> request = resolve(*spec, catalog, std::nullopt, Purpose::Estimate);
  if (!request) return refused(request.error());
  const Result<PlanSet> set = estimate(*request, catalog, {.threads = 1});
  if (!set) return refused(set.error());
  const Plan& p = set->plans.front();
  return {words,
          {p.stack->id, to_string(p.strategy), std::to_string(p.micro_batches), number(p.step.time().value()),
           number(p.step.p10.value()), number(p.step.mfu), number(p.memory.wanted.value()),
           number(p.peak_interval.p90.value()), number(p.out_of_memory_probability),
           number(p.cost.time_to_train().value()), number(p.price == nullptr ? 0 : p.cost.total().value())}};
}

bool is_plan(const Line& line) { return line.words.size() > 6; }

std::optional<PlanSet> answer_to(const std::string& words) {
  const Catalog& catalog = test::shipped_catalog();
  const Result<RequestSpec> spec = read_request_words(words, {}, "request");
  const Result<PlanRequest> request =
      spec ? resolve(*spec, catalog, std::nullopt, Purpose::Estimate) : tl::unexpected<Diagnostics>(spec.error());
  Result<PlanSet> set = request ? estimate(*request, catalog, {.threads = 1}) : tl::unexpected(request.error());
  return set ? std::optional(std::move(*set)) : std::nullopt;
}

/// All that a target says of a plan: its files, what to fill in, what to know; or why it says nothing.
std::string words_of(const Result<Export>& exported) {
  if (!exported) return to_string(exported.error());
  std::string text;
  for (const ExportFile& file : exported->files) text += file.path + '\n' + file.content + '\n';
  for (const Placeholder& p : exported->placeholders) text += p.text + ": " + p.meaning + '\n';
  for (const std::string& note : exported->notes) text += note + '\n';
  return text;
}

/// What the rules find in the request that a plan is exported as.
std::string findings_of(const Result<Export>& exported) {
  static const SagemakerLimits limits = SagemakerLimits::shipped().value();
  if (!exported) return {};
  const ExportFile& file = exported->files.front();
  const Result<Job> job = read_job(file.content, file.path, JobKind::CreateTrainingJob);
  if (!job) return to_string(job.error());
  const Result<Findings> found = check_job(*job, test::shipped_catalog(), limits, {});
  return found ? to_json(*found) : to_string(found.error());
}

constexpr std::size_t kRandomPlans = 2000;
constexpr std::size_t kRefusals = 400;

/// Until there are plans enough; of what is refused, one in so many is kept. A stack, method and model that never go
/// together are given up.
std::vector<Line> new_plans() {
  constexpr int kTries = 60;
  test::RandomRequests random(test::shipped_catalog());
  std::vector<Line> plans;
  std::vector<Line> refusals;
  for (int turn = 0; plans.size() < kRandomPlans; ++turn) {
    for (int tries = 0; tries < kTries; ++tries) {
      Line line = line_of(random.next(turn));
      if (is_plan(line)) {
        plans.push_back(std::move(line));
        break;
      }
      if (refusals.size() < kRefusals && tries == 5) refusals.push_back(std::move(line));
    }
  }
  plans.insert(plans.end(), refusals.begin(), refusals.end());
  return plans;
}

TEST(Net, HoldsRandomPlans) {
  const std::vector<Line> expected = stored(kPlans);
  if (expected.empty()) {
    ASSERT_TRUE(updates()) << kPlans << " is empty: SMPLAN_UPDATE_NET=1 makes new requests";
    return write(kPlans, kPlanColumns, new_plans());
  }
  std::vector<Line> found;
  for (const Line& line : expected) found.push_back(line_of(line.key));
  if (updates()) return write(kPlans, kPlanColumns, found);
  expect_same(expected, found);
}

constexpr std::string_view kExportColumns = "plan\ttexts of all targets\tfindings of its request";

/// Texts of exports and findings by their hashes: a line that moves is looked at with `smplan export` and `smplan
/// check`.
TEST(Net, HoldsExportsAndFindings) {
  std::vector<Line> found;
  const std::vector<Line> plans = stored(kPlans);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!is_plan(plans[i])) continue;
    const std::optional<PlanSet> set = answer_to(plans[i].key);
    ASSERT_TRUE(set) << plans[i].key;
    const TrainingPlan plan = training_plan_of(set->request, set->plans.front());
    const ExportOptions options = test::export_options(static_cast<int>(i), i % 2 == 0);
    std::string texts, findings;
    for (const ExportTarget& target : export_targets()) {
      const Result<Export> exported = export_plan({plan, options, test::shipped_catalog()}, target.name);
      texts += words_of(exported);
      if (target.name == "create-training-job") findings = findings_of(exported);
    }
    found.push_back({std::to_string(i), {hash_text(texts), hash_text(findings)}});
  }
  if (updates()) return write(kExports, kExportColumns, found);
  expect_same(stored(kExports), found);
}

/// A net with holes holds nothing: every stack, method, family and kind of sharding is in it.
TEST(Net, HasEveryStackMethodFamilyAndSharding) {
  std::set<std::string> stacks, families, methods;
  std::string all;
  std::size_t plans = 0;
  for (const Line& line : stored(kPlans)) {
    if (!is_plan(line)) continue;
    ++plans;
    stacks.insert(line.words[0]);
    all += line.key + " " + line.words[1] + "\n";
    const Result<RequestSpec> spec = read_request_words(line.key, {}, "request");
    ASSERT_TRUE(spec) << line.key;
    methods.insert(spec->finetune.value_or("pretrain"));
    const ModelPreset* preset = test::shipped_catalog().find_model(spec->model.value_or(""));
    if (preset != nullptr) families.insert(preset->architecture.family);
  }
  EXPECT_GE(plans, kRandomPlans) << "what was refused may be planned since";
  for (const Stack& stack : test::shipped_catalog().stacks()) EXPECT_TRUE(stacks.contains(stack.id)) << stack.id;
  for (const ModelPreset& m : test::shipped_catalog().models()) {
    EXPECT_TRUE(families.contains(m.architecture.family)) << m.architecture.family;
  }
  EXPECT_EQ(methods, (std::set<std::string>{"pretrain", "full", "lora", "qlora"}));
  for (const char* word : {"tp",
                           "pp",
                           "vpp",
                           "cp",
                           "ep",
                           "etp",
                           "sp",
                           "zero1",
                           "zero2",
                           "zero3",
                           "fsdp-full",
                           "fsdp-grad-op",
                           "fsdp-hybrid",
                           "selective",
                           "full",
                           "full1",
                           "offload:",
                           "smddp",
                           "compile:layers",
                           "loss:linear",
                           "loss:fused",
                           "liger:on",
                           "tp-overlap:",
                           "grad-overlap:",
                           "dispatcher:deepep",
                           "ep-overlap:",
                           "fused-routing:",
                           "graphs:",
                           "modules:",
                           "half-gradients:",
                           "half-moments:",
                           "reentrant:",
                           "empty-cache:"}) {
    EXPECT_NE(all.find(fmt::format(" {}", word)), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace smplan
