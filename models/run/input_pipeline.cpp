#include "models/run/input_pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "catalogs/reading.hpp"
#include "models/layers/flops.hpp"
#include "models/machine/local_disk.hpp"
#include "models/run/checkpoint_time.hpp"

namespace smplan {
namespace {

constexpr EnumNames<InputMode, 5> kModes = {{{InputMode::File, "file"},
                                             {InputMode::FastFile, "fastfile"},
                                             {InputMode::Pipe, "pipe"},
                                             {InputMode::FsxLustre, "fsx-lustre"},
                                             {InputMode::Efs, "efs"}}};

constexpr EnumNames<Preparation, 3> kPreparations = {
    {{Preparation::None, "none"}, {Preparation::Jpeg, "jpeg"}, {Preparation::Tokenize, "tokenize"}}};

/// Guidance for File mode, upper end. Source: SageMaker developer guide, choosing an input mode.
constexpr Bytes kSmall = Bytes(100e9);
/// Under this a request takes longer to start than to deliver.
constexpr Bytes kLargeFile = Bytes(1e6);
constexpr Bytes kShard = Bytes(256e6);
/// What a job's volume has without being asked. Source: SageMaker Python SDK, volume_size, 30 GB.
constexpr Bytes kDefaultVolume = Bytes(30e9);
/// Measured for File mode from S3: 50 GB in 5 minutes. Source: SageMaker developer guide, same page.
constexpr BytesPerSecond kFileModeDownload = BytesPerSecond(50e9 / 300);
/// Of the dense peak; the best of the measured runs reaches 63.7 % (tests/measured/runs/llm_foundry.csv).
constexpr double kMostUtilisation = 2.0 / 3;

Bytes file_size(const InputData& data) {
  return data.files > 0 ? data.size / static_cast<double>(data.files) : std::min(data.size, kShard);
}

const StorageService* source_of(InputMode mode, const OperationFacts& facts) {
  switch (mode) {
    case InputMode::File:
    case InputMode::FastFile:
    case InputMode::Pipe:
      return facts.storage("s3");
    case InputMode::FsxLustre:
      return facts.storage("fsx-lustre");
    case InputMode::Efs:
      return facts.storage("efs");
  }
  return nullptr;
}

/// Of what it reads.
BytesPerSecond worker_rate(Preparation preparation, const Operations& operations) {
  switch (preparation) {
    case Preparation::None:
      return operations.loader_per_worker;
    case Preparation::Jpeg:
      return operations.jpeg_per_worker;
    case Preparation::Tokenize:
      return operations.text_per_worker;
  }
  return {};
}

/// What one instance reads: storage at most, and no faster than `readers` processes open files one by one.
BytesPerSecond read_rate(const StorageService& service, const InstanceType& instance, Bytes file, double readers) {
  BytesPerSecond rate = service.read_per_node;
  if (instance.network.bandwidth_per_node > BytesPerSecond())
    rate = std::min(rate, instance.network.bandwidth_per_node);
  if (service.open_file > Seconds()) rate = std::min(rate, file / service.open_file * readers);
  return rate;
}

}  // namespace

std::string_view to_string(InputMode mode) { return name_of(kModes, mode); }
std::optional<InputMode> input_mode_from(std::string_view name) { return value_of(kModes, name); }
std::vector<std::string> input_mode_names() {
  std::vector<std::string> names;
  for (const auto& entry : kModes) names.emplace_back(entry.second);
  return names;
}

std::string_view to_string(Preparation preparation) { return name_of(kPreparations, preparation); }
std::optional<Preparation> preparation_from(std::string_view name) { return value_of(kPreparations, name); }
std::vector<std::string> preparation_names() {
  std::vector<std::string> names;
  for (const auto& entry : kPreparations) names.emplace_back(entry.second);
  return names;
}

std::pair<InputMode, InputReason> choose_input_mode(const InputData& data, Bytes local_disk) {
  if (data.mode) return {*data.mode, InputReason::Stated};
  const bool fits = data.size <= local_disk * kVolumeFill;
  if (data.size <= kSmall && fits) return {InputMode::File, InputReason::Small};
  if (file_size(data) < kLargeFile) return {InputMode::FsxLustre, InputReason::SmallFiles};
  return {InputMode::FastFile, fits ? InputReason::LargeFiles : InputReason::TooLargeForDisk};
}

double InputPlan::workers_per_device() const {
  return per_worker > BytesPerSecond() ? std::max(1.0, std::ceil(needed / devices / per_worker)) : 1;
}

InputPlan plan_input(const InputData& data, const InstanceType& instance, std::int32_t nodes, Bytes kept,
                     Bytes capacity, const OperationFacts& facts, const Operations& operations) {
  const bool nvme = instance.local_nvme > Bytes();
  const Bytes disk = nvme ? instance.local_nvme : kLargestVolume;
  InputPlan plan;
  std::tie(plan.mode, plan.reason) = choose_input_mode(data, disk);
  plan.preferred = plan.mode;
  const double n = nodes;
  const double cpus = instance.vcpus;
  plan.devices = n * std::max(1, instance.accelerator_count);
  plan.most_workers = n * cpus / plan.devices;
  plan.per_worker = worker_rate(data.preparation, operations);
  const bool copied = plan.mode == InputMode::File;
  // A pipe has one reader on each instance.
  const double readers = plan.mode == InputMode::Pipe ? 1 : cpus;
  BytesPerSecond rate;
  if (const StorageService* service = source_of(plan.mode, facts)) {
    rate = read_rate(*service, instance, file_size(data), readers);
    if (copied) {
      plan.download = data.size / std::min(rate, kFileModeDownload);
      rate = local_read_rate(instance, facts);
    }
    rate *= n;
    if (!copied && service->throughput_per_tib > BytesPerSecond()) {
      rate = std::min(rate, service->throughput_per_tib * (capacity / Bytes(kTiB)));
    }
    if (!copied && service->read_total > BytesPerSecond()) rate = std::min(rate, service->read_total);
  }
  plan.storage = rate;
  plan.loaders = plan.per_worker * (readers * n);
  plan.delivered = std::min(plan.storage, plan.loaders);
  plan.fits_disk = !copied || data.size + kept <= disk * kVolumeFill;
  if (!nvme) {
    const Bytes held = (copied ? data.size : Bytes()) + kept;
    plan.volume = std::max(kDefaultVolume, Bytes(1e9) * std::ceil(held / kVolumeFill / Bytes(1e9)) + kDefaultVolume);
  }
  return plan;
}

InputPlan choose_input(const InputData& data, const InstanceType& instance, std::int32_t nodes, Bytes kept,
                       BytesPerSecond most, const std::function<Bytes(InputMode)>& capacity,
                       const OperationFacts& facts, const Operations& operations) {
  const auto plan_of = [&](std::optional<InputMode> mode) {
    InputData as = data;
    if (mode) as.mode = mode;
    const Bytes disk = instance.local_nvme > Bytes() ? instance.local_nvme : kLargestVolume;
    InputPlan plan =
        plan_input(as, instance, nodes, kept, capacity(choose_input_mode(as, disk).first), facts, operations);
    plan.most = most;
    return plan;
  };
  InputPlan preferred = plan_of(std::nullopt);
  if (data.mode || preferred.delivered >= most) return preferred;
  InputPlan best = preferred;
  best.reason = InputReason::LeastWaits;
  // Copying comes last: idle instances wait for it.
  for (const InputMode mode : {InputMode::FastFile, InputMode::FsxLustre, InputMode::Efs, InputMode::File}) {
    InputPlan plan = plan_of(mode);
    if (!plan.fits_disk || !(plan.delivered > best.delivered)) continue;
    plan.preferred = preferred.mode;
    plan.preferred_delivers = preferred.delivered;
    plan.reason = plan.delivered >= most ? InputReason::KeepsFed : InputReason::LeastWaits;
    if (plan.reason == InputReason::KeepsFed) return plan;
    best = plan;
  }
  return best;
}

BytesPerSecond most_needed(const Workload& workload, Bytes per_sequence, FlopsPerSecond peak) {
  const Flops step = step_flops(workload, Recompute::None, AttentionCounting::CausalHalf).model;
  if (!(step > Flops())) return {};
  return per_sequence * static_cast<double>(workload.global_batch) / (step / (peak * kMostUtilisation));
}

Bytes bytes_per_sequence(const InputData& data, const Workload& workload, const Operations& operations) {
  if (data.sample > Bytes()) return data.sample;
  if (data.preparation == Preparation::Jpeg) return operations.jpeg_bytes;
  const bool text = data.preparation == Preparation::Tokenize;
  return (text ? operations.text_bytes_per_token : operations.token_bytes) * static_cast<double>(workload.seq_len);
}

std::string explain_input(const InputPlan& p, const InputData& data) {
  std::string why;
  switch (p.reason) {
    case InputReason::Stated:
      why = "as asked";
      break;
    case InputReason::Small:
      why = fmt::format("{} are copied once", format_bytes(data.size));
      break;
    case InputReason::LargeFiles:
      why = fmt::format("copying {} first would hold the start up", format_bytes(data.size));
      break;
    case InputReason::TooLargeForDisk:
      why = fmt::format("{} do not fit the local disk", format_bytes(data.size));
      break;
    case InputReason::SmallFiles:
      why = fmt::format("files of {} are too small for S3: pack them into shards, or mount",
                        format_bytes(file_size(data)));
      break;
    case InputReason::KeepsFed:
    case InputReason::LeastWaits:
      why = fmt::format("{} delivers {}, and the devices may need {}{}", to_string(p.preferred),
                        format_bandwidth(p.mode == p.preferred ? p.delivered : p.preferred_delivers),
                        format_bandwidth(p.most), p.reason == InputReason::KeepsFed ? "" : ", which no mode delivers");
      break;
  }
  std::string text = fmt::format("input mode {} ({})", to_string(p.mode), why);
  if (p.download > Seconds()) text += fmt::format(", {} of download", format_duration(p.download));
  text += fmt::format("; {} needed, up to {} delivered (storage {}, loaders {})", format_bandwidth(p.needed),
                      format_bandwidth(p.delivered), format_bandwidth(p.storage), format_bandwidth(p.loaders));
  const double workers = p.workers_per_device();
  text += fmt::format("; {:.0f} loader process{} for each device, which has {:.0f} CPUs", workers,
                      workers == 1 ? "" : "es", p.most_workers);
  if (data.preparation == Preparation::Jpeg) text += ", which decode the images";
  if (data.preparation == Preparation::Tokenize) text += ", which make the tokens";
  if (p.volume > Bytes()) text += fmt::format("; volume of {:.0f} GB", p.volume.value() / 1e9);
  if (!p.keeps_fed()) {
    text += fmt::format("; the devices wait for data: {}", p.loaders < p.storage
                                                               ? "prepare it ahead, or take types with more CPUs"
                                                               : "storage is too slow for it");
  }
  if (!p.fits_disk) text += "; the data set does not fit the local disk";
  return text;
}

}  // namespace smplan
