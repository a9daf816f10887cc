#include "cli/render/estimate_page.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/figures.hpp"
#include "cli/render/plan_table.hpp"

namespace smplan::cli {
namespace {

std::string share(double part, double whole) { return whole > 0 ? format_percent(part / whole) : "-"; }

std::string headline(const Plan& p) {
  return fmt::format("{} ({} x {}), {}, {}, {}", hardware(p), p.gpus(), p.instance->accelerator, p.stack->name,
                     to_string(p.strategy), to_string(p.precision));
}

std::string speed(const Plan& p) {
  const StepEstimate& s = p.step;
  return fmt::format(
      "{} a step ({} to {}) of {} micro-batch{}, {} tokens/s ({} per device), {} per device, MFU {}, HFU {} (causal "
      "attention counted whole), bound by {}",
      format_duration(s.time()), format_duration(s.p10), format_duration(s.p90), p.micro_batches,
      p.micro_batches == 1 ? "" : "es", format_count(s.tokens_per_s), format_count(s.tokens_per_s_per_gpu),
      format_flops_rate(s.model_flops_per_gpu), format_percent(s.mfu), format_percent(s.hfu), bottleneck(s));
}

std::string peaks(const Plan& p) {
  const MemoryEstimate& m = p.memory;
  std::string text =
      fmt::format("{} ({} to {}), allocated {}, reserved {}", format_bytes(m.wanted), format_bytes(p.peak_interval.p10),
                  format_bytes(p.peak_interval.p90), format_bytes(m.peak_allocated), format_bytes(m.peak_reserved));
  if (m.host_per_node.value() > 0) text += fmt::format(", host {} per node", format_bytes(m.host_per_node));
  if (m.nvme_per_node.value() > 0) text += fmt::format(", NVMe {} per node", format_bytes(m.nvme_per_node));
  return text + fmt::format("; worst pipeline rank {}", m.worst_stage);
}

}  // namespace

std::string verdict(const Plan& p) {
  const MemoryEstimate& m = p.memory;
  const std::string chance = format_chance(p.out_of_memory_probability) + " chance to run out";
  if (!m.fits_device()) {
    return fmt::format("out of memory: needs {} ({} to {}), has {} a device, {}", format_bytes(m.wanted),
                       format_bytes(p.peak_interval.p10), format_bytes(p.peak_interval.p90), format_bytes(m.limit),
                       chance);
  }
  if (std::string short_of = host_shortfall(m); !short_of.empty()) return short_of;
  const Bytes free = m.limit - m.wanted;
  return fmt::format("{}, {} ({}) free, {}", to_string(verdict_of(p.out_of_memory_probability)), format_bytes(free),
                     format_percent(free / m.limit), chance);
}

Table memory_table(const MemoryEstimate& memory) {
  Table table;
  table.columns = {{"MEMORY"}, {"GiB", Align::Right}, {"SHARE", Align::Right}};
  const Bytes total = memory.wanted;
  for (const MemoryPart& part : memory_parts()) {
    const Bytes bytes = memory.components.*part.bytes;
    if (bytes == Bytes()) continue;
    table.rows.push_back({std::string(part.key), fmt::format("{:.2f}", in_gib(bytes)), format_percent(bytes / total)});
  }
  table.rows.push_back(
      {"peak", fmt::format("{:.2f}", in_gib(total)), format_percent(total / memory.limit) + " of limit"});
  table.rows.push_back({"limit", fmt::format("{:.2f}", in_gib(memory.limit)), ""});
  return table;
}

Table step_table(const StepEstimate& step) {
  Table table;
  table.columns = {{"STEP"}, {"SECONDS", Align::Right}, {"SHARE", Align::Right}};
  for (const StepPart& part : step_parts()) {
    const double seconds = (step.components.*part.time).value();
    if (seconds == 0) continue;
    table.rows.push_back({std::string(part.key), fmt::format("{:.4f}", seconds), share(seconds, step.time().value())});
  }
  table.rows.push_back({"total", fmt::format("{:.4f}", step.time().value()), ""});
  return table;
}

Table cost_table(const Plan& plan) {
  const RunCost& c = plan.cost;
  const Bill& b = c.bill;
  const auto usd = [&](Usd amount) { return plan.price == nullptr ? std::string("-") : format_usd(amount); };
  const Seconds total = c.time_to_train();
  Table table;
  table.columns = {{"RUN"}, {"TIME", Align::Right}, {"SHARE", Align::Right}, {"COST", Align::Right}};
  const auto row = [&](const char* name, Seconds time, Usd cost) {
    table.rows.push_back({name, format_duration(time), share(time.value(), total.value()), usd(cost)});
  };
  row("training", c.productive, b.compute);
  row("start-up", c.startup, b.startup);
  row("waiting for checkpoints", c.loss.checkpoints, b.checkpoints);
  row("work done again", c.loss.rework, b.rework);
  row("restarts", c.loss.restarts, b.restarts);
  // What costs without taking time.
  const std::array timed = {&Bill::compute, &Bill::startup, &Bill::checkpoints, &Bill::rework, &Bill::restarts};
  for (const BillPart& part : bill_parts()) {
    const bool shown = std::find(timed.begin(), timed.end(), part.amount) != timed.end();
    if (shown || !(b.*part.amount > Usd())) continue;
    table.rows.push_back({std::string(part.words), "", "", usd(b.*part.amount)});
  }
  table.rows.push_back({"total", format_duration(total), "", usd(c.total())});
  return table;
}

namespace {

std::string operation(const Plan& plan, const PlanRequest& request) {
  const RunCost& c = plan.cost;
  std::string text = fmt::format("{} hardware failures expected", format_expected(c.failures));
  if (plan.market == Market::Spot) text += fmt::format(", {} times capacity taken away", format_expected(c.reclaims));
  if (c.evictions > 0) text += fmt::format(", {} evictions", format_expected(c.evictions));
  const Recovery& recovery = request.run.recovery;
  if (is_standing(recovery.platform)) {
    text +=
        fmt::format("; on {} by {}, {} spare", to_string(recovery.platform), to_string(recovery.mode), recovery.spares);
  }
  if (c.checkpoint) {
    text += fmt::format("; a checkpoint of {} to {} every {} holds training up for {}",
                        format_bytes(c.checkpoint->size), to_string(request.run.checkpoint_target),
                        format_duration(c.loss.interval), format_duration(c.checkpoint->stall));
    if (c.checkpoint->drain > Seconds())
      text += fmt::format(" and is safe {} later", format_duration(c.checkpoint->drain));
    if (c.durable_interval > Seconds()) {
      text += fmt::format(", one in S3 every {}", format_duration(c.durable_interval));
    }
  } else {
    text += "; no checkpoints: an interruption starts the run anew";
  }
  return text;
}

/// What a warm pool would do for the series, used or not.
std::string series(const Plan& plan, const PlanRequest& request) {
  const JobSeries& jobs = request.run.series;
  const WarmPool pool = weigh_warm_pool(jobs, request.run.operations, plan.cost.hourly, plan.market);
  if (!pool.possible) return fmt::format("{} jobs, for which instances cannot be kept warm", jobs.jobs);
  std::string text =
      fmt::format("{} jobs {} apart: a warm pool ({}) has them done {} sooner", jobs.jobs, format_duration(jobs.gap),
                  request.run.warm_pool ? "used" : "not used", format_duration(pool.sooner));
  if (plan.price == nullptr) return text;
  text += fmt::format(", costs {} and saves {} of start-up", format_usd(pool.kept), format_usd(pool.saved));
  if (pool.net() > Usd()) text += fmt::format(": {} for each hour gained", format_usd(Usd(pool.usd_per_hour_gained())));
  return text;
}

}  // namespace

std::string estimate_text(const PlanSet& set, const Style& style) {
  const Plan& p = set.plans.front();
  std::string text = labelled("Work:  ", work(set.request), style);
  text += labelled("Run:   ", headline(p), style);
  text += labelled("Memory:", verdict(p), style);
  text += '\n' + render_text(memory_table(p.memory), style) + labelled("Peaks:", peaks(p), style);
  text += '\n' + render_text(step_table(p.step), style) + labelled("Speed:", speed(p), style);
  text += '\n' + render_text(cost_table(p), style);
  text += labelled("Chance:", chances(p, set.request), style);
  text += labelled("Saves: ", operation(p, set.request), style);
  text += quotas(p, set.request, style);
  if (set.request.run.series.jobs > 1) text += labelled("Series:", series(p, set.request), style);
  if (p.cost.input) text += labelled("Data:  ", explain_input(*p.cost.input, *set.request.run.data), style);
  if (p.price != nullptr) {
    text += labelled("Rate:",
                     fmt::format("{} for {} at {} each", format_usd_per_hour(p.cost.hourly), hardware(p),
                                 format_usd_per_hour(p.price->rate)),
                     style);
  }
  return text + '\n' + footing(set, style);
}

std::string estimate_markdown(const PlanSet& set) {
  const Plan& p = set.plans.front();
  return fmt::format("<!-- smplan -->\n**Work:** {}\n\n**Run:** {}\n\n**Memory:** {}\n\n{}\n**Speed:** {}\n\n{}\n{}\n",
                     work(set.request), headline(p), verdict(p), render_markdown(memory_table(p.memory)), speed(p),
                     render_markdown(step_table(p.step)), render_markdown(cost_table(p)));
}

}  // namespace smplan::cli
