#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace smplan {

/// Values by the text of all that they depend on, each made once. Safe to share between threads: who asks for a value
/// that is being made waits for it.
template <typename Value>
class Memo {
 public:
  template <typename Make>
  const Value& get(const std::string& key, Make&& make) {
    Entry& entry = entry_of(key);
    std::call_once(entry.once, [&] { entry.value.emplace(make()); });
    return *entry.value;
  }

 private:
  struct Entry {
    std::once_flag once;
    std::optional<Value> value;
  };

  Entry& entry_of(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_[key];
  }

  std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // whose entries stay where they are
};

}  // namespace smplan
