#include "planner/request/request.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json_reader.hpp"
#include "base/words.hpp"
#include "catalogs/fine_tuning_method.hpp"
#include "catalogs/hf_config.hpp"
#include "catalogs/model_names.hpp"
#include "models/layers/adapters.hpp"
#include "models/layers/layers.hpp"
#include "planner/request/defaults.hpp"
#include "planner/request/fields.hpp"
#include "planner/request/resolver.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kMaxSeqLen = std::int64_t{1} << 24;
constexpr std::int64_t kMaxGlobalBatch = std::int64_t{1} << 24;
constexpr std::int64_t kMaxLoraRank = 65536;
constexpr std::int64_t kMostAdapters = 10'000;
constexpr std::int64_t kMostVirtualTokens = 10'000;
constexpr std::int64_t kMaxTop = 1000;

const std::vector<std::string> kPrecisionNames{"bf16", "fp16", "fp8", "fp4", "tf32", "fp32"};

const std::vector<std::string> kFinetuneNames{"full", "lora", "qlora"};
const std::vector<std::string> kTargetNames{"linear", "non-expert", "attention", "query-value"};
const std::vector<std::string> kReferenceNames{"copy", "adapters", "precomputed"};
const std::vector<std::string> kObjectiveNames{"cost", "time", "balanced", "pareto"};

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const Optimizer o : {Optimizer::AdamW, Optimizer::Adam8bit, Optimizer::SgdMomentum, Optimizer::Lion,
                            Optimizer::Adafactor, Optimizer::Muon, Optimizer::Lamb}) {
    names.emplace_back(to_string(o));
  }
  return names;
}

const std::string kUsualFormat = "number format bf16, fp16 on devices without bf16 units (V100, T4)";

}  // namespace

Result<PlanRequest> resolve(const RequestSpec& spec, const Catalog& catalog,
                            const std::optional<std::string>& environment_region, Purpose purpose,
                            std::optional<Instant> now) {
  return Resolver(spec, catalog, purpose, now).run(environment_region);
}

Result<PlanRequest> Resolver::run(const std::optional<std::string>& environment_region) {
  read_model();
  read_formats();
  if (has_model_) read_work();
  read_market(environment_region);
  read_counts();
  read_instances();
  read_recovery();
  read_stacks();
  default_precision();
  read_dimensions();
  fit_recovery();
  if (faults_.empty()) execute_stacks();
  adapt_layers();
  read_limits();
  read_operation();
  if (purpose_ == Purpose::Estimate) check_estimate();
  if (!faults_.empty()) return tl::unexpected<Diagnostics>(std::move(faults_));
  return std::move(request_);
}

std::string market_list(const PlanRequest& request) {
  std::string list;
  for (const Market market : request.markets) list += (list.empty() ? "" : ",") + std::string(to_string(market));
  return list;
}

/// Frameworks without bf16 take the first format that they offer.
void Resolver::default_precision() {
  const auto offers_bf16 = [](const Stack* stack) {
    const auto& offered = stack->precisions;
    return std::find(offered.begin(), offered.end(), "bf16") != offered.end();
  };
  const auto& stacks = request_.stacks;
  if (!request_.precision_defaulted || stacks.empty() || std::any_of(stacks.begin(), stacks.end(), offers_bf16)) return;
  if (stacks.front()->precisions.empty()) return;
  const auto first = precision_from(stacks.front()->precisions.front());
  if (!first) return;
  request_.workload.precision = *first;
  request_.precision_defaulted = false;
  std::erase(request_.assumptions, kUsualFormat);
  assume(fmt::format("number format {}: {} has no bf16", to_string(*first), stacks.front()->name));
}

/// Plans of several frameworks share a workload: where these differ, it has the most adapters that one of them trains.
void Resolver::adapt_layers() {
  Workload& w = request_.workload;
  if (w.finetune == FineTune::Full || request_.stacks.empty()) return;
  std::int64_t most = -1;
  for (const Stack* stack : request_.stacks) {
    Lora lora = w.lora;
    lora.layers = adapted_layers_of(w.architecture, *stack);
    const std::int64_t parameters = lora_parameters(w.architecture, lora);
    if (parameters <= most) continue;
    most = parameters;
    w.lora = lora;
  }
  if (!w.architecture.is_moe() && w.lora.targets == LoraTargets::NonExpert) w.lora.targets = LoraTargets::Linear;
  if (w.lora.layers.experts == ExpertAdapters::None && w.lora.targets == LoraTargets::Linear) {
    assume("PEFT adapts no routed expert of this model: adapters are on its other linear layers");
  }
}

void Resolver::read_model() {
  const std::array<std::pair<const char*, const Text*>, 4> sources{{{"--params", &spec_.params},
                                                                    {"--model", &spec_.model},
                                                                    {"--hf-config", &spec_.hf_config},
                                                                    {"--arch", &spec_.arch}}};
  std::string given;
  int n_given = 0;
  for (const auto& source : sources) {
    if (!source.second->has_value()) continue;
    given += (n_given++ > 0 ? " and " : "") + std::string(source.first);
  }
  if (n_given == 0) {
    add("no-model", "--params", "the request names no model", "give one of --params, --model, --hf-config, --arch");
    return;
  }
  if (n_given > 1) {
    add("conflict", given, "the model is given " + std::to_string(n_given) + " times",
        "give exactly one of --params, --model, --hf-config, --arch");
    return;
  }
  if (spec_.params) {
    const auto size = take(parse_count(*spec_.params, "--params"), faults_);
    if (!size) return;
    Result<Architecture> architecture = architecture_of_size(*size);
    if (!architecture) {
      for (Diagnostic d : architecture.error()) {
        if (d.location.empty()) d.location = "--params";
        faults_.push_back(std::move(d));
      }
      return;
    }
    const std::string name = architecture->name;
    use_architecture(std::move(*architecture), fmt::format("{} parameters are taken to be {}", *spec_.params, name));
  } else if (spec_.model) {
    const auto preset = take(catalog_.model(*spec_.model, "--model"), faults_);
    if (preset) use_architecture((*preset)->architecture, {});
    if (preset) use_weights(*spec_.model, **preset);
  } else if (spec_.hf_config) {
    const auto config = take(read_hf_config_file(*spec_.hf_config), faults_);
    if (!config) return;
    auto architecture = take(read_hf_config(*config), faults_);
    if (architecture) use_architecture(std::move(*architecture), {});
  } else {
    // Its text, where it comes out of another file.
    const bool is_text = spec_.arch->starts_with('{');
    const auto file = take(is_text ? parse_json(*spec_.arch, "--arch") : read_json_file(*spec_.arch), faults_);
    if (!file) return;
    const std::size_t before = faults_.size();
    Architecture architecture = read_architecture(*file, faults_);
    if (faults_.size() == before) use_architecture(std::move(architecture), {});
  }
}

/// A preset stands for all models of its widths; which one's weights are trained on, the name tells.
void Resolver::use_weights(const std::string& name, const ModelPreset& preset) {
  if (is_hub_name(name)) {
    request_.weights = name;
    return;
  }
  const std::string plain = plain_model_name(name);
  const bool own = plain == plain_model_name(preset.architecture.name) ||
                   std::any_of(preset.aliases.begin(), preset.aliases.end(),
                               [&](const std::string& alias) { return plain_model_name(alias) == plain; });
  if (own) return;
  assume(
      fmt::format("{} is taken for its widths, those of {}: exports name that model's weights (give the hub's name, "
                  "organisation/name, for others)",
                  quote(name), preset.architecture.name));
}

void Resolver::use_architecture(Architecture architecture, std::string assumption) {
  preset_ = catalog_.find_model(architecture.name);
  if (!assumption.empty()) {
    assume(fmt::format("{}: {} layers of width {}, {} parameters", assumption, architecture.n_layers,
                       architecture.hidden, format_count(static_cast<double>(count_parameters(architecture).total()))));
  }
  request_.workload.architecture = std::move(architecture);
  has_model_ = true;
}

/// One of smplan's names, or a framework's word, which is taken and said.
void Resolver::read_precision(const std::string& text) {
  Workload& w = request_.workload;
  if (const PrecisionWord* word = precision_word(text)) {
    w.precision = word->precision;
    if (word->pure_half) request_[Dimension::PureHalf].only({Toggle::On});
    assume(fmt::format("--dtype {} is taken as {}{}{}", trim(text), to_string(word->precision),
                       word->note.empty() ? "" : ": ", word->note));
    return;
  }
  const auto p = parse_name(text, "number format", "--dtype", kPrecisionNames, precision_from, faults_);
  if (p) w.precision = *p;
}

void Resolver::read_formats() {
  Workload& w = request_.workload;
  if (spec_.dtype) {
    read_precision(*spec_.dtype);
  } else {
    request_.precision_defaulted = true;
    assume(kUsualFormat);
  }
  if (spec_.optimizer) {
    const auto o = parse_name(*spec_.optimizer, "optimizer", "--optimizer", optimizer_names(), optimizer_from, faults_);
    if (o) w.optimizer = *o;
  } else {
    assume("optimizer adamw");
  }
  if (spec_.finetune) {
    const auto f =
        parse_name(*spec_.finetune, "fine-tuning mode", "--finetune", kFinetuneNames, finetune_from, faults_);
    if (f) w.finetune = *f;
    w.fine_tunes = true;
  }
  if (spec_.lora_embeddings) {
    w.lora.train_embeddings = parse_switch(*spec_.lora_embeddings, "--lora-embeddings", faults_).value_or(false);
  }
  if (w.finetune == FineTune::Full && w.lora.train_embeddings) {
    add("conflict", "--lora-embeddings", "full training trains embedding and head anyway",
        "add --finetune lora or --finetune qlora");
  }
  read_trained_layers();
  read_loss();
  if (spec_.lora_targets) {
    const auto targets = parse_name(*spec_.lora_targets, "targets of adapters", "--lora-targets", kTargetNames,
                                    lora_targets_from, faults_);
    if (targets) w.lora.targets = *targets;
    if (w.finetune == FineTune::Full) {
      add("conflict", "--lora-targets", "targets of adapters without adapters",
          "add --finetune lora or --finetune qlora");
    }
  }
  read_adapters();
  if (spec_.lora_rank) {
    const auto rank = parse_bounded(*spec_.lora_rank, "--lora-rank", 1, kMaxLoraRank, faults_);
    if (rank) w.lora.rank = *rank;
    if (w.finetune == FineTune::Full) {
      add("conflict", "--lora-rank", "a LoRA rank without LoRA", "add --finetune lora or --finetune qlora");
    }
  }
  read_prompt();
  if (spec_.adapter_count) {
    const auto count = parse_bounded(*spec_.adapter_count, "--adapter-count", 1, kMostAdapters, faults_);
    if (count) w.lora.count = *count;
    if (w.finetune == FineTune::Full) {
      add("conflict", "--adapter-count", "several adapters without adapters",
          "add --finetune lora or --finetune qlora");
    }
  }
  if (has_model_) weigh_adapters();
}

/// Virtual tokens of a method that trains them: what LoRA says of layers says nothing of these.
void Resolver::read_prompt() {
  Workload& w = request_.workload;
  if (!w.lora.trains_prompt()) {
    if (!spec_.virtual_tokens) return;
    add("conflict", "--virtual-tokens", "no virtual tokens are trained",
        "add --finetune lora --adapters prompt_tuning, ptuning or prefixtuning");
    return;
  }
  const std::array<std::pair<const char*, const Text*>, 3> of_layers{{{"--lora-rank", &spec_.lora_rank},
                                                                      {"--lora-targets", &spec_.lora_targets},
                                                                      {"--lora-embeddings", &spec_.lora_embeddings}}};
  for (const auto& [flag, text] : of_layers) {
    if (!text->has_value()) continue;
    add("conflict", flag, fmt::format("{} adapts no layer", w.lora.method->name), "leave it out");
  }
  if (spec_.virtual_tokens) {
    const auto n = parse_bounded(*spec_.virtual_tokens, "--virtual-tokens", 1, kMostVirtualTokens, faults_);
    if (n) w.lora.virtual_tokens = *n;
  } else {
    w.lora.virtual_tokens = kUsualVirtualTokens;
    assume(fmt::format("{} virtual tokens", kUsualVirtualTokens));
  }
}

/// Freezing goes on from weights that exist. What the model has is checked with the workload.
void Resolver::read_trained_layers() {
  if (!spec_.trained_layers) return;
  Workload& w = request_.workload;
  w.trained_layers = trained_layers_from(trim(*spec_.trained_layers));
  w.fine_tunes = true;
  if (w.trained_layers) {
    // A range that goes to the end is that of the last blocks.
    TrainedLayers& t = *w.trained_layers;
    const std::int64_t blocks = w.architecture.n_layers;
    if (!has_model_ || !t.from || *t.from >= blocks) return;
    if (trim(*spec_.trained_layers).find("-+") != std::string::npos || trim(*spec_.trained_layers).ends_with('-')) {
      t.blocks = blocks - *t.from;
    }
    if (*t.from > 0 && *t.from + t.blocks == blocks) t.from.reset();
    return;
  }
  add("bad-value", "--trained-layers", fmt::format("{} names no part of a model", quote(*spec_.trained_layers)),
      "give blocks, embedding or head: last:8, first:8, 16-23, last:8+head, head");
}

/// The kind of adapters, where it is not LoRA's.
void Resolver::read_adapters() {
  Workload& w = request_.workload;
  if (!spec_.adapters) return;
  const std::vector<std::string> known = planned_adapters();
  const AdapterMethod* method = adapter_method(*spec_.adapters);
  if (method == nullptr || std::find(known.begin(), known.end(), method->name) == known.end()) {
    faults_.push_back(unknown_name("kind of adapters", *spec_.adapters, "--adapters", known));
    return;
  }
  if (w.finetune == FineTune::Full) {
    add("conflict", "--adapters", "a kind of adapters without adapters", "add --finetune lora or --finetune qlora");
  }
  if (method->name != "lora") w.lora.method = method;
}

/// What adapters other than LoRA's keep and move, which is counted for layers of attention and one MLP.
void Resolver::weigh_adapters() {
  Workload& w = request_.workload;
  const AdapterMethod* method = w.lora.method;
  if (method == nullptr) return;
  if (method->needs_half && w.finetune == FineTune::Qlora) {
    add("conflict", "--adapters", fmt::format("{} starts from weights in 16 bits, not in 4", method->name),
        "use --finetune lora, or --adapters lora");
  }
  if (method->is_lora()) return;
  const Architecture& a = w.architecture;
  if (w.lora.trains_prompt()) {
    const bool keys = w.lora.method->prompt.keys > 0;
    const bool cached = !a.has_latent_attention() && !a.has_state_mixer() && a.global == GlobalAttention{} &&
                        a.shared_key_values.n_layers == 0;
    if (a.kind == ModelKind::Vision || a.kind == ModelKind::EncoderDecoder || (keys && !cached)) {
      add("unsupported", "--adapters",
          fmt::format("what {} puts before the sequences of {} is not modelled", w.lora.method->name, a.name),
          "use --adapters lora");
      return;
    }
    weigh_adapters_of(w);
    return;
  }
  if (a.is_moe() || a.has_latent_attention() || a.has_state_mixer() || a.kind == ModelKind::EncoderDecoder ||
      !(a.global == GlobalAttention{}) || a.shared_key_values.n_layers > 0) {
    add("unsupported", "--adapters",
        fmt::format("what {} does is counted for equal layers of plain attention and one MLP, and {} has others",
                    method->name, a.name),
        "use --adapters lora");
    return;
  }
  weigh_adapters_of(w);
}

/// The loss, and the frozen model that it compares with.
void Resolver::read_loss() {
  Workload& w = request_.workload;
  if (w.finetune != FineTune::Full) w.reference = Reference::Adapters;
  if (spec_.loss && letters_and_digits(*spec_.loss) != "sft") {
    w.loss = training_loss(*spec_.loss);
    if (w.loss == nullptr) {
      std::vector<std::string> known = loss_names();
      known.insert(known.begin(), "sft");
      faults_.push_back(unknown_name("loss", *spec_.loss, "--loss", known));
    }
    w.fine_tunes = true;
  }
  const FrozenModel frozen = w.loss != nullptr ? w.loss->frozen : FrozenModel::None;
  if (spec_.reference) {
    const auto r = parse_name(*spec_.reference, "reference", "--reference", kReferenceNames, reference_from, faults_);
    if (r) w.reference = *r;
    if (frozen != FrozenModel::Reference) {
      add("conflict", "--reference", "this loss compares with no reference", "leave it out, or give --loss dpo");
    } else if (r == Reference::Adapters && w.finetune == FineTune::Full) {
      add("conflict", "--reference", "full training has no adapters to switch off", "use copy or precomputed");
    }
  }
  if (frozen != FrozenModel::Teacher) {
    if (spec_.teacher) {
      add("conflict", "--teacher", "this loss has no teacher", "leave it out, or give --loss distillation");
    }
    return;
  }
  if (!spec_.teacher) {
    add("no-model", "--teacher", "a distillation needs the model that it learns from", "name one: --teacher MODEL");
    return;
  }
  const auto teacher = take(catalog_.model(*spec_.teacher, "--teacher"), faults_);
  if (teacher) w.teacher = (*teacher)->architecture;
}

void Resolver::read_work() {
  Workload& w = request_.workload;
  const std::size_t before = faults_.size();
  if (spec_.seq_len) {
    const auto n = parse_bounded_length(*spec_.seq_len, "--seq-len", 1, kMaxSeqLen, faults_);
    if (n) w.seq_len = *n;
    const Result<double> decimal = parse_count(*spec_.seq_len, "--seq-len");
    if (n && (!decimal || *decimal != static_cast<double>(*n))) {
      assume(fmt::format("--seq-len {} is taken as {}", trim(*spec_.seq_len), *n));
    }
  } else {
    w.seq_len = default_seq_len(w.architecture, preset_ != nullptr ? preset_->default_seq_len : 0);
    assume(fmt::format("sequence length {}", w.seq_len));
  }
  if (spec_.mean_seq_len) {
    const auto n = parse_bounded_length(*spec_.mean_seq_len, "--mean-seq-len", 1, kMaxSeqLen, faults_);
    if (n && *n != w.seq_len) w.mean_seq_len = *n;
  }
  w.set_lengths({w.seq_len, w.mean_seq_len});
  if (spec_.tokens) {
    if (const auto n = take(parse_count(*spec_.tokens, "--tokens"), faults_)) w.tokens = *n;
  } else if (w.fine_tunes) {
    w.tokens = kFineTuneTokens;
    assume(fmt::format("fine-tuning on {} tokens, three epochs of 52,000 short instructions: say --tokens",
                       format_count(w.tokens)));
  } else {
    w.tokens = default_tokens(w.architecture);
    assume(fmt::format("{} tokens: 20 per parameter", format_count(w.tokens)));
  }
  if (faults_.size() == before) read_batch();
  if (faults_.size() != before) return;
  const Diagnostics workload_faults = check(w);
  faults_.insert(faults_.end(), workload_faults.begin(), workload_faults.end());
}

void Resolver::read_batch() {
  Workload& w = request_.workload;
  const std::int64_t length = w.data_lengths().longest;
  if (spec_.global_batch && spec_.global_batch_tokens) {
    add("conflict", "--global-batch and --global-batch-tokens", "the global batch is given twice", "give one of them");
    return;
  }
  if (spec_.global_batch) {
    const auto n = parse_bounded(*spec_.global_batch, "--global-batch", 1, kMaxGlobalBatch, faults_);
    if (n) w.global_batch = *n;
    return;
  }
  if (spec_.global_batch_tokens) {
    const auto tokens = take(parse_count(*spec_.global_batch_tokens, "--global-batch-tokens"), faults_);
    if (!tokens) return;
    if (*tokens < static_cast<double>(length)) {
      add("out-of-range", "--global-batch-tokens",
          fmt::format("{} tokens are less than one sequence of {}", *spec_.global_batch_tokens, length),
          "give more tokens or a shorter --seq-len");
      return;
    }
    if (*tokens / static_cast<double>(length) > static_cast<double>(kMaxGlobalBatch)) {
      add("out-of-range", "--global-batch-tokens",
          fmt::format("{} tokens are more than {} sequences", *spec_.global_batch_tokens, kMaxGlobalBatch),
          "give fewer tokens");
      return;
    }
    w.global_batch = sequences_of(*tokens, length);
    assume(
        fmt::format("a batch of {} tokens is {} sequences of {}", *spec_.global_batch_tokens, w.global_batch, length));
    return;
  }
  const bool published = !w.fine_tunes && preset_ != nullptr && preset_->batch_tokens > 0;
  std::string why;
  if (w.fine_tunes) {
    w.global_batch = kFineTuneBatch;
    why = "usual for fine-tuning";
  } else if (published) {
    w.global_batch = published_batch(preset_->batch_tokens, length);
    why = preset_->batch_source;
  } else {
    w.global_batch = default_global_batch(w.architecture, w.tokens, length);
    why = "by size and tokens, Bi et al. 2024";
  }
  assume(fmt::format("global batch of {} sequences ({} tokens: {})", w.global_batch, format_count(w.tokens_per_step()),
                     why));
}

/// A duration, or a day or time up to which the time from now on is left.
void Resolver::read_deadline() {
  if (!names_a_day(*spec_.deadline)) {
    request_.deadline = take(parse_duration(*spec_.deadline, "--deadline"), faults_);
    if (request_.deadline && request_.deadline->value() <= 0) {
      add("out-of-range", "--deadline", "a deadline of no time", "give a duration such as 7d, or a day");
    }
    return;
  }
  request_.due = take(parse_due(*spec_.deadline, "--deadline", now_ ? *now_ : now()), faults_);
  if (!request_.due) return;
  const Due& due = *request_.due;
  request_.deadline = Seconds(static_cast<double>((due.at - due.ordered).count()));
  assume(fmt::format("the run is ordered at {} and must be done by {}{}", local_words(due.ordered), to_string(due),
                     due.end_of_day ? ", the end of that day" : ""));
}

void Resolver::read_limits() {
  if (spec_.deadline) read_deadline();
  if (request_.deadline) request_.horizon = *request_.deadline;
  if (spec_.confidence) {
    request_.confidence = take(parse_fraction(*spec_.confidence, "--confidence"), faults_);
    if (request_.confidence && (*request_.confidence <= 0 || *request_.confidence >= 1)) {
      add("out-of-range", "--confidence", "nothing is certain and nothing is impossible", "give a part such as 90%");
    }
    if (!spec_.deadline && !spec_.budget) {
      add("conflict", "--confidence", "a confidence without a deadline or a budget", "add --deadline or --budget");
    }
  } else if (spec_.deadline || spec_.budget) {
    request_.confidence = kDefaultConfidence;
  }
  if (spec_.budget) {
    request_.budget = take(parse_usd(*spec_.budget, "--budget"), faults_);
    if (request_.budget && request_.budget->value() <= 0) {
      add("out-of-range", "--budget", "a budget of nothing", "give dollars such as 50000");
    }
  }
  if (spec_.max_hourly) {
    if (const auto hourly = take(parse_usd(*spec_.max_hourly, "--max-hourly"), faults_)) {
      request_.max_hourly = usd_per_hour(hourly->value());
      if (hourly->value() <= 0)
        add("out-of-range", "--max-hourly", "an hourly limit of nothing", "give dollars per hour");
    }
  }
  if (spec_.min_headroom) {
    if (const auto f = take(parse_fraction(*spec_.min_headroom, "--min-headroom"), faults_)) {
      request_.min_headroom = *f;
      if (*f >= 1) add("out-of-range", "--min-headroom", "a headroom of all the memory", "give a fraction such as 5%");
    }
  }
  if (spec_.max_oom_probability) {
    if (const auto f = take(parse_fraction(*spec_.max_oom_probability, "--max-oom-probability"), faults_)) {
      request_.max_oom_probability = *f;
      if (*f <= 0 || *f >= 1) {
        add("out-of-range", "--max-oom-probability", "no estimate of memory is certain", "give a part such as 1%");
      }
    }
  } else if (purpose_ == Purpose::Plan) {
    request_.max_oom_probability = kDefaultOutOfMemory;
    assume(fmt::format("at most {} chance to run out of device memory", format_percent(kDefaultOutOfMemory)));
  }
  if (spec_.objective) {
    const auto o = parse_name(*spec_.objective, "objective", "--objective", kObjectiveNames, objective_from, faults_);
    if (o) request_.objective = *o;
  }
  if (spec_.cost_weight) {
    if (const auto f = take(parse_fraction(*spec_.cost_weight, "--cost-weight"), faults_)) {
      request_.cost_weight = *f;
      if (*f > 1) add("out-of-range", "--cost-weight", "a weight of more than all", "give a fraction such as 70%");
    }
    if (request_.objective != Objective::Balanced) {
      add("conflict", "--cost-weight", "only the balanced objective weighs cost against time",
          "add --objective balanced");
    }
  }
  if (spec_.what_if) {
    if (const auto scenario = take(parse_scenario(*spec_.what_if, "--what-if"), faults_)) {
      request_.scenario = *scenario;
      if (has_model_) scale_batch(request_.workload, scenario->batch);
      if (!scenario->is_catalog()) assume("what if: " + to_string(*scenario));
    }
  }
  if (spec_.top) {
    if (const auto n = parse_bounded(*spec_.top, "--top", 1, kMaxTop, faults_)) request_.top = static_cast<int>(*n);
  }
}

}  // namespace smplan
