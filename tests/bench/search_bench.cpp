// Build with -DSMPLAN_BUILD_BENCH=ON in Release; figures belong in docs/performance.md with the machine's name.

#include <cstdio>
#include <cstdlib>
#include <random>

#include <benchmark/benchmark.h>

#include "planner/search/batch_estimate.hpp"
#include "planner/search/search.hpp"

namespace {

using namespace smplan;

const Catalog& catalog() {
  static const Catalog shipped = [] {
    Result<Catalog> c = Catalog::shipped();
    if (!c) {
      std::fputs(to_string(c.error()).c_str(), stderr);
      std::exit(1);
    }
    return std::move(*c);
  }();
  return shipped;
}

PlanRequest request_of(const RequestSpec& spec) {
  Result<PlanRequest> r = resolve(spec, catalog(), std::nullopt);
  if (!r) {
    std::fputs(to_string(r.error()).c_str(), stderr);
    std::exit(1);
  }
  return std::move(*r);
}

void search_space(benchmark::State& state, const RequestSpec& spec, int threads) {
  const PlanRequest request = request_of(spec);
  SearchStats stats;
  for (auto _ : state) {
    const PlanSet set = search(request, catalog(), {.threads = threads});
    stats = set.search;
    benchmark::DoNotOptimize(set.plans.data());
  }
  state.counters["space"] = static_cast<double>(stats.space);
  state.counters["evaluated"] = static_cast<double>(stats.evaluated);
  state.counters["candidates/s"] =
      benchmark::Counter(static_cast<double>(stats.space), benchmark::Counter::kIsIterationInvariantRate);
}

RequestSpec model(const char* name) {
  RequestSpec spec;
  spec.model = name;
  return spec;
}

void Plan13BWholeCatalog(benchmark::State& state) {
  search_space(state, model("llama-2-13b"), static_cast<int>(state.range(0)));
}
BENCHMARK(Plan13BWholeCatalog)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void Plan70BOneType(benchmark::State& state) {
  RequestSpec spec = model("llama-2-70b");
  spec.instances = "ml.p5.48xlarge";
  search_space(state, spec, static_cast<int>(state.range(0)));
}
BENCHMARK(Plan70BOneType)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void PlanMoeWholeCatalog(benchmark::State& state) {
  search_space(state, model("deepseek-v3"), static_cast<int>(state.range(0)));
}
BENCHMARK(PlanMoeWholeCatalog)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

/// The spaces that Calculon searches with its offload tier: one type, one stack, every saving, on one core.
void CalculonSpace(benchmark::State& state, const char* name, const char* count, const char* batch) {
  RequestSpec spec = model(name);
  spec.instances = "ml.p4de.24xlarge";
  spec.count = count;
  spec.stack = "megatron,deepspeed";
  spec.global_batch = batch;
  spec.min_headroom = "0%";
  search_space(state, spec, 1);
}
BENCHMARK_CAPTURE(CalculonSpace, llama13b_on_64, "llama-2-13b", "8", "10080")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(CalculonSpace, gpt3_175b_on_1024, "gpt3-175b", "128", "161280")->Unit(benchmark::kMillisecond);

/// A trillion parameters on up to 16,384 accelerators, all stacks.
void PlanTrillionMoe(benchmark::State& state) {
  RequestSpec spec = model("kimi-k2");
  spec.instances = "ml.p5.48xlarge,ml.p5en.48xlarge";
  spec.count = "1..2048";
  search_space(state, spec, static_cast<int>(state.range(0)));
}
BENCHMARK(PlanTrillionMoe)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Growth: the same model with ever more instance counts and a batch that has ever more divisors.
void Growth(benchmark::State& state) {
  struct Size {
    const char* instances;
    const char* count;
    const char* batch;
  };
  static constexpr Size kSizes[] = {{"ml.p5.48xlarge", "1..2", "64"},
                                    {"ml.p5.48xlarge", "1..8", "256"},
                                    {"ml.p4d.24xlarge,ml.p5.48xlarge", "1..64", "1024"},
                                    {"ml.p4*,ml.p5*,ml.g5*,ml.g6*", "1..256", "4096"},
                                    {"ml.*", "1..512", "12288"}};
  const Size& size = kSizes[static_cast<std::size_t>(state.range(0))];
  RequestSpec spec = model("llama-2-13b");
  spec.instances = size.instances;
  spec.count = size.count;
  spec.global_batch = size.batch;
  search_space(state, spec, 1);
}
BENCHMARK(Growth)->DenseRange(0, 4)->Unit(benchmark::kMillisecond);

/// One candidate through all models.
void EvaluateOne(benchmark::State& state, const char* name, Strategy s, std::int32_t count) {
  RequestSpec spec = model(name);
  const PlanRequest request = request_of(spec);
  const InstanceType& type = *catalog().find_instance("ml.p5.48xlarge");
  const Stack& stack = *catalog().find_stack("megatron");
  const Cluster cluster = make_cluster(catalog(), type, count).value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(estimate_memory(request.workload, s, cluster, stack));
    benchmark::DoNotOptimize(estimate_step(request.workload, s, cluster, stack));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(EvaluateOne, dense, "llama-2-13b",
                  Strategy{.data_parallel = 16,
                           .tensor_parallel = 4,
                           .sequence_parallel = true,
                           .sharding = Sharding::Zero1,
                           .shard_degree = 16},
                  8);
BENCHMARK_CAPTURE(EvaluateOne, pipelined, "llama-2-70b",
                  Strategy{.data_parallel = 4,
                           .tensor_parallel = 4,
                           .pipeline_parallel = 4,
                           .sequence_parallel = true,
                           .sharding = Sharding::Zero1,
                           .shard_degree = 4},
                  8);
BENCHMARK_CAPTURE(EvaluateOne, moe, "mixtral-8x7b",
                  Strategy{.data_parallel = 64, .expert_parallel = 8, .sharding = Sharding::Zero1, .shard_degree = 64},
                  8);

/// Memory and step of a candidate whose layer table is there already, as the search evaluates them.
void EvaluateInSearch(benchmark::State& state, const char* name, Strategy s, std::int32_t count) {
  const PlanRequest request = request_of(model(name));
  const InstanceType& type = *catalog().find_instance("ml.p5.48xlarge");
  const Stack& stack = *catalog().find_stack("megatron");
  const Cluster cluster = make_cluster(catalog(), type, count).value();
  const LayerTable table = layer_table(request.workload, s, cluster, stack);
  for (auto _ : state) {
    benchmark::DoNotOptimize(estimate_memory(request.workload, s, cluster, stack));
    benchmark::DoNotOptimize(combine_step(table, request.workload, s, cluster, stack));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(EvaluateInSearch, dense, "llama-2-13b",
                  Strategy{.data_parallel = 64, .sharding = Sharding::Zero1, .shard_degree = 64}, 8);
BENCHMARK_CAPTURE(EvaluateInSearch, pipelined, "llama-2-70b",
                  Strategy{.data_parallel = 4,
                           .tensor_parallel = 4,
                           .pipeline_parallel = 4,
                           .sequence_parallel = true,
                           .sharding = Sharding::Zero1,
                           .shard_degree = 4},
                  8);
BENCHMARK_CAPTURE(EvaluateInSearch, moe, "mixtral-8x7b",
                  Strategy{.data_parallel = 64, .expert_parallel = 8, .sharding = Sharding::Zero1, .shard_degree = 64},
                  8);

/// Rows of a batch on one core, each degree a random power of two below the given ones: 0.75 to 1 of them are valid.
void Batch(benchmark::State& state, const char* name, int tensor, int pipeline, int expert) {
  const PlanRequest request = request_of(model(name));
  const Cluster node = make_cluster(catalog(), *catalog().find_instance("ml.p5.48xlarge"), 1).value();
  std::mt19937 random(7);
  const auto powers = [&](int most) {
    std::vector<std::int32_t> column(100000);
    for (std::int32_t& value : column) value = 1 << (random() % static_cast<unsigned>(most));
    return column;
  };
  const std::vector<std::int32_t> nodes = powers(7), tp = powers(tensor), pp = powers(pipeline), ep = powers(expert);
  const std::vector<std::int32_t> micro_batch = powers(4);
  const std::vector<std::int32_t> zero1(nodes.size(), dimension_value(Sharding::Zero1));
  BatchColumns rows{nodes, {}};
  const auto column = [&](Dimension d) -> auto& { return rows.dimensions[static_cast<std::size_t>(d)]; };
  column(Dimension::Tensor) = tp;
  column(Dimension::Pipeline) = pp;
  column(Dimension::Expert) = ep;
  column(Dimension::MicroBatch) = micro_batch;
  column(Dimension::Sharding) = zero1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        estimate_batch(request.workload, node, *catalog().find_stack("megatron"), rows, 1).step_time_s.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(nodes.size()));
}
BENCHMARK_CAPTURE(Batch, dense, "llama-2-13b", 4, 1, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Batch, pipelined, "llama-2-13b", 4, 3, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Batch, moe, "mixtral-8x7b", 4, 3, 4)->Unit(benchmark::kMillisecond);

}  // namespace
