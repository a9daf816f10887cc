#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "catalogs/import/reader.hpp"

// Answers of the EC2 and SageMaker APIs.

namespace smplan {
namespace {

std::string ml_type(const std::string& name) { return name.rfind("ml.", 0) == 0 ? name : "ml." + name; }

void read_spot(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.recognised = true;
  const JsonValue& entry = piece.value;
  const std::string system = text_member(entry, "ProductDescription", out);
  const std::string type = ml_type(text_member(entry, "InstanceType", out));
  const std::string zone = text_member(entry, "AvailabilityZone", out);
  const std::string timestamp = text_member(entry, "Timestamp", out);
  const auto price = entry.find("SpotPrice");
  if (!price || region_of_zone(zone).empty() || date_of(timestamp).empty()) {
    out.push_back({"missing-key", entry.location(), "is no spot price: needs SpotPrice, AvailabilityZone and Timestamp",
                   "fetch the file again; nothing was taken from it"});
    return;
  }
  const auto usd = read_usd(*price, out);
  // Training runs in no Local Zone: its zones are the region's name and a letter.
  const bool local = zone.size() != region_of_zone(zone).size() + 1;
  if (system.rfind("Linux/UNIX", 0) != 0 || local || !usd || *usd == 0) {
    ++reader.facts().other;
    return;
  }
  if (reader.catalog().find_instance(type) == nullptr) {
    ++reader.facts().unknown;
    return;
  }
  if (!has_room(reader.spot.size(), entry.location(), out)) return;
  ImportReader::ZonePrice& last = reader.spot[{type, zone}];
  if (timestamp >= last.timestamp) last = {timestamp, *usd};
}

/// Counts, hours, sizes and fees; no unit that AWS uses comes near it.
constexpr double kMost = 1e12;

double number_member(const JsonValue& entry, std::string_view key, Diagnostics& out) {
  const auto member = entry.find(key);
  if (!member || member->is_null()) return 0;
  const double number = member->as_number(out);
  if (number >= 0 && number <= kMost) return number;
  out.push_back({"out-of-range", member->location(), fmt::format("must be between 0 and {}, is {}", kMost, number),
                 "fetch the file again; nothing was taken from it"});
  return 0;
}

/// USD of a string or a number; what has none, or one in another currency, is counted.
std::optional<double> fee_of(ImportReader& reader, const JsonValue& entry, Diagnostics& out) {
  const auto fee = entry.find("UpfrontFee");
  const std::string currency = text_member(entry, "CurrencyCode", out);
  if (!fee || (!currency.empty() && currency != "USD")) {
    reader.pass_over(fee ? currency : "");
    return std::nullopt;
  }
  if (fee->is_number()) return number_member(entry, "UpfrontFee", out);
  const std::size_t faults = out.size();
  const std::string text = fee->as_string(out);
  if (out.size() != faults) return std::nullopt;
  // Not strtod: its decimal point is the locale's.
  double usd = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, usd);
  if (error != std::errc() || end != last || !(usd >= 0 && usd <= kMost)) {
    out.push_back({"bad-price", fee->location(), fmt::format("{} is no fee in USD", quote(text)),
                   "fetch the file again; nothing was taken from it"});
    return std::nullopt;
  }
  return usd;
}

double hours_of(const JsonValue& entry, std::string_view hours_key, std::string_view minutes_key, Diagnostics& out) {
  return number_member(entry, hours_key, out) + number_member(entry, minutes_key, out) / 60;
}

void add_block(ImportReader& reader, const std::string& type, const std::string& zone, double usd, Diagnostics& out) {
  const std::string region = region_of_zone(zone);
  if (region.empty() || !(usd > 0)) {
    ++reader.facts().other;
    return;
  }
  if (reader.catalog().find_instance(type) == nullptr) {
    ++reader.facts().unknown;
    return;
  }
  if (!has_room(reader.blocks.size(), reader.file, out)) return;
  const ImportReader::BlockOffer offer{
      usd, {reader.sourced("lowest upfront fee over instances and hours on offer"), reader.as_of()}};
  const auto [at, fresh] = reader.blocks.try_emplace({type, region}, offer);
  if (!fresh && usd < at->second.usd) at->second = offer;
}

void read_block(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.recognised = true;
  const JsonValue& entry = piece.value;
  // EC2 states the whole duration in both, hours rounded.
  const double minutes = number_member(entry, "CapacityBlockDurationMinutes", out);
  const double hours = minutes > 0 ? minutes / 60 : number_member(entry, "CapacityBlockDurationHours", out);
  const double count = number_member(entry, "InstanceCount", out);
  const auto fee = fee_of(reader, entry, out);
  if (!fee) return;
  if (!(hours * count > 0)) {
    ++reader.facts().other;
    return;
  }
  add_block(reader, ml_type(text_member(entry, "InstanceType", out)), text_member(entry, "AvailabilityZone", out),
            *fee / (hours * count), out);
}

void read_training_plan(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.recognised = true;
  const JsonValue& entry = piece.value;
  const auto fee = fee_of(reader, entry, out);
  if (!fee) return;
  const auto parts = entry.find("ReservedCapacityOfferings");
  const std::vector<JsonValue> capacities = parts ? parts->as_array(out) : std::vector<JsonValue>();
  double instance_hours = 0;
  std::set<std::string> types;
  std::string zone;
  for (const JsonValue& capacity : capacities) {
    // SageMaker states whole hours and the minutes beyond them.
    instance_hours +=
        number_member(capacity, "InstanceCount", out) * hours_of(capacity, "DurationHours", "DurationMinutes", out);
    types.insert(text_member(capacity, "InstanceType", out));
    zone = text_member(capacity, "AvailabilityZone", out);
  }
  // A fee for several types says nothing about one.
  if (types.size() != 1 || !(instance_hours > 0)) {
    ++reader.facts().other;
    return;
  }
  add_block(reader, ml_type(*types.begin()), zone, *fee / instance_hours, out);
}

const JsonValue* present(const std::optional<JsonValue>& value) {
  return value && !value->is_null() ? &*value : nullptr;
}

double nested(const JsonValue& entry, std::string_view object, std::string_view key, Diagnostics& out) {
  const auto outer = entry.find(object);
  return present(outer) != nullptr ? number_member(*outer, key, out) : 0;
}

/// Only types that the catalog knows: what accelerator a new one has, and whether training takes it, EC2 does not say.
void read_instance_type(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.recognised = true;
  const JsonValue& entry = piece.value;
  const std::string name = ml_type(text_member(entry, "InstanceType", out));
  const InstanceType* known = reader.catalog().find_instance(name);
  if (known == nullptr) {
    ++reader.facts().unknown;
    return;
  }
  InstanceType type = *known;
  if (const double cpus = nested(entry, "VCpuInfo", "DefaultVCpus", out); cpus > 0)
    type.vcpus = static_cast<int>(std::min(cpus, 1e9));
  if (const double mib = nested(entry, "MemoryInfo", "SizeInMiB", out); mib > 0) type.host_memory = Bytes(mib * kMiB);
  if (const double gb = nested(entry, "InstanceStorageInfo", "TotalSizeInGB", out); gb > 0) {
    type.local_nvme = Bytes(gb * 1e9);
  }
  const auto ebs = entry.find("EbsInfo");
  if (present(ebs) != nullptr) {
    const double mbit = nested(*ebs, "EbsOptimizedInfo", "BaselineBandwidthInMbps", out);
    if (mbit > 0) type.ebs_bandwidth = gbit_per_s(mbit / 1000);
  }
  const auto gpus = entry.find("GpuInfo");
  const auto list = present(gpus) != nullptr ? gpus->find("Gpus") : std::nullopt;
  double count = 0;
  if (list) {
    for (const JsonValue& gpu : list->as_array(out)) count += number_member(gpu, "Count", out);
  }
  if (count > 0 && count != type.accelerator_count) {
    reader.facts().notes.push_back(
        fmt::format("{} has {} GPUs in EC2 and {} in the catalog: not taken", name, count, type.accelerator_count));
    return;
  }
  ++reader.facts().used;
  const InstanceType fresh = type;
  type.provenance = {"aws ec2 describe-instance-types", reader.as_of()};
  if (fresh == *known) return;
  reader.facts().instances.push_back(std::move(type));
}

/// An answer cut into pages: the command line fetches all of them unless told otherwise.
void read_next_token(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  if (piece.value.is_null() || piece.value.as_string(out).empty()) return;
  reader.facts().notes.push_back(
      fmt::format("{} is one page of several (it has a NextToken): import all of them in one call, or fetch it again "
                  "without --max-items and --no-paginate",
                  reader.file));
}

constexpr std::array<PieceReader, 5> kPieces = {{{"/NextToken", read_next_token},
                                                 {"/SpotPriceHistory/*", read_spot},
                                                 {"/CapacityBlockOfferings/*", read_block},
                                                 {"/TrainingPlanOfferings/*", read_training_plan},
                                                 {"/InstanceTypes/*", read_instance_type}}};

}  // namespace

std::span<const PieceReader> ec2_pieces() { return kPieces; }

}  // namespace smplan
