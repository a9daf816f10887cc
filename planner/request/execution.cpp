#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "models/job/execution.hpp"
#include "planner/export/launch.hpp"
#include "planner/export/launchable.hpp"
#include "planner/request/resolver.hpp"

namespace smplan {

/// What a member may be told: what the request says, else the framework's default, and where a plan tries what the
/// framework offers that too. Of these what the target can say, else what it says instead.
std::vector<std::int32_t> Resolver::values_of(const DimensionRow& row, const Stack& stack) const {
  if (!request_[row.dimension].any()) return request_[row.dimension].values;
  // What the public code of a model cannot do is not planned with that code, unless somebody brings a kernel: the
  // request, or a framework of whose program no export is the author.
  const StackExport* start = stack_export(stack.id);
  const bool public_code = start != nullptr && start->program != TrainingProgram::None;
  const bool own_kernel = !request_[Dimension::AttentionKernel].any();
  if (row.dimension == Dimension::FlashAttention && !own_kernel && public_code &&
      request_.workload.architecture.plain_attention) {
    const std::vector<std::int32_t> ways{dimension_value(Toggle::Off), dimension_value(Toggle::On)};
    return {request_.target == nullptr ? ways.front()
                                       : sayable(request_.workload, stack, *request_.target, row, ways).front()};
  }
  std::vector<std::int32_t> values{row.plain(Strategy())};
  std::vector<std::int32_t> offered = values;
  if (!row.is_offered && row.words != nullptr) offered = row.words->values;
  for (const Execution& offer : stack.offers) {
    const std::int32_t value = row.told(offer);
    offered.push_back(value);
    if (row.tried_from > 0 && purpose_ == Purpose::Plan && value >= row.tried_from) values.push_back(value);
  }
  if (request_.target == nullptr) return values;
  const std::vector<std::int32_t> said = sayable(request_.workload, stack, *request_.target, row, offered);
  std::erase_if(values, [&](std::int32_t value) { return std::find(said.begin(), said.end(), value) == said.end(); });
  return values.empty() ? std::vector{said.front()} : values;
}

/// Each way to tell the stack so. Ways that are told most come first: they are the fastest as a rule, and the search
/// then dismisses the others.
std::vector<Execution> Resolver::executions_of(const Stack& stack) const {
  std::vector<Strategy> ways(1);
  for (const DimensionRow& row : dimensions()) {
    if (!row.of_execution) continue;
    std::vector<Strategy> longer;
    for (const Strategy& way : ways) {
      for (const std::int32_t value : values_of(row, stack)) {
        longer.push_back(way);
        row.set(longer.back(), value);
      }
    }
    ways = std::move(longer);
  }
  std::vector<Execution> out;
  for (const Strategy& way : ways) out.push_back(way.execution);
  std::reverse(out.begin(), out.end());
  return out;
}

Execution stated_execution(const PlanRequest& request) {
  Strategy s;
  for (const DimensionRow& row : dimensions()) {
    const std::vector<std::int32_t>& values = request[row.dimension].values;
    if (row.of_execution && values.size() == 1) row.set(s, values.front());
  }
  return s.execution;
}

/// Why the work is not planned on a stack that is executed so.
std::optional<Diagnostic> Resolver::refusal_of(const Stack& way) const {
  Strategy s;
  s.execution = way.execution;
  for (const std::string_view rule : {"experts-to-switch", "pure-half-format", "half-layers-of-the-model"}) {
    if (auto fault = broken_rule(rule, s, request_.workload, way)) return fault;
  }
  if (request_.target != nullptr || !request_.stacks_defaulted || !request_.launchable) return std::nullopt;
  const auto refusal = launch_refusal(request_.workload, way);
  if (!refusal || refusal->only_script) return std::nullopt;
  return Diagnostic{"no-stack", "--stack", refusal->reason, "name a stack, or add --launchable any"};
}

/// More ways to tell software than anybody compares, each of which is a search.
bool Resolver::refuses_ways(const Stack& stack) {
  constexpr std::size_t kMostWays = 64;
  std::size_t ways = 1;
  for (const DimensionRow& row : dimensions()) {
    if (row.of_execution && ways <= kMostWays) ways *= values_of(row, stack).size();
  }
  if (ways <= kMostWays) return false;
  add("conflict", "what software is told",
      fmt::format("the values make more than {} ways to tell {}", kMostWays, stack.id), "name fewer values at a time");
  return true;
}

/// Puts in each stack's place the ways in which it may be executed.
void Resolver::execute_stacks() {
  std::vector<const Stack*> out;
  Diagnostics refused;
  for (const Stack* stack : request_.stacks) {
    if (refuses_ways(*stack)) return;
    const std::size_t before = out.size();
    std::optional<Diagnostic> why;
    const bool exported = request_.launchable && request_.target == nullptr && purpose_ == Purpose::Plan;
    const Stack started = exported ? as_started(request_.workload, *stack) : *stack;
    for (const Execution& execution : executions_of(*stack)) {
      Strategy s;
      s.execution = execution;
      std::optional<Diagnostic> fault = broken_rule("execution-offered", s, request_.workload, *stack);
      auto way = std::make_shared<const Stack>(executed(started, execution));
      if (!fault) fault = refusal_of(*way);
      if (fault) {
        if (!why) why = std::move(fault);
      } else if (execution == Execution{} && started == *stack) {
        out.push_back(stack);
      } else {
        out.push_back(way.get());
        request_.own_stacks.push_back(std::move(way));
      }
    }
    if (out.size() > before || !why) continue;
    request_.stacks_left_out.emplace_back(stack->id, why->message);
    refused.push_back(std::move(*why));
  }
  if (out.empty() && !refused.empty()) {
    for (Diagnostic& fault : refused) faults_.push_back(std::move(fault));
  }
  request_.stacks = std::move(out);
}

}  // namespace smplan
