#include "models/dimensions.hpp"

#include <algorithm>
#include <array>

namespace smplan {
namespace {

using Kind = DimensionRow::Kind;
using Open = DimensionRow::Open;

constexpr std::int32_t kMostDegree = 16384;

std::int32_t one(const Strategy&) { return 1; }
std::int32_t zero(const Strategy&) { return 0; }
bool always(const Strategy&) { return true; }

template <auto Member>
std::int32_t get(const Strategy& s) {
  return dimension_value(s.*Member);
}
template <auto Member>
void set(Strategy& s, std::int32_t value) {
  using T = std::remove_reference_t<decltype(s.*Member)>;
  s.*Member = from_dimension_value<T>(value);
}

template <typename T>
std::string name_of(std::int32_t value) {
  return std::string(to_string(from_dimension_value<T>(value)));
}
template <auto Parse>
std::optional<std::int32_t> parse(std::string_view name) {
  const auto value = Parse(name);
  return value ? std::optional(dimension_value(*value)) : std::nullopt;
}
/// Enumerators from the first to the last.
template <typename T>
std::vector<std::int32_t> up_to(T last) {
  std::vector<std::int32_t> values;
  for (std::int32_t v = 0; v <= dimension_value(last); ++v) values.push_back(v);
  return values;
}
template <typename T, auto Parse>
DimensionWords words(T last) {
  std::vector<std::int32_t> values = up_to(last);
  return {name_of<T>, parse<Parse>, values, values.size()};
}
/// Parameters and optimizer may wait on NVMe, activations in host memory alone. Plain ones first, which help lists.
DimensionWords offload_words() {
  std::vector<std::int32_t> values;
  for (const Offload& o :
       {Offload{}, Offload{true}, Offload{false, true}, Offload{false, false, true}, Offload{true, true},
        Offload{true, false, false, true}, Offload{false, true, false, true}, Offload{true, true, false, true}}) {
    values.push_back(dimension_value(o));
  }
  const std::size_t listed = values.size();
  for (std::int32_t v = 0; v < 16; ++v) {
    const auto o = from_dimension_value<Offload>(v);
    const bool places_states = !o.to_nvme || o.optimizer || o.parameters;
    if (places_states && std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
  }
  return {name_of<Offload>, parse<offload_from>, values, listed};
}

template <auto Member>
DimensionRow degree(Dimension dimension, std::string_view keyword, std::string_view path, std::string_view column,
                    std::string_view title, std::string_view help) {
  return {.dimension = dimension,
          .keyword = keyword,
          .path = path,
          .column = column,
          .label = keyword,
          .title = title,
          .help = help,
          .most = kMostDegree,
          .get = get<Member>,
          .set = set<Member>,
          .plain = one,
          .applies = always};
}

template <auto Member>
DimensionRow named(Dimension dimension, std::string_view keyword, std::string_view path, std::string_view title,
                   std::string_view help, const DimensionWords& words) {
  return {.dimension = dimension,
          .keyword = keyword,
          .path = path,
          .column = keyword,
          .title = title,
          .help = help,
          .kind = Kind::Words,
          .least = words.values.front(),
          .most = *std::max_element(words.values.begin(), words.values.end()),
          .open = Open::Fastest,
          .one_in_estimate = false,
          .get = get<Member>,
          .set = set<Member>,
          .plain = zero,
          .applies = always,
          .words = &words};
}

DimensionRow with(DimensionRow row, void (*change)(DimensionRow&)) {
  change(row);
  return row;
}

const std::array<DimensionRow, kDimensionCount>& table() {
  static const DimensionWords kShardings = words<Sharding, sharding_from>(Sharding::FsdpHybrid);
  static const DimensionWords kSchedules = words<Schedule, schedule_from>(Schedule::ZeroBubble);
  static const DimensionWords kRecomputes = words<Recompute, recompute_from>(Recompute::Full);
  static const DimensionWords kOffloads = offload_words();
  static const DimensionWords kCollectives = words<Collectives, collectives_from>(Collectives::Smddp);
  static const std::array<DimensionRow, kDimensionCount> kRows{
      degree<&Strategy::tensor_parallel>(Dimension::Tensor, "tp", "parallel/tensor", "tensor", "tensor parallelism",
                                         "Tensor parallel"),
      degree<&Strategy::pipeline_parallel>(Dimension::Pipeline, "pp", "parallel/pipeline", "pipeline",
                                           "pipeline parallelism", "Pipeline parallel"),
      degree<&Strategy::virtual_pipeline>(Dimension::VirtualPipeline, "vpp", "parallel/virtual_pipeline",
                                          "virtual_pipeline", "model chunks", "Model chunks per pipeline rank"),
      degree<&Strategy::context_parallel>(Dimension::Context, "cp", "parallel/context", "context",
                                          "context parallelism", "Context parallel"),
      degree<&Strategy::expert_parallel>(Dimension::Expert, "ep", "parallel/expert", "expert", "expert parallelism",
                                         "Expert parallel"),
      with(degree<&Strategy::expert_tensor_parallel>(Dimension::ExpertTensor, "etp", "parallel/expert_tensor",
                                                     "expert_tensor", "expert tensor parallelism",
                                                     "Ranks that one expert is cut over [1, or --tp where --ep is 1]"),
           [](DimensionRow& r) {
             r.open = Open::Fastest;
             r.zero_follows = true;
             r.get = [](const Strategy& s) { return s.expert_tensor(); };
             // The usual degree stays open, so that a strategy that names it equals one that does not.
             r.set = [](Strategy& s, std::int32_t v) {
               s.expert_tensor_parallel = v == s.usual_expert_tensor() ? 0 : v;
             };
             r.plain = [](const Strategy& s) { return s.usual_expert_tensor(); };
             r.applies = [](const Strategy& s) {
               return s.expert_parallel > 1 || s.expert_tensor() != s.usual_expert_tensor();
             };
           }),
      with(degree<&Strategy::data_parallel>(Dimension::Data, "dp", "parallel/data", "data", "data parallelism",
                                            "Data parallel"),
           [](DimensionRow& r) {
             r.open = Open::Fastest;
             r.zero_follows = true;
           }),
      {.dimension = Dimension::SequenceParallel,
       .keyword = "sequence_parallel",
       .path = "parallel/sequence_parallel",
       .column = "sequence",
       .label = "sp",
       .title = "sequence parallelism",
       .help = "Shard norms and residuals over the tensor ranks too (=false forbids it)",
       .kind = Kind::Switch,
       .least = 0,
       .most = 1,
       .open = Open::Fastest,
       .one_in_estimate = false,
       .get = get<&Strategy::sequence_parallel>,
       .set = set<&Strategy::sequence_parallel>,
       .plain = zero,
       .applies = always},
      named<&Strategy::sharding>(Dimension::Sharding, "sharding", "sharding/strategy", "sharding",
                                 "What the ranks of a shard group divide among them", kShardings),
      with(degree<&Strategy::shard_degree>(Dimension::ShardDegree, "shard_degree", "sharding/degree", "shard_degree",
                                           "shard degree", "Ranks that share one copy of the states"),
           [](DimensionRow& r) {
             r.label = "shard";
             r.open = Open::Fastest;
             r.zero_follows = true;
             r.one_in_estimate = false;
           }),
      with(degree<&Strategy::micro_batch>(Dimension::MicroBatch, "micro_batch", "micro_batch", "micro_batch",
                                          "micro-batch", "Sequences per rank and micro-batch"),
           [](DimensionRow& r) {
             r.label = "mb";
             r.open = Open::Fastest;
             r.one_in_estimate = false;
           }),
      with(
          named<&Strategy::schedule>(Dimension::Schedule, "schedule", "schedule", "pipeline schedule",
                                     "Order of the micro-batches in the pipeline [interleaved with --vpp]", kSchedules),
          [](DimensionRow& r) {
            r.plain = [](const Strategy& s) {
              return dimension_value(s.pipeline_parallel > 1 ? Schedule::OneFOneB : s.schedule);
            };
            r.applies = [](const Strategy& s) { return s.pipeline_parallel > 1; };
          }),
      named<&Strategy::recompute>(Dimension::Recompute, "recompute", "recompute", "recomputation",
                                  "Activations computed anew in the backward pass", kRecomputes),
      with(
          degree<&Strategy::recompute_layers>(Dimension::RecomputeLayers, "recompute_layers", "recompute_layers",
                                              "recompute_layers", "recomputed layers",
                                              "Layers of a pipeline chunk that are recomputed whole [all, or as few as "
                                              "fit]"),
          [](DimensionRow& r) {
            r.label = {};
            r.zero_follows = true;
            r.plain = zero;
            r.applies = [](const Strategy& s) { return s.recompute_layers > 0; };
          }),
      with(named<&Strategy::offload>(Dimension::Offload, "offload", "offload", "offload",
                                     "What waits in host memory, or with nvme on the instance's disks", kOffloads),
           [](DimensionRow& r) {
             r.label = "offload:";
             r.open = Open::Plain;
           }),
      named<&Strategy::collectives>(Dimension::Collectives, "collectives", "collectives", "collective library",
                                    "Library of the collective operations", kCollectives)};
  return kRows;
}

}  // namespace

std::string DimensionRow::flag() const {
  std::string out = "--" + std::string(keyword);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

std::string DimensionRow::text(std::int32_t value) const {
  if (kind == Kind::Words) return words->name(value);
  if (kind == Kind::Switch) return value != 0 ? "true" : "false";
  return std::to_string(value);
}

std::vector<std::string> DimensionRow::names() const {
  std::vector<std::string> out;
  if (words == nullptr) return out;
  for (std::size_t i = 0; i < words->listed; ++i) out.push_back(words->name(words->values[i]));
  return out;
}

std::span<const DimensionRow> dimensions() { return table(); }

const DimensionRow& row_of(Dimension dimension) { return table()[static_cast<std::size_t>(dimension)]; }

}  // namespace smplan
