#include "catalogs/execution.hpp"

#include <utility>

#include "base/words.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<Toggle, 3> kToggles = {{{Toggle::Default, "default"}, {Toggle::Off, "off"}, {Toggle::On, "on"}}};
constexpr EnumNames<Compile, 4> kCompiles = {{{Compile::Default, "default"},
                                              {Compile::Off, "off"},
                                              {Compile::Layers, "layers"},
                                              {Compile::LayersAndLoss, "layers+loss"}}};
constexpr EnumNames<LossKernel, 5> kLossKernels = {{{LossKernel::Default, "default"},
                                                    {LossKernel::Whole, "whole"},
                                                    {LossKernel::Fused, "fused"},
                                                    {LossKernel::InPlace, "in-place"},
                                                    {LossKernel::Linear, "linear"}}};
constexpr EnumNames<AttentionClass, 3> kAttentionClasses = {
    {{AttentionClass::Default, "default"}, {AttentionClass::Flash2, "flash2"}, {AttentionClass::Vendor, "vendor"}}};
constexpr EnumNames<BaseFormat, 4> kBaseFormats = {{{BaseFormat::Default, "default"},
                                                    {BaseFormat::Fp32, "fp32"},
                                                    {BaseFormat::Int8, "int8"},
                                                    {BaseFormat::Fp8, "fp8"}}};
constexpr EnumNames<TensorOverlap, 3> kTensorOverlaps = {
    {{TensorOverlap::Default, "default"}, {TensorOverlap::Off, "off"}, {TensorOverlap::Async, "async"}}};
constexpr EnumNames<ContextExchange, 3> kContextExchanges = {{{ContextExchange::Default, "default"},
                                                              {ContextExchange::Ring, "ring"},
                                                              {ContextExchange::AllToAll, "all-to-all"}}};
constexpr EnumNames<MoeDispatcher, 3> kMoeDispatchers = {
    {{MoeDispatcher::Default, "default"}, {MoeDispatcher::AllToAll, "all-to-all"}, {MoeDispatcher::DeepEp, "deepep"}}};
constexpr EnumNames<MoeRouter, 2> kMoeRouters = {{{MoeRouter::Default, "default"}, {MoeRouter::Balanced, "balanced"}}};
constexpr EnumNames<CudaGraphs, 4> kCudaGraphs = {{{CudaGraphs::Default, "default"},
                                                   {CudaGraphs::Router, "router"},
                                                   {CudaGraphs::Layers, "layers"},
                                                   {CudaGraphs::Iteration, "iteration"}}};
constexpr EnumNames<LayerModule, kLayerModules> kModules = {{{LayerModule::CoreAttention, "core_attn"},
                                                             {LayerModule::LatentUpProjection, "mla_up_proj"},
                                                             {LayerModule::Norms, "layernorm"},
                                                             {LayerModule::ExpertActivation, "moe_act"},
                                                             {LayerModule::DenseMlp, "mlp"},
                                                             {LayerModule::SharedExperts, "shared_experts"},
                                                             {LayerModule::Experts, "moe"}}};

/// Sets a member by the name of its value; false where there is none of that name.
using Set = bool (*)(Execution&, std::string_view value);
template <auto Member, auto Parse>
bool set(Execution& execution, std::string_view name) {
  const auto value = Parse(name);
  if (value) execution.*Member = *value;
  return value.has_value();
}

/// What frameworks differ in. Of all else every script may have its own way.
const std::vector<std::pair<std::string_view, Set>>& offered_members() {
  static const std::vector<std::pair<std::string_view, Set>> kMembers{
      {"compile", set<&Execution::compile, compile_from>},
      {"loss_kernel", set<&Execution::loss_kernel, loss_kernel_from>},
      {"liger_kernels", set<&Execution::liger_kernels, toggle_from>},
      {"tensor_overlap", set<&Execution::tensor_overlap, tensor_overlap_from>},
      {"gradient_overlap", set<&Execution::gradient_overlap, toggle_from>},
      {"context_exchange", set<&Execution::context_exchange, context_exchange_from>},
      {"moe_dispatcher", set<&Execution::moe_dispatcher, moe_dispatcher_from>},
      {"moe_router", set<&Execution::moe_router, moe_router_from>},
      {"expert_overlap", set<&Execution::expert_overlap, toggle_from>},
      {"fused_routing", set<&Execution::fused_routing, toggle_from>},
      {"cuda_graphs", set<&Execution::cuda_graphs, cuda_graphs_from>},
      {"recompute_modules", set<&Execution::recompute_modules, layer_modules_from>},
      {"half_gradients", set<&Execution::half_gradients, toggle_from>},
      {"half_moments", set<&Execution::half_moments, toggle_from>},
      {"base_format", set<&Execution::base_format, base_format_from>},
      {"empty_cache", set<&Execution::empty_cache, toggle_from>},
      {"reentrant_checkpoint", set<&Execution::reentrant_checkpoint, toggle_from>},
  };
  return kMembers;
}

}  // namespace

std::vector<Execution> read_offers(ObjectReader& reader) {
  std::vector<Execution> out;
  const auto object = reader.optional_value("offers");
  if (!object) return out;
  ObjectReader offers(*object, reader.diagnostics());
  for (const auto& [member, set] : offered_members()) {
    if (!offers.has(member)) {
      offers.ignore(member);
      continue;
    }
    for (const JsonValue& item : offers.array(member)) {
      const std::size_t faults = reader.diagnostics().size();
      const std::string name = item.as_string(reader.diagnostics());
      Execution offered;
      if (reader.diagnostics().size() != faults) continue;
      if (set(offered, name) && offered != Execution{}) {
        out.push_back(offered);
      } else {
        reader.diagnostics().push_back({"unknown-name", item.location(),
                                        "unknown value " + quote(name) + " of " + std::string(member),
                                        "write a value of the flag of that name, but default (smplan plan --help)"});
      }
    }
  }
  offers.finish();
  return out;
}

std::string_view to_string(Toggle toggle) { return name_of(kToggles, toggle); }
std::optional<Toggle> toggle_from(std::string_view name) {
  for (const std::string_view on : {"true", "yes", "1"}) {
    if (name == on) return Toggle::On;
  }
  for (const std::string_view off : {"false", "no", "0"}) {
    if (name == off) return Toggle::Off;
  }
  return value_of(kToggles, name);
}

std::string_view to_string(Compile compile) { return name_of(kCompiles, compile); }
std::optional<Compile> compile_from(std::string_view name) {
  const std::optional<Toggle> toggle = toggle_from(name);
  if (toggle == Toggle::On) return Compile::Layers;
  return toggle == Toggle::Off ? Compile::Off : value_of(kCompiles, name);
}

std::string_view to_string(LossKernel kernel) { return name_of(kLossKernels, kernel); }
std::optional<LossKernel> loss_kernel_from(std::string_view name) {
  if (name == "liger" || name == "chunked" || name == "cut") return LossKernel::Linear;
  return value_of(kLossKernels, name);
}

std::string_view to_string(AttentionClass kernel) { return name_of(kAttentionClasses, kernel); }
std::optional<AttentionClass> attention_class_from(std::string_view name) { return value_of(kAttentionClasses, name); }

std::string_view to_string(BaseFormat format) { return name_of(kBaseFormats, format); }
std::optional<BaseFormat> base_format_from(std::string_view name) { return value_of(kBaseFormats, name); }

std::string_view to_string(TensorOverlap overlap) { return name_of(kTensorOverlaps, overlap); }
std::optional<TensorOverlap> tensor_overlap_from(std::string_view name) { return value_of(kTensorOverlaps, name); }

std::string_view to_string(ContextExchange exchange) { return name_of(kContextExchanges, exchange); }
std::optional<ContextExchange> context_exchange_from(std::string_view name) {
  if (name == "p2p") return ContextExchange::Ring;
  if (name == "a2a" || name == "ulysses") return ContextExchange::AllToAll;
  return value_of(kContextExchanges, name);
}

std::string_view to_string(MoeDispatcher dispatcher) { return name_of(kMoeDispatchers, dispatcher); }
std::optional<MoeDispatcher> moe_dispatcher_from(std::string_view name) {
  if (name == "alltoall") return MoeDispatcher::AllToAll;
  if (name == "flex" || name == "hybridep") return MoeDispatcher::DeepEp;
  return value_of(kMoeDispatchers, name);
}

std::string_view to_string(MoeRouter router) { return name_of(kMoeRouters, router); }
std::optional<MoeRouter> moe_router_from(std::string_view name) { return value_of(kMoeRouters, name); }

std::string_view to_string(CudaGraphs graphs) { return name_of(kCudaGraphs, graphs); }
std::optional<CudaGraphs> cuda_graphs_from(std::string_view name) { return value_of(kCudaGraphs, name); }

std::string_view to_string(LayerModule module) { return name_of(kModules, module); }
std::optional<LayerModule> layer_module_from(std::string_view name) { return value_of(kModules, name); }

std::string to_string(LayerModules modules) {
  std::string out;
  for (const auto& [module, name] : kModules) {
    if (modules.has(module)) out += (out.empty() ? "" : "+") + std::string(name);
  }
  return out.empty() ? "default" : out;
}

std::optional<LayerModules> layer_modules_from(std::string_view name) {
  LayerModules out;
  if (name == "default") return out;
  for (;;) {
    const std::size_t plus = name.find('+');
    const std::optional<LayerModule> module = layer_module_from(name.substr(0, plus));
    if (!module || out.has(*module)) return std::nullopt;
    out.add(*module);
    if (plus == std::string_view::npos) return out;
    name.remove_prefix(plus + 1);
  }
}

}  // namespace smplan
