#include <algorithm>
#include <chrono>
#include <cstdint>
#include <tuple>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/json_reader.hpp"
#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/export.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "bindings/request.hpp"
#include "planner/preflight/beside.hpp"
#include "planner/preflight/job_rl.hpp"
#include "planner/request/names.hpp"
#include "planner/rl/rl_answer.hpp"
#include "planner/rl/rl_export.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

std::vector<std::string> rl_keywords() {
  std::vector<std::string> names;
  for (const RlName& name : rl_names()) names.push_back(keyword_of(name));
  return names;
}

/// Whether a request's keyword is one of `smplan rl`, as its flag is.
bool is_taken(const std::string& keyword) {
  return keyword == "finetune" || keyword == "count" || is_rl_member(keyword);
}

/// Keywords of `smplan rl`. Those of other requests, which say of the work what prompts and responses say here, are
/// refused as their flags are.
RlSpec rl_spec_of(const Arguments& arguments) {
  RlSpec spec;
  Arguments of_request;
  std::vector<std::string> known = rl_keywords();
  for (const std::string& name : keyword_names()) {
    if (is_taken(name)) known.push_back(name);
  }
  Diagnostics faults;
  for (const auto& [keyword, text] : arguments) {
    const auto names = rl_names();
    const auto own =
        std::find_if(names.begin(), names.end(), [&](const RlName& n) { return keyword_of(n) == keyword; });
    if (own != names.end()) {
      spec.*own->member = text;
    } else if (std::find(known.begin(), known.end(), keyword) != known.end()) {
      of_request[keyword] = text;
    } else {
      faults.push_back(unknown_name("keyword", keyword, keyword, known));
    }
  }
  if (!faults.empty()) throw Refused{std::move(faults)};
  spec.request = spec_of(of_request);
  return spec;
}

/// A job to start from: a file, or the folder of an export.
Job read_job_at(const std::string& path) {
  const std::string file = value_or_throw(job_file_of(path));
  Job job = value_or_throw(read_job(value_or_throw(read_text_file(file)), file, std::nullopt));
  read_beside(job, file == path ? std::string() : path);
  return job;
}

/// All that an answer comes from, so that it can be asked for again.
struct RlQuestion {
  std::shared_ptr<const Catalog> catalog;
  RlSpec spec;
  std::optional<std::string> environment_region;
  Instant now;
};

RlQuestion question_of(const CatalogHandle& handle, const Arguments& arguments, const std::optional<std::string>& job,
                       const std::optional<std::string>& environment_region, std::int64_t now) {
  RlQuestion q{handle.catalog, rl_spec_of(arguments), environment_region, Instant(std::chrono::seconds(now))};
  if (job) q.spec = value_or_throw(rl_spec_of_job(read_job_at(*job), *q.catalog, std::move(q.spec)));
  return q;
}

/// The rows as JSON, why there are none, what the figures rest on, what was assumed.
using RlTexts = std::tuple<std::string, std::string, std::string, std::vector<std::string>>;

/// What was taken, what the job left open first.
std::vector<std::string> assumed(const RlRequest& request) {
  std::vector<std::string> all = request.said.left_open;
  all.insert(all.end(), request.assumptions.begin(), request.assumptions.end());
  return all;
}

RlTexts rl_texts(const CatalogHandle& handle, const Arguments& arguments, const std::optional<std::string>& job,
                 const std::optional<std::string>& environment_region, std::int64_t now) {
  const RlQuestion question = question_of(handle, arguments, job, environment_region, now);
  return interruptible([question](Monitor& monitor) -> RlTexts {
    const RlQuestion& q = question;
    const RlRequest request = value_or_throw(resolve_rl(q.spec, *q.catalog, q.environment_region, q.now));
    SearchOptions options;
    options.monitor = &monitor;
    const RlPlanSet set = rl_search(request, *q.catalog, options);
    return {rl_rows(request, set).dump(), set.plans.empty() ? no_rl_plan_reason(request, set) : std::string(),
            rl_caveat(request), assumed(request)};
  });
}

/// A plan of the same question as a job.
py::tuple rl_export(const CatalogHandle& handle, const Arguments& arguments, const std::optional<std::string>& job,
                    const std::optional<std::string>& environment_region, std::int64_t now, std::int64_t rank,
                    const std::string& target, const std::map<std::string, std::string>& given) {
  const RlQuestion question = question_of(handle, arguments, job, environment_region, now);
  const ExportOptions options = export_options_of(given);
  const auto work = [question, options, rank, target](Monitor& monitor) -> Export {
    const RlQuestion& q = question;
    const RlRequest request = value_or_throw(resolve_rl(q.spec, *q.catalog, q.environment_region, q.now));
    SearchOptions search;
    search.monitor = &monitor;
    const RlPlanSet set = rl_search(request, *q.catalog, search);
    if (rank < 1 || rank > static_cast<std::int64_t>(set.plans.size())) {
      throw Refused{{{"out-of-range", "rank",
                      "the set has " + std::to_string(set.plans.size()) + " plans, there is no " + std::to_string(rank),
                      "give the rank of one of them"}}};
    }
    const auto place = static_cast<std::size_t>(rank);
    return value_or_throw(export_rl({request, set.plans[place - 1], place, options, *q.catalog}, target));
  };
  return python_export(interruptible(work));
}

std::vector<std::string> rl_target_names() {
  std::vector<std::string> names;
  for (const RlTarget& target : rl_targets()) names.emplace_back(target.name);
  return names;
}

}  // namespace

void bind_rl(py::module_& module) {
  module.attr("rl_keywords") = py::tuple(py::cast(rl_keywords()));
  module.def("rl", &rl_texts, py::arg("catalog"), py::arg("arguments"), py::arg("job"), py::arg("environment_region"),
             py::arg("now"),
             "The rows of `smplan rl` as JSON; why there are none; what they rest on; what was assumed.");
  module.def("rl_export", &rl_export, py::arg("catalog"), py::arg("arguments"), py::arg("job"),
             py::arg("environment_region"), py::arg("now"), py::arg("rank"), py::arg("target"), py::arg("options"),
             "A plan of rl() for a target: files, placeholders, notes, plan id.");
  module.attr("rl_export_targets") = py::tuple(py::cast(rl_target_names()));
}

}  // namespace smplan::python
