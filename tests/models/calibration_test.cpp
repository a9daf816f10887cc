#include "base/least_squares.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace smplan {
namespace {

std::vector<std::vector<std::size_t>> on_all(std::size_t observations, std::size_t parameters) {
  std::vector<std::size_t> all(parameters);
  std::iota(all.begin(), all.end(), 0);
  return std::vector<std::vector<std::size_t>>(observations, all);
}

/// y = a + b x at x = 0, 0.1, ..., measured without noise.
FitProblem line(double a, double b, std::size_t n, double weight) {
  FitProblem p;
  p.parameters = {{.name = "a", .initial = 0.5}, {.name = "b", .initial = 0.5}};
  p.residual = [a, b](std::size_t i, std::span<const double> v) {
    const double x = 0.1 * static_cast<double>(i);
    return v[0] + v[1] * x - (a + b * x);
  };
  p.weights.assign(n, weight);
  p.depends_on = on_all(n, 2);
  return p;
}

TEST(FitParameters, FindsWhatManyObservationsTell) {
  const FitResult fit = fit_parameters(line(0.2, 0.7, 200, 1e4));
  EXPECT_NEAR(fit.values[0], 0.2, 1e-3);
  EXPECT_NEAR(fit.values[1], 0.7, 1e-3);
  EXPECT_LT(fit.final_loss, fit.initial_loss);
}

TEST(FitParameters, StaysInsideBoundsWhenTheTruthIsOutside) {
  const FitResult fit = fit_parameters(line(-3, 5, 50, 1e4));
  for (const double value : fit.values) {
    EXPECT_GT(value, 0);
    EXPECT_LT(value, 1);
  }
}

TEST(FitParameters, WithoutObservationsReturnsThePrior) {
  FitProblem p = line(0.2, 0.7, 0, 1);
  p.parameters[0].initial = 0.31;
  const FitResult fit = fit_parameters(p);
  EXPECT_DOUBLE_EQ(fit.values[0], 0.31);
  EXPECT_DOUBLE_EQ(fit.narrowing[0], 1);
}

TEST(FitParameters, MoreWeightMovesFurtherFromThePrior) {
  double before = 0;
  for (const double weight : {0.1, 1.0, 10.0, 100.0}) {
    const double moved = 0.5 - fit_parameters(line(0.3, 0.5, 3, weight)).values[0];
    EXPECT_GT(moved, before);
    before = moved;
  }
}

TEST(FitParameters, NarrowPriorHolds) {
  FitProblem wide = line(0.2, 0.7, 5, 10);
  FitProblem narrow = wide;
  for (FitParameter& p : narrow.parameters) p.prior_width = 0.05;
  EXPECT_LT(std::abs(fit_parameters(narrow).values[0] - 0.5), std::abs(fit_parameters(wide).values[0] - 0.5));
}

// One parameter, unit weight n observations of it, logit prior of width s: the curvature is n slope^2 + 1/s^2.
TEST(FitParameters, SpreadIsThatOfTheNormalApproximation) {
  FitProblem p;
  p.parameters = {{.name = "a", .initial = 0.5, .prior_width = 2}};
  p.residual = [](std::size_t, std::span<const double> v) { return v[0] - 0.5; };
  p.weights.assign(16, 1);
  p.depends_on = on_all(16, 1);
  const FitResult fit = fit_parameters(p);
  const double slope = 0.25;  // of the logistic function at its middle
  const double spread = 1 / std::sqrt(16 * slope * slope + 0.25);
  EXPECT_NEAR(fit.spreads[0], slope * spread, 1e-4);
  EXPECT_NEAR(fit.prior_spreads[0], slope * 2, 1e-12);
  EXPECT_NEAR(fit.narrowing[0], spread / 2, 1e-4);
}

TEST(FitParameters, AFewOddObservationsDoNotSetAParameter) {
  const auto constant = [](std::size_t odd) {
    FitProblem p;
    p.parameters = {{.name = "a", .initial = 0.5, .prior_width = 10}};
    p.residual = [odd](std::size_t i, std::span<const double> v) { return v[0] - (i < odd ? 0.95 : 0.3); };
    p.weights.assign(40, 100);
    p.depends_on = on_all(40, 1);
    return fit_parameters(p, {.huber_width = 0.01}).values[0];
  };
  EXPECT_NEAR(constant(0), 0.3, 1e-3);
  EXPECT_NEAR(constant(4), 0.3, 5e-3);  // the mean would be 0.365
}

TEST(FitParameters, ObservationsThatDependOnNothingChangeNothing) {
  FitProblem with = line(0.2, 0.7, 20, 100);
  const FitResult without = fit_parameters(with);
  with.weights.push_back(1e6);
  with.depends_on.emplace_back();
  with.residual = [inner = with.residual](std::size_t i, std::span<const double> v) {
    return i < 20 ? inner(i, v) : 3.0;
  };
  const FitResult fit = fit_parameters(with, {.tolerance = 1e-12});
  EXPECT_NEAR(fit.values[0], without.values[0], 1e-3);
  EXPECT_NEAR(fit.values[1], without.values[1], 1e-3);
}

TEST(FitParameters, ThreadsChangeNoDigit) {
  const FitProblem p = line(0.2, 0.7, 500, 3);
  const FitResult one = fit_parameters(p, {.threads = 1});
  for (const unsigned threads : {2U, 5U, 16U}) EXPECT_EQ(fit_parameters(p, {.threads = threads}).values, one.values);
}

TEST(FitParameters, TheStartChangesTheWayAndNotTheOptimum) {
  FitProblem p = line(0.2, 0.7, 100, 1000);
  const FitResult cold = fit_parameters(p, {.tolerance = 1e-9});
  p.start = {0.9, 0.1};
  const FitResult warm = fit_parameters(p, {.tolerance = 1e-9});
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(warm.values[i], cold.values[i], 1e-4);
}

}  // namespace
}  // namespace smplan
