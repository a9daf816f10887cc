#include "planner/rl/rl_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace smplan {
namespace {

/// Kinds of parts that err together.
std::array<Seconds, 4> kinds(const RlParts& p) { return {p.generate, p.score, p.training(), p.sync + p.swap}; }

/// What `ends` are away from `middle`, in squares.
template <std::size_t N>
Seconds deviation(const std::array<Seconds, N>& middle, const std::array<Seconds, N>& ends) {
  double squares = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const double d = (ends[i] - middle[i]).value();
    squares += d * d;
  }
  return Seconds(std::sqrt(squares));
}

}  // namespace

std::span<const RlPart> rl_parts() {
  using P = RlParts;
  static constexpr std::array<RlPart, 8> kParts{{{"generate", "generating", &P::generate},
                                                 {"score", "scoring", &P::score},
                                                 {"log_probs", "the policy's log-probabilities", &P::log_probs},
                                                 {"reference", "the reference's log-probabilities", &P::reference},
                                                 {"critic", "the critic", &P::critic},
                                                 {"update", "updating the policy", &P::update},
                                                 {"sync", "sending weights to the engine", &P::sync},
                                                 {"swap", "sleeping and waking", &P::swap}}};
  return kParts;
}

Seconds rl_step_time(const RlParts& p, RlPlacement placement) {
  if (placement == RlPlacement::Split) return std::max(p.generate, p.score + p.training()) + p.sync + p.swap;
  return p.generate + p.score + p.training() + p.sync + p.swap;
}

RlInterval rl_interval(const RlParts& low, const RlParts& expected, const RlParts& high, RlPlacement placement) {
  const Seconds step = rl_step_time(expected, placement);
  if (placement != RlPlacement::Split) {
    return {step - deviation(kinds(expected), kinds(low)), step + deviation(kinds(expected), kinds(high))};
  }
  const auto longer_and_moves = [](const RlParts& p) {
    return std::array<Seconds, 2>{std::max(p.generate, p.score + p.training()), p.sync + p.swap};
  };
  const auto middle = longer_and_moves(expected);
  return {step - deviation(middle, longer_and_moves(low)), step + deviation(middle, longer_and_moves(high))};
}

}  // namespace smplan
