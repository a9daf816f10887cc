#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include <pybind11/pybind11.h>

#include "base/monitor.hpp"

namespace smplan::python {

/// Work that runs, seen or unseen: the interpreter waits for it before it takes itself apart.
inline std::atomic<int> running_work{0};

/// Runs `work(monitor)` on a thread of its own, without the interpreter's lock, and looks for signals meanwhile: Ctrl-C
/// stops the work and raises. `progress`, if it is not None, is called as `progress(done, total)` now and then; what it
/// raises stops the work too. Work that has not stopped after a moment runs on unseen until it ends, so it must own, by
/// value or shared pointer, all that it touches, and touch nothing of Python.
template <typename Work>
auto interruptible(Work work, const pybind11::object& progress = pybind11::none()) {
  // Together below a tenth of a second, which is what feels immediate.
  constexpr std::chrono::milliseconds kLook(20);
  constexpr std::chrono::milliseconds kGrace(50);
  using Answer = decltype(work(std::declval<Monitor&>()));
  const auto monitor = std::make_shared<Monitor>();
  auto task = std::make_shared<std::packaged_task<Answer()>>(
      [monitor, work = std::move(work)]() mutable { return work(*monitor); });
  auto future = task->get_future();
  ++running_work;
  std::thread worker([task]() mutable {
    (*task)();
    task.reset();
    --running_work;
  });
  const auto ends_within = [&future](std::chrono::milliseconds time) {
    const pybind11::gil_scoped_release without_lock;
    return future.wait_for(time) == std::future_status::ready;
  };
  try {
    while (!ends_within(kLook)) {
      if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
      if (!progress.is_none() && monitor->total() > 0) progress(monitor->done(), monitor->total());
    }
  } catch (const pybind11::error_already_set&) {
    monitor->stop();
    if (ends_within(kGrace)) {
      worker.join();
    } else {
      worker.detach();
    }
    throw;
  }
  worker.join();
  return future.get();
}

}  // namespace smplan::python
