#include "cli/request_options.hpp"

#include <cstdlib>

#include <CLI/CLI.hpp>

namespace smplan::cli {
namespace {

using Field = std::optional<std::string> RequestSpec::*;

struct Flag {
  const char* name;
  Field field;
  const char* type;
  const char* text;
};

constexpr Flag kModel[] = {
    {"--params", &RequestSpec::params, "N", "A realistic model of this many parameters, e.g. 13B"},
    {"--model", &RequestSpec::model, "MODEL", "A public model, see `smplan models list`"},
    {"--hf-config", &RequestSpec::hf_config, "FILE", "A Hugging Face config.json (- is standard input)"},
    {"--arch", &RequestSpec::arch, "FILE", "A smplan.architecture/1 file (- is standard input)"},
};
constexpr Flag kWork[] = {
    {"--tokens", &RequestSpec::tokens, "N",
     "Tokens of the whole run [20 per parameter; of fine-tuning 20M, whatever the model]"},
    {"--seq-len", &RequestSpec::seq_len, "N", "Tokens per sequence, e.g. 4096; 4k is 4096, 128k is 131072"},
    {"--global-batch", &RequestSpec::global_batch, "N",
     "Sequences per optimizer step [the model's published batch, else by size and tokens; of fine-tuning 128]"},
    {"--global-batch-tokens", &RequestSpec::global_batch_tokens, "N", "The same in tokens, e.g. 4M"},
    {"--dtype", &RequestSpec::dtype, "bf16|fp16|fp8|fp4|tf32|fp32",
     "Number format of the matrix products; frameworks' words too (bf16-mixed, bf16-true, nvfp4, mxfp8, amp)"},
    {"--optimizer", &RequestSpec::optimizer, "adamw|adam8bit|sgd-momentum|lion|adafactor|muon|lamb",
     "Decides the bytes of the optimizer states"},
    {"--finetune", &RequestSpec::finetune, "full|lora|qlora",
     "Train on from the model's weights: all of them, adapters, or adapters on a quantized model [pre-training]"},
    {"--lora-rank", &RequestSpec::lora_rank, "N", "Rank of the adapters"},
    {"--lora-embeddings", &RequestSpec::lora_embeddings, "on|off",
     "Train embedding and head beside the adapters (modules_to_save of PEFT) [off]"},
    {"--fused-loss", &RequestSpec::fused_loss, "on|off",
     "The script's loss keeps no logits (Liger, cut cross-entropy): on, fused or chunked; off or plain [off]"},
    {"--flash-attention", &RequestSpec::flash_attention, "on|off", "Attention keeps no scores [as the stack does]"},
};
constexpr Flag kHardware[] = {
    {"--count", &RequestSpec::count, "N", "Instances: 8, a list 8,16 or a range 1..64 [1..128; estimate: 1]"},
    {"--max-gpus", &RequestSpec::max_gpus, "N", "No more accelerators than this"},
    {"--region", &RequestSpec::region, "REGION", "Where the job runs [AWS_REGION, AWS_DEFAULT_REGION, else us-east-1]"},
};
constexpr Flag kDimensions[] = {
    {"--dp", &RequestSpec::dp, "N", "Data parallel"},
    {"--tp", &RequestSpec::tp, "N", "Tensor parallel"},
    {"--pp", &RequestSpec::pp, "N", "Pipeline parallel"},
    {"--vpp", &RequestSpec::vpp, "N", "Model chunks per pipeline rank"},
    {"--cp", &RequestSpec::cp, "N", "Context parallel"},
    {"--ep", &RequestSpec::ep, "N", "Expert parallel"},
    {"--etp", &RequestSpec::etp, "N", "Ranks that one expert is cut over [1, or --tp where --ep is 1]"},
    {"--zero-stage", &RequestSpec::zero_stage, "0|1|2|3", "Stage of ZeRO"},
    {"--sharding", &RequestSpec::sharding, "none|zero1|zero2|zero3|fsdp-full|fsdp-grad-op|fsdp-hybrid",
     "What the ranks of a shard group divide among them"},
    {"--shard-degree", &RequestSpec::shard_degree, "N", "Ranks that share one copy of the states"},
    {"--micro-batch", &RequestSpec::micro_batch, "N", "Sequences per rank and micro-batch"},
    {"--recompute", &RequestSpec::recompute, "none|selective|full", "Activations computed anew in the backward pass"},
    {"--recompute-layers", &RequestSpec::recompute_layers, "N",
     "Layers of a pipeline chunk that are recomputed whole [all, or as few as fit]"},
    {"--offload", &RequestSpec::offload,
     "none|optimizer|params|activations|optimizer+params|optimizer+nvme|optimizer+params+nvme",
     "What waits in host memory, or with nvme on the instance's disks"},
};
constexpr Flag kOperation[] = {
    {"--checkpoint-storage", &RequestSpec::checkpoint_storage, "s3|fsx-lustre|efs|none", "Where checkpoints go [s3]"},
    {"--checkpoint-mode", &RequestSpec::checkpoint_mode, "sync|async",
     "Whether training stands still while a checkpoint is saved"},
    {"--dataset", &RequestSpec::dataset, "SIZE", "Size of the data set, e.g. 500GB [streamed fast enough]"},
    {"--dataset-files", &RequestSpec::dataset_files, "N", "Files of the data set [shards of 256 MB]"},
    {"--sample-size", &RequestSpec::sample_size, "SIZE", "Read for each sequence, e.g. 600kB [4 bytes a token]"},
    {"--input-mode", &RequestSpec::input_mode, "file|fastfile|pipe|fsx-lustre|efs",
     "How data reaches the instances [by size, files and what keeps devices fed]"},
    {"--data-region", &RequestSpec::data_region, "REGION", "Region of the data set's bucket [that of the job]"},
    {"--jobs", &RequestSpec::jobs, "N", "Such jobs in a row on the same instances [1]"},
    {"--job-gap", &RequestSpec::job_gap, "TIME", "From the end of one to the start of the next [0s]"},
    {"--warm-pool", &RequestSpec::warm_pool, "on|off", "Keep the instances between the jobs [off]"},
};
constexpr Flag kGoal[] = {
    {"--deadline", &RequestSpec::deadline, "TIME",
     "Longest time to train, e.g. 7d or 36h, or its end in local time: 2026-12-04T17:00, Friday (the end of the next)"},
    {"--confidence", &RequestSpec::confidence, "PART", "Probability to meet deadline and budget [90%]"},
    {"--budget", &RequestSpec::budget, "USD", "Most money for the whole run"},
    {"--max-hourly", &RequestSpec::max_hourly, "USD", "Most money per hour"},
    {"--min-headroom", &RequestSpec::min_headroom, "PART", "Device memory that must stay free, e.g. 5%"},
    {"--max-oom-probability", &RequestSpec::max_oom_probability, "PART",
     "Most chance to run out of device memory [5%]"},
    {"--objective", &RequestSpec::objective, "cost|time|balanced|pareto", "What the best plan is best at [cost]"},
    {"--cost-weight", &RequestSpec::cost_weight, "PART", "Weight of cost against time in the balanced objective [50%]"},
    {"--what-if", &RequestSpec::what_if, "CHANGES", "Other facts, e.g. price=-20%,efa=2x,memory=+10%"},
    {"--top", &RequestSpec::top, "N", "Plans to show [10]"},
};

template <std::size_t N>
void add_flags(CLI::App& command, RequestSpec& spec, const Flag (&flags)[N], const char* group) {
  for (const Flag& flag : flags) {
    command.add_option(flag.name, spec.*flag.field, flag.text)->type_name(flag.type)->group(group);
  }
}

/// A flag that may be repeated: its values join to one comma list.
void add_list(CLI::App& command, RequestSpec& spec, const Flag& flag, const char* group) {
  const Field field = flag.field;
  command
      .add_option_function<std::vector<std::string>>(
          flag.name,
          [&spec, field](const std::vector<std::string>& values) {
            std::string joined;
            for (const std::string& value : values) joined += (joined.empty() ? "" : ",") + value;
            spec.*field = joined;
          },
          flag.text)
      ->allow_extra_args(false)
      ->type_name(flag.type)
      ->group(group);
}

}  // namespace

void add_model_options(CLI::App& command, RequestSpec& spec) {
  add_flags(command, spec, kModel, "Model (exactly one)");
}

void add_request_options(CLI::App& command, RequestSpec& spec) {
  add_model_options(command, spec);
  add_flags(command, spec, kWork, "Work");
  add_list(command, spec,
           {"--instances", &RequestSpec::instances, "INSTANCES",
            "Instance types, families or patterns: ml.p4d.24xlarge, p5, 'p5*'"},
           "Hardware");
  add_flags(command, spec, kHardware, "Hardware");
  add_list(command, spec,
           {"--market", &RequestSpec::market, "on-demand|spot|capacity-block|training-plan|savings-plan",
            "How the instances are bought, or all; several are ranked together [on-demand]"},
           "Hardware");
  add_list(command, spec,
           {"--stack", &RequestSpec::stack, "STACKS", "Training stacks, see `smplan catalog list stacks`"}, "Software");
  command
      .add_option("--launchable", spec.launchable,
                  "What is planned where no --stack is named: job, what an export can start; any [job]")
      ->type_name("job|any")
      ->group("Software");
  command.add_option("--collectives", spec.collectives, "Library of the collective operations")
      ->type_name("nccl|smddp")
      ->group("Software");
  add_flags(command, spec, kDimensions, "Fixed dimensions (a value, or a list of those allowed)");
  command
      .add_flag("--sequence-parallel{true}", spec.sequence_parallel,
                "Shard norms and residuals over the tensor ranks too (=false forbids it)")
      ->group("Fixed dimensions (a value, or a list of those allowed)");
  add_flags(command, spec, kOperation, "Checkpoints and data");
  add_flags(command, spec, kGoal, "Limits and goal");
}

std::optional<std::string> environment_region() {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return std::string(value);
  }
  return std::nullopt;
}

}  // namespace smplan::cli
