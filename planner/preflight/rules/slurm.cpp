// Directives of Slurm in a script.
#include <algorithm>

#include "catalogs/framework_settings.hpp"
#include "planner/preflight/rules/setting_values.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

std::string spelled(const std::string& name) { return (name.size() == 1 ? "-" : "--") + name; }

void unknown_directive(const SlurmDirective& d, const SettingSection& section, Report& report) {
  std::vector<std::string> known;
  for (const FrameworkSetting& setting : section.settings) known.push_back(setting.name);
  const bool slip = std::any_of(known.begin(), known.end(), [&](const std::string& other) {
    return d.name.size() > 2 && one_slip_apart(d.name, other);
  });
  Finding& finding = report.at(Where{"", d.line}, {spelled(d.name), "is none of its options"});
  const auto near = nearest_names(d.name, known, 1);
  if (!near.empty()) finding.fix = "did you mean " + spelled(near.front()) + "?";
  if (slip) return;
  finding.severity = Severity::Warning;  // a newer release, or a plug-in of the cluster, may have it
}

void directives(const CheckInput& in, Report& report) {
  const FrameworkTable* table = framework_table("sbatch");
  const SettingSection* section = table == nullptr ? nullptr : table->find("");
  if (section == nullptr) return;
  for (const SlurmDirective& d : in.job.slurm.directives) {
    if (d.name.empty() || is_left_open(d.name)) continue;
    const FrameworkSetting* setting = section->find(d.name);
    if (setting == nullptr) {
      unknown_directive(d, *section, report);
      continue;
    }
    if (!d.value || is_left_open(*d.value)) continue;
    Node value;
    value.kind = Node::Kind::String;
    value.text = *d.value;
    const auto fault = value_fault(value, *setting, *section, false);
    if (fault) report.at(Where{"", d.line}, {spelled(d.name), "must be " + fault->expected + ", is " + *d.value});
  }
}

constexpr Rule kSlurmRules[] = {
    {"C248", Severity::Error, "Directive of Slurm",
     "a script has a directive that sbatch does not have (a warning unless it is a slip of one), or one with a value "
     "that "
     "it refuses",
     "sbatch's {} {}", "write it as sbatch takes it", "Slurm 22.05.8, sbatch(1)", kAnyKind, Need::Nothing, directives},
};

}  // namespace

std::span<const Rule> slurm_rules() { return kSlurmRules; }

}  // namespace smplan
