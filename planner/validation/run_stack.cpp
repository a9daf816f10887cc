#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "planner/validation/phrases.hpp"
#include "planner/validation/run_resolution.hpp"
#include "planner/validation/run_words.hpp"

namespace smplan {
namespace {

/// By the vendor alone: runs on devices older than today's kernels are measured too.
bool may_run_on(const Stack& stack, const Accelerator* accelerator) {
  return accelerator == nullptr || stack.is_built_for(accelerator->vendor);
}

/// Letters and digits alone, and before which of them a word may begin and after which it may end: at other
/// characters and, within `PyTorchFSDP2` and `MegatronLM`, where capitals follow small letters.
struct SqueezedName {
  std::string text;
  std::vector<bool> begins, ends;
};

SqueezedName squeezed(std::string_view name) {
  SqueezedName s;
  const auto kept = [&](std::size_t i) { return i < name.size() && is_letter_or_digit(name[i]); };
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto begins_version = [&](std::size_t i) {  // `NeMo24.07`, `FSDPv2`
    return is_digit(name[i]) || (name[i] == 'v' && kept(i + 1) && is_digit(name[i + 1]));
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!kept(i)) continue;
    s.text.push_back(lower_case(name[i]));
    s.begins.push_back(i == 0 || !kept(i - 1) || (is_small(name[i - 1]) && is_capital(name[i])));
    s.ends.push_back(!kept(i + 1) || (is_small(name[i]) && is_capital(name[i + 1])) ||
                     (!is_digit(name[i]) && begins_version(i + 1)));
  }
  return s;
}

bool holds_word(const SqueezedName& name, const std::string& word) {
  if (word.empty()) return false;
  for (std::size_t at = name.text.find(word); at != std::string::npos; at = name.text.find(word, at + 1)) {
    if (name.begins[at] && name.ends[at + word.size() - 1]) return true;
  }
  return false;
}

/// The stack for the accelerator whose id or alias the framework's text contains as words; the longest match wins, so
/// that `Megatron-DeepSpeed` is not `Megatron-LM`, and `compile` is no `MPI`.
const Stack* named_in(std::string_view framework, const Accelerator* accelerator, const Catalog& catalog) {
  const SqueezedName name = squeezed(framework);
  const Stack* best = nullptr;
  std::size_t best_length = 0;
  const auto consider = [&](const Stack& stack, std::string_view alias) {
    const std::string key = letters_and_digits(alias);
    if (key.size() > best_length && holds_word(name, key)) {
      best = &stack;
      best_length = key.size();
    }
  };
  for (const Stack& stack : catalog.stacks()) {
    if (!may_run_on(stack, accelerator)) continue;
    consider(stack, stack.id);
    for (const std::string& alias : stack.aliases) consider(stack, alias);
  }
  return best;
}

/// Whether one device has room for what a replica needs: all states under Adam, 16 bytes a parameter (Rajbhandari et
/// al. 2020), or frozen weights.
bool holds_replica(const MeasuredRun& run, const Accelerator& accelerator, const Catalog& catalog) {
  constexpr double kFourBits = 0.5;
  const FineTune trained = trained_part(run);
  const double bytes = trained == FineTune::Full ? 16 : trained == FineTune::Lora ? 2 : kFourBits;
  const ModelPreset* preset = find_preset(run, catalog);
  const double known = preset == nullptr ? 0 : static_cast<double>(count_parameters(preset->architecture).total());
  return Bytes(bytes * (run.params_b ? 1e9 * *run.params_b : known)) <= accelerator.device_memory;
}

/// What kind of program the stated dimensions need, for frameworks that the catalog does not know.
std::string_view implied_stack(const MeasuredRun& run, const Accelerator* accelerator, const Catalog& catalog) {
  if (accelerator != nullptr && accelerator->vendor == Vendor::Aws) return "neuron";
  if (run.tp.value_or(1) > 1 || run.pp.value_or(1) > 1 || run.ep.value_or(1) > 1) return "megatron";
  if (const std::optional<Sharding> sharding = stated_sharding(run)) {
    if (is_fsdp(*sharding)) return "fsdp";
    return *sharding == Sharding::None ? "ddp" : "deepspeed";
  }
  return must_shard(run, accelerator, catalog) ? "fsdp" : "ddp";
}

/// The program whose bytes and overlap count where a launcher leaves sharding to another: the one that the framework's
/// name holds beside it (`HF Trainer + FSDP`), or what the stated sharding or the model's size need; nullptr where the
/// stack does it itself.
const Stack* sharder_of(const Stack& stack, const MeasuredRun& run, const Accelerator* accelerator,
                        const Catalog& catalog) {
  if (stack.tensor_parallel) return nullptr;
  const bool launcher = stack.id == "hf-trainer";
  const Phrases told(run.framework + "; " + run.shard);
  for (const char* program : {"fsdp", "deepspeed"}) {
    if (launcher && told.say(program)) return catalog.find_stack(program);
  }
  // Accelerate, which stands for FSDP otherwise, launches DeepSpeed too.
  if (stack.id == "fsdp" && told.say("deepspeed")) return catalog.find_stack("deepspeed");
  const std::optional<Sharding> sharding = stated_sharding(run);
  const bool able = !sharding || std::find(stack.shardings.begin(), stack.shardings.end(),
                                           sharding_under(stack, *sharding)) != stack.shardings.end();
  if (able && !(launcher && must_shard(run, accelerator, catalog))) return nullptr;
  return catalog.find_stack(implied_stack(run, accelerator, catalog));
}

/// Hugging Face's Trainer, whose examples leave the bucket of stage 3 to "auto".
bool is_trainer(const MeasuredRun& run) {
  constexpr std::array<std::string_view, 6> kTrainers{"hf",  "hugging face", "transformers",
                                                      "trl", "accelerate",   "trainer"};
  const Phrases framework(run.framework);
  return std::any_of(kTrainers.begin(), kTrainers.end(),
                     [&](std::string_view name) { return framework.say_word(name); });
}

/// Megatron-LM before flash attention and overlapped communication trained in fp16.
bool is_early_megatron(const Stack& stack, const MeasuredRun& run) {
  return stack.id == "megatron" && precision_in(run.dtype) == Precision::Fp16 && !run.flash_attention.value_or(false);
}

/// The trainer script of the first Qwen models runs DeepSpeed, be it on one device: stage 3 for whole models, stage 2
/// for 4-bit ones (QwenLM/Qwen, finetune/finetune_ds.sh and finetune_qlora_single_gpu.sh, 2023).
std::optional<Sharding> qwen_stage(const Stack& stack, const MeasuredRun& run, const Catalog& catalog) {
  const ModelPreset* preset = find_preset(run, catalog);
  if (stack.id != "hf-trainer" || preset == nullptr || preset->architecture.family != "qwen") return std::nullopt;
  if (run.method.empty() && !run.lora) return std::nullopt;  // not stated whether whole
  const FineTune trained = trained_part(run);
  if (trained == FineTune::Full) return Sharding::Zero3;
  return trained == FineTune::Qlora ? std::optional(Sharding::Zero2) : std::nullopt;
}

}  // namespace

Sharding sharding_under(const Stack& stack, Sharding sharding) {
  const auto offers = [&](Sharding wanted) {
    return std::find(stack.shardings.begin(), stack.shardings.end(), wanted) != stack.shardings.end();
  };
  if (offers(sharding)) return sharding;
  if (sharding == Sharding::Zero3 && offers(Sharding::FsdpFull)) return Sharding::FsdpFull;
  if (sharding == Sharding::Zero2 && offers(Sharding::FsdpGradOp)) return Sharding::FsdpGradOp;
  return sharding;
}

bool must_shard(const MeasuredRun& run, const Accelerator* accelerator, const Catalog& catalog) {
  return !stated_sharding(run) && run.n_gpus.value_or(1) > 1 && accelerator != nullptr &&
         !holds_replica(run, *accelerator, catalog);
}

std::optional<Sharding> stated_sharding(const MeasuredRun& run) {
  if (!run.shard.empty()) return sharding_in(run.shard);
  if (const auto stage = zero_stage_in(run.framework)) return stage;
  const Phrases framework(run.framework);
  if (const auto strategy = fsdp_strategy_in(run.framework)) return strategy;
  if (framework.say_word("fsdp")) return fsdp_strategy_in(run.notes).value_or(Sharding::FsdpFull);
  // Notes may compare with other programs: each has its own words.
  if (framework.say("deepspeed")) return zero_stage_said(run.notes);
  constexpr std::array<std::string_view, 2> kNotFsdp{"megatron", "nemo"};
  return framework.say_any(kNotFsdp) ? std::nullopt : fsdp_strategy_in(run.notes);
}

Result<Stack> resolve_stack(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions) {
  const Accelerator* accelerator = resolve_accelerator(run, catalog);
  const Stack* stack = named_in(run.framework, accelerator, catalog);
  if (stack == nullptr) {
    stack = catalog.find_stack(implied_stack(run, accelerator, catalog));
    if (stack == nullptr) return fail("unsupported", run.id, "no stack is known for '" + run.framework + "'");
    assumptions.push_back("framework is treated as " + stack->id);
  }
  if (const Stack* sharder = sharder_of(*stack, run, accelerator, catalog)) {
    stack = sharder;
    assumptions.push_back("states are sharded by " + stack->id);
  }
  if (const std::optional<Sharding> stage = qwen_stage(*stack, run, catalog)) {
    if (const Stack* deepspeed = catalog.find_stack("deepspeed")) {
      assumptions.emplace_back("the trainer runs on DeepSpeed, as Qwen's script does");
      Stack staged = *deepspeed;
      staged.shardings = {*stage};
      // "auto", and 2e8 (finetune/ds_config_zero3.json and ds_config_zero2.json)
      staged.reduce_bucket_elements = *stage == Sharding::Zero3 ? 0 : 2e8;
      return staged;
    }
  }
  if (is_early_megatron(*stack, run)) {
    const Stack* early = catalog.find_stack("megatron-2021");
    if (early != nullptr) stack = early;
  }
  Stack resolved = *stack;
  if (stack->deepspeed_engine && is_trainer(run) && stated_sharding(run) == Sharding::Zero3) {
    resolved.reduce_bucket_elements = 0;
  }
  return resolved;
}

}  // namespace smplan
