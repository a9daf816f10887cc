#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json_reader.hpp"
#include "cli/command.hpp"
#include "cli/commands/line_sink.hpp"
#include "cli/render/sweep_page.hpp"
#include "cli/request_options.hpp"
#include "planner/analysis/sweep.hpp"

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

/// Names of what the sweep varies, in the order of the flags. Precondition: they were understood.
std::vector<std::string> varied_names(const SweepFlags& flags) {
  std::vector<std::string> names;
  for (const std::string& text : flags.vary) names.push_back(text.substr(0, text.find('=')));
  return names;
}

Result<Answer> run_sweep(const SweepFlags& flags, const Context& context) {
  const Result<SweepWork> work = understand(flags);
  if (!work) return tl::unexpected<Diagnostics>(work.error());
  LineSink sink(context.output);
  if (const Result<void> opened = sink.open(); !opened) return tl::unexpected<Diagnostics>(opened.error());
  const bool in_lines = context.format_name == "jsonl";
  Answer answer;
  answer.verbatim = true;
  std::vector<std::string> lines;
  std::size_t reused = 0;
  std::array<std::size_t, 3> counts{};
  for (const RequestSpec& spec : work->requests) {
    const SweepQuestion question = sweep_question(spec, context.catalog, work->options);
    const std::string* known = sink.known(question.identity);
    const SweepLine line = known != nullptr ? SweepLine{sweep_status(*known), *known}
                                            : sweep_line(question, context.catalog, work->options);
    ++counts[static_cast<std::size_t>(line.status)];
    lines.push_back(line.text);
    if (in_lines && !sink.streams()) answer.text += line.text;
    if (known != nullptr) {
      ++reused;
      continue;
    }
    const Result<void> written = in_lines || !sink.streams() ? sink.write(line.text) : Result<void>();
    if (!written) return tl::unexpected<Diagnostics>(written.error());
  }
  if (!in_lines) {
    answer.text = fit_for_display(render_sweep(lines, varied_names(flags), context), context.format_name);
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
  if (lines.size() == 1 && context.format_name != "table") {  // whose page begins with them
    if (std::string words = trials_in_words(lines.front()); !words.empty()) answer.notes.push_back(std::move(words));
  }
  if (planned == 0) answer.code = without > 0 ? ExitCode::NoAnswer : ExitCode::BadInput;
  return answer;
}

}  // namespace

Command sweep_command() {
  auto flags = std::make_shared<SweepFlags>();
  return {"sweep",
          "Plan a grid of requests, or many trials under one budget",
          "smplan sweep --vary 'params=7B|13B|70B' --vary 'region=us-east-1|eu-west-1' --output sweep.jsonl\n"
          "  smplan sweep --model llama-3-8b --tokens 1B --vary 'instances=ml.p4d*|ml.p5*' --format table\n"
          "  smplan sweep --params 7B --tokens 1B --trials 64 --budget 20000 --max-hourly 500",
          [flags](Flags& app) {
            app.add_option("--vary", flags->vary, "A member of the request and its values; may be repeated")
                ->type_name("'NAME=V|V'")
                ->one_value_each()
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
          {{"jsonl", "table", "csv", "markdown", "json"}, "table"}};
}

}  // namespace smplan::cli
