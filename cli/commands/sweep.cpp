#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/clock.hpp"
#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/commands/line_sink.hpp"
#include "cli/request_options.hpp"
#include "planner/sweep.hpp"

namespace smplan::cli {
namespace {

struct SweepFlags {
  RequestSpec spec;
  std::vector<std::string> vary;
  TrialWords trials;
};

struct SweepWork {
  std::vector<RequestSpec> requests;
  SweepOptions options;
};

Result<SweepWork> understand(const SweepFlags& flags) {
  Diagnostics faults;
  const auto take = [&faults](auto result) {
    if (!result) faults.insert(faults.end(), result.error().begin(), result.error().end());
    return result;
  };
  std::vector<SweepAxis> axes;
  for (const std::string& text : flags.vary) {
    if (auto axis = take(parse_sweep_axis(text, "--vary"))) axes.push_back(std::move(*axis));
  }
  SweepWork work;
  if (auto trials = take(read_trials(flags.trials))) work.options.trials = *trials;
  if (faults.empty()) {
    if (auto requests = take(sweep_requests(flags.spec, axes, "--vary"))) work.requests = std::move(*requests);
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  work.options.environment_region = environment_region();
  work.options.now = now();
  return work;
}

/// Trials of one request in a sentence; grids answer in lines only.
std::optional<std::string> schedule_in_words(const std::string& line) {
  const Result<JsonValue> answer = parse_json(line, "line");
  const auto plan = answer ? answer->find("plan") : std::nullopt;
  const auto trials = answer ? answer->find("trials") : std::nullopt;
  if (!plan || !trials || !plan->is_object()) return std::nullopt;
  Diagnostics none;
  const auto number = [&](const JsonValue& object, const char* key) { return object.find(key)->as_number(none); };
  const double keep = number(*trials, "keep");
  return fmt::format(
      "{} trials{}: {} at a time, each on {} x {}; all done in {} for {}", number(*trials, "count"),
      keep > 1 ? fmt::format(", of which one in {} goes on at each rung", keep) : "", number(*trials, "at_once"),
      number(*plan, "instance_count"), plan->find("instance_type")->as_string(none),
      format_duration(Seconds(number(*trials, "makespan_s"))), format_usd(Usd(number(*trials, "total_usd"))));
}

Result<Answer> run_sweep(const SweepFlags& flags, const Context& context) {
  const Result<SweepWork> work = understand(flags);
  if (!work) return tl::unexpected<Diagnostics>(work.error());
  LineSink sink(context.output);
  if (const Result<void> opened = sink.open(); !opened) return tl::unexpected<Diagnostics>(opened.error());
  Answer answer;
  answer.verbatim = true;
  std::string last;
  std::size_t reused = 0;
  std::array<std::size_t, 3> counts{};
  for (const RequestSpec& spec : work->requests) {
    const std::string* known = sink.known(sweep_identity(spec, context.catalog, work->options));
    const SweepLine line =
        known != nullptr ? SweepLine{sweep_status(*known), *known} : sweep_line(spec, context.catalog, work->options);
    ++counts[static_cast<std::size_t>(line.status)];
    last = line.text;
    if (!sink.streams()) answer.text += line.text;
    if (known != nullptr) {
      ++reused;
    } else if (const Result<void> written = sink.write(line.text); !written) {
      return tl::unexpected<Diagnostics>(written.error());
    }
  }
  if (!sink.streams()) {
    const Result<void> written = write_text_file(context.output, answer.text);
    if (!written) return tl::unexpected<Diagnostics>(written.error());
    sink.finish();
  }
  const auto [planned, without, invalid] = counts;
  answer.notes.push_back(fmt::format("{} requests: {} planned, {} without a plan, {} invalid{}", work->requests.size(),
                                     planned, without, invalid,
                                     reused > 0 ? fmt::format("; {} known from before", reused) : ""));
  if (work->options.trials && work->requests.size() == 1) {
    if (auto words = schedule_in_words(last)) answer.notes.push_back(std::move(*words));
  }
  if (planned == 0) answer.code = without > 0 ? ExitCode::NoAnswer : ExitCode::BadInput;
  return answer;
}

}  // namespace

Command sweep_command() {
  auto flags = std::make_shared<SweepFlags>();
  return {"sweep",
          "Plan a grid of requests, or many trials under one budget; one line of JSON each",
          "smplan sweep --vary 'params=7B|13B|70B' --vary 'region=us-east-1|eu-west-1' --output sweep.jsonl\n"
          "  smplan sweep --params 7B --tokens 1B --trials 64 --budget 20000 --max-hourly 500",
          [flags](CLI::App& app) {
            app.add_option("--vary", flags->vary, "A member of the request and its values; may be repeated")
                ->type_name("'NAME=V|V'")
                ->allow_extra_args(false)
                ->group("Sweep");
            app.add_option("--trials", flags->trials.count,
                           "Independent runs of each request; limits are for all together")
                ->type_name("N")
                ->group("Sweep");
            app.add_option("--at-once", flags->trials.at_once, "Most jobs at a time [as many as there are trials]")
                ->type_name("N")
                ->group("Sweep");
            app.add_option("--early-stopping", flags->trials.early_stopping,
                           "Successive halving: one trial in N goes on at each rung [all run to their end]")
                ->type_name("N")
                ->group("Sweep");
            add_request_options(app, flags->spec);
          },
          [flags](const Context& context) { return run_sweep(*flags, context); },
          {"jsonl"}};
}

}  // namespace smplan::cli
