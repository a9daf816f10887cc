#include "planner/preflight/predict.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/units.hpp"
#include "models/layers/layers.hpp"
#include "planner/preflight/check_cache.hpp"
#include "planner/preflight/lock.hpp"
#include "planner/preflight/rules/tools.hpp"
#include "planner/request/names.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/search.hpp"

namespace smplan {
namespace {

/// Of a model's name in a reason.
constexpr std::size_t kMostOfName = 96;

/// Whether the job's split stands in a file beside it: guessing one would judge another job.
bool splits_elsewhere(const Job& job, const RequestSpec& spec, const Catalog& catalog) {
  if (!job.submitted() || spec[Dimension::Tensor] || spec[Dimension::Pipeline]) return false;
  const Stack* stack = spec.stack ? catalog.find_stack(*spec.stack) : nullptr;
  if (job.entry_point.is("smplan_entry.py") || (stack != nullptr && stack->split_in_own_file)) return true;
  // No model of today trains on Neuron cores without a tensor degree, which is the script's.
  return is_trainium_type(catalog, spec.instances.value_or(""));
}

/// Where the file and the flags leave it to the script: which stacks are meant, and whether anything is offloaded.
/// Returns what was left open, in words.
std::string leave_open(PlanRequest& request, const RequestSpec& spec, std::initializer_list<std::string_view> stacks) {
  std::string open;
  const auto add = [&](bool left, std::string_view what) {
    if (left) open += (open.empty() ? "" : ", ") + std::string(what);
  };
  if (!spec.stack && request[Dimension::Tensor].allows(1) && request[Dimension::Pipeline].allows(1)) {
    std::erase_if(request.stacks, [&](const Stack* stack) {
      return std::find(stacks.begin(), stacks.end(), std::string_view(stack->id)) == stacks.end();
    });
  }
  add(!spec.stack, "stack");
  add(!spec[Dimension::Sharding] && !spec.zero_stage && !spec[Dimension::ShardDegree], "sharding");
  add(!spec[Dimension::Offload], "offloading");
  if (!spec[Dimension::Offload]) request[Dimension::Offload].values.clear();
  return open;
}

/// A file for a trainer that shards nothing by itself: what starts it may, by accelerate's file.
bool may_be_sharded(const Job& job, const RequestSpec& spec) {
  const bool trainer = job.kind == JobKind::LlamaFactory || job.kind == JobKind::Trl;
  return trainer && spec.stack == "hf-trainer" && job.strategy.stack.where.path.empty();
}

/// The job as its file and the flags say; what they leave to the script is taken as fits best. So a job that is called
/// too large or too slow is so in every way to run it.
Result<PlanSet> estimate_job(PlanRequest request, const Job& job, const RequestSpec& spec, const Catalog& catalog,
                             const SearchOptions& options, std::string& left_open) {
  const Stack* stack = job.strategy.stack ? catalog.find_stack(*job.strategy.stack) : nullptr;
  if (may_be_sharded(job, spec)) {
    Result<PlanSet> set = estimate(request, catalog, options);
    if (!set || set->plans.front().memory.fits()) return set;
    RequestSpec started = spec;
    started.stack.reset();
    for (const std::string_view sharding : {"fsdp", "deepspeed"}) {
      if (const Stack* known = catalog.find_stack(sharding)) request.stacks.push_back(known);
    }
    left_open = leave_open(request, started, {"fsdp", "deepspeed", "hf-trainer"});
    return estimate(request, catalog, options);
  }
  const bool said_in_full = stack != nullptr && stack->split_in_own_file;
  if (!job.submitted() || job.launcher.smp.is(true) || said_in_full) return estimate(request, catalog, options);
  // Horovod is what mpi is mostly for, and it is never planned unasked.
  const Stack* horovod = catalog.find_stack("horovod");
  if (job.launcher.mpi.is(true) && !spec.stack && horovod != nullptr) {
    PlanRequest by_mpi = request;
    by_mpi.stacks = {horovod};
    left_open = leave_open(by_mpi, spec, {horovod->id});
    const Result<PlanSet> set = estimate(by_mpi, catalog, options);
    if (set && set->plans.front().memory.fits()) return set;
  }
  left_open = leave_open(request, spec, {"fsdp", "deepspeed", "ddp", "hf-trainer"});
  return estimate(request, catalog, options);
}

/// What of a job estimate_job() looks at beside its request.
std::string way_of(const Job& job, const RequestSpec& spec) {
  return fmt::format("{} {} {} {} {}", job.strategy.stack.value_or(""), may_be_sharded(job, spec), job.submitted(),
                     job.launcher.smp.is(true), job.launcher.mpi.is(true));
}

const std::optional<PlanSet>& plans_for(const RequestSpec& spec, const Catalog& catalog, const CheckOptions& options) {
  return options.cache->searches.get(request_key(spec), [&]() -> std::optional<PlanSet> {
    const Result<PlanRequest> request = resolve(spec, catalog, std::nullopt);
    if (!request) return std::nullopt;
    return search(*request, catalog, options.search);
  });
}

std::string described(const Plan& plan) {
  return fmt::format("{} x {} with {}, {}: {} of {}", plan.instance_count, plan.instance->name, plan.stack->name,
                     to_string(plan.strategy), format_bytes(plan.memory.wanted), format_bytes(plan.memory.limit));
}

/// Up to three plans that fit: on the same machines first, then on more of them.
std::vector<std::string> cures_for(const RequestSpec& job, const Catalog& catalog, const CheckOptions& options) {
  RequestSpec spec = same_work(job);
  spec.instances = job.instances;
  spec.top = "3";
  std::vector<std::string> cures;
  const std::optional<PlanSet>* found = nullptr;
  const auto search_on = [&](const std::optional<std::string>& count) {
    for (const char* launchable : {"job", "any"}) {
      if (found != nullptr && *found && !(*found)->plans.empty()) return;
      spec.count = count;
      spec.launchable = launchable;
      found = &plans_for(spec, catalog, options);
    }
  };
  search_on(job.count);
  search_on(std::nullopt);
  const std::optional<PlanSet>& set = *found;
  if (!set) return cures;
  for (const Plan& plan : set->plans) {
    if (cures.size() < 3) cures.push_back(described(plan));
  }
  return cures;
}

/// Gains below this are within the models' error.
constexpr double kWorthwhile = 0.95;

std::optional<Plan> better_than(const Plan& plan, const RequestSpec& job, const Catalog& catalog,
                                const CheckOptions& options) {
  if (!plan.memory.fits() || plan.price == nullptr) return std::nullopt;
  const std::optional<PlanSet>& set = plans_for(same_work(job), catalog, options);
  if (!set) return std::nullopt;
  const Plan* best = nullptr;
  for (const Plan& other : set->frontier) {
    const bool cheaper = other.cost.total() < kWorthwhile * plan.cost.total();
    const bool faster = other.cost.time_to_train() < kWorthwhile * plan.cost.time_to_train();
    if (cheaper && faster && (best == nullptr || other.cost.total() < best->cost.total())) best = &other;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

/// The plan beside the job, unchanged: what is better was weighed when it was chosen.
/// Whether short sequences would fit, where no length is said.
bool fits_shorter(PlanRequest request, const Job& job, const RequestSpec& spec, const Catalog& catalog,
                  const SearchOptions& options) {
  if (request.workload.seq_len <= kShortLength) return false;
  request.workload.seq_len = kShortLength;
  std::string left_open;
  const Result<PlanSet> set = estimate_job(std::move(request), job, spec, catalog, options, left_open);
  return set && set->plans.front().memory.fits_device();
}

bool is_as_planned(const RequestSpec& spec, const RequestSpec& plan) {
  if (!plan.stack) return false;
  const auto names = request_names();
  return std::all_of(names.begin(), names.end(), [&](const RequestName& name) {
    const std::optional<std::string>& planned = name.of(plan);
    return !planned || name.of(spec) == planned;
  });
}

std::string largest_component(const MemoryComponents& c) {
  const auto parts = memory_parts();
  const auto most = std::max_element(parts.begin(), parts.end(),
                                     [&](const MemoryPart& a, const MemoryPart& b) { return c.*a.bytes < c.*b.bytes; });
  return fmt::format("{} ({})", most->title, format_bytes(c.*most->bytes));
}

}  // namespace

PredictionOutcome predict(const Job& job, const std::vector<Machines>& machines, std::string_view region,
                          const Catalog& catalog, const CheckOptions& options) {
  PredictionOutcome out;
  if (!job.not_modelled.empty()) {
    out.why_not = job.not_modelled;
    return out;
  }
  if (!job.adapters_unknown.empty() && !options.request.finetune) {
    out.why_not = job.adapters_unknown;
    return out;
  }
  if (!names_model(options.request)) {
    out.why_not = job.model ? fmt::format("the catalog has no model `{}`: give --model, --hf-config or --params",
                                          printable(*job.model, kMostOfName))
                            : "no model is given";
    return out;
  }
  if (!job.split_unknown.empty() && !options.request.zero_stage && !options.request[Dimension::Sharding]) {
    out.why_not = job.split_unknown;
    return out;
  }
  const RequestSpec spec = request_of(job, machines, catalog, region, options.request, options.otherwise);
  if (machines.size() == 1 && machines.front().type && machines.front().instance == nullptr) {
    out.why_not = "the catalog has no accelerators of " + *machines.front().type;
    return out;
  }
  if (!spec.instances || !spec.count) {
    out.why_not = "the instance type and count are not known";
    return out;
  }
  if (splits_elsewhere(job, spec, catalog)) {
    out.why_not = "the degrees are not in this file, nor in one of an export beside it: give --tp";
    return out;
  }
  if (job.strategy.tensor && *job.strategy.tensor > 1) {
    RequestSpec inside = same_work(spec);
    inside.instances = spec.instances;
    inside.count = spec.count;
    const std::optional<PlanSet>& set = plans_for(inside, catalog, options);
    out.plan_inside_domain = set && !set->plans.empty();
  }
  const Result<PlanRequest>& request = resolved(spec, catalog, options, Purpose::Estimate);
  if (!request) {
    out.why_not = to_string(request.error().front());
    return out;
  }
  Prediction p;
  const JobEstimate& estimated = options.cache->estimates.get(request_key(spec) + way_of(job, spec), [&] {
    std::string left_open;
    Result<PlanSet> found = estimate_job(*request, job, spec, catalog, options.search, left_open);
    return JobEstimate{std::move(found), std::move(left_open)};
  });
  const Result<PlanSet>& set = estimated.set;
  p.left_open = estimated.left_open;
  if (!set) {
    out.why_not = to_string(set.error().front());
    return out;
  }
  p.request = set->request;
  p.plan = set->plans.front();
  p.tokens_assumed = !spec.tokens;
  if (!spec.tokens && job.strategy.epochs.stated) {
    p.length_unknown = fmt::format("the file says {} epochs and not of how much data: give --tokens",
                                   job.strategy.epochs ? count_text(*job.strategy.epochs) : "how many");
  }
  p.time_to_train = p.plan.cost.time_to_train();
  p.cost = p.plan.cost.total();
  p.out_of_memory = p.plan.out_of_memory_probability;
  p.largest_memory = largest_component(p.plan.memory.components);
  p.artifact_bytes = 2 * static_cast<double>(count_parameters(p.request.workload.architecture).total());
  if (!p.plan.memory.fits()) p.cures = cures_for(spec, catalog, options);
  if (!is_as_planned(spec, options.otherwise)) p.better = better_than(p.plan, spec, catalog, options);
  if (job.length_assumed && !p.plan.memory.fits_device() &&
      fits_shorter(*request, job, spec, catalog, options.search)) {
    p.fits_below_tokens = p.request.workload.seq_len;
  }
  out.prediction = std::move(p);
  return out;
}

}  // namespace smplan
