#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalogs/provenance.hpp"

namespace smplan {

/// A quota of an account in one region. Source: catalogs/data/quotas/quotas.json, each row with its own.
struct AccountQuota {
  std::string use;         ///< what it limits: `training-job`, `spot`, `warm-pool`, `cluster`, `instances`, ...
  std::string pattern;     ///< its name in the console, with `{}` for the instance type where it has one
  double new_account = 0;  ///< what an account has before anybody asks for more
  std::string unit;        ///< `instances`, `s`, `GB`
  Provenance provenance;

  /// `ml.p5.48xlarge for training job usage`
  [[nodiscard]] std::string name(std::string_view instance_type = {}) const;
};

const std::vector<AccountQuota>& account_quotas();
/// Of that use, which the file must have.
const AccountQuota& account_quota(std::string_view use);

}  // namespace smplan
