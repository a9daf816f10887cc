// Build with -DSMPLAN_BUILD_BENCH=ON in Release; figures belong in docs/performance.md with the machine's name.

#include <cstdio>
#include <cstdlib>

#include <benchmark/benchmark.h>

#include "planner/search.hpp"

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

/// A candidate whose layer table is there already, as in the search.
void CombineOne(benchmark::State& state) {
  const PlanRequest request = request_of(model("llama-2-13b"));
  const InstanceType& type = *catalog().find_instance("ml.p5.48xlarge");
  const Stack& stack = *catalog().find_stack("megatron");
  const Cluster cluster = make_cluster(catalog(), type, 8).value();
  Strategy s;
  s.data_parallel = 64;
  s.sharding = Sharding::Zero1;
  s.shard_degree = 64;
  const LayerTable table = layer_table(request.workload, s, cluster, stack);
  for (auto _ : state) {
    benchmark::DoNotOptimize(combine_step(table, request.workload, s, cluster, stack));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(CombineOne);

}  // namespace
