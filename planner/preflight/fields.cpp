#include "planner/preflight/fields.hpp"

#include "planner/preflight/image.hpp"
#include "planner/preflight/methods.hpp"

namespace smplan {
namespace {

template <typename T, typename Read>
Field<T> field_of(const Node* node, Read read) {
  Field<T> field;
  if (node == nullptr) return field;
  // A Python None is what a caller writes for "not given".
  field.stated = !node->is_null();
  field.where = node->where;
  if (node->is_array() && !node->items.empty()) node = &node->items.front();  // an argument with stray words
  field.value = read(*node);
  return field;
}

Switch said(bool value, const Node* node) { return value && node != nullptr ? derived(true, node->where) : Switch{}; }

}  // namespace

Text unquoted(Text field) {
  if (field && field->size() >= 2 && field->front() == '"' && field->back() == '"') {
    field.value = field->substr(1, field->size() - 2);
  }
  return field;
}

bool truth_in_python(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null:
    case Node::Kind::Bool:
      return node.truth;
    case Node::Kind::Integer:
      return node.integer != 0;
    case Node::Kind::Real:
      return node.real != 0;
    case Node::Kind::String:
      return !node.text.empty();
    case Node::Kind::Array:
    case Node::Kind::Object:
      break;
  }
  return !node.items.empty();
}

Node decoded_hyperparameter(const Node& text) {
  if (!text.is_string()) return text;
  Result<Node> decoded = parse_document(text.text, "hyperparameter", Syntax::Json);
  return decoded ? std::move(*decoded) : text;
}

Text text_field(const Node* node) {
  return field_of<std::string>(node, [](const Node& n) {
    // Versions are often written as numbers: 2.1, not "2.1".
    return n.is_number() ? std::optional(n.text) : text_of(n);
  });
}
Count count_field(const Node* node) { return field_of<std::int64_t>(node, integer_of); }
Switch switch_field(const Node* node) { return field_of<bool>(node, truth_of); }
Share share_field(const Node* node) { return field_of<double>(node, number_of); }
void read_preferences(const Node* list, const PreferenceNames& names, Job& job) {
  if (list == nullptr || list->is_null()) return;
  job.preference_list = list;
  for (const Node& entry : list->items) {
    job.preferences.push_back({entry.where, text_field(entry.find(names.type)), count_field(entry.find(names.count)),
                               entry.find(names.training_plans)});
  }
}

bool names_word(const Node* node, std::string_view word) {
  return node != nullptr && node->is_string() && node->text.find(word) != std::string::npos;
}

void read_precision(const Node* named, JobStrategy& s) {
  s.bf16 = said(names_word(named, "bf16") || names_word(named, "bfloat16"), named);
  s.fp16 = said(names_word(named, "fp16") || names_word(named, "16-mixed") || (names_word(named, "float16") && !s.bf16),
                named);
  if (s.bf16 && names_word(named, "bf16-mixed")) s.fp16 = {};
  s.fp8 = said(names_word(named, "fp8"), named);
  s.fp32 = said(named != nullptr && (names_word(named, "float32") || names_word(named, "fp32") || named->text == "32" ||
                                     named->text == "no"),
                named);
}

Switch presence(const Node* node) {
  return field_of<bool>(node, [](const Node& n) { return std::optional(!n.is_null()); });
}

const Node* first_of(const Node& object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const Node* node = object.find(name)) return node;
  }
  return nullptr;
}

const Node* node_by(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (node != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    node = node->find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

Framework framework_of(std::string_view repository) {
  if (repository.find("huggingface") != std::string_view::npos) return Framework::HuggingFace;
  if (repository.find("pytorch") != std::string_view::npos) return Framework::PyTorch;
  if (repository.find("smdistributed-modelparallel") != std::string_view::npos) return Framework::PyTorch;
  if (repository.find("tensorflow") != std::string_view::npos) return Framework::TensorFlow;
  return Framework::Other;
}

Text image_field(const Node* node) {
  Text field = text_field(node);
  // A placeholder region leaves repository and tag to be judged.
  if (node != nullptr && node->is_string() && parse_image(node->text)) field.value = node->text;
  return field;
}

void read_image(const Node* node, Job& job) {
  job.image = image_field(node);
  const auto image = job.image ? parse_image(*job.image) : std::nullopt;
  if (!image) return;
  job.framework = framework_of(image->repository);
  if (job.framework == Framework::Other || image->version.empty()) return;
  job.framework_version = derived(image->version, job.image.where);
}

void read_script_settings(const Node& h, Job& job) {
  JobStrategy& s = job.strategy;
  s.execution = script_execution(h);
  s.bf16 = switch_field(first_of(h, {"bf16"}));
  s.fp16 = switch_field(first_of(h, {"fp16"}));
  s.fp8 = switch_field(first_of(h, {"fp8"}));
  s.fp4 = switch_field(first_of(h, {"fp4", "mxfp8"}));
  const Node* named = first_of(h, {"dtype", "precision", "torch_dtype"});
  // A launcher's format is the one that counts where the script switches none on.
  if (named == nullptr && !s.bf16.is(true) && !s.fp16.is(true)) named = h.find("mixed_precision");
  if (named != nullptr) {
    const Text name = text_field(named);
    const auto says = [&](std::string_view word) { return name && name->find(word) != std::string::npos; };
    if (says("bf16") || says("bfloat16")) s.bf16 = derived(true, named->where);
    if ((says("fp16") || says("float16")) && !says("bfloat16")) s.fp16 = derived(true, named->where);
    if (says("fp8")) s.fp8 = derived(true, named->where);
    if (says("fp4")) s.fp4 = derived(true, named->where);
    if (says("fp32") || says("float32")) s.fp32 = derived(true, named->where);
  }
  s.attention = text_field(first_of(h, {"attn_implementation", "attn-implementation", "attention"}));
  const Node* flash = first_of(h, {"use_flash_attention_2", "use_flash_attention", "flash_attention"});
  if (flash != nullptr && switch_field(flash).is(true)) {
    s.attention = derived(std::string("flash_attention_2"), flash->where);
  }
  s.tensor = count_field(first_of(h, {"tensor_parallel_degree", "tensor_model_parallel_size", "tp"}));
  s.pipeline = count_field(first_of(h, {"pipeline_parallel_degree", "pipeline_model_parallel_size", "pp"}));
  s.micro_batch = count_field(first_of(h, {"per_device_train_batch_size", "micro_batch_size", "micro_batch"}));
  s.accumulation = count_field(first_of(h, {"gradient_accumulation_steps", "gradient_accumulation"}));
  s.sequence_length = count_field(first_of(h, {"max_seq_length", "seq_length", "max_context_width", "seq_len"}));
  s.steps = count_field(h.find("max_steps"));
  s.finetune = unquoted(text_field(h.find("finetune")));
  read_methods(h, job);
  s.optimizer = unquoted(text_field(first_of(h, {"optimizer", "optim"})));
  s.save_interval = count_field(first_of(h, {"save_interval", "save_steps"}));
  s.lora_rank = count_field(h.find("lora_rank"));
  s.trained_layers = unquoted(text_field(h.find("trained_layers")));
  s.lora_embeddings = switch_field(h.find("lora_embeddings"));
  s.virtual_tokens = count_field(first_of(h, {"virtual_tokens", "num_virtual_tokens"}));
  s.adapter_count = count_field(first_of(h, {"adapter_count", "n_adapters", "num_adapters"}));
  s.recompute_layers = count_field(h.find("activation_checkpointing_layers"));
  s.recompute = unquoted(text_field(h.find("activation_checkpointing")));
}

}  // namespace smplan
