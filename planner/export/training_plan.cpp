#include "planner/export/training_plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "base/json_writer.hpp"
#include "catalogs/architecture_json.hpp"
#include "models/job/dimensions.hpp"
#include "models/layers/layers.hpp"

namespace smplan {

std::int64_t TrainingPlan::parameters() const { return count_parameters(model).total(); }

std::int64_t TrainingPlan::steps() const {
  const auto length = static_cast<double>(mean_seq_len > 0 ? mean_seq_len : seq_len);
  return static_cast<std::int64_t>(std::ceil(tokens / (length * static_cast<double>(global_batch))));
}

std::int64_t TrainingPlan::save_steps() const {
  const std::int64_t all = steps();
  if (!save_interval || !(prediction.step > Seconds())) return all;
  const double between = *save_interval / prediction.step;
  return between >= static_cast<double>(all) ? all : std::max<std::int64_t>(1, std::llround(between));
}

std::string TrainingPlan::id() const {
  Json decided;
  decided["model"] = architecture_json(model);
  decided["work"] = {
      tokens,    seq_len,        global_batch, to_string(precision), to_string(optimizer), to_string(finetune),
      lora_rank, lora_embeddings};
  if (fine_tunes && finetune == FineTune::Full) decided["work"].push_back("from weights");
  if (!beside.empty()) decided["beside"] = beside;
  if (trained_layers) decided["trained"] = to_string(*trained_layers);
  if (mean_seq_len > 0) decided["lengths"] = mean_seq_len;
  if (lora_targets != LoraTargets::Linear) decided["adapters"] = to_string(lora_targets);
  if (adapters != nullptr) decided["adapter_kind"] = adapters->name;
  if (virtual_tokens > 0) decided["virtual_tokens"] = virtual_tokens;
  if (adapter_count > 1) decided["adapter_count"] = adapter_count;
  if (loss != nullptr) decided["loss"] = {loss->name, to_string(reference), teacher};
  decided["machines"] = {instance->name, instance_count, region, to_string(market)};
  decided["stack"] = stack->id;
  for (const DimensionRow& row : dimensions()) {
    decided["strategy"].push_back(row.applies(strategy) ? Json(row.get(strategy)) : Json(nullptr));
  }
  decided["data"] = {input_mode ? Json(to_string(*input_mode)) : Json(nullptr),
                     data_size ? Json(std::llround(data_size->value())) : Json(nullptr), to_string(checkpoint_storage),
                     warm_pool ? Json(warm_pool->value()) : Json(nullptr)};
  if (is_standing(recovery.platform)) {
    decided["platform"] = {to_string(recovery.platform), to_string(recovery.mode), recovery.spares};
  }
  return hash_text(decided.dump());
}

}  // namespace smplan
