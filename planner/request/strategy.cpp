#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/layers/layers.hpp"
#include "planner/export/launchable.hpp"
#include "planner/export/target.hpp"
#include "planner/request/fields.hpp"
#include "planner/request/resolver.hpp"

namespace smplan {
namespace {

std::vector<std::int32_t> read_values(const DimensionRow& row, std::string_view text, Diagnostics& out) {
  const std::string flag = row.flag();
  switch (row.kind) {
    case DimensionRow::Kind::Degree:
      return parse_integers(text, flag, row.least, row.most, out);
    case DimensionRow::Kind::Switch:
      if (const auto on = parse_switch(text, flag, out)) return {dimension_value(*on)};
      return {};
    case DimensionRow::Kind::Words:
      return parse_names<std::int32_t>(
          text, row.title, flag, row.names(), [&](std::string_view name) { return row.words->parse(name); }, out);
  }
  return {};
}

std::int32_t least(const Choice& choice) { return choice.any() ? 1 : choice.values.front(); }

/// What shards as much as a ZeRO stage, in DeepSpeed's terms and in FSDP's (Zhao et al. 2023, section 3.2).
std::vector<Sharding> shardings_of_stage(std::int32_t stage) {
  switch (stage) {
    case 0:
      return {Sharding::None};
    case 1:
      return {Sharding::Zero1};
    case 2:
      return {Sharding::Zero2, Sharding::FsdpGradOp};
    default:
      return {Sharding::Zero3, Sharding::FsdpFull, Sharding::FsdpHybrid};
  }
}

}  // namespace

void Resolver::read_dimensions() {
  for (const DimensionRow& row : dimensions()) {
    if (const Text& text = spec_[row.dimension]) request_[row.dimension].values = read_values(row, *text, faults_);
  }
  read_zero_stage();
  read_fused_loss();
  read_recomputation();
  if (request_.target != nullptr && has_model_ && !request_.stacks.empty()) narrow_to_target();
  check_dimensions();
}

/// What the target says of these values under one of the stacks, the rest plain.
std::vector<std::int32_t> Resolver::said_by_target(const DimensionRow& row,
                                                   const std::vector<std::int32_t>& values) const {
  std::vector<std::int32_t> said;
  for (const Stack* stack : request_.stacks) {
    const std::vector<std::int32_t> own = sayable(request_.workload, *stack, *request_.target, row, values);
    said.insert(said.end(), own.begin(), own.end());
  }
  return said;
}

/// What the request leaves open is what the target can say of it; what it says must be so.
void Resolver::narrow_to_target() {
  // These depend on the number of devices, or go with tensor ranks; every target has words for the micro-batch.
  constexpr std::array kOpen{Dimension::Data, Dimension::ShardDegree, Dimension::MicroBatch,
                             Dimension::SequenceParallel};
  for (const DimensionRow& row : dimensions()) {
    if (row.of_execution || std::find(kOpen.begin(), kOpen.end(), row.dimension) != kOpen.end()) continue;
    Choice& choice = request_[row.dimension];
    const std::int32_t plain = row.plain(Strategy());
    std::vector<std::int32_t> values{plain, plain + 1};
    if (row.kind == DimensionRow::Kind::Words) values = row.words->values;
    const std::size_t all = values.size();
    if (!choice.any()) values.insert(values.end(), choice.values.begin(), choice.values.end());
    const std::vector<std::int32_t> said = said_by_target(row, values);
    const auto unsaid = [&](std::int32_t value) { return std::find(said.begin(), said.end(), value) == said.end(); };
    if (choice.any()) {
      std::erase_if(values, unsaid);
      if (values.size() < all) choice.values = values;
    } else if (std::all_of(choice.values.begin(), choice.values.end(), unsaid)) {
      add("conflict", row.flag(),
          fmt::format("an export to {} has no words for {} {}", request_.target->name, row.title,
                      row.text(choice.values.front())),
          fmt::format("leave {} out, or export to another target", row.flag()));
    }
  }
}

/// Whether the loss keeps all logits (`plain`, off) or not (`fused`, `chunked`, on).
void Resolver::read_fused_loss() {
  if (!spec_.fused_loss) return;
  if (spec_[Dimension::LossKernel]) {
    add("conflict", "--fused-loss and --loss-kernel", "the loss is given twice", "give one of them");
    return;
  }
  const std::string word = letters_and_digits(*spec_.fused_loss);
  const bool is_plain = word == "plain" || word == "unfused";
  const auto toggle = word == "fused" || word == "chunked" ? Toggle::On : is_plain ? Toggle::Off : toggle_from(word);
  if (!toggle || *toggle == Toggle::Default) {
    add("bad-value", "--fused-loss", quote(*spec_.fused_loss) + " is neither true nor false",
        "write on (fused, chunked: no logits are kept) or off (plain)");
    return;
  }
  request_[Dimension::LossKernel].only({*toggle == Toggle::On ? LossKernel::Linear : LossKernel::Default});
}

void Resolver::read_zero_stage() {
  if (!spec_.zero_stage) return;
  if (spec_[Dimension::Sharding]) {
    add("conflict", "--zero-stage and --sharding", "the sharding is given twice", "give one of them");
    return;
  }
  std::vector<std::int32_t>& values = request_[Dimension::Sharding].values;
  for (const std::int32_t stage : parse_integers(*spec_.zero_stage, "--zero-stage", 0, 3, faults_)) {
    for (const Sharding same : shardings_of_stage(stage)) values.push_back(dimension_value(same));
  }
}

/// A number of layers is one of full recomputation, which then need not be named.
void Resolver::read_recomputation() {
  Choice& recompute = request_[Dimension::Recompute];
  Choice& layers = request_[Dimension::RecomputeLayers];
  // Modules are those of selective recomputation, which then need not be named.
  const Choice& modules = request_[Dimension::RecomputeModules];
  if (!modules.any() && modules.values != std::vector<std::int32_t>{0} && !spec_[Dimension::Recompute]) {
    recompute.only({Recompute::Selective});
  }
  if (!spec_[Dimension::RecomputeLayers]) {
    if (spec_[Dimension::Recompute]) layers.values = {0};
    return;
  }
  if (!spec_[Dimension::Recompute]) recompute.only({Recompute::Full});
  if (!recompute.allows(Recompute::Full)) {
    add("conflict", "--recompute and --recompute-layers", "a number of layers is recomputed whole",
        "give --recompute full, or leave it out");
  }
  if (!has_model_ || layers.any()) return;
  const Architecture& model = request_.workload.architecture;
  const std::int64_t all = layer_stack(model).total();
  if (layers.values.front() <= all) return;
  add("conflict", "--recompute-layers", fmt::format("{} layers; {} has {}", layers.values.front(), model.name, all),
      "name fewer, or leave it out for all");
}

void Resolver::check_dimensions() {
  const Choice& pipeline = request_[Dimension::Pipeline];
  if (least(request_[Dimension::VirtualPipeline]) > 1 && !pipeline.any() && pipeline.values.back() == 1) {
    add("conflict", "--vpp and --pp", "virtual pipeline chunks need a pipeline", "give --pp 2 or more");
  }
  for (const Dimension dimension : {Dimension::Expert, Dimension::ExpertTensor}) {
    if (!has_model_ || least(request_[dimension]) == 1 || request_.workload.architecture.is_moe()) continue;
    const std::string flag = row_of(dimension).flag();
    add("conflict", flag, fmt::format("{} has no experts to distribute", request_.workload.architecture.name),
        fmt::format("leave {} out or choose a mixture-of-experts model", flag));
  }
  const Text& offload = spec_[Dimension::Offload];
  if (!offload || lower_case(*offload).find("nvme") == std::string::npos) return;
  for (Diagnostic& fault : faults_) {
    if (fault.location != row_of(Dimension::Offload).flag()) continue;
    fault.hint = "nvme says where states wait: write optimizer+nvme or optimizer+params+nvme";
  }
}

/// Counts between those that are sold are nobody's cluster.
void Resolver::check_sale() {
  const InstanceType& instance = *request_.instances.front();
  const std::int32_t count = request_.counts.front();
  if (instance.sells(count)) return;
  std::int32_t more = count;
  while (!instance.sells(more)) ++more;
  std::int32_t fewer = count;
  while (fewer > 0 && !instance.sells(fewer)) --fewer;
  add("conflict", "--count",
      fmt::format("{} is sold in {} instances, and {} is no sum of these", instance.name,
                  fmt::join(instance.sold_in, " or "), count),
      fewer > 0 ? fmt::format("give --count {} or {}", fewer, more) : fmt::format("give --count {}", more));
}

/// An estimate is about one cluster, and its degrees are what the request says or 1.
void Resolver::check_estimate() {
  if (!spec_.instances || request_.instances.size() > 1) {
    add("ambiguous", "--instances", "an estimate is for one instance type", "name one, such as ml.p4d.24xlarge");
  }
  if (request_.counts.size() > 1) {
    add("ambiguous", "--count", "an estimate is for one number of instances", "give one, such as --count 8");
  }
  if (request_.instances.size() == 1 && request_.counts.size() == 1) check_sale();
  for (const DimensionRow& row : dimensions()) {
    Choice& choice = request_[row.dimension];
    if (row.one_in_estimate && choice.values.size() > 1) {
      add("ambiguous", row.flag(), "an estimate takes one value", "give one value, or use plan");
    }
    if (row.open == DimensionRow::Open::Plain && choice.any()) choice.values = {row.plain(Strategy())};
  }
  const Choice& data = request_[Dimension::Data];
  if (faults_.empty() && !data.any()) {
    std::int64_t split = 1;
    for (const Dimension d : {Dimension::Tensor, Dimension::Pipeline, Dimension::Context}) {
      split *= request_[d].values[0];
    }
    const std::int32_t devices = request_.instances[0]->accelerator_count;
    const std::int32_t used = request_.stacks.empty() ? devices : request_.stacks[0]->devices_used(devices);
    const std::int64_t gpus = std::int64_t{used} * request_.counts[0];
    if (split * data.values[0] != gpus) {
      add("conflict", "--dp",
          fmt::format("data x tensor x pipeline x context = {}, the instances have {} devices", split * data.values[0],
                      gpus),
          "change the degrees or --count");
    }
  }
}

}  // namespace smplan
