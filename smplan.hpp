#pragma once

/// All of smplan for a C++ program: catalog, request, plans, their files, exports, checks. Programs that compile often
/// include the headers that they need instead.
///
///   const auto catalog = smplan::Catalog::shipped();
///   smplan::RequestSpec spec;
///   spec.params = "13B";
///   const auto request = smplan::resolve(spec, *catalog, std::nullopt);
///   const smplan::PlanSet plans = smplan::search(*request, *catalog);
///   std::cout << smplan::to_json(plans);

#include "base/result.hpp"
#include "base/units.hpp"
#include "catalogs/catalog.hpp"
#include "planner/analysis/compare.hpp"
#include "planner/analysis/explain.hpp"
#include "planner/analysis/fine_tune.hpp"
#include "planner/analysis/sweep.hpp"
#include "planner/analysis/whatif.hpp"
#include "planner/answer/plan.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/export/folder.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/check.hpp"
#include "planner/report/report.hpp"
#include "planner/request/request.hpp"
#include "planner/rl/rl_search.hpp"
#include "planner/search/batch_estimate.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/search.hpp"
#include "planner/trace/timeline.hpp"
#include "planner/validation/prediction.hpp"
#include "planner/validation/report.hpp"
