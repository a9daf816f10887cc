#include <algorithm>

#include "models/memory/memory.hpp"
#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

std::optional<std::int64_t> stated_micro_batch(const MeasuredRun& run) {
  return run.states(Dimension::MicroBatch) ? std::optional<std::int64_t>(run.strategy.micro_batch) : std::nullopt;
}

/// What a run does that states no micro-batch. torchtitan cuts the local batch into as many as stages; who cuts the
/// model by tensor parallelism and has no pipeline to fill takes the largest that fits; others take one sequence.
std::int64_t usual_micro_batch(std::int64_t local, const Workload& w, Strategy s, const Cluster& cluster,
                               const Stack& stack) {
  if (s.pipeline_parallel > 1) {
    return s.sharding == Sharding::FsdpFull ? std::max<std::int64_t>(1, local / s.pipeline_parallel) : 1;
  }
  if (!stack.tensor_parallel) return 1;
  for (std::int64_t m = local; m > 1 && m % 2 == 0; m /= 2) {
    s.micro_batch = static_cast<std::int32_t>(m);
    if (estimate_memory(w, s, cluster, stack).fits_device()) return m;
  }
  return 1;
}

/// What the row's micro-batches say of one that is not stated; nullopt where they do not divide a rank's sequences.
std::optional<std::int64_t> micro_batch_by_count(const MeasuredRun& run, std::int64_t global_batch, std::int64_t dp) {
  if (!run.grad_accum || global_batch % (dp * *run.grad_accum) != 0) return std::nullopt;
  return global_batch / (dp * *run.grad_accum);
}

/// grad_accum beside the batches: it is no third opinion, but it may contradict them.
void compare_grad_accum(const MeasuredRun& run, std::int64_t global_batch, std::int64_t dp, Assumptions& assumptions) {
  if (!run.grad_accum) return;
  const std::optional<std::int64_t> stated = stated_micro_batch(run);
  if (!stated) {
    if (global_batch % (dp * *run.grad_accum) == 0) return;
    assumptions.push_back("grad_accum " + std::to_string(*run.grad_accum) + " does not divide the sequences of a rank");
    return;
  }
  const std::int64_t product = *stated * dp * *run.grad_accum;
  if (product == global_batch) return;
  assumptions.push_back("micro_batch x dp x grad_accum is " + std::to_string(product) + ", global_batch " +
                        std::to_string(global_batch) + " counts");
}

}  // namespace

Result<void> resolve_batch(const MeasuredRun& run, const Cluster& cluster, const Stack& stack, Workload& w, Strategy& s,
                           Assumptions& assumptions) {
  const std::optional<std::int64_t> stated = stated_micro_batch(run);
  if (!stated && !run.global_batch) {
    return fail("unsupported", run.id, "neither micro_batch nor global_batch is stated", "state one of them");
  }
  const std::int64_t dp = s.data_parallel;
  if (!run.global_batch) {
    w.global_batch = *stated * dp * run.grad_accum.value_or(1);
    if (!run.grad_accum) assumptions.emplace_back("global_batch is micro_batch x dp");
  } else {
    w.global_batch = *run.global_batch;
    compare_grad_accum(run, w.global_batch, dp, assumptions);
  }
  const std::int64_t local = std::max<std::int64_t>(1, w.global_batch / dp);
  const std::optional<std::int64_t> by_count = micro_batch_by_count(run, w.global_batch, dp);
  std::optional<std::int64_t> micro_batch = stated ? stated : by_count;
  if (!micro_batch) micro_batch = usual_micro_batch(local, w, s, cluster, stack);
  if (*micro_batch > local) {
    assumptions.push_back("micro_batch " + std::to_string(*micro_batch) + " is more than the " + std::to_string(local) +
                          " sequences of a rank");
    micro_batch = local;
  }
  if (!stated) {
    assumptions.push_back("micro_batch is " + std::to_string(*micro_batch) + (by_count ? ", by grad_accum" : ""));
  }
  s.micro_batch = static_cast<std::int32_t>(*micro_batch);
  const std::int64_t whole = (local + *micro_batch / 2) / *micro_batch * *micro_batch * dp;
  if (whole != w.global_batch) {
    assumptions.push_back("global_batch " + std::to_string(w.global_batch) + " is no multiple of dp x micro_batch = " +
                          std::to_string(dp * *micro_batch) + ", taken as " + std::to_string(whole));
    w.global_batch = whole;
  }
  return {};
}

}  // namespace smplan
