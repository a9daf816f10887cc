#include "planner/report/report.hpp"
#include "planner/analysis/explain.hpp"
#include "planner/answer/plan_file.hpp"

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "base/embedded_file.hpp"
#include "base/escape.hpp"
#include "base/json_writer.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/report/timeline_json.hpp"
#include "planner/search/search.hpp"

namespace smplan {

/// Page, style, scripts and the chart library (generated at build time).
std::span<const EmbeddedFile> report_page_files();

namespace {
std::string_view page_file(std::string_view name) {
  for (const EmbeddedFile& file : report_page_files()) {
    if (file.name == name) return file.content;
  }
  throw std::logic_error(fmt::format("the report has no file {}", name));
}

/// JSON that no HTML parser takes for the end of its script element; reads back to the same values.
std::string in_script(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

/// Fills the `{{name}}`s of the page in their order. Looks behind what it has put in only: data may hold braces.
class PageFiller {
 public:
  explicit PageFiller(std::string_view page) : page_(page) {}

  void fill(std::string_view name, std::string_view value) {
    const std::string place = fmt::format("{{{{{}}}}}", name);
    at_ = page_.find(place, at_);
    if (at_ == std::string::npos) throw std::logic_error(fmt::format("the page has no place for {}", name));
    page_.replace(at_, place.size(), value);
    at_ += value.size();
  }
  [[nodiscard]] std::string take() { return std::move(page_); }

 private:
  std::string page_;
  std::size_t at_ = 0;
};

void draw(const Result<SimulatedJob>& job, ReportedPlan& plan) {
  const Result<Timeline> timeline = job ? simulate_step(*job) : tl::unexpected<Diagnostics>(job.error());
  plan.timeline = timeline ? timeline_json(*timeline) : "null";
  if (!timeline) plan.no_timeline = to_string(timeline.error().front());
}

std::string list_items(const std::vector<std::string>& sentences) {
  std::string out;
  for (const std::string& sentence : sentences) out += "<li>" + escape_markup(sentence) + "</li>\n";
  return out;
}

/// What the page knows of the plans beside their JSON.
std::string extras_json(const ReportData& data) {
  std::string out = "[";
  for (const ReportedPlan& plan : data.plans) {
    if (out.size() > 1) out += ",\n";
    out += fmt::format(R"({{"why":{},"timeline":{},"no_timeline":{},"checks":{}}})", Json(plan.why).dump(),
                       plan.timeline, Json(plan.no_timeline).dump(), plan.checks);
  }
  return out + "]";
}

std::string title_of(const Json& document) {
  const std::string model = document["request"]["model"]["name"].text();
  if (document["plans"].empty()) return fmt::format("{}: no plan", model);
  const Json& best = document["plans"][0];
  return fmt::format("{} on {} x {}", model, best["instance_count"].integer(), best["instance_type"].text());
}

}  // namespace

ReportData report_data(const PlanSet& set, const Catalog& catalog, const SearchOptions& options) {
  ReportData data;
  data.plan_json = to_json(set);
  if (set.plans.empty()) data.why_nothing = explain(set, catalog, 1, options);
  for (std::size_t i = 0; i < set.plans.size(); ++i) {
    ReportedPlan plan;
    plan.why = explain(set, catalog, i + 1, options);
    draw(simulated_job(set.request, set.plans[i], catalog), plan);
    data.plans.push_back(std::move(plan));
  }
  return data;
}

Result<ReportData> report_data(const std::string& text, const std::string& name, const Catalog& catalog) {
  const Result<JsonValue> document = parse_json(text, name);
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  Diagnostics faults;
  const std::optional<JsonValue> plans = document->find("plans");
  if (!plans) return fail("no-plan-file", name, "has no member 'plans'", "write it with `smplan plan --format json`");
  // What the page's title names; the plans below are read whole.
  ObjectReader root(*document, faults);
  if (const auto request = root.value("request")) {
    ObjectReader asked(*request, faults);
    if (const auto model = asked.value("model")) ObjectReader(*model, faults).string("name");
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  ReportData data;
  data.plan_json = text;
  for (std::size_t i = 0; i < plans->as_array(faults).size(); ++i) {
    const Result<TrainingPlan> plan = read_training_plan(*document, static_cast<std::int64_t>(i) + 1, catalog);
    if (!plan) return tl::unexpected<Diagnostics>(plan.error());
    ReportedPlan reported;
    draw(simulated_job(*plan, catalog), reported);
    data.plans.push_back(std::move(reported));
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return data;
}

std::string report_html(const ReportData& data) {
  // The library's licence travels with it.
  std::string scripts = fmt::format("/*\n{}*/\n", page_file("uPlot-LICENSE.txt"));
  for (const std::string_view name : {"uPlot-1.6.32.iife.min.js", "text.js", "plans.js", "frontier.js", "breakdown.js",
                                      "timeline.js", "checks.js", "main.js"}) {
    scripts += page_file(name);
  }
  PageFiller page(page_file("page.html"));
  page.fill("title", escape_markup(title_of(Json::parse(data.plan_json))));
  page.fill("style", fmt::format("{}\n{}", page_file("uPlot-1.6.32.min.css"), page_file("page.css")));
  page.fill("made", escape_markup(data.made));
  page.fill("why", list_items(data.plans.empty() ? data.why_nothing : data.plans.front().why));
  page.fill("plan", in_script(data.plan_json));
  page.fill("extras", in_script(extras_json(data)));
  page.fill("scripts", scripts);
  return page.take();
}

}  // namespace smplan
