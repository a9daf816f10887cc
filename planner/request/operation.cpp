#include <algorithm>

#include <fmt/format.h>

#include "planner/request/fields.hpp"
#include "planner/request/resolver.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kMostFiles = 1'000'000'000'000;
constexpr std::int64_t kMostJobs = 1'000'000;
const std::vector<std::string> kModeNames{"sync", "async"};

std::string saves(const RunSetup& run) {
  return fmt::format("checkpoints go to {}{}", to_string(run.checkpoint_target),
                     run.checkpoint_mode == CheckpointMode::Sync ? "" : " while training goes on");
}

/// File mode puts a copy of the data on each instance: a job that fills its disk ends there.
void leave_out_small_disks(PlanRequest& request, const OperationFacts& facts) {
  const InputData& data = *request.run.data;
  std::erase_if(request.instances, [&](const InstanceType* instance) {
    if (plan_input(data, *instance, 1, {}, {}, facts, request.run.operations).fits_disk) return false;
    request.left_out.emplace_back(instance->name,
                                  fmt::format("{} do not fit its disk in File mode", format_bytes(data.size)));
    return true;
  });
  std::sort(request.left_out.begin(), request.left_out.end());
}

}  // namespace

void Resolver::read_operation() {
  RunSetup& run = request_.run;
  const bool standing = is_standing(run.recovery.platform);
  // Nothing uploads from local disks there.
  if (standing) run.checkpoint_target = CheckpointTarget::FsxLustre;
  if (spec_.checkpoint_storage) {
    const auto target = parse_name(*spec_.checkpoint_storage, "checkpoint storage", "--checkpoint-storage",
                                   checkpoint_target_names(), checkpoint_target_from, faults_);
    if (target) run.checkpoint_target = *target;
    if (standing && target == CheckpointTarget::S3) {
      add("conflict", "--checkpoint-storage", "a HyperPod cluster uploads no local checkpoints to S3",
          "use fsx-lustre, efs, or memory, which goes to S3 in the background");
    }
  }
  if (spec_.checkpoint_mode) {
    const auto mode = parse_name(*spec_.checkpoint_mode, "checkpoint mode", "--checkpoint-mode", kModeNames,
                                 checkpoint_mode_from, faults_);
    if (mode) run.checkpoint_mode = *mode;
  }
  read_data();
  read_series();
  const Operations& o = run.operations;
  const Seconds start = o.image_pull + o.model_init + o.first_step;
  std::string sentence =
      fmt::format("hardware fails once in {:.0f} device-hours, a start takes {}", o.failures_apart_per_gpu / hours(1),
                  format_duration(standing ? start : o.provisioning + start));
  if (standing) sentence += fmt::format(", a replacement {}", format_duration(o.provisioning));
  if (!spec_.checkpoint_storage) sentence += ", " + saves(run);
  const bool spot = std::find(request_.markets.begin(), request_.markets.end(), Market::Spot) != request_.markets.end();
  if (spot) {
    sentence += fmt::format(", reclaimed capacity is back after {}", format_duration(o.spot_wait));
  }
  if (!run.data) sentence += ", data is streamed fast enough";
  assume(std::move(sentence));
}

void Resolver::read_series() {
  RunSetup& run = request_.run;
  if (spec_.jobs) {
    if (const auto n = parse_bounded(*spec_.jobs, "--jobs", 1, kMostJobs, faults_)) run.series.jobs = *n;
  }
  if (spec_.job_gap) {
    if (const auto gap = take(parse_duration(*spec_.job_gap, "--job-gap"), faults_)) run.series.gap = *gap;
  }
  if (spec_.warm_pool) {
    run.warm_pool = parse_switch(*spec_.warm_pool, "--warm-pool", faults_).value_or(false);
  }
  if ((spec_.job_gap || run.warm_pool) && run.series.jobs < 2) {
    add("conflict", spec_.job_gap ? "--job-gap" : "--warm-pool", "is for a series of jobs", "add --jobs 2 or more");
  }
  if (!run.warm_pool) return;
  if (is_standing(run.recovery.platform)) {
    add("conflict", "--warm-pool", "a HyperPod cluster stands between jobs anyway", "drop --warm-pool");
  }
  if (std::find(request_.markets.begin(), request_.markets.end(), Market::Spot) != request_.markets.end()) {
    add("conflict", "--warm-pool", "managed spot training cannot use a warm pool", "drop one of the two");
  }
  if (run.series.gap > kWarmPoolMost) {
    add("out-of-range", "--job-gap",
        fmt::format("a warm pool waits {} at most, not {}", format_duration(kWarmPoolMost),
                    format_duration(run.series.gap)),
        "shorten the gap or drop --warm-pool");
  } else if (run.series.gap > kWarmPoolQuota) {
    assume(fmt::format("a quota that lets a warm pool wait {}: the default is {}", format_duration(run.series.gap),
                       format_duration(kWarmPoolQuota)));
  }
}

void Resolver::read_data() {
  if (!spec_.dataset) {
    for (const auto& [name, text] :
         {std::pair("--dataset-files", &spec_.dataset_files), std::pair("--sample-size", &spec_.sample_size),
          std::pair("--preparation", &spec_.preparation), std::pair("--input-mode", &spec_.input_mode),
          std::pair("--data-region", &spec_.data_region)}) {
      if (text->has_value()) add("conflict", name, "says something about a data set of unknown size", "add --dataset");
    }
    return;
  }
  InputData data;
  if (const auto size = take(parse_bytes(*spec_.dataset, "--dataset"), faults_)) {
    data.size = *size;
    if (!(data.size > Bytes())) add("out-of-range", "--dataset", "a data set of no bytes", "give a size such as 500GB");
  }
  if (spec_.dataset_files) {
    const auto files = parse_bounded(*spec_.dataset_files, "--dataset-files", 1, kMostFiles, faults_);
    if (files) data.files = *files;
  }
  if (spec_.sample_size) {
    if (const auto size = take(parse_bytes(*spec_.sample_size, "--sample-size"), faults_)) {
      data.sample = *size;
      if (!(data.sample > Bytes())) {
        add("out-of-range", "--sample-size", "a sample of no bytes", "give what is read for a sequence, such as 600kB");
      }
    }
  }
  if (spec_.preparation) {
    const auto p =
        parse_name(*spec_.preparation, "preparation", "--preparation", preparation_names(), preparation_from, faults_);
    if (p) data.preparation = *p;
  } else if (request_.workload.architecture.kind == ModelKind::Vision) {
    data.preparation = Preparation::Jpeg;
    assume("the CPUs decode the images (--preparation none: they are decoded already, or on the devices)");
  }
  if (spec_.input_mode) {
    data.mode =
        parse_name(*spec_.input_mode, "input mode", "--input-mode", input_mode_names(), input_mode_from, faults_);
  }
  if (is_standing(request_.run.recovery.platform)) {
    const bool mounted = data.mode == InputMode::FsxLustre || data.mode == InputMode::Efs;
    if (data.mode && !mounted) {
      add("conflict", "--input-mode", fmt::format("a HyperPod cluster has no channels, and no {}", *spec_.input_mode),
          "use fsx-lustre or efs");
    } else if (!data.mode) {
      data.mode = InputMode::FsxLustre;
      assume("data is read from FSx for Lustre, which HyperPod clusters mount");
    }
  }
  data.other_region =
      spec_.data_region && letters_and_digits(*spec_.data_region) != letters_and_digits(request_.region);
  request_.run.data = data;
  if (data.mode != InputMode::File || request_.instances.empty() || purpose_ != Purpose::Plan) return;
  leave_out_small_disks(request_, catalog_.operations());
  if (request_.instances.empty()) {
    add("conflict", "--input-mode",
        fmt::format("{} fit no local disk, and File mode copies them to each", format_bytes(data.size)),
        "choose fastfile or fsx-lustre, or leave the choice to smplan");
  }
}

}  // namespace smplan
