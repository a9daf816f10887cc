#include "planner/rl/rl_search.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "models/layers/layers.hpp"
#include "models/machine/collectives.hpp"
#include "planner/answer/uncertainty.hpp"
#include "planner/search/constraints.hpp"
#include "planner/search/group.hpp"
#include "planner/search/objective.hpp"

namespace smplan {
namespace {

constexpr double kHalfBytes = 2;
/// Strategies of training that are tried with each engine.
constexpr int kStrategies = 2;
/// Between host and device where the catalog does not know: PCIe 3.0 x16 at three quarters of its 16 GB/s.
constexpr BytesPerSecond kUsualHostLink = gb_per_s(12);
/// What moving states may take, by the time of the link: pageable memory and many small copies.
constexpr double kSlowestSwap = 2;

const TrainingLoss& one_pass() {
  static const TrainingLoss kPass{.name = "log-probs", .title = "log-probabilities", .trained_forwards = 1};
  return kPass;
}

const TrainingLoss& value_loss() {
  static const TrainingLoss kValues{.name = "values", .title = "values", .scalar_head = true};
  return kValues;
}

double parameters_of(const Architecture& a) { return static_cast<double>(count_parameters(a).total()); }

/// A model that is trained: one of the search's plans, and what of it a step of reinforcement learning needs.
struct Trained {
  Plan plan;
  Seconds forward;  ///< a pass over all responses
  Seconds update;   ///< all optimizer steps
  Bytes resident;   ///< states on each device between the passes
};

/// An instance type with what all its counts share.
struct Hardware {
  const InstanceType* instance = nullptr;
  Cluster one_node;
  std::vector<std::pair<Market, const Price*>> offers;
  [[nodiscard]] Cluster of(std::int32_t nodes) const {
    Cluster cluster = one_node;
    cluster.nodes = nodes;
    return cluster;
  }
};

/// How many instances do what.
struct Division {
  std::int32_t total = 0;
  std::int32_t training = 0;
  std::int32_t rollout = 0;
};

/// How a step is laid out; what is left open is chosen among these.
struct Layout {
  const Hardware& hardware;
  Division count;
  RlPlacement placement;
  bool offloads = false;
  std::int32_t tensor = 1;
  [[nodiscard]] bool colocated() const { return placement == RlPlacement::Colocated; }
};

class RlSearch {
 public:
  RlSearch(const RlRequest& request, const Catalog& catalog, const SearchOptions& options)
      : request_(request), catalog_(catalog), options_(options) {}
  RlPlanSet run();

 private:
  struct Entry {
    Score score;
    RlPlan plan;
  };
  using TrainedKey = std::tuple<const InstanceType*, std::int32_t, bool, bool>;
  using RolloutKey = std::tuple<const InstanceType*, std::int32_t, std::int32_t, std::int64_t>;

  [[nodiscard]] std::vector<Hardware> hardware() const;
  [[nodiscard]] std::vector<std::int32_t> counts(const InstanceType& instance) const;
  void consider(const Hardware& hardware, std::int32_t total, RlPlacement placement);
  void try_layouts(Layout layout, std::optional<RlPlan>& best);
  std::optional<RlPlan> build(const Layout& layout, const Trained& policy, const Trained* critic);
  void add_entries(const Hardware& hardware, RlPlan plan);
  const std::vector<Trained>& trained(const Layout& layout, bool critic);
  [[nodiscard]] PlanRequest training_request(const Layout& layout, bool critic) const;
  [[nodiscard]] std::vector<std::int32_t> tensor_degrees(const Hardware& hardware, std::int32_t nodes) const;
  [[nodiscard]] RolloutWork work_of(std::int64_t replicas) const;
  [[nodiscard]] RlMemory memory_of(const Layout& layout, const Trained& policy, const Trained* critic,
                                   const RolloutMemory& engine, Bytes taken) const;
  [[nodiscard]] RlParts parts_of(const Layout& layout, const Trained& policy, const Trained* critic,
                                 const RlPlan& plan) const;
  [[nodiscard]] Seconds sync_time(const Layout& layout, const RlPlan& plan) const;
  [[nodiscard]] Seconds swap_time(const Layout& layout, const Trained& policy, const Trained* critic,
                                  const RlPlan& plan) const;
  [[nodiscard]] RlParts scaled_parts(const RlPlan& plan, const Hardware& hardware, Outlook outlook) const;
  void refuse(const Layout& layout, std::string what, const Rejection& rejection);

  [[nodiscard]] bool trains_adapters() const { return request_.training.workload.finetune != FineTune::Full; }
  [[nodiscard]] bool copies_reference() const { return request_.algorithm.reference && !trains_adapters(); }
  [[nodiscard]] RolloutModel model(std::int32_t tensor) const {
    return {request_.training.workload.architecture, *request_.engine, tensor, request_.rollout_weight_bytes};
  }

  const RlRequest& request_;
  const Catalog& catalog_;
  const SearchOptions& options_;
  std::map<TrainedKey, std::vector<Trained>> trained_;
  std::map<RolloutKey, RolloutTime> rollouts_;
  std::vector<Entry> entries_;
  RlPlanSet set_;
};

std::vector<Hardware> RlSearch::hardware() const {
  std::vector<Hardware> all;
  const PlanRequest& r = request_.training;
  for (const InstanceType* instance : r.instances) {
    Result<Cluster> cluster = make_cluster(catalog_, *instance, 1);
    if (!cluster) continue;  // resolve() left such types out
    Hardware h{instance, std::move(*cluster), {}};
    apply(r.scenario, h.one_node);
    h.offers = offers_of(r, catalog_, *instance);
    all.push_back(std::move(h));
  }
  return all;
}

std::vector<std::int32_t> RlSearch::counts(const InstanceType& instance) const {
  if (!request_.training.counts_defaulted) return request_.training.counts;
  if (!instance.sold_in.empty()) return instance.sold_in;
  return {kRlCounts.begin(), kRlCounts.end()};
}

void RlSearch::refuse(const Layout& layout, std::string what, const Rejection& rejection) {
  ++set_.rejected[static_cast<std::size_t>(rejection.reason)];
  if (set_.nearest_miss && !nearer(rejection, set_.nearest_miss->rejection)) return;
  set_.nearest_miss =
      RlMiss{layout.hardware.instance, layout.count.total, layout.placement, std::move(what), rejection};
}

PlanRequest RlSearch::training_request(const Layout& layout, bool critic) const {
  PlanRequest r = request_.training;
  r.instances = {layout.hardware.instance};
  r.counts = {layout.count.training};
  r.counts_defaulted = false;
  // Limits are of the whole run, on all instances.
  r.markets = {layout.hardware.offers.front().first};
  r.deadline.reset();
  r.budget.reset();
  r.max_hourly.reset();
  r.max_gpus.reset();
  r.confidence.reset();
  r.horizon = days(kWiderHorizonDays.back());
  r.objective = Objective::Time;
  r.top = kStrategies;
  if (critic) {
    r.workload.architecture = *request_.critic;
    r.workload.finetune = FineTune::Full;
    r.workload.loss = &value_loss();
  }
  if (layout.colocated()) {
    // What the sleeping engine keeps is as if it were not there, chance to run out included.
    double safe = 1;
    for (const Stack* stack : r.stacks) {
      safe = std::min(safe, safe_memory_part(*stack, r.max_oom_probability.value_or(kDefaultOutOfMemory)));
    }
    const double asleep = request_.engine->asleep() / layout.hardware.one_node.device_memory;
    r.min_headroom = std::min(1.0, std::max(r.min_headroom, 1 - safe * std::max(0.0, 1 - asleep)));
  }
  return r;
}

const std::vector<Trained>& RlSearch::trained(const Layout& layout, bool critic) {
  const TrainedKey key{layout.hardware.instance, layout.count.training, critic, layout.colocated()};
  const auto [entry, is_new] = trained_.try_emplace(key);
  if (!is_new) return entry->second;
  const PlanRequest r = training_request(layout, critic);
  const PlanSet set = search(r, catalog_, options_);
  if (set.plans.empty()) {
    const auto most = std::max_element(set.rejected.begin(), set.rejected.end()) - set.rejected.begin();
    const Rejection usual{static_cast<RejectionReason>(most), 0, 0};
    refuse(layout, critic ? "the critic" : "training", set.nearest_miss ? set.nearest_miss->rejection : usual);
  }
  const RlAlgorithm& a = request_.algorithm;
  for (const Plan& plan : set.plans) {
    Workload pass = r.workload;
    pass.precision = plan.precision;
    pass.loss = &one_pass();
    const Cluster cluster = used_by(*plan.stack, layout.hardware.of(layout.count.training));
    const StepEstimate step = estimate_step(pass, plan.strategy, cluster, *plan.stack);
    const auto batches = static_cast<double>(a.mini_batches);
    const MemoryComponents& m = plan.memory.components;
    const Bytes gradients = is_fsdp(plan.strategy.sharding) ? Bytes() : m.gradients;
    entry->second.push_back({plan, batches * step.components.reference,
                             batches * static_cast<double>(a.passes) * plan.step.time(),
                             m.weights + m.optimizer + gradients});
  }
  return entry->second;
}

/// Powers of two that cut the heads evenly; over several nodes only where no degree inside of one is allowed.
std::vector<std::int32_t> RlSearch::tensor_degrees(const Hardware& hardware, std::int32_t nodes) const {
  const std::int64_t gpus = std::int64_t{hardware.one_node.gpus_per_node} * nodes;
  const Architecture& a = request_.training.workload.architecture;
  const auto allowed = [&](std::int32_t tensor) {
    const std::vector<std::int32_t>& wanted = request_.rollout_tensor;
    return gpus % tensor == 0 && a.n_heads % tensor == 0 &&
           (wanted.empty() || std::find(wanted.begin(), wanted.end(), tensor) != wanted.end());
  };
  std::vector<std::int32_t> degrees;
  constexpr std::int32_t kMost = 64;
  for (std::int32_t tensor = 1; tensor <= std::min<std::int64_t>(gpus, kMost); ++tensor) {
    const bool power = (tensor & (tensor - 1)) == 0;
    if ((power || !request_.rollout_tensor.empty()) && allowed(tensor)) degrees.push_back(tensor);
  }
  return degrees;
}

RolloutWork RlSearch::work_of(std::int64_t replicas) const {
  // Of more replicas than there may be responses at once, some wait.
  const std::int64_t busy = request_.concurrency > 0 ? std::min(replicas, request_.concurrency) : replicas;
  std::int64_t at_once = request_.replica_sequences;
  if (request_.concurrency > 0) {
    const std::int64_t of_all = request_.concurrency / busy;
    at_once = at_once > 0 ? std::min(at_once, of_all) : of_all;
  }
  return {(request_.generated() + busy - 1) / busy, request_.algorithm.samples, request_.prompt_length,
          request_.lengths, at_once};
}

RlMemory RlSearch::memory_of(const Layout& layout, const Trained& policy, const Trained* critic,
                             const RolloutMemory& engine, Bytes taken) const {
  const MemoryEstimate& m = policy.plan.memory;
  RlMemory memory;
  memory.limit = m.limit;
  memory.host_limit = m.host_limit;
  const Bytes asleep = layout.colocated() ? request_.engine->asleep() : Bytes();
  memory.training = m.wanted;
  memory.host = m.host_per_node;
  Bytes resident = policy.resident;
  if (critic != nullptr) {
    const Bytes own = m.wanted + (layout.offloads ? Bytes() : critic->resident);
    const Bytes other = critic->plan.memory.wanted + (layout.offloads ? Bytes() : policy.resident);
    memory.training = std::max(own, other);
    memory.host += critic->plan.memory.host_per_node;
    resident += critic->resident;
  }
  memory.training += asleep;
  memory.generation = engine.total() + taken;
  const double devices = layout.hardware.one_node.gpus_per_node;
  const double nodes = layout.count.training;
  if (layout.offloads) memory.host += devices * resident;
  if (copies_reference()) {
    memory.host += Bytes(kHalfBytes * parameters_of(request_.training.workload.architecture) / nodes);
  }
  if (request_.reward_model) memory.host += Bytes(kHalfBytes * parameters_of(*request_.reward_model) / nodes);
  if (layout.colocated() && trains_adapters() && request_.engine->keeps_weights_on_host()) {
    memory.host += devices * engine.weights;
  }
  return memory;
}

/// Weights in 16 bits to every device that generates: gathered from the shards of those that train, over the slower of
/// fabric and network. Of adapters only they travel, unless the engine let go of the base.
Seconds RlSearch::sync_time(const Layout& layout, const RlPlan& plan) const {
  const Workload& w = request_.training.workload;
  double parameters = parameters_of(w.architecture);
  if (trains_adapters()) {
    const bool base_is_there = !layout.colocated() || request_.engine->keeps_weights_on_host();
    parameters =
        static_cast<double>(trained_lora_parameters(w.architecture, w.lora)) + (base_is_there ? 0 : parameters);
  }
  const Bytes bytes(kHalfBytes * parameters);
  const Cluster cluster = layout.hardware.of(layout.count.total);
  const Seconds wires =
      collective_time(CollectiveKind::AllGather, bytes, whole_cluster(cluster), cluster, Collectives::Nccl).time;
  // Each value is read and written once on its way into the engine.
  const Bytes copied = 2 * bytes / static_cast<double>(plan.rollout_tensor);
  return wires / request_.engine->sync_share.value + copied / cluster.accelerator.memory_bandwidth;
}

Seconds RlSearch::swap_time(const Layout& layout, const Trained& policy, const Trained* critic,
                            const RlPlan& plan) const {
  const Cluster& node = layout.hardware.one_node;
  const BytesPerSecond link = node.host_link > BytesPerSecond() ? node.host_link : kUsualHostLink;
  const double devices = static_cast<double>(node.gpus_per_node) * layout.count.training;
  Bytes moved;  // of each device
  if (layout.offloads) moved += 2 * (policy.resident + (critic != nullptr ? critic->resident : Bytes()));
  // Frozen models come and are dropped.
  if (copies_reference()) {
    moved += Bytes(kHalfBytes * parameters_of(request_.training.workload.architecture) / devices);
  }
  if (request_.reward_model) moved += Bytes(kHalfBytes * parameters_of(*request_.reward_model) / devices);
  Seconds time;
  if (layout.colocated()) {
    time = Seconds(request_.engine->sleep_s.value + request_.engine->wake_s.value);
    if (trains_adapters() && request_.engine->keeps_weights_on_host()) moved += 2 * plan.engine.weights;
  }
  return time + moved / link;
}

RlParts RlSearch::parts_of(const Layout& layout, const Trained& policy, const Trained* critic,
                           const RlPlan& plan) const {
  RlParts parts;
  parts.generate = std::max(plan.rollout.total(), request_.starting());
  parts.score = request_.reward;
  if (request_.reward_model) {
    parts.score += scoring_time(*request_.reward_model, static_cast<double>(request_.generated()),
                                request_.training.workload.computed_seq_len(),
                                layout.hardware.of(layout.count.training), request_.engine->peak_share.value);
  }
  parts.log_probs = policy.forward;
  if (request_.algorithm.reference) parts.reference = policy.forward;
  if (critic != nullptr) parts.critic = critic->forward + critic->update;
  parts.update = policy.update;
  parts.sync = sync_time(layout, plan);
  parts.swap = swap_time(layout, policy, critic, plan);
  return parts;
}

std::optional<RlPlan> RlSearch::build(const Layout& layout, const Trained& policy, const Trained* critic) {
  ++set_.considered;
  const Cluster cluster = layout.hardware.of(layout.count.rollout);
  const MemoryComponents& states = policy.plan.memory.components;
  Bytes taken;
  if (layout.colocated()) {
    taken = states.framework;
    if (!layout.offloads) taken += policy.resident + (critic != nullptr ? critic->resident : Bytes());
  }
  RlPlan plan;
  plan.rollout_tensor = layout.tensor;
  plan.replicas = cluster.gpus() / layout.tensor;
  const RolloutWork work = work_of(plan.replicas);
  plan.engine = rollout_memory(model(layout.tensor), work, cluster.device_memory, taken);
  plan.memory = memory_of(layout, policy, critic, plan.engine, taken);
  if (!plan.engine.fits()) {
    const Bytes needed = plan.engine.total() - plan.engine.cache + plan.engine.longest + taken;
    refuse(layout, "the engine", {RejectionReason::Memory, needed.value(), cluster.device_memory.value()});
    return std::nullopt;
  }
  if (plan.memory.training > plan.memory.limit) {
    refuse(layout, "training with a critic",
           {RejectionReason::Memory, plan.memory.training.value(), plan.memory.limit.value()});
    return std::nullopt;
  }
  if (plan.memory.host > plan.memory.host_limit) {
    refuse(layout, "what waits on the host",
           {RejectionReason::HostMemory, plan.memory.host.value(), plan.memory.host_limit.value()});
    return std::nullopt;
  }
  plan.instance = layout.hardware.instance;
  plan.instances = layout.count.total;
  plan.training_instances = layout.count.training;
  plan.rollout_instances = layout.count.rollout;
  plan.placement = layout.placement;
  plan.offloads = layout.offloads;
  plan.training = policy.plan;
  if (critic != nullptr) plan.critic = critic->plan;
  const RolloutKey key{plan.instance, layout.count.rollout, layout.tensor, plan.engine.running};
  const auto [time, is_new] = rollouts_.try_emplace(key);
  if (is_new) {
    time->second = rollout_time(model(layout.tensor), work, plan.engine.running, cluster,
                                rollout_speed(*request_.engine, Outlook::Expected));
  }
  plan.rollout = time->second;
  plan.parts = parts_of(layout, policy, critic, plan);
  return plan;
}

void RlSearch::try_layouts(Layout layout, std::optional<RlPlan>& best) {
  const std::vector<Trained>& policies = trained(layout, false);
  const std::vector<Trained> none;
  const std::vector<Trained>& critics = request_.critic ? trained(layout, true) : none;
  if (policies.empty() || (request_.critic && critics.empty())) return;
  const Trained* critic = critics.empty() ? nullptr : &critics.front();
  const std::vector<std::int32_t> degrees = tensor_degrees(layout.hardware, layout.count.rollout);
  if (degrees.empty()) refuse(layout, "the engine's degree", {RejectionReason::Divisibility, 0, 0});
  const bool may_offload = layout.colocated() || critic != nullptr;
  for (const Trained& policy : policies) {
    for (const bool offloads : {false, true}) {
      if (offloads && !may_offload) continue;
      layout.offloads = offloads;
      for (const std::int32_t tensor : degrees) {
        layout.tensor = tensor;
        std::optional<RlPlan> plan = build(layout, policy, critic);
        if (plan && (!best || plan->step() < best->step())) best = std::move(plan);
      }
    }
  }
}

void RlSearch::consider(const Hardware& hardware, std::int32_t total, RlPlacement placement) {
  std::optional<RlPlan> best;
  if (placement == RlPlacement::Colocated) {
    try_layouts({hardware, {total, total, total}, placement}, best);
  } else {
    std::int32_t before = 0;
    for (const std::int32_t quarters : {1, 2, 3}) {
      const std::int32_t rollout = std::max(1, total * quarters / 4);
      if (rollout == before || rollout >= total) continue;
      before = rollout;
      try_layouts({hardware, {total, total - rollout, rollout}, placement}, best);
    }
  }
  if (best) add_entries(hardware, std::move(*best));
}

/// The parts where everything goes better, or worse, than expected.
RlParts RlSearch::scaled_parts(const RlPlan& plan, const Hardware& hardware, Outlook outlook) const {
  const bool fast = outlook == Outlook::Fast;
  const RolloutEngine& engine = *request_.engine;
  RlParts parts = plan.parts;
  RolloutWork work = work_of(plan.replicas);
  if (!request_.variation_stated) work.lengths.variation = fast ? kLeastLengthVariation : kMostLengthVariation;
  const RolloutTime rollout = rollout_time(model(plan.rollout_tensor), work, plan.engine.running,
                                           hardware.of(plan.rollout_instances), rollout_speed(engine, outlook));
  parts.generate = std::max(rollout.total(), request_.starting());
  const Seconds by_model = parts.score - request_.reward;
  parts.score = request_.reward + engine.peak_share.value / rollout_speed(engine, outlook).peak_share * by_model;
  const auto ratio = [&](const Plan& p) { return (fast ? p.step.p10 : p.step.p90) / p.step.time(); };
  const double policy = ratio(plan.training);
  for (Seconds* part : {&parts.log_probs, &parts.reference, &parts.update}) *part *= policy;
  if (plan.critic) parts.critic *= ratio(*plan.critic);
  parts.sync *= engine.sync_share.value / (fast ? engine.sync_share.high : engine.sync_share.low);
  if (!fast) parts.swap *= kSlowestSwap;
  return parts;
}

void RlSearch::add_entries(const Hardware& hardware, RlPlan plan) {
  const PlanRequest& r = request_.training;
  plan.interval = rl_interval(scaled_parts(plan, hardware, Outlook::Fast), plan.parts,
                              scaled_parts(plan, hardware, Outlook::Slow), plan.placement);
  // A run of whole steps, as the cost model sees it: how a step divides is no matter to it.
  StepEstimate step;
  step.components.compute = plan.step();
  step.p10 = plan.interval.p10;
  step.p90 = plan.interval.p90;
  Workload run = r.workload;
  run.precision = plan.training.precision;
  run.global_batch = request_.sequences();
  run.tokens = run.tokens_per_step() * static_cast<double>(request_.steps);
  for (const auto& [market, price] : hardware.offers) {
    const Layout layout{hardware, {plan.instances, plan.training_instances, plan.rollout_instances}, plan.placement};
    const Group group = make_group(r, catalog_, *hardware.instance, market, hardware.one_node, run, plan.instances);
    if (const auto dear = hourly_rejection(r, group.hourly())) {
      refuse(layout, "the run", *dear);
      continue;
    }
    if (const auto unfit = fleet_rejection(r, *hardware.instance, market, plan.instances)) {
      refuse(layout, "the fleet", {*unfit, 0, 0});
      continue;
    }
    RlPlan bought = plan;
    bought.market = market;
    bought.price = price;
    bought.cost = group_cost(group, *plan.training.stack, step);
    if (const auto over = limit_rejection(r, bought.cost)) {
      refuse(layout, "the run", *over);
      continue;
    }
    const Score value = score(r, bought.cost.time_to_train(), bought.cost.total());
    entries_.push_back({value, std::move(bought)});
  }
}

RlPlanSet RlSearch::run() {
  const std::optional<std::int64_t> most = request_.training.max_gpus;
  for (const Hardware& h : hardware()) {
    if (h.one_node.accelerator.vendor == Vendor::Aws) {
      ++set_.rejected[static_cast<std::size_t>(RejectionReason::Unsupported)];
      continue;
    }
    for (const std::int32_t total : counts(*h.instance)) {
      if (!h.instance->sells(total)) continue;
      if (most && std::int64_t{h.one_node.gpus_per_node} * total > *most) continue;
      for (const RlPlacement placement : request_.placements) consider(h, total, placement);
    }
  }
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.score < b.score; });
  const auto shown = std::min(entries_.size(), static_cast<std::size_t>(request_.training.top));
  for (std::size_t i = 0; i < shown; ++i) set_.plans.push_back(std::move(entries_[i].plan));
  if (!set_.plans.empty()) set_.nearest_miss.reset();
  return std::move(set_);
}

}  // namespace

double RlPlan::engine_share(const RolloutEngine& facts) const {
  const Bytes own = facts.share_holds_all ? engine.total() : engine.weights + engine.cache;
  return own / memory.limit;
}

RlPlanSet rl_search(const RlRequest& request, const Catalog& catalog, const SearchOptions& options) {
  return RlSearch(request, catalog, options).run();
}

}  // namespace smplan
