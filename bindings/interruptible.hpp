#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include <pybind11/pybind11.h>

namespace smplan::python {

/// Runs `work` on a thread of its own, without the interpreter's lock, and looks for signals meanwhile, so
/// that Ctrl-C is obeyed at once. Work that is interrupted runs on unseen until it ends: it must own, by value or
/// shared pointer, all that it touches, and touch nothing of Python.
template <typename Work>
auto interruptible(Work work) -> decltype(work()) {
  constexpr std::chrono::milliseconds kLook(20);
  auto task = std::make_shared<std::packaged_task<decltype(work())()>>(std::move(work));
  auto future = task->get_future();
  std::thread worker([task] { (*task)(); });
  for (;;) {
    {
      const pybind11::gil_scoped_release without_lock;
      if (future.wait_for(kLook) == std::future_status::ready) break;
    }
    if (PyErr_CheckSignals() != 0) {
      worker.detach();
      throw pybind11::error_already_set();
    }
  }
  {
    const pybind11::gil_scoped_release without_lock;
    worker.join();
  }
  return future.get();
}

}  // namespace smplan::python
