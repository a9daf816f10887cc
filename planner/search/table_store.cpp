#include "planner/search/table_store.hpp"

namespace smplan {

std::size_t TableStore::Hash::operator()(const Placement& key) const {
  std::size_t hash = 0;
  const auto mix = [&hash](std::int64_t value) {
    // Constant of Fibonacci hashing: 2^64 over the golden ratio.
    hash = (hash ^ static_cast<std::size_t>(value)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  };
  mix(key.tensor);
  mix(key.context);
  mix(key.expert);
  mix(key.expert_tensor);
  for (const GroupShape* g : {&key.tensor_group, &key.context_group, &key.expert_group}) {
    mix(g->ranks);
    mix(g->per_domain);
    mix(g->concurrent_per_node);
  }
  return hash;
}

TableStore::Row& TableStore::row(const Placement& placement) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return rows_.try_emplace(placement, row_size_).first->second;
}

}  // namespace smplan
