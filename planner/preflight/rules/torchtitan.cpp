// TorchTitan's TOML.
#include <algorithm>

#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

void titan_expert_tensor(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (!s.expert_tensor || s.expert.value_or(1) <= 1) return;
  const std::int64_t tp = s.tensor.value_or(1);
  if (*s.expert_tensor != 1 && *s.expert_tensor != tp) {
    report.at(s.expert_tensor, {count_text(*s.expert_tensor), count_text(tp)});
  }
}

void titan_values(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  static const std::vector<std::string> kConverters = {"quantize.linear.float8", "quantize.grouped_mm.float8",
                                                       "quantize.linear.mx", "quantize.grouped_mm.mx"};
  const Node* converters = root.at({"model", "converters"});
  // A module of one's own may register others.
  if (converters != nullptr && !root.at({"experimental", "custom_import"})) {
    for (const Node& converter : converters->items) {
      if (!contains(kConverters, converter.text)) {
        Finding& finding = report.at(converter, {"there is no converter " + quote(converter.text)});
        finding.fix = "use one of " + list_text(kConverters);
        const bool old = converter.text == "float8" || converter.text == "mx";
        if (!old) continue;  // names of v0.1.0
        finding.severity = Severity::Warning;
        finding.message += " since v0.2.0";
      }
    }
  }
}

/// Models whose attention cannot be cut by context raise NotImplementedError. Source: TorchTitan v0.2.2,
/// models/deepseek_v3/infra/parallelize.py, models/llama4/model/args.py, models/gpt_oss/model/args.py.
void titan_context(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const Node* name = in.job.root().at({"model", "name"});
  const Node* flavor = in.job.root().at({"model", "flavor"});
  if (s.context.value_or(1) <= 1 || name == nullptr || flavor == nullptr) return;
  const bool flex = (name->text == "deepseek_v3" && flavor->text != "debugmodel") ||
                    (name->text == "llama4" && flavor->text.ends_with("_irope")) || name->text == "gpt_oss";
  if (!flex) return;
  report
      .at(s.context, {name->text + " " + flavor->text + " has no context parallelism: its attention is FlexAttention"})
      .fix = "use context_parallel_degree = 1, and tensor or pipeline ranks";
}

/// The default is a fixture of 2000 rows. Its loader reads any folder that a path names.
void titan_data(const CheckInput& in, Report& report) {
  const Node* training = in.job.root().find("training");
  if (training == nullptr || in.job.root().open) return;
  if (in.job.root().at({"experimental", "custom_import"}) != nullptr) return;
  const Node* dataset = training->find("dataset");
  if (training->find("dataset_path") != nullptr) return;
  if (dataset != nullptr && dataset->text != "c4_test") return;
  Finding& finding =
      report.at(dataset == nullptr ? *training : *dataset, {"training reads c4_test, a fixture of 2000 rows"});
  finding.severity = Severity::Warning;
  finding.fix = "name the dataset and its dataset_path";
}

void titan_file(const CheckInput& in, Report& report) {
  titan_values(in, report);
  titan_context(in, report);
  titan_data(in, report);
}

void titan_version(const CheckInput& in, Report& report) {
  const std::string& version = *in.facts.torchtitan;
  const Node& root = in.job.root();
  if (root.has("module") || root.has("config")) return;  // names no TOML
  if (version == "HEAD" || version == "main" || version_before("0.2.2", version)) {
    report.at(in.job.root().where, {version});
  }
}

constexpr Rule kTorchtitanRules[] = {
    {"C178", Severity::Error, "Expert tensor degree",
     "TorchTitan's expert tensor degree is neither 1 nor the tensor degree",
     "an expert tensor degree of {} is neither 1 nor the tensor degree {}", "use 1, or the tensor degree",
     "TorchTitan v0.2.2, parallel_dims.py", kTorchTitan, Need::Nothing, titan_expert_tensor},
    {"C179", Severity::Warning, "TOML for a newer TorchTitan", "the TOML is for a TorchTitan after v0.2.x",
     "TorchTitan {} reads no TOML: its configurations are Python since 2026", "pin v0.2.2",
     "pytorch/torchtitan, HEAD of 2026-08", kTorchTitan, &Facts::torchtitan, titan_version},
    {"C212", Severity::Error, "Model and data of TorchTitan",
     "a converter is none of TorchTitan's, the model cannot be cut by context, or (a warning) no data set is named",
     "{}", "see TorchTitan's job_config.py", "TorchTitan v0.2.2, config/job_config.py and models", kTorchTitan,
     Need::Nothing, titan_file},
};

}  // namespace

std::span<const Rule> torchtitan_rules() { return kTorchtitanRules; }

}  // namespace smplan
