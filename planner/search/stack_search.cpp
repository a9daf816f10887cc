#include "planner/search/stack_search.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "models/job/execution.hpp"
#include "planner/answer/uncertainty.hpp"
#include "planner/search/split_search.hpp"

namespace smplan {

StackSearch::StackSearch(const PlanRequest& request, const Stack& stack, const InstanceType& instance,
                         const Cluster& one_node, const Workload& workload, std::span<const std::int32_t> micro_batches,
                         int variants)
    : request_(request),
      stack_(stack),
      micro_batches_(micro_batches),
      common_(common_options(request, instance, one_node, stack)),
      layers_(layer_stack(workload, stack)),
      token_work_(token_work(workload, stack.profile)),
      safe_part_(request.max_oom_probability ? safe_memory_part(stack, *request.max_oom_probability) : 1),
      rate_(work_rate(one_node, stack.product_precision(workload.precision), stack.profile)),
      variants_(variants),
      tries_deepep_(std::any_of(request.stacks.begin(), request.stacks.end(),
                                [&](const Stack* way) {
                                  return way->id == stack.id && way->execution.moe_dispatcher == MoeDispatcher::DeepEp;
                                })),
      tables_(2 * common_.collectives.size() * micro_batches.size()) {}

/// Splits wait in a queue by their floor. The work floor costs nothing; the table floor, which is higher, is
/// computed when a split comes to the front, and the split waits again. So splits are searched in the order
/// of their table floors, and tables are made only for those that the best so far leaves a chance.
class StackSearch::GroupSearch {
 public:
  GroupSearch(StackSearch& owner, const Group& group, const Cluster& cluster, const SplitList& splits,
              const Incumbents& incumbents, std::optional<Seconds> threshold, StackOutcome& out)
      : owner_(owner),
        group_(group),
        cluster_(cluster),
        splits_(splits),
        incumbents_(incumbents),
        out_(out),
        threshold_(threshold) {}

  void run() {
    if (!open()) return;
    look_ahead();
    std::uint64_t searched = 0;
    while (!queue_.empty()) {
      const Waiting next = queue_.top();
      if (threshold_ && next.floor > *threshold_) break;
      queue_.pop();
      if (next.search == kNotRefined) {
        searches_.emplace_back(owner_, group_, cluster_, splits_.open[next.split]);
        const Seconds floor = searches_.back().refine(threshold_);
        queue_.push({floor, next.split, searches_.size() - 1});
        continue;
      }
      searched += candidates(splits_.open[next.split]);
      search(searches_[next.search]);
    }
    out_.stats.pruned += candidates_ - searched;
  }

 private:
  static constexpr auto kNotRefined = static_cast<std::size_t>(-1);
  struct Waiting {
    Seconds floor;
    std::size_t split = 0;
    std::size_t search = kNotRefined;
    /// Least floor first; the list's order breaks ties.
    friend bool operator<(const Waiting& a, const Waiting& b) {
      return a.floor != b.floor ? a.floor > b.floor : a.split > b.split;
    }
  };

  /// Of a split, or of all with one tensor degree.
  template <typename Splits>
  [[nodiscard]] std::uint64_t candidates(const Splits& s) const {
    const CommonOptions& common = owner_.common_;
    return common.collectives.size() *
           (s.choices * (common.savings.size() - common.partial) + s.partial_choices * common.partial);
  }

  /// Counts the space. False if no split is open.
  bool open() {
    const std::int64_t domain = cluster_.domain();
    for (std::size_t r = 0; r < splits_.closed.size(); ++r) {
      out_.stats.space += splits_.closed[r];
      out_.rejected[r] += splits_.closed[r];
    }
    for (const SplitList::Tensor& t : splits_.tensors) {
      // Tensor groups stay inside a node or NVLink domain.
      const auto reason = t.degree > domain    ? std::optional(RejectionReason::Topology)
                          : candidates(t) == 0 ? std::optional(RejectionReason::Unsupported)
                                               : std::nullopt;
      if (reason) out_.rejected[static_cast<std::size_t>(*reason)] += t.splits;
      out_.stats.space += reason ? t.splits : candidates(t);
      if (!reason) candidates_ += candidates(t);
    }
    return candidates_ > 0;
  }

  /// Queues the splits that can be part of the answer.
  void look_ahead() {
    const Seconds floor = splits_.floor(owner_.rate_);
    if (incumbents_.useless(owner_.request_, group_, owner_.stack_, floor)) return;
    const Seconds horizon = incumbents_.horizon(owner_.request_, group_, owner_.stack_, floor);
    if (std::isfinite(horizon.value())) threshold_ = threshold_ ? std::min(*threshold_, horizon) : horizon;
    for (std::size_t i = 0; i < splits_.open.size(); ++i) {
      const OpenSplit& split = splits_.open[i];
      const Seconds split_floor = split.floor(owner_.rate_, splits_.stretch);
      if (split.split.tensor > cluster_.domain() || (threshold_ && split_floor > *threshold_)) continue;
      if (is_of_another_way(split.split)) continue;
      queue_.push({split_floor, i, kNotRefined});
    }
  }

  /// Where the request leaves it open, tokens go by DeepEP where it reaches their experts and by the framework's
  /// default elsewhere; what is not exchanged does not overlap. So each split is searched in the ways that suit it.
  [[nodiscard]] bool is_of_another_way(const Split& split) const {
    const Execution& e = owner_.stack_.execution;
    const PlanRequest& request = owner_.request_;
    if (request[Dimension::ExpertOverlap].any() && e.expert_overlap == Toggle::On && split.expert == 1) return true;
    if (!request[Dimension::MoeDispatcher].any() || !owner_.tries_deepep_) return false;
    Strategy s = strategy_of(split);
    s.execution.moe_dispatcher = MoeDispatcher::DeepEp;
    const bool reaches = split.expert > 1 && !dispatches_out_of_reach(s, cluster_);
    return reaches != (e.moe_dispatcher == MoeDispatcher::DeepEp);
  }

  void search(SplitSearch& split) {
    // What is short of memory matters only where nothing fits.
    const bool count_misses = !incumbents_.has_plan && out_.best.empty() && !fits_elsewhere_;
    const SimplicityFront<Candidate> found = split.run(threshold_, count_misses, out_);
    if (found.items().empty()) return;
    for (const Candidate& c : found.items()) out_.simple.add(c, faster);
    const Candidate& best = found.items().front();
    const auto variants = static_cast<std::size_t>(owner_.variants_);
    out_.best.insert(std::upper_bound(out_.best.begin(), out_.best.end(), best, faster), best);
    if (out_.best.size() > variants) out_.best.pop_back();
    const std::optional<Seconds> last = owner_.threshold_after(out_);
    if (last) threshold_ = threshold_ ? std::min(*threshold_, *last) : *last;
  }

  StackSearch& owner_;
  const Group& group_;
  const Cluster& cluster_;
  const SplitList& splits_;
  const Incumbents& incumbents_;
  StackOutcome& out_;
  std::uint64_t candidates_ = 0;
  std::optional<Seconds> threshold_;  ///< no slower step can matter
  bool fits_elsewhere_ = threshold_.has_value();
  std::priority_queue<Waiting> queue_;
  std::vector<SplitSearch> searches_;
};

StackOutcome StackSearch::search(const Group& group, const Cluster& cluster, const SplitList& splits,
                                 const Incumbents& incumbents, std::optional<Seconds> threshold) {
  StackOutcome out;
  GroupSearch(*this, group, cluster, splits, incumbents, threshold, out).run();
  return out;
}

/// Slower ones matter only where they may be preferred for being simpler.
std::optional<Seconds> StackSearch::threshold_after(const StackOutcome& out) const {
  if (out.best.size() < static_cast<std::size_t>(variants_)) return std::nullopt;
  return std::max(out.best.back().step.time(), out.best.front().step.time() * kSimplerMayCost);
}

}  // namespace smplan
