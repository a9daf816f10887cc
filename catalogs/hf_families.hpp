#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/architecture.hpp"

namespace smplan {

/// A model type that reads like another: a row of catalogs/data/huggingface/families.json.
struct HfVariant {
  std::string model_type;
  std::string like;                       ///< the model type whose reader it takes
  std::optional<JsonValue> names;         ///< that reader's keys and this type's names for them
  std::optional<JsonValue> defaults;      ///< of keys that files of this type leave out
  std::optional<JsonValue> architecture;  ///< what the block has otherwise, see apply_hf_variant()
};

/// The keys of one Hugging Face config.json. Such files have many keys that decide no width: unknown ones are
/// fine, needed ones must be there, under any of the names that the model's generations use.
class HfConfig {
 public:
  using Names = std::initializer_list<std::string_view>;

  /// `whole` is the file of which `value` is the part on text.
  HfConfig(JsonValue value, std::string model_type, Diagnostics& out, const HfVariant* variant = nullptr,
           const JsonValue* whole = nullptr)
      : value_(std::move(value)), model_type_(std::move(model_type)), out_(out), variant_(variant), whole_(whole) {}

  /// A required whole number in [0, kMax].
  std::int64_t integer(Names names, std::int64_t max = kMax);
  std::int64_t integer_or(Names names, std::int64_t fallback, std::int64_t max = kMax);
  bool flag(std::string_view name, bool fallback);
  /// Layers: their number, or that of the list which says what each of them is.
  std::int64_t layers();
  /// Whether embedding and head share their weights. Of a model of several parts the top of the file decides, which is
  /// where transformers 5 writes it; the part on text where the top is silent.
  bool tied(bool fallback);
  /// `rope_theta`, by any of its names; 0 where the file does not say it.
  double rotary_base();
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
  /// What the file has under a name, under its type's or transformers' other names for it, or else its type's default.
  [[nodiscard]] std::optional<JsonValue> look_up(std::string_view name) const;

  JsonValue value_;
  std::string model_type_;
  Diagnostics& out_;
  const HfVariant* variant_ = nullptr;
  const JsonValue* whole_ = nullptr;
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

/// Types that are one of the above with other names, defaults or switches.
std::vector<HfVariant> hf_variants(Diagnostics& out);
/// Sets what the row says of the block: constants, or what a key of the file decides (`{"key": "use_bias", "otherwise":
/// false}`, for numbers with `yes` and `no`).
void apply_hf_variant(const HfVariant& variant, HfConfig& c, Architecture& a);

/// Windows as `layer_types` has them, where the file lists its layers; else every n-th layer is without, of
/// `sliding_window_pattern` n. Refuses what Architecture cannot say.
void read_hf_layer_types(HfConfig& c, Architecture& a);
/// Windows of this width on so many of the layers.
void set_windows(HfConfig& c, Architecture& a, std::int64_t width, std::int64_t windowed, std::string_view key);
/// What the file describes and the Architecture leaves out, in words: towers for images and sound with their parameters
/// where they can be counted, blocks that predict further tokens. Empty: nothing.
std::string hf_left_out(const JsonValue& whole, HfConfig& text, const Architecture& a);

// Shared by the groups.
/// Norms of queries and keys over all heads at once, where Architecture counts those over one.
void widen_qk_norm(Architecture& a);
/// One learned number for each head and layer beside the scores of attention.
void add_attention_sinks(Architecture& a);
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
