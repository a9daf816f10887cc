#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/layers.hpp"
#include "planner/request_fields.hpp"
#include "planner/resolver.hpp"

namespace smplan {
namespace {

constexpr std::int32_t kMaxDegree = 16384;
const std::vector<std::string> kRecomputeNames{"none", "selective", "full"};
const std::vector<std::string> kOffloadNames{"none",
                                             "optimizer",
                                             "params",
                                             "activations",
                                             "optimizer+params",
                                             "optimizer+nvme",
                                             "params+nvme",
                                             "optimizer+params+nvme"};

std::vector<std::string> sharding_names() {
  std::vector<std::string> names;
  for (const Sharding s : {Sharding::None, Sharding::Zero1, Sharding::Zero2, Sharding::Zero3, Sharding::FsdpFull,
                           Sharding::FsdpGradOp, Sharding::FsdpHybrid}) {
    names.emplace_back(to_string(s));
  }
  return names;
}

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

void Resolver::read_degrees() {
  const auto read = [this](const Text& text, const char* where, Choice<std::int32_t>& choice) {
    if (text) choice.values = parse_integers(*text, where, 1, kMaxDegree, faults_);
  };
  read(spec_.dp, "--dp", request_.dp);
  read(spec_.tp, "--tp", request_.tp);
  read(spec_.pp, "--pp", request_.pp);
  read(spec_.vpp, "--vpp", request_.vpp);
  read(spec_.cp, "--cp", request_.cp);
  read(spec_.ep, "--ep", request_.ep);
  read(spec_.etp, "--etp", request_.etp);
  read(spec_.shard_degree, "--shard-degree", request_.shard_degree);
  read(spec_.micro_batch, "--micro-batch", request_.micro_batch);
  const auto least = [](const Choice<std::int32_t>& c) { return c.any() ? 1 : c.values.front(); };
  if (least(request_.vpp) > 1 && !request_.pp.any() && request_.pp.values.back() == 1) {
    add("conflict", "--vpp and --pp", "virtual pipeline chunks need a pipeline", "give --pp 2 or more");
  }
  for (const auto& [choice, flag] : {std::pair{&request_.ep, "--ep"}, std::pair{&request_.etp, "--etp"}}) {
    if (!has_model_ || least(*choice) == 1 || request_.workload.architecture.is_moe()) continue;
    add("conflict", flag, fmt::format("{} has no experts to distribute", request_.workload.architecture.name),
        fmt::format("leave {} out or choose a mixture-of-experts model", flag));
  }
}

void Resolver::read_sharding() {
  if (spec_.zero_stage && spec_.sharding) {
    add("conflict", "--zero-stage and --sharding", "the sharding is given twice", "give one of them");
    return;
  }
  if (spec_.zero_stage) {
    for (const std::int32_t stage : parse_integers(*spec_.zero_stage, "--zero-stage", 0, 3, faults_)) {
      const std::vector<Sharding> same = shardings_of_stage(stage);
      request_.sharding.values.insert(request_.sharding.values.end(), same.begin(), same.end());
    }
  }
  if (spec_.sharding) {
    request_.sharding.values =
        parse_names<Sharding>(*spec_.sharding, "sharding", "--sharding", sharding_names(), sharding_from, faults_);
  }
}

void Resolver::read_savings() {
  if (spec_.recompute) {
    request_.recompute.values = parse_names<Recompute>(*spec_.recompute, "recomputation", "--recompute",
                                                       kRecomputeNames, recompute_from, faults_);
    request_.recompute_layers.values = {0};
  }
  if (spec_.recompute_layers) read_recompute_layers();
  if (spec_.offload) {
    const std::size_t before = faults_.size();
    request_.offload.values =
        parse_names<Offload>(*spec_.offload, "offload", "--offload", kOffloadNames, offload_from, faults_);
    const bool nvme_alone = faults_.size() > before && lower_case(*spec_.offload).find("nvme") != std::string::npos;
    if (nvme_alone) faults_.back().hint = "nvme says where states wait: write optimizer+nvme or optimizer+params+nvme";
  }
  if (spec_.sequence_parallel) {
    if (const auto on = parse_switch(*spec_.sequence_parallel, "--sequence-parallel", faults_)) {
      request_.sequence_parallel.values = {*on};
    }
  }
}

/// A number of layers is one of full recomputation, which then need not be named.
void Resolver::read_recompute_layers() {
  constexpr const char* kFlag = "--recompute-layers";
  request_.recompute_layers.values = parse_integers(*spec_.recompute_layers, kFlag, 1, kMaxDegree, faults_);
  if (!spec_.recompute) request_.recompute.values = {Recompute::Full};
  if (!request_.recompute.allows(Recompute::Full)) {
    add("conflict", "--recompute and --recompute-layers", "a number of layers is recomputed whole",
        "give --recompute full, or leave it out");
  }
  const std::vector<std::int32_t>& given = request_.recompute_layers.values;
  if (!has_model_ || given.empty()) return;
  const Architecture& model = request_.workload.architecture;
  const std::int64_t layers = layer_stack(model).total();
  if (given.front() <= layers) return;
  add("conflict", kFlag, fmt::format("{} layers; {} has {}", given.front(), model.name, layers),
      "name fewer, or leave it out for all");
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
  const auto one = [this](Choice<std::int32_t>& choice, const char* where) {
    if (choice.values.size() > 1) add("ambiguous", where, "an estimate takes one value", "give one value, or use plan");
    if (choice.any()) choice.values = {1};
  };
  one(request_.tp, "--tp");
  one(request_.pp, "--pp");
  one(request_.vpp, "--vpp");
  one(request_.cp, "--cp");
  one(request_.ep, "--ep");
  if (request_.etp.values.size() > 1) {
    add("ambiguous", "--etp", "an estimate takes one value", "give one value, or use plan");
  }
  if (request_.dp.values.size() > 1)
    add("ambiguous", "--dp", "an estimate takes one value", "give one value, or use plan");
  if (request_.recompute_layers.values.size() > 1) {
    add("ambiguous", "--recompute-layers", "an estimate takes one value", "give one value, or use plan");
  }
  if (request_.recompute_layers.any()) request_.recompute_layers.values = {0};
  if (request_.offload.any()) request_.offload.values = {Offload{}};
  if (faults_.empty() && !request_.dp.any()) {
    const std::int64_t split = std::int64_t{request_.tp.values[0]} * request_.pp.values[0] * request_.cp.values[0];
    const std::int32_t devices = request_.instances[0]->accelerator_count;
    const std::int32_t used = request_.stacks.empty() ? devices : request_.stacks[0]->devices_used(devices);
    const std::int64_t gpus = std::int64_t{used} * request_.counts[0];
    if (split * request_.dp.values[0] != gpus) {
      add("conflict", "--dp",
          fmt::format("data x tensor x pipeline x context = {}, the instances have {} devices",
                      split * request_.dp.values[0], gpus),
          "change the degrees or --count");
    }
  }
}

}  // namespace smplan
