#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalogs/catalog.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/run/checkpoint_time.hpp"
#include "models/run/input_pipeline.hpp"
#include "models/run/recovery.hpp"

namespace smplan {

/// What an exported job is expected to need; written into comments so that a reader can compare.
struct PlanPrediction {
  double peak_gib = 0;
  double limit_gib = 0;
  Seconds step;
  Seconds step_p10;
  Seconds step_p90;
  Seconds time_to_train;
  Seconds productive;
  double tokens_per_s = 0;
  double mfu = 0;
  std::optional<double> hourly_usd;  ///< nullopt where the price is not known
  std::optional<double> total_usd;
  std::string price_date;
};

/// One plan as the exporters see it: every value that decides the job, none that only ranked it.
struct TrainingPlan {
  std::string smplan_version;
  std::size_t rank = 1;
  const InstanceType* instance = nullptr;  ///< points into the catalog
  const Stack* stack = nullptr;            ///< likewise, or executed as the strategy says
  std::shared_ptr<const Stack> own_stack;  ///< keeps the latter
  std::int32_t instance_count = 0;
  std::string region;
  Market market = Market::OnDemand;
  Architecture model;
  std::string weights;  ///< hub name that was asked for; empty: that of the preset
  double tokens = 0;
  std::int64_t seq_len = 0;
  std::int64_t mean_seq_len = 0;  ///< of sequences of different lengths; 0: all are as long as `seq_len`
  std::int64_t global_batch = 0;
  Precision precision = Precision::Bf16;
  Optimizer optimizer = Optimizer::AdamW;
  FineTune finetune = FineTune::Full;
  bool fine_tunes = false;  ///< trains on from the model's weights
  std::int64_t lora_rank = 0;
  LoraTargets lora_targets = LoraTargets::Linear;
  bool lora_embeddings = false;
  std::int64_t virtual_tokens = 0;              ///< of a method that trains prompts
  std::int64_t adapter_count = 1;               ///< trained at once
  std::optional<TrainedLayers> trained_layers;  ///< of full training; the rest is frozen
  const AdapterMethod* adapters = nullptr;      ///< kind of adapters other than LoRA
  const TrainingLoss* loss = nullptr;           ///< other than that of the next token
  Reference reference = Reference::Copy;
  std::string teacher;                  ///< name of the model; empty: none
  std::optional<InputMode> input_mode;  ///< nullopt: the plan has no data set
  std::optional<Bytes> data_size;       ///< nullopt likewise
  Recovery recovery;                    ///< what runs the job, and what keeps it going
  CheckpointTarget checkpoint_storage = CheckpointTarget::S3;
  std::optional<Seconds> s3_interval;    ///< between copies of checkpoints in memory to S3
  std::optional<Seconds> save_interval;  ///< of the goodput; nullopt: the plan saves nothing before the end
  Bytes volume;                          ///< of one instance, as the bill counts it; zero where NVMe is built in
  std::optional<Seconds> warm_pool;      ///< how long instances wait for the next job, where they do
  Strategy strategy;
  std::int64_t gradient_accumulation = 1;
  PlanPrediction prediction;
  std::vector<std::string> warnings;
  std::string beside;  ///< text of what else decides the job, for its id; empty: nothing does

  /// 1 of a plan for no machine in particular (launch_refusal()).
  [[nodiscard]] std::int32_t devices_per_instance() const {
    return instance == nullptr ? 1 : instance->accelerator_count;
  }
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t world_size() const { return strategy.gpus(); }
  /// Ranks that hold a copy of the model together: what the optimizer states are sharded over at most.
  [[nodiscard]] std::int64_t replicas() const {
    return std::int64_t{strategy.data_parallel} * strategy.context_parallel;
  }
  /// Optimizer steps that cover the tokens, rounded up.
  [[nodiscard]] std::int64_t steps() const;
  /// Optimizer steps from one checkpoint to the next: the interval that the goodput counts on over the time of a step,
  /// at least 1 and at most steps().
  [[nodiscard]] std::int64_t save_steps() const;
  /// Sixteen hex digits over everything that decides the job; predictions and prices are left out, so that
  /// a recalibrated planner that chooses the same job names it alike.
  [[nodiscard]] std::string id() const;
};

}  // namespace smplan
