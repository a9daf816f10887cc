#include "models/run/goodput.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace smplan {
namespace {

/// A run that needs e^100 attempts is never done; the number only has to stay finite.
constexpr double kMostExponent = 100;

double bounded(double exponent) { return std::min(exponent, kMostExponent); }

/// Variance of the time until a segment of `length` is done without interruption: failed attempts are
/// geometric in number, each an exponential time cut at `length`, and a restart.
double segment_variance(Seconds length, Seconds restart, Seconds apart) {
  constexpr double kRare = 1e-4;
  const double m = apart.value();
  const double s = length.value();
  const double x = bounded(s / m);
  const double done = std::exp(-x);
  const double failed = -std::expm1(-x);
  double mean = s / 2;  // of a failed attempt: uniform where interruptions are rare
  double square = s * s / 3;
  if (x > kRare) {
    mean = m - s * done / failed;
    square = 2 * m * m - (s * s + 2 * m * s) * done / failed;
  }
  const double attempts = failed / done;
  const double attempts_variance = failed / (done * done);
  const double cost = mean + restart.value();
  return attempts * (square - mean * mean) + attempts_variance * cost * cost;
}

}  // namespace

Interruptions combined(const Interruptions& a, const Interruptions& b) {
  if (!(a.apart > Seconds())) return b;
  if (!(b.apart > Seconds())) return a;
  const double rate_a = 1 / a.apart.value();
  const double rate_b = 1 / b.apart.value();
  const double rate = rate_a + rate_b;
  return {Seconds(1 / rate), (a.restart * rate_a + b.restart * rate_b) / rate,
          (a.waiting * rate_a + b.waiting * rate_b) / rate};
}

Seconds checkpoint_interval(Seconds mean_time_between_failures, Seconds stall) {
  const double ratio = stall / (2 * mean_time_between_failures);
  if (ratio >= 1) return mean_time_between_failures;
  const Seconds young(std::sqrt(2 * stall.value() * mean_time_between_failures.value()));
  return young * (1 + std::sqrt(ratio) / 3 + ratio / 9) - stall;
}

Seconds best_interval(Seconds productive, Seconds step, const CheckpointTimes& checkpoint, Seconds apart) {
  const Seconds wanted = apart > Seconds() ? checkpoint_interval(apart, checkpoint.stall) : productive;
  const Seconds least = std::min(std::max(step, checkpoint.drain), productive);
  return std::clamp(wanted, least, productive);
}

LostTime expected_loss(Seconds productive, Seconds interval, const CheckpointTimes* checkpoint,
                       const Interruptions& interruptions) {
  LostTime lost;
  if (!(productive > Seconds())) return lost;
  const Seconds tau = checkpoint != nullptr ? interval : productive;
  const Seconds stall = checkpoint != nullptr ? checkpoint->stall : Seconds();
  const Seconds drain = checkpoint != nullptr ? checkpoint->drain : Seconds();
  const double segments = productive / tau;
  lost.checkpoints = stall * segments;
  lost.interval = checkpoint != nullptr ? interval : Seconds();
  const Seconds m = interruptions.apart;
  if (!(m > Seconds())) return lost;
  const Seconds segment = tau + stall;
  const Seconds start = interruptions.restart - interruptions.waiting;
  const Seconds redo = start + drain;
  const double hits = segments * std::expm1(bounded(segment / m));
  const Seconds after_hits = m * (hits * std::expm1(bounded(redo / m)));
  const double start_share = redo > Seconds() ? start / redo : 0;
  lost.interruptions = hits * std::exp(bounded(redo / m));
  lost.waiting = interruptions.waiting * lost.interruptions;
  lost.restarts = after_hits * start_share + lost.waiting;
  lost.rework = m * hits - segment * segments + after_hits * (1 - start_share);
  lost.rework = std::max(lost.rework, Seconds());
  lost.deviation = Seconds(std::sqrt(segments * segment_variance(segment, interruptions.restart + drain, m)));
  return lost;
}

Seconds Spread::at(double confidence) const { return middle * std::exp(sigma * normal_quantile(confidence)); }

double Spread::probability(Seconds limit) const {
  if (!(limit > Seconds())) return 0;
  if (!(sigma > 0)) return limit >= middle ? 1 : 0;
  return std::erfc(-std::log(limit / middle) / sigma / std::sqrt(2.0)) / 2;
}

Spread run_spread(const StepEstimate& step, Seconds total, Seconds deviation) {
  const Seconds time = step.time();
  const bool wide = step.p90 > time && time > Seconds();
  const double error = wide ? std::log(step.p90 / time) / kZ90 : 0;
  const double chance = total > Seconds() ? deviation / total : 0;
  return {total, std::hypot(error, chance)};
}

double normal_quantile(double p) {
  constexpr std::array<double, 6> kA = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                        1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array<double, 5> kB = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                                        6.680131188771972e+01, -1.328068155288572e+01};
  constexpr std::array<double, 6> kC = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                        -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array<double, 4> kD = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                        3.754408661907416e+00};
  constexpr double kTail = 0.02425;
  const auto tail = [&](double q) {
    const double top = ((((kC[0] * q + kC[1]) * q + kC[2]) * q + kC[3]) * q + kC[4]) * q + kC[5];
    return top / ((((kD[0] * q + kD[1]) * q + kD[2]) * q + kD[3]) * q + 1);
  };
  if (p < kTail) return tail(std::sqrt(-2 * std::log(p)));
  if (p > 1 - kTail) return -tail(std::sqrt(-2 * std::log1p(-p)));
  const double q = p - 0.5;
  const double r = q * q;
  const double top = (((((kA[0] * r + kA[1]) * r + kA[2]) * r + kA[3]) * r + kA[4]) * r + kA[5]) * q;
  return top / (((((kB[0] * r + kB[1]) * r + kB[2]) * r + kB[3]) * r + kB[4]) * r + 1);
}

}  // namespace smplan
