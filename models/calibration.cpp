#include "models/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

namespace smplan {
namespace {

/// Bounded values as unbounded ones, so that steps need no clipping.
class LogitScale {
 public:
  explicit LogitScale(const std::vector<FitParameter>& parameters) : parameters_(parameters) {}

  [[nodiscard]] Eigen::VectorXd start() const {
    Eigen::VectorXd u(static_cast<Eigen::Index>(parameters_.size()));
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const FitParameter& p = parameters_[i];
      u[static_cast<Eigen::Index>(i)] = std::log((p.initial - p.low) / (p.high - p.initial));
    }
    return u;
  }
  [[nodiscard]] std::vector<double> values(const Eigen::VectorXd& u) const {
    std::vector<double> x(parameters_.size());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const FitParameter& p = parameters_[i];
      x[i] = p.low + (p.high - p.low) / (1 + std::exp(-u[static_cast<Eigen::Index>(i)]));
    }
    return x;
  }

 private:
  const std::vector<FitParameter>& parameters_;
};

class Problem {
 public:
  Problem(const std::vector<FitParameter>& parameters, const ResidualFunction& residuals,
          std::span<const double> weights, double huber_width)
      : parameters_(parameters),
        scale_(parameters),
        residuals_(residuals),
        weights_(weights),
        huber_width_(huber_width),
        start_(scale_.start()) {}

  [[nodiscard]] const Eigen::VectorXd& start() const { return start_; }
  [[nodiscard]] std::vector<double> values(const Eigen::VectorXd& u) const { return scale_.values(u); }

  [[nodiscard]] Eigen::VectorXd evaluate(const Eigen::VectorXd& u) const {
    Eigen::VectorXd r(static_cast<Eigen::Index>(weights_.size()));
    const std::vector<double> x = scale_.values(u);
    residuals_(x, {r.data(), weights_.size()});
    return r;
  }

  [[nodiscard]] double loss(const Eigen::VectorXd& r, const Eigen::VectorXd& u) const {
    double sum = 0;
    for (Eigen::Index i = 0; i < r.size(); ++i) {
      const double size = std::abs(r[i]);
      const double huber = size <= huber_width_ ? 0.5 * size * size : huber_width_ * (size - 0.5 * huber_width_);
      sum += weights_[static_cast<std::size_t>(i)] * huber;
    }
    for (Eigen::Index i = 0; i < u.size(); ++i) {
      const double away = (u[i] - start_[i]) / parameters_[static_cast<std::size_t>(i)].prior_width;
      sum += 0.5 * away * away;
    }
    return sum;
  }

  /// Normal equations of the reweighted problem, priors included.
  void normal_equations(const Eigen::VectorXd& u, const Eigen::VectorXd& r, Eigen::MatrixXd& hessian,
                        Eigen::VectorXd& gradient) const {
    constexpr double kStep = 1e-3;
    Eigen::MatrixXd jacobian(r.size(), u.size());
    for (Eigen::Index j = 0; j < u.size(); ++j) {
      Eigen::VectorXd moved = u;
      moved[j] += kStep;
      jacobian.col(j) = (evaluate(moved) - r) / kStep;
    }
    Eigen::VectorXd w(r.size());
    for (Eigen::Index i = 0; i < r.size(); ++i) {
      const double size = std::abs(r[i]);
      w[i] = weights_[static_cast<std::size_t>(i)] * (size <= huber_width_ ? 1 : huber_width_ / size);
    }
    hessian = jacobian.transpose() * w.asDiagonal() * jacobian;
    gradient = jacobian.transpose() * (w.cwiseProduct(r));
    for (Eigen::Index j = 0; j < u.size(); ++j) {
      const double width = parameters_[static_cast<std::size_t>(j)].prior_width;
      hessian(j, j) += 1 / (width * width);
      gradient[j] += (u[j] - start_[j]) / (width * width);
    }
  }

 private:
  const std::vector<FitParameter>& parameters_;
  LogitScale scale_;
  const ResidualFunction& residuals_;
  std::span<const double> weights_;
  double huber_width_;
  Eigen::VectorXd start_;
};

}  // namespace

FitResult fit_parameters(const std::vector<FitParameter>& parameters, const ResidualFunction& residuals,
                         std::span<const double> weights, const FitOptions& options) {
  const Problem problem(parameters, residuals, weights, options.huber_width);
  Eigen::VectorXd u = problem.start();
  Eigen::VectorXd r = problem.evaluate(u);
  FitResult result;
  double loss = problem.loss(r, u);
  result.initial_loss = loss;
  double damping = 1e-2;
  constexpr double kMaxDamping = 1e8;
  for (; result.iterations < options.max_iterations; ++result.iterations) {
    Eigen::MatrixXd hessian;
    Eigen::VectorXd gradient;
    problem.normal_equations(u, r, hessian, gradient);
    double gained = 0;
    while (damping < kMaxDamping) {
      Eigen::MatrixXd damped = hessian;
      damped.diagonal() *= 1 + damping;
      const Eigen::VectorXd moved = u - damped.ldlt().solve(gradient);
      const Eigen::VectorXd moved_r = problem.evaluate(moved);
      const double moved_loss = problem.loss(moved_r, moved);
      if (std::isfinite(moved_loss) && moved_loss < loss) {
        gained = (loss - moved_loss) / loss;
        u = moved;
        r = moved_r;
        loss = moved_loss;
        damping = std::max(damping / 5, 1e-9);
        break;
      }
      damping *= 4;
    }
    if (gained < options.tolerance) break;
  }
  result.values = problem.values(u);
  result.final_loss = loss;
  return result;
}

}  // namespace smplan
