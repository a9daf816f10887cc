#include "planner/preflight/methods.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalogs/adapter_methods.hpp"
#include "catalogs/fine_tuning_method.hpp"
#include "models/job/workload.hpp"

namespace smplan {
namespace {

constexpr std::array<std::string_view, 4> kMethodNames = {"peft_type", "peft_method", "tuner_type", "finetune"};

}  // namespace

void note_other_methods(const Node& h, Job& job) {
  const std::vector<std::string> planned = planned_adapters();
  for (const std::string_view name : kMethodNames) {
    const Node* named = h.find(name);
    const Text word = named == nullptr ? Text() : unquoted(text_field(named));
    const AdapterMethod* method = word ? adapter_method(*word) : nullptr;
    if (method == nullptr || finetune_from(method->name)) continue;
    if (std::find(planned.begin(), planned.end(), method->name) != planned.end()) continue;
    job.not_modelled = fmt::format("training by `{}` is not modelled: {} are", method->name, fmt::join(planned, ", "));
  }
  const Count adapters = count_field(first_of(h, {"n_adapters", "num_adapters"}));
  if (adapters.value_or(1) > 1) job.not_modelled = kSeveralAdapters;
}

}  // namespace smplan
