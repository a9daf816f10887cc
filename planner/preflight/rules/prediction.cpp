// Rules that judge what the models predict for the job.
#include <cmath>

#include <fmt/format.h>

#include "planner/preflight/predict.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

/// 419 interruptions in 54 days on 16384 GPUs. Source: Llama Team 2024, "The Llama 3 Herd of Models", section 3.3.4.
constexpr double kSecondsBetweenFailuresOfOneGpu = 54 * kSecondsPerDay * 16384 / 419;
/// A synchronous save of a large model. Source: stas00/ml-engineering, fault tolerance, 2022 (BLOOM-176B, 40 s).
constexpr double kStallSeconds = 40;
/// 16-bit weights, fp32 master copy and two fp32 moments.
constexpr double kLongWithoutCheckpoint = 2 * kSecondsPerHour;

Where hardware_place(const CheckInput& in) {
  if (in.job.instance_type.stated) return in.job.instance_type.where;
  if (in.job.strategy.nodes.stated) return in.job.strategy.nodes.where;
  return in.job.root().where;
}

std::string joined(const std::vector<std::string>& cures) {
  std::string out;
  for (const std::string& cure : cures) out += (out.empty() ? "" : "; ") + cure;
  return out;
}

bool states_precision(const JobStrategy& s) {
  return s.bf16.stated || s.fp16.stated || s.fp8.stated || s.fp4.stated || s.fp32.stated;
}

void memory(const CheckInput& in, Report& report) {
  const Prediction& p = *in.prediction;
  if (p.plan.memory.fits_device()) return;
  Finding& finding = report.at(
      hardware_place(in), {format_bytes(p.plan.memory.wanted), format_bytes(p.plan.memory.limit), p.largest_memory});
  if (!p.cures.empty()) finding.fix = joined(p.cures);
  if (p.fits_below_tokens > 0) {
    finding.severity = Severity::Warning;
    finding.message += fmt::format(", with sequences of {} tokens, the model's own: nothing says a length, and {} fit",
                                   p.fits_below_tokens, kShortLength);
    finding.fix = "say the length: --seq-len";
    return;
  }
  if (in.job.kind != JobKind::HyperpodRecipe || states_precision(in.job.strategy)) return;
  finding.severity = Severity::Warning;
  finding.message += ", if the trainer keeps fp32 weights and states, which the file does not say";
}

void host_memory(const CheckInput& in, Report& report) {
  const MemoryEstimate& memory = in.prediction->plan.memory;
  if (memory.fits_host()) return;
  report.at(hardware_place(in), {format_bytes(memory.host_per_node), format_bytes(memory.host_limit)});
}

/// Behind a limit that no flag says.
std::string_view whose(bool planned) { return planned ? " (of plan.json)" : ""; }

void budget(const CheckInput& in, Report& report) {
  const Plan& plan = in.prediction->plan;
  Usd kept;
  if (in.job.keep_alive_s && *in.job.keep_alive_s > 0) {
    kept = plan.price->rate * Seconds(static_cast<double>(*in.job.keep_alive_s)) *
           static_cast<double>(plan.instance_count);
  }
  const Usd cost = in.prediction->cost + kept;
  const Usd most = *in.gates.budget;
  const std::string limit = format_usd(most) + std::string(whose(in.gates.budget_planned));
  if (cost > most) {
    report.at(hardware_place(in), {format_usd(cost), limit});
    return;
  }
  const double chance = plan.cost.cost_probability(most - kept);
  if (!in.gates.confidence_asked || chance >= in.gates.confidence) return;
  report.at(hardware_place(in), {format_usd(cost), limit}).message +=
      fmt::format(", with a chance of {} to stay within it: {} is asked for", format_percent(chance),
                  format_percent(in.gates.confidence));
}

void deadline(const CheckInput& in, Report& report) {
  const Plan& plan = in.prediction->plan;
  const double chance = plan.cost.spread.probability(*in.gates.deadline);
  if (chance >= in.gates.confidence) return;
  report.at(
      hardware_place(in),
      {format_percent(chance), format_duration(*in.gates.deadline) + std::string(whose(in.gates.deadline_planned)),
       format_percent(in.gates.confidence), format_duration(plan.cost.spread.at(in.gates.confidence))});
}

Market market_of(const CheckInput& in) {
  if (in.gates.market) return *in.gates.market;
  if (any_spot(in.job)) return Market::Spot;
  return in.job.training_plan.stated ? Market::CapacityBlock : Market::OnDemand;
}

/// What the machines cost an hour; a text where that is not known.
Result<UsdPerSecond> hourly_price(const CheckInput& in) {
  if (in.prediction != nullptr && in.prediction->plan.price != nullptr) return in.prediction->plan.cost.hourly;
  const std::string region = in.region.empty() ? "us-east-1" : in.region;
  if (in.machines.empty()) return fail("unknown-price", "", "no instance type is given", "give --instances, --count");
  UsdPerSecond all{};
  for (const Machines& m : in.machines) {
    const std::string type = m.type.value_or("the instance type");
    if (!m.type || !m.count) {
      return fail("unknown-price", "", "the count of " + type + " is not known", "give the type and the count");
    }
    const Price* price = in.catalog.find_price(*m.type, region, market_of(in));
    if (price == nullptr) {
      return fail("unknown-price", "", "no price of " + type + " is known in " + region, "give one by --catalog");
    }
    all += price->rate * static_cast<double>(*m.count);
  }
  return all;
}

void hourly(const CheckInput& in, Report& report) {
  const Result<UsdPerSecond> price = hourly_price(in);
  if (price && *price <= *in.gates.hourly) return;
  if (!price && in.gates.hourly_planned) return;
  Finding& finding = report.at(hardware_place(in),
                               {price ? format_usd_per_hour(*price) : std::string(),
                                format_usd_per_hour(*in.gates.hourly) + std::string(whose(in.gates.hourly_planned))});
  if (price) return;
  const Diagnostic& why = price.error().front();
  finding.message = "the limit of " + format_usd_per_hour(*in.gates.hourly) + " cannot be judged: " + why.message;
  finding.fix = why.hint;
}

void dominated(const CheckInput& in, Report& report) {
  const Prediction& p = *in.prediction;
  // Later types of a list stand in where the first has no capacity.
  const auto& list = in.job.preferences;
  if (!p.better || (!list.empty() && in.job.instance_type.where.path != list.front().type.where.path)) return;
  const Plan& better = *p.better;
  Finding& finding =
      report.at(hardware_place(in),
                {std::to_string(better.instance_count) + " x " + better.instance->name, format_usd(better.cost.total()),
                 format_duration(better.cost.time_to_train()), format_usd(p.cost), format_duration(p.time_to_train)});
  finding.fix = "use " + std::to_string(better.instance_count) + " x " + better.instance->name + " with " +
                better.stack->name + ", " + to_string(better.strategy);
}

void interval(const CheckInput& in, Report& report) {
  const Prediction& p = *in.prediction;
  const bool none = in.job.submitted() && !in.job.checkpoint_uri.stated;
  if (none && p.time_to_train.value() > kLongWithoutCheckpoint) {
    report.at(in.job.root().where, {"a run of " + format_duration(p.time_to_train) + " keeps no checkpoint"});
    return;
  }
  if (!in.facts.script || !in.facts.script->checkpoint_interval_s) return;
  const double best_s =
      std::sqrt(2 * kStallSeconds * kSecondsBetweenFailuresOfOneGpu / static_cast<double>(p.plan.gpus()));
  const double interval_s = *in.facts.script->checkpoint_interval_s;
  if (interval_s > 4 * best_s || interval_s < best_s / 4) {
    report.at(in.job.checkpoint_uri.stated ? in.job.checkpoint_uri.where : in.job.root().where,
              {"every " + format_duration(Seconds(interval_s)) + " is far from the best interval of " +
               format_duration(Seconds(best_s))});
  }
}

void checkpoint_part(const CheckInput& in, Report& report) {
  if (!in.job.checkpoint_uri.stated) return;
  const InstanceType& type = *in.prediction->plan.instance;
  const Workload& work = in.prediction->request.workload;
  const double bytes = checkpoint_size(work, save_format(work, *in.prediction->plan.stack)).value();
  const double disk =
      type.local_nvme.value() > 0 ? type.local_nvme.value() : static_cast<double>(in.job.volume_gb.value_or(30)) * 1e9;
  const double share = bytes / static_cast<double>(in.prediction->plan.instance_count);
  if (share > disk) {
    report.at(in.job.checkpoint_uri, {format_bytes(Bytes(share)), format_bytes(Bytes(disk))});
  }
}

constexpr Rule kPredictionRules[] = {
    {"C144", Severity::Error, "Device memory",
     "the predicted peak is above what the device offers (a warning for a recipe that does not say its "
     "precision, and where nothing says the length of sequences and short ones fit)",
     "predicted {} of device memory, {} is there; most is {}", "shard or split the model further", kJudgement, kAnyKind,
     Need::Prediction, memory},
    {"C145", Severity::Error, "Host memory", "what is offloaded is above the memory of the node",
     "offloading needs {} of host memory, the node has {}",
     "offload less, use more nodes, or load with cpu_ram_efficient_loading", kJudgement, kAnyKind, Need::Prediction,
     host_memory},
    {"C195", Severity::Warning, "Checkpoint interval",
     "a run over two hours keeps no checkpoint, or its interval is far from the best", "checkpoints: {}",
     "save about every sqrt(2 x time to save x time between failures)",
     "Young 1974; Llama Team 2024, section 3.3.4, for the failures", kSubmitted, Need::Length, interval},
    {"C196", Severity::Warning, "Checkpoint size", "a node's part of a checkpoint is above its disk",
     "a node's part of a checkpoint is {}, its disk {}", "enlarge the volume, or shard the checkpoint over more nodes",
     kJudgement, kSubmitted, Need::Prediction, checkpoint_part},
    {"C207", Severity::Error, "Budget",
     "the predicted cost is above --budget, else that of the plan in the folder, or within it with less than the "
     "probability of --confidence, or that cannot be judged",
     "predicted cost {}, the budget is {}", "train on fewer tokens, on a cheaper plan, or raise the budget", kJudgement,
     kAnyKind, Need::Budget, budget},
    {"C208", Severity::Warning, "A better plan", "another plan is both cheaper and faster",
     "{} would cost {} and take {}; this job costs {} and takes {}", "use the better plan", kJudgement, kAnyKind,
     Need::Length, dominated},
    {"C214", Severity::Error, "Deadline",
     "the run is not done by --deadline, else that of the plan in the folder, with the probability of --confidence "
     "(90 % by default), or that cannot be judged",
     "there is a chance of {} to be done within {}, {} is asked for: that takes {}",
     "use more or faster instances, train on fewer tokens, or move the deadline", kJudgement, kAnyKind, Need::Deadline,
     deadline},
    {"C215", Severity::Error, "Price an hour",
     "the machines cost more an hour than --max-hourly, else that of the plan in the folder, or that is not known",
     "the machines cost {}, the limit is {}", "use fewer or cheaper instances, or raise the limit", kJudgement,
     kAnyKind, Need::Hourly, hourly},
};

}  // namespace

std::span<const Rule> prediction_rules() { return kPredictionRules; }

}  // namespace smplan
