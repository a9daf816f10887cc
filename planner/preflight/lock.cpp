#include "planner/preflight/lock.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/architecture_json.hpp"
#include "models/job/dimensions.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/check_cache.hpp"
#include "planner/preflight/fallbacks.hpp"
#include "planner/preflight/job_folder.hpp"
#include "planner/preflight/job_settings.hpp"
#include "planner/request/names.hpp"

namespace smplan {
namespace {

std::string whole(double value) { return fmt::format("{:.0f}", value); }

/// How the plan divides the work and what it tells software. The data degree follows from the machines, as does
/// sharding over all of it: both hold on the machines that the job names.
void state_strategy(const TrainingPlan& plan, RequestSpec& spec) {
  for (const DimensionRow& row : dimensions()) {
    if (row.dimension == Dimension::Data || !row.applies(plan.strategy)) continue;
    if (row.dimension == Dimension::ShardDegree && plan.strategy.shard_degree >= plan.replicas()) continue;
    spec[row.dimension] = row.text(row.get(plan.strategy));
  }
}

/// What is saved and how data comes, by the names that the request has in plan files.
void state_operation(const JsonValue& request, RequestSpec& spec) {
  Diagnostics none;
  const auto word = [&](const JsonValue& object, std::string_view key, std::optional<std::string>& into) {
    const auto value = object.find(key);
    if (value && value->is_string()) into = value->as_string(none);
  };
  word(request, "platform", spec.platform);
  if (spec.platform) {
    word(request, "recovery", spec.recovery);
    const auto whole_number = [&](std::string_view key, std::string_view unit, std::optional<std::string>& into) {
      const auto value = request.find(key);
      if (value && value->is_number()) into = fmt::format("{}{}", value->as_number(none), unit);
    };
    whole_number("spare_instances", "", spec.spare_instances);
    whole_number("preempted_every_s", "s", spec.preempted_every);
    whole_number("preempted_for_s", "s", spec.preempted_for);
  }
  word(request, "checkpoint_storage", spec.checkpoint_storage);
  word(request, "checkpoint_mode", spec.checkpoint_mode);
  word(request, "program", spec.program);
  const auto data = request.find("dataset");
  if (!data || !data->is_object()) return;
  const auto number = [&](std::string_view key, std::string_view unit, std::optional<std::string>& into) {
    const auto value = data->find(key);
    if (value && value->is_number()) into = fmt::format("{}{}", value->as_number(none), unit);
  };
  number("gb", "GB", spec.dataset);
  number("sample_bytes", "B", spec.sample_size);
  number("files", "", spec.dataset_files);
  word(*data, "input_mode", spec.input_mode);
  word(*data, "preparation", spec.preparation);
}

RequestSpec request_of(const TrainingPlan& plan, const JsonValue& document) {
  RequestSpec spec;
  spec.arch = architecture_json(plan.model);
  spec.tokens = whole(plan.tokens);
  spec.seq_len = std::to_string(plan.seq_len);
  spec.global_batch = std::to_string(plan.global_batch);
  spec.dtype = to_string(plan.precision);
  spec.optimizer = to_string(plan.optimizer);
  const auto request = document.find("request");
  const auto tunes = request ? request->find("fine_tuning") : std::nullopt;
  Diagnostics none;
  if (plan.finetune != FineTune::Full || (tunes && tunes->is_bool() && tunes->as_bool(none))) {
    spec.finetune = to_string(plan.finetune);
  }
  if (plan.lora_rank > 0) spec.lora_rank = std::to_string(plan.lora_rank);
  if (plan.virtual_tokens > 0) spec.virtual_tokens = std::to_string(plan.virtual_tokens);
  if (plan.adapter_count > 1) spec.adapter_count = std::to_string(plan.adapter_count);
  if (plan.lora_embeddings) spec.lora_embeddings = "on";
  if (plan.trained_layers) spec.trained_layers = to_string(*plan.trained_layers);
  if (plan.lora_targets != LoraTargets::Linear) spec.lora_targets = to_string(plan.lora_targets);
  if (plan.adapters != nullptr) spec.adapters = plan.adapters->name;
  if (plan.mean_seq_len > 0) spec.mean_seq_len = std::to_string(plan.mean_seq_len);
  if (plan.loss != nullptr) spec.loss = plan.loss->name;
  if (plan.loss != nullptr && plan.loss->frozen == FrozenModel::Reference) spec.reference = to_string(plan.reference);
  if (!plan.teacher.empty()) spec.teacher = plan.teacher;
  spec.instances = plan.instance->name;
  spec.count = std::to_string(plan.instance_count);
  spec.region = plan.region;
  spec.market = to_string(plan.market);
  spec.stack = plan.stack->id;
  state_strategy(plan, spec);
  if (request) state_operation(*request, spec);
  return spec;
}

/// What plans were judged by, by the names that the request has in plan files.
void read_goals(const JsonValue& request, const Catalog& catalog, Lock& lock) {
  Diagnostics none;
  const auto number = [&](std::string_view key, std::string_view unit, std::optional<std::string>& into) {
    const auto value = request.find(key);
    if (value && value->is_number()) into = fmt::format("{:f}{}", value->as_number(none), unit);
  };
  const auto word = [&](std::string_view key) {
    const auto value = request.find(key);
    return value && value->is_string() ? value->as_string(none) : std::string();
  };
  RequestSpec& goals = lock.goals;
  number("deadline_s", "s", goals.deadline);
  lock.due = word("deadline_at");
  number("min_headroom", "", goals.min_headroom);
  number("max_oom_probability", "", goals.max_oom_probability);
  lock.other_facts = word("overlays") != catalog.overlays();
  if (!lock.other_facts) {
    number("budget_usd", "", goals.budget);
    number("max_hourly_usd", "", goals.max_hourly);
  }
  if (goals.deadline || goals.budget) number("confidence", "", goals.confidence);
}

/// The types that a job tries behind the plan's own, as an export with --fallbacks would write them.
std::vector<InstanceChoice> listed_fallbacks(const Lock& lock, const JobFolder& folder, const Catalog& catalog,
                                             CheckCache& cache) {
  std::vector<InstanceChoice> out;
  const Job& job = folder.files.front().job;
  if (job.preferences.empty()) return out;
  const Result<Fallbacks>& found =
      cache.fallbacks.get(folder.lock.value_or(""), [&] { return fallbacks_of(lock, catalog, std::nullopt); });
  if (!found) return out;
  const std::vector<InstanceChoice> known = choices_of(*found, found->plans.size());
  for (const JobPreference& preference : job.preferences) {
    const auto choice =
        std::find_if(known.begin(), known.end(), [&](const InstanceChoice& c) { return preference.type.is(c.type); });
    if (choice != known.end()) out.push_back(*choice);
  }
  return out;
}

/// Recipes have one file name and three writers.
std::string_view recipe_target(const Job& job) {
  const Node* engine = job.root().at({"run", "model_type"});
  if (job.kind != JobKind::HyperpodRecipe || engine == nullptr) return target_of(job.kind);
  if (engine->text == "verl") return "hyperpod-verl";
  return job.root().at({"training_config", "training_args"}) ? "hyperpod-llmft" : target_of(job.kind);
}

/// The plan's job as this kind of file, read as `check` reads it.
Result<Export> exported(const Lock& lock, const JobFolder& folder, const Catalog& catalog, CheckCache& cache) {
  const Job& job = folder.files.front().job;
  // The model-parallel library has a target for each of its two versions, which are started by different launchers.
  const bool first = job.kind == JobKind::Smp && job.launcher.mpi.is(true);
  const std::string_view target = first ? std::string_view("smp-v1") : recipe_target(job);
  ExportOptions options;
  options.fallbacks = listed_fallbacks(lock, folder, catalog, cache);
  return export_plan({lock.plan, options, catalog}, target);
}

/// The plan's own form of a file: of its path, else of its kind.
const FolderFile* planned_form(const FolderFile& file, const std::vector<FolderFile>& planned) {
  const FolderFile* same_kind = nullptr;
  for (const FolderFile& one : planned) {
    if (one.path == file.path) return &one;
    if (one.job.kind == file.job.kind) same_kind = &one;
  }
  return same_kind;
}

/// The same number in another spelling: `4k`, `260B`.
bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const Result<double> number = parse_count(b, "");
  if (!number) return false;
  const Result<double> as_count = parse_count(a, "");
  const Result<std::int64_t> as_length = parse_length(a, "");
  return (as_count && *as_count == *number) || (as_length && static_cast<double>(*as_length) == *number);
}

}  // namespace

Result<Lock> read_lock(const std::string& text, const Catalog& catalog) {
  const Result<JsonValue> document = parse_json(text, kLockFile);
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  Result<TrainingPlan> plan = read_training_plan(*document, kFirstPlan, catalog);
  if (!plan) return tl::unexpected<Diagnostics>(plan.error());
  Diagnostics none;
  const std::size_t plans = document->find("plans")->as_array(none).size();
  if (plans != 1) {
    return fail("several-plans", std::string(kLockFile) + ":/plans",
                fmt::format("holds {} plans, and the job is one of them", plans),
                "export the one that is meant: smplan export writes a plan.json of it alone");
  }
  RequestSpec said = request_of(*plan, *document);
  Lock lock{std::move(*plan), std::move(said), {}, {}, false};
  if (const auto request = document->find("request")) read_goals(*request, catalog, lock);
  return lock;
}

Result<std::vector<Change>> drift_of(const JobFolder& folder, const Lock& lock, const Catalog& catalog,
                                     CheckCache& cache) {
  const Result<Export> again = exported(lock, folder, catalog, cache);
  if (!again) return tl::unexpected<Diagnostics>(again.error());
  std::vector<FolderFile> planned;
  for (const ExportFile& file : again->files) {
    const JobFileName* known = job_file_name(file.path);
    if (known == nullptr) continue;
    Result<Job> job = read_job(file.content, file.path, known->kind);
    if (job) planned.push_back({file.path, std::move(*job)});
  }
  std::vector<std::string> placeholders;
  for (const Placeholder& placeholder : again->placeholders) placeholders.push_back(placeholder.text);
  std::vector<Change> changes;
  for (const FolderFile& file : folder.files) {
    const FolderFile* form = planned_form(file, planned);
    if (form != nullptr) add_changes(form->job, file.job, file.path, catalog, placeholders, changes);
  }
  return changes;
}

bool models_alike(const RequestSpec& flags, const Lock& lock, const Catalog& catalog) {
  RequestSpec model;
  fill_open(model, flags, {RequestGroup::Model});
  if (!model.params && !model.model && !model.hf_config && !model.arch) return true;
  const Result<PlanRequest> request = resolve(model, catalog, std::nullopt);
  return request && architecture_json(request->workload.architecture) == architecture_json(lock.plan.model);
}

std::vector<Change> drift_of_flags(const RequestSpec& flags, const Lock& lock, const Catalog& catalog) {
  std::vector<Change> changes;
  const auto add = [&](std::string_view name, std::string planned, std::string found) {
    std::string flag = "--" + std::string(name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    changes.push_back({'~', std::string(name), std::move(planned), std::move(found), flag, {flag, 0}});
  };
  for (const RequestName& name : request_names()) {
    const std::optional<std::string>& asked = name.of(flags);
    if (!asked) continue;
    if (name.group == RequestGroup::Model) {
      if (!models_alike(flags, lock, catalog)) add(name.name, lock.plan.model.name, *asked);
      continue;
    }
    const std::optional<std::string>& said = name.of(lock.said);
    if (said && !same_value(*asked, *said)) add(name.name, *said, *asked);
  }
  return changes;
}

void fill_open(RequestSpec& spec, const RequestSpec& other, std::initializer_list<RequestGroup> groups) {
  for (const RequestName& name : request_names()) {
    if (std::find(groups.begin(), groups.end(), name.group) == groups.end()) continue;
    std::optional<std::string>& value = name.of(spec);
    if (!value) value = name.of(other);
  }
}

}  // namespace smplan
