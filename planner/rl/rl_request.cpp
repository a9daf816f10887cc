#include "planner/rl/rl_request.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalogs/reading.hpp"
#include "models/layers/layers.hpp"
#include "planner/request/fields.hpp"
#include "planner/request/names.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kMostPrompts = 1'000'000;
constexpr std::int64_t kMostSamples = 4096;
constexpr std::int64_t kMostLength = 1 << 20;
constexpr std::int64_t kMostSteps = 10'000'000;
constexpr std::int64_t kMostPasses = 64;
constexpr std::int32_t kMostTensor = 64;
constexpr double kMostVariation = 5;
constexpr std::int64_t kMostConcurrency = 1'000'000;
constexpr double kMostStartRate = 1e6;
constexpr double kLeastStartRate = 1e-3;
constexpr std::int64_t kDefaultPrompts = 128;
constexpr std::int64_t kDefaultPromptLength = 512;
constexpr std::int64_t kDefaultResponseLength = 1024;
constexpr std::int64_t kDefaultSteps = 200;

constexpr EnumNames<RlPlacement, 3> kPlacements{
    {{RlPlacement::Colocated, "colocated"}, {RlPlacement::Split, "split"}, {RlPlacement::SplitSync, "split-sync"}}};
constexpr EnumNames<RlFramework, 2> kFrameworks{{{RlFramework::Any, "any"}, {RlFramework::Verl, "verl"}}};
constexpr EnumNames<LengthShape, 2> kShapes{
    {{LengthShape::LogNormal, "lognormal"}, {LengthShape::Exponential, "exponential"}}};

template <typename E, std::size_t N>
std::vector<std::string> words_of(const EnumNames<E, N>& names) {
  std::vector<std::string> words;
  for (const auto& entry : names) words.emplace_back(entry.second);
  return words;
}

template <typename T>
std::vector<std::string> names_of(const std::vector<T>& entries) {
  std::vector<std::string> names;
  for (const T& entry : entries) names.push_back(entry.name);
  return names;
}

using Text = std::optional<std::string>;

/// Values that a search keeps to where the request leaves the dimension open.
struct KeptTo {
  Dimension dimension;
  std::string_view values;
  enum : std::uint8_t { Always, WithAdapters, WithFsdp } when = Always;
};
/// verl compiles no layers and takes the loss of logits or with the projection in chunks. Its FSDP recomputes all
/// layers or none, and holds adapters in the format of their base. Source: verl 0.9.1, workers/config/engine.py,
/// model.py and actor.py.
constexpr std::array<KeptTo, 4> kVerl{{{Dimension::Compile, "default"},
                                       {Dimension::LossKernel, "default,in-place,linear"},
                                       {Dimension::PureHalf, "on", KeptTo::WithAdapters},
                                       {Dimension::Recompute, "none,full", KeptTo::WithFsdp}}};

/// Fills an RlRequest, collecting every fault. One use.
class RlResolver {
 public:
  RlResolver(const RlSpec& spec, const Catalog& catalog) : spec_(spec), catalog_(catalog) {}
  Result<RlRequest> run(const std::optional<std::string>& environment_region, std::optional<Instant> now);

 private:
  void read_algorithm();
  void read_lengths();
  void read_mini_batches();
  void read_steps();
  void read_engine();
  void read_scoring();
  void read_placements();
  void read_framework();
  void keep_to_framework(RequestSpec& spec) const;
  void read_training(const std::optional<std::string>& environment_region, std::optional<Instant> now);
  void add_training_faults(const Diagnostics& faults);
  void check_kind(const Architecture& policy);
  [[nodiscard]] RequestSpec training_spec() const;
  std::optional<Architecture> model(const std::string& name, std::string_view where);

  std::int64_t whole(const Text& text, std::string_view where, std::int64_t most, std::int64_t fallback) {
    if (!text) return fallback;
    return parse_bounded(*text, where, 1, most, faults_).value_or(fallback);
  }
  std::int64_t length(const Text& text, std::string_view where, std::int64_t fallback) {
    if (!text) return fallback;
    return parse_bounded_length(*text, where, 1, kMostLength, faults_).value_or(fallback);
  }
  void add(std::string code, std::string where, std::string message, std::string hint) {
    faults_.push_back({std::move(code), std::move(where), std::move(message), std::move(hint)});
  }
  void assume(std::string sentence) { request_.assumptions.push_back(std::move(sentence)); }

  const RlSpec& spec_;
  const Catalog& catalog_;
  RlRequest request_;
  Diagnostics faults_;
};

void RlResolver::read_algorithm() {
  const std::string name = spec_.algorithm.value_or("grpo");
  RlAlgorithm& a = request_.algorithm;
  if (const RlAlgorithm* known = rl_algorithm(name)) {
    a = *known;
    if (!spec_.samples) assume(fmt::format("{} samples a prompt, as usual for {}", a.samples, a.name));
  } else {
    faults_.push_back(unknown_name("algorithm", name, "--algorithm", names_of(rl_algorithms())));
  }
  request_.prompts = whole(spec_.prompts, "--prompts", kMostPrompts, kDefaultPrompts);
  if (!spec_.prompts) assume(fmt::format("{} prompts a step", request_.prompts));
  a.samples = whole(spec_.samples, "--samples", kMostSamples, a.samples);
  a.passes = whole(spec_.passes, "--passes", kMostPasses, a.passes);
  if (spec_.kl) {
    const std::string word = lower_case(trim(*spec_.kl));
    if (word != "on" && word != "off") faults_.push_back(unknown_name("switch", *spec_.kl, "--kl", {"on", "off"}));
    a.reference = word == "on";
  }
  if (a.generated > 1) {
    assume(
        fmt::format("{:g} times as many responses are generated as are trained on: groups without a difference are "
                    "dropped",
                    a.generated));
  }
}

void RlResolver::read_lengths() {
  ResponseLengths& l = request_.lengths;
  request_.prompt_length = length(spec_.prompt_length, "--prompt-length", kDefaultPromptLength);
  if (!spec_.prompt_length) assume(fmt::format("prompts of {} tokens", request_.prompt_length));
  const std::int64_t mean = length(spec_.response_length, "--response-length", kDefaultResponseLength);
  if (!spec_.response_length) assume(fmt::format("responses of {} tokens in the mean", mean));
  l.mean = static_cast<double>(mean);
  const std::int64_t sequence = length(spec_.sequence_limit, "--sequence-limit", kMostLength);
  const std::int64_t room =
      spec_.sequence_limit ? std::max<std::int64_t>(0, sequence - request_.prompt_length) : kMostLength;
  const bool by_room = spec_.sequence_limit && !spec_.response_limit;
  l.limit = by_room ? room : std::min(room, length(spec_.response_limit, "--response-limit", 2 * mean));
  if (!spec_.response_limit && !spec_.sequence_limit) {
    assume(fmt::format("responses are cut at {} tokens, twice the mean", l.limit));
  }
  if (spec_.sequence_limit && room < mean) {
    add("out-of-range", "--sequence-limit",
        fmt::format("{} leaves {} beside a prompt of {}, less than the mean response of {}", sequence, room,
                    request_.prompt_length, mean),
        fmt::format("give {} or more, or a shorter --response-length", request_.prompt_length + mean));
  } else if (l.limit < mean) {
    add("out-of-range", "--response-limit", fmt::format("{} is less than the mean response of {}", l.limit, mean),
        fmt::format("give {} or more, or a shorter --response-length", mean));
  }
  if (spec_.length_shape) {
    const auto parse = [](std::string_view text) { return value_of(kShapes, text); };
    const auto shape =
        parse_name(*spec_.length_shape, "shape of lengths", "--length-shape", words_of(kShapes), parse, faults_);
    if (shape) l.shape = *shape;
  }
  request_.variation_stated = spec_.length_variation || l.shape == LengthShape::Exponential;
  if (spec_.length_variation) {
    constexpr const char* where = "--length-variation";
    const bool none = trim(*spec_.length_variation) == "0";
    const auto v = none ? std::optional(0.0) : take(parse_count(*spec_.length_variation, where), faults_);
    if (v && *v > kMostVariation) {
      add("out-of-range", where, fmt::format("{:g} is more than {:g}", *v, kMostVariation),
          "give the standard deviation of lengths by their mean, e.g. 0.7");
    }
    if (v) l.variation = *v;
  }
  if (!request_.variation_stated) {
    assume(fmt::format("lengths of responses vary by {:g} of their mean ({:g} to {:g} in the interval)", l.variation,
                       kLeastLengthVariation, kMostLengthVariation));
  }
}

/// Mini-batches of equal size. The algorithm's own number is lowered where it does not divide the responses.
void RlResolver::read_mini_batches() {
  RlAlgorithm& a = request_.algorithm;
  const std::int64_t sequences = request_.sequences();
  if (!spec_.mini_batches) {
    a.mini_batches = std::gcd(a.mini_batches, sequences);
    return;
  }
  a.mini_batches = whole(spec_.mini_batches, "--mini-batches", sequences, a.mini_batches);
  if (sequences % a.mini_batches != 0) {
    add("divisibility", "--mini-batches",
        fmt::format("{} responses do not divide into {} mini-batches", sequences, a.mini_batches),
        fmt::format("give a divisor of {}", sequences));
  }
}

void RlResolver::read_steps() {
  request_.steps = kDefaultSteps;
  if (spec_.steps && (spec_.epochs || spec_.dataset_prompts)) {
    add("conflict", "--steps", "the length of the run is given twice",
        "give --steps, or --epochs and --dataset-prompts");
    return;
  }
  if (spec_.steps) {
    request_.steps = whole(spec_.steps, "--steps", kMostSteps, kDefaultSteps);
    return;
  }
  if (!spec_.epochs && !spec_.dataset_prompts) {
    assume(fmt::format("{} steps", request_.steps));
    return;
  }
  if (!spec_.dataset_prompts) {
    add("missing-value", "--dataset-prompts", "epochs of a data set whose size is not given",
        "add --dataset-prompts, or give --steps");
    return;
  }
  const auto prompts = take(parse_integer_count(*spec_.dataset_prompts, "--dataset-prompts"), faults_);
  const auto epochs = spec_.epochs ? take(parse_count(*spec_.epochs, "--epochs"), faults_) : std::optional(1.0);
  if (!spec_.epochs) assume("one epoch");
  if (!prompts || !epochs) return;
  const double steps = std::ceil(*epochs * static_cast<double>(*prompts) / static_cast<double>(request_.prompts));
  if (steps > static_cast<double>(kMostSteps)) {
    add("out-of-range", "--epochs", fmt::format("{:.0f} steps are more than {}", steps, kMostSteps),
        "give fewer epochs, or more --prompts");
    return;
  }
  request_.steps = static_cast<std::int64_t>(steps);
  assume(
      fmt::format("{:g} epochs of {} prompts are {} steps of {}", *epochs, *prompts, request_.steps, request_.prompts));
}

void RlResolver::read_engine() {
  const std::string name = spec_.engine.value_or("vllm");
  request_.engine = rollout_engine(name);
  if (request_.engine == nullptr) {
    faults_.push_back(unknown_name("engine", name, "--engine", names_of(rollout_engines())));
  } else if (!spec_.engine) {
    assume(fmt::format("{} generates", request_.engine->title));
  }
  if (spec_.rollout_tp) {
    request_.rollout_tensor = parse_integers(*spec_.rollout_tp, "--rollout-tp", 1, kMostTensor, faults_);
  }
  request_.replica_sequences = whole(spec_.replica_sequences, "--replica-sequences", kMostConcurrency, 0);
  request_.concurrency = whole(spec_.concurrency, "--concurrency", kMostConcurrency, 0);
  if (spec_.start_rate) {
    const auto rate = take(parse_count(*spec_.start_rate, "--start-rate"), faults_);
    if (rate && (*rate > kMostStartRate || *rate < kLeastStartRate)) {
      add("out-of-range", "--start-rate",
          fmt::format("{:g} is not between {:g} and {:g}", *rate, kLeastStartRate, kMostStartRate),
          "give the responses that start each second, or leave it out");
    }
    request_.start_rate = rate.value_or(0);
  }
  if (!spec_.rollout_dtype) return;
  const std::string format = lower_case(trim(*spec_.rollout_dtype));
  if (format != "bf16" && format != "fp8") {
    faults_.push_back(unknown_name("number format", *spec_.rollout_dtype, "--rollout-dtype", {"bf16", "fp8"}));
  }
  if (format == "fp8") request_.rollout_weight_bytes = 1;
}

std::optional<Architecture> RlResolver::model(const std::string& name, std::string_view where) {
  const auto preset = take(catalog_.model(name, where), faults_);
  if (!preset) return std::nullopt;
  if ((*preset)->architecture.vocab == 0) {
    add("unsupported", std::string(where), fmt::format("{} reads no text", (*preset)->architecture.name),
        "name a language model");
  }
  return (*preset)->architecture;
}

void RlResolver::read_scoring() {
  if (spec_.reward_model) request_.reward_model = model(*spec_.reward_model, "--reward-model");
  if (spec_.reward_seconds) {
    std::string text(trim(*spec_.reward_seconds));
    if (!text.empty() && (text.back() == '.' || (text.back() >= '0' && text.back() <= '9'))) text += 's';
    if (const auto seconds = take(parse_duration(text, "--reward-seconds"), faults_)) request_.reward = *seconds;
  } else if (!spec_.reward_model) {
    assume("rewards cost no time: --reward-seconds or --reward-model say otherwise");
  }
  if (spec_.critic && !request_.algorithm.critic) {
    add("conflict", "--critic", fmt::format("{} has no critic", request_.algorithm.name),
        "leave it out, or give --algorithm ppo");
  } else if (spec_.critic) {
    request_.critic = model(*spec_.critic, "--critic");
  }
}

void RlResolver::read_placements() {
  request_.placements = {RlPlacement::Colocated, RlPlacement::Split};
  if (!spec_.placement) return;
  const auto named = parse_names<RlPlacement>(*spec_.placement, "placement", "--placement", words_of(kPlacements),
                                              rl_placement_from, faults_);
  request_.placements.clear();
  for (const RlPlacement p : named) {
    if (std::find(request_.placements.begin(), request_.placements.end(), p) == request_.placements.end()) {
      request_.placements.push_back(p);
    }
  }
}

void RlResolver::read_framework() {
  if (!spec_.framework) return;
  const auto framework =
      parse_name(*spec_.framework, "framework", "--framework", words_of(kFrameworks), rl_framework_from, faults_);
  if (framework) request_.framework = *framework;
}

void RlResolver::keep_to_framework(RequestSpec& spec) const {
  if (request_.framework != RlFramework::Verl) return;
  const bool fsdp = lower_case(trim(*spec.stack)) != "megatron";
  const bool adapters = fsdp && lower_case(trim(*spec.finetune)) != "full";
  for (const KeptTo& kept : kVerl) {
    const bool holds = kept.when == KeptTo::Always || (kept.when == KeptTo::WithAdapters ? adapters : fsdp);
    const bool said =
        spec[kept.dimension] || (kept.dimension == Dimension::Recompute && spec[Dimension::RecomputeLayers]);
    if (holds && !said) spec[kept.dimension] = std::string(kept.values);
  }
  // What else a plan would try is no setting of verl's.
  for (const DimensionRow& row : dimensions()) {
    const bool kept =
        std::any_of(kVerl.begin(), kVerl.end(), [&](const KeptTo& k) { return k.dimension == row.dimension; });
    if (!kept && row.tried_from > 0 && !spec[row.dimension]) spec[row.dimension] = row.text(row.plain(Strategy()));
  }
}

/// The policy's updates as a request for training.
RequestSpec RlResolver::training_spec() const {
  RequestSpec spec = spec_.request;
  const RlAlgorithm& a = request_.algorithm;
  const auto mean = static_cast<std::int64_t>(request_.lengths.mean);
  const auto responses = static_cast<double>(request_.steps) * static_cast<double>(a.passes * request_.sequences());
  spec.tokens = fmt::format("{:.0f}", responses * static_cast<double>(request_.prompt_length + mean));
  spec.seq_len = std::to_string(request_.prompt_length + request_.lengths.limit);
  spec.mean_seq_len = std::to_string(request_.prompt_length + mean);
  spec.global_batch = std::to_string(request_.sequences() / a.mini_batches);
  if (!spec.finetune) spec.finetune = "full";
  // What frameworks of reinforcement learning train with (verl, NeMo RL, OpenRLHF, TRL); adapters under FSDP.
  if (!spec.stack) spec.stack = lower_case(trim(*spec.finetune)) == "full" ? "fsdp,megatron" : "fsdp";
  spec.launchable = "any";
  keep_to_framework(spec);
  return spec;
}

/// Faults of what the request made of prompts, responses and defaults, in its own words.
void RlResolver::add_training_faults(const Diagnostics& faults) {
  for (Diagnostic d : faults) {
    if (d.location == "--seq-len") {
      d.location = "--prompt-length and --response-limit";
      d.hint = "give shorter prompts or a lower limit";
    }
    if (d.location == "--global-batch") {
      d.location = "--prompts and --samples";
      d.hint = "give fewer prompts or samples, or more --mini-batches";
    }
    if (d.location == "--stack" && !spec_.request.stack) {
      d = {"conflict", "--instances", "FSDP and Megatron, which train by default, do not run this work there",
           "name types with NVIDIA devices, or a --stack"};
    }
    if (std::find(faults_.begin(), faults_.end(), d) == faults_.end()) faults_.push_back(std::move(d));
  }
}

void RlResolver::read_training(const std::optional<std::string>& environment_region, std::optional<Instant> now) {
  RequestSpec spec = training_spec();
  Result<PlanRequest> resolved = resolve(spec, catalog_, environment_region, Purpose::Plan, now);
  // These frameworks pack sequences, which takes fused attention: their models bring kernels where transformers has
  // none.
  if (resolved && resolved->workload.architecture.plain_attention && !spec[Dimension::FlashAttention]) {
    spec[Dimension::FlashAttention] = "on";
    resolved = resolve(spec, catalog_, environment_region, Purpose::Plan, now);
  }
  if (!resolved) {
    add_training_faults(resolved.error());
    return;
  }
  request_.training = std::move(*resolved);
  if (!spec_.request.stack)
    assume(fmt::format("{} trains", fmt::join(split_list(*spec.stack, "--stack", faults_), " or ")));
  const Architecture& policy = request_.training.workload.architecture;
  check_kind(policy);
  const AdapterMethod* adapters = request_.training.workload.lora.method;
  if (request_.engine != nullptr && adapters != nullptr && !adapters->is_lora()) {
    add("unsupported", "--adapters",
        fmt::format("{} generates with LoRA's adapters, not those of {}", request_.engine->title, adapters->name),
        "use --adapters lora, rslora or pissa");
  }
  const std::int64_t taken = request_.prompt_length + request_.lengths.limit;
  if (policy.max_positions > 0 && taken > policy.max_positions) {
    add("sequence-too-long", "--prompt-length and --response-limit",
        fmt::format("{} has {} positions, a prompt and the longest response take {}", policy.name, policy.max_positions,
                    taken),
        "give shorter prompts or a lower limit; a model that was stretched by --hf-config");
  }
  if (request_.algorithm.critic && !request_.critic) {
    request_.critic = policy;
    assume(fmt::format("the critic is as large as the policy, {}", policy.name));
  }
  std::vector<std::string>& assumed = request_.training.assumptions;
  if (request_.training.counts_defaulted) {
    std::erase(assumed, fmt::format("1 to {} instances", request_.training.counts.back()));
    assumed.push_back(fmt::format("{} instances", fmt::join(kRlCounts, ", ")));
  }
  request_.assumptions.insert(request_.assumptions.end(), assumed.begin(), assumed.end());
}

void RlResolver::check_kind(const Architecture& policy) {
  if (policy.kind == ModelKind::Decoder) return;
  add("unsupported", "MODEL", fmt::format("{} is no decoder: it generates no text token by token", policy.name),
      "name a causal language model");
}

Result<RlRequest> RlResolver::run(const std::optional<std::string>& environment_region, std::optional<Instant> now) {
  read_algorithm();
  read_lengths();
  read_mini_batches();
  read_steps();
  read_engine();
  read_scoring();
  read_placements();
  read_framework();
  // Before its positions are found too few.
  const ModelPreset* preset = spec_.request.model ? catalog_.find_model(*spec_.request.model) : nullptr;
  if (preset != nullptr) check_kind(preset->architecture);
  // What follows is made of all these.
  if (faults_.empty()) read_training(environment_region, now);
  if (!faults_.empty()) return tl::unexpected<Diagnostics>(std::move(faults_));
  request_.said = spec_;
  return std::move(request_);
}

}  // namespace

std::string_view to_string(RlPlacement placement) { return name_of(kPlacements, placement); }

std::optional<RlPlacement> rl_placement_from(std::string_view name) { return value_of(kPlacements, name); }

std::string_view to_string(RlFramework framework) { return name_of(kFrameworks, framework); }

std::optional<RlFramework> rl_framework_from(std::string_view name) { return value_of(kFrameworks, name); }

std::int64_t RlRequest::generated() const {
  return static_cast<std::int64_t>(std::ceil(algorithm.generated * static_cast<double>(sequences())));
}

Seconds RlRequest::starting() const {
  return start_rate > 0 ? Seconds(static_cast<double>(generated()) / start_rate) : Seconds();
}

std::span<const RlName> rl_names() {
  using S = RlSpec;
  static constexpr std::array<RlName, 26> kNames{
      {{"--algorithm", "grpo|ppo|rloo|dapo", "What is learned from rewards [grpo]", &S::algorithm},
       {"--prompts", "N", "Prompts of a step [128]", &S::prompts},
       {"--samples", "N", "Responses to a prompt [as usual for the algorithm]", &S::samples},
       {"--prompt-length", "N", "Tokens of a prompt [512]", &S::prompt_length},
       {"--response-length", "N", "Tokens of a response in the mean [1024]", &S::response_length},
       {"--response-limit", "N", "Tokens at which responses are cut [twice the mean]", &S::response_limit},
       {"--sequence-limit", "N", "Tokens of a prompt and its response at most, all turns of it [no further limit]",
        &S::sequence_limit},
       {"--length-variation", "X", "Standard deviation of the lengths by their mean, before the cut [0.7]",
        &S::length_variation},
       {"--length-shape", "lognormal|exponential", "How lengths are distributed [lognormal]", &S::length_shape},
       {"--mini-batches", "N", "Optimizer steps of a pass over the responses [as usual for the algorithm]",
        &S::mini_batches},
       {"--passes", "N", "Passes over the responses of a step [1]", &S::passes},
       {"--kl", "on|off", "Compare with a frozen copy of the policy [as usual for the algorithm]", &S::kl},
       {"--steps", "N", "Steps of the run [200]", &S::steps},
       {"--epochs", "N", "The same as epochs of --dataset-prompts", &S::epochs},
       {"--dataset-prompts", "N", "Prompts of the data set, e.g. 10k", &S::dataset_prompts},
       {"--engine", "vllm|sglang", "What generates the responses [vllm]", &S::engine},
       {"--rollout-tp", "N", "Devices of a replica of the engine: a number or a list [what is fastest]",
        &S::rollout_tp},
       {"--rollout-dtype", "bf16|fp8", "Number format of the engine's weights [bf16]", &S::rollout_dtype},
       {"--replica-sequences", "N", "Responses that a replica of the engine generates at once [what it admits]",
        &S::replica_sequences},
       {"--concurrency", "N", "Responses generated at once on all replicas [no limit]", &S::concurrency},
       {"--start-rate", "N", "Responses that start each second [all of a step at once]", &S::start_rate},
       {"--reward-model", "MODEL", "A model that scores responses, see `smplan models list`", &S::reward_model},
       {"--reward-seconds", "TIME", "What a reward function adds to a step [0s]", &S::reward_seconds},
       {"--critic", "MODEL", "The critic of ppo [as the policy]", &S::critic},
       {"--placement", "PLACEMENTS", "colocated, split, split-sync: a list [colocated,split]", &S::placement},
       {"--framework", "any|verl", "Keep to what this framework can be told [any; with --export that of the target]",
        &S::framework}}};
  return kNames;
}

std::string keyword_of(const RlName& name) {
  std::string keyword(name.flag.substr(2));
  std::replace(keyword.begin(), keyword.end(), '-', '_');
  return keyword;
}

bool is_rl_member(std::string_view name) {
  // The work is what prompts and responses make of it, and no data set is read beside them. What is trained and how
  // many instances there may be have other defaults.
  // No framework of reinforcement learning freezes part of a policy by a setting.
  static constexpr std::array<std::string_view, 19> kOwn{"finetune",
                                                         "count",
                                                         "tokens",
                                                         "seq_len",
                                                         "mean_seq_len",
                                                         "global_batch",
                                                         "global_batch_tokens",
                                                         "loss",
                                                         "reference",
                                                         "teacher",
                                                         "launchable",
                                                         "dataset",
                                                         "dataset_files",
                                                         "sample_size",
                                                         "input_mode",
                                                         "data_region",
                                                         "trained_layers",
                                                         "virtual_tokens",
                                                         "adapter_count"};
  return std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end();
}

Result<RlRequest> resolve_rl(const RlSpec& spec, const Catalog& catalog,
                             const std::optional<std::string>& environment_region, std::optional<Instant> now) {
  return RlResolver(spec, catalog).run(environment_region, now);
}

}  // namespace smplan
