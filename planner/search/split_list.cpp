#include "planner/search/split_list.hpp"

#include <algorithm>

#include "planner/search/bounds.hpp"

namespace smplan {
namespace {

/// The two floors of a split, each over its micro-batches on its own: their sum is a floor too.
void set_floors(OpenSplit& open, const TokenWork& token, const Workload& w, const StackProfile& profile,
                std::span<const std::int32_t> micro_batches) {
  const double bubble = least_bubble(open.split, open.options);
  bool first = true;
  for (const std::size_t i : open.options.micro_batches) {
    const std::int64_t count = w.global_batch / open.split.data / micro_batches[i];
    const auto n = static_cast<double>(count);
    const Flops work = micro_batch_work(token, w, open.split, micro_batches[i]) * ((n + bubble) / open.split.pipeline);
    const Seconds host = profile.host_time_step + n * profile.host_time_micro_batch;
    open.work = first ? work : std::min(open.work, work);
    open.host = first ? host : std::min(open.host, host);
    first = false;
  }
}

void count_by_tensor(SplitList& list, const OpenSplit& open) {
  auto same = std::find_if(list.tensors.begin(), list.tensors.end(),
                           [&](const SplitList::Tensor& t) { return t.degree == open.split.tensor; });
  if (same == list.tensors.end()) same = list.tensors.insert(same, {open.split.tensor, 0, 0, 0});
  ++same->splits;
  same->choices += open.choices;
  same->partial_choices += open.partial_choices;
}

}  // namespace

double least_bubble(const Split& split, const SplitOptions& options) {
  const auto bubble = [&](const ScheduleOption& o) { return bubble_floor(o.schedule, split.pipeline, o.chunks); };
  double least = bubble(options.schedules.front());
  for (const ScheduleOption& o : options.schedules) least = std::min(least, bubble(o));
  return least;
}

Seconds OpenSplit::floor(FlopsPerSecond rate, double stretch) const {
  return (work / rate + host) * (stretch * kBoundRounding);
}

Seconds SplitList::floor(FlopsPerSecond rate) const {
  return (open.front().work / rate + host) * (stretch * kBoundRounding);
}

SplitList list_splits(const PlanRequest& request, const Workload& workload, std::int64_t gpus, const Stack& stack,
                      std::span<const std::int32_t> micro_batches) {
  const SearchSpace space(request, workload, gpus, stack, micro_batches);
  const TokenWork token = token_work(workload, stack.profile);
  SplitList list;
  list.gpus = gpus;
  list.stretch = straggler_stretch(gpus, stack.profile);
  for (const Split& split : space.splits()) {
    auto broken = space.check(split);
    OpenSplit open{split, {}, 0, 0, Flops(), Seconds()};
    if (!broken) {
      open.options = space.options(split);
      open.choices = open.options.product();
      open.partial_choices = open.options.partial_product();
      const SplitOptions& o = open.options;
      if (open.choices == 0) {
        const bool divides = !o.micro_batches.empty() && !o.shardings.empty() && !o.schedules.empty();
        broken = divides ? RejectionReason::Unsupported : RejectionReason::Divisibility;
      }
    }
    if (broken) {
      ++list.closed[static_cast<std::size_t>(*broken)];
      continue;
    }
    set_floors(open, token, workload, stack.profile, micro_batches);
    count_by_tensor(list, open);
    list.host = list.open.empty() ? open.host : std::min(list.host, open.host);
    list.open.push_back(std::move(open));
  }
  std::stable_sort(list.open.begin(), list.open.end(),
                   [](const OpenSplit& a, const OpenSplit& b) { return a.work < b.work; });
  return list;
}

}  // namespace smplan
