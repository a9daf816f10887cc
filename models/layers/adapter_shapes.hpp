#pragma once

#include "models/job/workload.hpp"
#include "models/layers/linears.hpp"

namespace smplan {

/// Low-rank adapters of one shape.
struct AdapterShape {
  LinearPart part;
  std::int64_t inputs;
  std::int64_t outputs;
  std::int64_t rank;
  TensorCut cut = TensorCut::None;  ///< as that of the layer beside
  std::int64_t copies = 1;

  [[nodiscard]] std::int64_t parameters() const { return rank * (inputs + outputs); }
  /// Copies that one token passes: of experts those that it is routed to.
  [[nodiscard]] std::int64_t visited(const Architecture& a) const {
    return part == LinearPart::Expert ? copies / a.moe.n_experts * a.moe.top_k : copies;
  }
};

/// Whether matrices of this part carry adapters.
inline bool carries_adapter(const Architecture& a, LinearPart part, const Lora& lora) {
  if (lora.trains_prompt()) return false;
  const bool linear = reaches_mlps(lora.targets);
  const bool experts = lora.targets == LoraTargets::Linear;
  const bool attention = lora.targets != LoraTargets::QueryValue;
  switch (part) {
    case LinearPart::Query:
    case LinearPart::Value:
    case LinearPart::LatentDown:
    case LinearPart::LatentUp:
      return true;
    case LinearPart::Key:
      return attention || lora.layers.joins_attention;
    case LinearPart::AttentionOutput:
    case LinearPart::JoinedEmbedding:
      return attention || a.has_latent_attention();
    case LinearPart::DenseMlp:
    case LinearPart::SharedExpert:
      return linear && !(experts && lora.layers.experts == ExpertAdapters::Fused);
    case LinearPart::Expert:
      return experts && lora.layers.experts != ExpertAdapters::None;
    case LinearPart::Router:
      return experts && lora.layers.router;
    case LinearPart::StateOutput:
      return linear && lora.layers.state_output;
    case LinearPart::LayerEmbedding:
      return false;
    default:
      return linear;
  }
}

/// Calls `visit(shape)` for the adapters of a layer, as the framework's code cuts it. The one place that knows which
/// there are: their parameters, time, kept values and launches are sums over it.
template <typename Visit>
void for_each_adapter(const Architecture& a, const LayerSpec& spec, const Lora& lora, Visit&& visit) {
  const AdaptedLayers& layers = lora.layers;
  for_each_linear(a, spec, [&](const Linear& l) {
    if (!carries_adapter(a, l.part, lora)) return;
    AdapterShape shape{l.part, l.inputs, l.outputs, lora.rank, l.cut, l.copies};
    // Matrices that are one layer have one adapter.
    const auto join = [&] {
      shape.copies /= l.beside;
      shape.outputs *= l.beside;
    };
    switch (l.part) {
      case LinearPart::Key:
      case LinearPart::Value:
        if (layers.joins_attention) return;  // with the queries
        break;
      case LinearPart::Query:
        if (layers.joins_attention) {
          const AttentionWidths heads = attention_widths(a, spec);
          shape.outputs += heads.projections * heads.keys();
        }
        break;
      case LinearPart::StateInputs:
        // Of about the same widths; the last has what is over.
        shape.outputs = l.outputs / layers.state_inputs;
        shape.copies = layers.state_inputs - 1;
        if (shape.copies > 0) visit(shape);
        shape.outputs = l.outputs - shape.copies * shape.outputs;
        shape.copies = 1;
        break;
      case LinearPart::DenseMlp:
        if (layers.joins_mlp) join();
        break;
      case LinearPart::SharedExpert:
        if (layers.joins_shared_experts) join();
        break;
      case LinearPart::Expert:
        // Each of the two halves has all of twice the rank.
        if (layers.experts == ExpertAdapters::Fused) {
          shape.rank *= l.beside;
          join();
        }
        break;
      default:
        break;
    }
    visit(shape);
  });
}

}  // namespace smplan
