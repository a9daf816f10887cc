#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_reader.hpp"

namespace smplan {

/// What only the account, the data and the training script can say (`--facts facts.json`, `smplan.facts/1`). A member
/// here and its row below are all that a new fact takes beside the rule that needs it.
struct Facts {
  template <typename Value>
  using ByName = std::map<std::string, Value>;

  struct Dataset {
    std::optional<double> bytes;
    std::optional<std::int64_t> files;
    std::optional<bool> random_access;
  };
  struct Script {
    std::optional<std::vector<std::string>> imports;
    std::optional<std::string> saves_to;
    std::optional<bool> needs_internet, requirements_file, rank_in_checkpoint_name, activation_checkpointing,
        delayed_parameter_init, transform_supported, claims_smddp_amp;
    std::optional<double> checkpoint_interval_s;
    std::optional<std::int64_t> parameters;
  };

  std::optional<ByName<std::int64_t>> quotas;
  std::optional<ByName<std::string>> buckets, subnets, previous_job;
  std::optional<ByName<Dataset>> datasets;
  std::optional<ByName<bool>> security_groups;
  std::optional<std::vector<std::string>> checkpoint_uris_in_use;
  std::optional<std::string> sagemaker_sdk, torchtitan;
  std::optional<double> jobs_per_second, warm_pool_total_s;
  std::optional<bool> hugging_face_trainer;
  std::optional<Script> script;
};

/// One fact of a facts file, or of an object in it: the member of `Of` that its value is read into.
template <typename Of, typename... Values>
struct FactRow {
  std::string_view key;
  std::string_view form;  ///< what is written there, for people
  std::variant<std::optional<Values> Of::*...> member;
  /// What a rule asks for that cannot do without it: `needs ...`; empty where rules only look closer by it.
  std::string_view needed = {};
};
using DatasetFact = FactRow<Facts::Dataset, double, std::int64_t, bool>;
using ScriptFact = FactRow<Facts::Script, std::vector<std::string>, std::string, bool, double, std::int64_t>;
using Fact = FactRow<Facts, Facts::ByName<std::int64_t>, Facts::ByName<std::string>, Facts::ByName<Facts::Dataset>,
                     Facts::ByName<bool>, std::vector<std::string>, std::string, double, bool, Facts::Script>;

inline constexpr DatasetFact kDatasetFacts[] = {
    {"bytes", "number", &Facts::Dataset::bytes},
    {"files", "number", &Facts::Dataset::files},
    {"random_access", "whether they are read in random order", &Facts::Dataset::random_access},
};
inline constexpr ScriptFact kScriptFacts[] = {
    {"imports", "dotted names that it, or the notebook that launches it, imports", &Facts::Script::imports},
    {"saves_to", "folder of its checkpoints", &Facts::Script::saves_to},
    {"needs_internet", "whether it fetches from the network", &Facts::Script::needs_internet},
    {"requirements_file", "whether requirements.txt lies beside it", &Facts::Script::requirements_file},
    {"rank_in_checkpoint_name", "whether names of checkpoints have the rank", &Facts::Script::rank_in_checkpoint_name},
    {"activation_checkpointing", "whether it is on", &Facts::Script::activation_checkpointing},
    {"delayed_parameter_init", "whether parameters are made late", &Facts::Script::delayed_parameter_init},
    {"transform_supported", "whether SMP transforms the model", &Facts::Script::transform_supported},
    {"claims_smddp_amp", "whether it counts on SMDDP for mixed precision", &Facts::Script::claims_smddp_amp},
    {"checkpoint_interval_s", "seconds", &Facts::Script::checkpoint_interval_s},
    {"parameters", "number in the model", &Facts::Script::parameters},
};
inline constexpr Fact kFacts[] = {
    {"quotas", "name in the console: value", &Facts::quotas, "the account's quotas"},
    {"buckets", "bucket: region", &Facts::buckets, "the regions of the buckets"},
    {"datasets", "S3 URI or channel: object, see below", &Facts::datasets, "the size of the data"},
    {"subnets", "subnet: zone", &Facts::subnets, "the zones of the subnets"},
    {"security_groups", "group: whether it lets itself in and out", &Facts::security_groups,
     "the rules of the security groups"},
    {"previous_job", "fields of the warm pool's job", &Facts::previous_job, "the job whose warm pool is to be used"},
    {"checkpoint_uris_in_use", "S3 URIs of other jobs", &Facts::checkpoint_uris_in_use},
    {"script", "object, see below", &Facts::script, "to know what the training script does"},
    {"sagemaker_sdk", "version", &Facts::sagemaker_sdk, "the version of the SDK that launches"},
    {"torchtitan", "version or `HEAD`", &Facts::torchtitan, "the version of TorchTitan"},
    {"jobs_per_second", "number", &Facts::jobs_per_second, "the rate of submissions"},
    {"warm_pool_total_s", "seconds over all jobs", &Facts::warm_pool_total_s, "how long the pool is to live"},
    {"hugging_face_trainer", "whether the DeepSpeed file goes through transformers' Trainer",
     &Facts::hugging_face_trainer},
};

/// The row of a member; a member without one does not compile.
template <typename Value>
consteval const Fact* fact_of(std::optional<Value> Facts::*member) {
  for (const Fact& row : kFacts) {
    // Not get_if: to compare an address with null is no constant expression where gcc's sanitizer watches.
    using Member = std::optional<Value> Facts::*;
    if (std::holds_alternative<Member>(row.member) && std::get<Member>(row.member) == member) return &row;
  }
  throw "a fact without a row";
}

/// Whether the facts have it.
bool is_known(const Fact& fact, const Facts& facts);

/// Reads the facts strictly: an unknown key is refused, because a misspelt fact would silently not count.
Result<Facts> read_facts(const JsonValue& document);

}  // namespace smplan
