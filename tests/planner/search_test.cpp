#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "catalogs/dates.hpp"
#include "models/run/cost.hpp"
#include "models/run/markets.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/answer/uncertainty.hpp"
#include "planner/search/bounds.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/objective.hpp"
#include "planner/search/search_space.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

/// The answer of plain enumeration: every strategy priced, nothing dismissed.
struct BruteForce {
  struct Entry {
    const InstanceType* instance = nullptr;
    std::int32_t count = 0;
    const Stack* stack = nullptr;
    Strategy strategy;
    double time = 0;
    double cost = 0;
    double step = 0;
    Market market = Market::OnDemand;
  };
  std::vector<Entry> ranked;
  std::vector<Entry> frontier;
};

/// Plain enumeration on purpose: shares no code with the search but the models and the ranking rule.
std::vector<std::int32_t> divisors_of(std::int64_t n) {
  std::vector<std::int32_t> out;
  for (std::int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) out.push_back(static_cast<std::int32_t>(d));
  }
  return out;
}

template <typename T>
bool lists(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

class Enumeration {
 public:
  Enumeration(const PlanRequest& request, const Cluster& cluster, const InstanceType& instance, const Stack& stack)
      : r_(request), cluster_(cluster), instance_(instance), stack_(stack) {}

  /// Calls `visit` for every valid strategy of the space.
  template <typename F>
  void each(F visit) {
    const std::int64_t gpus = cluster_.gpus();
    for (const std::int32_t tp : divisors_of(gpus)) {
      for (const std::int32_t cp : divisors_of(gpus / tp)) {
        for (const std::int32_t pp : divisors_of(gpus / tp / cp)) {
          for (const std::int32_t ep : divisors_of(std::max<std::int64_t>(1, r_.workload.architecture.moe.n_experts))) {
            Strategy s;
            s.execution = stack_.execution;
            s.tensor_parallel = tp;
            s.context_parallel = cp;
            s.pipeline_parallel = pp;
            s.expert_parallel = ep;
            s.data_parallel = static_cast<std::int32_t>(gpus / tp / cp / pp);
            s.expert_tensor_parallel =
                r_[Dimension::ExpertTensor].any() ? 0 : r_[Dimension::ExpertTensor].values.front();
            const bool allowed = r_[Dimension::Tensor].allows(tp) && r_[Dimension::Context].allows(cp) &&
                                 r_[Dimension::Pipeline].allows(pp) && r_[Dimension::Expert].allows(ep) &&
                                 r_[Dimension::Data].allows(s.data_parallel) && tp <= cluster_.domain();
            if (allowed && suits(s)) each_sharding(s, visit);
          }
        }
      }
    }
  }

 private:
  template <typename F>
  void each_sharding(Strategy s, F visit) {
    const std::int32_t replicas = s.data_parallel * s.context_parallel;
    for (const Sharding sharding : stack_.shardings) {
      for (const std::int32_t degree : divisors_of(replicas)) {
        const bool hybrid = sharding == Sharding::FsdpHybrid && degree > 1 && degree < replicas;
        const bool whole = sharding != Sharding::FsdpHybrid && degree == (sharding == Sharding::None ? 1 : replicas);
        if (!(hybrid || whole) || !r_[Dimension::Sharding].allows(sharding) ||
            !r_[Dimension::ShardDegree].allows(degree))
          continue;
        s.sharding = sharding;
        s.shard_degree = degree;
        for (const Schedule schedule :
             {Schedule::GPipe, Schedule::OneFOneB, Schedule::Interleaved, Schedule::ZeroBubble}) {
          // Without a pipeline the schedule has no meaning; 1F1B stands for it.
          if (s.pipeline_parallel == 1 && schedule != Schedule::OneFOneB) continue;
          if (s.pipeline_parallel > 1 && !r_[Dimension::Schedule].allows(schedule)) continue;
          for (std::int32_t v = 1; v <= 16; ++v) {
            s.schedule = schedule;
            s.virtual_pipeline = v;
            const bool even = r_.workload.architecture.n_layers % (s.pipeline_parallel * v) == 0;
            if (r_[Dimension::VirtualPipeline].allows(v) && (v == 1 || even || !r_[Dimension::VirtualPipeline].any()))
              each_detail(s, visit);
          }
        }
      }
    }
  }

  template <typename F>
  void each_detail(Strategy s, F visit) {
    for (std::int32_t mb = 1; mb <= r_.workload.global_batch; ++mb) {
      s.micro_batch = mb;
      for (const bool sp : {false, true}) {
        s.sequence_parallel = sp;
        for (const Collectives c : {Collectives::Nccl, Collectives::Smddp}) {
          s.collectives = c;
          if (!r_[Dimension::MicroBatch].allows(mb) || !r_[Dimension::SequenceParallel].allows(sp) ||
              !r_[Dimension::Collectives].allows(c))
            continue;
          if (c == Collectives::Smddp && !instance_.smddp) continue;
          s.recompute = stack_.recomputes.front();
          s.offload = Offload{};
          if (quick_check(s, r_.workload, stack_) == Validity::Ok) each_saving(s, visit);
        }
      }
    }
  }

  /// DeepEP's kernels between nodes need cards that EFA has not. Left open, it is taken where it reaches and nowhere
  /// else; nothing overlaps an exchange that there is not.
  [[nodiscard]] bool suits(const Strategy& s) const {
    const Execution& e = s.execution;
    if (r_[Dimension::ExpertOverlap].any() && e.expert_overlap == Toggle::On && s.expert_parallel == 1) return false;
    const bool tried = std::any_of(r_.stacks.begin(), r_.stacks.end(), [&](const Stack* way) {
      return way->id == stack_.id && way->execution.moe_dispatcher == MoeDispatcher::DeepEp;
    });
    if (!r_[Dimension::MoeDispatcher].any() || !tried) return true;
    const bool beyond = cluster_.network.kind == NetworkKind::Efa && group_shapes(s, cluster_).expert.domains() > 1;
    return (s.expert_parallel > 1 && !beyond) == (e.moe_dispatcher == MoeDispatcher::DeepEp);
  }

  template <typename F>
  void each_saving(Strategy s, F visit) {
    for (const Recompute recompute : {Recompute::None, Recompute::Selective, Recompute::Full}) {
      for (int bits = 0; bits < 16; ++bits) {
        s.recompute = recompute;
        s.offload = {(bits & 8) != 0, (bits & 4) != 0, (bits & 2) != 0, (bits & 1) != 0};
        if (!r_[Dimension::Recompute].allows(recompute) || !r_[Dimension::Offload].allows(s.offload)) continue;
        if (s.offload.to_nvme && cluster_.local_nvme.value() <= 0) continue;
        const std::int32_t chunks = s.pipeline_parallel * s.virtual_pipeline;
        const auto most = static_cast<std::int32_t>((r_.workload.architecture.n_layers + chunks - 1) / chunks);
        const bool open = r_[Dimension::RecomputeLayers].any();
        for (std::int32_t n = 0; n <= most - (open ? 1 : 0); ++n) {
          s.recompute_layers = n;
          if (recompute == Recompute::Full ? !r_[Dimension::RecomputeLayers].allows(n) : n > 0) continue;
          if (quick_check(s, r_.workload, stack_) == Validity::Ok) visit(s);
        }
      }
    }
  }

  const PlanRequest& r_;
  const Cluster& cluster_;
  const InstanceType& instance_;
  const Stack& stack_;
};

bool holds(const MemoryEstimate& m, const Cluster& c, double headroom) {
  return m.fits_device() && m.host_per_node <= m.host_limit && m.nvme_per_node <= c.local_nvme &&
         m.wanted <= m.limit * (1 - headroom);
}

/// Best of every split of one group, at most `variants` of a stack; every plan goes to `all`. Inside a group and stack
/// step time ranks for every objective; costs may differ from it in the last digit.
std::vector<BruteForce::Entry> ideas_of(const PlanRequest& request, const Catalog& facts, const InstanceType& instance,
                                        Market market, std::int32_t count, std::vector<BruteForce::Entry>& all) {
  using Entry = BruteForce::Entry;
  const auto faster = [](const Entry& a, const Entry& b) {
    return std::tie(a.step, a.strategy) < std::tie(b.step, b.strategy);
  };
  const Workload& w = request.workload;
  const Price* price = facts.find_price(instance.name, request.region, market);
  if (price == nullptr) return {};
  const UsdPerSecond rate = price->rate * request.scenario.price;
  std::vector<Entry> group;
  for (const Stack* stack : request.stacks) {
    Cluster cluster = make_cluster(facts, instance, count).value();
    apply(request.scenario, cluster);
    if (request.max_gpus && cluster.gpus() > *request.max_gpus) continue;
    if (stack->id == "smp-v2" && !instance.smp_v2) continue;
    if (request.max_hourly && rate * static_cast<double>(count) > *request.max_hourly) continue;
    RunSetup setup = request.run;
    setup.market = market;
    RunTerms terms =
        run_terms(setup, w, instance, count, rate, save_format(w, *stack), cluster.accelerator.peak_rate(w.precision));
    const auto days = days_between(price->provenance.as_of, request.prices_as_of);
    terms.price_sigma = price_sigma(*price, static_cast<double>(days.value()) / 365, setup.operations);
    std::map<std::tuple<int, int, int, int>, Entry> splits;
    Enumeration(request, cluster, instance, *stack).each([&](const Strategy& s) {
      const MemoryEstimate memory = estimate_memory(w, s, cluster, *stack);
      if (!holds(memory, cluster, request.min_headroom)) return;
      if (request.max_oom_probability && out_of_memory_probability(memory, *stack) > *request.max_oom_probability)
        return;
      StepEstimate step = estimate_step(w, s, cluster, *stack);
      set_interval(step, *stack, unmeasured_traits(w, s, cluster, *stack).size());
      const RunCost cost = estimate_cost(step, w, terms);
      const Entry e{&instance,           count, stack, s, cost.time_to_train().value(), cost.total().value(),
                    step.time().value(), market};
      const double sure = request.confidence.value_or(0.5);
      if (market == Market::CapacityBlock && cost.time_to_train() > smplan::days(182)) return;
      if (cost.unsafe || (request.deadline && cost.spread.at(sure) > *request.deadline)) return;
      if (request.budget && cost.cost_at(sure) > *request.budget) return;
      all.push_back(e);
      const auto key = std::make_tuple(s.tensor_parallel, s.pipeline_parallel, s.context_parallel, s.expert_parallel);
      const auto found = splits.find(key);
      if (found == splits.end() || faster(e, found->second)) splits[key] = e;
    });
    std::vector<Entry> of_stack;
    for (const auto& split : splits) of_stack.push_back(split.second);
    std::sort(of_stack.begin(), of_stack.end(), faster);
    const auto most = static_cast<std::size_t>(variants_per_group(request));
    if (of_stack.size() > most) of_stack.resize(most);
    group.insert(group.end(), of_stack.begin(), of_stack.end());
  }
  return group;
}

bool one_group(const BruteForce::Entry& a, const BruteForce::Entry& b) {
  return a.instance == b.instance && a.count == b.count && a.market == b.market;
}

/// The same split of the same framework, whose software is told something else.
bool told_otherwise(const BruteForce::Entry& a, const BruteForce::Entry& b) {
  const Strategy& s = a.strategy;
  const Strategy& t = b.strategy;
  return one_group(a, b) && a.stack != b.stack && a.stack->id == b.stack->id &&
         s.tensor_parallel == t.tensor_parallel && s.pipeline_parallel == t.pipeline_parallel &&
         s.context_parallel == t.context_parallel && s.expert_parallel == t.expert_parallel;
}

/// Plans hardly slower than the fastest of their group and stack that no other there beats in speed and simplicity.
std::vector<BruteForce::Entry> simple_ones(const std::vector<BruteForce::Entry>& all) {
  using Entry = BruteForce::Entry;
  std::vector<Entry> out;
  for (const Entry& e : all) {
    const bool beaten = std::any_of(all.begin(), all.end(), [&](const Entry& other) {
      if (!one_group(e, other) || e.stack != other.stack) return false;
      if (e.step > other.step * kSimplerMayCost) return true;
      return std::tie(other.step, other.strategy) < std::tie(e.step, e.strategy) &&
             complexity(other.strategy) <= complexity(e.strategy);
    });
    if (!beaten) out.push_back(e);
  }
  return out;
}

/// Each place to the simplest of what is within 2 % of the best that is left.
template <typename Before>
std::vector<BruteForce::Entry> prefer_simple(const PlanRequest& request, std::vector<BruteForce::Entry> left,
                                             Before before) {
  using Entry = BruteForce::Entry;
  const auto value = [&](const Entry& e) { return score(request, Seconds(e.time), Usd(e.cost)); };
  const auto simplicity = [](const Entry& e) { return std::tuple(e.count > 1, complexity(e.strategy), e.count); };
  std::vector<Entry> out;
  while (!left.empty() && out.size() < static_cast<std::size_t>(request.top)) {
    std::sort(left.begin(), left.end(), before);
    const Score best = value(left.front());
    auto next = left.begin();
    for (auto e = left.begin(); e != left.end(); ++e) {
      const bool near = value(*e).over_limit == best.over_limit && value(*e).value <= 1.02 * best.value;
      if (near && simplicity(*e) < simplicity(*next)) next = e;
    }
    out.push_back(*next);
    left.erase(next);
    std::erase_if(left, [&](const Entry& e) { return told_otherwise(e, out.back()); });
    const auto of_group =
        std::count_if(out.begin(), out.end(), [&](const Entry& e) { return one_group(e, out.back()); });
    if (of_group >= variants_per_group(request)) {
      std::erase_if(left, [&](const Entry& e) { return one_group(e, out.back()); });
    }
  }
  return out;
}

BruteForce brute_force(const PlanRequest& request, const Catalog& facts) {
  using Entry = BruteForce::Entry;
  BruteForce out;
  const auto before = [&](const Entry& a, const Entry& b) {
    const Score sa = score(request, Seconds(a.time), Usd(a.cost));
    const Score sb = score(request, Seconds(b.time), Usd(b.cost));
    if (sa != sb) return sa < sb;
    return std::tie(a.step, a.instance->name, a.count, a.market, a.stack->id, a.strategy) <
           std::tie(b.step, b.instance->name, b.count, b.market, b.stack->id, b.strategy);
  };
  std::vector<Entry> all;
  for (const InstanceType* instance : request.instances) {
    for (const Market market : request.markets) {
      for (const std::int32_t count : request.counts) {
        std::vector<Entry> group = ideas_of(request, facts, *instance, market, count, all);
        std::sort(group.begin(), group.end(), before);
        std::vector<Entry> ideas;
        for (const Entry& e : group) {
          const auto same = [&](const Entry& idea) { return told_otherwise(e, idea); };
          if (std::none_of(ideas.begin(), ideas.end(), same)) ideas.push_back(e);
        }
        group = std::move(ideas);
        const auto most = static_cast<std::size_t>(variants_per_group(request));
        if (group.size() > most) group.resize(most);
        out.ranked.insert(out.ranked.end(), group.begin(), group.end());
      }
    }
  }
  std::sort(out.ranked.begin(), out.ranked.end(), before);
  if (out.ranked.size() > static_cast<std::size_t>(request.top))
    out.ranked.resize(static_cast<std::size_t>(request.top));
  if (!out.ranked.empty()) {
    const auto value = [&](const Entry& e) { return score(request, Seconds(e.time), Usd(e.cost)); };
    const Score best = value(out.ranked.front());
    // Whatever beats a plan that is near the best is near it too.
    std::vector<Entry> near;
    std::copy_if(all.begin(), all.end(), std::back_inserter(near), [&](const Entry& e) {
      return value(e).over_limit == best.over_limit && value(e).value <= 1.02 * best.value;
    });
    for (const Entry& e : simple_ones(near)) {
      const bool listed = std::any_of(out.ranked.begin(), out.ranked.end(), [&](const Entry& r) {
        return one_group(r, e) && r.stack == e.stack && r.strategy == e.strategy;
      });
      if (!listed) out.ranked.push_back(e);
    }
    out.ranked = prefer_simple(request, std::move(out.ranked), before);
  }
  // Cheapest first, each next one faster; ranking order breaks ties.
  std::sort(all.begin(), all.end(), [&](const Entry& a, const Entry& b) {
    if (a.cost != b.cost) return a.cost < b.cost;
    if (a.time != b.time) return a.time < b.time;
    return before(a, b);
  });
  for (const Entry& e : all) {
    // Less than a rounding error faster is no point of its own.
    if (out.frontier.empty() || e.time < out.frontier.back().time * (1 - 1e-13)) out.frontier.push_back(e);
  }
  return out;
}

std::string name_of(const Plan& p) {
  return fmt::format("{} x{} {} {} {}", p.instance->name, p.instance_count, to_string(p.market), p.stack->id,
                     to_string(p.strategy));
}
std::string name_of(const BruteForce::Entry& e) {
  return fmt::format("{} x{} {} {} {}", e.instance->name, e.count, to_string(e.market), e.stack->id,
                     to_string(e.strategy));
}

template <typename T>
std::string names_of(const std::vector<T>& plans) {
  std::string out;
  for (const T& p : plans) out += name_of(p) + "\n";
  return out;
}

/// A random request over a small space. Standard distributions differ by library; these do not.
class RandomRequests {
 public:
  explicit RandomRequests(std::uint64_t seed) : engine_(seed) {}

  PlanRequest next() {
    static const std::vector<std::string> kTypes{"ml.p4d.24xlarge", "ml.p5.48xlarge",  "ml.g5.12xlarge",
                                                 "ml.g5.xlarge",    "ml.g6e.12xlarge", "ml.p4de.24xlarge"};
    static const std::vector<std::string> kStacks{"megatron", "fsdp", "deepspeed", "ddp", "torchtitan", "smp-v2"};
    RequestSpec spec;
    spec.model = "gpt2";
    spec.instances = pick(kTypes) + "," + pick(kTypes);
    spec.count = pick(std::vector<std::string>{"1", "1,2", "1..3", "2", "3"});
    spec.stack = pick(kStacks) + "," + pick(kStacks);
    spec.launchable = "any";
    spec.max_gpus = "16";
    spec.top = pick(std::vector<std::string>{"1", "3", "10", "40"});
    spec.objective = pick(std::vector<std::string>{"cost", "time", "balanced", "pareto"});
    if (spec.objective == "balanced") spec.cost_weight = pick(std::vector<std::string>{"50%", "20%", "0.9"});
    if (chance(5)) spec.what_if = pick(std::vector<std::string>{"price=-20%,efa=2x", "memory=-50%", "compute=3x"});
    if (chance(3)) spec.min_headroom = "20%";
    if (chance(4)) spec.max_oom_probability = pick(std::vector<std::string>{"0.1%", "5%", "30%"});
    if (chance(3)) {
      spec.market = pick(std::vector<std::string>{"on-demand,spot", "spot,capacity-block,on-demand"});
    }
    if (chance(4)) spec.checkpoint_storage = pick(std::vector<std::string>{"fsx-lustre", "efs"});
    if (chance(5)) {
      spec.dataset = "3TB";
      spec.sample_size = pick(std::vector<std::string>{"100kB", "5MB"});
    }
    PlanRequest r = request_of(spec);
    const std::int64_t heads = 4 << below(3);
    const std::int64_t hidden = 128 * heads * (1 + static_cast<std::int64_t>(below(4)));
    const std::int64_t layers = 4 + static_cast<std::int64_t>(below(9));
    r.workload.architecture = chance(4) ? small_moe(layers, hidden, heads, 4) : small_model(layers, hidden, heads);
    if (chance(3)) make_hybrid(r.workload.architecture);
    r.workload.seq_len = 1024 << below(3);
    r.workload.global_batch = pick(std::vector<int>{6, 8, 12, 16});
    r.workload.tokens = 1e9 * static_cast<double>(1 + below(200));
    if (chance(4)) r.workload.finetune = FineTune::Lora;
    if (chance(2)) r[Dimension::Offload].only({Offload{}});
    if (chance(2)) r[Dimension::Recompute].only({pick(std::vector<Recompute>{Recompute::None, Recompute::Full})});
    if (chance(6))
      r[Dimension::RecomputeLayers].values = pick(std::vector<std::vector<std::int32_t>>{{0}, {2}, {1, 3, 6}});
    if (chance(4)) r[Dimension::Tensor].values = {1, 2};
    if (chance(4)) r[Dimension::Pipeline].values = {1, 2, 4};
    if (chance(6)) r[Dimension::VirtualPipeline].values = {1, 2, 3};
    if (r.workload.architecture.is_moe() && chance(2)) r[Dimension::ExpertTensor].values = {2};
    return r;
  }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }

 private:
  /// State mixers in some layers, parts of their own in others, blocks for further tokens.
  void make_hybrid(Architecture& a) {
    a.state = {.n_heads = 16, .head_dim = 64, .n_groups = 4, .state_dim = 64, .conv_kernel = 4, .chunk = 128};
    if (chance(2)) {
      a.attention_stride = 2 + static_cast<std::int64_t>(below(2));
      a.state.delta_rule = chance(2);
    } else {
      a.norms_per_layer = 1;
      const std::string letters = a.is_moe() ? "M*E" : "M*-";
      for (std::int64_t i = 0; i < a.n_layers; ++i) a.layer_pattern.push_back(letters[below(letters.size())]);
      a.layer_pattern.replace(0, letters.size(), letters);
    }
    if (a.is_moe() && chance(2)) a.moe.latent_hidden = a.hidden / 2;
    if (chance(3)) a.prediction = {.depth = 2, .shared_block = chance(2)};
    ASSERT_TRUE(check(a, "hybrid").empty()) << to_string(check(a, "hybrid"));
  }
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  template <typename T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  std::mt19937_64 engine_;
};

/// How many random spaces a test tries; SMPLAN_RANDOM_SPACES multiplies it for a long run.
int spaces(int n) {
  const char* factor = std::getenv("SMPLAN_RANDOM_SPACES");
  return factor != nullptr ? n * std::max(1, std::atoi(factor)) : n;
}

void expect_same_frontier(const PlanSet& set, const BruteForce& truth, int request) {
  ASSERT_EQ(set.frontier.size(), truth.frontier.size()) << "request " << request;
  for (std::size_t i = 0; i < set.frontier.size(); ++i) {
    const Plan& p = set.frontier[i];
    const BruteForce::Entry& e = truth.frontier[i];
    EXPECT_EQ(p.instance, e.instance) << "request " << request;
    EXPECT_EQ(p.instance_count, e.count) << "request " << request;
    EXPECT_NEAR(p.cost.time_to_train().value(), e.time, 1e-12 * e.time);
    EXPECT_NEAR(p.cost.total().value(), e.cost, 1e-12 * e.cost);
  }
}

std::uint64_t rejected_before_pricing(const PlanSet& set) {
  std::uint64_t sum = 0;
  for (int i = 0; i < static_cast<int>(RejectionReason::NoCheckpoints); ++i)
    sum += set.rejected[static_cast<std::size_t>(i)];
  return sum;
}

TEST(Search, EqualsBruteForceOnRandomSmallSpaces) {
  RandomRequests random(20261120);
  int with_plans = 0;
  const int n = spaces(300);
  for (int i = 0; i < n; ++i) {
    const PlanRequest request = random.next();
    const PlanSet set = search(request, catalog(), {.threads = 1});
    // The horizon may have grown; that it does is another test's.
    const BruteForce truth = brute_force(set.request, catalog());
    if (request.objective != Objective::Pareto) {
      ASSERT_EQ(names_of(set.plans), names_of(truth.ranked)) << "request " << i;
    }
    expect_same_frontier(set, truth, i);
    EXPECT_EQ(set.search.space, set.search.evaluated + set.search.pruned + rejected_before_pricing(set));
    EXPECT_TRUE(set.search.exact);
    with_plans += set.plans.empty() ? 0 : 1;
  }
  EXPECT_GT(with_plans, n / 2);
}

/// Experts spread inside an instance and over two, on networks that DeepEP does and does not reach over.
TEST(Search, EqualsBruteForceOverTheWaysToExchangeExperts) {
  int within = 0;
  int beyond = 0;
  for (const char* dispatcher : {"", "deepep", "default,deepep"}) {
    for (const char* instance : {"ml.p4d.24xlarge", "ml.g5.12xlarge"}) {
      for (const std::int64_t experts : {4, 16}) {
        RequestSpec spec;
        spec.model = "mixtral-8x7b";
        spec.instances = instance;
        spec.count = "1,2";
        spec.stack = "megatron";
        spec.top = "40";
        if (*dispatcher != 0) spec[Dimension::MoeDispatcher] = dispatcher;
        PlanRequest request = request_of(spec);
        request.workload.architecture = small_moe(4, 1024, 8, experts);
        request.workload.seq_len = 2048;
        request.workload.global_batch = 16;
        request.workload.tokens = 1e9;
        request[Dimension::Offload].only({Offload{}});
        const PlanSet set = search(request, catalog(), {.threads = 1});
        const BruteForce truth = brute_force(set.request, catalog());
        ASSERT_EQ(names_of(set.plans), names_of(truth.ranked)) << instance << ' ' << dispatcher << ' ' << experts;
        expect_same_frontier(set, truth, 0);
        EXPECT_EQ(set.search.space, set.search.evaluated + set.search.pruned + rejected_before_pricing(set));
        for (const Plan& plan : set.plans) {
          const bool deepep = plan.strategy.execution.moe_dispatcher == MoeDispatcher::DeepEp;
          within += deepep ? 1 : 0;
          beyond += plan.strategy.expert_parallel > 1 && !deepep ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(within, 0);
  EXPECT_GT(beyond, 0);
}

TEST(Search, EqualsBruteForceWithFixedSchedules) {
  RandomRequests random(40);
  int pipelines = 0;
  const int n = spaces(60);
  for (int i = 0; i < n; ++i) {
    PlanRequest request = random.next();
    if (request.objective == Objective::Pareto) continue;
    request[Dimension::Schedule].only({i % 2 == 0 ? Schedule::OneFOneB : Schedule::Interleaved});
    const PlanSet set = search(request, catalog(), {.threads = 1});
    const BruteForce truth = brute_force(set.request, catalog());
    ASSERT_EQ(names_of(set.plans), names_of(truth.ranked)) << "request " << i;
    for (const Plan& plan : set.plans) {
      if (plan.strategy.pipeline_parallel == 1) continue;
      EXPECT_TRUE(request[Dimension::Schedule].allows(plan.strategy.schedule));
      ++pipelines;
    }
  }
  EXPECT_GT(pipelines, 5);
}

TEST(Search, EqualsBruteForceUnderLimits) {
  RandomRequests random(7);
  int with_plans = 0;
  int without_plans = 0;
  const int n = spaces(100);
  for (int i = 0; i < n; ++i) {
    PlanRequest request = random.next();
    const PlanSet open = search(request, catalog(), {.threads = 1});
    if (open.plans.empty()) continue;
    // Limits around the best plan, so that they bind.
    const RunCost& best = open.plans.front().cost;
    const double slack = i % 3 == 0 ? 0.9 : 1.4;
    if (i % 2 == 0) {
      request.deadline = best.time_to_train() * slack;
    } else {
      request.budget = best.total() * slack;
    }
    if (i % 5 == 0) request.max_hourly = best.hourly * 1.01;
    const PlanSet set = search(request, catalog(), {.threads = 1});
    const BruteForce truth = brute_force(set.request, catalog());  // whose horizon may have grown
    if (request.objective != Objective::Pareto) {
      ASSERT_EQ(names_of(set.plans), names_of(truth.ranked)) << "request " << i;
    }
    expect_same_frontier(set, truth, i);
    ++(set.plans.empty() ? without_plans : with_plans);
  }
  EXPECT_GT(with_plans, 10);
  EXPECT_GT(without_plans, 3);
}

// Two recomputations and two collective libraries, and one micro-batch for each divisor of a rank's share.
TEST(Search, CountsItsSpace) {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "1";
  spec.stack = "ddp";
  spec[Dimension::Compile] = spec[Dimension::LossKernel] = "default";
  const auto space = [&](const char* batch) {
    spec.global_batch = batch;
    return search(request_of(spec), catalog()).search.space;
  };
  EXPECT_EQ(space("8"), 4U);
  EXPECT_EQ(space("48"), 4U * 4);
  EXPECT_EQ(space("12"), 1U) << "the one split that ranks of one device allow does not divide";
  spec[Dimension::MicroBatch] = "2,3";
  EXPECT_EQ(space("48"), 4U * 2);
}

TEST(Search, PricesFewOfItsCandidates) {
  RequestSpec spec;
  spec.params = "13B";
  spec.instances = "ml.p4d.24xlarge,ml.p5.48xlarge";
  spec.count = "1..16";
  const SearchStats stats = search(request_of(spec), catalog(), {.threads = 1}).search;
  EXPECT_LT(50 * stats.evaluated, stats.space);
}

TEST(Search, GivesTheSameBytesOnAnyNumberOfThreads) {
  RandomRequests random(3);
  for (int i = 0; i < 10; ++i) {
    const PlanRequest request = random.next();
    const std::string one = to_json(search(request, catalog(), {.threads = 1}));
    EXPECT_EQ(one, to_json(search(request, catalog(), {.threads = 2})));
    EXPECT_EQ(one, to_json(search(request, catalog(), {.threads = 7})));
  }
}

TEST(Search, PlansAreWhatTheModelsSayOfThem) {
  RandomRequests random(11);
  for (int i = 0; i < 30; ++i) {
    const PlanRequest request = random.next();
    for (const Plan& p : search(request, catalog(), {.threads = 1}).plans) {
      PlanRequest sold_so = request;
      sold_so.markets = {p.market};
      const Result<Plan> again = evaluate(sold_so, catalog(), *p.instance, p.instance_count, *p.stack, p.strategy);
      ASSERT_TRUE(again) << to_string(again.error());
      EXPECT_EQ(again->step.components, p.step.components);
      EXPECT_EQ(again->memory.components, p.memory.components);
      EXPECT_EQ(again->cost.total(), p.cost.total());
    }
  }
}

// What pruning rests on, checked against the models themselves on every strategy of random spaces.
TEST(Pruning, RestsOnWhatTheModelsDo) {
  RandomRequests random(5);
  std::uint64_t checked = 0;
  const int n = spaces(40);
  for (int i = 0; i < n; ++i) {
    const PlanRequest r = random.next();
    const InstanceType& type = *r.instances.front();
    const Stack& stack = *r.stacks.front();
    const Cluster cluster = make_cluster(catalog(), type, r.counts.back()).value();
    Enumeration(r, cluster, type, stack).each([&](const Strategy& s) {
      if (++checked % 17 != 0) return;
      const Workload& w = r.workload;
      const Seconds time = estimate_step(w, s, cluster, stack).time();
      const LayerTable table = layer_table(w, s, cluster, stack);
      Seconds floor = table_floor(table, stack.profile);
      if (s.recompute == Recompute::Full) {
        const std::int64_t most = table.stack.most_on_a_stage(s.pipeline_parallel);
        floor += s.recomputed_part(static_cast<double>(most)) * recompute_floor(table, stack);
      }
      const double bubble = bubble_floor(s.schedule, s.pipeline_parallel, s.virtual_pipeline);
      EXPECT_LE(step_floor(floor, static_cast<double>(s.micro_batches(w)), s.pipeline_parallel, bubble,
                           straggler_stretch(cluster.gpus(), stack.profile), stack.profile),
                time)
          << to_string(s);
      const Split split{s.tensor_parallel, s.context_parallel, s.pipeline_parallel, s.expert_parallel, s.data_parallel};
      const Flops work = micro_batch_work(token_work(w, stack.profile), w, split, s.micro_batch);
      EXPECT_LE(work / work_rate(cluster, w.precision, stack.profile), table_floor(table, stack.profile) * (1 + 1e-12))
          << to_string(s);
      // A saving that spends no more never takes longer.
      for (const Recompute recompute : stack.recomputes) {
        for (int bits = 0; bits < 16; ++bits) {
          Strategy lighter = s;
          lighter.recompute = recompute;
          lighter.recompute_layers = 0;
          lighter.offload = {(bits & 8) != 0, (bits & 4) != 0, (bits & 2) != 0, (bits & 1) != 0};
          const SavingOption spent{s.recompute, s.recompute_layers > 0, s.offload};
          if (!spends_no_more({recompute, false, lighter.offload}, spent)) continue;
          if (quick_check(lighter, w, stack) != Validity::Ok) continue;
          EXPECT_LE(estimate_step(w, lighter, cluster, stack).time().value(), time.value() * (1 + 1e-12))
              << to_string(lighter) << " against " << to_string(s);
        }
      }
      // A recomputed layer more saves memory and costs time.
      if (s.recompute_layers > 0) {
        Strategy fewer = s;
        if (--fewer.recompute_layers == 0) fewer.recompute = Recompute::None;
        EXPECT_LE(estimate_step(w, fewer, cluster, stack).time().value(), time.value() * (1 + 1e-12)) << to_string(s);
        EXPECT_GE(estimate_memory(w, fewer, cluster, stack).wanted.value(),
                  estimate_memory(w, s, cluster, stack).wanted.value() * (1 - 1e-12))
            << to_string(s);
      }
      // Memory grows with the micro-batch, as long as as many are in flight.
      const bool fixed_depth = s.schedule == Schedule::OneFOneB || s.schedule == Schedule::ZeroBubble;
      Strategy larger = s;
      larger.micro_batch *= 2;
      if (quick_check(larger, w, stack) != Validity::Ok) return;
      if (s.pipeline_parallel > 1 && !(fixed_depth && larger.micro_batches(w) >= s.pipeline_parallel)) return;
      const MemoryEstimate small = estimate_memory(w, s, cluster, stack);
      const MemoryEstimate large = estimate_memory(w, larger, cluster, stack);
      EXPECT_LE(small.peak_device, large.peak_device) << to_string(s);
      EXPECT_LE(small.host_per_node, large.host_per_node) << to_string(s);
    });
  }
  EXPECT_GT(checked, 9000U);
}

}  // namespace
}  // namespace smplan::test
