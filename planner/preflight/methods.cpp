#include "planner/preflight/methods.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/words.hpp"
#include "catalogs/adapter_methods.hpp"
#include "catalogs/fine_tuning_method.hpp"
#include "models/job/workload.hpp"

namespace smplan {
namespace {

constexpr std::array<std::string_view, 6> kMethodNames = {"adapters",    "adapter",    "peft_type",
                                                          "peft_method", "tuner_type", "finetune"};
/// Names that nobody but PEFT has a word for.
constexpr std::array<std::string_view, 2> kOfPeft = {"peft_type", "peft_method"};

}  // namespace

void read_methods(const Node& h, Job& job) {
  const std::vector<std::string> planned = planned_adapters();
  for (const std::string_view name : kMethodNames) {
    const Node* named = h.find(name);
    const Text word = named == nullptr ? Text() : unquoted(text_field(named));
    const AdapterMethod* method = word ? adapter_method(*word) : nullptr;
    const bool of_peft = std::find(kOfPeft.begin(), kOfPeft.end(), name) != kOfPeft.end();
    if (method == nullptr && of_peft && word && !word->empty() && lower_case(*word) != "none") {
      job.not_modelled = fmt::format("`{}` is no method of PEFT that is known", *word);
    }
    if (method == nullptr) continue;
    JobStrategy& s = job.strategy;
    const bool says_which = finetune_from(s.finetune.value_or("")).has_value();
    if (finetune_from(method->name)) {
      if (!says_which) s.finetune = derived(method->name, named->where);
    } else if (std::find(planned.begin(), planned.end(), method->name) != planned.end()) {
      if (!says_which) s.finetune = derived(std::string("lora"), named->where);
      s.adapters = derived(method->name, named->where);
    } else {
      job.not_modelled =
          fmt::format("training by `{}` is not modelled: {} are", method->name, fmt::join(planned, ", "));
    }
  }
}

}  // namespace smplan
