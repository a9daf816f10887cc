// Limits of single settings. The API's model states them and botocore does not look.
#include <algorithm>
#include <set>

#include "base/words.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/image.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr std::size_t kMaxJobName = 63;
constexpr std::size_t kMaxImage = 255;
constexpr std::size_t kMaxUri = 1024;
constexpr std::size_t kMaxHyperparameters = 100;
constexpr std::size_t kMaxHyperparameterKey = 256;
constexpr std::size_t kMaxHyperparameterValue = 2500;
constexpr std::size_t kMaxVariables = 100;
constexpr std::size_t kMaxVariable = 512;
constexpr std::size_t kMaxChannels = 20;
constexpr std::size_t kMaxChannelName = 64;
constexpr std::size_t kMaxTags = 50;
constexpr double kLargeArtifactBytes = 10e9;

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

template <typename Allowed>
bool all_of(std::string_view text, Allowed allowed) {
  return std::all_of(text.begin(), text.end(), allowed);
}

bool is_job_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxJobName && is_alnum(name.front()) && is_alnum(name.back()) &&
         all_of(name, [](char c) { return is_alnum(c) || c == '-'; });
}

/// The nearest name that the service takes; empty where nothing is left of it.
std::string job_name_from(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, kMaxJobName)) {
    const char next = is_alnum(c) ? c : '-';
    if (!out.empty() || next != '-') out += next;
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

void job_name(const CheckInput& in, Report& report) {
  if (!in.job.name || is_job_name(*in.job.name)) return;
  Finding& finding = report.at(in.job.name, {quote(*in.job.name)});
  if (const std::string name = job_name_from(*in.job.name); !name.empty()) {
    finding.fix = "call it " + name;
    finding.edits = {{Edit::Kind::Set, in.job.name.where.path, json_text(name)}};
  }
}

bool is_role_arn(std::string_view arn) {
  constexpr std::string_view kMiddle = ":iam::";
  const std::size_t iam = arn.find(kMiddle);
  if (!arn.starts_with("arn:aws") || iam == std::string_view::npos || arn.size() > 2048) return false;
  const std::string_view partition = arn.substr(7, iam - 7);
  const std::string_view account = arn.substr(iam + kMiddle.size(), 12);
  const std::string_view rest = arn.substr(std::min(arn.size(), iam + kMiddle.size() + 12));
  return all_of(partition, [](char c) { return c == '-' || (c >= 'a' && c <= 'z'); }) && account.size() == 12 &&
         all_of(account, [](char c) { return c >= '0' && c <= '9'; }) && rest.starts_with(":role/") && rest.size() > 6;
}

void role_arn(const CheckInput& in, Report& report) {
  if (in.job.role && !is_role_arn(*in.job.role)) report.at(in.job.role, {quote(*in.job.role)});
}

/// The SDK's ModelTrainer uploads what lies at a path of this machine. Source: sagemaker-train 1.27, model_trainer.py.
bool is_path(std::string_view uri) {
  return uri.find("://") == std::string_view::npos && uri.find("s3:") != 0 && !uri.empty();
}

void judge_uri(const Text& uri, const Job& job, Report& report) {
  if (!uri) return;
  const bool local = job.kind != JobKind::CreateTrainingJob && uri->starts_with("file://");
  const bool s3 = (uri->starts_with("s3://") && uri->size() > 5 && (*uri)[5] != '/') || uri->starts_with("https://");
  if ((!s3 && !local) || uri->size() > kMaxUri) report.at(uri, {quote(*uri)});
}

/// Members named like URIs anywhere in the request.
void judge_uris_below(const Node& node, const Job& job, Report& report) {
  for (const Node& item : node.items) {
    if ((item.key == "S3Uri" || item.key == "S3OutputPath") && item.is_string() && !is_placeholder(item.text)) {
      Text uri;
      uri.value = item.text;
      uri.where = item.where;
      judge_uri(uri, job, report);
    }
    judge_uris_below(item, job, report);
  }
}

void s3_uri(const CheckInput& in, Report& report) {
  if (in.job.kind == JobKind::CreateTrainingJob) {
    judge_uris_below(in.job.root(), in.job, report);
    return;
  }
  judge_uri(in.job.output_uri, in.job, report);
  judge_uri(in.job.checkpoint_uri, in.job, report);
  for (const JobChannel& channel : in.job.channels) {
    const bool uploads = in.job.kind == JobKind::ModelTrainer && channel.s3_uri && is_path(*channel.s3_uri);
    if (!uploads) judge_uri(channel.s3_uri, in.job, report);
  }
}

void image_length(const CheckInput& in, Report& report) {
  const Text& image = in.job.image;
  if (image && (image->empty() || image->size() > kMaxImage)) {
    report.at(image, {count_text(static_cast<std::int64_t>(image->size()))});
  }
}

void image_or_algorithm(const CheckInput& in, Report& report) {
  const Node* holder =
      in.job.kind == JobKind::CreateTrainingJob ? in.job.root().find("AlgorithmSpecification") : &in.job.root();
  if (holder == nullptr || in.job.serverless || other_trainer(in.job)) return;
  if (in.job.image.stated && in.job.algorithm.stated) report.at(in.job.image, {"both are given"});
  const bool from_recipe = in.job.root().has("made_by");  // which brings an image where none is named
  if (!in.job.image.stated && !in.job.algorithm.stated && !from_recipe) report.at(*holder, {"neither is given"});
}

void hyperparameter_count(const CheckInput& in, Report& report) {
  const Node* h = in.job.hyperparameters;
  if (h != nullptr && h->items.size() > kMaxHyperparameters) {
    report.at(*h, {count_text(static_cast<std::int64_t>(h->items.size()))});
  }
}

void hyperparameter_length(const CheckInput& in, Report& report) {
  if (in.job.hyperparameters == nullptr) return;
  for (const Node& h : in.job.hyperparameters->items) {
    // The SDK sends lists and objects as JSON text.
    const std::size_t size = h.is_array() || h.is_object() ? h.span.end - h.span.begin : h.text.size();
    const std::string length = count_text(static_cast<std::int64_t>(size));
    if (h.key.size() > kMaxHyperparameterKey) {
      report.at(h, {quote(h.key), "a key", count_text(static_cast<std::int64_t>(h.key.size())), "256"});
    }
    if (size > kMaxHyperparameterValue) {
      report.at(h, {quote(h.key), "a value", length, "2500"});
    } else if (size > kMaxHyperparameterKey) {
      Finding& finding =
          report.at(h, {quote(h.key), "a value", length, "256 in the member's documentation, 2500 in the model"});
      finding.severity = Severity::Info;
    }
  }
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         all_of(name, [](char c) { return is_alnum(c) || c == '_'; });
}

void environment(const CheckInput& in, Report& report) {
  const Node* e = in.job.environment;
  if (e == nullptr || !e->is_object()) return;
  if (e->items.size() > kMaxVariables) {
    report.at(*e, {"the environment",
                   "has " + count_text(static_cast<std::int64_t>(e->items.size())) + " variables, 100 are allowed"});
  }
  for (const Node& v : e->items) {
    if (!is_variable_name(v.key) || v.key.size() > kMaxVariable) {
      report.at(v, {quote(v.key), "is no name of a variable (letters, digits and _, no digit first)"});
    }
    if (v.text.size() > kMaxVariable) {
      report.at(v, {quote(v.key),
                    "has " + count_text(static_cast<std::int64_t>(v.text.size())) + " characters, 512 are allowed"});
    }
  }
}

/// The members of DataSource are alternatives.
void sources_of_channels(const Node& list, Report& report) {
  for (const Node& channel : list.items) {
    const Node* source = channel.find("DataSource");
    if (source == nullptr || !source->is_object()) continue;
    std::vector<std::string> given;
    for (const Node& one : source->items) {
      if (!one.is_null()) given.push_back(one.key);
    }
    if (given.size() == 1) continue;
    const std::string what = given.empty() ? "no data source" : list_text(given);
    report.at(*source, {"the channel has " + what + ", and exactly one data source is due"}).fix = "give one of them";
  }
}

void channels(const CheckInput& in, Report& report) {
  const Job& job = in.job;
  if (job.channel_list == nullptr || job.channel_list->is_null()) return;
  if (job.kind != JobKind::Estimator && !job.channel_list->is_array()) return;  // C004 says so
  if (job.channels.empty() || job.channels.size() > kMaxChannels) {
    report.at(*job.channel_list, {"there are " + count_text(static_cast<std::int64_t>(job.channels.size())) +
                                  " channels, 1 to 20 are allowed"});
  }
  std::set<std::string> seen;
  for (const JobChannel& c : job.channels) {
    if (!c.name) continue;
    const bool good = !c.name->empty() && c.name->size() <= kMaxChannelName &&
                      all_of(*c.name, [](char k) { return is_alnum(k) || k == '.' || k == '-' || k == '_'; });
    if (!good) report.at(c.name, {quote(*c.name) + " is no channel name (letters, digits, . - _, at most 64)"});
    if (!seen.insert(*c.name).second) report.at(c.name, {"the channel " + quote(*c.name) + " is there twice"});
  }
  if (job.kind == JobKind::CreateTrainingJob) sources_of_channels(*job.channel_list, report);
}

bool lacks_prefix(const SagemakerLimits& limits, std::string_view type) {
  return !type.starts_with("ml.") && limits.is_training_type("ml." + std::string(type));
}

/// All but what the catalog knows to be gone.
std::vector<std::string> types_on_sale(const CheckInput& in) {
  std::vector<std::string> types = in.limits.training_types;
  std::erase_if(types, [&](const std::string& name) {
    const InstanceType* type = in.catalog.find_instance(name);
    return type != nullptr && type->support == TrainingSupport::Retired;
  });
  return types;
}

void instance_type(const CheckInput& in, Report& report) {
  const bool cluster = in.job.kind == JobKind::HyperpodJob;
  for (const Machines& m : in.machines) {
    if (!m.type || is_local(in.job) || lacks_prefix(in.limits, *m.type)) continue;
    if (cluster ? in.limits.is_cluster_type(*m.type) || !m.type->starts_with("ml.")
                : in.limits.is_training_type(*m.type))
      continue;
    if (in.job.kind == JobKind::HyperpodRecipe) continue;
    // Types that the user's own catalog knows are newer than our list.
    if (m.instance != nullptr && m.instance->support != TrainingSupport::NotSupported) continue;
    Finding& finding = report.at(m.type, {quote(*m.type), cluster ? "HyperPod cluster's" : "SageMaker training"});
    const std::vector<std::string> near = nearest_names(*m.type, types_on_sale(in), 2);
    if (!near.empty()) finding.fix = "did you mean " + near.front() + (near.size() > 1 ? " or " + near[1] : "") + "?";
  }
}

void instance_prefix(const CheckInput& in, Report& report) {
  for (const Machines& m : in.machines) {
    if (!m.type || !lacks_prefix(in.limits, *m.type)) continue;
    Finding& finding = report.at(m.type, {*m.type});
    finding.fix = "write ml." + *m.type;
    finding.edits = {{Edit::Kind::Set, m.type.where.path, json_text("ml." + *m.type)}};
  }
}

void instance_count(const CheckInput& in, Report& report) {
  for (const Machines& m : in.machines) {
    if (m.count && *m.count < 1) report.at(m.count, {count_text(*m.count)});
  }
}

void tags(const CheckInput& in, Report& report) {
  const Node* t = in.job.tags;
  if (t == nullptr) return;
  if (t->items.size() > kMaxTags) {
    report.at(*t, {"there are " + count_text(static_cast<std::int64_t>(t->items.size())) + " tags, 50 are allowed"});
  }
  for (const Node& tag : t->items) {
    const bool pairs = tag.is_object();
    if (pairs && in.job.kind == JobKind::Estimator && !(tag.has("Key") && tag.has("Value"))) {
      report.at(tag, {"a tag lacks Key or Value, in this spelling"});
    }
    const std::string key = pairs ? member_text(tag, {"Key", "key"}) : tag.key;
    const std::string value = pairs ? member_text(tag, {"Value", "value"}) : tag.text;
    if (key.starts_with("aws:")) report.at(tag, {"the key " + quote(key) + " is AWS's: aws: is reserved"});
    const auto again = [&](const Node& other) {
      return &other < &tag && other.is_object() && !key.empty() && member_text(other, {"Key", "key"}) == key;
    };
    if (std::any_of(t->items.begin(), t->items.end(), again)) {
      report.at(tag, {"the key " + quote(key) + " stands twice"});
    }
    if (key.size() > 128) report.at(tag, {"the key " + quote(key) + " is longer than 128 characters"});
    if (value.size() > 256) report.at(tag, {"the value of " + quote(key) + " is longer than 256 characters"});
  }
}

/// `vpc-0123456789abcdef0`: what AWS names its resources.
bool is_resource_id(std::string_view text) {
  const std::size_t dash = text.find('-');
  return dash != std::string_view::npos && dash > 0 && text.size() - dash > 8 &&
         all_of(text.substr(dash + 1), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

void vpc(const CheckInput& in, Report& report) {
  const auto size = [](const Node* n) { return n == nullptr || n->is_null() ? std::size_t{0} : n->items.size(); };
  const Node* subnets = in.job.subnets;
  const Node* groups = in.job.security_groups;
  const Node* vpc = in.job.root().find("VpcConfig");
  if (size(subnets) == 0 && size(groups) == 0 && (vpc == nullptr || !vpc->is_object())) return;
  const Where where = subnets != nullptr ? subnets->where : groups != nullptr ? groups->where : vpc->where;
  if (size(subnets) == 0) report.at(where, {"has no subnet"});
  if (size(groups) == 0) report.at(where, {"has no security group"});
  if (size(subnets) > 16) report.at(*subnets, {"has more than 16 subnets"});
  if (size(groups) > 5) report.at(*groups, {"has more than 5 security groups"});
  const auto mistaken = [&](const Node* list, std::string_view own, std::string_view prefix, const char* due,
                            const char* is) {
    if (size(list) == 0) return;
    for (const Node& id : list->items) {
      if (id.text.starts_with(own) || !(id.text.starts_with(prefix) || is_resource_id(id.text))) continue;
      const bool other = id.text.starts_with(prefix);
      Finding& finding =
          report.at(id, {"has " + quote(id.text) + " among its " + due +
                         (other ? ": that is a " + std::string(is) : ", which begin with " + std::string(own))});
      if (other) finding.fix = "exchange the two";
    }
  };
  mistaken(subnets, "subnet-", "sg-", "subnets", "security group");
  mistaken(groups, "sg-", "subnet-", "security groups", "subnet");
}

/// Whether each group of a regular expression is closed, and none closed that is not open.
bool groups_are_closed(std::string_view expression) {
  int open = 0;
  bool in_class = false;
  for (std::size_t i = 0; i < expression.size() && open >= 0; ++i) {
    const char c = expression[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      i += expression.substr(i + 1).starts_with("^") ? 1 : 0;
      i += expression.substr(i + 1).starts_with("]") ? 1 : 0;  // first in a class it is one of its characters
    } else {
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
  }
  return open == 0 && !in_class;
}

void metric_definitions(const CheckInput& in, Report& report) {
  const Node* m = in.job.metrics;
  if (m == nullptr) return;
  if (m->items.size() > 40) report.at(*m, {"there are more than 40 of them"});
  for (const Node& metric : m->items) {
    const std::string name = member_text(metric, {"Name", "name"});
    if (name.size() > 255) report.at(metric, {"the name " + quote(name) + " is longer than 255 characters"});
    const std::string expression = member_text(metric, {"Regex", "regex"});
    const bool written = metric.has("Regex") || metric.has("regex");
    // The SDK 2 passes them on as they are.
    if (in.job.kind == JobKind::Estimator && written && !(metric.has("Name") && metric.has("Regex"))) {
      report.at(metric, {"one lacks Name or Regex, in this spelling"}).fix = "write Name and Regex";
    }
    if (metric.is_object() && !written) report.at(metric, {quote(name) + " has no regex"}).fix = "add it";
    if (expression.size() > 500) {
      report.at(metric, {"the expression of " + quote(name) + " is longer than 500 characters"});
    }
    if (!is_placeholder(expression) && !groups_are_closed(expression)) {
      report
          .at(metric,
              {"the expression of " + quote(name) + " opens a bracket that it does not close, or the other way"})
          .fix = "close it, or write a bracket that is text with a backslash";
    }
  }
}

void container_words(const CheckInput& in, Report& report) {
  for (const Node* words : {in.job.entrypoint_words, in.job.argument_words}) {
    if (words == nullptr) continue;
    if (words->items.size() > 100) report.at(*words, {"has more than 100 words"});
    for (const Node& word : words->items) {
      if (word.text.size() > 256) report.at(word, {"has a word of more than 256 characters"});
    }
  }
}

void output_compression(const CheckInput& in, Report& report) {
  const Text& c = in.job.output_compression;
  if (c && *c != "GZIP" && *c != "NONE") report.at(c, {quote(*c)});
}

void gzip_of_large_model(const CheckInput& in, Report& report) {
  if (in.job.output_compression.is("NONE") || in.prediction->artifact_bytes <= kLargeArtifactBytes) return;
  const Where where = in.job.output_compression.stated ? in.job.output_compression.where
                      : in.job.output_uri.stated       ? in.job.output_uri.where
                                                       : in.job.root().where;
  report.at(where, {format_bytes(Bytes(in.prediction->artifact_bytes))});
}

/// What the training toolkit makes of a hyperparameter of its own.
/// Source: sagemaker-training 5.1.4: environment.py, logging_config.py, runner.py; sagemaker-pytorch-training 3.0.0,
/// training.py.
struct DecodedHyperparameter {
  enum Use : std::uint8_t { Switch, Whole, Level, Text };
  std::string_view name;
  Use use;
};
constexpr DecodedHyperparameter kDecoded[] = {
    {"sagemaker_torch_distributed_enabled", DecodedHyperparameter::Switch},
    {"sagemaker_distributed_dataparallel_enabled", DecodedHyperparameter::Switch},
    {"sagemaker_mpi_enabled", DecodedHyperparameter::Switch},
    {"sagemaker_parameter_server_enabled", DecodedHyperparameter::Switch},
    {"sagemaker_multi_worker_mirrored_strategy_enabled", DecodedHyperparameter::Switch},
    {"sagemaker_pytorch_xla_multi_worker_enabled", DecodedHyperparameter::Switch},
    {"sagemaker_pytorch_ddp_enabled", DecodedHyperparameter::Switch},
    {"sagemaker_mpi_num_of_processes_per_host", DecodedHyperparameter::Whole},
    {"sagemaker_container_log_level", DecodedHyperparameter::Level},
    {"sagemaker_job_name", DecodedHyperparameter::Text},
    {"sagemaker_region", DecodedHyperparameter::Text},
    {"sagemaker_program", DecodedHyperparameter::Text},
};

bool is_word_for_off(std::string_view word) {
  static constexpr std::string_view kWords[] = {"false", "no", "off", "0", "none", "null"};
  return std::find(std::begin(kWords), std::end(kWords), lower_case(word)) != std::end(kWords);
}

/// What is wrong with it, and what to write; empty where it is as the toolkit wants it.
std::pair<std::string, std::string> decoding_fault(const Node& value, DecodedHyperparameter::Use use) {
  switch (use) {
    case DecodedHyperparameter::Switch:
      if (!value.is_string() || !is_word_for_off(value.text)) return {};
      return {"is on: any text is true", "false"};
    case DecodedHyperparameter::Whole:
      if (value.kind == Node::Kind::Integer) return {};
      return {"must be a whole number", integer_of(value) ? count_text(*integer_of(value)) : "8"};
    case DecodedHyperparameter::Level:
      if (value.is_number()) return {};
      return {"is compared with numbers, and is none", integer_of(value) ? count_text(*integer_of(value)) : "20"};
    case DecodedHyperparameter::Text:
      if (value.is_string()) return {};
      return {"must be text, and is read as " + std::string(kind_name(value.kind)), ""};
  }
  return {};
}

void decoded_hyperparameters(const CheckInput& in, Report& report) {
  if (in.job.hyperparameters == nullptr) return;
  for (const DecodedHyperparameter& one : kDecoded) {
    const Node* node = in.job.hyperparameters->find(one.name);
    if (node == nullptr || !node->is_string() || is_placeholder(node->text)) continue;
    const auto [fault, due] = decoding_fault(decoded_hyperparameter(*node), one.use);
    if (fault.empty()) continue;
    Finding& finding = report.at(*node, {std::string(one.name), quote(node->text), fault});
    const std::string fitting = due.empty() ? json_text(node->text) : due;
    finding.fix = "write " + json_text(fitting);
    finding.edits = {{Edit::Kind::Set, node->where.path, json_text(fitting)}};
  }
}

constexpr Rule kLimitsRules[] = {
    {"C005", Severity::Error, "Job name",
     "the name has other characters than letters, digits and inner hyphens, or more than 63",
     "{} is no job name: letters, digits and inner hyphens, at most 63", "replace other characters by hyphens", kApi,
     kSubmitted, Need::Nothing, job_name},
    {"C006", Severity::Error, "Role ARN", "RoleArn is not the full ARN of a role",
     "{} is no role ARN; the SDK expands a bare role name, the API does not",
     "write arn:aws:iam::<account>:role/<name>", kApi, kRequest, Need::Nothing, role_arn},
    {"C007", Severity::Error, "S3 URI", "a location is not s3://bucket/... or is longer than 1024 characters",
     "{} is no S3 location", "write s3://bucket/prefix", kApi, kSubmitted, Need::Nothing, s3_uri},
    {"C008", Severity::Error, "Image URI length", "the image URI is empty or longer than 255 characters",
     "the image URI has {} characters, 1 to 255 are allowed", "use a shorter repository or tag", kApi, kSubmitted,
     Need::Nothing, image_length},
    {"C009", Severity::Error, "Image or algorithm", "an image and an algorithm name are both given, or neither is",
     "exactly one of image and algorithm name is needed, and {}", "keep one of them", kSdk3, kRequest | kTrainer,
     Need::Nothing, image_or_algorithm},
    {"C010", Severity::Error, "Number of hyperparameters", "there are more than 100 hyperparameters",
     "{} hyperparameters, 100 are allowed", "move them to a configuration file beside the script", kApi, kSubmitted,
     Need::Nothing, hyperparameter_count},
    {"C011", Severity::Error, "Length of a hyperparameter",
     "a key is longer than 256 or a value than 2500 characters (257 to 2500: a note)",
     "{} has {} of {} characters; the limit is {}", "put long configurations in a file and pass its path", kApi,
     kSubmitted, Need::Nothing, hyperparameter_length},
    {"C244", Severity::Error, "Hyperparameter that the toolkit misreads",
     "a hyperparameter of the training toolkit's own is read from JSON as what the toolkit fails over, or a switch "
     "that "
     "is to be off is on",
     "{} {} {}", "write it in JSON",
     "sagemaker-training 5.1.4, environment.py and logging_config.py: what is no JSON stays text", kRequest,
     Need::Nothing, decoded_hyperparameters},
    {"C012", Severity::Error, "Environment", "more than 100 variables, a bad name, or a value over 512 characters",
     "{} {}", "shorten it or move it to a file", kApi, kSubmitted, Need::Nothing, environment},
    {"C013", Severity::Error, "Channels", "no channel or more than 20, a bad name, or a name twice", "{}",
     "give each channel a name of its own", kApi, kSubmitted, Need::Nothing, channels},
    {"C014", Severity::Error, "Unknown instance type",
     "the type is none that SageMaker training, or a cluster of HyperPod, takes", "{} is no {} instance type",
     "see `smplan catalog list instances`",
     "npm @aws-sdk/client-sagemaker 3.1142.0, TrainingInstanceType and ClusterInstanceType",
     kSubmitted | kAccelerate | kHyperpodJob, Need::Nothing, instance_type},
    {"C015", Severity::Error, "Instance type without ml.", "an EC2 name stands where SageMaker's is due",
     "{} is the EC2 name; SageMaker's types start with ml.", "add ml.", kApi, kSubmitted | kAccelerate | kHyperpodJob,
     Need::Nothing, instance_prefix},
    {"C016", Severity::Error, "Instance count", "fewer than one instance", "{} instances cannot run a job",
     "ask for at least 1", "SageMaker API model: its minimum is 0, the service wants 1", kSubmitted, Need::Nothing,
     instance_count},
    {"C017", Severity::Error, "Tags",
     "more than 50 tags, a key over 128 or a value over 256 characters, one of AWS's own, twice or without the names "
     "Key "
     "and Value",
     "{}", "shorten or drop tags", kApi, kSubmitted, Need::Nothing, tags},
    {"C018", Severity::Error, "VPC settings",
     "not 1 to 16 subnets, not 1 to 5 security groups, one without the other, or one in the place of the other",
     "the VPC setting {}", "give both subnets (1 to 16) and security groups (1 to 5)", kApi, kSubmitted, Need::Nothing,
     vpc},
    {"C019", Severity::Error, "Metric definitions",
     "more than 40, a name over 255 or an expression over 500 characters, none or one that does not compile",
     "metric definitions: {}", "shorten or drop them", kApi, kSubmitted, Need::Nothing, metric_definitions},
    {"C020", Severity::Error, "Container command",
     "entry point or arguments have more than 100 words or a word over 256 characters", "the container's command {}",
     "put the command in a script", kApi, kSubmitted, Need::Nothing, container_words},
    {"C021", Severity::Error, "Output compression", "the compression is neither GZIP nor NONE",
     "{} is no output compression", "write GZIP, or NONE for models of several GB", kApi, kRequest | kTrainer,
     Need::Nothing, output_compression},
    {"C022", Severity::Warning, "Packing a large model", "the output is compressed and the model is over 10 GB",
     "packing {} into model.tar.gz runs on one core while all instances are billed",
     "switch output compression off (NONE; disable_output_compression=True)", kJudgement, kSubmitted, Need::Prediction,
     gzip_of_large_model},
};

}  // namespace

std::span<const Rule> limit_rules() { return kLimitsRules; }

}  // namespace smplan
