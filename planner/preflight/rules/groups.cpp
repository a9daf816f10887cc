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

void group_list(const CheckInput& in, Report& report) {
  const auto& groups = in.job.groups;
  if (groups.size() > 5) {
    report.at(groups.front().where,
              {count_text(static_cast<std::int64_t>(groups.size())) + " instance groups, 5 are allowed"});
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto end = groups.begin() + static_cast<std::ptrdiff_t>(i);
    const bool again = groups[i].name && std::any_of(groups.begin(), end, [&](const JobGroup& other) {
                         return other.name.is(*groups[i].name);
                       });
    if (again) report.at(groups[i].name, {"the group " + quote(*groups[i].name) + " is there twice"}).fix = "rename it";
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

void say(Report& report, const Where& where, std::string message, std::string_view fix) {
  report.at(where, {std::move(message)}).fix = fix;
}

bool is_set(const Node* node) { return node != nullptr && !node->is_null(); }

/// What the list excludes: it is one way to name the machines, on-demand or in training plans.
void beside_preferences(const Job& job, const std::string& list, Report& report) {
  const auto excludes = [&](const Where& where, std::string_view name) {
    say(report, where, list + " excludes " + spelled(job.kind, name), "keep one of the two");
  };
  if (job.instance_type.stated) excludes(job.instance_type.where, "InstanceType");
  if (!job.groups.empty()) excludes(job.groups.front().where, "InstanceGroups");
  if (is_set(job.placement)) excludes(job.placement->where, "InstancePlacementConfig");
  if (job.spot.is(true)) excludes(job.spot.where, "EnableManagedSpotTraining");
}

/// One count for all or one for each.
void counts_of_preferences(const Job& job, const std::string& list, Report& report) {
  const auto counted = std::count_if(job.preferences.begin(), job.preferences.end(),
                                     [](const JobPreference& p) { return p.count.stated; });
  const bool all = static_cast<std::size_t>(counted) == job.preferences.size();
  const std::string name = spelled(job.kind, "InstanceCount");
  if (job.instance_count.stated && counted > 0) {
    say(report, job.instance_count.where, name + " stands for the job and in " + list, "keep one of the two");
  } else if (!job.instance_count.stated && !all) {
    say(report, job.preference_list->where,
        counted == 0 ? name + " is missing, for the job and in every entry of " + list
                     : name + " stands in some entries of " + list + " and not in others",
        "give one count for the job, or one in every entry");
  }
}

void plans_of_preferences(const Job& job, const std::string& list, Report& report) {
  for (const JobPreference& p : job.preferences) {
    if (!is_set(p.training_plans)) continue;
    const Node& plans = *p.training_plans;
    if (job.training_plan.stated) {
      say(report, plans.where, "a training plan stands for the job and in " + list, "keep one of the two");
    } else if (plans.is_array() && plans.items.size() != 1) {
      say(report, plans.where, "an entry takes one training plan", "give one ARN");
    }
    for (const Node& plan : plans.items) {
      const bool arn = plan.text.starts_with("arn:aws") && plan.text.find(":training-plan/") != std::string::npos;
      if (!arn && !is_placeholder(plan.text)) {
        say(report, plan.where, quote(plan.text) + " is no ARN of a training plan",
            "give arn:aws:sagemaker:...:training-plan/...");
      }
    }
  }
}

void instance_preferences(const CheckInput& in, Report& report) {
  const Job& job = *in.as_given;
  if (job.preference_list == nullptr) return;
  const std::string list = spelled(job.kind, "InstancePreferences");
  const auto entries = static_cast<std::int64_t>(job.preferences.size());
  if (entries < 1 || job.preferences.size() > kMaxPreferences) {
    say(report, job.preference_list->where, list + " has " + count_text(entries) + " entries", "give 1 to 5");
  }
  beside_preferences(job, list, report);
  if (entries > 0) counts_of_preferences(job, list, report);
  plans_of_preferences(job, list, report);
  for (std::size_t i = 0; i < job.preferences.size(); ++i) {
    const Text& type = job.preferences[i].type;
    const auto again = [&](const JobPreference& earlier) { return type && earlier.type.is(*type); };
    if (!type.stated) {
      say(report, job.preferences[i].where, "an entry of " + list + " names no type", "name one");
    } else if (std::any_of(job.preferences.begin(), job.preferences.begin() + static_cast<std::ptrdiff_t>(i), again)) {
      say(report, type.where, *type + " stands twice in " + list, "keep it where you want it first");
    }
  }
}

constexpr Rule kGroupsRules[] = {
    {"C075", Severity::Error, "Groups and a single type", "instance groups stand beside an instance type or count",
     "{} is given beside instance groups", "drop it: every group has its own", kSdk2, kSubmitted, Need::Nothing,
     groups_and_type},
    {"C076", Severity::Error, "Instance groups", "there are more than 5 instance groups, or two of one name", "{}",
     "merge groups of one type", kApi, kSubmitted, Need::Nothing, group_list},
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
    {"C216", Severity::Error, "Instance preferences",
     "InstancePreferences beside a type, groups, a placement or spot; not 1 to 5 entries; a type twice; counts in some "
     "entries, or for the job as well, or nowhere; training plans for the job as well, several in an entry, or no ARN",
     "{}", "see the rules of InstancePreferences",
     "SageMaker API model (botocore 1.44.8); developer guide, train-instance-preferences; Python SDK 3.27.0, "
     "validate_instance_preferences; read 2026-11-26",
     kRequest | kTrainer, Need::Nothing, instance_preferences},
};

}  // namespace

std::span<const Rule> group_rules() { return kGroupsRules; }

}  // namespace smplan
