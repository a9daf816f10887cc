#include "planner/validation/run_words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>
#include <set>
#include <utility>

#include "base/words.hpp"
#include "planner/validation/phrases.hpp"

namespace smplan {
namespace {

bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// What stands before a remark: `zero1 dp2`, `zero2+offload`, `full (uniform)`.
std::string_view before_remark(std::string_view words) { return words.substr(0, words.find_first_of(" +,(")); }

template <typename T, std::size_t N>
using Names = std::array<std::pair<std::string_view, T>, N>;

template <typename T, std::size_t N, typename Matches>
std::optional<T> first_where(const Names<T, N>& names, Matches matches) {
  const auto at = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return matches(entry.first); });
  return at == names.end() ? std::nullopt : std::optional(at->second);
}

template <typename T, std::size_t N>
std::optional<T> find_word(const Names<T, N>& names, std::string_view word) {
  return first_where(names, [&](std::string_view name) { return name == word; });
}

/// The first name, in the table's order, that stands anywhere in the text.
template <typename T, std::size_t N>
std::optional<T> find_part(const Names<T, N>& names, std::string_view text) {
  return first_where(names, [&](std::string_view name) { return mentions(text, name); });
}

/// Names of FSDP (ShardingStrategy), of DeepSpeed (`stage`) and of Megatron (use_distributed_optimizer).
constexpr Names<Sharding, 37> kShardings{{
    {"none", Sharding::None},
    {"no", Sharding::None},
    {"noshard", Sharding::None},
    {"ddp", Sharding::None},
    {"zero0", Sharding::None},
    {"stage0", Sharding::None},
    {"0", Sharding::None},
    {"zero1", Sharding::Zero1},
    {"zerostage1", Sharding::Zero1},
    {"stage1", Sharding::Zero1},
    {"1", Sharding::Zero1},
    {"distributedoptimizer", Sharding::Zero1},
    {"distopt", Sharding::Zero1},
    {"usedistributedoptimizer", Sharding::Zero1},
    {"zero2", Sharding::Zero2},
    {"zerostage2", Sharding::Zero2},
    {"stage2", Sharding::Zero2},
    {"2", Sharding::Zero2},
    {"zero3", Sharding::Zero3},
    {"zerostage3", Sharding::Zero3},
    {"stage3", Sharding::Zero3},
    {"3", Sharding::Zero3},
    {"fsdp", Sharding::FsdpFull},
    {"fsdp1", Sharding::FsdpFull},
    {"fsdp2", Sharding::FsdpFull},
    {"fsdpfull", Sharding::FsdpFull},
    {"full", Sharding::FsdpFull},
    {"fullshard", Sharding::FsdpFull},
    {"fullyshard", Sharding::FsdpFull},
    {"fsdpfullshard", Sharding::FsdpFull},
    {"gradop", Sharding::FsdpGradOp},
    {"shardgradop", Sharding::FsdpGradOp},
    {"fsdpgradop", Sharding::FsdpGradOp},
    {"hsdp", Sharding::FsdpHybrid},
    {"hybridshard", Sharding::FsdpHybrid},
    {"fsdphybrid", Sharding::FsdpHybrid},
    {"fsdphybridshard", Sharding::FsdpHybrid},
}};

/// FSDP's strategies among other words.
constexpr Names<Sharding, 6> kStrategies{{{"shard_grad_op", Sharding::FsdpGradOp},
                                          {"grad_op", Sharding::FsdpGradOp},
                                          {"hybrid_shard", Sharding::FsdpHybrid},
                                          {"hsdp", Sharding::FsdpHybrid},
                                          {"full_shard", Sharding::FsdpFull},
                                          {"full shard", Sharding::FsdpFull}}};

constexpr std::array<std::pair<char, Sharding>, 3> kStages{
    {{'1', Sharding::Zero1}, {'2', Sharding::Zero2}, {'3', Sharding::Zero3}}};
constexpr std::array<std::string_view, 6> kStageNames{"zero", "zero-", "zero ", "zero_", "zero stage ", "zero-stage-"};

constexpr Names<Recompute, 25> kRecomputes{{
    {"none", Recompute::None},
    {"no", Recompute::None},
    {"off", Recompute::None},
    {"false", Recompute::None},
    {"disabled", Recompute::None},
    {"0", Recompute::None},
    {"selective", Recompute::Selective},
    {"op", Recompute::Selective},
    {"attention", Recompute::Selective},
    {"attn", Recompute::Selective},
    {"full", Recompute::Full},
    {"yes", Recompute::Full},
    {"on", Recompute::Full},
    {"true", Recompute::Full},
    {"enabled", Recompute::Full},
    {"1", Recompute::Full},
    {"all", Recompute::Full},
    {"uniform", Recompute::Full},
    {"block", Recompute::Full},
    {"layers", Recompute::Full},
    {"activationcheckpointing", Recompute::Full},
    {"gradientcheckpointing", Recompute::Full},
    {"checkpointing", Recompute::Full},
    {"ac", Recompute::Full},
    {"gc", Recompute::Full},
}};

/// Those that keep scores come first: `unfused` is not `fused`, and SDPA has a backend `math`.
constexpr Names<bool, 14> kAttentionKernels{{{"eager", false},
                                             {"unfused", false},
                                             {"naive", false},
                                             {"vanilla", false},
                                             {"math", false},
                                             {"flash", true},
                                             {"sdpa", true},
                                             {"cudnn", true},
                                             {"xformers", true},
                                             {"memoryefficient", true},
                                             {"flex", true},
                                             {"splash", true},
                                             {"triton", true},
                                             {"fused", true}}};

/// The order keeps interleaved 1F1B out of plain 1F1B.
constexpr Names<Schedule, 4> kSchedules{{{"interleaved", Schedule::Interleaved},
                                         {"1f1b", Schedule::OneFOneB},
                                         {"gpipe", Schedule::GPipe},
                                         {"zerobubble", Schedule::ZeroBubble}}};

/// The order keeps `adamw_8bit` out of Adam.
constexpr Names<Optimizer, 8> kOptimizers{{{"8bit", Optimizer::Adam8bit},
                                           {"8-bit", Optimizer::Adam8bit},
                                           {"lamb", Optimizer::Lamb},
                                           {"lion", Optimizer::Lion},
                                           {"sgd", Optimizer::SgdMomentum},
                                           {"adafactor", Optimizer::Adafactor},
                                           {"muon", Optimizer::Muon},
                                           {"adam", Optimizer::AdamW}}};

/// The order keeps float16 out of bfloat16.
constexpr Names<Precision, 14> kPrecisions{{{"fp8", Precision::Fp8},
                                            {"float8", Precision::Fp8},
                                            {"fp4", Precision::Fp4},
                                            {"bf16", Precision::Bf16},
                                            {"bfloat16", Precision::Bf16},
                                            {"fp16", Precision::Fp16},
                                            {"float16", Precision::Fp16},
                                            {"half", Precision::Fp16},
                                            {"16-mixed", Precision::Fp16},
                                            {"16-true", Precision::Fp16},
                                            {"amp", Precision::Fp16},  // torch.autocast's default on CUDA
                                            {"tf32", Precision::Tf32},
                                            {"fp32", Precision::Fp32},
                                            {"float32", Precision::Fp32}}};

/// What the allocator calls active are the blocks that tensors hold; reserved ones were once called cached.
constexpr Names<MemoryKind, 8> kMemoryKinds{{{"allocated", MemoryKind::Allocated},
                                             {"active", MemoryKind::Allocated},
                                             {"reserved", MemoryKind::Reserved},
                                             {"cached", MemoryKind::Reserved},
                                             {"smi", MemoryKind::Device},
                                             {"nvml", MemoryKind::Device},
                                             {"device", MemoryKind::Device},
                                             {"unknown", MemoryKind::Unstated}}};

constexpr Names<FlopsKind, 5> kFlopsKinds{{{"hardware", FlopsKind::Hardware},
                                           {"hfu", FlopsKind::Hardware},
                                           {"model", FlopsKind::Model},
                                           {"mfu", FlopsKind::Model},
                                           {"unknown", FlopsKind::Model}}};

}  // namespace

std::optional<Sharding> fsdp_strategy_in(std::string_view text) {
  // Each as a word of its own; a table that compares two names neither.
  const Phrases words(text);
  std::optional<Sharding> found;
  for (const auto& [name, sharding] : kStrategies) {
    if (!words.say_word(name)) continue;
    if (found && *found != sharding) return std::nullopt;
    found = sharding;
  }
  return found;
}

std::optional<Sharding> sharding_in(std::string_view words) {
  if (mentions(words, "/")) return std::nullopt;                                     // `zero2/3`: one or the other
  if (mentions(letters_and_digits(words), "hybridshardzero2")) return std::nullopt;  // not modelled
  if (const auto whole = find_word(kShardings, letters_and_digits(words))) return whole;
  if (const auto strategy = fsdp_strategy_in(words)) return strategy;
  if (denies(words)) return Sharding::None;
  const std::optional<Sharding> first = find_word(kShardings, letters_and_digits(before_remark(words)));
  if (first && *first != Sharding::None) return first;
  const std::optional<Sharding> stage = zero_stage_in(words);  // `ddp + zero1`
  return stage ? stage : first;
}

std::optional<Sharding> zero_stage_in(std::string_view framework) {
  const std::string text = letters_and_digits(framework);
  for (const std::string_view name : {"zerostage", "zero"}) {
    const std::size_t at = text.find(name);
    if (at == std::string::npos) continue;
    if (const auto stage = find_word(kShardings, text.substr(at, name.size() + 1))) return stage;
  }
  return std::nullopt;
}

std::optional<Sharding> zero_stage_said(std::string_view notes) {
  const Phrases words(notes);
  std::optional<Sharding> found;
  for (const auto& [digit, sharding] : kStages) {
    const bool said = std::any_of(kStageNames.begin(), kStageNames.end(), [&, d = digit](std::string_view name) {
      return words.say_word(std::string(name) + d);
    });
    if (!said) continue;
    if (found) return std::nullopt;
    found = sharding;
  }
  return found;
}

std::optional<Recompute> recompute_in(std::string_view words) {
  const std::string text = letters_and_digits(words);
  if (const auto known = find_word(kRecomputes, text)) return known;
  if (text.rfind("selective", 0) == 0) return Recompute::Selective;
  if (text.rfind("full", 0) == 0 || text.rfind("fsdpfull", 0) == 0) return Recompute::Full;
  if (denies(words)) return Recompute::None;
  const std::vector<std::string> plain = plain_words(words);
  const auto holds = [&](std::string_view word) { return std::find(plain.begin(), plain.end(), word) != plain.end(); };
  if (holds("sac")) return Recompute::Selective;  // torchtitan's selective activation checkpointing
  if (holds("selective")) return Recompute::Selective;
  if (holds("yes") || holds("true") || holds("uniform") || holds("full")) return Recompute::Full;
  return modules_in(words).empty() ? std::nullopt : std::optional(Recompute::Selective);
}

std::vector<LayerModule> modules_in(std::string_view list) {
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyz_";
  const std::string text = lower_case(list);
  std::set<LayerModule> modules;
  for (std::size_t begin = text.find_first_of(kName); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kName, begin), text.size());
    if (const auto module = layer_module_from(text.substr(begin, end - begin))) modules.insert(*module);
    begin = text.find_first_of(kName, end);
  }
  if (modules.contains(LayerModule::Experts)) {
    modules.erase(LayerModule::ExpertActivation);
    modules.erase(LayerModule::SharedExperts);
  }
  return {modules.begin(), modules.end()};
}

std::optional<bool> flash_attention_in(std::string_view words) {
  if (denies(words)) return false;
  if (const auto known = find_part(kAttentionKernels, letters_and_digits(words))) return known;
  // `te` is Transformer Engine; a bare digit a version of FlashAttention, as in `fa2`.
  constexpr std::string_view kVersions = "123456789";
  for (const std::string& word : plain_words(words)) {
    const std::string_view version = word.rfind("fa", 0) == 0 ? std::string_view(word).substr(2) : word;
    const bool versioned = version.size() == 1 && kVersions.find(version[0]) != std::string_view::npos;
    if (versioned || word == "fa" || word == "te") return true;
  }
  return std::nullopt;
}

std::optional<Schedule> schedule_in(std::string_view words) { return find_part(kSchedules, letters_and_digits(words)); }

std::optional<Optimizer> optimizer_in(std::string_view words) { return find_part(kOptimizers, lower_case(words)); }

std::optional<Offload> offload_in(std::string_view words) {
  const std::string text = lower_case(words.substr(0, words.find_first_of(" (")));
  if (const auto known = offload_from(text)) return known;
  if (text == "0" || (denies(words) && words.find_first_of(",;") == std::string_view::npos)) return Offload{};
  if (text == "cpu" || text == "1" || text == "yes" || text == "true" || text == "zero-offload") {
    return offload_from("optimizer");
  }
  return std::nullopt;
}

std::optional<Precision> precision_in(std::string_view words) {
  const Phrases phrases(words);
  return first_where(kPrecisions, [&](std::string_view name) { return phrases.say(name); });
}

std::optional<MemoryKind> memory_kind_in(std::string_view words) {
  const std::string text = lower_case(words);
  if (words_of(text).empty()) return MemoryKind::Unstated;
  if (mentions(text, "allocated") && mentions(text, "reserved")) return std::nullopt;  // one or the other
  return find_part(kMemoryKinds, text);
}

std::optional<FlopsKind> flops_kind_in(std::string_view words) {
  const std::string text = lower_case(words);
  if (words_of(text).empty()) return FlopsKind::Model;
  if (mentions(text, "hardware") && mentions(text, "model")) return std::nullopt;
  return find_part(kFlopsKinds, text);
}

std::optional<NetworkKind> network_in(std::string_view words) {
  for (const std::string& word : plain_words(words)) {
    const auto begins = [&](std::string_view name) { return word.rfind(name, 0) == 0; };
    if (begins("efa")) return NetworkKind::Efa;
    if (begins("roce")) return NetworkKind::RoCE;
    if (word == "ib" || begins("infiniband") || begins("rdma")) return NetworkKind::Infiniband;
    // InfiniBand's rates, `HDR200`
    if (begins("edr") || begins("hdr") || begins("ndr") || begins("xdr")) return NetworkKind::Infiniband;
    if (begins("opa") || begins("omni")) return NetworkKind::OmniPath;
    if (begins("tcp") || begins("ethernet") || word.ends_with("gbe")) return NetworkKind::Ethernet;
  }
  return std::nullopt;
}

std::optional<double> network_gbps_in(std::string_view words) {
  constexpr double kFastestCard = 800;
  constexpr double kFastestNode = 1e5;
  constexpr std::size_t kLongest = 200;  // std::regex goes as deep as its text is long
  const std::string text = lower_case(words.substr(0, kLongest));
  if (mentions(text, "nvlink") || mentions(text, "nvswitch")) return std::nullopt;
  static const std::regex rate(R"(\b(?:(\d+)\s*[x*]\s*)?(\d+(?:\.\d+)?)\s*(g(?:b|bit|bits|bps|be|ps)?)\b)");
  std::smatch found;
  if (!std::regex_search(text, found, rate)) return std::nullopt;
  const std::string_view unit = words.substr(static_cast<std::size_t>(found.position(3)), 2);
  const bool bytes = unit.ends_with('B') && found[3] != "gbe";
  const double one = std::strtod(found[2].str().c_str(), nullptr) * (bytes ? 8 : 1);
  const double all = found[1].matched ? one * std::strtod(found[1].str().c_str(), nullptr) : one;
  if (!(all > 0 && all <= kFastestNode)) return std::nullopt;
  const std::optional<NetworkKind> kind = network_in(words);
  const bool in_cards = kind == NetworkKind::Infiniband || kind == NetworkKind::RoCE || kind == NetworkKind::OmniPath;
  return in_cards && !found[1].matched && all <= kFastestCard ? std::nullopt : std::optional(all);
}

bool is_gated(std::string_view mlp) { return mentions(lower_case(mlp), "glu"); }

}  // namespace smplan
