#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "models/step/step.hpp"

namespace smplan {

/// What layer tables depend on besides micro-batch, sequence parallelism and collective library.
struct Placement {
  std::int32_t tensor = 1;
  std::int32_t context = 1;
  std::int32_t expert = 1;
  std::int32_t expert_tensor = 1;
  GroupShape tensor_group;
  GroupShape context_group;
  GroupShape expert_group;
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// A layer table and the floor of one micro-batch over all layers: what nothing can hide.
struct Table {
  LayerTable layers;
  Seconds forward_backward;  ///< whole model
  Seconds recompute;         ///< what full recomputation adds
};

/// Layer tables of one instance type under one stack, shared by its groups and by threads: they depend on
/// the count only through the placement of the rank groups.
class TableStore {
 public:
  /// The tables of one placement, each made by whoever asks for it first. Two threads may make the same one;
  /// both make the same numbers, and one copy stays.
  class Row {
   public:
    explicit Row(std::size_t size) : size_(size), tables_(new std::atomic<const Table*>[size] {}) {}
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    ~Row() {
      for (std::size_t i = 0; i < size_; ++i) delete tables_[i].load();
    }
    template <typename Make>
    const Table& get(std::size_t i, Make make) {
      if (const Table* there = tables_[i].load(std::memory_order_acquire)) return *there;
      auto made = std::make_unique<const Table>(make());
      const Table* other = nullptr;
      if (!tables_[i].compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)) return *other;
      return *made.release();
    }

   private:
    std::size_t size_;
    std::unique_ptr<std::atomic<const Table*>[]> tables_;
  };

  explicit TableStore(std::size_t row_size) : row_size_(row_size) {}
  Row& row(const Placement& placement);

 private:
  struct Hash {
    std::size_t operator()(const Placement& key) const;
  };
  std::size_t row_size_;
  std::mutex mutex_;
  std::unordered_map<Placement, Row, Hash> rows_;
};

}  // namespace smplan
