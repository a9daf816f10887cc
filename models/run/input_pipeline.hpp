#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalogs/instance.hpp"
#include "catalogs/operations.hpp"
#include "models/job/workload.hpp"

namespace smplan {

/// How a training job gets at its data.
enum class InputMode {
  File,       ///< copied from S3 to the local disk before training starts
  FastFile,   ///< streamed from S3 as files are read
  Pipe,       ///< streamed through a FIFO: one reader a channel
  FsxLustre,  ///< mounted
  Efs,        ///< mounted
};
std::string_view to_string(InputMode mode);
std::optional<InputMode> input_mode_from(std::string_view name);
std::vector<std::string> input_mode_names();

/// What the instance's CPUs do with what they read. Decoding on the accelerators (DALI, nvJPEG) is `None`.
enum class Preparation {
  None,      ///< read and put together
  Jpeg,      ///< images decoded, cut and turned into numbers
  Tokenize,  ///< text turned into tokens
};
std::string_view to_string(Preparation preparation);
std::optional<Preparation> preparation_from(std::string_view name);
std::vector<std::string> preparation_names();

/// The data set as the request describes it.
struct InputData {
  Bytes size;
  std::int64_t files = 0;         ///< 0: not stated, shards of 256 MB
  Bytes sample;                   ///< read for each sequence; zero: its tokens, text or image
  std::optional<InputMode> mode;  ///< nullopt: choose_input_mode
  bool other_region = false;      ///< read from a bucket in another region
  Preparation preparation = Preparation::None;
  friend bool operator==(const InputData&, const InputData&) = default;
};

/// Why a mode was chosen, for the sentence that explains it.
/// Of a local disk, what data may fill.
inline constexpr double kVolumeFill = 0.9;
/// Largest volume that a training job may ask for: 16 TiB.
inline constexpr Bytes kLargestVolume = Bytes(16 * kTiB);

enum class InputReason {
  Stated,
  Small,
  LargeFiles,
  SmallFiles,
  TooLargeForDisk,
  KeepsFed,    ///< what guidance prefers would let the devices wait
  LeastWaits,  ///< every mode would; this one delivers most
};

struct InputPlan {
  InputMode mode = InputMode::FastFile;
  InputReason reason = InputReason::Stated;
  Seconds download;                           ///< before the first step, and again on new instances
  BytesPerSecond needed;                      ///< by all devices together at the speed of the plan
  BytesPerSecond most;                        ///< that any plan on these devices can need; zero: not known
  BytesPerSecond delivered;                   ///< at most, by storage and loaders of all instances together
  BytesPerSecond storage;                     ///< what storage, network and disk deliver
  BytesPerSecond loaders;                     ///< what the loader processes deliver, one on each virtual CPU
  InputMode preferred = InputMode::FastFile;  ///< by guidance alone
  BytesPerSecond preferred_delivers;          ///< where another mode was chosen
  BytesPerSecond per_worker;                  ///< what one loader process delivers
  double devices = 1;                         ///< of all instances
  double most_workers = 0;                    ///< virtual CPUs a device
  Bytes volume;                               ///< storage volume to ask for, one instance; zero where NVMe is built in
  bool fits_disk = true;                      ///< File mode: the data set fits the local disk
  [[nodiscard]] bool keeps_fed() const { return needed <= delivered; }
  /// Loader processes that keep a device fed.
  [[nodiscard]] double workers_per_device() const;
};

/// Up to 100 GB are copied; more is streamed from large files, and mounted where files are small.
/// Source: SageMaker developer guide, choosing an input mode (50 to 100 GB for File mode).
std::pair<InputMode, InputReason> choose_input_mode(const InputData& data, Bytes local_disk);

/// The data's way to the devices. `kept` is what checkpoints take of one instance's disk, `capacity` the file
/// system's, where the mode mounts one. What the devices need depends on the plan: `needed` is left at zero.
InputPlan plan_input(const InputData& data, const InstanceType& instance, std::int32_t nodes, Bytes kept,
                     Bytes capacity, const OperationFacts& facts, const Operations& operations);

/// The plan of the mode that guidance prefers if it delivers `most`, else of the first that does (streamed,
/// mounted, copied), else of the one that delivers most. A file system's capacity is `capacity(mode)`. A stated mode
/// stays.
InputPlan choose_input(const InputData& data, const InstanceType& instance, std::int32_t nodes, Bytes kept,
                       BytesPerSecond most, const std::function<Bytes(InputMode)>& capacity,
                       const OperationFacts& facts, const Operations& operations);

/// The most bytes a second that training reads on devices that reach `peak` together: at two thirds of it, more than
/// any measured run.
BytesPerSecond most_needed(const Workload& workload, Bytes per_sequence, FlopsPerSecond peak);

/// Bytes of a sequence: as stated, else its tokens, as text where tokens are made of it, or an image.
Bytes bytes_per_sequence(const InputData& data, const Workload& workload, const Operations& operations);

/// What the mode was chosen for and whether it keeps the devices fed, for people.
std::string explain_input(const InputPlan& plan, const InputData& data);

}  // namespace smplan
