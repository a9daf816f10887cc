#include "planner/export/training_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "catalogs/reading.hpp"
#include "models/dimensions.hpp"
#include "models/layers.hpp"
#include "planner/plan_json.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kSchemaVersion = 1;
constexpr std::int64_t kMaxCount = std::int64_t{1} << 32;
constexpr std::int32_t kMaxDegree = 1 << 20;

std::int32_t read_degree(ObjectReader& reader, std::string_view key) {
  return static_cast<std::int32_t>(reader.integer(key, 1, kMaxDegree));
}

/// A name of an enumeration with its own parser; an unknown one is a fault at the key.
template <typename Parse>
auto read_named(ObjectReader& reader, std::string_view key, Parse parse) {
  const std::size_t faults = reader.diagnostics().size();
  const std::string name = reader.string(key);
  const auto value = parse(name);
  if (!value && reader.diagnostics().size() == faults) {
    reader.diagnostics().push_back({"unknown-name", reader.location(key),
                                    fmt::format("unknown {} {}", key, quote(name)),
                                    "write it as `smplan plan --format json` does"});
  }
  return value.value_or(typename decltype(value)::value_type{});
}

/// Norms, activations and positions of a model that was made up from a size, which is Llama-shaped. Whether it
/// ties its embeddings shows in its parameter count.
std::optional<Architecture> llama_like(const TrainedModel& model) {
  Architecture a;
  a.name = model.name;
  a.family = model.family;
  a.n_layers = model.n_layers;
  a.hidden = model.hidden;
  a.n_heads = model.n_heads;
  a.n_kv_heads = model.n_kv_heads;
  a.head_dim = model.head_dim;
  a.ffn_hidden = model.ffn_hidden;
  a.vocab = model.vocab;
  a.rotary_base = model.rotary_base;
  if (!check(a, model.name).empty()) return std::nullopt;
  for (const bool tied : {false, true}) {
    a.tied_embeddings = tied;
    if (count_parameters(a).total() == model.parameters) return a;
  }
  return std::nullopt;
}

/// The preset of that name, if it is the model that the plan was made for and not a namesake.
std::optional<Architecture> known_architecture(const TrainedModel& model, const Catalog& catalog) {
  if (const ModelPreset* preset = catalog.find_model(model.name)) {
    const Architecture& a = preset->architecture;
    if (count_parameters(a).total() == model.parameters && a.n_layers == model.n_layers && a.hidden == model.hidden) {
      return a;
    }
  }
  if (model.family == "llama" && model.kind == ModelKind::Decoder && model.n_experts == 0) {
    return llama_like(model);
  }
  return std::nullopt;
}

TrainedModel read_model(const JsonValue& value, const Catalog& catalog, Diagnostics& out) {
  ObjectReader reader(value, out);
  TrainedModel model;
  model.name = read_label(reader, "name");
  model.family = read_name(reader, "family");
  model.kind = read_named(reader, "kind", model_kind_from);
  const auto size = [&](std::string_view key, std::int64_t least) { return reader.integer(key, least, kMaxCount); };
  model.parameters = reader.integer("parameters", 1, std::int64_t{1} << 53);
  reader.ignore("active_parameters");
  model.n_layers = size("n_layers", 1);
  model.n_encoder_layers = size("n_encoder_layers", 0);
  model.hidden = size("hidden", 1);
  model.n_heads = size("n_heads", 1);
  model.n_kv_heads = size("n_kv_heads", 0);
  model.head_dim = size("head_dim", 0);
  model.ffn_hidden = size("ffn_hidden", 0);
  model.vocab = size("vocab", 0);
  model.n_experts = size("n_experts", 0);
  model.experts_per_token = size("experts_per_token", 0);
  model.state_mixer_heads = reader.has("state_mixer_heads") ? size("state_mixer_heads", 1) : 0;
  model.rotary_base = reader.optional_number("rotary_base").value_or(0);
  const std::size_t faults = out.size();
  reader.finish();
  if (out.size() == faults) model.architecture = known_architecture(model, catalog);
  return model;
}

void read_request(const JsonValue& value, const Catalog& catalog, TrainingPlan& plan, Diagnostics& out) {
  ObjectReader reader(value, out);
  if (const auto model = reader.value("model")) plan.model = read_model(*model, catalog, out);
  plan.tokens = reader.number("tokens", 1, 1e18);
  plan.seq_len = reader.integer("seq_len", 1, kMaxCount);
  plan.optimizer = read_named(reader, "optimizer", optimizer_from);
  plan.finetune = read_named(reader, "finetune", finetune_from);
  if (reader.has("lora_rank")) plan.lora_rank = reader.integer("lora_rank", 1, kMaxCount);
  plan.lora_embeddings = reader.optional_bool("lora_embeddings").value_or(false);
  plan.fused_loss = reader.optional_bool("fused_loss").value_or(false);
  plan.flash_attention = reader.optional_bool("flash_attention");
  plan.region = read_name(reader, "region");
  if (const auto data = reader.optional_value("dataset")) {
    ObjectReader dataset(*data, out);
    plan.data_size = Bytes(1e9 * dataset.number("gb", 0, 1e12));
  }
  if (reader.has("checkpoint_storage")) {
    plan.checkpoint_storage = read_named(reader, "checkpoint_storage", checkpoint_target_from);
  }
  if (reader.optional_bool("warm_pool").value_or(false)) {
    plan.warm_pool = Seconds(reader.optional_number("job_gap_s").value_or(0));
  }
}

/// Whether every plan has a value of it: a file without one is none.
bool is_required(const DimensionRow& row) { return row.applies(Strategy()); }

/// The value of a dimension where it stands in the file; null and absence leave plain what not every plan has.
void read_dimension(const DimensionRow& row, ObjectReader& reader, std::string_view key, Strategy& s) {
  if (!is_required(row) && !reader.has(key)) return reader.ignore(key);
  if (row.kind == DimensionRow::Kind::Degree) return row.set(s, read_degree(reader, key));
  if (row.kind == DimensionRow::Kind::Switch) return row.set(s, reader.boolean(key) ? 1 : 0);
  row.set(s, read_named(reader, key, row.words->parse));
}

void read_dimensions(ObjectReader& reader, Strategy& s) {
  std::map<std::string_view, ObjectReader> objects;
  for (const DimensionRow& row : dimensions()) {
    const std::size_t slash = row.path.find('/');
    ObjectReader* holder = &reader;
    std::string_view key = row.path;
    if (slash != std::string_view::npos) {
      const std::string_view name = row.path.substr(0, slash);
      auto object = objects.find(name);
      if (object == objects.end()) {
        const auto value = reader.value(name);
        if (!value) continue;
        object = objects.emplace(name, ObjectReader(*value, reader.diagnostics())).first;
      }
      holder = &object->second;
      key = row.path.substr(slash + 1);
    }
    read_dimension(row, *holder, key, s);
  }
  for (auto& [name, object] : objects) object.finish();
}

void read_memory(const JsonValue& value, PlanPrediction& prediction, Diagnostics& out) {
  ObjectReader reader(value, out);
  prediction.peak_gib = reader.number("peak_gib", 0, 1e9);
  prediction.limit_gib = reader.number("limit_gib", 0, 1e9);
}

void read_cost(const JsonValue& value, TrainingPlan& plan, Diagnostics& out) {
  ObjectReader reader(value, out);
  PlanPrediction& prediction = plan.prediction;
  plan.market = read_named(reader, "market", market_from);
  prediction.hourly_usd = reader.optional_number("hourly_usd");
  prediction.total_usd = reader.optional_number("total_usd");
  prediction.price_date = read_optional_name(reader, "price_date");
}

void read_interval(ObjectReader& reader, PlanPrediction& prediction) {
  Diagnostics& out = reader.diagnostics();
  const std::size_t faults = out.size();
  const std::vector<JsonValue> interval = reader.array("step_time_interval_s");
  if (interval.size() == 2) {
    prediction.step_p10 = Seconds(interval[0].as_number(out));
    prediction.step_p90 = Seconds(interval[1].as_number(out));
  } else if (out.size() == faults) {
    out.push_back({"bad-interval", reader.location("step_time_interval_s"),
                   fmt::format("has {} values", interval.size()), "write the 10th and the 90th percentile"});
  }
}

/// What the bill and the goodput count on.
void read_operation(const JsonValue& value, TrainingPlan& plan, Diagnostics& out) {
  ObjectReader reader(value, out);
  if (const auto checkpoint = reader.optional_value("checkpoint")) {
    plan.save_interval = Seconds(ObjectReader(*checkpoint, out).number("interval_s", 0, 1e15));
  }
  if (const auto input = reader.optional_value("input")) {
    ObjectReader way(*input, out);
    plan.input_mode = read_named(way, "mode", input_mode_from);
  }
  const bool disks = plan.instance != nullptr && plan.instance->local_nvme > Bytes();
  if (!disks) plan.volume = Bytes(1e9 * reader.number("volume_gb", 0, 1e9));
}

void read_predictions(ObjectReader& reader, TrainingPlan& plan) {
  PlanPrediction& prediction = plan.prediction;
  Diagnostics& out = reader.diagnostics();
  if (const auto memory = reader.value("memory")) read_memory(*memory, prediction, out);
  prediction.step = Seconds(reader.number("step_time_s", 0, 1e12));
  read_interval(reader, prediction);
  prediction.tokens_per_s = reader.number("tokens_per_s");
  prediction.mfu = reader.number("mfu");
  prediction.time_to_train = Seconds(reader.number("time_to_train_s", 0, 1e15));
  if (const auto parts = reader.value("time_components_s")) {
    ObjectReader time(*parts, out);
    prediction.productive = Seconds(time.number("productive", 0, 1e15));
  }
  if (const auto operation = reader.value("operation")) read_operation(*operation, plan, out);
  if (const auto cost = reader.value("cost")) read_cost(*cost, plan, out);
}

void read_strategy(ObjectReader& reader, TrainingPlan& plan) {
  read_dimensions(reader, plan.strategy);
  plan.gradient_accumulation = reader.integer("gradient_accumulation", 1, kMaxCount);
  plan.global_batch = reader.integer("global_batch", 1, kMaxCount);
  plan.precision = read_named(reader, "dtype", precision_from);
}

/// Of a file's numbers, which may be beyond 64 bits together; exact where they are those of a plan.
double product(std::initializer_list<std::int64_t> factors) {
  double out = 1;
  for (const std::int64_t factor : factors) out *= static_cast<double>(factor);
  return out;
}

void check_products(const TrainingPlan& plan, std::int64_t n_gpus, const ObjectReader& reader, Diagnostics& out) {
  const auto differ = [&](std::string_view key, const std::string& message) {
    out.push_back(
        {"inconsistent-plan", reader.location(key), message, "write the file with `smplan plan --format json`"});
  };
  const Strategy& s = plan.strategy;
  const std::int64_t devices = std::int64_t{plan.instance_count} * plan.devices_per_instance();
  const double gpus = product({s.data_parallel, s.tensor_parallel, s.pipeline_parallel, s.context_parallel});
  if (n_gpus != devices) {
    differ("n_gpus",
           fmt::format("{} devices, but {} x {} have {}", n_gpus, plan.instance_count, plan.instance->name, devices));
  } else if (gpus != static_cast<double>(n_gpus)) {
    differ("parallel",
           fmt::format("data {} x tensor {} x pipeline {} x context {} is {:.0f}, not the {} devices", s.data_parallel,
                       s.tensor_parallel, s.pipeline_parallel, s.context_parallel, gpus, n_gpus));
  }
  const double batch = product({s.micro_batch, plan.gradient_accumulation, s.data_parallel});
  if (batch != static_cast<double>(plan.global_batch)) {
    differ("global_batch", fmt::format("micro-batch {} x accumulation {} x data {} is {:.0f}, not {}", s.micro_batch,
                                       plan.gradient_accumulation, s.data_parallel, batch, plan.global_batch));
  }
  const std::pair<const char*, const char*> groups[] = {{"parallel", "expert-groups-in-a-stage"},
                                                        {"sharding", "shard-groups-in-replicas"}};
  for (const auto& [key, rule] : groups) {
    if (const auto fault = broken_rule(rule, s, {}, *plan.stack)) differ(key, fault->message);
  }
}

void read_plan(const JsonValue& value, const Catalog& catalog, TrainingPlan& plan, Diagnostics& out) {
  ObjectReader reader(value, out);
  const std::size_t faults = out.size();
  const auto look_up = [&](std::string_view key, auto find) {
    const std::size_t before = out.size();
    const std::string name = reader.string(key);
    using Found = typename decltype(find(name, std::string()))::value_type;
    if (out.size() != before) return Found{};
    auto found = find(name, reader.location(key));
    if (found) return *found;
    out.insert(out.end(), found.error().begin(), found.error().end());
    return Found{};
  };
  plan.instance =
      look_up("instance_type", [&](const std::string& n, const std::string& at) { return catalog.instance(n, at); });
  plan.stack = look_up("stack", [&](const std::string& n, const std::string& at) { return catalog.stack(n, at); });
  plan.instance_count = read_degree(reader, "instance_count");
  const std::int64_t n_gpus = reader.integer("n_gpus", 1, kMaxCount);
  read_strategy(reader, plan);
  read_predictions(reader, plan);
  plan.warnings = read_strings(reader, "warnings");
  if (out.size() == faults) check_products(plan, n_gpus, reader, out);
}

std::optional<JsonValue> plan_of_rank(ObjectReader& document, std::int64_t rank) {
  Diagnostics& out = document.diagnostics();
  const std::size_t faults = out.size();
  const std::vector<JsonValue> plans = document.array("plans");
  for (const JsonValue& plan : plans) {
    const auto found = plan.find("rank");
    if (found && found->as_integer(out) == rank) return plan;
  }
  if (out.size() == faults) {
    out.push_back(
        {"out-of-range", "--rank",
         plans.empty() ? std::string("the file holds no plan: nothing fitted")
                       : fmt::format("the file has {} plans, there is no {}", plans.size(), rank),
         plans.empty() ? "relax the request that it answers" : "choose a smaller rank, or plan with a larger --top"});
  }
  return std::nullopt;
}

}  // namespace

TrainedModel trained_model(const Architecture& a, const Catalog& catalog) {
  TrainedModel model;
  model.name = a.name;
  model.family = a.family;
  model.kind = a.kind;
  model.parameters = count_parameters(a).total();
  model.n_layers = a.n_layers;
  model.n_encoder_layers = a.n_encoder_layers;
  model.hidden = a.hidden;
  model.n_heads = a.n_heads;
  model.n_kv_heads = a.n_kv_heads;
  model.head_dim = a.head_dim;
  model.ffn_hidden = a.ffn_hidden;
  model.vocab = a.vocab;
  model.n_experts = a.moe.n_experts;
  model.experts_per_token = a.moe.top_k;
  if (a.has_state_mixer()) model.state_mixer_heads = a.state.n_heads;
  model.architecture = known_architecture(model, catalog);
  return model;
}

std::int64_t TrainingPlan::steps() const {
  return static_cast<std::int64_t>(
      std::ceil(tokens / (static_cast<double>(seq_len) * static_cast<double>(global_batch))));
}

std::int64_t TrainingPlan::save_steps() const {
  const std::int64_t all = steps();
  if (!save_interval || !(prediction.step > Seconds())) return all;
  const double between = *save_interval / prediction.step;
  return between >= static_cast<double>(all) ? all : std::max<std::int64_t>(1, std::llround(between));
}

std::string TrainingPlan::id() const {
  const std::string decided = fmt::format(
      "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}{}", model.name, model.parameters, format_shortest(tokens),
      seq_len, global_batch, to_string(precision), to_string(optimizer), to_string(finetune), lora_rank, instance->name,
      instance_count, region, to_string(market), stack->id, to_string(strategy), strategy.shard_degree,
      to_string(strategy.schedule), to_string(strategy.collectives), lora_embeddings ? "|embeddings" : "");
  return hash_text(decided);
}

Result<TrainingPlan> read_training_plan(const JsonValue& plan_set, std::int64_t rank, const Catalog& catalog) {
  Diagnostics out;
  TrainingPlan plan;
  plan.rank = static_cast<std::size_t>(rank);
  ObjectReader document(plan_set, out);
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  const std::int64_t version = document.integer("schema_version");
  if (out.empty() && version != kSchemaVersion) {
    return fail("bad-schema", document.location("schema_version"), fmt::format("schema_version is {}", version),
                fmt::format("this smplan reads version {}; plan again", kSchemaVersion));
  }
  plan.smplan_version = read_name(document, "smplan_version");
  if (const auto request = document.value("request")) read_request(*request, catalog, plan, out);
  if (const auto chosen = plan_of_rank(document, rank)) read_plan(*chosen, catalog, plan, out);
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  return plan;
}

Strategy read_plan_strategy(const JsonValue& plan, Diagnostics& out) {
  TrainingPlan read;
  ObjectReader reader(plan, out);
  read_strategy(reader, read);
  return read.strategy;
}

Result<TrainingPlan> training_plan_of(const PlanSet& set, std::int64_t rank, const Catalog& catalog) {
  const Result<JsonValue> document = parse_json(to_json(set), "plan.json");
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  return read_training_plan(*document, rank, catalog);
}

}  // namespace smplan
