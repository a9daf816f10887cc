#include "planner/answer/plan_json.hpp"
#include "base/json_writer.hpp"
#include "planner/answer/advice.hpp"
#include "planner/answer/quotas.hpp"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "catalogs/architecture_json.hpp"
#include "models/layers/architecture_facts.hpp"
#include "planner/export/target.hpp"

namespace smplan {
namespace {
constexpr int kSchemaVersion = 2;

/// JSON has no NaN; one here is a fault of ours and must not pass as null.
Json number(double value) {
  if (!std::isfinite(value)) throw std::logic_error("a number of the plan is not finite");
  return value;
}

/// A count kept as double: written without fraction where it has none.
Json count(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value == std::floor(value) && std::abs(value) <= kExact) return static_cast<std::int64_t>(value);
  return number(value);
}

/// `1..4,8`: the notation of the flags.
std::string ranges(const std::vector<std::int32_t>& values) {
  std::string out;
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t end = begin;
    while (end + 1 < values.size() && values[end + 1] == values[end] + 1) ++end;
    if (!out.empty()) out += ',';
    out += end == begin ? fmt::format("{}", values[begin]) : fmt::format("{}..{}", values[begin], values[end]);
    begin = end + 1;
  }
  return out;
}

/// A value of a dimension in a plan.
Json value_json(const DimensionRow& row, std::int32_t value) {
  if (row.kind == DimensionRow::Kind::Degree) return value;
  if (row.kind == DimensionRow::Kind::Switch) return value != 0;
  return row.text(value);
}

/// What a request allows of a dimension: ranges of degrees, a list of names; null where it leaves it open.
Json choice_json(const DimensionRow& row, const Choice& choice) {
  if (choice.any()) return nullptr;
  if (row.kind == DimensionRow::Kind::Degree) return ranges(choice.values);
  if (row.kind == DimensionRow::Kind::Switch) return choice.values.front() != 0;
  Json out = Json::array();
  for (const std::int32_t value : choice.values) out.push_back(row.text(value));
  return out;
}

Json model_json(const Architecture& a) {
  Json out;
  out["name"] = a.name;
  out["family"] = a.family;
  out["kind"] = std::string(to_string(a.kind));
  for (const auto& [name, value] : architecture_facts(a)) out[std::string(name)] = value;
  if (a.rotary_base > 0) out["rotary_base"] = number(a.rotary_base);
  out["architecture"] = architecture_member(a);
  return out;
}

Json work_json(const PlanRequest& r) {
  const Workload& w = r.workload;
  Json out;
  out["model"] = model_json(w.architecture);
  out["tokens"] = count(w.tokens);
  const SequenceLengths lengths = w.data_lengths();
  out["seq_len"] = lengths.longest;
  out["global_batch"] = w.global_batch;
  out["global_batch_tokens"] = count(w.tokens_per_step());
  out["dtype"] = std::string(to_string(w.precision));
  out["dtype_defaulted"] = r.precision_defaulted;
  out["optimizer"] = std::string(to_string(w.optimizer));
  out["finetune"] = std::string(to_string(w.finetune));
  out["fine_tuning"] = w.fine_tunes;
  const bool low_rank = w.finetune != FineTune::Full && !w.lora.trains_prompt();
  out["lora_rank"] = low_rank ? Json(w.lora.rank) : Json(nullptr);
  if (w.lora.train_embeddings) out["lora_embeddings"] = true;
  if (w.trained_layers) out["trained_layers"] = to_string(*w.trained_layers);
  if (low_rank && w.lora.targets != LoraTargets::Linear) {
    out["lora_targets"] = std::string(to_string(w.lora.targets));
  }
  if (w.lora.method != nullptr) out["adapters"] = w.lora.method->name;
  if (w.lora.virtual_tokens > 0) out["virtual_tokens"] = w.lora.virtual_tokens;
  if (w.lora.count > 1) out["adapter_count"] = w.lora.count;
  if (lengths.mean > 0) out["mean_seq_len"] = lengths.mean;
  if (w.loss != nullptr) out["loss"] = w.loss->name;
  if (w.loss != nullptr && w.loss->frozen == FrozenModel::Reference) {
    out["reference"] = std::string(to_string(w.reference));
  }
  if (w.teacher) out["teacher"] = w.teacher->name;
  if (!r.weights.empty()) out["weights"] = r.weights;
  return out;
}

Json data_json(const InputData& data) {
  Json out;
  out["gb"] = number(data.size.value() / 1e9);
  out["sample_bytes"] = data.sample > Bytes() ? count(data.sample.value()) : Json(nullptr);
  out["files"] = data.files > 0 ? Json(data.files) : Json(nullptr);
  if (data.preparation != Preparation::None) out["preparation"] = std::string(to_string(data.preparation));
  out["input_mode"] = data.mode ? Json(std::string(to_string(*data.mode))) : Json(nullptr);
  out["other_region"] = data.other_region;
  return out;
}

Json request_json(const PlanRequest& r) {
  Json out = work_json(r);
  out["instances"] = Json::array();
  for (const InstanceType* i : r.instances) out["instances"].push_back(i->name);
  out["left_out"] = Json::array();
  for (const auto& entry : r.left_out) {
    Json left;
    left["instance_type"] = entry.first;
    left["reason"] = entry.second;
    out["left_out"].push_back(left);
  }
  out["count"] = ranges(r.counts);
  out["max_gpus"] = r.max_gpus ? Json(*r.max_gpus) : Json(nullptr);
  out["region"] = r.region;
  out["market"] = market_list(r);
  out["stack"] = Json::array();
  for (const Stack* s : r.stacks) {
    // Of a framework that is executed in several ways once.
    if (out["stack"].empty() || out["stack"].back() != s->id) out["stack"].push_back(s->id);
  }
  out["launchable"] = r.target != nullptr ? std::string(r.target->name) : r.launchable ? "job" : "any";
  out["program"] = std::string(to_string(r.program));
  for (const DimensionRow& row : dimensions()) out[std::string(row.keyword)] = choice_json(row, r[row.dimension]);
  const Recovery& recovery = r.run.recovery;
  if (is_standing(recovery.platform)) {
    out["platform"] = std::string(to_string(recovery.platform));
    out["recovery"] = std::string(to_string(recovery.mode));
    out["spare_instances"] = recovery.spares;
    const bool evicted = recovery.preempted_every > Seconds();
    out["preempted_every_s"] = evicted ? number(recovery.preempted_every.value()) : Json(nullptr);
    out["preempted_for_s"] = evicted ? number(recovery.preempted_for.value()) : Json(nullptr);
  }
  out["checkpoint_storage"] = std::string(to_string(r.run.checkpoint_target));
  out["checkpoint_mode"] = std::string(to_string(r.run.checkpoint_mode));
  out["jobs"] = r.run.series.jobs;
  out["job_gap_s"] = number(r.run.series.gap.value());
  out["warm_pool"] = r.run.warm_pool;
  out["dataset"] = r.run.data ? data_json(*r.run.data) : Json(nullptr);
  out["deadline_s"] = r.deadline ? number(r.deadline->value()) : Json(nullptr);
  out["deadline_at"] = r.due ? Json(iso_local(r.due->at)) : Json(nullptr);
  out["horizon_s"] = number(r.horizon.value());
  out["confidence"] = r.confidence ? number(*r.confidence) : Json(nullptr);
  out["budget_usd"] = r.budget ? number(r.budget->value()) : Json(nullptr);
  out["max_hourly_usd"] = r.max_hourly ? number(in_usd_per_hour(*r.max_hourly)) : Json(nullptr);
  out["min_headroom"] = number(r.min_headroom);
  out["max_oom_probability"] = r.max_oom_probability ? number(*r.max_oom_probability) : Json(nullptr);
  out["objective"] = std::string(to_string(r.objective));
  out["top"] = r.top;
  out["assumptions"] = r.assumptions;
  if (!r.overlays.empty()) out["overlays"] = r.overlays;
  return out;
}

Json memory_json(const MemoryEstimate& m) {
  Json out;
  out["fits"] = m.fits();
  out["peak_gib"] = number(in_gib(m.wanted));
  out["limit_gib"] = number(in_gib(m.limit));
  Json parts;
  for (const MemoryPart& part : memory_parts()) parts[std::string(part.key)] = number(in_gib(m.components.*part.bytes));
  out["components_gib"] = parts;
  out["peak_allocated_gib"] = number(in_gib(m.peak_allocated));
  out["peak_reserved_gib"] = number(in_gib(m.peak_reserved));
  out["host_per_node_gib"] = number(in_gib(m.host_per_node));
  out["nvme_per_node_gib"] = number(in_gib(m.nvme_per_node));
  out["worst_pipeline_rank"] = m.worst_stage;
  return out;
}

Json step_components_json(const StepComponents& c) {
  Json out;
  for (const StepPart& part : step_parts()) out[std::string(part.key)] = number((c.*part.time).value());
  return out;
}

Json cost_json(const PlanRequest& r, const Plan& p) {
  const auto dollars = [&](Usd u) { return p.price != nullptr ? number(u.value()) : Json(nullptr); };
  Json out;
  out["hourly_usd"] = p.price != nullptr ? number(in_usd_per_hour(p.cost.hourly)) : Json(nullptr);
  out["total_usd"] = dollars(p.cost.total());
  Json parts;
  for (const BillPart& part : bill_parts()) parts[std::string(part.key)] = dollars(p.cost.bill.*part.amount);
  out["components_usd"] = parts;
  out["total_interval_usd"] = Json::array({dollars(p.cost.low), dollars(p.cost.high)});
  out["region"] = r.region;
  out["market"] = std::string(to_string(p.market));
  const auto saved = saving(p);
  out["saving"] = saved ? number(*saved) : Json(nullptr);
  out["price_date"] = p.price != nullptr ? Json(p.price->provenance.as_of) : Json(nullptr);
  out["price_basis"] = p.price != nullptr ? Json(std::string(to_string(p.price->basis))) : Json(nullptr);
  out["price_source"] = p.price != nullptr ? Json(p.price->provenance.source) : Json(nullptr);
  return out;
}

Json quotas_json(const PlanRequest& r, const Plan& p) {
  Json out = Json::array();
  for (const QuotaNeed& need : quota_needs(r, p)) {
    Json one;
    one["name"] = need.name;
    one["needed"] = number(need.needed);
    one["new_account"] = number(need.quota->new_account);
    one["unit"] = need.quota->unit;
    out.push_back(one);
  }
  return out;
}

Json input_json(const InputPlan& input) {
  Json out;
  out["mode"] = std::string(to_string(input.mode));
  out["download_s"] = number(input.download.value());
  out["needed_mb_per_s"] = number(input.needed.value() / 1e6);
  out["delivered_mb_per_s"] = number(input.delivered.value() / 1e6);
  out["storage_mb_per_s"] = number(input.storage.value() / 1e6);
  out["loaders_mb_per_s"] = number(input.loaders.value() / 1e6);
  out["workers_per_device"] = count(input.workers_per_device());
  out["volume_gb"] = number(input.volume.value() / 1e9);
  out["keeps_fed"] = input.keeps_fed();
  return out;
}

/// What is saved, what interrupts, how data comes.
Json operation_json(const PlanRequest& r, const Plan& p) {
  const RunCost& c = p.cost;
  Json out;
  out["checkpoint"] = nullptr;
  if (c.checkpoint) {
    Json saves;
    saves["size_gib"] = number(in_gib(c.checkpoint->size));
    saves["stall_s"] = number(c.checkpoint->stall.value());
    saves["drain_s"] = number(c.checkpoint->drain.value());
    saves["load_s"] = number(c.checkpoint->load.value());
    saves["interval_s"] = number(c.loss.interval.value());
    if (c.durable_interval > Seconds()) saves["s3_interval_s"] = number(c.durable_interval.value());
    out["checkpoint"] = saves;
  }
  Json interruptions;
  interruptions["hardware"] = number(c.failures);
  interruptions["spot"] = number(c.reclaims);
  if (c.evictions > 0) interruptions["evictions"] = number(c.evictions);
  out["expected_interruptions"] = interruptions;
  out["input"] = c.input ? input_json(*c.input) : Json(nullptr);
  out["volume_gb"] = number(c.volume_size.value() / 1e9);
  out["warm_pool"] = nullptr;
  const WarmPool pool = weigh_warm_pool(r.run.series, r.run.operations, c.hourly, p.market);
  if (pool.possible) {
    const bool priced = p.price != nullptr;
    Json series;
    series["kept_usd"] = priced ? number(pool.kept.value()) : Json(nullptr);
    series["saved_usd"] = priced ? number(pool.saved.value()) : Json(nullptr);
    series["sooner_s"] = number(pool.sooner.value());
    out["warm_pool"] = series;
  }
  return out;
}

/// Where a path of keys separated by slashes leads.
Json& at(Json& object, std::string_view path) {
  Json* value = &object;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    value = &(*value)[std::string(path.substr(0, slash))];
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return *value;
}

void add_strategy(Json& out, const PlanRequest& r, const Plan& p) {
  const Strategy& s = p.strategy;
  out["stack"] = p.stack->id;
  out["strategy"] = to_string(s);
  for (const DimensionRow& row : dimensions()) {
    at(out, row.path) = row.applies(s) ? value_json(row, row.get(s)) : Json(nullptr);
  }
  out["gradient_accumulation"] = p.micro_batches;
  out["global_batch"] = r.workload.global_batch;
  out["dtype"] = std::string(to_string(p.precision));
}

}  // namespace

Json plan_json(const PlanRequest& r, const Plan& p, std::size_t rank) {
  Json out;
  out["rank"] = rank;
  out["instance_type"] = p.instance->name;
  out["instance_count"] = p.instance_count;
  out["n_gpus"] = p.gpus();
  add_strategy(out, r, p);
  out["memory"] = memory_json(p.memory);
  out["memory"]["peak_interval_gib"] =
      Json::array({number(in_gib(p.peak_interval.p10)), number(in_gib(p.peak_interval.p90))});
  out["memory"]["out_of_memory_probability"] = number(p.out_of_memory_probability);
  out["step_time_s"] = number(p.step.time().value());
  out["step_time_interval_s"] = Json::array({number(p.step.p10.value()), number(p.step.p90.value())});
  out["step_components_s"] = step_components_json(p.step.components);
  out["tokens_per_s"] = number(p.step.tokens_per_s);
  out["tokens_per_s_per_gpu"] = number(p.step.tokens_per_s_per_gpu);
  out["model_tflops_per_gpu"] = number(p.step.model_flops_per_gpu.value() / 1e12);
  out["mfu"] = number(p.step.mfu);
  out["hfu"] = number(p.step.hfu);
  out["time_to_train_s"] = number(p.cost.time_to_train().value());
  Json time;
  time["productive"] = number(p.cost.productive.value());
  time["startup"] = number(p.cost.startup.value());
  time["lost"] = number(p.cost.lost().value());
  out["time_components_s"] = time;
  Json lost;
  lost["checkpoints"] = number(p.cost.loss.checkpoints.value());
  lost["rework"] = number(p.cost.loss.rework.value());
  lost["restarts"] = number(p.cost.loss.restarts.value());
  out["lost_components_s"] = lost;
  out["time_to_train_interval_s"] =
      Json::array({number(p.cost.spread.at(0.1).value()), number(p.cost.spread.at(0.9).value())});
  out["deadline_probability"] = r.deadline ? number(p.cost.spread.probability(*r.deadline)) : Json(nullptr);
  out["budget_probability"] = r.budget ? number(p.cost.cost_probability(*r.budget)) : Json(nullptr);
  out["goodput"] = number(p.cost.goodput);
  out["operation"] = operation_json(r, p);
  out["quotas"] = quotas_json(r, p);
  const std::string capacity = capacity_words(p);
  out["capacity"] = capacity.empty() ? Json(nullptr) : Json(capacity);
  out["cost"] = cost_json(r, p);
  out["bottleneck"] = std::string(bottleneck(p.step));
  out["unmeasured"] = p.unmeasured;
  out["warnings"] = p.warnings;
  return out;
}

namespace {

/// A frontier point in short; `rank` where the list has the plan too.
Json frontier_json(const PlanSet& set, const Plan& p) {
  Json rank = nullptr;
  for (std::size_t i = 0; i < set.plans.size(); ++i) {
    if (set.plans[i].same_as(p)) rank = i + 1;
  }
  Json out;
  out["rank"] = rank;
  out["instance_type"] = p.instance->name;
  out["instance_count"] = p.instance_count;
  out["n_gpus"] = p.gpus();
  out["market"] = std::string(to_string(p.market));
  out["stack"] = p.stack->id;
  out["strategy"] = to_string(p.strategy);
  out["time_to_train_s"] = number(p.cost.time_to_train().value());
  out["hourly_usd"] = p.price != nullptr ? number(in_usd_per_hour(p.cost.hourly)) : Json(nullptr);
  out["total_usd"] = p.price != nullptr ? number(p.cost.total().value()) : Json(nullptr);
  return out;
}

Json miss_json(const PlanSet& set) {
  if (!set.nearest_miss) return nullptr;
  const Rejection& why = set.nearest_miss->rejection;
  Json out;
  out["reason"] = std::string(to_string(why.reason));
  out["needed"] = number(why.needed);
  out["available"] = number(why.available);
  out["plan"] = plan_json(set.request, set.nearest_miss->plan, 1);
  return out;
}

}  // namespace

int plan_schema_version() { return kSchemaVersion; }

std::string_view version() { return SMPLAN_VERSION; }

std::string to_json(const PlanRequest& request) { return request_json(request).dump(); }

std::string to_json(const PlanSet& set) {
  Json out;
  out["schema_version"] = kSchemaVersion;
  out["smplan_version"] = std::string(version());
  out["request"] = request_json(set.request);
  out["plans"] = Json::array();
  for (std::size_t i = 0; i < set.plans.size(); ++i) {
    out["plans"].push_back(plan_json(set.request, set.plans[i], i + 1));
  }
  out["pareto"] = set.pareto;
  out["frontier"] = Json::array();
  for (const Plan& p : set.frontier) out["frontier"].push_back(frontier_json(set, p));
  Json rejected = Json::object();
  for (int i = 0; i < kRejectionReasonCount; ++i) {
    rejected[std::string(to_string(static_cast<RejectionReason>(i)))] = set.rejected[static_cast<std::size_t>(i)];
  }
  out["rejected"] = rejected;
  out["nearest_miss"] = miss_json(set);
  Json search;
  search["space"] = set.search.space;
  search["evaluated"] = set.search.evaluated;
  search["pruned"] = set.search.pruned;
  search["seconds"] = number(set.search.seconds);
  search["exact"] = set.search.exact;
  out["search"] = search;
  // A path may be no UTF-8, and assumptions name paths.
  return out.dump(2) + "\n";
}

}  // namespace smplan
