#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "planner/validation/adapter_methods.hpp"
#include "planner/validation/phrases.hpp"
#include "planner/validation/run_resolution.hpp"
#include "planner/validation/run_settings.hpp"

namespace smplan {
namespace {

/// `full fine-tuning`, `SFT`, `pretraining`: every weight is trained.
bool trains_all(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 5> kBegins{"full", "sft", "pretrain", "finetun", "fft"};
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(kBegins.begin(), kBegins.end(), [&](auto begin) { return word.rfind(begin, 0) == 0; });
  });
}

/// The number after `r=`, `rank` or `r`: `LoRA (r=16)`.
std::optional<std::int64_t> rank_among(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& digits = words[i + 1];
    const bool number = digits.size() < 7 && digits.find_first_not_of("0123456789") == std::string::npos;
    if ((words[i] == "r" || words[i] == "rank") && number && std::stoi(digits) > 0) return std::stoi(digits);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Method> method_in(std::string_view cell) {
  // `lora+emb/head trainable`: what stands behind the plus is trained whole.
  const std::string stated = lower_case(cell);
  Method method;
  method.kind = stated.substr(0, stated.find("+emb"));
  method.trains_embeddings = method.kind != stated;
  if (method.kind == "full") method.kind.clear();
  if (method.kind.empty()) return method;
  if (const AdapterMethod* adapters = adapter_method(method.kind)) {
    method.kind = adapters->name;
    return method;
  }
  const Phrases phrases(method.kind);
  const std::vector<std::string> words = plain_words(method.kind);
  method.rank = rank_among(words);
  method.kind.clear();
  if (phrases.say_word("qlora") || phrases.say_word("q-lora")) {
    method.kind = "qlora";
  } else if (phrases.say_word("lora")) {
    method.kind = says_four_bit_weights(phrases) ? "qlora" : "lora";
  } else if (!trains_all(words) && !denies(stated)) {
    return std::nullopt;
  }
  return method;
}

std::optional<bool> four_bits_in(std::string_view quant) {
  const Phrases words(quant);
  if (denies(quant)) return false;
  if (says_four_bit_weights(words) || words.say_word("fp4")) return true;
  constexpr std::array<std::string_view, 5> kWhole{"bf16", "bfloat16", "fp16", "float16", "16"};
  if (words.say_any(kWhole)) return false;
  return std::nullopt;
}

FineTune trained_part(const MeasuredRun& run) {
  const std::optional<Method> method = method_in(run.method);
  if (four_bits_in(run.quant).value_or(false)) return FineTune::Qlora;
  if (!run.method.empty()) {
    if (!method || method->kind.empty()) return FineTune::Full;
    return method->kind == "qlora" ? FineTune::Qlora : run.lora.value_or(true) ? FineTune::Lora : FineTune::Full;
  }
  // Words beside a stated method or flag may speak of other rows of its table, but none trains weights of 4 bits whole.
  const std::string words = run.notes + "; " + run.framework + "; " + run.model;
  if (!run.lora.value_or(true)) return says_four_bit_format(Phrases(words)) ? FineTune::Qlora : FineTune::Full;
  if (says_four_bit_weights(Phrases(words))) return FineTune::Qlora;
  const bool named = run.lora_rank || !run.lora_targets.empty() || Phrases(run.framework).say_word("lora");
  return run.lora.value_or(named) ? FineTune::Lora : FineTune::Full;
}

}  // namespace smplan
