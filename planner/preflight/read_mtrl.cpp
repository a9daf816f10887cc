// HyperPod's recipes of multi-turn reinforcement learning. Their launcher writes launch.json and starts nothing:
// SageMaker runs them serverless. Sources: aws/sagemaker-hyperpod-recipes 2631995, launcher/mtrl/launchers.py and the
// comments of nova_lite/MTRL/mtrl_nova_lite_2_0_lora.yaml; SageMaker Developer Guide, model-customize-mtrl-hyperparams,
// read 2026-11: a batch counts prompts, group_size rollouts of a prompt, max_tokens those of one turn;
// aws/sagemaker-python-sdk a248126, multi_turn_rl_trainer.py (CreateJob, AgentRFT).
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

/// Engines go on while the policy is trained, and responses may be that many steps old; 0: they wait.
void read_steps_ahead(const Node& node, Job& job) {
  const auto steps = integer_of(node);
  if (!steps || *steps < 0) return note_unread(node, "is no number of steps", job);
  job.reinforcement.placement = derived(std::string(*steps > 0 ? "split" : "colocated,split-sync"), node.where);
  job.reinforcement.steps_ahead = count_field(&node);
}

constexpr ToolRow kMtrlRows[] = {
    {"model.model_name", &Job::model},
    {"rl.advantage_method", &JobReinforcement::algorithm},
    {"batch.training_batch_size", &JobReinforcement::prompts},
    {"batch.group_size", &JobReinforcement::samples},
    {"sampling_params.max_tokens", &JobReinforcement::response_tokens},
    {"model.max_sequence_length", &JobReinforcement::trajectory_tokens},
    {"model.max_sequence_length", &JobStrategy::sequence_length},
    {"model.lora_rank", read_rank},
    {"async_config.max_steps_off_policy", read_steps_ahead},
    {"rollout.max_concurrency", &JobReinforcement::concurrency},
    {"rollout.rollout_tps", &JobReinforcement::start_rate},
    {"schedule.max_steps", &JobStrategy::steps},
    {"schedule.epochs", &JobStrategy::epochs},
};

}  // namespace

void read_mtrl(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  JobReinforcement& r = job.reinforcement;
  read_rows(root, kMtrlRows, job);
  otherwise(r.algorithm, "group_based", root.where);
  // Its losses have no KL term.
  r.reference = derived(false, root.where);
  if (r.prompts && r.samples) s.global_batch = derived(times(*r.prompts, *r.samples), r.prompts.where);
  if (!s.finetune.stated) state_full(root.where, job);
  r.left_open = {
      "SageMaker runs such a recipe serverless and bills its tokens: instances and prices are those of the same work "
      "on instances of your own",
      "what tools take is not said, in time and in tokens of their results: --reward-seconds adds time to each step",
      "optimizer steps of a step are not said: --mini-batches",
      "validation and rollouts that are tried again are not counted"};
  if (s.steps && s.epochs) r.left_open.emplace_back("the run is shorter where the data set ends before its steps do");
  finish_tool(root, job);
}

}  // namespace smplan
