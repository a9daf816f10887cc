#pragma once

#include <string_view>

#include "planner/export/launch.hpp"

namespace smplan {

// One writer a target; targets.cpp puts them into the table.
void write_create_training_job(const ExportJob& job, Export& out, Diagnostics& faults);
void write_sagemaker_sdk_v2(const ExportJob& job, Export& out, Diagnostics& faults);
void write_sagemaker_sdk_v3(const ExportJob& job, Export& out, Diagnostics& faults);
void write_hyperpod_recipe(const ExportJob& job, Export& out, Diagnostics& faults);
void write_hyperpod_job(const ExportJob& job, Export& out, Diagnostics& faults);
void write_hyperpod_slurm(const ExportJob& job, Export& out, Diagnostics& faults);
void write_torchrun(const ExportJob& job, Export& out, Diagnostics& faults);
void write_megatron(const ExportJob& job, Export& out, Diagnostics& faults);
void write_fsdp(const ExportJob& job, Export& out, Diagnostics& faults);
void write_deepspeed(const ExportJob& job, Export& out, Diagnostics& faults);
void write_accelerate(const ExportJob& job, Export& out, Diagnostics& faults);
void write_torchtitan(const ExportJob& job, Export& out, Diagnostics& faults);
void write_smp_v2(const ExportJob& job, Export& out, Diagnostics& faults);
void write_smp_v1(const ExportJob& job, Export& out, Diagnostics& faults);
void write_neuronx(const ExportJob& job, Export& out, Diagnostics& faults);
void write_trl(const ExportJob& job, Export& out, Diagnostics& faults);
void write_axolotl(const ExportJob& job, Export& out, Diagnostics& faults);
void write_llama_factory(const ExportJob& job, Export& out, Diagnostics& faults);
void write_torchtune(const ExportJob& job, Export& out, Diagnostics& faults);
void write_verl(const ExportJob& job, Export& out, Diagnostics& faults);
void write_hyperpod_verl(const ExportJob& job, Export& out, Diagnostics& faults);
void write_llmft(const ExportJob& job, Export& out, Diagnostics& faults);

/// The request of a launch that is complete, as the first file.
void add_training_job(const ExportJob& job, const Launch& launch, Export& out);

// What a target cannot say of a model, an optimizer or a pair of choices; the table has it beside the writer.
void check_hyperpod_job(const TrainingPlan& plan, Diagnostics& faults);
void check_megatron(const TrainingPlan& plan, Diagnostics& faults);
void check_torchtitan(const TrainingPlan& plan, Diagnostics& faults);
void check_neuronx(const TrainingPlan& plan, Diagnostics& faults);
void check_trl(const TrainingPlan& plan, Diagnostics& faults);
void check_axolotl(const TrainingPlan& plan, Diagnostics& faults);
void check_llama_factory(const TrainingPlan& plan, Diagnostics& faults);
void check_torchtune(const TrainingPlan& plan, Diagnostics& faults);
void check_verl(const TrainingPlan& plan, Diagnostics& faults);
void check_hyperpod_verl(const TrainingPlan& plan, Diagnostics& faults);
void check_llmft(const TrainingPlan& plan, Diagnostics& faults);

inline constexpr std::string_view kDeepSpeedFile = "ds_config.json";

/// Parameters of the SageMaker model parallel library, v1 or v2 as the plan's stack says.
Settings smp_parameters(const ExportJob& job);

/// The adapter's `model_type` of recipes; empty where it knows none.
std::string_view recipe_model_type(const Architecture& model);

/// A line of the file of pip's requirements beside the script, once.
void add_requirement(Export& out, std::string_view package, std::string_view path = "requirements.txt");
/// Whether the export has such a file.
bool has_requirements(const Export& out);

/// The module that runs a framework's own entry point under torchrun with the exported arguments.
ExportFile framework_entry(std::string_view body);

}  // namespace smplan
