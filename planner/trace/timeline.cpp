#include "planner/trace/timeline.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "models/job/execution.hpp"
#include "models/layers/adapters.hpp"
#include "models/pipeline/simulation.hpp"
#include "models/step/stage.hpp"

namespace smplan {
namespace {

using Part = Seconds StepComponents::*;

std::size_t index_of(Part part) {
  const std::span<const StepPart> parts = step_parts();
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const StepPart& p) { return p.time == part; });
  return static_cast<std::size_t>(found - parts.begin());
}

/// The order inside a pass: what brings data in, the work, what sends results on.
struct PassPart {
  Seconds PassParts::*time;
  Part part;
};
constexpr std::array<PassPart, 11> kPassOrder{{{&PassParts::offload, &StepComponents::offload},
                                               {&PassParts::data_comm, &StepComponents::data_comm},
                                               {&PassParts::host, &StepComponents::host},
                                               {&PassParts::recompute, &StepComponents::recompute},
                                               {&PassParts::attention, &StepComponents::attention},
                                               {&PassParts::context_comm, &StepComponents::context_comm},
                                               {&PassParts::gemm, &StepComponents::compute},
                                               {&PassParts::elementwise, &StepComponents::elementwise},
                                               {&PassParts::tensor_comm, &StepComponents::tensor_comm},
                                               {&PassParts::expert_comm, &StepComponents::expert_comm},
                                               {&PassParts::pipeline_comm, &StepComponents::pipeline_comm}}};

Phase phase_of(PipelineTask::Kind kind) {
  switch (kind) {
    case PipelineTask::Kind::Forward:
      return Phase::Forward;
    case PipelineTask::Kind::Backward:
      return Phase::Backward;
    case PipelineTask::Kind::BackwardInput:
      return Phase::BackwardInput;
    case PipelineTask::Kind::BackwardWeight:
      return Phase::BackwardWeight;
  }
  return Phase::Forward;
}

/// Time of the parts of one task, all chunks of the stage together.
PassParts parts_of(const StageCosts& costs, Phase phase) {
  PassParts parts = phase == Phase::Forward ? costs.forward : costs.backward;
  if (phase == Phase::BackwardInput) parts.gemm -= costs.weight_gradient;
  if (phase == Phase::BackwardWeight) {
    parts = PassParts{};
    parts.gemm = costs.weight_gradient;
  }
  return parts;
}

/// What of the components is spent once a step and not in passes. The models price it for the busiest rank, and
/// the other ranks are drawn alike: they start together with it.
StepComponents end_of_step(const StepComponents& whole, const StageCosts& busiest, double micro_batches) {
  StepComponents rest = whole;
  rest.pipeline_bubble = Seconds();
  for (const PassPart& part : kPassOrder) {
    const Seconds passes = micro_batches * (busiest.forward.*part.time + busiest.backward.*part.time);
    rest.*part.part = std::max(Seconds(), rest.*part.part - passes);
  }
  return rest;
}

/// Lays one rank's time out, from left to right.
class RankLane {
 public:
  RankLane(std::int32_t rank, std::vector<Stretch>& out) : rank_(rank), out_(out) {}

  /// The rank has nothing to do: the pipeline's bubble.
  void wait_until(Seconds at) { add(Phase::EndOfStep, 0, 0, &StepComponents::pipeline_bubble, at - now_); }

  void pass(const PipelineTask& task, const StageCosts& costs, std::int32_t chunks) {
    wait_until(task.start);
    const Phase phase = phase_of(task.kind);
    const PassParts parts = parts_of(costs, phase);
    for (const PassPart& part : kPassOrder) {
      add(phase, task.chunk, task.micro_batch, part.part, parts.*part.time / chunks);
    }
  }

  void end_of_step(Part part, Seconds duration) { add(Phase::EndOfStep, 0, 0, part, duration); }

 private:
  void add(Phase phase, std::int32_t chunk, std::int64_t micro_batch, Part part, Seconds duration) {
    if (duration.value() <= 0) return;
    out_.push_back({rank_, index_of(part), phase, chunk, micro_batch, now_, now_ + duration});
    now_ += duration;
  }

  std::int32_t rank_;
  std::vector<Stretch>& out_;
  Seconds now_;
};

}  // namespace

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::Forward:
      return "forward";
    case Phase::Backward:
      return "backward";
    case Phase::BackwardInput:
      return "input gradient";
    case Phase::BackwardWeight:
      return "weight gradient";
    case Phase::EndOfStep:
      return "end of step";
  }
  return "end of step";
}

Result<SimulatedJob> simulated_job(const PlanRequest& request, const Plan& plan, const Catalog& catalog) {
  Result<Cluster> cluster = make_cluster(catalog, *plan.instance, plan.instance_count);
  if (!cluster) return tl::unexpected<Diagnostics>(cluster.error());
  SimulatedJob job{request.workload, plan.strategy, used_by(*plan.stack, std::move(*cluster)), *plan.stack};
  job.workload.precision = plan.precision;
  return job;
}

Result<SimulatedJob> simulated_job(const TrainingPlan& plan, const Catalog& catalog) {
  Result<Cluster> cluster = make_cluster(catalog, *plan.instance, plan.instance_count);
  if (!cluster) return tl::unexpected<Diagnostics>(cluster.error());
  const Stack* framework = catalog.find_stack(plan.stack->id);
  SMPLAN_ASSERT(framework != nullptr);
  SimulatedJob job{Workload{}, plan.strategy, used_by(*plan.stack, std::move(*cluster)),
                   executed(*framework, plan.strategy.execution)};
  job.workload.architecture = plan.model;
  job.workload.global_batch = plan.global_batch;
  job.workload.precision = plan.precision;
  job.workload.optimizer = plan.optimizer;
  job.workload.finetune = plan.finetune;
  if (plan.lora_rank > 0) job.workload.lora.rank = plan.lora_rank;
  job.workload.lora.train_embeddings = plan.lora_embeddings;
  job.workload.trained_layers = plan.trained_layers;
  job.workload.lora.targets = plan.lora_targets;
  job.workload.lora.method = plan.adapters;
  job.workload.lora.layers = adapted_layers_of(plan.model, *framework);
  job.workload.lora.virtual_tokens = plan.virtual_tokens;
  job.workload.lora.count = plan.adapter_count;
  weigh_adapters_of(job.workload);
  job.workload.set_lengths({plan.seq_len, plan.mean_seq_len});
  job.workload.loss = plan.loss;
  job.workload.reference = plan.reference;
  if (!plan.teacher.empty()) {
    const Result<const ModelPreset*> teacher = catalog.model(plan.teacher, "teacher");
    if (!teacher) return tl::unexpected<Diagnostics>(teacher.error());
    job.workload.teacher = (*teacher)->architecture;
  }
  job.workload.tokens = plan.tokens;
  Diagnostics faults = check(job.workload);
  if (faults.empty()) faults = check(job.strategy, job.workload, *framework);
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return job;
}

Result<Timeline> simulate_step(const SimulatedJob& job) {
  const Strategy& s = job.strategy;
  const std::int64_t micro_batches = s.micro_batches(job.workload);
  const std::int64_t passes = 2 * micro_batches * s.pipeline_parallel * s.virtual_pipeline;
  if (passes > kMaxSimulatedPasses) {
    return fail("too-large", "the step",
                fmt::format("has {} passes ({} micro-batches on {} pipeline ranks), more than the {} that are drawn",
                            passes, micro_batches, s.pipeline_parallel, kMaxSimulatedPasses),
                "take a smaller --global-batch or a larger --micro-batch");
  }
  const LayerTable table = layer_table(job.workload, s, job.cluster, job.stack);
  const Groups groups = group_shapes(s, job.cluster);
  const StepEstimate estimate = combine_step(table, job.workload, s, groups, job.cluster, job.stack);
  const StageModel model(table, job.workload, s, groups, job.cluster, job.stack);
  std::vector<StageCosts> costs;
  std::vector<StageTime> stages;
  for (std::int32_t i = 0; i < s.pipeline_parallel; ++i) {
    costs.push_back(model.stage(i));
    stages.push_back(stage_time(costs.back()));
  }

  Timeline timeline;
  timeline.ranks = s.pipeline_parallel;
  timeline.step = estimate.time();
  timeline.busiest = static_cast<std::int32_t>(
      std::max_element(stages.begin(), stages.end(),
                       [](const StageTime& a, const StageTime& b) { return a.total() < b.total(); }) -
      stages.begin());
  std::vector<std::vector<PipelineTask>> tasks(stages.size());
  for (const PipelineTask& task : simulate_pipeline(stages, micro_batches, s.virtual_pipeline, s.schedule, Seconds())) {
    tasks[static_cast<std::size_t>(task.stage)].push_back(task);
  }
  const StepComponents tail = end_of_step(estimate.components, costs[static_cast<std::size_t>(timeline.busiest)],
                                          static_cast<double>(micro_batches));
  const Seconds passes_end = timeline.step - tail.total();
  for (std::int32_t rank = 0; rank < timeline.ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    RankLane lane(rank, timeline.stretches);
    for (const PipelineTask& task : tasks[index]) lane.pass(task, costs[index], s.virtual_pipeline);
    lane.wait_until(passes_end);
    for (const StepPart& part : step_parts()) lane.end_of_step(part.time, tail.*part.time);
  }
  return timeline;
}

}  // namespace smplan
