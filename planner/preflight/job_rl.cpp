#include "planner/preflight/job_rl.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/predict.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

using Text = std::optional<std::string>;

/// What tools call an algorithm, or the estimator of its advantages, by the name of ours.
/// Source: volcengine/verl b178a3c, verl/trainer/ppo/core_algos.py (AdvantageEstimator).
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kAlgorithms{{{"gae", "ppo"},
                                                                                    {"ppo", "ppo"},
                                                                                    {"grpo", "grpo"},
                                                                                    {"grpopasskk", "grpo"},
                                                                                    {"drgrpo", "grpo"},
                                                                                    {"rloo", "rloo"},
                                                                                    {"dapo", "dapo"}}};

template <typename T>
void state(Text& field, const Field<T>& value) {
  if (!field && value) field = fmt::format("{}", *value);
}

}  // namespace

Result<RlSpec> rl_spec_of_job(const Job& job, const Catalog& catalog, RlSpec spec) {
  const JobReinforcement& r = job.reinforcement;
  const auto refuse = [&](std::string message, std::string hint) {
    return tl::unexpected<Diagnostics>(Diagnostics{{"unsupported", job.file, std::move(message), std::move(hint)}});
  };
  if (!r.algorithm.stated) {
    const bool unread = job.not_modelled == kReinforcement;
    return refuse(unread ? "its settings of reinforcement learning are not read: those of verl and NeMo-RL are"
                         : "this is no job of reinforcement learning",
                  unread ? "say them: smplan rl MODEL --prompts N --samples N --response-length N"
                         : "ask `smplan estimate --from FILE`");
  }
  if (!spec.algorithm) {
    const std::string named = letters_and_digits(*r.algorithm);
    const auto known =
        std::find_if(kAlgorithms.begin(), kAlgorithms.end(), [&](const auto& a) { return a.first == named; });
    if (known == kAlgorithms.end()) {
      return refuse(fmt::format("its algorithm `{}` is not modelled", *r.algorithm),
                    "add --algorithm, the nearest one");
    }
    spec.algorithm = std::string(known->second);
  }
  RequestSpec& request = spec.request;
  if (!names_model(request)) request.model = model_of(job, catalog);
  if (!names_model(request)) {
    return refuse(
        job.model ? fmt::format("the catalog has no model `{}`", *job.model) : std::string("the file names no model"),
        "name one: smplan rl MODEL --from FILE");
  }
  state(spec.prompts, r.prompts);
  state(spec.samples, r.samples);
  state(spec.prompt_length, r.prompt_tokens);
  state(spec.response_limit, r.response_tokens);
  // Files say where responses are cut. Half of it is the mean where nobody says otherwise.
  if (!spec.response_length && r.response_tokens && *r.response_tokens > 1) {
    spec.response_length = std::to_string(*r.response_tokens / 2);
  }
  if (!spec.engine && (r.rollout_engine.is("vllm") || r.rollout_engine.is("sglang"))) spec.engine = *r.rollout_engine;
  state(spec.rollout_tp, r.rollout_tensor);
  if (!spec.mini_batches && r.mini_batch && r.prompts && *r.mini_batch > 0) {
    // Some tools count prompts, others sequences, of which there are more.
    const std::int64_t sequences = times(*r.prompts, std::max<std::int64_t>(1, r.samples.value_or(1)));
    const std::int64_t whole = *r.mini_batch > *r.prompts ? sequences : *r.prompts;
    spec.mini_batches = std::to_string(std::max<std::int64_t>(1, whole / *r.mini_batch));
  }
  const JobStrategy& s = job.strategy;
  if (!spec.steps && !spec.epochs) state(spec.steps, s.steps);
  state(request.finetune, s.finetune);
  if (request.finetune && *request.finetune != "full") state(request.lora_rank, s.lora_rank);
  if (!request[Dimension::PureHalf] && s.execution.pure_half == Toggle::On) request[Dimension::PureHalf] = "on";
  if (!request.instances && job.instance_type) request.instances = *job.instance_type;
  if (!request.count) state(request.count, job.instance_count ? job.instance_count : s.nodes);
  return spec;
}

}  // namespace smplan
