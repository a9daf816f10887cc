#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/catalog.hpp"
#include "catalogs/sagemaker_limits.hpp"
#include "planner/answer/plan.hpp"
#include "planner/preflight/facts.hpp"
#include "planner/preflight/job.hpp"

namespace smplan {

enum class Severity { Error, Warning, Info };
std::string_view to_string(Severity severity);

/// One change to a JSON file that alters nothing that SageMaker would have honoured.
struct Edit {
  enum class Kind {
    Set,     ///< the value at `path` becomes `json`
    Remove,  ///< the member at `path` goes
    Rename,  ///< its key becomes `json`
    Insert,  ///< a member `json` (`"key": value`) at the end of the object at `path`
  };
  Kind kind = Kind::Set;
  std::string path;
  std::string json;
  friend bool operator==(const Edit&, const Edit&) = default;
};

/// One fault of a job.
struct Finding {
  std::string rule;
  Severity severity = Severity::Error;
  Where where;
  std::string message;
  std::string fix;
  std::string source;
  std::vector<Edit> edits;  ///< empty where no fix is safe
};

/// What the models say of a job, where the file and the flags name all that they need.
struct Prediction {
  PlanRequest request;
  Plan plan;
  Seconds time_to_train;
  bool tokens_assumed = false;  ///< neither the job nor a flag says how many
  /// Why the length of the run is not known, so that its time and money are not either; empty where they are.
  std::string length_unknown;
  /// The model's own, where nothing says a length, too much memory is wanted, and short sequences would fit; else 0.
  std::int64_t fits_below_tokens = 0;
  std::string left_open;  ///< `stack, sharding`: what only the script says; the plan has the best of them
  Usd cost;
  double out_of_memory = 0;        ///< probability
  std::string largest_memory;      ///< component that takes most, with its size
  std::vector<std::string> cures;  ///< up to three changes that would fit, cheapest first
  std::optional<Plan> better;      ///< cheaper and faster at once
  double artifact_bytes = 0;       ///< final weights in 16 bits
};

/// The machines of one instance group (or of the whole job, where it has no groups).
struct Machines {
  Text type;
  Count count;
  const InstanceType* instance = nullptr;  ///< nullptr for types without accelerators and unknown ones
  std::string group;
};

/// A setting of a job's files that is not what the plan beside them says.
struct Change {
  char sign = '~';      ///< `~` changed, `+` only in the file, `-` only in the plan
  std::string name;     ///< `instance_count`
  std::string planned;  ///< empty of `+`
  std::string found;    ///< empty of `-`
  std::string file;     ///< below the folder, or the flag
  Where where;
};

/// What the flags ask the job to keep to.
struct Gates {
  std::optional<Usd> budget;
  std::optional<Seconds> deadline;
  std::optional<UsdPerSecond> hourly;
  std::optional<Market> market;         ///< of --market; else the job says it
  double confidence = kGateConfidence;  ///< that the deadline is met
  bool confidence_asked = false;        ///< by --confidence or the plan, and then holds for the budget too
  /// What no flag says and the plan in the folder had to keep to: judged where it can be.
  bool budget_planned = false, deadline_planned = false, hourly_planned = false;

  /// Unless --confidence says otherwise.
  static constexpr double kGateConfidence = 0.9;
};

/// Everything that a rule may look at.
struct CheckInput {
  const Job& job;
  const Catalog& catalog;
  const SagemakerLimits& limits;
  const Facts& facts;
  const Prediction* prediction = nullptr;
  Gates gates;
  std::string region;  ///< empty where neither the file nor a flag says it
  std::vector<Machines> machines;
  const Job* as_given = nullptr;  ///< with all the types that are tried in order; `job` is on one of them
  /// A plan on the same machines keeps its tensor group inside the NVLink domain; unknown without a model.
  std::optional<bool> plan_inside_domain;
  const std::vector<Change>* drift = nullptr;  ///< from the plan beside the job; nullptr without one
  std::string no_lock;                         ///< why the plan beside the job does not count; empty where it does

  /// Of a job on one instance type; nullptr otherwise.
  [[nodiscard]] const InstanceType* instance() const;
  [[nodiscard]] std::optional<std::int64_t> nodes() const;
  /// At least one; nullopt where they are not known, and on a type that has none.
  [[nodiscard]] std::optional<std::int64_t> devices_per_node() const;
  /// Of the whole job, those that do not train included.
  [[nodiscard]] std::optional<std::int64_t> devices() const;
  /// Those that train.
  [[nodiscard]] std::optional<std::int64_t> world() const;
  /// Processes that the launcher starts on a node; 1 without a launcher.
  [[nodiscard]] std::int64_t processes_per_node() const;
  /// PyTorch, be it inside Hugging Face's image.
  [[nodiscard]] bool pytorch() const;
};

/// Takes the findings of one rule.
class Report {
 public:
  Report(const struct Rule& rule, std::vector<Finding>& out) : rule_(rule), out_(out) {}
  /// A finding at `where`; the arguments fill the `{}` of the rule's message in order.
  Finding& at(const Where& where, std::initializer_list<std::string> arguments = {});
  template <typename T>
  Finding& at(const Field<T>& field, std::initializer_list<std::string> arguments = {}) {
    return at(field.where, arguments);
  }
  Finding& at(const Node& node, std::initializer_list<std::string> arguments = {}) { return at(node.where, arguments); }
  /// The fix that the rule gives where the finding knows no better one.
  [[nodiscard]] std::string_view fix() const;

 private:
  const struct Rule& rule_;
  std::vector<Finding>& out_;
};

/// Kinds of file, as a set.
using Kinds = std::uint32_t;
constexpr Kinds one(JobKind kind) { return Kinds{1} << static_cast<int>(kind); }
inline constexpr Kinds kRequest = one(JobKind::CreateTrainingJob);
inline constexpr Kinds kEstimator = one(JobKind::Estimator);
inline constexpr Kinds kTrainer = one(JobKind::ModelTrainer);
inline constexpr Kinds kSubmitted = kRequest | kEstimator | kTrainer;
inline constexpr Kinds kRecipe = one(JobKind::HyperpodRecipe);
inline constexpr Kinds kDeepSpeed = one(JobKind::DeepSpeed);
inline constexpr Kinds kAccelerate = one(JobKind::Accelerate);
inline constexpr Kinds kMegatron = one(JobKind::Megatron);
inline constexpr Kinds kTorchTitan = one(JobKind::TorchTitan);
inline constexpr Kinds kSmp = one(JobKind::Smp);
inline constexpr Kinds kTorchrun = one(JobKind::Torchrun);
inline constexpr Kinds kHyperpodJob = one(JobKind::HyperpodJob);
inline constexpr Kinds kAnyKind = (Kinds{1} << kJobKindCount) - 1;

/// What a rule needs beside the file; without it the rule is listed as not run.
struct Need {
  enum Kind {
    Nothing,
    Prediction,
    Length,  ///< a prediction of time and money
    Budget,
    Deadline,
    Hourly,
    OfFacts,  ///< a fact of a facts file
    Folder,   ///< a job that is a folder
    Files,    ///< such a folder, or files that the job goes on from
    Lock,     ///< with the plan in it
  };
  Kind kind = Nothing;
  const Fact* fact = nullptr;

  // Rows of rules name one or the other as it is: Need::Budget, &Facts::quotas.
  constexpr Need(Kind of_models) : kind(of_models) {}  // NOLINT(google-explicit-constructor)
  template <typename Value>
  consteval Need(std::optional<Value> Facts::*member) : kind(OfFacts), fact(fact_of(member)) {}  // NOLINT

  /// Without a model nothing of it is known.
  [[nodiscard]] bool is_modelled() const {
    return kind == Prediction || kind == Length || kind == Budget || kind == Deadline;
  }
};
/// Why a rule with this need was not run; empty for none.
std::string reason_not_run(const Need& need);

/// One rule: its only row. Findings carry its texts.
struct Rule {
  std::string_view id;
  Severity severity;
  std::string_view title;
  std::string_view condition;
  std::string_view message;  ///< `{}` stand for what the check found
  std::string_view fix;
  std::string_view source;
  Kinds kinds;
  Need need;
  void (*check)(const CheckInput&, Report&);
};

struct RuleFamily {
  std::string_view title;
  std::span<const Rule> rules;
};

}  // namespace smplan
