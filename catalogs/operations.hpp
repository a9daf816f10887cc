#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// What a byte kept for a second costs.
using UsdPerByteSecond = Quantity<UnitDimension{.byte = -1, .second = -1, .usd = 1}>;
using UsdPerByte = Quantity<UnitDimension{.byte = -1, .usd = 1}>;

/// How jobs fail, start and are kept going: figures that no model derives.
struct Operations {
  Seconds failures_apart_per_gpu;  ///< mean time between unexpected interruptions of one accelerator
  Seconds failure_detection;
  Seconds provisioning;  ///< request to running instances; takes time and is not billed
  Seconds image_pull;
  Seconds model_init;
  Seconds first_step;               ///< compilation, collectives' set-up, caches
  Seconds warm_start;               ///< on the instances of a warm pool, in place of provisioning and image pull
  Seconds spot_wait;                ///< until reclaimed capacity is back
  Seconds checkpointless_recovery;  ///< from a failure to the next step, where a replica hands the state on
  double spot_monthly = 0;          ///< part of spot instances reclaimed in a month, where nothing is known of them
  double checkpoints_kept = 0;      ///< the last ones; older are deleted
  Seconds plan_reclaim;             ///< how long before its end a capacity block takes the instances back
  double price_drift = 0;        ///< of a price that AWS sets, a standard deviation of its logarithm per root of a year
  double spot_price_spread = 0;  ///< of a spot price over zones and months, a standard deviation of its logarithm
  Bytes token_bytes;             ///< of a token in a tokenised data set
  BytesPerSecond loader_per_worker;  ///< what one process of the data loader delivers
  BytesPerSecond jpeg_per_worker;    ///< the same where it decodes and cuts images, of the bytes that it reads
  BytesPerSecond text_per_worker;    ///< where it makes tokens of text
  Bytes jpeg_bytes;                  ///< of an image
  Bytes text_bytes_per_token;
  friend bool operator==(const Operations&, const Operations&) = default;
};

/// One figure with its range and source. An overlay replaces it by key.
struct OperationFact {
  std::string key;  ///< a key of operation_parameters()
  double value = 0;
  double low = 0;  ///< what has been seen or is plausible
  double high = 0;
  Provenance provenance;
  friend bool operator==(const OperationFact&, const OperationFact&) = default;
};

/// One kind of figure: its key in files (with the unit), its bounds, and where it goes.
struct OperationParameter {
  std::string_view key;
  double min;
  double max;
  void (*set)(Operations&, double);
};
/// The only list of them.
std::span<const OperationParameter> operation_parameters();

/// Where checkpoints and data sets are kept.
struct StorageService {
  std::string key;                ///< `s3`, `fsx-lustre`, `efs`, `volume`
  BytesPerSecond read_per_node;   ///< at most, one instance
  BytesPerSecond write_per_node;  ///< at most, one instance
  /// Of the whole file system per TiB of capacity; zero where capacity does not limit it.
  BytesPerSecond throughput_per_tib;
  /// Of the whole file system, whatever its capacity; zero where nothing limits it so.
  BytesPerSecond read_total;
  BytesPerSecond write_total;
  Bytes min_capacity;   ///< what is paid at least; zero where only what is stored is paid
  Bytes capacity_step;  ///< file systems grow by so much
  UsdPerByteSecond storage;
  Usd put;                  ///< one request that writes
  Usd get;                  ///< one request that reads
  UsdPerByte other_region;  ///< what leaves for another region
  Seconds open_file;        ///< opening one small file
  Provenance provenance;
  friend bool operator==(const StorageService&, const StorageService&) = default;
};

/// Part of the spot instances of a type or family that are reclaimed in a month.
struct SpotInterruption {
  std::string types;   ///< a type (`ml.p5.48xlarge`) or a family (`p5`: the types `ml.p5.*`)
  std::string region;  ///< empty: any
  double monthly = 0;
  double low = 0;
  double high = 0;
  Provenance provenance;
  friend bool operator==(const SpotInterruption&, const SpotInterruption&) = default;
};

/// Every operational fact. Keys: fact key; storage key; types and region.
struct OperationFacts {
  std::vector<OperationFact> figures;
  std::vector<StorageService> storages;
  std::vector<SpotInterruption> spot;

  /// The figures in their places.
  [[nodiscard]] Operations values() const;
  /// nullptr if unknown.
  [[nodiscard]] const StorageService* storage(std::string_view key) const;
  /// Part of the instances of a type (`ml.p5.48xlarge`) reclaimed in a month: the type's there, the type's anywhere,
  /// its family's there, its family's anywhere, else the general figure.
  [[nodiscard]] double spot_monthly(std::string_view instance, std::string_view region) const;
  friend bool operator==(const OperationFacts&, const OperationFacts&) = default;
};

OperationFact read_operation_fact(const JsonValue& value, Diagnostics& out);
StorageService read_storage_service(const JsonValue& value, Diagnostics& out);
/// One rate for a family, or for each of a list of types.
std::vector<SpotInterruption> read_spot_interruptions(const JsonValue& value, Diagnostics& out);

}  // namespace smplan
