#include "models/job/strategy.hpp"

#include "models/job/dimensions.hpp"

namespace smplan {
namespace {

/// How the short form names a value: `tp8`, `sp`, `offload:optimizer`.
std::string word_of(const DimensionRow& row, std::int32_t value) {
  std::string word(row.label);
  if (row.kind != DimensionRow::Kind::Switch) word += row.text(value);
  return word;
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
  for (const DimensionRow& row : dimensions()) {
    const std::int32_t value = row.get(strategy);
    if (value == row.plain(strategy)) continue;
    const bool ends_word = row.kind == DimensionRow::Kind::Degree && row.label.empty();
    if (!out.empty() && !ends_word) out += ' ';
    out += word_of(row, value);
  }
  return out.empty() ? "single" : out;
}

}  // namespace smplan
