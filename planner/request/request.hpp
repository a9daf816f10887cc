#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "catalogs/catalog.hpp"
#include "models/job/dimensions.hpp"
#include "models/job/program.hpp"
#include "models/job/workload.hpp"
#include "models/run/cost.hpp"
#include "planner/request/due.hpp"
#include "planner/request/scenario.hpp"

namespace smplan {

struct ExportTarget;

enum class Objective {
  Cost,
  Time,
  Balanced,  ///< least cost^w * time^(1-w): with w = 1/2 their least product
  Pareto,    ///< the time/cost frontier itself, cheapest first
};
std::string_view to_string(Objective objective);
std::optional<Objective> objective_from(std::string_view name);

/// SageMaker's limit for one training job.
inline constexpr double kMaxJobDays = 28;

/// What the horizon grows to where nothing ends within one job. Source of the steps: two and three months, half a year,
/// a year; nobody plans longer.
inline constexpr std::array<double, 4> kWiderHorizonDays{60, 90, 180, 365};

/// A deadline means to be met.
inline constexpr double kDefaultConfidence = 0.9;

/// One job in twenty that dies is what a careful engineer accepts of a plan that nobody tried yet.
inline constexpr double kDefaultOutOfMemory = 0.05;

/// As many as the examples of PEFT's pages on prefix tuning and p-tuning have (v0.21).
inline constexpr std::int64_t kUsualVirtualTokens = 20;

/// A request as users write it: every field is the text of a flag (`--seq-len 4096`), a JSON member
/// or a Python keyword. The only place that turns text into values is resolve().
struct RequestSpec {
  // Model: exactly one.
  std::optional<std::string> params, model, hf_config, arch;
  // Work.
  std::optional<std::string> tokens, seq_len, global_batch, global_batch_tokens, dtype, optimizer, finetune, adapters,
      lora_rank, lora_targets, lora_embeddings, virtual_tokens, adapter_count, trained_layers, mean_seq_len, loss,
      reference, teacher;
  // Hardware.
  std::optional<std::string> instances, count, max_gpus, region, market;
  // Software.
  std::optional<std::string> stack, launchable, program;
  // Fixed dimensions, and what software is told; each may list values: `1,2,4`. A ZeRO stage is another word for the
  // sharding.
  std::array<std::optional<std::string>, kDimensionCount> dimensions;
  std::optional<std::string> zero_stage;
  /// Another word for a loss kernel that keeps no logits.
  std::optional<std::string> fused_loss;
  // Operation: what is saved where, what is read how.
  std::optional<std::string> checkpoint_storage, checkpoint_mode, dataset, dataset_files, sample_size, preparation,
      input_mode, data_region, jobs, job_gap, warm_pool;
  // What runs the job, and what keeps it going.
  std::optional<std::string> platform, recovery, spare_instances, preempted_every, preempted_for;
  // Limits and goal.
  std::optional<std::string> deadline, confidence, budget, max_hourly, min_headroom, max_oom_probability, objective,
      cost_weight, top;
  std::optional<std::string> what_if;

  std::optional<std::string>& operator[](Dimension d) { return dimensions[static_cast<std::size_t>(d)]; }
  const std::optional<std::string>& operator[](Dimension d) const { return dimensions[static_cast<std::size_t>(d)]; }
};

/// Allowed values of one dimension, as numbers (models/job/dimensions.hpp); empty is "any".
struct Choice {
  std::vector<std::int32_t> values;
  [[nodiscard]] bool any() const { return values.empty(); }
  /// A degree, a switch, an enumerator or an Offload.
  template <typename T>
  [[nodiscard]] bool allows(const T& value) const {
    return values.empty() || std::find(values.begin(), values.end(), dimension_value(value)) != values.end();
  }
  template <typename T>
  void only(std::initializer_list<T> allowed) {
    values.clear();
    for (const T& value : allowed) values.push_back(dimension_value(value));
  }
  /// The values as what they are of.
  template <typename T>
  [[nodiscard]] std::vector<T> as() const {
    std::vector<T> out;
    for (const std::int32_t value : values) out.push_back(from_dimension_value<T>(value));
    return out;
  }
};

/// A request with every default filled in, checked against a catalog.
struct PlanRequest {
  Workload workload;
  /// Hub name of the weights, as the request has it (`meta-llama/Llama-3.1-8B-Instruct`); empty: those of the preset.
  std::string weights;
  /// No --dtype: bf16, and fp16 on devices without bf16 units (V100, T4).
  bool precision_defaulted = false;
  std::string region = "us-east-1";
  /// How capacity may be bought, in the order of the flag; plans of all of them are ranked together.
  std::vector<Market> markets{Market::OnDemand};
  std::vector<const InstanceType*> instances;  ///< candidates, catalog order
  bool types_defaulted = false;                ///< the request names none
  /// Types left out, each with the reason (no price there, retired, plan only ...).
  std::vector<std::pair<std::string, std::string>> left_out;
  /// Of the types that can be ordered in the markets asked for, how many there are and have a price in the region.
  std::int32_t types_orderable = 0, types_priced = 0;
  /// Markets asked for that none of the candidates has a price in.
  std::vector<Market> markets_without_prices;
  std::vector<std::int32_t> counts;
  bool counts_defaulted = false;  ///< the request does not say how many instances there may be
  std::optional<std::int64_t> max_gpus;
  /// Each executed in each way that the request allows.
  std::vector<const Stack*> stacks;
  /// Keeps those that are not as the catalog has them.
  std::vector<std::shared_ptr<const Stack>> own_stacks;
  bool stacks_defaulted = false;  ///< the request names none
  /// Only what an export can start is planned (--launchable job).
  bool launchable = true;
  /// Only what this target can say is planned (--launchable torchtune); nullptr: what any can.
  const ExportTarget* target = nullptr;
  /// Whose program trains: how sure its time is.
  Program program = Program::Unknown;
  /// Stacks left out because no export writes the work for them or they cannot be told what the request says, each
  /// with the reason.
  std::vector<std::pair<std::string, std::string>> stacks_left_out;
  /// What is not modelled of a stack under the name that the request has for it.
  std::vector<std::pair<const Stack*, std::string>> stack_notes;
  /// What the strategy may be. Of recompute_layers 0 is all layers; any: all, or the least number that fits.
  std::array<Choice, kDimensionCount> dimensions;
  /// How runs are operated; its market is the first of `markets`.
  RunSetup run;
  std::optional<Seconds> deadline;
  /// Plans that take longer rank after all that do not: the deadline, else kMaxJobDays, which the search widens where
  /// nothing ends by then.
  Seconds horizon = days(kMaxJobDays);
  /// Where the deadline was given as a day or a time.
  std::optional<Due> due;
  /// Probability with which plans must meet deadline and budget: kDefaultConfidence unless the request says otherwise;
  /// nullopt where there is neither.
  std::optional<double> confidence;
  std::optional<Usd> budget;
  std::optional<UsdPerSecond> max_hourly;
  /// Fraction of device memory that must stay free.
  double min_headroom = 0.0;
  /// Highest chance to run out of device memory: of plans kDefaultOutOfMemory unless the request says otherwise;
  /// nullopt: whatever is likelier to fit than not.
  std::optional<double> max_oom_probability;
  Objective objective = Objective::Cost;
  /// Objective::Balanced: weight of the logarithm of the cost, the rest is that of the time.
  double cost_weight = 0.5;
  /// What differs from the catalog's facts.
  Scenario scenario;
  int top = 10;
  /// What was assumed because the request did not say, in words, for the reader.
  std::vector<std::string> assumptions;
  /// Catalog::overlays(): what tells other facts than the shipped ones apart.
  std::string overlays;
  /// Newest date of a price in the catalog: what the age of prices counts from, so that answers read no clock.
  std::string prices_as_of;
  /// ISO date against which the age of prices is judged; without it no plan warns of old prices.
  std::optional<std::string> today;

  Choice& operator[](Dimension d) { return dimensions[static_cast<std::size_t>(d)]; }
  const Choice& operator[](Dimension d) const { return dimensions[static_cast<std::size_t>(d)]; }
};

/// `on-demand`, or `on-demand,spot`.
std::string market_list(const PlanRequest& request);

/// What software is told where the request names one value; else the framework's default.
Execution stated_execution(const PlanRequest& request);

/// What the request is for: a search leaves out instance types without a price, an estimate takes one
/// named type, priced or not, and one count.
enum class Purpose { Plan, Estimate };

/// Text to values. Collects every fault. `environment_region` is AWS_REGION or AWS_DEFAULT_REGION; A deadline on a day
/// is counted from `now`, nullopt: from the clock.
Result<PlanRequest> resolve(const RequestSpec& spec, const Catalog& catalog,
                            const std::optional<std::string>& environment_region, Purpose purpose = Purpose::Plan,
                            std::optional<Instant> now = std::nullopt);

}  // namespace smplan
