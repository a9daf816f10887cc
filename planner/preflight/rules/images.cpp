// Images by name: what a script asks image_uris.retrieve() for, and URIs of images that AWS serves, against the tables
// of the SDKs.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

#include "catalogs/image_uris.hpp"
#include "planner/preflight/image.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr std::string_view kRetrieve = "image_uris.retrieve";

/// An argument of a call.
struct Argument {
  bool given = false;
  std::string text;  ///< empty where it is not known
  Where where;

  [[nodiscard]] bool known() const { return !text.empty(); }
};

/// The arguments of image_uris.retrieve() by name.
class Request {
 public:
  explicit Request(const Node& call) : line_(line_of(call)), open_(call.at({"open"}) && call.at({"open"})->truth) {
    const Node* values = call.find("values");
    if (values != nullptr) arguments_ = values;
  }
  [[nodiscard]] Argument of(std::string_view name) const {
    Argument found;
    found.where = place(line_, name);
    found.given = open_;
    for (const Node& one : arguments_ == nullptr ? std::vector<Node>() : arguments_->items) {
      const Node* named = one.find("name");
      const Node* value = one.find("value");
      if (named == nullptr || value == nullptr || named->text != name) continue;
      found.where = place(line_of(one), name);
      found.given = !value->is_null();
      if (value->is_string() && !is_placeholder(value->text)) found.text = value->text;
    }
    return found;
  }

 private:
  static std::int64_t line_of(const Node& node) {
    const Node* line = node.find("line");
    return line == nullptr ? 0 : line->integer;
  }
  static Where place(std::int64_t line, std::string_view name) {
    return {pointer_to(pointer_to("", "image_uris.retrieve"), name), static_cast<int>(line)};
  }
  std::int64_t line_;
  bool open_;
  const Node* arguments_ = nullptr;
};

using Rows = std::vector<const NamedImage*>;

/// Newer than all of them, and no more than a major version: the next table may have it.
bool may_come(const std::string& version, const std::vector<std::string>& known) {
  const std::string* newest = nullptr;
  for (const std::string& one : known) {
    if (newest == nullptr || version_before(*newest, one)) newest = &one;
  }
  if (newest == nullptr || !version_before(*newest, version)) return false;
  const auto major = [](std::string_view text) { return std::strtol(std::string(text).c_str(), nullptr, 10); };
  return major(version) <= major(*newest) + 1;
}

/// Arguments that take the call elsewhere: to JumpStart's models, the compiler's images, Neuron's.
constexpr std::string_view kElsewhere[] = {"model_id",         "model_version",
                                           "hub_arn",          "inference_tool",
                                           "accelerator_type", "training_compiler_config",
                                           "config_name",      "serverless_inference_config"};

class Search {
 public:
  Search(const Request& request, Report& report) : request_(request), report_(report) {}

  void judge() {
    const Argument framework = request_.of("framework");
    for (const std::string_view name : kElsewhere) {
      if (request_.of(name).given) return;
    }
    if (!framework.known() || !find_tables(framework) || is_elsewhere(framework.text) || !choose_scope()) return;
    if (!choose_version(framework.text) || !choose_base() || !choose_python(framework.text)) return;
    judge_region();
    judge_processor();
  }

 private:
  /// Instances of AWS's own chips have tables and scopes of their own.
  [[nodiscard]] bool is_elsewhere(const std::string& framework) const {
    const Argument instance = request_.of("instance_type");
    const bool has_neuron = contains_framework(framework + "-neuron") || contains_framework(framework + "-neuronx");
    if (instance.given && !instance.known()) return has_neuron;
    const std::string_view family = family_of(instance.text);
    const bool trainium = family.starts_with("trn");
    const bool graviton = family.size() > 2 && family[2] == 'g';
    if (!trainium && !graviton) return family.starts_with("inf");
    if (trainium ? !has_neuron : !has_scope(framework, "inference_graviton")) {
      report_.at(instance.where, {framework + " has no image for " + std::string(trainium ? "Trainium" : "Graviton")});
    }
    return true;
  }

  static bool has_scope(const std::string& framework, const std::string& scope) {
    const auto& all = named_images().images;
    return std::any_of(all.begin(), all.end(), [&](const NamedImages& one) {
      return one.framework == framework && contains(one.scopes, scope);
    });
  }

  static bool contains_framework(const std::string& name) {
    const auto& all = named_images().images;
    return std::any_of(all.begin(), all.end(), [&](const NamedImages& one) { return one.framework == name; });
  }

  bool find_tables(const Argument& framework) {
    std::vector<std::string> names;
    for (const NamedImages& one : named_images().images) {
      if (one.framework == framework.text) tables_.push_back(&one);
      if (names.empty() || names.back() != one.framework) names.push_back(one.framework);
    }
    if (tables_.empty()) fault(framework, "is no framework or algorithm of the SDK's", names);
    return !tables_.empty();
  }

  bool choose_scope() {
    std::vector<std::string> scopes;
    for (const NamedImages* one : tables_) scopes.insert(scopes.end(), one->scopes.begin(), one->scopes.end());
    if (scopes.size() < 2) return true;  // another one is ignored
    const Argument scope = request_.of("image_scope");
    if (!scope.given) {
      // SDK, _get_final_image_scope(): these two default to training.
      const std::string& framework = tables_.front()->framework;
      if (tables_.size() > 1 && framework != "xgboost" && framework != "sklearn") {
        report_.at(scope.where, {"image_scope is missing, and " + framework + " has images for " + list_text(scopes)});
        return false;
      }
      return keep_scope(tables_.size() > 1 ? "training" : tables_.front()->scopes.front());
    }
    if (!scope.known()) return tables_.size() == 1;
    if (contains(scopes, scope.text)) return keep_scope(scope.text);
    fault(scope, "is no scope of " + tables_.front()->framework, scopes);
    return false;
  }

  bool keep_scope(const std::string& scope) {
    std::erase_if(tables_, [&](const NamedImages* one) { return !contains(one->scopes, scope); });
    return !tables_.empty();
  }

  bool choose_version(const std::string& framework) {
    std::vector<std::string> versions;
    for (const NamedImages* table : tables_) {
      for (const NamedImage& one : table->versions) {
        rows_.push_back(&one);
        if (!contains(versions, one.version)) versions.push_back(one.version);
      }
    }
    const Argument version = request_.of("version");
    if (versions.size() < 2) return true;  // whatever is asked for
    if (!version.given) return false;      // the newest, which hangs on the SDK
    if (!version.known()) return false;
    const std::string_view full = tables_.front()->full_version(version.text);
    keep([&](const NamedImage& one) { return one.version == full; });
    if (!rows_.empty()) return true;
    Finding& finding = fault(version, "is no version of " + framework, versions);
    if (may_come(version.text, versions)) {
      finding.severity = Severity::Warning;
      finding.message += ": a newer SDK may know it";
    }
    return false;
  }

  bool choose_base() {
    if (rows_.front()->base.empty()) return true;
    const Argument base = request_.of("base_framework_version");
    if (base.given && !base.known()) return false;
    std::vector<std::string> bases;
    for (const NamedImage* one : rows_) bases.push_back(one->base);
    if (!base.given) {
      report_.at(base.where, {"base_framework_version is missing: it is " + list_text(bases)});
      return false;
    }
    keep([&](const NamedImage& one) { return one.base == base.text || contains(one.base_aliases, base.text); });
    if (rows_.empty()) fault(base, "is no base of that version", bases);
    return !rows_.empty();
  }

  bool choose_python(const std::string& framework) {
    std::vector<std::string> pythons;
    for (const NamedImage* one : rows_) {
      if (one->pythons.empty()) return true;
      for (const std::string& python : one->pythons) {
        if (!contains(pythons, python)) pythons.push_back(python);
      }
    }
    const Argument python = request_.of("py_version");
    if (python.given) {
      if (!python.known()) return true;
      keep([&](const NamedImage& one) { return contains(one.pythons, python.text); });
      if (rows_.empty()) fault(python, "is no Python of that image", pythons);
      return !rows_.empty();
    }
    if (pythons.size() > 1 && framework != "spark" && same_version()) {
      report_.at(python.where, {"py_version is missing: the image is there for " + list_text(pythons)});
      return false;
    }
    return true;
  }

  void judge_region() {
    const Argument region = request_.of("region");
    if (!region.known()) return;
    const bool served = std::any_of(rows_.begin(), rows_.end(),
                                    [&](const NamedImage* one) { return !one->account_in(region.text).empty(); });
    if (served) return;
    std::vector<std::string> regions;
    for (const ContainerRegistry::Account& one : *rows_.front()->accounts) {
      regions.insert(regions.end(), one.regions.begin(), one.regions.end());
    }
    fault(region, "has no such image", regions);
  }

  void judge_processor() {
    std::vector<std::string> processors;
    for (const NamedImage* one : rows_) {
      if (one->processors.empty()) return;
      for (const std::string& name : one->processors) {
        if (!contains(processors, name)) processors.push_back(name);
      }
    }
    const Argument instance = request_.of("instance_type");
    if (!instance.given) {
      if (processors.size() < 2 || !same_version()) return;
      report_.at(instance.where, {"instance_type is missing: the image is there for " + list_text(processors)});
      return;
    }
    const std::string processor = processor_of(instance.text, processors);
    if (processor.empty() || contains(processors, processor)) return;
    report_.at(instance.where, {"instance_type " + quote(instance.text) + " takes an image for " + processor +
                                ", and this one is there for " + list_text(processors)});
  }

  /// SDK, _processor(): empty for what is no instance.
  static std::string processor_of(const std::string& instance, const std::vector<std::string>& processors) {
    if (instance == "local") return "cpu";
    if (instance.starts_with("local")) return "gpu";
    const std::string family(family_of(instance));
    if (family.empty() || contains(processors, family)) return family;
    return family[0] == 'g' || family[0] == 'p' ? "gpu" : "cpu";
  }

  /// Others may be right for another version.
  [[nodiscard]] bool same_version() const {
    return std::all_of(rows_.begin(), rows_.end(),
                       [&](const NamedImage* one) { return one->version == rows_.front()->version; });
  }

  void keep(const std::function<bool(const NamedImage&)>& fits) {
    std::erase_if(rows_, [&](const NamedImage* one) { return !fits(*one); });
  }

  Finding& fault(const Argument& argument, const std::string& what, const std::vector<std::string>& known) {
    Finding& finding = report_.at(argument.where, {quote(argument.text) + ' ' + what});
    constexpr std::size_t kMostShown = 12;
    const auto near = nearest_names(argument.text, known, 1);
    if (known.size() <= kMostShown) {
      finding.fix = "there " + std::string(known.size() == 1 ? "is " : "are ") + list_text(known);
    } else if (!near.empty()) {
      finding.fix = "did you mean " + near.front() + "?";
    }
    return finding;
  }

  const Request& request_;
  Report& report_;
  std::vector<const NamedImages*> tables_;
  Rows rows_;
};

void judge_calls(const CheckInput& in, Report& report) {
  const Node* calls = in.job.root().find("calls");
  if (calls == nullptr || !calls->is_array()) return;
  for (const Node& call : calls->items) {
    const Node* path = call.find("path");
    if (path == nullptr || !path->text.ends_with(kRetrieve)) continue;
    const Request request(call);
    Search(request, report).judge();
  }
}

bool is_served_by(const Rows& rows, std::string_view account) {
  return std::any_of(rows.begin(), rows.end(), [&](const NamedImage* one) {
    return std::any_of(one->accounts->begin(), one->accounts->end(),
                       [&](const ContainerRegistry::Account& a) { return a.account == account; });
  });
}

/// `1.7-1-cpu-py3` is of version 1.7-1.
bool is_tag_of(std::string_view tag, const NamedImage& image) {
  const std::string_view begin = image.tag.empty() ? std::string_view(image.version) : std::string_view(image.tag);
  return tag.starts_with(begin) && (tag.size() == begin.size() || tag[begin.size()] == '-');
}

/// Images of built-in algorithms: those of the frameworks have rules of their own.
void judge_uri(const CheckInput& in, Report& report) {
  const auto image = in.job.image ? parse_image(*in.job.image) : std::nullopt;
  if (!image || in.catalog.containers().registry_of(image->repository) != nullptr) return;
  const Rows rows = named_images().of_repository(image->repository);
  if (rows.empty() || !is_served_by(rows, image->account)) return;  // a copy of the user's own
  const std::string& region = image->region;
  if (!region.empty()) {
    std::vector<std::string> accounts;
    for (const NamedImage* one : rows) {
      const std::string account(one->account_in(region));
      if (!account.empty() && !contains(accounts, account)) accounts.push_back(account);
    }
    if (accounts.empty()) {
      report.at(in.job.image, {image->repository + " is not served in " + region});
    } else if (!contains(accounts, image->account)) {
      report
          .at(in.job.image, {image->repository + " is served in " + region + " by account " + list_text(accounts) +
                             ", not " + image->account})
          .fix = "write account " + accounts.front();
    }
  }
  const bool known =
      image->tag.empty() || image->tag == "latest" || is_placeholder(image->tag) ||
      std::any_of(rows.begin(), rows.end(), [&](const auto* one) { return is_tag_of(image->tag, *one); });
  if (known) return;
  std::vector<std::string> versions;
  for (const NamedImage* one : rows) {
    if (!contains(versions, one->version)) versions.push_back(one->version);
  }
  Finding& finding = report.at(in.job.image, {image->repository + " has no version " + quote(image->tag)});
  finding.fix = "there " + std::string(versions.size() == 1 ? "is " : "are ") + list_text(versions);
  if (may_come(image->tag, versions)) {
    finding.severity = Severity::Warning;
    finding.message += " yet";
  }
}

void no_such_image(const CheckInput& in, Report& report) {
  judge_calls(in, report);
  judge_uri(in, report);
}

constexpr Rule kImageRules[] = {
    {"C239", Severity::Error, "Image that is not there",
     "image_uris.retrieve() is asked for a framework, version, Python, region or processor without an image, or the "
     "URI of a built-in algorithm is of another account or of no version (a warning where it may be a newer one)",
     "{}", "ask for an image that is there",
     "SageMaker Python SDK v2.257.7 and sagemaker-core 2.27.0, image_uri_config", kSubmitted, Need::Nothing,
     no_such_image},
};

}  // namespace

std::span<const Rule> image_rules() { return kImageRules; }

}  // namespace smplan
