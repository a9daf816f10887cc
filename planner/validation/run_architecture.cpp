#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.hpp"
#include "base/words.hpp"
#include "catalogs/model_names.hpp"
#include "planner/validation/phrases.hpp"
#include "planner/validation/run_resolution.hpp"
#include "planner/validation/run_words.hpp"

namespace smplan {
namespace {

/// `Llama3-70B(trunc)` -> `Llama3-70B`.
std::string without_brackets(std::string_view name) {
  std::string kept;
  int depth = 0;
  for (const char c : name) {
    if (c == '(') ++depth;
    if (depth == 0) kept.push_back(c);
    if (c == ')' && depth > 0) --depth;
  }
  return kept;
}

/// `Llama3-70B(trunc)` -> `llama370b`.
std::string bare_name(std::string_view name) { return letters_and_digits(plain_model_name(without_brackets(name))); }

/// The widths of a preset do not describe a row that states others.
bool contradicts(const MeasuredRun& run, const Architecture& a) {
  return (run.hidden && *run.hidden != a.hidden) || (run.n_heads && *run.n_heads != a.n_heads) ||
         (run.n_experts.value_or(0) > 1 && *run.n_experts != a.moe.n_experts);
}

/// Rows mostly count the layers of encoder and decoder together; as many as the published decoder alone has are those
/// of one side, as its configuration writes them.
void override_layers(const MeasuredRun& run, Architecture& a, Assumptions& assumptions) {
  if (!run.n_layers) return;
  const std::int64_t stated = *run.n_layers;
  if (a.kind == ModelKind::EncoderDecoder) {
    if (stated == a.n_layers && stated == a.n_encoder_layers) {
      assumptions.emplace_back("n_layers counts one side of encoder and decoder");
      return;
    }
    a.n_encoder_layers = stated / 2;
    a.n_layers = stated - a.n_encoder_layers;
    return;
  }
  if (stated < a.n_layers) {
    // Cut for a benchmark: one layer stands for the leading dense ones.
    a.moe.n_leading_dense_layers = std::min<std::int64_t>(a.moe.n_leading_dense_layers, 1);
  }
  a.n_layers = stated;
}

void override_widths(const MeasuredRun& run, Architecture& a) {
  if (!a.has_latent_attention()) {
    a.n_kv_heads = run.n_kv_heads.value_or(a.n_kv_heads);
    a.head_dim = run.head_dim.value_or(a.head_dim);
  }
  a.vocab = run.vocab.value_or(a.vocab);
  if (!a.is_moe() || a.moe.n_leading_dense_layers > 0 || a.moe.layer_stride > 1) {
    a.ffn_hidden = run.ffn_hidden.value_or(a.ffn_hidden);
  }
  if (a.is_moe()) {
    if (run.top_k.value_or(0) > 0) a.moe.top_k = *run.top_k;
    if (run.expert_ffn_hidden.value_or(0) > 0) a.moe.expert_ffn_hidden = *run.expert_ffn_hidden;
  }
}

/// The vocabulary of the family that a name begins with, where all its presets share one: Nemotron-3 has Nemotron's.
std::optional<std::int64_t> vocabulary_of_family(const Catalog& catalog, std::string_view name) {
  const std::string wanted = bare_name(name);
  std::optional<std::int64_t> shared;
  for (const ModelPreset& preset : catalog.models()) {
    const Architecture& a = preset.architecture;
    const std::string family = bare_name(a.family);
    if (family.empty() || wanted.rfind(family, 0) != 0) continue;
    if (shared && *shared != a.vocab) return std::nullopt;
    shared = a.vocab;
  }
  return shared;
}

/// T5 and its kin: RMS norms, no biases, positions by distance.
bool is_t5(std::string_view model) {
  const std::vector<std::string> words = plain_words(model);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    constexpr std::array<std::string_view, 5> kBegins{"t5", "mt5", "byt5", "flant5", "ul2"};
    return std::any_of(kBegins.begin(), kBegins.end(), [&](auto begin) { return word.rfind(begin, 0) == 0; });
  });
}

void make_encoder_decoder(const MeasuredRun& run, Architecture& a, Assumptions& assumptions) {
  a.kind = ModelKind::EncoderDecoder;
  a.norm = NormKind::RmsNorm;
  a.positions = PositionEncoding::RelativeBias;
  a.max_positions = 0;
  a.qkv_bias = a.attention_output_bias = a.mlp_bias = false;
  a.n_encoder_layers = *run.n_layers / 2;
  a.n_layers = *run.n_layers - a.n_encoder_layers;
  assumptions.emplace_back("n_layers counts encoder and decoder together");
}

Result<Architecture> from_widths(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions) {
  if (!run.n_layers || !run.hidden) {
    return fail("unsupported", run.id,
                "the model '" + run.model + "' is not in the catalog and n_layers and hidden are not both stated",
                "state the widths, or use a name that 'smplan models list' shows");
  }
  Architecture a;
  a.name = run.model;
  a.n_layers = *run.n_layers;
  a.hidden = *run.hidden;
  a.head_dim = run.head_dim.value_or(0);
  if (run.n_heads) {
    a.n_heads = *run.n_heads;
  } else {
    if (a.head_dim == 0) a.head_dim = 128;
    a.n_heads = std::max<std::int64_t>(1, a.hidden / a.head_dim);
    if (run.n_kv_heads && a.n_heads % *run.n_kv_heads != 0) {
      a.n_heads = *run.n_kv_heads;
      a.head_dim = run.head_dim.value_or(0);
    }
    assumptions.push_back("n_heads is " + std::to_string(a.n_heads));
  }
  if (a.head_dim == 0) a.head_dim = std::max<std::int64_t>(1, a.hidden / a.n_heads);
  a.n_kv_heads = run.n_kv_heads.value_or(a.n_heads);
  a.gated_mlp = is_gated(run.mlp);
  if (run.mlp.empty()) {
    a.gated_mlp = run.ffn_hidden && *run.ffn_hidden != 4 * a.hidden;
    assumptions.push_back(a.gated_mlp ? "mlp is swiglu" : "mlp is gelu");
  }
  if (run.ffn_hidden) {
    a.ffn_hidden = *run.ffn_hidden;
  } else {
    a.ffn_hidden = a.gated_mlp ? (8 * a.hidden / 3 + 255) / 256 * 256 : 4 * a.hidden;
    assumptions.push_back("ffn_hidden is " + std::to_string(a.ffn_hidden));
  }
  if (run.vocab) {
    a.vocab = *run.vocab;
  } else if (const auto shared = vocabulary_of_family(catalog, run.model); shared && *shared != kGpt2Entries) {
    a.vocab = *shared;
    assumptions.push_back("vocab is " + std::to_string(a.vocab) + " (its family's)");
  } else {
    a.vocab = kGpt2Entries;
    assumptions.push_back("vocab is " + std::to_string(a.vocab) + " (GPT-2)");
  }
  if (bare_name(run.model).find("bert") != std::string::npos) a.kind = ModelKind::Encoder;
  const bool gpt_era = !a.gated_mlp;
  a.norm = gpt_era ? NormKind::LayerNorm : NormKind::RmsNorm;
  a.positions = gpt_era ? PositionEncoding::Learned : PositionEncoding::Rope;
  if (gpt_era) {
    a.max_positions = run.seq_len.value_or(0);
    a.tied_embeddings = true;
    a.qkv_bias = a.attention_output_bias = a.mlp_bias = true;
  }
  if (is_t5(run.model)) make_encoder_decoder(run, a, assumptions);
  if (run.n_experts.value_or(0) > 1) {
    if (run.top_k.value_or(0) < 1) {
      return fail("unsupported", run.id, "n_experts is stated but top_k is not", "state top_k");
    }
    a.moe.n_experts = *run.n_experts;
    a.moe.top_k = *run.top_k;
    const std::int64_t expert_width = run.expert_ffn_hidden.value_or(0);
    a.moe.expert_ffn_hidden = expert_width > 0 ? expert_width : a.ffn_hidden;
  }
  return a;
}

/// Families that no layer of a transformer describes, by words of a model's name.
std::string_view other_kind(std::string_view model) {
  constexpr std::array<std::string_view, 19> kBegins{"resnet",    "resnext",   "vgg",       "unet",      "efficientnet",
                                                     "mobilenet", "densenet",  "inception", "alexnet",   "yolo",
                                                     "rcnn",      "retinanet", "dlrm",      "diffusion", "sdxl",
                                                     "lstm",      "convnext",  "gnmt",      "tacotron"};
  constexpr std::array<std::string_view, 6> kWhole{"cnn", "rnn", "gan", "ssd", "dit", "flux"};
  for (const std::string& word : plain_words(model)) {
    for (const std::string_view begin : kBegins) {
      if (word.rfind(begin, 0) == 0) return begin;
    }
    for (const std::string_view whole : kWhole) {
      if (word == whole) return whole;
    }
  }
  return {};
}

/// A size that neither all weights nor those of one token come near speaks of another model than the widths.
void compare_size(const MeasuredRun& run, const Architecture& a, Assumptions& assumptions) {
  constexpr double kNear = 0.2;
  if (run.params_b.value_or(0) <= 0) return;
  const double stated = 1e9 * *run.params_b;
  const auto total = static_cast<double>(count_parameters(a).total());
  const auto is_near = [&](double count) { return std::abs(stated / count - 1) <= kNear; };
  if (is_near(total) || is_near(static_cast<double>(active_parameters(a)))) return;
  assumptions.push_back("params_b says " + format_count(stated) + ", the widths make " + format_count(total));
}

/// A count of parameters that holds the vocabulary twice tells of a head of its own, where the published model has none
/// (LitGPT's Falcon).
bool counts_own_head(const MeasuredRun& run, const Architecture& a) {
  if (!a.tied_embeddings || !run.params_b) return false;
  constexpr double kRounding = 0.1;  // of the head
  const auto head = static_cast<double>(a.vocab * a.hidden);
  return std::abs(*run.params_b * 1e9 - static_cast<double>(count_parameters(a).total()) - head) < kRounding * head;
}

/// A run that finished had positions for its sequences, however many the published model learned.
void extend_positions(const MeasuredRun& run, Architecture& a, Assumptions& assumptions) {
  const std::int64_t wanted = run.seq_len.value_or(0);
  if (a.positions != PositionEncoding::Learned || a.kind == ModelKind::Vision || wanted <= a.max_positions) return;
  a.max_positions = wanted;
  assumptions.push_back("the model learns " + std::to_string(wanted) + " positions");
}

}  // namespace

const ModelPreset* find_preset(const MeasuredRun& run, const Catalog& catalog) {
  if (const ModelPreset* named = catalog.find_model(without_brackets(run.model))) return named;
  // `llama31_8b`: names of files have no points. Where two models would be called so, neither is meant.
  const std::string wanted = bare_name(run.model);
  if (wanted.empty()) return nullptr;
  const ModelPreset* found = nullptr;
  for (const ModelPreset& preset : catalog.models()) {
    const auto& aliases = preset.aliases;
    if (bare_name(preset.architecture.name) != wanted &&
        std::none_of(aliases.begin(), aliases.end(), [&](const auto& alias) { return bare_name(alias) == wanted; })) {
      continue;
    }
    if (found != nullptr) return nullptr;
    found = &preset;
  }
  return found;
}

Result<Architecture> resolve_architecture(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions) {
  const ModelPreset* preset = find_preset(run, catalog);
  if (preset == nullptr && !other_kind(run.model).empty()) {
    return fail("unsupported", run.id, "the model '" + run.model + "' is no transformer of tokens",
                "language models, encoders such as BERT and vision transformers are modelled");
  }
  if (preset == nullptr || contradicts(run, preset->architecture)) {
    Result<Architecture> own = from_widths(run, catalog, assumptions);
    if (own) compare_size(run, *own, assumptions);
    return own;
  }
  Architecture a = preset->architecture;
  if (!a.layer_pattern.empty() && run.n_layers.value_or(a.n_layers) != a.n_layers) {
    return fail("unsupported", run.id,
                "n_layers is " + std::to_string(*run.n_layers) + ", and the pattern of " + a.name + " has " +
                    std::to_string(a.n_layers) + " layers",
                "state no n_layers, or that of the pattern");
  }
  if (!run.hidden) assumptions.push_back("widths are those of " + a.name);
  override_layers(run, a, assumptions);
  override_widths(run, a);
  extend_positions(run, a, assumptions);
  if (counts_own_head(run, a)) {
    a.tied_embeddings = false;
    assumptions.emplace_back("the head is not tied, by params_b");
  }
  compare_size(run, a, assumptions);
  return a;
}

}  // namespace smplan
