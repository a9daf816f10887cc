// The Training Compiler: deprecated, and narrow.
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

bool present(const Job& job) { return job.compiler != nullptr && !job.compiler->is_null(); }

void deprecated(const CheckInput& in, Report& report) {
  if (present(in.job)) report.at(*in.job.compiler);
}

/// In a file the object is written as {"class": "TrainingCompilerConfig", ...}.
void object(const CheckInput& in, Report& report) {
  if (!present(in.job) || in.job.kind != JobKind::Estimator) return;
  const Node& c = *in.job.compiler;
  if (c.is_object() && c.has("class")) return;
  if (c.is_string() && c.text.find("TrainingCompilerConfig") != std::string::npos) return;
  report.at(c, {std::string(kind_name(c.kind))});
}

void constraints(const CheckInput& in, Report& report) {
  if (!present(in.job)) return;
  const Job& job = in.job;
  const Node& c = *job.compiler;
  if (job.instance_type) {
    const bool known = contains(in.limits.compiler_families, family_of(*job.instance_type));
    if (!known) report.at(c, {"it does not run on " + *job.instance_type});
  }
  if (job.launcher.smddp.stated || job.launcher.smp.stated) report.at(c, {"it excludes smdistributed"});
  if (job.kind == JobKind::Estimator && job.image.stated) report.at(c, {"it takes no image_uri"});
  if (job.framework != Framework::PyTorch || !job.framework_version) return;
  const std::string& v = *job.framework_version;
  if (version_before("1.13.1", v)) {
    report.at(c, {"PyTorch " + v + " is above 1.13.1, its last"});
  } else if (!version_before(v, "1.12") && job.launcher.any() && !job.launcher.xla.stated) {
    report.at(c, {"PyTorch " + v + " needs distribution pytorchxla"});
  }
}

constexpr Rule kCompilerRules[] = {
    {"C113", Severity::Warning, "Training Compiler", "compiler_config is given",
     "the Training Compiler gets no new releases; it ends at PyTorch 1.13.1 and TensorFlow 2.11", "use torch.compile",
     kDocs, kRequest | kEstimator, Need::Nothing, deprecated},
    {"C114", Severity::Error, "Compiler configuration", "compiler_config is no TrainingCompilerConfig",
     "compiler_config must be a TrainingCompilerConfig, is {}", "write TrainingCompilerConfig(enabled=True)", kSdk2,
     kEstimator, Need::Nothing, object},
    {"C115", Severity::Error, "Where the compiler runs",
     "instance, framework or distribution is none that the compiler takes", "the Training Compiler cannot be used: {}",
     "drop compiler_config", kSdk2, kRequest | kEstimator, Need::Nothing, constraints},
};

}  // namespace

std::span<const Rule> compiler_rules() { return kCompilerRules; }

}  // namespace smplan
