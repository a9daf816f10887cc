#pragma once

#include <atomic>
#include <cstdint>

namespace smplan {

/// Long work as another thread sees it: how far it is, and a way to end it. Work that is told to stop ends within
/// milliseconds; what it returns then is incomplete.
class Monitor {
 public:
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  /// Announces more steps; a step is whatever the work counts.
  void expect(std::uint64_t steps) { total_.fetch_add(steps, std::memory_order_relaxed); }
  void advance() { done_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  /// 0 until the work knows.
  [[nodiscard]] std::uint64_t total() const { return total_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
};

/// Options hold a pointer; nullptr is work that nobody watches.
inline bool stopped(const Monitor* monitor) { return monitor != nullptr && monitor->stopped(); }
inline void expect(Monitor* monitor, std::uint64_t steps) {
  if (monitor != nullptr) monitor->expect(steps);
}
inline void advance(Monitor* monitor) {
  if (monitor != nullptr) monitor->advance();
}

}  // namespace smplan
