
#include "base/json_writer.hpp"
#include "planner/export/writers.hpp"

// Names of keys: AWS Neuron documentation, neuronx_distributed.neuronx_distributed_config, read 2026-08.

namespace smplan {

void check_neuronx(const TrainingPlan& plan, Diagnostics& faults) {
  if (plan.finetune == FineTune::Full) return;
  faults.push_back({"not-expressible", "--target", "neuronx exports full training only", "plan with --finetune full"});
}

void write_neuronx(const ExportJob& job, Export& out, Diagnostics&) {
  const TrainingPlan& plan = job.plan;
  const Strategy& s = plan.strategy;
  Json config;
  config["tensor_parallel_size"] = s.tensor_parallel;
  config["pipeline_parallel_size"] = s.pipeline_parallel;
  config["context_parallel_size"] = s.context_parallel;
  config["sequence_parallel"] = s.sequence_parallel;
  config["optimizer_config"] = Json{{"zero_one_enabled", s.sharding == Sharding::Zero1}, {"grad_clipping", true}};
  if (s.pipeline_parallel > 1) {
    config["pipeline_config"] =
        Json{{"num_microbatches", plan.gradient_accumulation}, {"virtual_pipeline_size", s.virtual_pipeline}};
  }
  config["activation_checkpoint_config"] = s.recompute == Recompute::Full        ? Json("full")
                                           : s.recompute == Recompute::Selective ? Json("selective")
                                                                                 : Json(nullptr);
  out.files.push_back({"neuronx_config.json", config.dump(2) + "\n"});
  out.notes.emplace_back(
      "The script gives these to neuronx_distributed_config. Shapes are static: compile once with "
      "neuron_parallel_compile, and keep sequence length and micro-batch as planned.");
}

}  // namespace smplan
