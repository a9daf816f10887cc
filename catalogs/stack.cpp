#include "catalogs/stack.hpp"

#include <algorithm>
#include <cmath>

#include "base/words.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<Sharding, 7> kShardings = {{{Sharding::None, "none"},
                                                {Sharding::Zero1, "zero1"},
                                                {Sharding::Zero2, "zero2"},
                                                {Sharding::Zero3, "zero3"},
                                                {Sharding::FsdpFull, "fsdp-full"},
                                                {Sharding::FsdpGradOp, "fsdp-grad-op"},
                                                {Sharding::FsdpHybrid, "fsdp-hybrid"}}};
constexpr EnumNames<Recompute, 3> kRecomputes = {
    {{Recompute::None, "none"}, {Recompute::Selective, "selective"}, {Recompute::Full, "full"}}};
constexpr EnumNames<Schedule, 4> kSchedules = {{{Schedule::GPipe, "gpipe"},
                                                {Schedule::OneFOneB, "1f1b"},
                                                {Schedule::Interleaved, "interleaved"},
                                                {Schedule::ZeroBubble, "zero-bubble"}}};
constexpr EnumNames<AttentionKernel, 3> kAttentionKernels = {
    {{AttentionKernel::Flash2, "flash2"}, {AttentionKernel::Triton, "triton"}, {AttentionKernel::Vendor, "vendor"}}};
constexpr EnumNames<Collectives, 2> kCollectives = {{{Collectives::Nccl, "nccl"}, {Collectives::Smddp, "smddp"}}};
constexpr EnumNames<RecipeFamily, 3> kRecipeFamilies = {
    {{RecipeFamily::None, "none"}, {RecipeFamily::Nemo, "nemo"}, {RecipeFamily::Adapter, "adapter"}}};

constexpr std::int64_t kMostRank = 1 << 20;
constexpr std::int64_t kMostPadding = 1 << 20;

void read_dimensions(ObjectReader& reader, Stack& stack) {
  stack.tensor_parallel = reader.boolean("tensor_parallel");
  stack.sequence_parallel = reader.boolean("sequence_parallel");
  stack.always_sequence_parallel = reader.optional_bool("always_sequence_parallel").value_or(false);
  stack.pipeline_parallel = reader.boolean("pipeline_parallel");
  stack.context_parallel = reader.boolean("context_parallel");
  stack.expert_parallel = reader.boolean("expert_parallel");
  stack.state_mixers = reader.optional_bool("state_mixers").value_or(false);
  stack.shardings = read_enums(reader, "shardings", kShardings);
  stack.recomputes = read_enums(reader, "recomputes", kRecomputes);
  stack.partial_recompute = reader.optional_bool("partial_recompute").value_or(false);
  stack.schedules = read_enums(reader, "schedules", kSchedules);
  stack.collectives = read_enums(reader, "collectives", kCollectives);
  stack.offloads = read_strings(reader, "offloads");
  stack.offloads_activations_alone = reader.optional_bool("offloads_activations_alone").value_or(false);
  stack.least_capability = static_cast<int>(std::lround(10 * read_number_or(reader, "least_capability", 0, 99, 0)));
  stack.offload_waits = reader.optional_bool("offload_waits").value_or(false);
  stack.precisions = read_strings(reader, "precisions");
}

void check_lists(const Stack& stack, const ObjectReader& reader, Diagnostics& out) {
  const auto need = [&](bool empty, std::string_view key) {
    if (empty) out.push_back({"empty-list", reader.location(key), std::string(key) + " is empty", "name at least one"});
  };
  need(stack.shardings.empty(), "shardings");
  need(stack.recomputes.empty(), "recomputes");
  need(stack.collectives.empty(), "collectives");
  need(stack.precisions.empty(), "precisions");
  need(stack.vendors.empty(), "vendors");
  need(stack.pipeline_parallel && stack.schedules.empty(), "schedules");
  for (const std::string& name : stack.precisions) {
    if (!precision_from(name)) {
      out.push_back(unknown_name("precision", name, reader.location("precisions"),
                                 {"fp32", "tf32", "fp16", "bf16", "fp8", "fp4"}));
    }
  }
  for (const std::string& name : stack.offloads) {
    const std::vector<std::string> known = {"none", "optimizer", "params", "activations", "nvme"};
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      out.push_back(unknown_name("offload", name, reader.location("offloads"), known));
    }
  }
}

void read_byte_ledger(ObjectReader& reader, Stack& stack) {
  stack.weight_bytes = reader.number("weight_bytes", 0, 16);
  stack.gradient_bytes = reader.number("gradient_bytes", 0, 16);
  stack.gradient_reduce_bytes = reader.number("gradient_reduce_bytes", 0, 16);
  stack.master_bytes = reader.number("master_bytes", 0, 16);
  stack.logits_bytes = reader.number("logits_bytes", 0, 64);
  stack.fused_logits_bytes = read_number_or(reader, "fused_logits_bytes", 0, 64, stack.logits_bytes);
  stack.parallel_logits_bytes = read_number_or(reader, "parallel_logits_bytes", 0, 64, stack.logits_bytes);
  stack.idle_logits_bytes = read_number_or(reader, "idle_logits_bytes", 0, 64, stack.idle_logits_bytes);
  stack.loss_forward_bytes = read_number_or(reader, "loss_forward_bytes", 0, 256, 0);
  stack.loss_backward_bytes = read_number_or(reader, "loss_backward_bytes", 0, 256, 0);
}

/// How jobs of it are written and started.
void read_launching(ObjectReader& reader, Stack& stack) {
  if (reader.has("hyperpod_recipe")) {
    stack.hyperpod_recipe = read_enum(reader, "hyperpod_recipe", kRecipeFamilies);
  } else {
    reader.ignore("hyperpod_recipe");
  }
  stack.smp_version = static_cast<int>(read_integer_or(reader, "smp_version", 1, 2, 0));
  stack.one_hardware_queue = reader.optional_bool("one_hardware_queue").value_or(false);
  stack.split_in_own_file = reader.optional_bool("split_in_own_file").value_or(false);
  stack.packages = read_strings(reader, "packages");
  stack.joins_adapters = reader.optional_bool("joins_adapters").value_or(false);
  stack.own_adapters = reader.optional_bool("own_adapters").value_or(false);
}

void read_alias_notes(ObjectReader& reader, Stack& stack) {
  const auto notes = reader.optional_value("alias_notes");
  if (!notes) return;
  Diagnostics& out = reader.diagnostics();
  for (const std::string& alias : notes->keys(out)) {
    if (std::find(stack.aliases.begin(), stack.aliases.end(), alias) == stack.aliases.end()) {
      out.push_back(unknown_name("alias", alias, notes->location(), stack.aliases));
    }
    stack.alias_notes.emplace_back(alias, notes->find(alias)->as_string(out));
  }
}

/// Year and month, 2602 is 2026-02; 0 where there is none.
std::int32_t read_release(ObjectReader& reader, std::string_view key) {
  return static_cast<std::int32_t>(read_integer_or(reader, key, kFirstRelease, kLastRelease, 0));
}

}  // namespace

std::string Stack::note_on(std::string_view alias) const {
  const std::string wanted = letters_and_digits(alias);
  for (const auto& [name, note] : alias_notes) {
    if (letters_and_digits(name) == wanted) return note;
  }
  return {};
}

std::string_view to_string(Sharding sharding) { return name_of(kShardings, sharding); }
std::optional<Sharding> sharding_from(std::string_view name) { return value_of(kShardings, name); }
bool is_fsdp(Sharding sharding) {
  return sharding == Sharding::FsdpFull || sharding == Sharding::FsdpGradOp || sharding == Sharding::FsdpHybrid;
}
std::string_view to_string(Recompute recompute) { return name_of(kRecomputes, recompute); }
std::optional<Recompute> recompute_from(std::string_view name) { return value_of(kRecomputes, name); }
std::string_view to_string(Schedule schedule) { return name_of(kSchedules, schedule); }
std::optional<Schedule> schedule_from(std::string_view name) { return value_of(kSchedules, name); }
std::string_view to_string(Collectives collectives) { return name_of(kCollectives, collectives); }
std::optional<Collectives> collectives_from(std::string_view name) { return value_of(kCollectives, name); }

bool Stack::is_built_for(Vendor vendor) const {
  return std::find(vendors.begin(), vendors.end(), vendor) != vendors.end();
}

bool Stack::runs_on(const Accelerator& accelerator) const {
  const int capability = accelerator.capability();
  const bool too_old = accelerator.vendor == Vendor::Nvidia && capability > 0 && capability < least_capability;
  return is_built_for(accelerator.vendor) && !too_old;
}

Stack read_stack(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  Stack stack;
  stack.id = read_name(reader, "id");
  stack.name = read_text(reader, "name");
  stack.aliases = read_strings(reader, "aliases");
  read_alias_notes(reader, stack);
  read_dimensions(reader, stack);
  stack.offers = read_offers(reader);
  stack.vendors = read_vendors(reader);
  read_byte_ledger(reader, stack);
  read_launching(reader, stack);
  stack.flash_attention = reader.optional_bool("flash_attention").value_or(true);
  stack.deepspeed_engine = reader.optional_bool("deepspeed_engine").value_or(false);
  stack.quantized_base = reader.optional_bool("quantized_base").value_or(false);
  stack.usual_lora_rank = read_integer_or(reader, "usual_lora_rank", 1, kMostRank, 16);
  stack.vocab_multiple = read_integer_or(reader, "vocab_multiple", 1, kMostPadding, 1);
  stack.torch_parallelism = reader.optional_bool("torch_parallelism").value_or(false);
  stack.placed_memory = reader.optional_bool("placed_memory").value_or(false);
  stack.copies_gathered = reader.optional_bool("copies_gathered").value_or(false);
  stack.userbuffers = reader.optional_bool("userbuffers").value_or(false);
  stack.expert_units = reader.optional_bool("expert_units").value_or(false);
  stack.loops_over_experts = reader.optional_bool("loops_over_experts").value_or(false);
  stack.loops_over_experts_before = read_release(reader, "loops_over_experts_before");
  stack.stages_by_weights = reader.optional_bool("stages_by_weights").value_or(false);
  stack.reports_rank_zero = reader.optional_bool("reports_rank_zero").value_or(false);
  stack.synchronous_zero = reader.optional_bool("synchronous_zero").value_or(false);
  stack.synchronous_reduction = reader.optional_bool("synchronous_reduction").value_or(false);
  stack.scattered_sends = reader.optional_bool("scattered_sends").value_or(false);
  stack.casts_fp32_products = reader.optional_bool("casts_fp32_products").value_or(false);
  stack.runs_like = read_optional_name(reader, "runs_like");
  stack.one_node = reader.optional_bool("one_node").value_or(false);
  stack.parameter_server = reader.optional_bool("parameter_server").value_or(false);
  stack.one_writer = reader.optional_bool("one_writer").value_or(false);
  stack.deduplicated_dispatch = reader.optional_bool("deduplicated_dispatch").value_or(false);
  if (reader.has("attention_kernel")) {
    stack.attention_kernel = read_enum(reader, "attention_kernel", kAttentionKernels);
  } else {
    reader.ignore("attention_kernel");
  }
  stack.fused_kernels = reader.optional_bool("fused_kernels").value_or(true);
  stack.adapters_share_units = reader.optional_bool("adapters_share_units").value_or(false);
  stack.whole_gradients = reader.optional_bool("whole_gradients").value_or(false);
  stack.plain_layers = reader.optional_bool("plain_layers").value_or(false);
  stack.grouped_attention = reader.optional_bool("grouped_attention").value_or(false);
  stack.grouped_attention_since = read_release(reader, "grouped_attention_since");
  stack.transformers_layers = reader.optional_bool("transformers_layers").value_or(false);
  stack.autocast = reader.optional_bool("autocast").value_or(false);
  stack.fused_qkv = reader.optional_bool("fused_qkv").value_or(false);
  stack.liger_kernels = reader.optional_bool("liger_kernels").value_or(false);
  stack.checkpoint_stops_early = reader.optional_bool("checkpoint_stops_early").value_or(false);
  stack.fused_optimizer = reader.optional_bool("fused_optimizer").value_or(false);
  stack.fused_optimizer_since = read_release(reader, "fused_optimizer_since");
  stack.adapter_dropout = reader.optional_bool("adapter_dropout").value_or(false);
  stack.casts_beside_four_bits = reader.optional_bool("casts_beside_four_bits").value_or(false);
  stack.adapter_copies = reader.optional_bool("adapter_copies").value_or(false);
  stack.lightning_quantization = reader.optional_bool("lightning_quantization").value_or(false);
  stack.supported_for_planning = reader.optional_bool("supported_for_planning").value_or(true);
  stack.supported_for_fine_tuning = reader.optional_bool("supported_for_fine_tuning").value_or(false);
  if (reader.has("usual_from_parameters")) {
    stack.usual_from_parameters = reader.number("usual_from_parameters", 0, 1e15);
  } else {
    reader.ignore("usual_from_parameters");
  }
  stack.versions = reader.optional_string("versions").value_or("");
  stack.limitation = reader.optional_string("limitation").value_or("");
  if (const auto profile = reader.optional_value("profile")) stack.profile = read_stack_profile(*profile, out);
  stack.provenance = read_provenance(reader);
  reader.finish();
  check_lists(stack, reader, out);
  return stack;
}

}  // namespace smplan
