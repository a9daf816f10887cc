#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "planner/request/fields.hpp"
#include "planner/request/resolver.hpp"

namespace smplan {
namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The feature that a value of a flag asks for; nullptr: it is no feature with limits.
const RecoveryFeature* asked(const std::optional<std::string>& text) {
  return text ? recovery_feature(*text) : nullptr;
}

}  // namespace

void Resolver::read_recovery() {
  request_.run = run_setup(catalog_.operations(),
                           request_.markets.empty() ? Market::OnDemand : request_.markets.front(), request_.region);
  Recovery& r = request_.run.recovery;
  if (spec_.platform) {
    const auto platform =
        parse_name(*spec_.platform, "platform", "--platform", platform_names(), platform_from, faults_);
    if (platform) r.platform = *platform;
  }
  if (spec_.recovery) {
    const auto mode =
        parse_name(*spec_.recovery, "way to recover", "--recovery", recovery_mode_names(), recovery_mode_from, faults_);
    if (mode) r.mode = *mode;
  }
  if (spec_.spare_instances) {
    const auto n = parse_bounded(*spec_.spare_instances, "--spare-instances", 0, kMostSpares, faults_);
    if (n) r.spares = static_cast<std::int32_t>(*n);
  }
  read_preemption();
  check_recovery();
}

void Resolver::read_preemption() {
  Recovery& r = request_.run.recovery;
  const auto time = [&](const Text& text, std::string_view flag, Seconds& into) {
    if (!text) return;
    const auto value = take(parse_duration(*text, flag), faults_);
    if (!value) return;
    into = *value;
    if (!(into > Seconds())) add("out-of-range", std::string(flag), "a time of nothing", "give a time such as 12h");
  };
  time(spec_.preempted_every, "--preempted-every", r.preempted_every);
  time(spec_.preempted_for, "--preempted-for", r.preempted_for);
  if (spec_.preempted_every.has_value() != spec_.preempted_for.has_value()) {
    add("conflict", spec_.preempted_every ? "--preempted-every" : "--preempted-for",
        "evictions need how often they come and how long they last", "give both --preempted-every and --preempted-for");
  }
}

void Resolver::check_recovery() {
  const Recovery& r = request_.run.recovery;
  if (!is_standing(r.platform)) {
    for (const auto& [flag, text] :
         {std::pair("--recovery", &spec_.recovery), std::pair("--spare-instances", &spec_.spare_instances),
          std::pair("--preempted-every", &spec_.preempted_every), std::pair("--preempted-for", &spec_.preempted_for)}) {
      if (text->has_value()) {
        add("conflict", flag, "is for a standing cluster; a training job starts again on new instances",
            "add --platform hyperpod-eks");
      }
    }
  } else {
    assume(
        fmt::format("{}'s cluster stands and its images are not on it yet; its instances cost what training jobs' do "
                    "(--price says otherwise) and are paid while the job runs{}",
                    to_string(r.platform), r.spares > 0 ? ", the spare ones too" : ""));
  }
  if (const RecoveryFeature* feature = asked(spec_.recovery)) refuse_feature(*feature, "--recovery");
  if (const RecoveryFeature* feature = asked(spec_.checkpoint_storage))
    refuse_feature(*feature, "--checkpoint-storage");
  if (r.mode == RecoveryMode::Checkpointless && r.preempted_every > Seconds()) {
    add("conflict", "--recovery", "an evicted job loses the memory that checkpointless training recovers from",
        "drop --preempted-every, or use --recovery restart or elastic");
  }
}

/// What starts checkpointless training, AWS's NeMo recipes, has no words for offload.
void Resolver::fit_recovery() {
  Choice& offload = request_[Dimension::Offload];
  if (request_.run.recovery.mode == RecoveryMode::Checkpointless && request_.launchable && offload.any()) {
    offload.only({Offload()});
  }
}

void Resolver::refuse_feature(const RecoveryFeature& feature, const std::string& flag) {
  const std::string_view platform = to_string(request_.run.recovery.platform);
  if (!has(feature.platforms, platform)) {
    add("conflict", flag, fmt::format("{} has no {}", platform, feature.title),
        fmt::format("add --platform {}", fmt::join(feature.platforms, " or ")));
    return;
  }
  for (const Text* other : {&spec_.recovery, &spec_.checkpoint_storage}) {
    const RecoveryFeature* beside = asked(*other);
    if (beside == nullptr || !has(feature.excludes, beside->name)) continue;
    // Said once, by the feature that comes first.
    if (has(beside->excludes, feature.name) && other == &spec_.recovery) continue;
    add("conflict", flag, fmt::format("{} excludes {}", feature.title, beside->title),
        fmt::format("choose one of the two ({})", feature.provenance.source));
  }
  assume(fmt::format("{} needs {}", feature.title, feature.needs));
}

std::optional<std::string> Resolver::recovery_refusal(const Stack& stack) const {
  for (const Text* text : {&spec_.recovery, &spec_.checkpoint_storage}) {
    const RecoveryFeature* feature = asked(*text);
    if (feature == nullptr || feature->stacks.empty() || has(feature->stacks, stack.id)) continue;
    return fmt::format("{} has no {}, {} has", stack.name, feature->title, fmt::join(feature->stacks, ", "));
  }
  return std::nullopt;
}

}  // namespace smplan
