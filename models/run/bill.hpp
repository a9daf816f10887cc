#pragma once

#include <span>
#include <string_view>

#include "base/units.hpp"

namespace smplan {

/// What a run costs, part by part. Parts sum to total().
struct Bill {
  Usd compute;      ///< instances while steps count
  Usd startup;      ///< instances from their start to the first step
  Usd checkpoints;  ///< instances that wait for a save
  Usd rework;       ///< steps done again
  Usd restarts;     ///< instances between an interruption and the next step, where billed
  Usd idle;         ///< reserved and not used
  Usd warm_pool;    ///< instances kept between jobs
  Usd volume;       ///< storage volumes of the instances
  Usd file_system;  ///< FSx for Lustre, EFS
  Usd checkpoint_storage;
  Usd requests;  ///< to S3
  Usd transfer;  ///< from another region
  [[nodiscard]] Usd total() const {
    return compute + startup + checkpoints + rework + restarts + idle + warm_pool + volume + file_system +
           checkpoint_storage + requests + transfer;
  }
  friend bool operator==(const Bill&, const Bill&) = default;
};

/// One part: its key in files, its name for people. The table is the only list of them.
struct BillPart {
  std::string_view key;
  std::string_view words;
  Usd Bill::*amount;
};
std::span<const BillPart> bill_parts();

}  // namespace smplan
