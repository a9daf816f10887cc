#include "base/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include <Eigen/Dense>

namespace smplan {
namespace {

/// Bounded values as unbounded ones, so that steps need no clipping.
class LogitScale {
 public:
  explicit LogitScale(const std::vector<FitParameter>& parameters) : parameters_(parameters) {}

  [[nodiscard]] Eigen::VectorXd from(const std::vector<double>& values) const {
    Eigen::VectorXd u(size());
    for (Eigen::Index j = 0; j < u.size(); ++j) {
      const FitParameter& p = at(j);
      const double x = values[static_cast<std::size_t>(j)];
      u[j] = std::log((x - p.low) / (p.high - x));
    }
    return u;
  }
  [[nodiscard]] Eigen::VectorXd prior() const {
    std::vector<double> means;
    for (const FitParameter& p : parameters_) means.push_back(p.initial);
    return from(means);
  }
  [[nodiscard]] double value(Eigen::Index j, double u) const {
    const FitParameter& p = at(j);
    return p.low + (p.high - p.low) / (1 + std::exp(-u));
  }
  [[nodiscard]] std::vector<double> values(const Eigen::VectorXd& u) const {
    std::vector<double> x(parameters_.size());
    for (Eigen::Index j = 0; j < u.size(); ++j) x[static_cast<std::size_t>(j)] = value(j, u[j]);
    return x;
  }
  /// How far the value moves for a unit of the logit scale.
  [[nodiscard]] double slope(Eigen::Index j, double u) const {
    const FitParameter& p = at(j);
    const double x = value(j, u);
    return (x - p.low) * (p.high - x) / (p.high - p.low);
  }
  [[nodiscard]] double width(Eigen::Index j) const { return at(j).prior_width; }
  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(parameters_.size()); }

 private:
  [[nodiscard]] const FitParameter& at(Eigen::Index j) const { return parameters_[static_cast<std::size_t>(j)]; }
  const std::vector<FitParameter>& parameters_;
};

/// Calls row(i) once for each i < n, contiguous blocks of rows a thread.
template <typename Row>
void for_each_row(std::size_t n, unsigned threads, const Row& row) {
  // Below this many rows a thread starts slower than it works.
  constexpr std::size_t kRowsWorthAThread = 32;
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t workers = std::min<std::size_t>(threads, std::max<std::size_t>(1, n / kRowsWorthAThread));
  const auto block = [&](std::size_t worker) {
    for (std::size_t i = n * worker / workers; i < n * (worker + 1) / workers; ++i) row(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t worker = 1; worker < workers; ++worker) others.emplace_back(block, worker);
  block(0);
}

/// Residuals and, by observation, their derivatives by the parameters that it depends on.
struct Linearised {
  std::vector<double> residuals;
  std::vector<std::vector<double>> slopes;
};

struct NormalEquations {
  Eigen::MatrixXd hessian;
  Eigen::VectorXd gradient;
};

class Optimiser {
 public:
  Optimiser(const FitProblem& problem, const FitOptions& options)
      : problem_(problem), options_(options), scale_(problem.parameters), prior_(scale_.prior()) {}

  [[nodiscard]] const LogitScale& scale() const { return scale_; }
  [[nodiscard]] const Eigen::VectorXd& prior() const { return prior_; }

  [[nodiscard]] std::vector<double> residuals(const Eigen::VectorXd& u) const {
    std::vector<double> r(problem_.weights.size());
    const std::vector<double> values = scale_.values(u);
    for_each_row(r.size(), options_.threads, [&](std::size_t i) {
      if (!stopped(options_.monitor)) r[i] = problem_.residual(i, values);
    });
    return r;
  }

  [[nodiscard]] double loss(const std::vector<double>& r, const Eigen::VectorXd& u) const {
    double sum = 0;
    const double bend = options_.huber_width;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double size = std::abs(r[i]);
      sum += problem_.weights[i] * (size <= bend ? 0.5 * size * size : bend * (size - 0.5 * bend));
    }
    for (Eigen::Index j = 0; j < u.size(); ++j) {
      const double away = (u[j] - prior_[j]) / scale_.width(j);
      sum += 0.5 * away * away;
    }
    return sum;
  }

  /// Of the reweighted problem, priors included. Rows are summed in order: the same on any number of threads.
  [[nodiscard]] NormalEquations normal_equations(const Eigen::VectorXd& u, std::vector<double> r) const {
    const Linearised at = linearise(u, std::move(r));
    NormalEquations e{Eigen::MatrixXd::Zero(u.size(), u.size()), Eigen::VectorXd::Zero(u.size())};
    for (std::size_t i = 0; i < at.residuals.size(); ++i) {
      const double size = std::abs(at.residuals[i]);
      const double w = problem_.weights[i] * (size <= options_.huber_width ? 1 : options_.huber_width / size);
      const std::vector<std::size_t>& on = problem_.depends_on[i];
      for (std::size_t a = 0; a < on.size(); ++a) {
        const auto j = static_cast<Eigen::Index>(on[a]);
        e.gradient[j] += w * at.slopes[i][a] * at.residuals[i];
        for (std::size_t b = 0; b < on.size(); ++b) {
          e.hessian(j, static_cast<Eigen::Index>(on[b])) += w * at.slopes[i][a] * at.slopes[i][b];
        }
      }
    }
    for (Eigen::Index j = 0; j < u.size(); ++j) {
      const double precision = 1 / (scale_.width(j) * scale_.width(j));
      e.hessian(j, j) += precision;
      e.gradient[j] += (u[j] - prior_[j]) * precision;
    }
    return e;
  }

 private:
  [[nodiscard]] Linearised linearise(const Eigen::VectorXd& u, std::vector<double> r) const {
    constexpr double kStep = 1e-3;
    Linearised at{std::move(r), std::vector<std::vector<double>>(problem_.weights.size())};
    const std::vector<double> here = scale_.values(u);
    for_each_row(at.residuals.size(), options_.threads, [&](std::size_t i) {
      const std::vector<std::size_t>& on = problem_.depends_on[i];
      at.slopes[i].resize(on.size());
      std::vector<double> moved = here;
      for (std::size_t a = 0; a < on.size() && !stopped(options_.monitor); ++a) {
        const std::size_t j = on[a];
        const auto index = static_cast<Eigen::Index>(j);
        moved[j] = scale_.value(index, u[index] + kStep);
        at.slopes[i][a] = (problem_.residual(i, moved) - at.residuals[i]) / kStep;
        moved[j] = here[j];
      }
    });
    return at;
  }

  const FitProblem& problem_;
  const FitOptions& options_;
  LogitScale scale_;
  Eigen::VectorXd prior_;
};

void fill_spreads(const Optimiser& optimiser, const Eigen::VectorXd& u, const Eigen::MatrixXd& hessian,
                  FitResult& result) {
  const Eigen::MatrixXd covariance = hessian.ldlt().solve(Eigen::MatrixXd::Identity(u.size(), u.size()));
  const LogitScale& scale = optimiser.scale();
  for (Eigen::Index j = 0; j < u.size(); ++j) {
    const double spread = std::sqrt(std::max(0.0, covariance(j, j)));
    result.spreads.push_back(spread * scale.slope(j, u[j]));
    result.narrowing.push_back(spread / scale.width(j));
    result.prior_spreads.push_back(scale.width(j) * scale.slope(j, optimiser.prior()[j]));
  }
}

}  // namespace

FitResult fit_parameters(const FitProblem& problem, const FitOptions& options) {
  const Optimiser optimiser(problem, options);
  Eigen::VectorXd u = problem.start.empty() ? optimiser.prior() : optimiser.scale().from(problem.start);
  std::vector<double> r = optimiser.residuals(u);
  FitResult result;
  double loss = optimiser.loss(r, u);
  result.initial_loss = loss;
  NormalEquations equations = optimiser.normal_equations(u, r);
  double damping = 1e-2;
  constexpr double kMaxDamping = 1e8;
  expect(options.monitor, static_cast<std::uint64_t>(options.max_iterations));
  while (result.iterations < options.max_iterations && !stopped(options.monitor)) {
    double gained = 0;
    while (damping < kMaxDamping && !stopped(options.monitor)) {
      Eigen::MatrixXd damped = equations.hessian;
      damped.diagonal() *= 1 + damping;
      const Eigen::VectorXd moved = u - damped.ldlt().solve(equations.gradient);
      std::vector<double> moved_r = optimiser.residuals(moved);
      const double moved_loss = optimiser.loss(moved_r, moved);
      if (std::isfinite(moved_loss) && moved_loss < loss) {
        gained = (loss - moved_loss) / std::max(loss, std::numeric_limits<double>::min());
        u = moved;
        r = std::move(moved_r);
        loss = moved_loss;
        damping = std::max(damping / 5, 1e-9);
        break;
      }
      damping *= 4;
    }
    if (gained > 0) equations = optimiser.normal_equations(u, r);
    ++result.iterations;
    advance(options.monitor);
    if (gained < options.tolerance) break;
  }
  result.values = optimiser.scale().values(u);
  result.final_loss = loss;
  fill_spreads(optimiser, u, equations.hessian, result);
  return result;
}

}  // namespace smplan
