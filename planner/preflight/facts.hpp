#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.hpp"

namespace smplan {

/// What only the account, the data and the training script can say (`--facts facts.json`, `smplan.facts/1`).
struct Facts {
  struct Dataset {
    std::optional<double> bytes;
    std::optional<std::int64_t> files;
    bool random_access = false;
  };
  struct Script {
    std::vector<std::string> imports;  ///< dotted names that the script or the launching notebook imports
    std::optional<std::string> saves_to;
    std::optional<bool> needs_internet, requirements_file, rank_in_checkpoint_name, activation_checkpointing,
        delayed_parameter_init, transform_supported, claims_smddp_amp;
    std::optional<double> checkpoint_interval_s;
    std::optional<std::int64_t> parameters;
  };

  std::optional<std::map<std::string, std::int64_t>> quotas;       ///< by the quota's name in the console
  std::optional<std::map<std::string, std::string>> buckets;       ///< bucket to region
  std::optional<std::map<std::string, Dataset>> datasets;          ///< by S3 URI or channel name
  std::optional<std::map<std::string, std::string>> subnets;       ///< subnet to availability zone
  std::optional<std::map<std::string, bool>> security_groups;      ///< group to: lets itself in and out
  std::optional<std::map<std::string, std::string>> previous_job;  ///< the nine fields of a warm pool
  std::optional<std::vector<std::string>> checkpoint_uris_in_use;
  std::optional<Script> script;
  std::optional<std::string> sagemaker_sdk;  ///< version that the launching environment has
  std::optional<std::string> torchtitan;     ///< version or `HEAD`
  std::optional<double> jobs_per_second;
  std::optional<double> warm_pool_total_s;
  std::optional<bool> hugging_face_trainer;  ///< the DeepSpeed file goes through transformers' Trainer
};

/// Reads the facts strictly: an unknown key is refused, because a misspelt fact would silently not count.
Result<Facts> read_facts(const JsonValue& document);

}  // namespace smplan
