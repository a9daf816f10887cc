#include <utility>

#include "catalogs/model_modules.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {

/// Family of the catalog to layer class. Source: huggingface/transformers v5.3, models/*/modeling_*.py, 2026-08; of
/// InternLM2, GLM, Baichuan2 and DeepSeek-MoE the code beside their checkpoints.
constexpr std::pair<std::string_view, std::string_view> kLayerClasses[] = {
    {"llama", "LlamaDecoderLayer"},
    {"smollm", "LlamaDecoderLayer"},
    {"yi", "LlamaDecoderLayer"},
    {"code-llama", "LlamaDecoderLayer"},
    {"open-llama", "LlamaDecoderLayer"},
    {"deepseek-llm", "LlamaDecoderLayer"},
    {"falcon3", "LlamaDecoderLayer"},
    {"mistral", "MistralDecoderLayer"},
    {"mixtral", "MixtralDecoderLayer"},
    {"qwen2", "Qwen2DecoderLayer"},
    {"qwen2-moe", "Qwen2MoeDecoderLayer"},
    {"qwen3", "Qwen3DecoderLayer"},
    {"qwen3-moe", "Qwen3MoeDecoderLayer"},
    {"qwen3-next", "Qwen3NextDecoderLayer"},
    {"deepseek", "DeepseekV3DecoderLayer"},
    {"gemma", "GemmaDecoderLayer"},
    {"falcon", "FalconDecoderLayer"},
    {"phi", "PhiDecoderLayer"},
    {"gptj", "GPTJBlock"},
    {"gpt-neox", "GPTNeoXLayer"},
    {"gpt", "GPT2Block"},
    {"bloom", "BloomBlock"},
    {"opt", "OPTDecoderLayer"},
    {"mpt", "MptBlock"},
    {"gpt-oss", "GptOssDecoderLayer"},
    {"nemotron", "NemotronDecoderLayer"},
    {"nemotron-h", "NemotronHBlock"},
    {"bert", "BertLayer"},
    {"roberta", "RobertaLayer"},
    {"t5", "T5Block"},
    {"vit", "ViTLayer"},
    {"starcoder2", "Starcoder2DecoderLayer"},
    {"gpt-bigcode", "GPTBigCodeBlock"},
    {"gpt-neo", "GPTNeoBlock"},
    {"smollm3", "SmolLM3DecoderLayer"},
    {"stablelm", "StableLmDecoderLayer"},
    {"cohere", "CohereDecoderLayer"},
    {"dbrx", "DbrxBlock"},
    {"olmo", "OlmoDecoderLayer"},
    {"olmo2", "Olmo2DecoderLayer"},
    {"olmoe", "OlmoeDecoderLayer"},
    {"granite", "GraniteDecoderLayer"},
    {"seed-oss", "SeedOssDecoderLayer"},
    {"glm4-moe", "Glm4MoeDecoderLayer"},
    {"minimax-m2", "MiniMaxM2DecoderLayer"},
    {"distilbert", "TransformerBlock"},
    {"xlm-roberta", "XLMRobertaLayer"},
    {"mt5", "MT5Block"},
    {"internlm2", "InternLM2DecoderLayer"},
    {"glm", "GLMBlock"},
    {"deepseek-moe", "DeepseekDecoderLayer"},
};

/// Later generations of a family that transformers gives classes of their own.
constexpr std::pair<std::string_view, std::string_view> kGenerations[] = {
    {"baichuan2-7b", "DecoderLayer"},
    {"baichuan2-13b", "BaichuanLayer"},
    {"gemma-2-", "Gemma2DecoderLayer"},
    {"gemma-3-", "Gemma3DecoderLayer"},
    {"gemma-4-", "Gemma4TextDecoderLayer"},
    {"llama-4-", "Llama4TextDecoderLayer"},
    {"phi-3-", "Phi3DecoderLayer"},
    {"phi-4", "Phi3DecoderLayer"},
    {"qwen3.5-", "Qwen3_5DecoderLayer"},
    {"qwen3.6-", "Qwen3_5MoeDecoderLayer"},
    {"deepseek-v2", "DeepseekV2DecoderLayer"},
};

}  // namespace

std::string_view layer_class(const Architecture& model) {
  for (const auto& entry : kGenerations) {
    if (model.name.substr(0, entry.first.size()) == entry.first) return entry.second;
  }
  for (const auto& entry : kLayerClasses) {
    if (model.family == entry.first) return entry.second;
  }
  // The family of a config.json is transformers' own name of the type.
  const ModelModules* modules = modules_of(model.family);
  return modules != nullptr && modules->layers.size() == 1 ? std::string_view(modules->layers.front())
                                                           : std::string_view();
}

}  // namespace smplan
