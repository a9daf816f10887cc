#include "planner/request/names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.hpp"
#include "base/json_writer.hpp"
#include "base/utf8.hpp"

namespace smplan {
namespace {

using Text = std::optional<std::string>;

RequestName name_of(const DimensionRow& row) {
  RequestName name{row.keyword, row.of_execution ? RequestGroup::Execution : RequestGroup::Dimension, "N", row.help};
  if (row.kind == DimensionRow::Kind::Words) name.type = fmt::format("{}", fmt::join(row.names(), "|"));
  name.dimension = row.dimension;
  name.is_switch = row.kind == DimensionRow::Kind::Switch;
  return name;
}

std::vector<RequestName> before_dimensions() {
  return {
      {"params", RequestGroup::Model, "N", "A realistic model of this many parameters, e.g. 13B", &RequestSpec::params},
      {"model", RequestGroup::Model, "MODEL", "A public model, see `smplan models list`", &RequestSpec::model},
      {"hf_config", RequestGroup::Model, "FILE", "A Hugging Face config.json (- is standard input)",
       &RequestSpec::hf_config},
      {"arch", RequestGroup::Model, "FILE", "A smplan.architecture/1 file (- is standard input)", &RequestSpec::arch},
      {"tokens", RequestGroup::Work, "N",
       "Tokens of the whole run [20 per parameter; of fine-tuning 20M, whatever the model]", &RequestSpec::tokens},
      {"seq_len", RequestGroup::Work, "N", "Tokens per sequence, e.g. 4096; 4k is 4096, 128k is 131072",
       &RequestSpec::seq_len},
      {"global_batch", RequestGroup::Work, "N",
       "Sequences per optimizer step [the model's published batch, else by size and tokens; of fine-tuning 128]",
       &RequestSpec::global_batch},
      {"global_batch_tokens", RequestGroup::Work, "N", "The same in tokens, e.g. 4M",
       &RequestSpec::global_batch_tokens},
      {"dtype", RequestGroup::Work, "bf16|fp16|fp8|fp4|tf32|fp32",
       "Number format of the matrix products; frameworks' words too (bf16-mixed, bf16-true, nvfp4, mxfp8, amp)",
       &RequestSpec::dtype},
      {"optimizer", RequestGroup::Work, "adamw|adam8bit|sgd-momentum|lion|adafactor|muon|lamb",
       "Decides the bytes of the optimizer states", &RequestSpec::optimizer},
      {"finetune", RequestGroup::Work, "full|lora|qlora",
       "Train on from the model's weights: all of them, adapters, or adapters on a quantized model [pre-training]",
       &RequestSpec::finetune},
      {"adapters", RequestGroup::Work, "lora|rslora|pissa|dora|prompt_tuning|ptuning|prefixtuning",
       "Kind of the adapters: LoRA's, with another scale, start or length of rows; or virtual tokens [lora]",
       &RequestSpec::adapters},
      {"lora_rank", RequestGroup::Work, "N", "Rank of the adapters", &RequestSpec::lora_rank},
      {"lora_targets", RequestGroup::Work, "linear|non-expert|attention|query-value",
       "Weights that carry adapters: all linear layers, those of attention, queries and values [linear]",
       &RequestSpec::lora_targets},
      {"lora_embeddings", RequestGroup::Work, "on|off",
       "Train embedding and head beside the adapters (modules_to_save of PEFT) [off]", &RequestSpec::lora_embeddings},
      {"virtual_tokens", RequestGroup::Work, "N",
       "Trained tokens before each sequence, of prompt_tuning, ptuning and prefixtuning [20]",
       &RequestSpec::virtual_tokens},
      {"adapter_count", RequestGroup::Work, "N",
       "Adapters trained at once on one base, each on its part of the batch [1]", &RequestSpec::adapter_count},
      {"trained_layers", RequestGroup::Work, "LAYERS",
       "Train these and freeze the rest: blocks (last:8, first:8, 16-23), embedding, head, or several (last:8+head) "
       "[all]",
       &RequestSpec::trained_layers},
      {"mean_seq_len", RequestGroup::Work, "N",
       "Tokens that an average sequence is computed with, where lengths differ: it decides the time, --seq-len the "
       "memory [--seq-len]",
       &RequestSpec::mean_seq_len},
      {"loss", RequestGroup::Work, "LOSS",
       "What is learned: sft, dpo, orpo, simpo, cpo, kto, reward, distillation; a pair counts as two sequences [sft]",
       &RequestSpec::loss},
      {"reference", RequestGroup::Work, "copy|adapters|precomputed",
       "Where the frozen reference of dpo and kto comes from [adapters where there are any, else copy]",
       &RequestSpec::reference},
      {"teacher", RequestGroup::Work, "MODEL", "Whose logits a distillation learns, see `smplan models list`",
       &RequestSpec::teacher},
      {"instances",
       RequestGroup::Hardware,
       "INSTANCES",
       "Instance types, families or patterns: ml.p4d.24xlarge, p5, 'p5*'",
       &RequestSpec::instances,
       {},
       true},
      {"count", RequestGroup::Hardware, "N", "Instances: 8, a list 8,16 or a range 1..64 [1..128; estimate: 1]",
       &RequestSpec::count},
      {"max_gpus", RequestGroup::Hardware, "N", "No more accelerators than this", &RequestSpec::max_gpus},
      {"region", RequestGroup::Purchase, "REGION",
       "Where the job runs [AWS_REGION, AWS_DEFAULT_REGION, else us-east-1]", &RequestSpec::region},
      {"market",
       RequestGroup::Purchase,
       "on-demand|spot|capacity-block|training-plan|savings-plan",
       "How the instances are bought, or all; several are ranked together [on-demand]",
       &RequestSpec::market,
       {},
       true},
      {"stack",
       RequestGroup::Software,
       "STACKS",
       "Training stacks, see `smplan catalog list stacks`",
       &RequestSpec::stack,
       {},
       true},
      {"program", RequestGroup::Launch, "user|tuned",
       "Whose program trains: a user's own, or a recipe as its authors tuned it, whose time is surer [user]",
       &RequestSpec::program},
      {"launchable", RequestGroup::Launch, "job|any|TARGET",
       "What is planned where no --stack is named: job, what an export can start; any; or only what a target of "
       "`smplan "
       "export` can say, such as torchtune [job]",
       &RequestSpec::launchable},
  };
}

std::vector<RequestName> after_dimensions() {
  return {
      {"platform", RequestGroup::Operation, "training-job|hyperpod-eks|hyperpod-slurm",
       "What runs the job: a training job, or a standing HyperPod cluster [training-job]", &RequestSpec::platform},
      {"recovery", RequestGroup::Operation, "restart|checkpointless|elastic",
       "How a job of HyperPod goes on after a failure: from a checkpoint, from a replica's memory, or without the "
       "instance until another is there [restart]",
       &RequestSpec::recovery},
      {"spare_instances", RequestGroup::Operation, "N",
       "Instances of the HyperPod cluster that stand idle until one of the job's fails [0]",
       &RequestSpec::spare_instances},
      {"preempted_every", RequestGroup::Operation, "TIME",
       "Mean time between two evictions by jobs of higher priority, under task governance [never]",
       &RequestSpec::preempted_every},
      {"preempted_for", RequestGroup::Operation, "TIME", "Mean time that an evicted job waits",
       &RequestSpec::preempted_for},
      {"checkpoint_storage", RequestGroup::Operation, "s3|fsx-lustre|efs|memory|none",
       "Where checkpoints go; memory: HyperPod's memory tier, and from there to S3 [s3; HyperPod: fsx-lustre]",
       &RequestSpec::checkpoint_storage},
      {"checkpoint_mode", RequestGroup::Operation, "sync|async",
       "Whether training stands still while a checkpoint is saved", &RequestSpec::checkpoint_mode},
      {"dataset", RequestGroup::Operation, "SIZE", "Size of the data set, e.g. 500GB [streamed fast enough]",
       &RequestSpec::dataset},
      {"dataset_files", RequestGroup::Operation, "N", "Files of the data set [shards of 256 MB]",
       &RequestSpec::dataset_files},
      {"sample_size", RequestGroup::Operation, "SIZE",
       "Read for each sequence, e.g. 600kB [4 bytes a token; an image of 115 kB]", &RequestSpec::sample_size},
      {"preparation", RequestGroup::Operation, "none|jpeg|tokenize",
       "What the CPUs do with it: nothing, decode images, make tokens of text [jpeg for vision models, else none]",
       &RequestSpec::preparation},
      {"input_mode", RequestGroup::Operation, "file|fastfile|pipe|fsx-lustre|efs",
       "How data reaches the instances [by size, files and what keeps devices fed]", &RequestSpec::input_mode},
      {"data_region", RequestGroup::Operation, "REGION", "Region of the data set's bucket [that of the job]",
       &RequestSpec::data_region},
      {"jobs", RequestGroup::Operation, "N", "Such jobs in a row on the same instances [1]", &RequestSpec::jobs},
      {"job_gap", RequestGroup::Operation, "TIME", "From the end of one to the start of the next [0s]",
       &RequestSpec::job_gap},
      {"warm_pool", RequestGroup::Operation, "on|off", "Keep the instances between the jobs [off]",
       &RequestSpec::warm_pool},
      {"deadline", RequestGroup::Goal, "TIME",
       "Longest time to train, e.g. 7d or 36h, or its end in local time: 2026-12-04T17:00, Friday (the end of the "
       "next)",
       &RequestSpec::deadline},
      {"confidence", RequestGroup::Goal, "PART", "Probability to meet deadline and budget [90%]",
       &RequestSpec::confidence},
      {"budget", RequestGroup::Goal, "USD", "Most money for the whole run", &RequestSpec::budget},
      {"max_hourly", RequestGroup::Goal, "USD", "Most money per hour", &RequestSpec::max_hourly},
      {"min_headroom", RequestGroup::Memory, "PART", "Device memory that must stay free, e.g. 5%",
       &RequestSpec::min_headroom},
      {"max_oom_probability", RequestGroup::Memory, "PART", "Most chance to run out of device memory [5%]",
       &RequestSpec::max_oom_probability},
      {"objective", RequestGroup::Goal, "cost|time|balanced|pareto", "What the best plan is best at [cost]",
       &RequestSpec::objective},
      {"cost_weight", RequestGroup::Goal, "PART", "Weight of cost against time in the balanced objective [50%]",
       &RequestSpec::cost_weight},
      {"what_if", RequestGroup::Facts, "CHANGES", "Other facts, e.g. price=-20%,efa=2x,memory=+10%",
       &RequestSpec::what_if},
      {"top", RequestGroup::Answer, "N", "Plans to show [10]", &RequestSpec::top},
  };
}

const std::vector<RequestName>& names() {
  static const std::vector<RequestName> kNames = [] {
    std::vector<RequestName> all = before_dimensions();
    for (const DimensionRow& row : dimensions()) {
      if (row.dimension == Dimension::Sharding) {
        all.push_back({"zero_stage", RequestGroup::Dimension, "0|1|2|3", "Stage of ZeRO", &RequestSpec::zero_stage});
      }
      if (row.dimension == Dimension::LossKernel) {
        all.push_back({"fused_loss", RequestGroup::Execution, "on|off",
                       "The loss keeps no logits (--loss-kernel linear): on, fused or chunked; off or plain",
                       &RequestSpec::fused_loss});
      }
      all.push_back(name_of(row));
    }
    for (RequestName& name : after_dimensions()) all.push_back(std::move(name));
    SMPLAN_ASSERT(all.size() == sizeof(RequestSpec) / sizeof(Text));  // a member without a name
    return all;
  }();
  return kNames;
}

const RequestName* find(std::string_view name) {
  std::string wanted(name);
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  const auto known =
      std::find_if(names().begin(), names().end(), [&](const RequestName& n) { return n.name == wanted; });
  return known == names().end() ? nullptr : &*known;
}

struct ForeignWord {
  std::string_view name;
  std::string_view hint;
};
constexpr auto kForeignWords = std::to_array<ForeignWord>({
    {"epochs", "give --tokens: samples x tokens of a sample x epochs"},
    {"samples", "give --tokens: samples x tokens of a sample x epochs"},
    {"steps", "give --tokens: steps x --global-batch x --seq-len"},
    {"max_steps", "give --tokens: steps x --global-batch x --seq-len"},
    {"batch_size", "give --global-batch for the sequences of a step, or --micro-batch for those of a device"},
    {"gpus", "give --count for the instances, or --max-gpus"},
    {"nodes", "give --count"},
    {"instance_count", "give --count"},
    {"instance_type", "give --instances"},
    {"precision", "give --dtype"},
    {"lora", "give --finetune lora"},
    {"qlora", "give --finetune qlora"},
    {"spot", "give --market spot"},
});

/// `instances=X,count=4`: where the second setting begins; npos if there is none.
std::size_t second_setting(std::string_view value) {
  for (std::size_t comma = value.find(','); comma != std::string_view::npos; comma = value.find(',', comma + 1)) {
    const std::string_view rest = value.substr(comma + 1);
    const std::string_view name = rest.substr(0, std::min(rest.find('='), rest.size()));
    const bool known = find(name) != nullptr;
    if (known && name.size() < rest.size()) return comma;
  }
  return std::string_view::npos;
}

}  // namespace

std::string hint_for_foreign_word(std::string_view name) {
  std::string wanted(name);
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  const auto* word =
      std::find_if(kForeignWords.begin(), kForeignWords.end(), [&](const ForeignWord& w) { return w.name == wanted; });
  return word == kForeignWords.end() ? std::string() : std::string(word->hint);
}

std::span<const RequestName> request_names() { return names(); }

RequestSpec without(RequestSpec spec, std::initializer_list<RequestGroup> groups) {
  for (const RequestName& n : names()) {
    if (std::find(groups.begin(), groups.end(), n.group) != groups.end()) n.of(spec).reset();
  }
  return spec;
}

Result<void> assign(RequestSpec& spec, std::string_view name, std::string value, std::string_view where) {
  const RequestName* known = find(name);
  if (known == nullptr) {
    std::vector<std::string> known_names;
    for (const RequestName& n : names()) known_names.emplace_back(n.name);
    Diagnostic unknown = unknown_name("member of a request", name, where, known_names);
    if (std::string hint = hint_for_foreign_word(name); !hint.empty()) unknown.hint = std::move(hint);
    return tl::unexpected<Diagnostics>({std::move(unknown)});
  }
  if (value.empty()) {
    return fail("missing-value", std::string(where), fmt::format("{} has no value", name),
                fmt::format("write {}=VALUE", name));
  }
  if (!is_utf8(value)) {
    return fail("bad-encoding", std::string(where), fmt::format("the value of {} is not UTF-8 text", name),
                "write it in UTF-8");
  }
  known->of(spec) = std::move(value);
  return {};
}

Result<RequestSpec> read_request_words(std::string_view words, RequestSpec base, std::string_view where) {
  Diagnostics faults;
  for (std::size_t begin = words.find_first_not_of(" \t\n"); begin < words.size();) {
    const std::size_t end = std::min(words.size(), words.find_first_of(" \t\n", begin));
    const std::string_view word = words.substr(begin, end - begin);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      faults.push_back({"bad-request", std::string(where), quote(word) + " sets nothing",
                        "write NAME=VALUE, such as params=13B, or the path of a plan file"});
    } else if (const std::size_t comma = second_setting(word); comma != std::string_view::npos) {
      faults.push_back(
          {"bad-request", std::string(where), quote(word) + " sets two things at once",
           fmt::format("write blanks between words: '{} {}'", word.substr(0, comma), word.substr(comma + 1))});
    } else if (const auto set = assign(base, word.substr(0, equals), std::string(word.substr(equals + 1)), where);
               !set) {
      faults.insert(faults.end(), set.error().begin(), set.error().end());
    }
    begin = words.find_first_not_of(" \t\n", end);
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return base;
}

std::string request_key(const RequestSpec& spec) {
  Json out = Json::object();
  for (const RequestName& n : names()) {
    if (const Text& value = n.of(spec)) out[std::string(n.name)] = *value;
  }
  return out.dump();
}

}  // namespace smplan
