#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalogs/regions.hpp"
#include "models/layers/layers.hpp"
#include "models/machine/cluster.hpp"
#include "planner/export/launch.hpp"
#include "planner/export/launchable.hpp"
#include "planner/export/target.hpp"
#include "planner/request/fields.hpp"
#include "planner/request/resolver.hpp"
#include "planner/request/runs_on.hpp"

namespace smplan {
namespace {

constexpr std::int32_t kDefaultMaxCount = 128;
constexpr std::int32_t kMaxCount = 2048;
constexpr std::int64_t kMaxGpus = 1 << 20;

bool has_wildcard(std::string_view glob) { return glob.find_first_of("*?[") != std::string_view::npos; }

template <typename T>
bool lists(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Frameworks that train by reinforcement alone.
bool trains_by_reinforcement(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames{"verl", "nemorl", "rlinf", "areal", "slime", "trlx", "primerl"};
  const std::string wanted = letters_and_digits(name);
  return std::find(kNames.begin(), kNames.end(), wanted) != kNames.end();
}

}  // namespace

void Resolver::read_market(const std::optional<std::string>& environment_region) {
  request_.overlays = catalog_.overlays();
  for (const Price& p : catalog_.prices()) request_.prices_as_of = std::max(request_.prices_as_of, p.provenance.as_of);
  if (spec_.market) {
    const bool all = lower_case(trim(*spec_.market)) == "all";
    const std::string listed = all ? fmt::format("{}", fmt::join(market_names(), ",")) : *spec_.market;
    const auto markets = parse_names<Market>(listed, "market", "--market", market_names(), market_from, faults_);
    if (!markets.empty()) request_.markets.clear();
    for (const Market m : markets) {
      if (!lists(request_.markets, m)) request_.markets.push_back(m);
    }
  }
  std::string where = "--region";
  if (spec_.region) {
    request_.region = *spec_.region;
  } else if (environment_region && !environment_region->empty()) {
    request_.region = *environment_region;
    where = "AWS_REGION";
    assume(fmt::format("region {} (from the environment)", request_.region));
  } else {
    assume(fmt::format("region {}", request_.region));
  }
  const std::vector<std::string> priced = smplan::priced_regions(catalog_);
  const std::vector<std::string> known = known_regions(catalog_);
  if (const auto region = known_spelling(request_.region, known)) request_.region = *region;
  if (purpose_ != Purpose::Plan || lists(priced, request_.region)) return;
  region_known_ = false;
  if (!lists(known, request_.region)) {
    faults_.push_back(unknown_name("region", request_.region, where, known));
    return;
  }
  add("no-price", where, fmt::format("AWS has {}, the catalog has no price there", request_.region),
      fmt::format("add prices with `smplan catalog import` and --catalog; there are prices of {}",
                  fmt::join(priced, ", ")));
}

void Resolver::read_counts() {
  if (spec_.count) {
    request_.counts = parse_integers(*spec_.count, "--count", 1, kMaxCount, faults_);
  } else if (purpose_ == Purpose::Estimate) {
    request_.counts = {1};
    assume("1 instance");
  } else {
    for (std::int32_t n = 1; n <= kDefaultMaxCount; ++n) request_.counts.push_back(n);
    request_.counts_defaulted = true;
    assume(fmt::format("1 to {} instances", kDefaultMaxCount));
  }
  if (spec_.max_gpus) request_.max_gpus = parse_bounded(*spec_.max_gpus, "--max-gpus", 1, kMaxGpus, faults_);
}

void Resolver::read_instances() {
  const std::size_t before = faults_.size();
  request_.types_defaulted = !spec_.instances;
  if (!spec_.instances) {
    for (const InstanceType& instance : catalog_.instances()) consider(instance, false);
  } else {
    for (const std::string_view name : split_list(*spec_.instances, "--instances", faults_)) {
      if (has_wildcard(name)) {
        const auto matches = take(catalog_.instances_matching(name, "--instances"), faults_);
        if (!matches) continue;
        for (const InstanceType* instance : *matches) consider(*instance, false);
      } else {
        consider_named(name);
      }
    }
  }
  // Catalog order whatever the order of the flag, so that equal requests give equal answers.
  std::sort(request_.instances.begin(), request_.instances.end());
  request_.instances.erase(std::unique(request_.instances.begin(), request_.instances.end()), request_.instances.end());
  std::sort(request_.left_out.begin(), request_.left_out.end());
  request_.left_out.erase(std::unique(request_.left_out.begin(), request_.left_out.end()), request_.left_out.end());
  if (request_.instances.empty() && faults_.size() == before && region_known_) refuse_empty_selection();
  if (purpose_ == Purpose::Plan) name_markets_without_prices();
}

/// Of several markets those that no candidate has a price in are compared in name only.
void Resolver::name_markets_without_prices() {
  if (request_.markets.size() < 2) return;
  for (const Market market : request_.markets) {
    const bool sold = std::any_of(request_.instances.begin(), request_.instances.end(), [&](const InstanceType* i) {
      return catalog_.find_price(i->name, request_.region, market) != nullptr;
    });
    if (!sold) request_.markets_without_prices.push_back(market);
  }
}

/// A type, or a family of them: `p5` is every ml.p5 there is, but not p5e or p5en.
void Resolver::consider_named(std::string_view name) {
  const Result<const InstanceType*> instance = catalog_.instance(name, "--instances");
  if (instance) return consider(**instance, true);
  const auto family = catalog_.instances_matching(fmt::format("{}.*", name), "--instances");
  if (!family) return (void)take(instance, faults_);
  for (const InstanceType* member : *family) consider(*member, false);
}

void Resolver::consider(const InstanceType& instance, bool named) {
  // Measured systems that are no AWS types serve validation, types without accelerator other jobs.
  if (!named && (instance.support == TrainingSupport::Reference || instance.accelerator_count == 0)) return;
  const std::string reason = reason_to_leave_out(instance, named);
  if (reason.empty()) {
    request_.instances.push_back(&instance);
  } else {
    request_.left_out.emplace_back(instance.name, reason);
  }
}

std::string Resolver::reason_to_leave_out(const InstanceType& instance, bool named) {
  if (instance.accelerator_count == 0) return "has no accelerator";
  const Result<Cluster> cluster = make_cluster(catalog_, instance, 1);
  if (!cluster) return cluster.error().front().message;
  if (purpose_ == Purpose::Estimate) return {};
  const bool sold = std::any_of(request_.counts.begin(), request_.counts.end(),
                                [&](std::int32_t count) { return instance.sells(count); });
  if (!sold && !request_.counts.empty()) {
    return fmt::format("sold in {} instances, and no count asked for is a sum of these",
                       fmt::join(instance.sold_in, " or "));
  }
  const bool orderable =
      instance.support == TrainingSupport::OnDemand ||
      (instance.support == TrainingSupport::PlanOnly && lists(request_.markets, Market::CapacityBlock));
  if (!orderable && !named) {
    return instance.support_reason.empty() ? std::string(to_string(instance.support)) : instance.support_reason;
  }
  const bool priced = std::any_of(request_.markets.begin(), request_.markets.end(), [&](Market market) {
    return catalog_.find_price(instance.name, request_.region, market) != nullptr;
  });
  if (orderable) {
    ++request_.types_orderable;
    if (priced) ++request_.types_priced;
  }
  if (priced) return {};
  const std::vector<std::string> regions = priced_regions(instance.name);
  const std::string elsewhere = regions.empty() ? "" : fmt::format("; known in {}", fmt::join(regions, ", "));
  return fmt::format("no {} price in {}{}", market_list(request_), request_.region, elsewhere);
}

std::vector<std::string> Resolver::priced_regions(const std::string& instance) const {
  std::vector<std::string> regions;
  for (const Price& p : catalog_.prices()) {
    if (p.instance == instance && lists(request_.markets, p.market) && !lists(regions, p.region))
      regions.push_back(p.region);
  }
  std::sort(regions.begin(), regions.end());
  return regions;
}

void Resolver::refuse_empty_selection() {
  constexpr std::size_t kShown = 3;
  std::string reasons;
  for (std::size_t i = 0; i < request_.left_out.size() && i < kShown; ++i) {
    reasons += fmt::format("{}{}: {}", i > 0 ? "; " : "", request_.left_out[i].first, request_.left_out[i].second);
  }
  if (request_.left_out.size() > kShown) reasons += fmt::format("; and {} more", request_.left_out.size() - kShown);
  add("no-instance", spec_.instances ? "--instances" : "--region",
      reasons.empty() ? "the catalog has no instance types" : "no instance type is left to plan with (" + reasons + ")",
      "choose another --region or --market, or add prices with --catalog");
}

/// A stack of one machine, asked for on several.
bool Resolver::refuses_span(const Stack& stack) {
  if (!stack.one_node || request_.counts.empty() || request_.counts.front() <= 1) return false;
  add("conflict", "--stack and --count",
      fmt::format("{} does not span {} instances", stack.name, request_.counts.front()),
      fmt::format("give --count 1: {}", stack.limitation));
  return true;
}

/// `job`, `any`, or a target whose file says all of a plan.
void Resolver::read_launchable(std::string_view text) {
  std::vector<std::string> known{"job", "any"};
  for (const ExportTarget& target : export_targets()) {
    if (target.side == TargetSide::Strategy) known.emplace_back(target.name);
  }
  const auto listed = [&](std::string_view name) {
    const auto found = std::find(known.begin(), known.end(), name);
    return found == known.end() ? std::nullopt : std::optional(*found);
  };
  const auto kind = parse_name(text, "kind of plan", "--launchable", known, listed, faults_);
  if (!kind) return;
  request_.launchable = *kind != "any";
  if (*kind == "job" || *kind == "any") return;
  request_.target = *find_export_target(*kind, "--launchable");
  assume(fmt::format("only what an export to {} can say is planned", *kind));
}

void Resolver::read_stacks() {
  if (spec_.launchable) read_launchable(*spec_.launchable);
  if (spec_.program) {
    const auto program = parse_name(*spec_.program, "program", "--program", {"user", "tuned"}, program_from, faults_);
    if (program) request_.program = *program;
  } else {
    assume("a user's own program (--program tuned: a recipe as its authors tuned it, whose time is surer)");
  }
  if (!spec_.stack) return choose_stacks();
  std::vector<std::pair<std::string, std::string>> refused;
  for (const std::string_view name : split_list(*spec_.stack, "--stack", faults_)) {
    if (trains_by_reinforcement(name)) {
      add("unsupported", "--stack", fmt::format("{} trains by reinforcement, which is no stack of a plan", name),
          "plan it with `smplan rl`, or its supervised part with --stack fsdp, megatron or deepspeed");
      continue;
    }
    const auto stack = take(catalog_.stack(name, "--stack"), faults_);
    if (!stack || refuses_span(**stack)) continue;
    if (!request_.instances.empty() && !runs_somewhere(**stack)) {
      add("conflict", "--stack", fmt::format("{} runs on none of the instance types", (*stack)->name),
          fmt::format("choose another stack or other --instances; {}", (*stack)->limitation));
    } else if (!has_kernels(**stack)) {
      std::vector<std::string_view> able;
      for (const Stack& other : catalog_.stacks()) {
        if (has_kernels(other)) able.push_back(other.id);
      }
      add("conflict", "--stack",
          fmt::format("{} has no state mixers, {} has (Mamba-2 or the gated delta rule)", (*stack)->name,
                      request_.workload.architecture.name),
          fmt::format("use --stack with one of {}", fmt::join(able, ", ")));
    } else if (const auto refusal = recovery_refusal(**stack)) {
      add("conflict", "--stack", *refusal, "plan it with such a stack, or recover otherwise");
    } else if (const auto refusal = refusal_of_named(**stack)) {
      refused.emplace_back((*stack)->id, *refusal);
    } else if (!lists(request_.stacks, *stack)) {
      const auto same = [&](std::string_view other) { return letters_and_digits(other) == letters_and_digits(name); };
      if (!same((*stack)->id) && !same((*stack)->name)) {
        assume(fmt::format("--stack {} is planned as {}, {}", name, (*stack)->id, (*stack)->name));
      }
      if (std::string note = (*stack)->note_on(name); !note.empty()) {
        request_.stack_notes.emplace_back(*stack, std::move(note));
      }
      request_.stacks.push_back(*stack);
    }
  }
  std::sort(request_.stacks.begin(), request_.stacks.end());
  // Of several stacks those are planned that the target runs on.
  const bool left_out = request_.target != nullptr && !request_.stacks.empty();
  for (auto& [stack, refusal] : refused) {
    if (left_out) {
      request_.stacks_left_out.emplace_back(stack, refusal);
    } else {
      add("conflict", "--stack", refusal, "plan it with another stack, or add --launchable any");
    }
  }
}

/// What people train with where the request names no stack. What no export can start is left out and named.
void Resolver::choose_stacks() {
  request_.stacks_defaulted = true;
  if (!has_model_ || !faults_.empty()) return;
  const Workload& w = request_.workload;
  const auto parameters = static_cast<double>(count_parameters(w.architecture).total());
  std::vector<const Stack*> without_script;
  for (const Stack& stack : catalog_.stacks()) {
    if (request_.target != nullptr && !runs_as(*request_.target, stack.id)) continue;
    const bool usual = w.fine_tunes ? stack.supported_for_fine_tuning : stack.supported_for_planning;
    const bool too_small =
        request_.target == nullptr && usual && !w.fine_tunes && parameters < stack.usual_from_parameters;
    if (too_small && request_.launchable && runs_somewhere(stack)) {
      request_.stacks_left_out.emplace_back(
          stack.id, fmt::format("usual from {} parameters on", format_count(stack.usual_from_parameters)));
      continue;
    }
    const bool planned = request_.target != nullptr || usual || (!request_.launchable && stack.supported_for_planning);
    if (!planned || !runs_somewhere(stack) || !has_kernels(stack)) continue;
    if (const auto refusal = recovery_refusal(stack)) {
      request_.stacks_left_out.emplace_back(stack.id, *refusal);
      continue;
    }
    const auto refusal = request_.launchable ? launch_refusal(w, stack, request_.target) : std::nullopt;
    if (refusal) {
      const auto tools = request_.target == nullptr ? tools_for(w, stack) : std::vector<const ExportTarget*>();
      const std::string by =
          tools.empty() ? "" : fmt::format("; --export {} plans it for that tool", tools.front()->name);
      request_.stacks_left_out.emplace_back(stack.id, refusal->reason + by);
      if (refusal->only_script) without_script.push_back(&stack);
    } else {
      request_.stacks.push_back(&stack);
    }
  }
  if (request_.stacks.empty() && request_.launchable && request_.target == nullptr && choose_tool()) return;
  // Better a job that lacks its script than none.
  if (request_.stacks.empty() && !without_script.empty()) {
    request_.stacks = std::move(without_script);
    std::erase_if(request_.stacks_left_out, [&](const auto& left) {
      return std::any_of(request_.stacks.begin(), request_.stacks.end(),
                         [&](const Stack* stack) { return stack->id == left.first; });
    });
    assume("a training script of your own, which these stacks need");
  }
  if (!request_.stacks.empty() || request_.instances.empty()) return;
  std::string reasons;
  for (const auto& [stack, reason] : request_.stacks_left_out) {
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", stack, reason);
  }
  add("no-stack", "--stack",
      reasons.empty() && request_.target != nullptr
          ? fmt::format("what an export to {} runs on does not train {} on these instance types", request_.target->name,
                        w.architecture.name)
      : reasons.empty() ? std::string("no stack that is planned by default runs on these instance types")
                        : "no export starts this work (" + reasons + ")",
      request_.target != nullptr ? "export to another target, or plan other work"
                                 : "name a --stack, or give --launchable any");
}

/// Where no job brings a program that trains the work, a tool may train it by its file: the first that does, on all
/// stacks that it runs as.
bool Resolver::choose_tool() {
  std::vector<std::pair<const ExportTarget*, const Stack*>> found;
  for (const Stack& stack : catalog_.stacks()) {
    if (!stack.supported_for_fine_tuning || !runs_somewhere(stack) || recovery_refusal(stack)) continue;
    for (const ExportTarget* tool : tools_for(request_.workload, stack)) found.emplace_back(tool, &stack);
  }
  if (found.empty()) return false;
  // Targets stand in one table: the first of them.
  request_.target = std::min_element(found.begin(), found.end())->first;
  for (const auto& [tool, stack] : found) {
    if (tool == request_.target && !lists(request_.stacks, stack)) request_.stacks.push_back(stack);
  }
  std::erase_if(request_.stacks_left_out, [&](const auto& left) {
    return std::any_of(request_.stacks.begin(), request_.stacks.end(),
                       [&](const Stack* stack) { return stack->id == left.first; });
  });
  assume(fmt::format("{} trains: no program of an export does, `--export {}` writes its file", request_.target->name,
                     request_.target->name));
  return true;
}

/// What no export can start is not planned either. A script of the user's own is his matter.
std::optional<std::string> Resolver::refusal_of_named(const Stack& stack) const {
  if (purpose_ != Purpose::Plan || !request_.launchable || !has_model_) return std::nullopt;
  if (request_.target == nullptr && stack_export(stack.id) == nullptr) return std::nullopt;
  const auto refusal = launch_refusal(request_.workload, stack, request_.target);
  return refusal && !refusal->only_script ? std::optional(refusal->reason) : std::nullopt;
}

bool Resolver::runs_somewhere(const Stack& stack) const {
  return std::any_of(request_.instances.begin(), request_.instances.end(), [&](const InstanceType* instance) {
    const Accelerator* accelerator = catalog_.find_accelerator(instance->accelerator);
    return accelerator != nullptr && stack.runs_on(*accelerator);
  });
}

bool Resolver::has_kernels(const Stack& stack) const {
  return stack.state_mixers || !request_.workload.architecture.has_state_mixer();
}

}  // namespace smplan
