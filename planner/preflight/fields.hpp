#pragma once

#include "planner/preflight/job.hpp"

namespace smplan {

// Nodes to fields: absent (nullptr) stays unstated; null, a placeholder or a wrong kind is stated without value.
Text text_field(const Node* node);
Count count_field(const Node* node);
Switch switch_field(const Node* node);
Share share_field(const Node* node);
/// As Python takes a value, and the container that reads it back from the request: any text is true, and so is 1.
bool truth_in_python(const Node& node);
/// A request's hyperparameter as the container's toolkit reads it: as JSON, and as it stands where it is none.
/// Source: aws/sagemaker-training-toolkit 5.1.4, environment.py, read_hyperparameters().
Node decoded_hyperparameter(const Node& text);
/// True with the place of `node` if it is there at all.
Switch presence(const Node* node);
/// Without the quotes of JSON that the SDK keeps around a hyperparameter's text.
Text unquoted(Text field);
/// The types that SageMaker tries in order, by the names that the format gives their members.
struct PreferenceNames {
  std::string_view type, count, training_plans;
};
void read_preferences(const Node* list, const PreferenceNames& names, Job& job);
/// A text with this word in it.
bool names_word(const Node* node, std::string_view word);
/// The precision by the names of accelerate, NeMo and TorchTitan.
void read_precision(const Node* named, JobStrategy& s);
/// The first of several spellings that is there.
const Node* first_of(const Node& object, std::initializer_list<std::string_view> names);
/// By its path with dots: `zero_optimization.stage`; nullptr where it is not there.
const Node* node_by(const Node& root, std::string_view path);

/// A value that follows from others, with the place of the one that decides.
template <typename T>
Field<T> derived(T value, const Where& where) {
  Field<T> field;
  field.value = std::move(value);
  field.where = where;
  field.stated = true;
  return field;
}

/// By the name of the image repository.
Framework framework_of(std::string_view repository);
/// An image URI; one with a placeholder for the region still has a value.
Text image_field(const Node* node);
/// The image, with the framework and the version that its name says.
void read_image(const Node* node, Job& job);
/// Precision, batch and degrees as training scripts usually name them, from hyperparameters.
void read_script_settings(const Node& hyperparameters, Job& job);

// One reader a kind; each fills what its format can say.
void read_create_training_job(const Node& root, Job& job);
void read_estimator(const Node& root, Job& job);
void read_model_trainer(const Node& root, Job& job);
void read_hyperpod_recipe(const Node& root, Job& job);
void read_hyperpod_job(const Node& root, Job& job);
/// The kind of an object of Kubernetes that is no job which is read; empty for others.
std::string unread_kubernetes_kind(const Node& document);
/// Whether the text is a job's configuration of HyperPod's command line, by its template, which may be a comment.
bool is_hyperpod_template(std::string_view text, const Node& document);
/// The template of one that is no job which is read; empty for others.
std::string unread_hyperpod_template(std::string_view text, const Node& document);
/// The table of an object's settings, by its kind.
std::string_view kubernetes_table(const Node& root);
/// Of a file's several documents the one job, where all of them are objects of Kubernetes.
Result<Node> kubernetes_job_of(std::vector<Node> documents, const std::string& file);
void read_deepspeed(const Node& root, Job& job);
void read_accelerate(const Node& root, Job& job);
void read_megatron(const Node& root, Job& job);
void read_torchtitan(const Node& root, Job& job);
void read_smp(const Node& root, Job& job);
void read_torchrun(const Node& root, Job& job);
/// What torchrun is told of nodes and processes.
void read_processes(const Node& root, Job& job);
void read_axolotl(const Node& root, Job& job);
void read_llama_factory(const Node& root, Job& job);
void read_torchtune(const Node& root, Job& job);
void read_trl(const Node& root, Job& job);
void read_verl(const Node& root, Job& job);
void read_nemo_rl(const Node& root, Job& job);
void read_mtrl(const Node& root, Job& job);

// What each format tells software; what it leaves open is the framework's default.
Execution megatron_execution(const Node& root);
Execution script_execution(const Node& hyperparameters);
Execution torchtitan_execution(const Node& root);
Execution accelerate_execution(const Node& root);
Execution deepspeed_execution(const Node& root);

}  // namespace smplan
