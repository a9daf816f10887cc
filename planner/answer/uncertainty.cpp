#include "planner/answer/uncertainty.hpp"

#include <algorithm>
#include <cmath>

#include "models/layers/layers.hpp"
#include "models/run/goodput.hpp"

namespace smplan {
namespace {

/// What one unmeasured trait adds, a standard deviation of log(predicted / measured). At this value P10 to P90 holds 77
/// to 84 % of the runs of left-out sources, models, stacks and accelerators (docs/accuracy.md).
constexpr double kUnmeasuredSigma = 0.066;
/// Traits are not independent: a stack without any run is not ten times as uncertain as one that lacks one.
constexpr std::size_t kMostUnmeasured = 4;

std::string size_class(double parameters) {
  if (parameters < 1e9) return "models under 1B";
  if (parameters < 15e9) return "models of 1B to 15B";
  if (parameters < 100e9) return "models of 15B to 100B";
  return "models over 100B";
}

std::string machine_class(std::int32_t nodes) {
  if (nodes == 1) return "one node";
  if (nodes <= 16) return "2 to 16 nodes";
  if (nodes <= 128) return "17 to 128 nodes";
  return "over 128 nodes";
}

std::string sequence_class(std::int64_t seq_len) {
  if (seq_len < 1024) return "sequences under 1k";
  if (seq_len <= 8192) return "sequences of 1k to 8k";
  if (seq_len <= 65536) return "sequences of 8k to 64k";
  return "sequences over 64k";
}

}  // namespace

std::vector<std::string> traits(const Workload& w, const Strategy& s, const Cluster& cluster) {
  std::vector<std::string> out = {cluster.accelerator.key,
                                  std::string(to_string(w.precision)),
                                  size_class(static_cast<double>(count_parameters(w.architecture).total())),
                                  machine_class(cluster.nodes),
                                  sequence_class(w.seq_len),
                                  w.architecture.moe.n_experts > 0 ? "mixture of experts" : "dense models"};
  const auto add = [&out](bool used, const char* name) {
    if (used) out.emplace_back(name);
  };
  add(s.tensor_parallel > 1, "tensor parallelism");
  add(s.pipeline_parallel > 1, "pipeline parallelism");
  add(s.collectives == Collectives::Smddp, "SMDDP");
  add(s.context_parallel > 1, "context parallelism");
  add(s.expert_parallel > 1, "expert parallelism");
  add(w.architecture.has_state_mixer(), w.architecture.state.delta_rule ? "the gated delta rule" : "state mixers");
  const bool adapters = w.finetune != FineTune::Full;
  add(adapters && !w.lora.trains_prompt(), "low-rank adapters");
  add(adapters && w.lora.trains_prompt(), "virtual tokens");
  add(adapters && w.lora.count > 1, "several adapters at once");
  add(w.trained_layers.has_value(), "frozen layers");
  add(w.finetune == FineTune::Qlora, "a 4-bit base");
  add(w.loss != nullptr, "losses over several passes or sequences");
  add(s.offload.optimizer || s.offload.parameters || s.offload.activations, "offloading");
  return out;
}

std::vector<std::string> unmeasured_traits(const Workload& workload, const Strategy& strategy, const Cluster& cluster,
                                           const Stack& stack) {
  const std::vector<std::string>& measured = stack.profile.measured;
  std::vector<std::string> out = traits(workload, strategy, cluster);
  std::erase_if(out, [&](const std::string& trait) {
    return std::find(measured.begin(), measured.end(), trait) != measured.end();
  });
  return out;
}

double total_sigma(const Stack& stack, std::size_t unmeasured, Program program) {
  const StackProfile& p = stack.profile;
  const double added = static_cast<double>(std::min(unmeasured, kMostUnmeasured)) * kUnmeasuredSigma * kUnmeasuredSigma;
  const double of_program = program == Program::Tuned ? 0 : p.program_sigma * p.program_sigma;
  return std::sqrt(p.residual_sigma * p.residual_sigma + added + of_program);
}

void set_interval(StepEstimate& step, const Stack& stack, std::size_t unmeasured, Program program) {
  const double spread = std::exp(kZ90 * total_sigma(stack, unmeasured, program));
  step.p10 = step.time() / spread;
  step.p90 = step.time() * spread;
}

PeakInterval peak_interval(Bytes peak, const Stack& stack) {
  const double spread = std::exp(kZ90 * stack.profile.memory_sigma);
  return {peak / spread, peak * spread};
}

double out_of_memory_probability(const MemoryEstimate& memory, const Stack& stack) {
  if (memory.wanted <= Bytes()) return 0;
  const double sigma = stack.profile.memory_sigma;
  if (sigma <= 0) return memory.fits_device() ? 0 : 1;
  return 0.5 * std::erfc(std::log(memory.limit / memory.wanted) / (sigma * std::sqrt(2.0)));
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Fits:
      return "fits";
    case Verdict::AtTheEdge:
      return "at the edge";
    case Verdict::DoesNotFit:
      return "does not fit";
  }
  return "?";
}

Verdict verdict_of(double out_of_memory_probability) {
  constexpr double kSure = 0.01;
  if (out_of_memory_probability > 0.5) return Verdict::DoesNotFit;
  return out_of_memory_probability < kSure ? Verdict::Fits : Verdict::AtTheEdge;
}

double safe_memory_part(const Stack& stack, double most) {
  return std::min(1.0, std::exp(-stack.profile.memory_sigma * normal_quantile(1 - most)));
}

}  // namespace smplan
