#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "catalogs/architecture.hpp"

namespace smplan {

/// The keys of one Hugging Face config.json. Such files have many keys that decide no width: unknown ones are
/// fine, needed ones must be there, under any of the names that the model's generations use.
class HfConfig {
 public:
  using Names = std::initializer_list<std::string_view>;

  HfConfig(JsonValue value, std::string model_type, Diagnostics& out)
      : value_(std::move(value)), model_type_(std::move(model_type)), out_(out) {}

  /// A required whole number in [0, kMax].
  std::int64_t integer(Names names, std::int64_t max = kMax);
  std::int64_t integer_or(Names names, std::int64_t fallback, std::int64_t max = kMax);
  bool flag(std::string_view name, bool fallback);
  std::string text_or(std::string_view name, std::string_view fallback);
  /// The first of these keys that is present and not null.
  [[nodiscard]] std::optional<JsonValue> find(Names names) const;
  /// Width of a sliding window; an explicit null switches it off, an absent key means `fallback`.
  std::int64_t window(std::int64_t fallback);
  /// Reports a setting that changes the model in a way that Architecture cannot say.
  void refuse_unless(bool condition, std::string_view key, std::string message);
  Diagnostics& diagnostics() { return out_; }

  /// Above every published width, and small enough that products of two cannot overflow.
  static constexpr std::int64_t kMax = std::int64_t{1} << 24;

 private:
  std::int64_t bounded(const JsonValue& value, std::int64_t max);

  JsonValue value_;
  std::string model_type_;
  Diagnostics& out_;
};

/// How the config of one `model_type` becomes an Architecture.
struct HfFamily {
  std::string_view model_type;
  void (*read)(HfConfig&, Architecture&);
};

/// LLaMA and what follows its block: RMSNorm, rotary positions, gated MLP, with experts or without.
std::span<const HfFamily> hf_llama_families();
/// GPT-2 and what follows its block: layer norms and a plain two-matrix MLP; encoders and T5 too.
std::span<const HfFamily> hf_gpt_families();

/// Attention beside state mixers: Nemotron-H, Nemotron 3, Qwen3-Next and what follows it.
std::span<const HfFamily> hf_hybrid_families();

// Shared by the groups.
void read_hf_attention(HfConfig& c, Architecture& a);
/// Names that all families since LLaMA share.
void read_hf_common(HfConfig& c, Architecture& a, bool tied_by_default);
void read_llama(HfConfig& c, Architecture& a);
void read_qwen_experts(HfConfig& c, Architecture& a);
/// The one that every token passes, through a gate of its own.
void read_qwen_shared_expert(HfConfig& c, Architecture& a);
/// As DeepSeek names them.
void read_hf_routed_experts(HfConfig& c, Architecture& a);

}  // namespace smplan
