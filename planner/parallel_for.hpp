#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace smplan {

/// Calls a worker for every index below `n`, on at most `threads` threads, each index once. `make_worker` is
/// called once a thread, so that workers can keep scratch space.
template <typename MakeWorker>
void parallel_for(unsigned threads, std::size_t n, MakeWorker make_worker) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    auto worker = make_worker();
    for (std::size_t i = next++; i < n; i = next++) worker(i);
  };
  std::vector<std::jthread> helpers;
  const std::size_t wanted = std::min<std::size_t>(threads, n);
  for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
  work();
}

}  // namespace smplan
