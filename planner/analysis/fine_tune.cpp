#include "planner/analysis/fine_tune.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/layers/adapters.hpp"
#include "models/layers/layers.hpp"
#include "planner/export/launchable.hpp"
#include "planner/export/target.hpp"
#include "planner/request/fields.hpp"
#include "planner/request/names.hpp"

namespace smplan {
namespace {

constexpr std::array<std::pair<Packing, std::string_view>, 3> kPackings{
    {{Packing::On, "on"}, {Packing::Off, "off"}, {Packing::LengthGrouped, "length-grouped"}}};
constexpr std::int64_t kMaxLength = std::int64_t{1} << 24;
constexpr double kMostEpochs = 10'000;
/// What is packed is worth a block of this length at least; lengths are whole multiples of the other.
constexpr std::int64_t kLeastBlock = 2048;
constexpr std::int64_t kLengthStep = 64;
/// Where no batch is named: an epoch has as many steps at least, so that a learning rate has time to fall.
constexpr std::int64_t kStepsOfAnEpoch = 32;
constexpr std::int64_t kLeastBatch = 8;
constexpr std::int64_t kMostBatch = 128;
/// The padded length depends on the micro-batch, and the best micro-batch on it: a few rounds settle both.
constexpr int kRounds = 4;

std::string default_methods(const RequestSpec& base) { return base.finetune.value_or("full,lora,qlora"); }

bool has_pairs(const RequestSpec& base) {
  const TrainingLoss* loss = training_loss(base.loss.value_or("sft"));
  return loss != nullptr && loss->sequences > 1;
}

/// How the text of a file is counted, and that in words.
struct ChosenMeasure {
  TextMeasure measure;
  std::string words;
};

ChosenMeasure by_characters(double per_token) {
  ChosenMeasure chosen;
  chosen.measure.characters_per_token = per_token;
  chosen.words = fmt::format("{:g} characters a token", per_token);
  return chosen;
}

/// The tokenizer.json beside a config.json that is named; nullopt if there is none.
std::optional<std::string> tokenizer_beside(const RequestSpec& base) {
  if (!base.hf_config || *base.hf_config == "-") return std::nullopt;
  const auto path = std::filesystem::path(*base.hf_config).replace_filename("tokenizer.json");
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable) ? std::optional(path.string()) : std::nullopt;
}

std::optional<ChosenMeasure> choose_measure(const FineTuneWords& words, const RequestSpec& base, Diagnostics& out) {
  if (words.characters_per_token && (words.tokenizer || words.measure)) {
    out.push_back({"conflict", "--characters-per-token", "the tokenizer counts", "leave one of the two out"});
    return std::nullopt;
  }
  if (words.measure) return ChosenMeasure{*words.measure, "counted with the tokenizer given"};
  if (words.characters_per_token) {
    const auto n = take(parse_count(*words.characters_per_token, "--characters-per-token"), out);
    if (!n) return std::nullopt;
    return by_characters(*n);
  }
  const auto path = words.tokenizer ? words.tokenizer : tokenizer_beside(base);
  if (!path) return by_characters(kCharactersPerToken);
  if (*path == "-") {
    out.push_back({"conflict", "--tokenizer", "standard input is no tokenizer", "name a tokenizer.json"});
    return std::nullopt;
  }
  const Result<Tokenizer> tokenizer = Tokenizer::read(*path);
  if (tokenizer) return ChosenMeasure{measure_of(*tokenizer), fmt::format("counted with {}", *path)};
  out.insert(out.end(), tokenizer.error().begin(), tokenizer.error().end());
  if (!words.tokenizer) {
    out.push_back({"unsupported", "--hf-config", fmt::format("{} beside it counts no tokens", quote(*path)),
                   "add --characters-per-token 4, or --tokenizer FILE"});
  }
  return std::nullopt;
}

void read_data(const FineTuneWords& words, FineTuneQuestion& q, Diagnostics& out) {
  const bool stated = words.examples || words.length;
  if (!words.lengths.empty()) {
    if (words.data || stated) {
      out.push_back({"conflict", "--lengths", "the data is given twice", "leave data, examples and length out"});
      return;
    }
    if (words.tokenizer || words.measure) {
      out.push_back({"conflict", "--tokenizer", "the lengths are counted already", "leave the tokenizer out"});
      return;
    }
    const std::size_t together = has_pairs(q.base) ? 2 : 1;
    const auto bad = std::find_if(words.lengths.begin(), words.lengths.end(),
                                  [](std::int64_t n) { return n < 1 || n > kMaxLength; });
    if (bad != words.lengths.end() || words.lengths.size() % together != 0) {
      out.push_back({"out-of-range", "--lengths",
                     bad != words.lengths.end() ? fmt::format("a sequence of {} tokens", *bad)
                                                : std::string("of pairs there are two lengths each"),
                     "give the tokens of each sequence"});
      return;
    }
    q.lengths.tokens = words.lengths;
    std::sort(q.lengths.tokens.begin(), q.lengths.tokens.end());
    q.lengths.examples = static_cast<std::int64_t>(words.lengths.size() / together);
    q.lengths.pairs = together > 1;
    q.lengths.counted = true;
    q.source = "lengths as given";
    return;
  }
  if (words.data && stated) {
    out.push_back({"conflict", "--data", "the file says how many examples there are and how long they are",
                   "leave --examples and --length out"});
    return;
  }
  if (words.data) {
    const auto chosen = choose_measure(words, q.base, out);
    if (!chosen) return;
    auto lengths = take(read_examples(*words.data, chosen->measure), out);
    if (!lengths) return;
    q.lengths = std::move(*lengths);
    if (q.lengths.counted && (words.tokenizer || words.measure)) {
      out.push_back({"conflict", "--tokenizer", "the file holds tokens, no text", "leave --tokenizer out"});
    }
    q.source = fmt::format("{}, {}", *words.data, q.lengths.counted ? "tokens as they are there" : chosen->words);
    if (q.lengths.turns) q.source += fmt::format(" and {} for the template of a turn", kTokensOfATurn);
    if (q.lengths.pairs != has_pairs(q.base)) {
      out.push_back({"conflict", "--data",
                     q.lengths.pairs ? "the file holds pairs of a chosen and a rejected answer"
                                     : fmt::format("{} learns from pairs, the file holds none", *q.base.loss),
                     q.lengths.pairs ? "add --loss dpo, orpo, simpo, cpo or reward" : "give chosen and rejected"});
    }
    return;
  }
  if (words.characters_per_token) {
    out.push_back({"conflict", "--characters-per-token", "no file is read", "add --data FILE"});
  }
  if (words.tokenizer || words.measure) {
    out.push_back({"conflict", "--tokenizer", "no file is read", "add --data FILE"});
  }
  if (!words.examples || !words.length) {
    out.push_back(
        {"missing", "--data", "the question names no data", "add --data train.jsonl, or --examples 20k --length 900"});
    return;
  }
  const auto examples = take(parse_integer_count(*words.examples, "--examples"), out);
  const auto length = parse_bounded_length(*words.length, "--length", 1, kMaxLength, out);
  if (!examples || !length) return;
  if (*examples > kMaxExamples) {
    out.push_back({"out-of-range", "--examples", fmt::format("more than {} examples", kMaxExamples), "give fewer"});
    return;
  }
  const std::int64_t together = has_pairs(q.base) ? 2 : 1;
  q.lengths = equal_examples(*examples * together, *length);
  q.lengths.examples = *examples;
  q.lengths.pairs = together > 1;
  q.lengths.counted = true;
  q.source = "as stated, all of one length";
}

std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

std::int64_t power_of_two_below(double n) {
  return static_cast<std::int64_t>(std::exp2(std::floor(std::log2(std::max(1.0, n)))));
}

/// Stacks that people fine-tune with.
std::string fine_tuning_stacks(const Catalog& catalog) {
  std::string names;
  for (const Stack& s : catalog.stacks()) {
    if (s.supported_for_fine_tuning) names += (names.empty() ? "" : ",") + s.id;
  }
  return names;
}

/// One question about one data set, shared by its methods.
class Planner {
 public:
  Planner(const FineTuneQuestion& question, const Catalog& catalog, const std::optional<std::string>& region,
          std::optional<Instant> now, const SearchOptions& options)
      : q_(question), catalog_(catalog), region_(region), now_(now), options_(options) {}

  Result<FineTuneAnswer> run() {
    out_.packing =
        q_.packing.value_or(training_loss(q_.base.loss.value_or("sft")) != nullptr ? Packing::Off : Packing::On);
    // What the request is about, whatever the method.
    RequestSpec plain = q_.base;
    plain.finetune = "full";
    for (auto* field : {&plain.lora_rank, &plain.lora_targets, &plain.lora_embeddings, &plain.virtual_tokens,
                        &plain.adapter_count, &plain.trained_layers, &plain.reference}) {
      field->reset();
    }
    plain.launchable = "any";
    const Result<PlanRequest> whole = resolve(plain, catalog_, region_, Purpose::Plan, now_);
    if (!whole) return tl::unexpected<Diagnostics>(whole.error());
    out_.source = q_.source;
    blocks_ = whole->workload.architecture.n_layers;
    choose_length(whole->workload);
    lengths_ = q_.lengths.cut_to(out_.seq_len);
    out_.cut = std::count_if(q_.lengths.tokens.begin(), q_.lengths.tokens.end(),
                             [&](std::int64_t n) { return n > out_.seq_len; });
    choose_batch();
    // A method that the request rules out is told in its row; what rules out all is a fault of the request.
    Diagnostics faults;
    bool some = false;
    for (const FineTuningMethod* method : q_.methods) {
      auto row = plan(*method);
      some = some || row;
      if (!row) {
        if (faults.empty()) faults = row.error();
        row = FineTuneRow{.method = method, .why_not = row.error().front().message};
      }
      out_.rows.push_back(std::move(*row));
    }
    if (!some) return tl::unexpected<Diagnostics>(std::move(faults));
    return std::move(out_);
  }

 private:
  void choose_length(const Workload& w) {
    if (q_.base.seq_len) {
      out_.seq_len = w.seq_len;
      return;
    }
    const std::int64_t longest = round_up(q_.lengths.tokens.back(), kLengthStep);
    const std::int64_t whole = w.architecture.max_positions > 0 ? w.architecture.max_positions : kMaxLength;
    const std::int64_t model = std::max<std::int64_t>(1, whole - virtual_tokens());
    const std::int64_t block = out_.packing == Packing::On ? std::max(longest, kLeastBlock) : longest;
    out_.seq_len = std::min(block, model);
    out_.assumptions.push_back(fmt::format("sequences of up to {} tokens: the longest example is {} long", out_.seq_len,
                                           q_.lengths.tokens.back()));
  }

  /// That stand before the sequences of a method, which is compared with others on the same data.
  [[nodiscard]] std::int64_t virtual_tokens() const {
    const bool some = std::any_of(q_.methods.begin(), q_.methods.end(), [](const FineTuningMethod* method) {
      const AdapterMethod* kind = adapter_method(method->adapters);
      return kind != nullptr && kind->is_prompt();
    });
    if (!some) return 0;
    const Result<double> stated = parse_count(q_.base.virtual_tokens.value_or(""), "--virtual-tokens");
    return stated && *stated < kMaxLength ? static_cast<std::int64_t>(*stated) : kUsualVirtualTokens;
  }

  /// Sequences of an epoch.
  [[nodiscard]] double sequences() const {
    const auto n = static_cast<double>(lengths_.tokens.size());
    if (out_.packing != Packing::On) return n;
    return std::max(1.0, std::ceil(n * lengths_.mean() / static_cast<double>(out_.seq_len)));
  }

  void choose_batch() {
    if (q_.base.global_batch || q_.base.global_batch_tokens) return;
    const std::int64_t usual = power_of_two_below(sequences() / static_cast<double>(kStepsOfAnEpoch));
    batch_ = std::clamp(usual, kLeastBatch, kMostBatch);
    out_.assumptions.push_back(fmt::format("{} sequences a step, {:.0f} steps an epoch", *batch_,
                                           std::ceil(sequences() / static_cast<double>(*batch_))));
  }

  /// Tokens that a sequence is computed with.
  [[nodiscard]] std::int64_t computed_length(std::int64_t micro_batch) const {
    if (out_.packing == Packing::On) return out_.seq_len;
    const double mean = out_.packing == Packing::Off ? lengths_.padded_mean(micro_batch) : lengths_.mean();
    return std::max<std::int64_t>(1, std::llround(mean));
  }

  /// What an evaluation, a forward pass, is of a step: a third of one of all weights, half of one of adapters, and by
  /// FLOPs where part of the model is frozen.
  [[nodiscard]] double forward_part(const RequestSpec& spec) const {
    if (spec.finetune != "full") return 1.0 / 2;
    const auto trained = trained_layers_from(spec.trained_layers.value_or(""));
    if (!trained || trained->blocks < 1 || trained->blocks > blocks_) return 1.0 / 3;
    const auto blocks = static_cast<double>(trained->blocks);
    const auto crossed = static_cast<double>(blocks_ - trained->begin(blocks_)) - blocks;
    const auto all = static_cast<double>(blocks_);
    return all / (all + 2 * blocks + crossed);
  }

  [[nodiscard]] RequestSpec spec_of(const FineTuningMethod& method, std::int64_t mean) const {
    RequestSpec spec = q_.base;
    spec.finetune = method.trains;
    if (!method.adapters.empty()) spec.adapters = method.adapters;
    if (method.trains == "full") {
      for (auto* field : {&spec.adapters, &spec.adapter_count}) field->reset();
      if (spec.reference == "adapters") spec.reference.reset();
    }
    // What the request says of layers is meant for methods that adapt some, of virtual tokens for those that train
    // them.
    const AdapterMethod* kind = spec.adapters ? adapter_method(*spec.adapters) : nullptr;
    const bool prompt = method.trains != "full" && kind != nullptr && kind->is_prompt();
    if (prompt || method.trains == "full") {
      for (auto* field : {&spec.lora_rank, &spec.lora_targets, &spec.lora_embeddings}) field->reset();
    }
    if (!prompt) spec.virtual_tokens.reset();
    // What the request names of the blocks is meant for the method that freezes the others.
    if (method.last_layers == 0) spec.trained_layers.reset();
    if (method.last_layers > 0 && !spec.trained_layers) {
      const double last = std::round(method.last_layers * static_cast<double>(blocks_));
      spec.trained_layers = fmt::format("last:{:.0f}", std::max(1.0, last));
    }
    spec.seq_len = std::to_string(out_.seq_len);
    if (mean < out_.seq_len) spec.mean_seq_len = std::to_string(mean);
    if (batch_) spec.global_batch = std::to_string(*batch_);
    const double trained = sequences() * static_cast<double>(mean) * q_.epochs;
    const double forward = forward_part(spec);
    const double evaluated = q_.evaluation / (1 - q_.evaluation) * trained;
    spec.tokens = fmt::format("{:.0f}", std::ceil(trained + forward * evaluated));
    spec.top = "1";
    return spec;
  }

  void take_plan(FineTuneRow& row, PlanRequest request) const {
    PlanSet set = search(request, catalog_, options_);
    row.request = std::move(request);
    row.plan.reset();
    if (!set.plans.empty()) {
      row.plan = std::move(set.plans.front());
    } else if (set.nearest_miss) {
      row.why_not = "does not fit: " + std::string(to_string(set.nearest_miss->rejection.reason));
      std::replace(row.why_not.begin(), row.why_not.end(), '_', ' ');
    } else {
      row.why_not = "nothing fits";
    }
  }

  /// The best plan of the row's spec. Where no export starts one, a script of the user's own does, on a stack that
  /// people tune with.
  Result<void> search_row(FineTuneRow& row) const {
    Result<PlanRequest> request = resolve(row.spec, catalog_, region_, Purpose::Plan, now_);
    if (request) take_plan(row, std::move(*request));
    const bool stated = row.spec.stack || row.spec.launchable;
    if (!row.plan && !stated && plan_by_tool(row)) return {};
    if (!row.plan && !stated) {
      RequestSpec own = row.spec;
      own.stack = fine_tuning_stacks(catalog_);
      own.launchable = "any";
      Result<PlanRequest> by_hand = resolve(own, catalog_, region_, Purpose::Plan, now_);
      if (by_hand) {
        take_plan(row, std::move(*by_hand));
        if (row.plan) own.stack = row.plan->stack->id;
        row.spec = std::move(own);
        return {};
      }
    }
    if (!request) return tl::unexpected<Diagnostics>(std::move(request.error()));
    return {};
  }

  /// Where the programs of exports fit nowhere, the first tool whose file trains the row on something that fits.
  bool plan_by_tool(FineTuneRow& row) const {
    for (const ExportTarget& target : export_targets()) {
      if (!target.can.trains) continue;
      FineTuneRow other = row;
      other.spec.launchable = std::string(target.name);
      Result<PlanRequest> request = resolve(other.spec, catalog_, region_, Purpose::Plan, now_);
      if (!request) continue;
      take_plan(other, std::move(*request));
      if (!other.plan) continue;
      row = std::move(other);
      return true;
    }
    return false;
  }

  Result<FineTuneRow> plan(const FineTuningMethod& method) {
    FineTuneRow row;
    row.method = &method;
    std::int64_t micro_batch = lengths_.pairs ? 2 : 1;
    for (int round = 0; round < kRounds; ++round) {
      row.mean_seq_len = computed_length(micro_batch);
      row.spec = spec_of(method, row.mean_seq_len);
      if (Result<void> searched = search_row(row); !searched) {
        return tl::unexpected<Diagnostics>(std::move(searched.error()));
      }
      if (!row.plan || out_.packing != Packing::Off || row.plan->strategy.micro_batch == micro_batch) break;
      micro_batch = row.plan->strategy.micro_batch;
    }
    Workload w = row.request.workload;
    if (row.plan) w.lora.layers = adapted_layers_of(w.architecture, *row.plan->stack);
    row.tokens = sequences() * static_cast<double>(row.mean_seq_len) * q_.epochs;
    row.steps = static_cast<std::int64_t>(std::ceil(row.tokens / w.tokens_per_step()));
    const bool full = w.finetune == FineTune::Full;
    row.trained = trained_parameters(w);
    const std::int64_t saved =
        full ? count_parameters(w.architecture).total() : saved_lora_parameters(w.architecture, w.lora);
    row.saved = Bytes((full ? 2.0 : 4.0) * static_cast<double>(saved));
    return row;
  }

  const FineTuneQuestion& q_;
  const Catalog& catalog_;
  const std::optional<std::string>& region_;
  std::optional<Instant> now_;
  const SearchOptions& options_;
  ExampleLengths lengths_;
  std::optional<std::int64_t> batch_;
  std::int64_t blocks_ = 0;
  FineTuneAnswer out_;
};

}  // namespace

std::string_view to_string(Packing packing) {
  for (const auto& [value, name] : kPackings) {
    if (value == packing) return name;
  }
  return "unknown";
}

std::optional<Packing> packing_from(std::string_view name) {
  for (const auto& [value, known] : kPackings) {
    if (known == name) return value;
  }
  return std::nullopt;
}

Result<FineTuneQuestion> read_fine_tune(const FineTuneWords& words, RequestSpec base) {
  Diagnostics faults;
  FineTuneQuestion q;
  q.base = std::move(base);
  if (q.base.tokens) {
    faults.push_back({"conflict", "--tokens", "the examples decide how many tokens there are",
                      "leave --tokens out, or ask `smplan plan`"});
  }
  if (q.base.mean_seq_len) {
    faults.push_back({"conflict", "--mean-seq-len", "the examples decide how long sequences are",
                      "leave --mean-seq-len out, or ask `smplan plan`"});
  }
  if (words.epochs) {
    const auto n = take(parse_count(*words.epochs, "--epochs"), faults);
    if (n && *n > kMostEpochs) {
      faults.push_back({"out-of-range", "--epochs", fmt::format("{} epochs", *words.epochs), "give fewer"});
    }
    if (n) q.epochs = *n;
  }
  if (words.evaluation) {
    const auto part = take(parse_fraction(*words.evaluation, "--evaluation"), faults);
    if (part && *part > 0.5) {
      faults.push_back(
          {"out-of-range", "--evaluation", "more than half of the examples are held back", "give a part such as 5%"});
    } else if (part) {
      q.evaluation = *part;
    }
  }
  if (words.packing) {
    q.packing =
        parse_name(*words.packing, "packing", "--packing", {"on", "off", "length-grouped"}, packing_from, faults);
    if (q.packing == Packing::On && has_pairs(q.base)) {
      faults.push_back({"conflict", "--packing", "pairs are compared sequence by sequence and are not packed",
                        "use --packing off or length-grouped"});
    }
  }
  std::vector<std::string> known;
  for (const FineTuningMethod& m : fine_tuning_methods()) known.push_back(m.name);
  const std::string list = words.methods ? *words.methods : default_methods(q.base);
  q.methods = parse_names<const FineTuningMethod*>(
      list, "method of fine-tuning", "--methods", known,
      [](std::string_view name) {
        const FineTuningMethod* method = fine_tuning_method(name);
        return method != nullptr ? std::optional(method) : std::nullopt;
      },
      faults);
  std::set<const FineTuningMethod*> seen;
  std::erase_if(q.methods, [&](const FineTuningMethod* method) { return !seen.insert(method).second; });
  read_data(words, q, faults);
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  // Evaluated examples are not trained on.
  if (q.evaluation > 0) {
    const auto kept = static_cast<double>(q.lengths.tokens.size()) * (1 - q.evaluation);
    ExampleLengths trained = q.lengths;
    trained.tokens.clear();
    const auto n = static_cast<std::size_t>(std::max(1.0, std::round(kept)));
    for (std::size_t i = 0; i < n; ++i) trained.tokens.push_back(q.lengths.tokens[i * q.lengths.tokens.size() / n]);
    q.lengths = std::move(trained);
  }
  return q;
}

const FineTuneRow* FineTuneAnswer::cheapest() const {
  const FineTuneRow* best = nullptr;
  for (const FineTuneRow& row : rows) {
    if (!row.plan) continue;
    if (best == nullptr || row.plan->cost.total() < best->plan->cost.total()) best = &row;
  }
  return best;
}

Result<FineTuneAnswer> plan_fine_tune(const FineTuneQuestion& question, const Catalog& catalog,
                                      const std::optional<std::string>& environment_region, std::optional<Instant> now,
                                      const SearchOptions& options) {
  return Planner(question, catalog, environment_region, now, options).run();
}

std::string command_of(const RequestSpec& spec) {
  std::string text = "smplan plan";
  for (const RequestName& name : request_names()) {
    const auto& value = name.of(spec);
    if (!value || name.name == "top") continue;
    std::string flag(name.name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    const bool plain = value->find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,_-/") == std::string::npos;
    text += fmt::format(" --{} {}", flag, plain ? *value : "'" + *value + "'");
  }
  return text;
}

Json fine_tune_rows(const FineTuneAnswer& answer) {
  Json rows = Json::array();
  for (const FineTuneRow& row : answer.rows) {
    const Plan* plan = row.plan ? &*row.plan : nullptr;
    const bool priced = plan != nullptr && plan->price != nullptr;
    const auto of = [&](auto value) { return plan != nullptr ? Json(value(*plan)) : Json(nullptr); };
    const auto usd = [&](auto value) { return priced ? Json(value(plan->cost).value()) : Json(nullptr); };
    Json out;
    out["method"] = row.method->name;
    out["instance_type"] = of([](const Plan& p) { return p.instance->name; });
    out["instance_count"] = of([](const Plan& p) { return p.instance_count; });
    out["stack"] = of([](const Plan& p) { return p.stack->id; });
    out["strategy"] = of([](const Plan& p) { return to_string(p.strategy); });
    out["launch"] = of(
        [&](const Plan& p) { return std::string(launching(row.request.workload, *p.stack, row.request.target).by); });
    out["peak_gib"] = of([](const Plan& p) { return in_gib(p.memory.wanted); });
    out["limit_gib"] = of([](const Plan& p) { return in_gib(p.memory.limit); });
    out["out_of_memory_probability"] = of([](const Plan& p) { return p.out_of_memory_probability; });
    out["step_time_s"] = of([](const Plan& p) { return p.step.time().value(); });
    out["steps"] = row.steps;
    out["tokens"] = row.tokens;
    out["seq_len"] = answer.seq_len;
    out["mean_seq_len"] = row.mean_seq_len;
    out["data"] = answer.source;
    out["time_to_train_s"] = of([](const Plan& p) { return p.cost.time_to_train().value(); });
    out["total_usd"] = usd([](const RunCost& c) { return c.total(); });
    out["total_p10_usd"] = usd([](const RunCost& c) { return c.low; });
    out["total_p90_usd"] = usd([](const RunCost& c) { return c.high; });
    out["trained_parameters"] = row.trained;
    out["saved_bytes"] = row.saved.value();
    out["quality"] = row.method->quality;
    out["quality_source"] = row.method->paper;
    out["why_not"] = plan != nullptr ? Json(nullptr) : Json(row.why_not);
    out["command"] = command_of(row.spec);
    rows.push_back(out);
  }
  return rows;
}

}  // namespace smplan
