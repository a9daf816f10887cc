#include "tests/properties/random_requests.hpp"
#include "planner/search/estimate.hpp"

#include <algorithm>
#include <bit>

namespace smplan::properties {
namespace {

PlanRequest default_request(const Catalog& catalog) {
  RequestSpec spec;
  spec.model = "llama-2-7b";
  return resolve(spec, catalog, std::nullopt).value();
}

constexpr int kCountLimit = 6;  // 2^5 instances at most

}  // namespace

RandomRequests::RandomRequests(const Catalog& catalog, std::uint64_t seed)
    : catalog_(catalog), defaults_(default_request(catalog)), instances_(defaults_.instances), engine_(seed) {}

std::int32_t RandomRequests::power_up_to(std::int64_t most) {
  const auto bits =
      static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(1, most))));
  return std::int32_t{1} << below(bits);
}

Configuration RandomRequests::next() {
  while (true) {
    if (auto configuration = attempt()) return std::move(*configuration);
  }
}

std::optional<Configuration> RandomRequests::attempt() {
  Configuration c;
  c.request = defaults_;
  Workload& w = c.request.workload;
  const ModelPreset& model = pick(catalog_.models());
  w.architecture = model.architecture;
  w.seq_len = std::min<std::int64_t>(model.default_seq_len, std::int64_t{256} << below(7));
  w.global_batch = std::int64_t{1} << below(12);
  w.tokens = w.tokens_per_step() * static_cast<double>(1 + below(100'000));
  w.optimizer = static_cast<Optimizer>(below(7));
  if (chance(4)) w.finetune = chance(2) ? FineTune::Lora : FineTune::Qlora;
  c.request.precision_defaulted = !chance(4);
  if (!c.request.precision_defaulted) w.precision = static_cast<Precision>(below(kPrecisionCount));
  c.instance = pick(instances_);
  c.count = std::int32_t{1} << below(kCountLimit);
  c.stack = &pick(catalog_.stacks());
  if (!check(w).empty()) return std::nullopt;
  const Result<Cluster> cluster = make_cluster(catalog_, *c.instance, c.count);
  if (!cluster) return std::nullopt;
  // Most random strategies do not divide or are beyond the stack; looking at them is cheap.
  for (int tries = 0; tries < 200; ++tries) {
    c.strategy = random_strategy(c, used_by(*c.stack, *cluster));
    if (quick_check(c.strategy, w, *c.stack) != Validity::Ok) continue;
    Result<Plan> plan = evaluate(c.request, catalog_, *c.instance, c.count, *c.stack, c.strategy);
    if (!plan) continue;
    c.plan = std::move(*plan);
    return c;
  }
  return std::nullopt;
}

Strategy RandomRequests::random_strategy(const Configuration& c, const Cluster& cluster) {
  const Workload& w = c.request.workload;
  Strategy s;
  std::int64_t left = cluster.gpus();
  const auto take = [&](std::int64_t most) {
    const std::int32_t degree = power_up_to(std::min(most, left));
    if (left % degree != 0) return 1;
    left /= degree;
    return degree;
  };
  if (chance(2)) s.tensor_parallel = take(cluster.domain());
  if (chance(3)) s.pipeline_parallel = take(w.architecture.n_layers);
  if (chance(5)) s.context_parallel = take(16);
  s.data_parallel = static_cast<std::int32_t>(left);
  if (w.architecture.is_moe() && chance(2)) s.expert_parallel = power_up_to(w.architecture.moe.n_experts);
  if (w.architecture.is_moe() && chance(4)) s.expert_tensor_parallel = power_up_to(8);
  s.sequence_parallel = s.tensor_parallel > 1 && chance(2);
  s.sharding = pick(c.stack->shardings);
  const std::int32_t replicas = s.data_parallel * s.context_parallel;
  s.shard_degree = s.sharding == Sharding::None         ? 1
                   : s.sharding == Sharding::FsdpHybrid ? power_up_to(replicas)
                                                        : replicas;
  s.micro_batch = power_up_to(std::min<std::int64_t>(16, w.global_batch));
  if (s.pipeline_parallel > 1) {
    s.schedule = static_cast<Schedule>(below(4));
    if (s.schedule == Schedule::Interleaved) s.virtual_pipeline = power_up_to(8);
  }
  s.recompute = pick(c.stack->recomputes);
  if (chance(4)) s.offload = {chance(2), chance(2), chance(2), chance(4)};
  if (c.instance->smddp && chance(4)) s.collectives = Collectives::Smddp;
  return s;
}

PlanRequest RandomRequests::search_request(const Configuration& configuration) {
  PlanRequest r = configuration.request;
  r.instances = {configuration.instance, pick(instances_)};
  if (r.instances[0] == r.instances[1]) r.instances.pop_back();
  r.counts = {1, 2};
  r.stacks = {configuration.stack};
  r[Dimension::Offload].only({Offload{}});
  r.workload.global_batch = std::min<std::int64_t>(r.workload.global_batch, 64);
  r.top = 3;
  return r;
}

}  // namespace smplan::properties
