#include "models/strategy.hpp"

#include <fmt/format.h>

namespace smplan {
namespace {

void append(std::string& out, std::string_view word) {
  if (!out.empty()) out += ' ';
  out += word;
}

void append_degree(std::string& out, std::string_view name, std::int32_t degree) {
  if (degree != 1) append(out, fmt::format("{}{}", name, degree));
}

}  // namespace

std::string to_string(const Offload& offload) {
  std::string out;
  const auto add = [&out](std::string_view word) {
    if (!out.empty()) out += '+';
    out += word;
  };
  if (offload.optimizer) add("optimizer");
  if (offload.parameters) add("params");
  if (offload.activations) add("activations");
  if (offload.to_nvme) add("nvme");
  return out.empty() ? "none" : out;
}

std::optional<Offload> offload_from(std::string_view name) {
  Offload offload;
  if (name == "none") return offload;
  while (true) {
    const std::size_t plus = name.find('+');
    const std::string_view word = name.substr(0, plus);
    bool* field = nullptr;
    if (word == "optimizer") field = &offload.optimizer;
    if (word == "params" || word == "parameters") field = &offload.parameters;
    if (word == "activations") field = &offload.activations;
    if (word == "nvme") field = &offload.to_nvme;
    if (field == nullptr || *field) return std::nullopt;
    *field = true;
    if (plus == std::string_view::npos) break;
    name.remove_prefix(plus + 1);
  }
  if (offload.to_nvme && !offload.optimizer && !offload.parameters) return std::nullopt;
  return offload;
}

std::string to_string(const Strategy& strategy) {
  std::string out;
  append_degree(out, "tp", strategy.tensor_parallel);
  append_degree(out, "pp", strategy.pipeline_parallel);
  append_degree(out, "vpp", strategy.virtual_pipeline);
  append_degree(out, "cp", strategy.context_parallel);
  append_degree(out, "ep", strategy.expert_parallel);
  if (strategy.expert_tensor() != strategy.usual_expert_tensor()) {
    append(out, fmt::format("etp{}", strategy.expert_tensor()));
  }
  append_degree(out, "dp", strategy.data_parallel);
  if (strategy.sequence_parallel) append(out, "sp");
  if (strategy.sharding != Sharding::None) append(out, to_string(strategy.sharding));
  append_degree(out, "shard", strategy.shard_degree);
  append_degree(out, "mb", strategy.micro_batch);
  if (strategy.pipeline_parallel > 1 && strategy.schedule != Schedule::OneFOneB) {
    append(out, to_string(strategy.schedule));
  }
  if (strategy.recompute_layers > 0) {
    append(out, fmt::format("{}{}", to_string(strategy.recompute), strategy.recompute_layers));
  } else if (strategy.recompute != Recompute::None) {
    append(out, to_string(strategy.recompute));
  }
  if (strategy.offload.any()) append(out, fmt::format("offload:{}", to_string(strategy.offload)));
  if (strategy.collectives != Collectives::Nccl) append(out, to_string(strategy.collectives));
  return out.empty() ? "single" : out;
}

}  // namespace smplan
