#pragma once

#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "planner/search/search.hpp"

namespace smplan::test {

/// The shipped catalog, read once.
inline const Catalog& catalog() {
  static const Catalog shipped = [] {
    Result<Catalog> c = Catalog::shipped();
    if (!c) ADD_FAILURE() << to_string(c.error());
    return std::move(*c);
  }();
  return shipped;
}

/// resolve() of a spec that must be valid.
inline PlanRequest request_of(const RequestSpec& spec) {
  Result<PlanRequest> r = resolve(spec, catalog(), std::nullopt);
  if (!r) {
    ADD_FAILURE() << to_string(r.error());
    return {};
  }
  return std::move(*r);
}

/// A Llama-like model of a few layers, so that all strategies of a small cluster can be tried.
inline Architecture small_model(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  Architecture a;
  a.name = "small";
  a.family = "test";
  a.n_layers = layers;
  a.hidden = hidden;
  a.n_heads = heads;
  a.n_kv_heads = heads;
  a.head_dim = hidden / heads;
  a.ffn_hidden = 4 * hidden;
  a.vocab = 32000;
  a.max_positions = 8192;
  return a;
}

inline Architecture small_moe(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t experts) {
  Architecture a = small_model(layers, hidden, heads);
  a.moe.n_experts = experts;
  a.moe.top_k = 2;
  a.moe.expert_ffn_hidden = hidden;
  return a;
}

}  // namespace smplan::test
