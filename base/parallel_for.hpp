#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace smplan {

/// Calls a worker for every index below `n`, on at most `threads` threads, each index once. `make_worker` is
/// called once a thread, so that workers can keep scratch space. What a worker throws ends the loop and is thrown here;
/// where the system gives no more threads, fewer do the work.
template <typename MakeWorker>
void parallel_for(unsigned threads, std::size_t n, MakeWorker make_worker) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr fault;
  std::once_flag first_fault;
  const auto work = [&]() noexcept {
    try {
      auto worker = make_worker();
      for (std::size_t i = next++; i < n; i = next++) worker(i);
    } catch (...) {
      next = n;
      std::call_once(first_fault, [&] { fault = std::current_exception(); });
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min<std::size_t>(threads, n);
    helpers.reserve(wanted);
    try {
      while (helpers.size() + 1 < wanted) helpers.emplace_back(work);
    } catch (const std::system_error&) {  // a limit on threads or their memory
    }
    work();
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace smplan
