#include <array>

#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

using Count = std::optional<std::int64_t> MeasuredRun::*;

/// Beyond any machine or model, and small enough that no product of a few overflows.
struct Limit {
  const char* column;
  Count count;
  std::int64_t most;
};

constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostWidth = std::int64_t{1} << 24;
constexpr std::int64_t kMostHeads = std::int64_t{1} << 16;
constexpr std::int64_t kMostExperts = 100'000;
constexpr std::int64_t kMostTokens = 100'000'000;
constexpr std::int64_t kMostSequences = 1'000'000'000;
constexpr std::int64_t kMostRanks = 1'000'000;
/// What the step model keeps room for (models/step.cpp).
constexpr std::int32_t kMostStages = 256;
/// Gbit/s of a node's network: a thousand times what is sold.
constexpr double kMostNetwork = 1e7;

constexpr std::array<Limit, 26> kLimits{{{"n_layers", &MeasuredRun::n_layers, kMostLayers},
                                         {"hidden", &MeasuredRun::hidden, kMostWidth},
                                         {"ffn_hidden", &MeasuredRun::ffn_hidden, kMostWidth},
                                         {"n_heads", &MeasuredRun::n_heads, kMostHeads},
                                         {"n_kv_heads", &MeasuredRun::n_kv_heads, kMostHeads},
                                         {"head_dim", &MeasuredRun::head_dim, kMostHeads},
                                         {"vocab", &MeasuredRun::vocab, kMostWidth},
                                         {"seq_len", &MeasuredRun::seq_len, kMostTokens},
                                         {"n_experts", &MeasuredRun::n_experts, kMostExperts},
                                         {"top_k", &MeasuredRun::top_k, kMostExperts},
                                         {"expert_ffn_hidden", &MeasuredRun::expert_ffn_hidden, kMostWidth},
                                         {"n_gpus", &MeasuredRun::n_gpus, kMostRanks},
                                         {"gpus_per_node", &MeasuredRun::gpus_per_node, kMostRanks},
                                         {"tp", &MeasuredRun::tp, kMostRanks},
                                         {"pp", &MeasuredRun::pp, kMostRanks},
                                         {"vpp", &MeasuredRun::vpp, kMostRanks},
                                         {"cp", &MeasuredRun::cp, kMostRanks},
                                         {"ep", &MeasuredRun::ep, kMostRanks},
                                         {"etp", &MeasuredRun::etp, kMostRanks},
                                         {"dp", &MeasuredRun::dp, kMostRanks},
                                         {"shard_degree", &MeasuredRun::shard_degree, kMostRanks},
                                         {"micro_batch", &MeasuredRun::micro_batch, kMostSequences},
                                         {"grad_accum", &MeasuredRun::grad_accum, kMostSequences},
                                         {"recompute_layers", &MeasuredRun::recompute_layers, kMostLayers},
                                         {"lora_rank", &MeasuredRun::lora_rank, kMostWidth},
                                         {"global_batch", &MeasuredRun::global_batch, kMostSequences}}};

/// A fault of the model or workload, told of the row.
tl::unexpected<Diagnostics> invalid(const MeasuredRun& run, const Diagnostic& fault) {
  return fail("invalid", run.id, fault.message, fault.hint);
}

}  // namespace

Result<void> check_limits(const MeasuredRun& run) {
  if (!run.faults.empty()) {
    Diagnostics faults = run.faults;
    for (Diagnostic& d : faults) d.code = "invalid";
    return tl::unexpected(faults);
  }
  for (const Limit& limit : kLimits) {
    const std::optional<std::int64_t>& count = run.*limit.count;
    if (count && *count > limit.most) {
      return fail("invalid", run.id, std::string(limit.column) + " is " + std::to_string(*count),
                  "at most " + std::to_string(limit.most) + " is possible");
    }
  }
  if (run.internode_gbps_per_node.value_or(0) > kMostNetwork) {
    return fail("invalid", run.id, "internode_gbps_per_node is beyond any network", "give Gbit/s of one node");
  }
  return {};
}

Result<void> check_resolved(const MeasuredRun& run, const Workload& w, const Strategy& s, const Stack& stack,
                            Assumptions& assumptions) {
  const Diagnostics faults = check(w);
  if (!faults.empty()) return invalid(run, faults.front());
  for (const BrokenRule& rule : broken_rules(s, w, stack)) {
    // Ranks of experts that do not fill a stage are stated where the row says how experts are cut.
    const bool stated = rule.id == "expert-groups-in-a-stage" && s.expert_tensor_parallel > 0;
    if (!rule.happens || stated) return invalid(run, rule.fault);
    assumptions.push_back("no plan would have this: " + rule.fault.message);
  }
  if (s.pipeline_parallel > kMostStages) {
    return fail("unsupported", run.id, "pp is " + std::to_string(s.pipeline_parallel),
                "pipelines of more than " + std::to_string(kMostStages) + " ranks are not modelled");
  }
  return {};
}

}  // namespace smplan
