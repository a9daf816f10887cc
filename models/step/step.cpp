#include "models/step/step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "models/pipeline/closed_form.hpp"
#include "models/step/stage.hpp"

namespace smplan {
namespace {

/// Stages differ only by layer count and the two ends: which of them are as the one before.
std::vector<bool> repeated_stages(const LayerStack& stack, std::int32_t stages) {
  std::vector<bool> repeated(static_cast<std::size_t>(stages));
  PerKind<double> before{};
  for (std::int32_t i = 1; i < stages - 1; ++i) {
    const PerKind<double> layers = stage_layers(stack, i, stages);
    repeated[static_cast<std::size_t>(i)] = i > 1 && layers == before;
    before = layers;
  }
  return repeated;
}

/// Fills in the time of every stage; returns the costs of the busiest, which paces the micro-batches.
StageCosts fill_stages(const StageModel& model, const std::vector<bool>& repeated, std::span<StageTime> times) {
  const auto stages = static_cast<std::int32_t>(times.size());
  StageCosts busiest;
  Seconds longest;
  for (std::int32_t i = 0; i < stages; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (repeated[index]) {
      times[index] = times[index - 1];
      continue;
    }
    const StageCosts costs = model.stage(i);
    times[index] = stage_time(costs);
    if (i > 0 && times[index].total() <= longest) continue;
    longest = times[index].total();
    busiest = costs;
  }
  return busiest;
}

/// The stage that is longest about its gradients and weights ends the step: the norm is taken over all of them.
StepTail longest_tail(const StageModel& model, const std::vector<bool>& repeated, Schedule schedule,
                      std::span<const StageTime> times) {
  const auto stages = static_cast<std::int32_t>(times.size());
  LongestPasses passes;
  for (const StageTime& time : times) {
    passes.forward = std::max(passes.forward, time.forward);
    const Seconds backward = schedule == Schedule::ZeroBubble ? time.backward_input : time.backward();
    passes.backward = std::max(passes.backward, backward);
    passes.weight_gradient = std::max(passes.weight_gradient, time.backward_weight);
  }
  StepTail longest = model.tail(0, passes);
  for (std::int32_t i = 1; i < stages; ++i) {
    if (repeated[static_cast<std::size_t>(i)]) continue;
    const StepTail tail = model.tail(i, passes);
    if (tail.total() > longest.total()) longest = tail;
  }
  return longest;
}

StepComponents busiest_stage_components(const StageCosts& stage, double micro_batches) {
  StepComponents c;
  const PassParts& f = stage.forward;
  const PassParts& b = stage.backward;
  c.compute = micro_batches * (f.gemm + b.gemm);
  c.attention = micro_batches * (f.attention + b.attention);
  c.elementwise = micro_batches * (f.elementwise + b.elementwise);
  c.recompute = micro_batches * (f.recompute + b.recompute);
  c.host = micro_batches * (f.host + b.host);
  c.tensor_comm = micro_batches * (f.tensor_comm + b.tensor_comm);
  c.context_comm = micro_batches * (f.context_comm + b.context_comm);
  c.expert_comm = micro_batches * (f.expert_comm + b.expert_comm);
  c.pipeline_comm = micro_batches * (f.pipeline_comm + b.pipeline_comm);
  c.data_comm = micro_batches * (f.data_comm + b.data_comm);
  c.offload = micro_batches * (f.offload + b.offload);
  return c;
}

/// FLOPs of a step of full training, for the ratio of two models.
Flops model_flops(const Architecture& a, const Workload& w, const Strategy& s, const Stack& stack) {
  Workload one = w;
  one.architecture = a;
  one.finetune = FineTune::Full;
  one.trained_layers.reset();
  return step_flops(layer_stack(a, stack), one, s, 0, stack, AttentionCounting::FullSquare).model;
}

/// Passes without gradients, each as long as a forward pass of the trained model on its busiest stage; of a teacher by
/// its FLOPs, as it is cut the same way. A pipeline fills once for them.
Seconds reference_time(const PassParts& forward, const Workload& w, const Strategy& s, const Stack& stack) {
  double passes = w.loss->trained_forwards;
  if (w.frozen_forwards() > 0) {
    const Architecture* frozen = w.frozen_copy();
    const bool other = frozen != nullptr && frozen != &w.architecture;
    passes += w.frozen_forwards() *
              (other ? model_flops(*frozen, w, s, stack) / model_flops(w.architecture, w, s, stack) : 1);
  }
  const auto micro_batches = static_cast<double>(s.micro_batches(w));
  return passes * (micro_batches + s.pipeline_parallel - 1) * (forward.total() - forward.recompute);
}

void fill_rates(StepEstimate& e, const LayerStack& layers, const Workload& w, const Strategy& s, const Cluster& cluster,
                const Stack& stack) {
  const double time = e.time().value();
  const auto gpus = static_cast<double>(s.gpus());
  e.tokens_per_s = w.tokens_per_step() / time;
  e.tokens_per_s_per_gpu = e.tokens_per_s / gpus;
  const double part = s.recomputed_part(static_cast<double>(layers.total()) / s.pipeline_parallel);
  const StepFlops flops = step_flops(layers, w, s, part, stack, AttentionCounting::FullSquare);
  e.model_flops_per_gpu = flops.model / e.time() / gpus;
  // Against the peak of the format that the matrix products run in.
  const FlopsPerSecond peak = cluster.accelerator.peak_rate(stack.product_precision(w.precision));
  if (peak.value() > 0) {
    e.mfu = e.model_flops_per_gpu / peak;
    e.hfu = (flops.hardware / e.time() / gpus) / peak;
  }
}

}  // namespace

LayerTable layer_table(const Workload& workload, const Strategy& strategy, const Cluster& cluster, const Stack& stack) {
  if (workload.mean_seq_len > 0) return layer_table(at_mean_length(workload), strategy, cluster, stack);
  LayerTable table;
  table.stack = layer_stack(workload, stack);
  const Groups groups = group_shapes(strategy, cluster);
  const double share = static_cast<double>(stack.execution.half_layers) / static_cast<double>(table.stack.total());
  for (int i = 0; i < table.stack.n_runs; ++i) {
    const auto index = static_cast<std::size_t>(i);
    LayerCosts& costs = table.layers[index];
    costs = layer_costs(workload, table.stack.runs[index].spec, strategy, groups, cluster, stack);
    if (stack.execution.half_layers == 0) continue;
    Workload half = workload;
    half.precision = Precision::Bf16;
    costs *= 1 - share;
    costs += share * layer_costs(half, table.stack.runs[index].spec, strategy, groups, cluster, stack);
  }
  table.edge = edge_costs(workload, strategy, groups, cluster, stack);
  return table;
}

StepEstimate combine_step(const LayerTable& table, const Workload& workload, const Strategy& strategy,
                          const Cluster& cluster, const Stack& stack) {
  return combine_step(table, workload, strategy, group_shapes(strategy, cluster), cluster, stack);
}

StepEstimate combine_step(const LayerTable& table, const Workload& workload, const Strategy& strategy,
                          const Groups& groups, const Cluster& cluster, const Stack& stack) {
  if (workload.mean_seq_len > 0) {
    return combine_step(table, at_mean_length(workload), strategy, groups, cluster, stack);
  }
  const StageModel model(table, workload, strategy, groups, cluster, stack);
  const std::int64_t micro_batches = strategy.micro_batches(workload);
  StageCosts busiest;
  StepTail tail;
  Seconds bubble;
  if (strategy.pipeline_parallel > 1) {
    std::vector<StageTime> stages(static_cast<std::size_t>(strategy.pipeline_parallel));
    const std::vector<bool> repeated = repeated_stages(table.stack, strategy.pipeline_parallel);
    busiest = fill_stages(model, repeated, stages);
    tail = longest_tail(model, repeated, strategy.schedule, stages);
    bubble =
        pipeline_closed_form(stages, micro_batches, strategy.virtual_pipeline, strategy.schedule, Seconds()).bubble;
  } else {
    busiest = model.stage(0);
    tail = model.tail(0, {.forward = busiest.forward.total(),
                          .backward = busiest.backward.total(),
                          .weight_gradient = busiest.weight_gradient});
  }

  StepEstimate e;
  e.components = busiest_stage_components(busiest, static_cast<double>(micro_batches));
  e.components.pipeline_bubble = bubble;
  e.components.data_comm += tail.data_comm;
  e.components.optimizer = tail.optimizer;
  e.components.offload += tail.offload;
  e.components.host +=
      stack.profile.host_time_step + static_cast<double>(micro_batches) * stack.profile.host_time_micro_batch;
  if (workload.loss != nullptr) e.components.reference = reference_time(busiest.forward, workload, strategy, stack);
  e.components.straggler =
      e.components.total() * stack.profile.straggler * std::log2(static_cast<double>(strategy.gpus()));
  const double spread = std::exp(kZ90 * stack.profile.residual_sigma);
  e.p10 = e.time() / spread;
  e.p90 = e.time() * spread;
  fill_rates(e, table.stack, workload, strategy, cluster, stack);
  return e;
}

StepEstimate estimate_step(const Workload& workload, const Strategy& strategy, const Cluster& cluster,
                           const Stack& stack) {
  return combine_step(layer_table(workload, strategy, cluster, stack), workload, strategy, cluster, stack);
}

std::span<const StepPart> step_parts() {
  using C = StepComponents;
  static constexpr std::array<StepPart, 16> kParts{
      {{"compute", "matrix products", &C::compute},
       {"attention", "attention", &C::attention},
       {"elementwise", "memory-bound kernels", &C::elementwise},
       {"recompute", "recomputation", &C::recompute},
       {"host", "host launches", &C::host},
       {"tensor_comm", "tensor-parallel communication", &C::tensor_comm},
       {"context_comm", "context-parallel communication", &C::context_comm},
       {"expert_comm", "expert all-to-all", &C::expert_comm},
       {"pipeline_comm", "pipeline transfers", &C::pipeline_comm},
       {"pipeline_bubble", "pipeline bubble", &C::pipeline_bubble},
       {"data_comm", "data-parallel communication", &C::data_comm},
       {"optimizer", "optimizer step", &C::optimizer},
       {"offload", "offload transfers", &C::offload},
       {"straggler", "waiting for the slowest rank", &C::straggler},
       {"reference", "passes without gradients", &C::reference},
       {"input", "waiting for data", &C::input}}};
  return kParts;
}

std::vector<StepPart> longest_parts(const StepComponents& components) {
  const std::span<const StepPart> table = step_parts();
  std::vector<StepPart> parts(table.begin(), table.end());
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const StepPart& a, const StepPart& b) { return components.*a.time > components.*b.time; });
  return parts;
}

std::string_view bottleneck(const StepEstimate& estimate) {
  // Matrix products are the work itself; they are the bound only where nothing else takes a tenth.
  const std::span<const StepPart> parts = step_parts();
  const StepPart* worst = &parts[1];
  for (const StepPart& part : parts.subspan(1)) {
    if (estimate.components.*part.time > estimate.components.*worst->time) worst = &part;
  }
  return estimate.components.*worst->time > 0.1 * estimate.time() ? worst->words : parts[0].words;
}

void wait_for_input(StepEstimate& estimate, Seconds least) {
  const Seconds before = estimate.time();
  if (!(before > Seconds()) || before >= least) return;
  estimate.components.input = least - before;
  estimate.p10 = std::max(estimate.p10, least);
  estimate.p90 = std::max(estimate.p90, least);
  const double slower = before / least;
  estimate.tokens_per_s *= slower;
  estimate.tokens_per_s_per_gpu *= slower;
  estimate.model_flops_per_gpu = estimate.model_flops_per_gpu * slower;
  estimate.mfu *= slower;
  estimate.hfu *= slower;
}

}  // namespace smplan
