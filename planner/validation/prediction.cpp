#include "planner/validation/prediction.hpp"

#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += "; ";
    text += part;
  }
  return text;
}

}  // namespace

Bytes reported_peak(const MemoryEstimate& m, const Stack& stack, MemoryKind kind) {
  const bool rank_zero = stack.reports_rank_zero;
  switch (kind) {
    case MemoryKind::Allocated:
      return rank_zero ? m.first_stage_allocated : m.peak_allocated;
    case MemoryKind::Reserved:
      return rank_zero ? m.first_stage_reserved : m.peak_reserved;
    case MemoryKind::Device:
      return m.peak_device;
    case MemoryKind::Unstated:
      break;
  }
  return rank_zero ? m.first_stage_reserved : m.peak_device;
}

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::Ok:
      return "ok";
    case RunStatus::Unsupported:
      return "unsupported";
    case RunStatus::Invalid:
      return "invalid";
  }
  return "?";
}

StepEstimate step_of(const ResolvedRun& r, const Stack& stack) {
  StepEstimate step = estimate_step(r.workload, r.strategy, r.cluster, stack);
  if (r.workload.mean_seq_len == 0) return step;
  const SequenceLengths of_data = r.workload.data_lengths();
  const double counted = static_cast<double>(of_data.longest) / static_cast<double>(of_data.mean);
  step.tokens_per_s *= counted;
  step.tokens_per_s_per_gpu *= counted;
  return step;
}

RunPrediction predict_run(const MeasuredRun& run, const Catalog& catalog) {
  RunPrediction p;
  p.id = run.id;
  const Result<ResolvedRun> resolved = resolve_run(run, catalog);
  if (!resolved) {
    const Diagnostic& first = resolved.error().front();
    p.status = first.code == "invalid" ? RunStatus::Invalid : RunStatus::Unsupported;
    p.message = first.message;
    if (!first.hint.empty()) p.message += " (" + first.hint + ")";
    return p;
  }
  p.message = join(resolved->assumptions);
  p.stack = resolved->stack.id;
  p.accelerator = resolved->cluster.accelerator.key;
  p.precision = resolved->workload.precision;
  p.step = step_of(*resolved, resolved->stack);
  p.unmeasured = unmeasured_traits(resolved->workload, resolved->strategy, resolved->cluster, resolved->stack);
  set_interval(p.step, resolved->stack, p.unmeasured.size(), run.program);
  p.memory = estimate_memory(resolved->workload, resolved->strategy, resolved->cluster, resolved->stack);
  p.peak = reported_peak(p.memory, resolved->stack, run.memory_kind) * static_cast<double>(run.devices_per_gpu);
  p.peak_interval = peak_interval(p.peak, resolved->stack);
  p.out_of_memory_probability = out_of_memory_probability(p.memory, resolved->stack);
  p.step.tokens_per_s_per_gpu *= static_cast<double>(run.devices_per_gpu);
  return p;
}

std::optional<Seconds> measured_step_time(const MeasuredRun& run, const Catalog& catalog) {
  // Steps of shorter sequences than the limit do not take its time.
  if (!run.packing.value_or(true) && !run.mean_seq_len) return std::nullopt;
  const Result<ResolvedRun> resolved = resolve_run(run, catalog);
  if (!resolved) return std::nullopt;
  const Workload& w = resolved->workload;
  const auto devices = static_cast<double>(resolved->strategy.gpus());
  const double gpus = devices / static_cast<double>(run.devices_per_gpu);  // as the row counts them
  if (run.tokens_per_s_per_gpu && *run.tokens_per_s_per_gpu > 0) {
    // Tables count padding.
    const double tokens = static_cast<double>(w.data_lengths().longest) * static_cast<double>(w.global_batch);
    return Seconds(tokens / (*run.tokens_per_s_per_gpu * gpus));
  }
  if (run.step_time_s && *run.step_time_s > 0) return Seconds(*run.step_time_s);
  if (run.samples_per_s && *run.samples_per_s > 0) {
    return Seconds(static_cast<double>(w.global_batch) / *run.samples_per_s);
  }
  const StepFlops flops = step_flops(w, resolved->strategy.recompute, AttentionCounting::FullSquare,
                                     resolved->strategy.execution.flash_attention);
  if (run.tflops_per_gpu && *run.tflops_per_gpu > 0) {
    const Flops counted = run.flops_kind == FlopsKind::Hardware ? flops.hardware : flops.model;
    return counted / (tflops(*run.tflops_per_gpu) * gpus);
  }
  const FlopsPerSecond peak = resolved->cluster.accelerator.peak_rate(w.precision);
  if (run.mfu_pct && *run.mfu_pct > 0) return flops.model / (peak * devices * (*run.mfu_pct / 100));
  if (run.hfu_pct && *run.hfu_pct > 0) return flops.hardware / (peak * devices * (*run.hfu_pct / 100));
  return std::nullopt;
}

}  // namespace smplan
