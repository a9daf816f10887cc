// Heterogeneous clusters: instance groups.
#include <algorithm>

#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

void groups_and_type(const CheckInput& in, Report& report) {
  if (in.job.groups.empty()) return;
  if (in.job.instance_type.stated) report.at(in.job.instance_type, {spelled(in.job.kind, "InstanceType")});
  if (in.job.instance_count.stated) report.at(in.job.instance_count, {spelled(in.job.kind, "InstanceCount")});
}

void too_many_groups(const CheckInput& in, Report& report) {
  if (in.job.groups.size() > 5) {
    report.at(in.job.groups.front().where, {count_text(static_cast<std::int64_t>(in.job.groups.size()))});
  }
}

bool defined(const Job& job, const std::string& name) {
  return std::any_of(job.groups.begin(), job.groups.end(), [&](const JobGroup& g) { return g.name.is(name); });
}

void one_group_for_distribution(const CheckInput& in, Report& report) {
  const Launcher& l = in.job.launcher;
  if (in.job.groups.size() < 2 || !l.any()) return;
  const bool names_one = l.groups.size() == 1 && (!l.groups.front() || defined(in.job, *l.groups.front()));
  if (!names_one) report.at(l.where, {count_text(static_cast<std::int64_t>(l.groups.size()))});
}

void torchrun_on_groups(const CheckInput& in, Report& report) {
  const Launcher& l = in.job.launcher;
  if (l.torchrun.is(true) && (in.job.groups.size() > 1 || !l.groups.empty())) report.at(l.torchrun);
}

void channel_group(const CheckInput& in, Report& report) {
  for (const JobChannel& channel : in.job.channels) {
    for (const Text& group : channel.groups) {
      if (group && !defined(in.job, *group)) {
        report.at(group, {channel.name ? quote(*channel.name) : "a channel", quote(*group)});
      }
    }
  }
}

void framework_floor(const CheckInput& in, Report& report) {
  if (in.job.groups.empty()) return;
  if ((in.job.framework == Framework::PyTorch && below(in.job.framework_version, "1.10")) ||
      (in.job.framework == Framework::TensorFlow && below(in.job.framework_version, "2.6"))) {
    report.at(in.job.framework_version, {*in.job.framework_version});
  }
}

void compiler_on_groups(const CheckInput& in, Report& report) {
  if (!in.job.groups.empty() && in.job.compiler != nullptr && !in.job.compiler->is_null()) report.at(*in.job.compiler);
}

constexpr Rule kRules[] = {
    {"C075", Severity::Error, "Groups and a single type", "instance groups stand beside an instance type or count",
     "{} is given beside instance groups", "drop it: every group has its own", kSdk2, kSubmitted, Need::Nothing,
     groups_and_type},
    {"C076", Severity::Error, "Number of groups", "there are more than 5 instance groups",
     "{} instance groups, 5 are allowed", "merge groups of one type", kApi, kSubmitted, Need::Nothing, too_many_groups},
    {"C077", Severity::Error, "Group to distribute over",
     "several groups, and the distribution does not name exactly one that is defined",
     "the distribution names {} groups and must name exactly one that is defined",
     "add instance_groups with the group of the accelerators", kSdk2, kSubmitted, Need::Nothing,
     one_group_for_distribution},
    {"C078", Severity::Error, "torchrun on instance groups", "torch_distributed on a heterogeneous cluster",
     "the SDK loses the group of torch_distributed, so that torchrun waits for processes on every host",
     "use mpi or smdistributed for the group of the accelerators", kSdk2, kSubmitted, Need::Nothing,
     torchrun_on_groups},
    {"C079", Severity::Error, "Channel of a missing group", "a channel names a group that is not defined",
     "{} is for group {}, which is not defined", "name a group of the job", kApi, kSubmitted, Need::Nothing,
     channel_group},
    {"C080", Severity::Warning, "Framework too old for groups",
     "instance groups with PyTorch below 1.10 or TensorFlow below 2.6",
     "framework version {} does not know instance groups", "use PyTorch 1.10 or TensorFlow 2.6 or later", kDocs,
     kSubmitted, Need::Nothing, framework_floor},
    {"C081", Severity::Error, "Training Compiler on groups",
     "the Training Compiler is on and the job has instance groups",
     "the Training Compiler does not run on instance groups", "drop compiler_config", kSdk2, kSubmitted, Need::Nothing,
     compiler_on_groups},
};

}  // namespace

std::span<const Rule> group_rules() { return kRules; }

}  // namespace smplan
