#include "models/job/dimensions.hpp"

#include <algorithm>
#include <array>

#include "base/words.hpp"

namespace smplan {
namespace {

using Kind = DimensionRow::Kind;
using Open = DimensionRow::Open;

constexpr std::int32_t kMostDegree = 16384;
constexpr std::int32_t kMostLayers = 1 << 20;
constexpr std::int32_t kMostPadding = 1 << 20;
constexpr std::int32_t kMostBucket = 2'000'000'000;
constexpr std::int32_t kMostThreads = 1024;

std::int32_t one(const Strategy&) { return 1; }
std::int32_t zero(const Strategy&) { return 0; }
bool always(const Strategy&) { return true; }

template <auto Member>
std::int32_t get(const Strategy& s) {
  return dimension_value(s.*Member);
}
template <auto Member>
void set(Strategy& s, std::int32_t value) {
  using T = std::remove_reference_t<decltype(s.*Member)>;
  s.*Member = from_dimension_value<T>(value);
}

template <auto Member>
std::int32_t get_execution(const Strategy& s) {
  return dimension_value(s.execution.*Member);
}
template <auto Member>
void set_execution(Strategy& s, std::int32_t value) {
  using T = std::remove_reference_t<decltype(s.execution.*Member)>;
  s.execution.*Member = from_dimension_value<T>(value);
}
template <auto Member>
bool is_told(const Strategy& s) {
  return get_execution<Member>(s) != 0;
}

template <typename T>
std::string name_of(std::int32_t value) {
  return std::string(to_string(from_dimension_value<T>(value)));
}
template <auto Parse>
std::optional<std::int32_t> parse(std::string_view name) {
  const auto value = Parse(name);
  return value ? std::optional(dimension_value(*value)) : std::nullopt;
}
/// Enumerators from the first to the last.
template <typename T>
std::vector<std::int32_t> up_to(T last) {
  std::vector<std::int32_t> values;
  for (std::int32_t v = 0; v <= dimension_value(last); ++v) values.push_back(v);
  return values;
}
template <typename T>
struct Synonym {
  std::string_view letters;
  T value;
};
template <typename T, auto Parse>
DimensionWords words(T last, std::initializer_list<Synonym<T>> synonyms = {}) {
  std::vector<std::int32_t> values = up_to(last);
  DimensionWords out{name_of<T>, parse<Parse>, values, values.size(), {}};
  for (const Synonym<T>& s : synonyms) out.synonyms.push_back({s.letters, dimension_value(s.value)});
  return out;
}
/// Names of FSDP (ShardingStrategy, FSDP1 and 2), of DeepSpeed (`stage`) and of Megatron (use_distributed_optimizer).
DimensionWords sharding_words() {
  return words<Sharding, sharding_from>(Sharding::FsdpHybrid, {{"no", Sharding::None},
                                                               {"noshard", Sharding::None},
                                                               {"ddp", Sharding::None},
                                                               {"zero0", Sharding::None},
                                                               {"stage0", Sharding::None},
                                                               {"0", Sharding::None},
                                                               {"zerostage1", Sharding::Zero1},
                                                               {"stage1", Sharding::Zero1},
                                                               {"1", Sharding::Zero1},
                                                               {"distributedoptimizer", Sharding::Zero1},
                                                               {"usedistributedoptimizer", Sharding::Zero1},
                                                               {"distopt", Sharding::Zero1},
                                                               {"zerostage2", Sharding::Zero2},
                                                               {"stage2", Sharding::Zero2},
                                                               {"2", Sharding::Zero2},
                                                               {"zerostage3", Sharding::Zero3},
                                                               {"stage3", Sharding::Zero3},
                                                               {"3", Sharding::Zero3},
                                                               {"fsdp", Sharding::FsdpFull},
                                                               {"fsdp1", Sharding::FsdpFull},
                                                               {"fsdp2", Sharding::FsdpFull},
                                                               {"full", Sharding::FsdpFull},
                                                               {"fullshard", Sharding::FsdpFull},
                                                               {"fullyshard", Sharding::FsdpFull},
                                                               {"fsdpfullshard", Sharding::FsdpFull},
                                                               {"gradop", Sharding::FsdpGradOp},
                                                               {"shardgradop", Sharding::FsdpGradOp},
                                                               {"hsdp", Sharding::FsdpHybrid},
                                                               {"hybridshard", Sharding::FsdpHybrid},
                                                               {"fsdphybridshard", Sharding::FsdpHybrid}});
}
/// Switches mean whole layers, as PyTorch's and Hugging Face's do; `op` and `sac` are torchtitan's policies.
DimensionWords recompute_words() {
  return words<Recompute, recompute_from>(Recompute::Full, {{"no", Recompute::None},
                                                            {"off", Recompute::None},
                                                            {"false", Recompute::None},
                                                            {"0", Recompute::None},
                                                            {"norecompute", Recompute::None},
                                                            {"op", Recompute::Selective},
                                                            {"sac", Recompute::Selective},
                                                            {"attention", Recompute::Selective},
                                                            {"attn", Recompute::Selective},
                                                            {"yes", Recompute::Full},
                                                            {"on", Recompute::Full},
                                                            {"true", Recompute::Full},
                                                            {"1", Recompute::Full},
                                                            {"all", Recompute::Full},
                                                            {"uniform", Recompute::Full},
                                                            {"block", Recompute::Full},
                                                            {"layers", Recompute::Full},
                                                            {"ac", Recompute::Full},
                                                            {"gc", Recompute::Full},
                                                            {"checkpointing", Recompute::Full},
                                                            {"activationcheckpointing", Recompute::Full},
                                                            {"gradientcheckpointing", Recompute::Full}});
}
/// A switch, or the kernel of attention by its name.
DimensionWords attention_words() {
  return words<Toggle, toggle_from>(Toggle::On, {{"flash", Toggle::On},
                                                 {"fa", Toggle::On},
                                                 {"fa2", Toggle::On},
                                                 {"fa3", Toggle::On},
                                                 {"flashattn", Toggle::On},
                                                 {"flashattention", Toggle::On},
                                                 {"flashattention2", Toggle::On},
                                                 {"flashattention3", Toggle::On},
                                                 {"sdpa", Toggle::On},
                                                 {"cudnn", Toggle::On},
                                                 {"xformers", Toggle::On},
                                                 {"memoryefficient", Toggle::On},
                                                 {"flex", Toggle::On},
                                                 {"te", Toggle::On},
                                                 {"eager", Toggle::Off},
                                                 {"math", Toggle::Off},
                                                 {"sdpamath", Toggle::Off},
                                                 {"unfused", Toggle::Off},
                                                 {"none", Toggle::Off}});
}

/// Parameters and optimizer may wait on NVMe, activations in host memory alone. Plain ones first, which help lists.
DimensionWords offload_words() {
  std::vector<std::int32_t> values;
  for (const Offload& o :
       {Offload{}, Offload{true}, Offload{false, true}, Offload{false, false, true}, Offload{true, true},
        Offload{true, false, false, true}, Offload{false, true, false, true}, Offload{true, true, false, true}}) {
    values.push_back(dimension_value(o));
  }
  const std::size_t listed = values.size();
  for (std::int32_t v = 0; v < 16; ++v) {
    const auto o = from_dimension_value<Offload>(v);
    const bool places_states = !o.to_nvme || o.optimizer || o.parameters;
    if (places_states && std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
  }
  return {name_of<Offload>,
          parse<offload_from>,
          values,
          listed,
          {{"no", 0},
           {"off", 0},
           {"false", 0},
           {"0", 0},
           {"cpu", dimension_value(Offload{true})},
           {"zerooffload", dimension_value(Offload{true})},
           {"yes", dimension_value(Offload{true})},
           {"true", dimension_value(Offload{true})},
           {"1", dimension_value(Offload{true})}}};
}

template <auto Member>
DimensionRow degree(Dimension dimension, std::string_view keyword, std::string_view path, std::string_view column,
                    std::string_view title, std::string_view help) {
  return {.dimension = dimension,
          .keyword = keyword,
          .path = path,
          .column = column,
          .label = keyword,
          .title = title,
          .help = help,
          .most = kMostDegree,
          .get = get<Member>,
          .set = set<Member>,
          .plain = one,
          .applies = always};
}

template <auto Member>
DimensionRow named(Dimension dimension, std::string_view keyword, std::string_view path, std::string_view title,
                   std::string_view help, const DimensionWords& words) {
  return {.dimension = dimension,
          .keyword = keyword,
          .path = path,
          .column = keyword,
          .title = title,
          .help = help,
          .kind = Kind::Words,
          .least = words.values.front(),
          .most = *std::max_element(words.values.begin(), words.values.end()),
          .open = Open::Fastest,
          .one_in_estimate = false,
          .get = get<Member>,
          .set = set<Member>,
          .plain = zero,
          .applies = always,
          .words = &words};
}

DimensionWords module_words() {
  std::vector<std::int32_t> values{0};
  for (int i = 0; i < kLayerModules; ++i) values.push_back(1 << i);
  const std::size_t listed = values.size();
  for (std::int32_t v = 1; v < 1 << kLayerModules; ++v) {
    if ((v & (v - 1)) != 0) values.push_back(v);
  }
  return {name_of<LayerModules>, parse<layer_modules_from>, values, listed, {}};
}

/// A member of Strategy::execution: 0 is the framework's default, which the short form and files leave out.
template <auto Member>
DimensionRow told(Dimension dimension, std::string_view keyword, std::string_view path, std::string_view title,
                  std::string_view help) {
  return {.dimension = dimension,
          .keyword = keyword,
          .path = path,
          .column = keyword,
          .label = {},
          .title = title,
          .help = help,
          .least = 0,
          .open = Open::Framework,
          .zero_follows = true,
          .of_execution = true,
          .get = get_execution<Member>,
          .set = set_execution<Member>,
          .plain = zero,
          .applies = is_told<Member>};
}

template <auto Member>
DimensionRow told_word(Dimension dimension, std::string_view keyword, std::string_view path, std::string_view label,
                       std::string_view title, std::string_view help, const DimensionWords& words) {
  DimensionRow row = told<Member>(dimension, keyword, path, title, help);
  row.label = label;
  row.kind = Kind::Words;
  row.most = *std::max_element(words.values.begin(), words.values.end());
  row.zero_follows = false;
  row.is_offered = true;
  row.words = &words;
  return row;
}

template <auto Member>
DimensionRow told_number(Dimension dimension, std::string_view keyword, std::string_view path, std::string_view label,
                         std::string_view title, std::string_view help, std::int32_t most) {
  DimensionRow row = told<Member>(dimension, keyword, path, title, help);
  row.label = label;
  row.least = 1;
  row.most = most;
  return row;
}

template <auto Value>
void try_from(DimensionRow& row) {
  row.tried_from = dimension_value(Value);
}
void for_any_stack(DimensionRow& row) { row.is_offered = false; }

DimensionRow with(DimensionRow row, void (*change)(DimensionRow&)) {
  change(row);
  return row;
}

const std::array<DimensionRow, kDimensionCount>& table() {
  static const DimensionWords kShardings = sharding_words();
  static const DimensionWords kSchedules =
      words<Schedule, schedule_from>(Schedule::ZeroBubble, {{"interleaved1f1b", Schedule::Interleaved}});
  static const DimensionWords kRecomputes = recompute_words();
  static const DimensionWords kOffloads = offload_words();
  static const DimensionWords kCollectives = words<Collectives, collectives_from>(Collectives::Smddp);
  static const DimensionWords kToggles = words<Toggle, toggle_from>(Toggle::On);
  static const DimensionWords kAttentions = attention_words();
  static const DimensionWords kAttentionClasses = words<AttentionClass, attention_class_from>(
      AttentionClass::Vendor, {{"fa2", AttentionClass::Flash2},
                               {"flashattention2", AttentionClass::Flash2},
                               {"fa3", AttentionClass::Vendor},
                               {"flash3", AttentionClass::Vendor},
                               {"cudnn", AttentionClass::Vendor},
                               {"te", AttentionClass::Vendor},
                               {"flashattention3", AttentionClass::Vendor}});
  static const DimensionWords kBaseFormats = words<BaseFormat, base_format_from>(BaseFormat::Fp8);
  static const DimensionWords kCompiles = words<Compile, compile_from>(Compile::LayersAndLoss);
  static const DimensionWords kLossKernels = words<LossKernel, loss_kernel_from>(LossKernel::Linear);
  static const DimensionWords kTensorOverlaps = words<TensorOverlap, tensor_overlap_from>(TensorOverlap::Async);
  static const DimensionWords kContextExchanges =
      words<ContextExchange, context_exchange_from>(ContextExchange::AllToAll);
  static const DimensionWords kMoeDispatchers = words<MoeDispatcher, moe_dispatcher_from>(MoeDispatcher::DeepEp);
  static const DimensionWords kMoeRouters = words<MoeRouter, moe_router_from>(MoeRouter::Balanced);
  static const DimensionWords kCudaGraphs = words<CudaGraphs, cuda_graphs_from>(CudaGraphs::Iteration);
  static const DimensionWords kModules = module_words();
  static const std::array<DimensionRow, kDimensionCount> kRows{
      degree<&Strategy::tensor_parallel>(Dimension::Tensor, "tp", "parallel/tensor", "tensor", "tensor parallelism",
                                         "Tensor parallel"),
      degree<&Strategy::pipeline_parallel>(Dimension::Pipeline, "pp", "parallel/pipeline", "pipeline",
                                           "pipeline parallelism", "Pipeline parallel"),
      degree<&Strategy::virtual_pipeline>(Dimension::VirtualPipeline, "vpp", "parallel/virtual_pipeline",
                                          "virtual_pipeline", "model chunks", "Model chunks per pipeline rank"),
      degree<&Strategy::context_parallel>(Dimension::Context, "cp", "parallel/context", "context",
                                          "context parallelism", "Context parallel"),
      degree<&Strategy::expert_parallel>(Dimension::Expert, "ep", "parallel/expert", "expert", "expert parallelism",
                                         "Expert parallel"),
      with(degree<&Strategy::expert_tensor_parallel>(Dimension::ExpertTensor, "etp", "parallel/expert_tensor",
                                                     "expert_tensor", "expert tensor parallelism",
                                                     "Ranks that one expert is cut over [1, or --tp where --ep is 1]"),
           [](DimensionRow& r) {
             r.open = Open::Fastest;
             r.zero_follows = true;
             r.get = [](const Strategy& s) { return s.expert_tensor(); };
             // The usual degree stays open, so that a strategy that names it equals one that does not.
             r.set = [](Strategy& s, std::int32_t v) {
               s.expert_tensor_parallel = v == s.usual_expert_tensor() ? 0 : v;
             };
             r.plain = [](const Strategy& s) { return s.usual_expert_tensor(); };
             r.applies = [](const Strategy& s) {
               return s.expert_parallel > 1 || s.expert_tensor() != s.usual_expert_tensor();
             };
           }),
      with(degree<&Strategy::data_parallel>(Dimension::Data, "dp", "parallel/data", "data", "data parallelism",
                                            "Data parallel"),
           [](DimensionRow& r) {
             r.open = Open::Fastest;
             r.zero_follows = true;
           }),
      {.dimension = Dimension::SequenceParallel,
       .keyword = "sequence_parallel",
       .path = "parallel/sequence_parallel",
       .column = "sequence",
       .label = "sp",
       .title = "sequence parallelism",
       .help = "Shard norms and residuals over the tensor ranks too (=false forbids it)",
       .kind = Kind::Switch,
       .least = 0,
       .most = 1,
       .open = Open::Fastest,
       .one_in_estimate = false,
       .get = get<&Strategy::sequence_parallel>,
       .set = set<&Strategy::sequence_parallel>,
       .plain = zero,
       .applies = always},
      named<&Strategy::sharding>(Dimension::Sharding, "sharding", "sharding/strategy", "sharding",
                                 "What the ranks of a shard group divide among them", kShardings),
      with(degree<&Strategy::shard_degree>(Dimension::ShardDegree, "shard_degree", "sharding/degree", "shard_degree",
                                           "shard degree", "Ranks that share one copy of the states"),
           [](DimensionRow& r) {
             r.label = "shard";
             r.open = Open::Fastest;
             r.zero_follows = true;
             r.one_in_estimate = false;
           }),
      with(degree<&Strategy::micro_batch>(Dimension::MicroBatch, "micro_batch", "micro_batch", "micro_batch",
                                          "micro-batch", "Sequences per rank and micro-batch"),
           [](DimensionRow& r) {
             r.label = "mb";
             r.open = Open::Fastest;
             r.one_in_estimate = false;
           }),
      with(
          named<&Strategy::schedule>(Dimension::Schedule, "schedule", "schedule", "pipeline schedule",
                                     "Order of the micro-batches in the pipeline [interleaved with --vpp]", kSchedules),
          [](DimensionRow& r) {
            r.plain = [](const Strategy& s) {
              return dimension_value(s.pipeline_parallel > 1 ? Schedule::OneFOneB : s.schedule);
            };
            r.applies = [](const Strategy& s) { return s.pipeline_parallel > 1; };
          }),
      named<&Strategy::recompute>(Dimension::Recompute, "recompute", "recompute", "recomputation",
                                  "Activations computed anew in the backward pass", kRecomputes),
      with(
          degree<&Strategy::recompute_layers>(Dimension::RecomputeLayers, "recompute_layers", "recompute_layers",
                                              "recompute_layers", "recomputed layers",
                                              "Layers of a pipeline chunk that are recomputed whole [all, or as few as "
                                              "fit]"),
          [](DimensionRow& r) {
            r.label = {};
            r.zero_follows = true;
            r.plain = zero;
            r.applies = [](const Strategy& s) { return s.recompute_layers > 0; };
          }),
      with(named<&Strategy::offload>(Dimension::Offload, "offload", "offload", "offload",
                                     "What waits in host memory, or with nvme on the instance's disks", kOffloads),
           [](DimensionRow& r) {
             r.label = "offload:";
             r.open = Open::Plain;
           }),
      named<&Strategy::collectives>(Dimension::Collectives, "collectives", "collectives", "collective library",
                                    "Library of the collective operations", kCollectives),
      with(told_word<&Execution::compile>(Dimension::Compile, "compile", "execution/compile", "compile:", "compilation",
                                          "What torch.compile takes [plan: the fastest]", kCompiles),
           try_from<Compile::Layers>),
      with(told_word<&Execution::flash_attention>(Dimension::FlashAttention, "flash_attention",
                                                  "execution/flash_attention", "flash:", "flash attention",
                                                  "Attention keeps no scores [as the stack does]", kAttentions),
           for_any_stack),
      with(told_word<&Execution::attention_kernel>(
               Dimension::AttentionKernel, "attention_kernel", "execution/attention_kernel",
               "attention:", "attention kernel",
               "Class of the fused kernels: FlashAttention-2, or the vendor's for its part, FlashAttention-3 too [as "
               "the stack does]",
               kAttentionClasses),
           for_any_stack),
      with(told_word<&Execution::loss_kernel>(
               Dimension::LossKernel, "loss_kernel", "execution/loss_kernel", "loss:", "loss kernel",
               "All logits in fp32, the framework's fused loss, gradients written over 16-bit logits (verl), or with "
               "the projection in chunks, which keeps no logits (Liger, cut cross-entropy) [plan: the fastest]",
               kLossKernels),
           try_from<LossKernel::Linear>),
      told_word<&Execution::liger_kernels>(Dimension::LigerKernels, "liger_kernels", "execution/liger_kernels",
                                           "liger:", "Liger kernels", "Norms and gates as one kernel each", kToggles),
      told_word<&Execution::tensor_overlap>(Dimension::TensorOverlap, "tensor_overlap", "execution/tensor_overlap",
                                            "tp-overlap:", "tensor overlap",
                                            "Products beside what tensor ranks exchange", kTensorOverlaps),
      told_word<&Execution::gradient_overlap>(Dimension::GradientOverlap, "gradient_overlap",
                                              "execution/gradient_overlap", "grad-overlap:", "gradient overlap",
                                              "Gradients are reduced under the backward pass", kToggles),
      told_word<&Execution::context_exchange>(Dimension::ContextExchange, "context_exchange",
                                              "execution/context_exchange", "cp-exchange:", "context exchange",
                                              "How context ranks see each other's tokens", kContextExchanges),
      with(told_word<&Execution::moe_dispatcher>(Dimension::MoeDispatcher, "moe_dispatcher", "execution/moe_dispatcher",
                                                 "dispatcher:", "token dispatcher",
                                                 "How tokens reach their experts [plan: the fastest]", kMoeDispatchers),
           try_from<MoeDispatcher::DeepEp>),
      told_word<&Execution::moe_router>(Dimension::MoeRouter, "moe_router", "execution/moe_router", "router:",
                                        "expert router", "Tokens dealt out evenly, as in benchmarks", kMoeRouters),
      with(told_word<&Execution::expert_overlap>(Dimension::ExpertOverlap, "expert_overlap", "execution/expert_overlap",
                                                 "ep-overlap:", "expert overlap",
                                                 "Exchange of experts under other work [plan: the fastest]", kToggles),
           try_from<Toggle::On>),
      told_word<&Execution::fused_routing>(Dimension::FusedRouting, "fused_routing", "execution/fused_routing",
                                           "fused-routing:", "fused routing",
                                           "Routing, padding and permutation as fused kernels", kToggles),
      told_word<&Execution::cuda_graphs>(Dimension::CudaGraphs, "cuda_graphs", "execution/cuda_graphs", "graphs:",
                                         "CUDA graphs", "What of layers with experts is captured", kCudaGraphs),
      told_word<&Execution::recompute_modules>(Dimension::RecomputeModules, "recompute_modules",
                                               "execution/recompute_modules", "modules:", "recomputed modules",
                                               "What selective recomputation runs again, joined with +", kModules),
      with(told_word<&Execution::pure_half>(Dimension::PureHalf, "pure_half", "execution/pure_half",
                                            "pure-half:", "pure 16-bit states",
                                            "Weights, gradients and moments in 16 bits, without fp32 copies", kToggles),
           for_any_stack),
      told_word<&Execution::half_gradients>(Dimension::HalfGradients, "half_gradients", "execution/half_gradients",
                                            "half-gradients:", "16-bit gradients", "Gradients accumulate in 16 bits",
                                            kToggles),
      told_word<&Execution::half_moments>(Dimension::HalfMoments, "half_moments", "execution/half_moments",
                                          "half-moments:", "16-bit moments", "The optimizer's moments in 16 bits",
                                          kToggles),
      told_number<&Execution::half_layers>(Dimension::HalfLayers, "half_layers", "execution/half_layers",
                                           "half-layers:", "16-bit layers",
                                           "Layers whose products stay in 16 bits beside fp8 or fp4", kMostLayers),
      told_number<&Execution::vocab_multiple>(Dimension::VocabMultiple, "vocab_multiple", "execution/vocab_multiple",
                                              "vocab-multiple:", "vocabulary padding",
                                              "The vocabulary is padded to a multiple of this on each tensor rank",
                                              kMostPadding),
      told_word<&Execution::empty_cache>(Dimension::EmptyCache, "empty_cache", "execution/empty_cache",
                                         "empty-cache:", "emptied cache",
                                         "The allocator gives back what is not in use, every few steps", kToggles),
      told_word<&Execution::reentrant_checkpoint>(
          Dimension::ReentrantCheckpoint, "reentrant_checkpoint", "execution/reentrant_checkpoint", "reentrant:",
          "re-entrant checkpoints", "Recomputation runs whole layers again, as before PyTorch 2.1", kToggles),
      told_number<&Execution::reduce_bucket>(Dimension::ReduceBucket, "reduce_bucket", "execution/reduce_bucket",
                                             "bucket:", "reduce bucket", "Gradients that DeepSpeed reduces at a time",
                                             kMostBucket),
      with(told_word<&Execution::release_gradients>(
               Dimension::ReleaseGradients, "release_gradients", "execution/release_gradients", "release-gradients:",
               "released gradients", "torch lets go of gradients after the update [on]", kToggles),
           for_any_stack),
      with(told_word<&Execution::update_in_backward>(
               Dimension::UpdateInBackward, "update_in_backward", "execution/update_in_backward",
               "update-in-backward:", "update in the backward pass",
               "Each parameter is updated once its gradient is there, which is let go of", kToggles),
           for_any_stack),
      with(told_word<&Execution::unsharded_gradients>(
               Dimension::UnshardedGradients, "unsharded_gradients", "execution/unsharded_gradients",
               "unsharded-gradients:", "unsharded gradients",
               "FSDP accumulates whole gradients, without synchronising (no_sync), as Accelerate does", kToggles),
           for_any_stack),
      with(told_word<&Execution::fused_optimizer>(Dimension::FusedOptimizer, "fused_optimizer",
                                                  "execution/fused_optimizer", "fused-optimizer:", "fused optimizer",
                                                  "torch's optimizer updates in one kernel", kToggles),
           for_any_stack),
      with(told_word<&Execution::paged_optimizer>(
               Dimension::PagedOptimizer, "paged_optimizer", "execution/paged_optimizer", "paged-optimizer:",
               "paged optimizer", "bitsandbytes' moments move to the host where the device has no room", kToggles),
           for_any_stack),
      told_word<&Execution::base_format>(Dimension::BaseFormat, "base_format", "execution/base_format",
                                         "base:", "format of frozen weights",
                                         "How adapters' frozen weights are held [16 bits; qlora: 4]", kBaseFormats),
      with(told_word<&Execution::double_quantization>(Dimension::DoubleQuantization, "double_quantization",
                                                      "execution/double_quantization",
                                                      "double-quantization:", "double quantization",
                                                      "Scales of a 4-bit base are quantized too [on]", kToggles),
           for_any_stack),
      with(told_word<&Execution::wide_embeddings>(
               Dimension::WideEmbeddings, "wide_embeddings", "execution/wide_embeddings",
               "wide-embeddings:", "fp32 embeddings",
               "Embedding and head beside a 4-bit base are fp32, as PEFT prepares a model [as the stack does]",
               kToggles),
           for_any_stack),
      told_number<&Execution::host_threads>(Dimension::HostThreads, "host_threads", "execution/host_threads",
                                            "host-threads:", "host threads",
                                            "Threads of each rank for an optimizer on the host, OMP_NUM_THREADS [its "
                                            "share of the node's]",
                                            kMostThreads),
      with(told_number<&Execution::software_release>(
               Dimension::SoftwareRelease, "software_release", "execution/software_release", "release:",
               "software release", "Year and month of the software, 2602 is 2026-02 [today's]", kLastRelease),
           [](DimensionRow& r) { r.least = kFirstRelease; })};
  return kRows;
}

}  // namespace

std::optional<std::int32_t> DimensionWords::parse(std::string_view word) const {
  if (const auto value = exact(word)) return value;
  const std::string wanted = letters_and_digits(word);
  const auto found = std::find_if(synonyms.begin(), synonyms.end(), [&](const auto& s) { return s.letters == wanted; });
  if (found != synonyms.end()) return found->value;
  const auto named = std::find_if(values.begin(), values.end(),
                                  [&](std::int32_t value) { return letters_and_digits(name(value)) == wanted; });
  return named == values.end() ? std::nullopt : std::optional(*named);
}

std::string DimensionRow::flag() const {
  std::string out = "--" + std::string(keyword);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

std::int32_t DimensionRow::told(const Execution& execution) const {
  Strategy only;
  only.execution = execution;
  return get(only);
}

std::string DimensionRow::text(std::int32_t value) const {
  if (kind == Kind::Words) return words->name(value);
  if (kind == Kind::Switch) return value != 0 ? "true" : "false";
  return std::to_string(value);
}

std::vector<std::string> DimensionRow::names() const {
  std::vector<std::string> out;
  if (words == nullptr) return out;
  for (std::size_t i = 0; i < words->listed; ++i) out.push_back(words->name(words->values[i]));
  return out;
}

std::span<const DimensionRow> dimensions() { return table(); }

const DimensionRow& row_of(Dimension dimension) { return table()[static_cast<std::size_t>(dimension)]; }

}  // namespace smplan
