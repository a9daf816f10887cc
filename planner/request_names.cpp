#include "planner/request_names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"

namespace smplan {
namespace {

using Text = std::optional<std::string>;

constexpr auto kNames = std::to_array<RequestName>({
    {"params", &RequestSpec::params},
    {"model", &RequestSpec::model},
    {"hf_config", &RequestSpec::hf_config},
    {"arch", &RequestSpec::arch},
    {"tokens", &RequestSpec::tokens},
    {"seq_len", &RequestSpec::seq_len},
    {"global_batch", &RequestSpec::global_batch},
    {"global_batch_tokens", &RequestSpec::global_batch_tokens},
    {"dtype", &RequestSpec::dtype},
    {"optimizer", &RequestSpec::optimizer},
    {"finetune", &RequestSpec::finetune},
    {"lora_rank", &RequestSpec::lora_rank},
    {"lora_embeddings", &RequestSpec::lora_embeddings},
    {"fused_loss", &RequestSpec::fused_loss},
    {"flash_attention", &RequestSpec::flash_attention},
    {"instances", &RequestSpec::instances},
    {"count", &RequestSpec::count},
    {"max_gpus", &RequestSpec::max_gpus},
    {"region", &RequestSpec::region},
    {"market", &RequestSpec::market},
    {"stack", &RequestSpec::stack},
    {"collectives", &RequestSpec::collectives},
    {"launchable", &RequestSpec::launchable},
    {"dp", &RequestSpec::dp},
    {"tp", &RequestSpec::tp},
    {"pp", &RequestSpec::pp},
    {"vpp", &RequestSpec::vpp},
    {"cp", &RequestSpec::cp},
    {"ep", &RequestSpec::ep},
    {"etp", &RequestSpec::etp},
    {"zero_stage", &RequestSpec::zero_stage},
    {"sharding", &RequestSpec::sharding},
    {"shard_degree", &RequestSpec::shard_degree},
    {"micro_batch", &RequestSpec::micro_batch},
    {"recompute", &RequestSpec::recompute},
    {"recompute_layers", &RequestSpec::recompute_layers},
    {"offload", &RequestSpec::offload},
    {"sequence_parallel", &RequestSpec::sequence_parallel},
    {"checkpoint_storage", &RequestSpec::checkpoint_storage},
    {"checkpoint_mode", &RequestSpec::checkpoint_mode},
    {"dataset", &RequestSpec::dataset},
    {"dataset_files", &RequestSpec::dataset_files},
    {"sample_size", &RequestSpec::sample_size},
    {"input_mode", &RequestSpec::input_mode},
    {"data_region", &RequestSpec::data_region},
    {"jobs", &RequestSpec::jobs},
    {"job_gap", &RequestSpec::job_gap},
    {"warm_pool", &RequestSpec::warm_pool},
    {"deadline", &RequestSpec::deadline},
    {"confidence", &RequestSpec::confidence},
    {"budget", &RequestSpec::budget},
    {"max_hourly", &RequestSpec::max_hourly},
    {"min_headroom", &RequestSpec::min_headroom},
    {"max_oom_probability", &RequestSpec::max_oom_probability},
    {"objective", &RequestSpec::objective},
    {"cost_weight", &RequestSpec::cost_weight},
    {"top", &RequestSpec::top},
    {"what_if", &RequestSpec::what_if},
});
static_assert(kNames.size() == sizeof(RequestSpec) / sizeof(Text), "a member of RequestSpec has no name");

struct ForeignWord {
  std::string_view name;
  std::string_view hint;
};
constexpr auto kForeignWords = std::to_array<ForeignWord>({
    {"epochs", "give --tokens: samples x tokens of a sample x epochs"},
    {"samples", "give --tokens: samples x tokens of a sample x epochs"},
    {"steps", "give --tokens: steps x --global-batch x --seq-len"},
    {"max_steps", "give --tokens: steps x --global-batch x --seq-len"},
    {"batch_size", "give --global-batch for the sequences of a step, or --micro-batch for those of a device"},
    {"gpus", "give --count for the instances, or --max-gpus"},
    {"nodes", "give --count"},
    {"instance_count", "give --count"},
    {"instance_type", "give --instances"},
    {"precision", "give --dtype"},
    {"lora", "give --finetune lora"},
    {"qlora", "give --finetune qlora"},
    {"spot", "give --market spot"},
});

/// `instances=X,count=4`: where the second setting begins; npos if there is none.
std::size_t second_setting(std::string_view value) {
  for (std::size_t comma = value.find(','); comma != std::string_view::npos; comma = value.find(',', comma + 1)) {
    const std::string_view rest = value.substr(comma + 1);
    std::string name(rest.substr(0, std::min(rest.find('='), rest.size())));
    std::replace(name.begin(), name.end(), '-', '_');
    const bool known = std::any_of(kNames.begin(), kNames.end(), [&](const RequestName& n) { return n.name == name; });
    if (known && name.size() < rest.size()) return comma;
  }
  return std::string_view::npos;
}

}  // namespace

std::string hint_for_foreign_word(std::string_view name) {
  std::string wanted(name);
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  const auto* word =
      std::find_if(kForeignWords.begin(), kForeignWords.end(), [&](const ForeignWord& w) { return w.name == wanted; });
  return word == kForeignWords.end() ? std::string() : std::string(word->hint);
}

std::span<const RequestName> request_names() { return kNames; }

Result<void> assign(RequestSpec& spec, std::string_view name, std::string value, std::string_view where) {
  std::string wanted(name);
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  const auto* known =
      std::find_if(kNames.begin(), kNames.end(), [&](const RequestName& n) { return n.name == wanted; });
  if (known == kNames.end()) {
    std::vector<std::string> names;
    for (const RequestName& n : kNames) names.emplace_back(n.name);
    Diagnostic unknown = unknown_name("member of a request", name, where, names);
    if (std::string hint = hint_for_foreign_word(name); !hint.empty()) unknown.hint = std::move(hint);
    return tl::unexpected<Diagnostics>({std::move(unknown)});
  }
  if (value.empty()) {
    return fail("missing-value", std::string(where), fmt::format("{} has no value", name),
                fmt::format("write {}=VALUE", name));
  }
  if (!is_utf8(value)) {
    return fail("bad-encoding", std::string(where), fmt::format("the value of {} is not UTF-8 text", name),
                "write it in UTF-8");
  }
  spec.*known->field = std::move(value);
  return {};
}

Result<RequestSpec> read_request_words(std::string_view words, RequestSpec base, std::string_view where) {
  Diagnostics faults;
  for (std::size_t begin = words.find_first_not_of(" \t\n"); begin < words.size();) {
    const std::size_t end = std::min(words.size(), words.find_first_of(" \t\n", begin));
    const std::string_view word = words.substr(begin, end - begin);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      faults.push_back({"bad-request", std::string(where), quote(word) + " sets nothing",
                        "write NAME=VALUE, such as params=13B, or the path of a plan file"});
    } else if (const std::size_t comma = second_setting(word); comma != std::string_view::npos) {
      faults.push_back(
          {"bad-request", std::string(where), quote(word) + " sets two things at once",
           fmt::format("write blanks between words: '{} {}'", word.substr(0, comma), word.substr(comma + 1))});
    } else if (const auto set = assign(base, word.substr(0, equals), std::string(word.substr(equals + 1)), where);
               !set) {
      faults.insert(faults.end(), set.error().begin(), set.error().end());
    }
    begin = words.find_first_not_of(" \t\n", end);
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return base;
}

std::string request_key(const RequestSpec& spec) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const RequestName& n : kNames) {
    if (const Text& value = spec.*n.field) out[std::string(n.name)] = *value;
  }
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace smplan
