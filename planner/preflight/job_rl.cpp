#include "planner/preflight/job_rl.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/job_folder.hpp"
#include "planner/preflight/predict.hpp"
#include "planner/preflight/tool_settings.hpp"
#include "planner/request/names.hpp"

namespace smplan {
namespace {

using OptionalText = std::optional<std::string>;

/// What tools call an algorithm, or the estimator of its advantages, by the name of ours.
/// Source: volcengine/verl b178a3c, verl/trainer/ppo/core_algos.py (AdvantageEstimator).
struct Named {
  std::string_view word;
  std::string_view ours;
  bool nearest = false;  ///< other advantages without a critic, which cost as much
};
constexpr std::array<Named, 18> kAlgorithms{{{"gae", "ppo"},
                                             {"ppo", "ppo"},
                                             {"grpo", "grpo"},
                                             {"grpopassk", "grpo"},
                                             {"drgrpo", "grpo"},
                                             {"groupbased", "grpo"},
                                             {"groupbasedperturn", "grpo"},
                                             {"rloo", "rloo"},
                                             {"dapo", "dapo"},
                                             {"montecarlo", "grpo", true},
                                             {"reinforcepp", "grpo", true},
                                             {"reinforceppbaseline", "grpo", true},
                                             {"reinforceplusplus", "grpo", true},
                                             {"reinforceplusplusbaseline", "grpo", true},
                                             {"opo", "grpo", true},
                                             {"gpg", "grpo", true},
                                             {"grpovectorized", "grpo"},
                                             {"rloovectorized", "rloo"}}};

/// What smplan wrote beside a tool's own settings: members of a request by their keywords, each a text.
Result<void> state_beside(const Node& stated, const std::string& file, RlSpec& spec) {
  Diagnostics faults;
  const auto refuse = [&](const Node& node, std::string message, std::string hint) {
    faults.push_back({"bad-value", fmt::format("{}: {}", file, node.where.path), std::move(message), std::move(hint)});
  };
  if (!stated.is_object()) {
    refuse(stated, "is no object of a request's members", "leave it out, or export the plan again");
    return tl::unexpected<Diagnostics>(std::move(faults));
  }
  for (const Node& node : stated.items) {
    const std::string& keyword = node.key;
    const auto own =
        std::find_if(rl_names().begin(), rl_names().end(), [&](const RlName& n) { return keyword_of(n) == keyword; });
    const auto names = request_names();
    const auto shared =
        std::find_if(names.begin(), names.end(), [&](const RequestName& n) { return n.name == keyword; });
    const bool known = own != rl_names().end() || (shared != names.end() && is_rl_member(shared->name));
    if (!known) {
      refuse(node, "is no member of a request for reinforcement learning",
             "leave it out: `smplan rl --help` lists them");
    } else if (!node.is_string() && !node.is_number()) {
      refuse(node, fmt::format("is {}, not a text", kind_name(node.kind)), "write it as the flag's value");
    } else {
      OptionalText& field = own != rl_names().end() ? spec.*own->member : shared->of(spec.request);
      if (!field) field = node.text;
    }
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return {};
}

/// The catalog's name of a model beside the policy; nothing where it has none by that name.
OptionalText known_model(const Field<std::string>& name, const Catalog& catalog) {
  const ModelPreset* preset = name ? catalog.find_model(*name) : nullptr;
  return preset == nullptr ? std::nullopt : OptionalText(preset->architecture.name);
}

template <typename T>
void state(OptionalText& field, const Field<T>& value) {
  if (!field && value) field = fmt::format("{}", *value);
}

void leave_open(std::string what, RlSpec& spec) { spec.left_open.push_back(std::move(what)); }

/// Those that train and those that generate.
Count all_nodes(const Count& nodes, const JobReinforcement& r) {
  if (!nodes || !r.rollout_nodes) return nodes;
  return derived(plus(*nodes, *r.rollout_nodes), nodes.where);
}

/// The file of a job's folder that says its reinforcement learning, where the job itself only starts it.
const Job& learning_job(const Job& job) {
  if (job.reinforcement.algorithm.stated || job.folder == nullptr) return job;
  const auto& files = job.folder->files;
  const auto learns = std::find_if(files.begin(), files.end(),
                                   [](const FolderFile& f) { return f.job.reinforcement.algorithm.stated; });
  return learns == files.end() ? job : learns->job;
}

/// How long prompts and responses are.
void state_lengths(const JobReinforcement& r, RlSpec& spec) {
  state(spec.prompt_length, r.prompt_tokens);
  // Of several turns the whole is cut where the sequence is full.
  if (r.trajectory_tokens && !spec.response_limit) {
    state(spec.sequence_limit, r.trajectory_tokens);
  } else {
    state(spec.response_limit, r.response_tokens);
  }
  // Files say where responses are cut. Half of it is the mean where nobody says otherwise.
  if (!spec.response_length && r.response_tokens && *r.response_tokens > 1) {
    const std::int64_t cut = std::min(*r.response_tokens, r.trajectory_tokens.value_or(*r.response_tokens));
    spec.response_length = std::to_string(std::max<std::int64_t>(1, cut / 2));
    if (r.trajectory_tokens) {
      leave_open(fmt::format("how many turns a response has is not said: one of {} tokens is taken, so that times are "
                             "the least; --response-length is what all turns generate",
                             *spec.response_length),
                 spec);
    }
  }
}

/// What generates the responses, and where.
void state_rollout(const JobReinforcement& r, RlSpec& spec) {
  if (!spec.engine && (r.rollout_engine.is("vllm") || r.rollout_engine.is("sglang"))) spec.engine = *r.rollout_engine;
  state(spec.rollout_tp, r.rollout_tensor);
  state(spec.placement, r.placement);
  if (r.steps_ahead.value_or(0) > 1 && spec.placement == "split") {
    leave_open(
        fmt::format("responses may be {} steps old: engines one step ahead are counted, whose mean step takes as "
                    "long",
                    *r.steps_ahead),
        spec);
  }
  state(spec.replica_sequences, r.replica_sequences);
  state(spec.concurrency, r.concurrency);
  if (r.start_rate.value_or(0) > 0) state(spec.start_rate, r.start_rate);
  if (!spec.rollout_dtype && r.rollout_fp8) spec.rollout_dtype = "fp8";
}

}  // namespace

Result<RlSpec> rl_spec_of_job(const Job& given, const Catalog& catalog, RlSpec spec) {
  const Job& job = learning_job(given);
  const JobReinforcement& r = job.reinforcement;
  const auto refuse = [&](std::string message, std::string hint) {
    return tl::unexpected<Diagnostics>(Diagnostics{{"unsupported", job.file, std::move(message), std::move(hint)}});
  };
  const std::string& why = job.not_modelled;
  const bool is_told = !why.empty() && why != kReinforcement;
  if (!r.algorithm.stated) {
    if (is_told) return refuse(why, "docs/ci.md lists what is read");
    const bool unread = !why.empty();
    return refuse(unread ? "its settings of reinforcement learning are not read: those of verl, NeMo-RL and AWS's "
                           "recipes of several turns are"
                         : "this is no job of reinforcement learning",
                  unread ? "say them: smplan rl MODEL --prompts N --samples N --response-length N"
                         : "ask `smplan estimate --from FILE`");
  }
  for (const Unread& u : job.unread) {
    leave_open(fmt::format("{}: {}", u.where.name().empty() ? job.file : u.where.name(), u.why), spec);
  }
  if (r.stated != nullptr) {
    if (Result<void> beside = state_beside(*r.stated, job.file, spec); !beside) {
      return tl::unexpected<Diagnostics>(std::move(beside.error()));
    }
  }
  if (!spec.algorithm) {
    if (!r.algorithm) return refuse("its algorithm is not known", "add --algorithm");
    const std::string named = letters_and_digits(*r.algorithm);
    const auto known =
        std::find_if(kAlgorithms.begin(), kAlgorithms.end(), [&](const Named& a) { return a.word == named; });
    if (known == kAlgorithms.end()) {
      return refuse(fmt::format("its algorithm `{}` is not modelled", *r.algorithm),
                    "add --algorithm, the nearest one");
    }
    spec.algorithm = std::string(r.drops_groups && known->ours == "grpo" ? "dapo" : known->ours);
    if (known->nearest) {
      leave_open(
          fmt::format("advantages by `{}`, without a critic, are counted as those of {}", *r.algorithm, known->ours),
          spec);
    }
  }
  RequestSpec& request = spec.request;
  if (!names_model(request)) request.model = model_of(job, catalog);
  if (!names_model(request)) {
    if (is_told) return refuse(why, "name a model that is as large: smplan rl MODEL --from FILE");
    return refuse(
        job.model ? fmt::format("the catalog has no model `{}`", *job.model) : std::string("the file names no model"),
        "name one: smplan rl MODEL --from FILE");
  }
  state(spec.prompts, r.prompts);
  state(spec.samples, r.samples);
  state_lengths(r, spec);
  state_rollout(r, spec);
  state(spec.passes, r.passes);
  if (!spec.kl && r.reference) spec.kl = *r.reference ? "on" : "off";
  if (!spec.critic && spec.algorithm == "ppo") spec.critic = known_model(r.critic_model, catalog);
  if (!spec.reward_model && r.reward_model.stated) {
    spec.reward_model = known_model(r.reward_model, catalog);
    if (!spec.reward_model) {
      return refuse(fmt::format("the catalog has no reward model `{}`", r.reward_model.value_or("")),
                    "add --reward-model, one that is as large");
    }
  }
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
  if (!request.count) state(request.count, job.instance_count ? job.instance_count : all_nodes(s.nodes, r));
  for (const std::string& what : r.left_open) leave_open(what, spec);
  return spec;
}

}  // namespace smplan
