#include "planner/search/search.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <thread>
#include <tuple>

#include "base/parallel_for.hpp"
#include "planner/request/runs_on.hpp"
#include "planner/search/constraints.hpp"
#include "planner/search/stack_search.hpp"

namespace smplan {
namespace {

/// Groups of the first round; each further round has twice as many. What a round may dismiss depends on
/// earlier rounds only, so that results and counters are the same on any number of threads.
constexpr std::size_t kFirstRound = 16;

/// What all counts of one instance type share.
struct Type {
  const InstanceType* instance = nullptr;
  std::vector<std::pair<Market, const Price*>> offers;  ///< one at least; without a price where none is known
  Cluster one_node;
  const Workload* workload = nullptr;
  std::vector<std::unique_ptr<StackSearch>> stacks;  ///< nullptr where the stack does not run
};

/// What lists of splits depend on: types with the same number of accelerators share them, and so do the ways to execute
/// a framework.
struct ListKey {
  std::string_view framework;
  const Workload* workload = nullptr;
  std::int64_t gpus = 0;
  friend auto operator<=>(const ListKey&, const ListKey&) = default;
};

/// A plan before it is dressed: which group, which stack, which candidate, at what cost.
struct Entry {
  const Group* group = nullptr;
  const Stack* stack = nullptr;
  Candidate candidate;
  RunCost cost;
};

bool same(const Entry& a, const Entry& b) {
  return a.group == b.group && a.stack == b.stack && a.candidate.strategy == b.candidate.strategy;
}

/// The same idea, whatever software is told: nobody needs both in a list.
bool differ_in_execution(const Entry& a, const Entry& b) {
  const auto split = [](const Entry& e) {
    const Strategy& s = e.candidate.strategy;
    return std::tuple(s.tensor_parallel, s.pipeline_parallel, s.context_parallel, s.expert_parallel);
  };
  return a.group == b.group && a.stack != b.stack && a.stack->id == b.stack->id && split(a) == split(b);
}

/// The whole search as a value: types, groups in the order of the rounds, and what was found so far.
class Search {
 public:
  Search(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options);
  PlanSet run();

 private:
  void add_types(const Catalog& catalog);
  void add_groups();
  void search_round(std::size_t begin, std::size_t end);
  void list_splits_of(std::size_t begin, std::size_t end);
  void search_unit(std::size_t index, std::size_t framework, std::optional<Cluster>& cluster,
                   std::span<StackOutcome> outcomes) const;
  [[nodiscard]] StackOutcome search_way(std::size_t index, std::size_t stack, std::optional<Cluster>& cluster,
                                        std::optional<Seconds> threshold) const;
  [[nodiscard]] std::optional<Entry> entry_of(const Group& group, const Stack& stack, const Candidate& c) const;
  [[nodiscard]] Score score_of(const Entry& e) const { return score(request_, e.cost.time_to_train(), e.cost.total()); }
  [[nodiscard]] bool simpler(const Entry& a, const Entry& b) const;
  [[nodiscard]] std::vector<Entry> ranking() const;
  void merge_group(std::size_t index, std::span<const StackOutcome> outcomes);
  void note_miss(const Group& group, const Stack& stack, const Miss& miss);
  void keep_best();
  [[nodiscard]] bool before(const Entry& a, const Entry& b) const;
  PlanSet answer() const;
  Plan plan_of(const Entry& e) const { return make_plan(request_, *e.group, *e.stack, e.candidate); }
  [[nodiscard]] std::vector<TimeCost> points(const std::vector<Entry>& entries) const;

  const PlanRequest& request_;
  const Catalog& catalog_;
  Monitor* monitor_;
  int variants_;
  unsigned threads_;
  Workload default_workload_;
  Workload fp16_workload_;
  std::vector<std::int32_t> micro_batches_;
  std::vector<Type> types_;
  std::map<ListKey, SplitList> lists_;
  /// Of each framework the first of its ways among the request's stacks, and where the last one ends.
  std::vector<std::size_t> frameworks_;
  std::vector<Group> groups_;
  std::vector<std::size_t> type_of_group_;
  Incumbents incumbents_;
  std::vector<Entry> ranked_;    ///< best first, at most `top`
  std::vector<Entry> near_;      ///< hardly behind the best, the simplest of which comes first
  std::vector<Entry> frontier_;  ///< cheapest first
  std::array<std::uint64_t, kRejectionReasonCount> rejected_{};
  SearchStats stats_;
  struct GroupMiss {
    const Group* group;
    const Stack* stack;
    Miss miss;
  };
  std::optional<GroupMiss> nearest_;
};

Search::Search(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options)
    : request_(request),
      catalog_(catalog),
      monitor_(options.monitor),
      variants_(variants_per_group(request)),
      threads_(options.threads > 0 ? static_cast<unsigned>(options.threads)
                                   : std::max(1U, std::thread::hardware_concurrency())),
      default_workload_(request.workload),
      fp16_workload_(request.workload),
      micro_batches_(micro_batch_choices(request, request.workload)) {
  fp16_workload_.precision = Precision::Fp16;
  for (std::size_t s = 0; s < request.stacks.size(); ++s) {
    if (s == 0 || request.stacks[s]->id != request.stacks[s - 1]->id) frameworks_.push_back(s);
  }
  frameworks_.push_back(request.stacks.size());
  add_types(catalog);
  add_groups();
  expect(monitor_, groups_.size() * (frameworks_.size() - 1));
}

void Search::add_types(const Catalog& catalog) {
  for (const InstanceType* instance : request_.instances) {
    Result<Cluster> cluster = make_cluster(catalog, *instance, 1);
    if (!cluster) continue;  // resolve() left such types out
    Type type;
    type.instance = instance;
    type.offers = offers_of(request_, catalog, *instance);
    apply(request_.scenario, *cluster);
    type.one_node = std::move(*cluster);
    const Precision precision = effective_precision(request_, type.one_node.accelerator);
    type.workload = precision == request_.workload.precision ? &default_workload_ : &fp16_workload_;
    types_.push_back(std::move(type));
  }
  // Searches keep references to their type: after the last one has its place.
  for (Type& type : types_) {
    for (const Stack* stack : request_.stacks) {
      const bool runs = stack_runs_on(*stack, type.one_node, *type.instance, type.workload->precision);
      type.stacks.push_back(runs ? std::make_unique<StackSearch>(request_, *stack, *type.instance, type.one_node,
                                                                 *type.workload, micro_batches_, variants_)
                                 : nullptr);
    }
  }
}

/// Powers of two before the rest and cheap peak FLOPs before dear ones: good plans come early, and what
/// comes later is mostly dismissed by its bound.
void Search::add_groups() {
  struct Ordered {
    bool odd;
    double price_of_peak;
    std::size_t type;
    std::int32_t count;
    std::size_t offer;
  };
  std::vector<Ordered> order;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const Type& type = types_[t];
    const Cluster& node = type.one_node;
    const double peak = node.accelerator.peak_rate(type.workload->precision).value() * node.gpus_per_node;
    for (std::size_t o = 0; o < type.offers.size(); ++o) {
      const Price* price = type.offers[o].second;
      const double rate = price != nullptr ? price->rate.value() : 0;
      for (const std::int32_t count : request_.counts) {
        if (!type.instance->sells(count)) continue;
        if (request_.max_gpus && std::int64_t{node.gpus_per_node} * count > *request_.max_gpus) continue;
        order.push_back({(count & (count - 1)) != 0, peak > 0 ? rate / peak : 0, t, count, o});
      }
    }
  }
  std::sort(order.begin(), order.end(), [](const Ordered& a, const Ordered& b) {
    return std::tie(a.odd, a.price_of_peak, a.type, a.offer, a.count) <
           std::tie(b.odd, b.price_of_peak, b.type, b.offer, b.count);
  });
  for (const Ordered& o : order) {
    const Type& type = types_[o.type];
    const Market market = type.offers[o.offer].first;
    groups_.push_back(make_group(request_, catalog_, *type.instance, market, type.one_node, *type.workload, o.count));
    type_of_group_.push_back(o.type);
  }
}

PlanSet Search::run() {
  std::size_t begin = 0;
  for (std::size_t size = kFirstRound; begin < groups_.size(); size *= 2) {
    const std::size_t end = std::min(groups_.size(), begin + size);
    search_round(begin, end);
    begin = end;
    if (stopped(monitor_)) {
      stats_.exact = false;
      break;
    }
  }
  return answer();
}

/// A unit of work is one group under one framework.
void Search::search_round(std::size_t begin, std::size_t end) {
  list_splits_of(begin, end);
  const std::size_t stacks = request_.stacks.size();
  std::vector<StackOutcome> outcomes((end - begin) * stacks);
  const std::size_t frameworks = frameworks_.size() - 1;
  parallel_for(threads_, (end - begin) * frameworks, [&] {
    // Units of one group follow each other: a thread copies the hardware of a group once.
    return [&, group = end, cluster = std::optional<Cluster>()](std::size_t unit) mutable {
      if (stopped(monitor_)) return;
      const std::size_t g = begin + unit / frameworks;
      if (g != group) cluster.reset();
      group = g;
      search_unit(g, unit % frameworks, cluster, std::span(outcomes).subspan((g - begin) * stacks, stacks));
      advance(monitor_);
    };
  });
  for (std::size_t g = begin; g < end; ++g) {
    merge_group(g, std::span(outcomes).subspan((g - begin) * stacks, stacks));
  }
  keep_best();
}

/// Makes the lists of splits that the groups of a round need and earlier rounds did not.
void Search::list_splits_of(std::size_t begin, std::size_t end) {
  std::vector<std::pair<const ListKey, SplitList>*> missing;
  for (std::size_t g = begin; g < end; ++g) {
    const Type& type = types_[type_of_group_[g]];
    for (std::size_t s = 0; s < request_.stacks.size(); ++s) {
      if (type.stacks[s] == nullptr) continue;
      const std::int64_t gpus =
          std::int64_t{request_.stacks[s]->devices_used(type.one_node.gpus_per_node)} * groups_[g].count;
      const auto [entry, is_new] = lists_.try_emplace({request_.stacks[s]->id, type.workload, gpus});
      if (is_new) missing.push_back(&*entry);
    }
  }
  parallel_for(threads_, missing.size(), [&] {
    return [&](std::size_t i) {
      if (stopped(monitor_)) return;
      const ListKey& key = missing[i]->first;
      const auto is_of = [&](const Stack* stack) { return stack->id == key.framework; };
      const Stack& stack = **std::find_if(request_.stacks.begin(), request_.stacks.end(), is_of);
      missing[i]->second = list_splits(request_, *key.workload, key.gpus, stack, micro_batches_);
    };
  });
}

/// What one way reaches, the others have to beat.
void Search::search_unit(std::size_t index, std::size_t framework, std::optional<Cluster>& cluster,
                         std::span<StackOutcome> outcomes) const {
  std::optional<Seconds> threshold;
  for (std::size_t s = frameworks_[framework]; s < frameworks_[framework + 1]; ++s) {
    outcomes[s] = search_way(index, s, cluster, threshold);
    const auto& searched = types_[type_of_group_[index]].stacks[s];
    const auto last = searched == nullptr ? std::nullopt : searched->threshold_after(outcomes[s]);
    if (last) threshold = threshold ? std::min(*threshold, *last) : *last;
  }
}

StackOutcome Search::search_way(std::size_t index, std::size_t stack, std::optional<Cluster>& cluster,
                                std::optional<Seconds> threshold) const {
  const Group& group = groups_[index];
  const Type& type = types_[type_of_group_[index]];
  const Stack& used = *request_.stacks[stack];
  const auto too_dear = hourly_rejection(request_, group.hourly());
  const auto unfit = fleet_rejection(request_, *group.instance, group.market, group.count);
  const bool unsupported = type.stacks[stack] == nullptr || (used.one_node && group.count > 1);
  if (unsupported || too_dear || unfit) {
    StackOutcome out;
    out.stats.space = 1;
    const auto reason = unsupported ? RejectionReason::Unsupported : too_dear ? too_dear->reason : *unfit;
    out.rejected[static_cast<std::size_t>(reason)] = 1;
    return out;
  }
  if (!cluster) cluster = group.cluster();
  const std::optional<Cluster> part = used.parameter_server ? std::optional(used_by(used, *cluster)) : std::nullopt;
  const Cluster& hardware = part ? *part : *cluster;
  const SplitList& splits = lists_.find({used.id, type.workload, hardware.gpus()})->second;
  return type.stacks[stack]->search(group, hardware, splits, incumbents_, threshold);
}

/// A candidate with what its run costs; nullopt where that breaks a limit.
std::optional<Entry> Search::entry_of(const Group& group, const Stack& stack, const Candidate& c) const {
  // A limit with a probability is judged by the interval that the plan shows.
  const StepEstimate step = request_.confidence ? judged_step(group, stack, c) : c.step;
  Entry entry{&group, &stack, c, group_cost(group, stack, step)};
  if (limit_rejection(request_, entry.cost)) return std::nullopt;
  return entry;
}

void Search::merge_group(std::size_t index, std::span<const StackOutcome> outcomes) {
  const Group& group = groups_[index];
  std::vector<Entry> entries;
  for (std::size_t s = 0; s < outcomes.size(); ++s) {
    const StackOutcome& out = outcomes[s];
    for (std::size_t r = 0; r < rejected_.size(); ++r) rejected_[r] += out.rejected[r];
    stats_.space += out.stats.space;
    stats_.evaluated += out.stats.evaluated;
    stats_.pruned += out.stats.pruned;
    if (out.nearest) note_miss(group, *request_.stacks[s], *out.nearest);
    const std::size_t first = entries.size();
    for (const Candidate& c : out.best) {
      if (const auto entry = entry_of(group, *request_.stacks[s], c)) entries.push_back(*entry);
    }
    for (const Candidate& c : out.simple.items()) {
      if (const auto entry = entry_of(group, *request_.stacks[s], c)) near_.push_back(*entry);
    }
    // Later variants of a stack take longer and cost more than its first; another stack saves less or more.
    if (entries.size() > first) frontier_.push_back(entries[first]);
  }
  std::sort(entries.begin(), entries.end(), [this](const Entry& a, const Entry& b) { return before(a, b); });
  for (auto e = entries.begin(); e != entries.end();) {
    const bool again =
        std::any_of(entries.begin(), e, [&](const Entry& better) { return differ_in_execution(better, *e); });
    e = again ? entries.erase(e) : e + 1;
  }
  if (entries.size() > static_cast<std::size_t>(variants_)) entries.resize(static_cast<std::size_t>(variants_));
  ranked_.insert(ranked_.end(), entries.begin(), entries.end());
}

void Search::note_miss(const Group& group, const Stack& stack, const Miss& miss) {
  if (!nearest_ || nearer(miss.rejection, nearest_->miss.rejection)) nearest_ = GroupMiss{&group, &stack, miss};
}

bool Search::before(const Entry& a, const Entry& b) const {
  const Score sa = score_of(a);
  const Score sb = score_of(b);
  if (sa != sb) return sa < sb;
  const Seconds ta = a.candidate.step.time();
  const Seconds tb = b.candidate.step.time();
  return std::tie(ta, a.group->instance->name, a.group->count, a.group->market, a.stack->id, a.candidate.strategy) <
         std::tie(tb, b.group->instance->name, b.group->count, b.group->market, b.stack->id, b.candidate.strategy);
}

/// One instance before several, then simple strategies, then few instances.
bool Search::simpler(const Entry& a, const Entry& b) const {
  const auto key = [](const Entry& e) {
    return std::tuple(e.group->count > 1, complexity(e.candidate.strategy), e.group->count);
  };
  return key(a) != key(b) ? key(a) < key(b) : before(a, b);
}

/// The list: each place goes to the simplest of what is hardly behind the best that is left, at most `variants_` of one
/// instance type and count.
std::vector<Entry> Search::ranking() const {
  std::vector<Entry> left = ranked_;
  for (const Entry& e : near_) {
    const bool listed = std::any_of(ranked_.begin(), ranked_.end(), [&](const Entry& r) { return same(e, r); });
    if (!listed) left.push_back(e);
  }
  std::sort(left.begin(), left.end(), [this](const Entry& a, const Entry& b) { return before(a, b); });
  std::vector<Entry> out;
  while (!left.empty() && out.size() < static_cast<std::size_t>(request_.top)) {
    const Score best = score_of(left.front());
    const auto end =
        std::find_if(left.begin(), left.end(), [&](const Entry& e) { return !hardly_behind(score_of(e), best); });
    const auto next =
        std::min_element(left.begin(), end, [this](const Entry& a, const Entry& b) { return simpler(a, b); });
    out.push_back(*next);
    const Group* group = next->group;
    left.erase(next);
    std::erase_if(left, [&](const Entry& e) { return differ_in_execution(e, out.back()); });
    const auto shown = std::count_if(out.begin(), out.end(), [&](const Entry& e) { return e.group == group; });
    if (shown >= variants_) std::erase_if(left, [&](const Entry& e) { return e.group == group; });
  }
  return out;
}

std::vector<TimeCost> Search::points(const std::vector<Entry>& entries) const {
  std::vector<TimeCost> out;
  for (const Entry& e : entries) out.push_back({e.cost.time_to_train().value(), e.cost.total().value()});
  return out;
}

/// Keeps what can still be part of the answer, and tells the next round what it has to beat.
void Search::keep_best() {
  const auto top = static_cast<std::size_t>(request_.top);
  const auto by_rank = [this](const Entry& a, const Entry& b) { return before(a, b); };
  std::sort(ranked_.begin(), ranked_.end(), by_rank);
  if (ranked_.size() > top) ranked_.resize(top);
  if (!ranked_.empty()) {
    incumbents_.first = score_of(ranked_.front());
    std::erase_if(near_, [this](const Entry& e) { return !hardly_behind(score_of(e), *incumbents_.first); });
  }
  std::sort(frontier_.begin(), frontier_.end(), by_rank);
  std::vector<Entry> front;
  for (const std::size_t i : pareto_front(points(frontier_))) front.push_back(frontier_[i]);
  frontier_ = std::move(front);
  incumbents_.has_plan = !ranked_.empty();
  incumbents_.frontier = points(frontier_);
  if (ranked_.size() == top) {
    incumbents_.last_shown = score_of(ranked_.back());
  }
}

/// At most `n` entries of a list, both ends and evenly spaced ones between.
std::vector<std::size_t> spread(std::size_t size, std::size_t n) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < std::min(size, n); ++i) {
    out.push_back(size <= n || n == 1 ? i : i * (size - 1) / (n - 1));
  }
  return out;
}

PlanSet Search::answer() const {
  PlanSet set;
  set.request = request_;
  set.variants_per_group = variants_;
  set.rejected = rejected_;
  set.search = stats_;
  for (const Entry& e : frontier_) set.frontier.push_back(plan_of(e));
  if (request_.objective == Objective::Pareto) {
    for (const std::size_t i : spread(frontier_.size(), static_cast<std::size_t>(request_.top))) {
      set.plans.push_back(set.frontier[i]);
    }
  } else {
    for (const Entry& e : ranking()) set.plans.push_back(plan_of(e));
  }
  for (std::size_t i = 0; i < set.plans.size(); ++i) {
    const Plan& p = set.plans[i];
    const bool on_frontier =
        std::any_of(set.frontier.begin(), set.frontier.end(), [&](const Plan& f) { return f.same_as(p); });
    if (on_frontier) set.pareto.push_back(i + 1);
  }
  if (set.plans.empty() && nearest_) {
    const Group& group = *nearest_->group;
    const Cluster cluster = group.cluster(*nearest_->stack);
    Candidate c{nearest_->miss.strategy, {}, {}};
    c.memory = estimate_memory(*group.workload, c.strategy, cluster, *nearest_->stack);
    c.step = estimate_step(*group.workload, c.strategy, cluster, *nearest_->stack);
    set.nearest_miss = NearestMiss{make_plan(request_, group, *nearest_->stack, c), nearest_->miss.rejection};
  }
  return set;
}

/// Where nothing ends within the horizon, plans are ranked by time, so that the first is the soonest: the least of the
/// usual horizons that it keeps. nullopt where something ends, or nothing does in a year.
std::optional<Seconds> wider_horizon(const PlanSet& set) {
  const PlanRequest& request = set.request;
  const bool by_cost = request.objective == Objective::Cost || request.objective == Objective::Balanced;
  if (!by_cost || request.deadline || set.plans.empty()) return std::nullopt;
  const Seconds soonest = set.plans.front().cost.time_to_train();
  if (soonest <= request.horizon) return std::nullopt;
  for (const double wider : kWiderHorizonDays) {
    if (soonest <= days(wider)) return days(wider);
  }
  return std::nullopt;
}

}  // namespace

PlanSet search(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options) {
  PlanSet set = Search(request, catalog, options).run();
  const std::optional<Seconds> horizon = wider_horizon(set);
  if (!horizon) return set;
  PlanRequest wider = request;
  wider.horizon = *horizon;
  return Search(wider, catalog, options).run();
}

}  // namespace smplan
