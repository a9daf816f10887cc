#include "planner/answer/plan_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "catalogs/fine_tuning_method.hpp"
#include "catalogs/model_names.hpp"
#include "catalogs/reading.hpp"
#include "models/job/dimensions.hpp"
#include "models/layers/architecture_facts.hpp"
#include "models/layers/layers.hpp"
#include "planner/answer/plan_json.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kSchemaVersion = 2;
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

/// The whole of it. The sizes beside it are for people: one that says otherwise was edited, and nobody can tell which
/// is meant.
Architecture read_model(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  const std::size_t faults = out.size();
  const auto whole = reader.value("architecture");
  const Architecture a = whole ? read_architecture(*whole, out) : Architecture();
  if (out.size() != faults) return a;
  const auto differ = [&](std::string_view key, bool same) {
    if (same || out.size() != faults) return;
    out.push_back({"inconsistent-plan", reader.location(key), fmt::format("{} is not that of architecture", key),
                   "write the file with `smplan plan --format json`"});
  };
  differ("name", reader.string("name") == a.name);
  differ("family", reader.string("family") == a.family);
  differ("kind", reader.string("kind") == to_string(a.kind));
  differ("rotary_base", reader.optional_number("rotary_base").value_or(0) == a.rotary_base);
  for (const auto& [key, size] : architecture_facts(a)) differ(key, reader.integer(key) == size);
  reader.finish();
  return a;
}

void read_request(const JsonValue& value, TrainingPlan& plan, Diagnostics& out) {
  ObjectReader reader(value, out);
  if (const auto model = reader.value("model")) plan.model = read_model(*model, out);
  plan.tokens = reader.number("tokens", 1, 1e18);
  plan.seq_len = reader.integer("seq_len", 1, kMaxCount);
  plan.optimizer = read_named(reader, "optimizer", optimizer_from);
  plan.finetune = read_named(reader, "finetune", finetune_from);
  plan.fine_tunes = reader.optional_bool("fine_tuning").value_or(plan.finetune != FineTune::Full);
  if (reader.has("lora_rank")) plan.lora_rank = reader.integer("lora_rank", 1, kMaxCount);
  if (reader.has("virtual_tokens")) plan.virtual_tokens = reader.integer("virtual_tokens", 1, kMaxCount);
  if (reader.has("adapter_count")) plan.adapter_count = reader.integer("adapter_count", 1, kMaxCount);
  plan.lora_embeddings = reader.optional_bool("lora_embeddings").value_or(false);
  if (reader.has("trained_layers")) plan.trained_layers = read_named(reader, "trained_layers", trained_layers_from);
  if (reader.has("mean_seq_len")) plan.mean_seq_len = reader.integer("mean_seq_len", 1, plan.seq_len);
  if (reader.has("lora_targets")) plan.lora_targets = read_named(reader, "lora_targets", lora_targets_from);
  if (reader.has("adapters")) {
    const std::string name = reader.string("adapters");
    plan.adapters = adapter_method(name);
    if (plan.adapters == nullptr) {
      out.push_back(unknown_name("kind of adapters", name, reader.location("adapters"), planned_adapters()));
    }
  }
  if (reader.has("loss")) {
    const std::string name = reader.string("loss");
    plan.loss = training_loss(name);
    if (plan.loss == nullptr) out.push_back(unknown_name("loss", name, reader.location("loss"), loss_names()));
  }
  if (reader.has("reference")) plan.reference = read_named(reader, "reference", reference_from);
  plan.teacher = read_optional_name(reader, "teacher");
  if (reader.has("weights")) {
    plan.weights = reader.string("weights");
    if (!is_hub_name(plan.weights)) {
      out.push_back({"bad-name", reader.location("weights"), "is no name of the hub", "write organisation/name"});
    }
  }
  plan.region = read_name(reader, "region");
  if (const auto data = reader.optional_value("dataset")) {
    ObjectReader dataset(*data, out);
    plan.data_size = Bytes(1e9 * dataset.number("gb", 0, 1e12));
  }
  if (reader.has("platform")) plan.recovery.platform = read_named(reader, "platform", platform_from);
  if (reader.has("recovery")) plan.recovery.mode = read_named(reader, "recovery", recovery_mode_from);
  if (reader.has("spare_instances")) {
    plan.recovery.spares = static_cast<std::int32_t>(reader.integer("spare_instances", 0, kMostSpares));
  }
  plan.recovery.preempted_every = Seconds(reader.optional_number("preempted_every_s").value_or(0));
  plan.recovery.preempted_for = Seconds(reader.optional_number("preempted_for_s").value_or(0));
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
  row.set(s, read_named(reader, key, row.words->exact));
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
        const auto value = is_required(row) ? reader.value(name) : reader.optional_value(name);
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
    ObjectReader saves(*checkpoint, out);
    plan.save_interval = Seconds(saves.number("interval_s", 0, 1e15));
    if (saves.has("s3_interval_s")) plan.s3_interval = Seconds(saves.number("s3_interval_s", 0, 1e15));
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
  if (rank == kFirstPlan && !plans.empty()) return plans.front();
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

std::size_t read_rank(const JsonValue& plan, Diagnostics& out) {
  ObjectReader reader(plan, out);
  return static_cast<std::size_t>(reader.integer("rank", 1, kMaxCount));
}

}  // namespace

Result<TrainingPlan> read_training_plan(const JsonValue& plan_set, std::int64_t rank, const Catalog& catalog) {
  Diagnostics out;
  TrainingPlan plan;
  plan.rank = static_cast<std::size_t>(rank);
  ObjectReader document(plan_set, out);
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  const std::int64_t version = document.integer("schema_version");
  if (out.empty() && version != kSchemaVersion) {
    return fail("bad-schema", document.location("schema_version"), fmt::format("schema_version is {}", version),
                fmt::format("this smplan reads version {}: plan again with the request of the file", kSchemaVersion));
  }
  plan.smplan_version = read_name(document, "smplan_version");
  if (const auto request = document.value("request")) read_request(*request, plan, out);
  if (const auto chosen = plan_of_rank(document, rank)) {
    if (rank == kFirstPlan) plan.rank = read_rank(*chosen, out);
    read_plan(*chosen, catalog, plan, out);
  }
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  return plan;
}

Strategy read_plan_strategy(const JsonValue& plan, Diagnostics& out) {
  TrainingPlan read;
  ObjectReader reader(plan, out);
  read_strategy(reader, read);
  return read.strategy;
}

TrainingPlan training_plan_of(const PlanRequest& request, const Plan& plan, std::size_t rank) {
  const Workload& w = request.workload;
  const RunCost& cost = plan.cost;
  TrainingPlan out;
  out.smplan_version = std::string(version());
  out.rank = rank;
  out.instance = plan.instance;
  out.stack = plan.stack;
  out.own_stack = plan.own_stack;
  out.instance_count = plan.instance_count;
  out.region = request.region;
  out.market = plan.market;
  out.model = w.architecture;
  out.tokens = w.tokens;
  out.seq_len = w.data_lengths().longest;
  out.global_batch = w.global_batch;
  out.precision = plan.precision;
  out.optimizer = w.optimizer;
  out.finetune = w.finetune;
  out.fine_tunes = w.fine_tunes || w.finetune != FineTune::Full;
  if (w.finetune != FineTune::Full && !w.lora.trains_prompt()) out.lora_rank = w.lora.rank;
  out.virtual_tokens = w.lora.virtual_tokens;
  out.adapter_count = w.lora.count;
  out.lora_embeddings = w.lora.train_embeddings;
  out.trained_layers = w.trained_layers;
  if (w.finetune != FineTune::Full) out.lora_targets = w.lora.targets;
  out.adapters = w.lora.method;
  out.mean_seq_len = w.data_lengths().mean;
  out.loss = w.loss;
  if (w.loss != nullptr && w.loss->frozen == FrozenModel::Reference) out.reference = w.reference;
  if (w.teacher) out.teacher = w.teacher->name;
  out.weights = request.weights;
  if (cost.input) out.input_mode = cost.input->mode;
  if (request.run.data) out.data_size = request.run.data->size;
  out.recovery = request.run.recovery;
  out.checkpoint_storage = request.run.checkpoint_target;
  if (cost.durable_interval > Seconds()) out.s3_interval = cost.durable_interval;
  if (cost.checkpoint) out.save_interval = cost.loss.interval;
  if (!(plan.instance->local_nvme > Bytes())) out.volume = cost.volume_size;
  if (request.run.warm_pool) out.warm_pool = request.run.series.gap;
  out.strategy = plan.strategy;
  out.gradient_accumulation = plan.micro_batches;
  out.warnings = plan.warnings;
  PlanPrediction& p = out.prediction;
  p.peak_gib = in_gib(plan.memory.wanted);
  p.limit_gib = in_gib(plan.memory.limit);
  p.step = plan.step.time();
  p.step_p10 = plan.step.p10;
  p.step_p90 = plan.step.p90;
  p.time_to_train = cost.time_to_train();
  p.productive = cost.productive;
  p.tokens_per_s = plan.step.tokens_per_s;
  p.mfu = plan.step.mfu;
  if (plan.price != nullptr) {
    p.hourly_usd = in_usd_per_hour(cost.hourly);
    p.total_usd = cost.total().value();
    p.price_date = plan.price->provenance.as_of;
  }
  return out;
}

}  // namespace smplan
