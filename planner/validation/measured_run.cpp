#include "planner/validation/measured_run.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/csv_cells.hpp"
#include "base/words.hpp"

namespace smplan {
namespace {

// Beyond any machine or model, and small enough that no product of a few overflows.
constexpr double kMostLayers = 10'000;
constexpr double kMostWidth = 1 << 24;
constexpr double kMostHeads = 1 << 16;
constexpr double kMostExperts = 100'000;
constexpr double kMostTokens = 100'000'000;
constexpr double kMostSequences = 1'000'000'000;
constexpr double kMostRanks = 1'000'000;
constexpr double kMostDevices = 64;  // of one chip
constexpr double kMostNetwork = 1e7;

using Names = std::pair<std::string_view, std::string_view>;

/// What other tables call a column.
constexpr auto kOtherNames = std::to_array<Names>({
    {"micro_batch", "batch"},
    {"micro_batch", "micro_batch_size"},
    {"recompute", "grad_ckpt"},
    {"peak_mem_gib_per_gpu", "peak_mem_gib"},
    {"instance", "instance_type"},
    {"gpu", "accelerator"},
    {"dtype", "precision"},
    {"method", "finetune"},
    {"dp", "data_parallel"},
    {"tp", "tensor_parallel"},
    {"pp", "pipeline_parallel"},
    {"vpp", "virtual_pipeline"},
    {"cp", "context_parallel"},
    {"ep", "expert_parallel"},
    {"etp", "expert_tensor_parallel"},
    {"sharding", "shard"},
    {"sharding", "zero_stage"},
    {"global_batch", "global_batch_size"},
    {"grad_accum", "gradient_accumulation"},
});

/// What `smplan plan --format csv` calls its columns; elsewhere `data` may name a data set.
bool is_plan(const CsvTable& table) { return table.column("tensor") && table.column("pipeline"); }

/// For people: where a row's figures come from.
constexpr std::string_view kReference = "source_ref";

/// Where a column stands under its own name or, lacking that, under another.
std::optional<std::size_t> position(const CsvTable& table, std::string_view column) {
  std::optional<std::size_t> index = table.column(column);
  for (const auto& [name, other] : kOtherNames) {
    if (!index && name == column) index = table.column(other);
  }
  if (index || !is_plan(table)) return index;
  for (const DimensionRow& row : dimensions()) {
    if (row.keyword == column) index = table.column(row.column);
  }
  return index;
}

/// Letters and digits of a name, and what it means.
template <typename T, std::size_t N>
std::optional<T> synonym(const std::array<std::pair<std::string_view, T>, N>& names, std::string_view word) {
  const std::string letters = letters_and_digits(word);
  for (const auto& [name, value] : names) {
    if (name == letters) return value;
  }
  return std::nullopt;
}

/// What the allocator calls active are the blocks that tensors hold; reserved ones were once called cached.
std::optional<MemoryKind> memory_kind_from(std::string_view word) {
  using enum MemoryKind;
  constexpr auto kNames = std::to_array<std::pair<std::string_view, MemoryKind>>({
      {"allocated", Allocated},
      {"maxallocated", Allocated},
      {"maxmemoryallocated", Allocated},
      {"torchcudamaxmemoryallocated", Allocated},
      {"active", Allocated},
      {"peakactive", Allocated},
      {"reserved", Reserved},
      {"maxreserved", Reserved},
      {"maxmemoryreserved", Reserved},
      {"torchcudamaxmemoryreserved", Reserved},
      {"cached", Reserved},
      {"device", Device},
      {"nvidiasmi", Device},
      {"smi", Device},
      {"nvml", Device},
  });
  return synonym(kNames, word);
}

std::optional<FlopsKind> flops_kind_from(std::string_view word) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, FlopsKind>>({{"model", FlopsKind::Model},
                                                                                 {"mfu", FlopsKind::Model},
                                                                                 {"hardware", FlopsKind::Hardware},
                                                                                 {"hfu", FlopsKind::Hardware}});
  return synonym(kNames, word);
}

std::optional<NetworkKind> network_from(std::string_view word) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, NetworkKind>>({
      {"efa", NetworkKind::Efa},
      {"infiniband", NetworkKind::Infiniband},
      {"ib", NetworkKind::Infiniband},
      {"roce", NetworkKind::RoCE},
      {"omnipath", NetworkKind::OmniPath},
      {"opa", NetworkKind::OmniPath},
      {"ethernet", NetworkKind::Ethernet},
      {"tcp", NetworkKind::Ethernet},
  });
  return synonym(kNames, word);
}

/// Whether a gate stands beside the up projection.
std::optional<bool> gate_from(std::string_view word) {
  constexpr auto kPlain = std::to_array<std::string_view>({"gelu", "relu", "silu"});
  constexpr auto kGated = std::to_array<std::string_view>({"swiglu", "geglu", "reglu", "glu"});
  if (std::find(kGated.begin(), kGated.end(), word) != kGated.end()) return true;
  return std::find(kPlain.begin(), kPlain.end(), word) != kPlain.end() ? std::optional(false) : std::nullopt;
}

std::optional<TrainedPart> trained_from(std::string_view word) {
  constexpr auto kAll = std::to_array<std::pair<std::string_view, FineTune>>({{"full", FineTune::Full},
                                                                              {"sft", FineTune::Full},
                                                                              {"fft", FineTune::Full},
                                                                              {"finetuning", FineTune::Full},
                                                                              {"fullfinetuning", FineTune::Full},
                                                                              {"pretrain", FineTune::Full},
                                                                              {"pretraining", FineTune::Full},
                                                                              {"lora", FineTune::Lora},
                                                                              {"qlora", FineTune::Qlora}});
  if (const auto mode = synonym(kAll, word)) return TrainedPart{*mode};
  const AdapterMethod* adapters = adapter_method(word);
  return adapters == nullptr ? std::nullopt : std::optional(TrainedPart{FineTune::Lora, adapters});
}

/// Of a distillation nobody states the teacher.
std::optional<const TrainingLoss*> loss_from(std::string_view word) {
  if (word == "sft") return nullptr;
  const TrainingLoss* loss = training_loss(word);
  return loss != nullptr && loss->frozen != FrozenModel::Teacher ? std::optional(loss) : std::nullopt;
}

/// Whether frozen weights of that format have 4 bits.
std::optional<bool> four_bits_from(std::string_view word) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, bool>>({{"nf4", true},
                                                                            {"fp4", true},
                                                                            {"int4", true},
                                                                            {"4bit", true},
                                                                            {"gptq", true},
                                                                            {"awq", true},
                                                                            {"none", false},
                                                                            {"no", false},
                                                                            {"16", false},
                                                                            {"16bit", false},
                                                                            {"bf16", false},
                                                                            {"fp16", false}});
  return synonym(kNames, word);
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

/// The names of enumerators from the first to the last.
template <typename T>
std::string names_up_to(T last) {
  std::vector<std::string> names;
  for (int v = 0; v <= static_cast<int>(last); ++v) names.emplace_back(to_string(static_cast<T>(v)));
  return "one of " + joined(names);
}

/// A member of the strategy or its execution; of words that are switches any word for on and off. nullopt: not stated,
/// or left to the framework.
std::optional<std::int32_t> read_dimension(CsvCells& in, const DimensionRow& row) {
  if (row.kind == DimensionRow::Kind::Degree) {
    const auto value = in.positive(row.keyword, row.most);
    return value ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
  }
  if (row.kind == DimensionRow::Kind::Switch) {
    const std::optional<bool> on = in.flag(row.keyword);
    return on ? std::optional(dimension_value(*on)) : std::nullopt;
  }
  const auto parse = [&](std::string_view cell) {
    const std::optional<std::int32_t> value = row.words->parse(cell);
    const std::optional<bool> on = value ? std::nullopt : switch_from(cell);
    return on ? row.words->parse(*on ? "on" : "off") : value;
  };
  const std::optional<std::int32_t> value = in.named(row.keyword, parse, "one of " + joined(row.names()));
  return row.of_execution && value == 0 ? std::nullopt : value;
}

/// `bf16-true` of Lightning keeps weights in 16 bits too; `ieee` is torch.backends' word for products that are not
/// TF32.
std::optional<Precision> read_precision(CsvCells& in, MeasuredRun& run) {
  Strategy& s = run.strategy;
  const auto parse = [&](std::string_view cell) {
    if (letters_and_digits(cell) == "fp32ieee") {
      run.ieee_fp32 = true;
      return std::optional(Precision::Fp32);
    }
    if (const auto value = precision_from(cell)) return value;
    const PrecisionWord* word = precision_word(cell);
    if (word == nullptr) return std::optional<Precision>();
    if (word->pure_half) s.execution.pure_half = Toggle::On;
    return std::optional(word->precision);
  };
  return in.named("dtype", parse, names_up_to(Precision::Fp4));
}

/// Names of PyTorch's and TrainingArguments' optimizers say whether the update is one kernel.
std::optional<Optimizer> read_optimizer(CsvCells& in, MeasuredRun& run) {
  const auto parse = [&](std::string_view cell) {
    const std::string letters = letters_and_digits(cell);
    if (letters.find("fused") != std::string::npos) run.strategy.execution.fused_optimizer = Toggle::On;
    if (letters.find("paged") != std::string::npos) run.strategy.execution.paged_optimizer = Toggle::On;
    if (letters == "adamwtorch") run.strategy.execution.fused_optimizer = Toggle::Off;
    return optimizer_from(cell);
  };
  return in.named("optimizer", parse, names_up_to(Optimizer::Lamb));
}

void read_model(CsvCells& in, StatedModel& m) {
  m.name = in.text("model");
  m.params_b = in.number("params_b");
  m.kind = in.named("kind", model_kind_from, names_up_to(ModelKind::Vision));
  m.gated_mlp = in.named("mlp", gate_from, "gelu, relu, swiglu or geglu");
  m.tied_embeddings = in.flag("tied_embeddings");
  m.n_layers = in.positive("n_layers", kMostLayers);
  m.n_encoder_layers = in.positive("n_encoder_layers", kMostLayers);
  m.hidden = in.positive("hidden", kMostWidth);
  m.ffn_hidden = in.positive("ffn_hidden", kMostWidth);
  m.n_heads = in.positive("n_heads", kMostHeads);
  m.n_kv_heads = in.positive("n_kv_heads", kMostHeads);
  m.head_dim = in.positive("head_dim", kMostHeads);
  m.vocab = in.positive("vocab", kMostWidth);
  m.n_experts = in.integer("n_experts", kMostExperts);
  m.top_k = in.integer("top_k", kMostExperts);
  m.expert_ffn_hidden = in.integer("expert_ffn_hidden", kMostWidth);
}

/// `quant` and `lora` are older tables' words for the method.
void read_method(CsvCells& in, MeasuredRun& run) {
  run.trained = in.named("method", trained_from, "full, lora, qlora or a method of PEFT");
  const std::optional<bool> lora = in.flag("lora");
  if (!run.trained && lora) run.trained = TrainedPart{*lora ? FineTune::Lora : FineTune::Full};
  run.lora_rank = in.positive("lora_rank", kMostWidth);
  run.lora_targets =
      in.named("lora_targets", linear_layers_from, "names such as q_proj joined by +, query-value, attention or all");
  run.lora_embeddings = in.flag("lora_embeddings");
  run.virtual_tokens = in.positive("virtual_tokens", kMostTokens);
  run.trained_layers = in.named("trained_layers", trained_layers_from, "last:8, first:8, 16-23 or head");
  run.loss = in.named("loss", loss_from, "sft, dpo, orpo, simpo, cpo, kto or reward").value_or(nullptr);
  run.reference = in.named("reference", reference_from, "copy, adapters or precomputed");
  run.fp32_adapters = in.named("adapter_dtype", precision_from, "fp32, or nothing") == Precision::Fp32;
  if (!run.trained && (run.lora_rank || run.lora_targets)) run.trained = TrainedPart{FineTune::Lora};
  const std::optional<bool> four_bits = in.named("quant", four_bits_from, "nf4, int4, none or bf16");
  if (!four_bits.value_or(false)) return;
  if (!run.trained) run.trained.emplace();
  run.trained->mode = FineTune::Qlora;
}

void read_work(CsvCells& in, MeasuredRun& run) {
  run.seq_len = in.positive("seq_len", kMostTokens);
  run.mean_seq_len = in.positive("mean_seq_len", kMostTokens);
  run.packing = in.flag("packing");
  run.global_batch = in.positive("global_batch", kMostSequences);
  run.grad_accum = in.positive("grad_accum", kMostSequences);
  run.precision = read_precision(in, run);
  run.program = in.named("program", program_from, "tuned, or user").value_or(Program::Unknown);
  run.optimizer = read_optimizer(in, run);
  read_method(in, run);
}

void read_machine(CsvCells& in, StatedMachine& m) {
  m.gpu = in.text("gpu");
  m.instance = in.text("instance");
  m.n_gpus = in.positive("n_gpus", kMostRanks);
  m.gpus_per_node = in.positive("gpus_per_node", kMostRanks);
  m.internode_gbps_per_node = in.number("internode_gbps_per_node", kMostNetwork);
  m.network = in.named("network", network_from, "efa, infiniband, roce, omni-path or ethernet");
}

void read_measured(CsvCells& in, MeasuredRun& run) {
  run.step_time_s = in.number("step_time_s");
  run.tokens_per_s_per_gpu = in.number("tokens_per_s_per_gpu");
  run.samples_per_s = in.number("samples_per_s");
  run.tflops_per_gpu = in.number("tflops_per_gpu");
  run.mfu_pct = in.number("mfu_pct");
  run.hfu_pct = in.number("hfu_pct");
  run.peak_mem_gib_per_gpu = in.number("peak_mem_gib_per_gpu");
  run.data_s = in.number("data_s");
  run.forward_s = in.number("forward_s");
  run.backward_s = in.number("backward_s");
  run.optimizer_s = in.number("optimizer_s");
  run.ran_out = in.flag("oom");
}

MeasuredRun read_run(CsvColumns& columns, const CsvRow& row, std::string_view where) {
  CsvCells in(columns, row, where);
  MeasuredRun run;
  run.line = row.line;
  run.id = in.text("id");
  run.source = in.text("source");
  read_model(in, run.model);
  read_work(in, run);
  read_machine(in, run.machine);
  run.devices_per_gpu = in.positive("devices_per_gpu", kMostDevices).value_or(1);
  run.stack = in.text("stack");
  run.framework = in.text("framework");
  for (const DimensionRow& dimension : dimensions()) {
    const std::optional<std::int32_t> value = read_dimension(in, dimension);
    if (!value) continue;
    dimension.set(run.strategy, *value);
    run.stated_dimensions[static_cast<std::size_t>(dimension.dimension)] = true;
  }
  // The export of a plan gives each rank its share of the host, so that an empty cell of a plan says so.
  if (columns.at("tensor") && columns.at("pipeline")) {
    run.stated_dimensions[static_cast<std::size_t>(Dimension::HostThreads)] = true;
  }
  // Who names the kernel in the column of the switch says both.
  const DimensionRow& kernel = row_of(Dimension::AttentionKernel);
  const std::optional<std::int32_t> named = kernel.words->parse(in.text("flash_attention"));
  if (named && !run.states(kernel.dimension)) {
    kernel.set(run.strategy, *named);
    run.stated_dimensions[static_cast<std::size_t>(kernel.dimension)] = true;
  }
  run.memory_kind =
      in.named("mem_kind", memory_kind_from, "allocated, reserved or device").value_or(MemoryKind::Unstated);
  run.flops_kind = in.named("tflops_kind", flops_kind_from, "model or hardware").value_or(FlopsKind::Model);
  CsvCells measured(columns, row, where);
  read_measured(measured, run);
  run.measured_faults = std::move(measured.faults);
  run.faults = std::move(in.faults);
  return run;
}

}  // namespace

std::string_view to_string(MemoryKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"unknown", "allocated", "reserved", "device"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(FlopsKind kind) { return kind == FlopsKind::Hardware ? "hardware" : "model"; }

Result<std::vector<MeasuredRun>> read_measured_runs(const CsvTable& table, std::string_view where) {
  if (!table.column("id")) {
    const bool one = table.header.size() == 1 && table.header[0].find_first_of(";\t|") != std::string::npos;
    return fail("missing-column", std::string(where), "there is no column 'id'",
                one ? "the columns are not parted by commas: save the table as comma-separated values"
                    : "the first line must name the columns; docs/validation.md lists them");
  }
  CsvColumns columns(table, position);
  std::vector<MeasuredRun> runs;
  runs.reserve(table.rows.size());
  for (const CsvRow& row : table.rows) runs.push_back(read_run(columns, row, where));
  return runs;
}

std::vector<UnreadColumn> unread_columns(const CsvTable& table) {
  CsvColumns columns(table, position);
  read_run(columns, {}, {});
  std::set<std::size_t> read;
  std::vector<std::string> known;
  for (const auto& [column, at] : columns.asked()) {
    known.emplace_back(column);
    if (at) read.insert(*at);
  }
  if (const auto reference = columns.at(kReference)) read.insert(*reference);
  std::vector<UnreadColumn> unread;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (read.contains(i)) continue;
    const std::vector<std::string> nearest = nearest_names(table.header[i], known, 1);
    // Slips rarely begin with the first letter; other words that look alike are no help.
    const bool slip = !nearest.empty() && !table.header[i].empty() && nearest[0][0] == table.header[i][0];
    unread.push_back({table.header[i], slip ? nearest[0] : std::string()});
  }
  return unread;
}

}  // namespace smplan
