#include "bitsieve/fitness/ridge_scaled.hpp"

#include <algorithm>
#include <cmath>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace ridge_scaled {

constexpr std::size_t block_features = 64;
constexpr std::size_t most_steps = 40;
constexpr double tolerance = 1e-24;  // of the squared error that is left, in the norm of the system
constexpr double most_inflation = 1e6;
constexpr double most_away = 100;  // scales between a training part and the mean of all samples
constexpr double usual_steps = 9;

std::size_t solved_targets(std::size_t n_targets) { return n_targets > 1 ? n_targets - 1 : 1; }

void clear(AlignedVector<double>& values, std::size_t size) { values.assign(size, 0.0); }

}  // namespace ridge_scaled

bool ScaledRidge::is_worth(const RidgePlan& plan, std::size_t n_samples, std::size_t n_targets) {
  const double n = static_cast<double>(n_samples);
  const double targets = static_cast<double>(ridge_scaled::solved_targets(n_targets));
  // Multiply-adds a feature and split, and what is kept of the samples left out.
  const bool is_sooner = 2 * n * targets * ridge_scaled::usual_steps < n * n / 2;
  return is_sooner && plan.square_left <= 4 * n * n;
}

// Columns and weights where the products want them; false where the values of a training part stand
// so far from the mean of all samples that digits would be lost.
bool ScaledRidge::lay_out(const ScaledRidgeProblem& problem) {
  const RidgePlan& plan = problem.plan;
  n_ = problem.columns.n_samples();
  ld_ = problem.columns.ld();
  m_ = problem.features.size();
  n_splits_ = plan.n_splits();
  n_solved_ = ridge_scaled::solved_targets(problem.n_targets);
  lanes_ = n_splits_;
  width_ = algebra_ld(lanes_ * n_solved_);
  x_.resize(m_ * ld_);
  weights_.resize(m_ * lanes_);
  common_.resize(m_);
  for (std::size_t k = 0; k < m_; ++k) {
    problem.columns.copy(static_cast<std::size_t>(problem.features[k]), x_.data() + k * ld_);
  }
  for (std::size_t k = 0; k < m_; ++k) {
    double* weights = weights_.data() + k * lanes_;
    const std::size_t at = static_cast<std::size_t>(problem.scales.place[k]);
    const double mean = problem.columns.mean(static_cast<std::size_t>(problem.features[k]));
    double squares = 0;
    for (std::size_t s = 0; s < n_splits_; ++s) {
      const double inverse = problem.scales.inverse_of(s)[at];
      const double away = std::abs(problem.scales.origin_of(s)[at] - mean) * inverse;
      if (!(away <= ridge_scaled::most_away)) return false;
      weights[s] = inverse * inverse;
      squares += 1.0 / weights[s];
    }
    common_[k] = std::sqrt(static_cast<double>(n_splits_) / squares);
  }
  ridge_scaled::clear(trains_, n_ * lanes_);
  ridge_scaled::clear(penalty_, n_ * lanes_);
  for (std::size_t s = 0; s < n_splits_; ++s) {
    for (std::size_t k = plan.train_begin[s]; k < plan.train_begin[s + 1]; ++k) {
      const std::size_t i = static_cast<std::size_t>(plan.train[k]);
      trains_[i * lanes_ + s] = 1;
      penalty_[i * lanes_ + s] = problem.alpha / plan.weight(i, s);
    }
  }
  return true;
}

bool ScaledRidge::precondition(const ScaledRidgeProblem& problem) {
  const RidgePlan& plan = problem.plan;
  const ScaledKernels& kernel = *kernels().scaled;
  AlignedVector<double>& a = work_;
  a.resize(2 * ld_ * ld_);  // the matrix, then scratch of its inverse
  scaled_.resize(ridge_scaled::block_features * std::max(ld_, width_));
  std::vector<std::int32_t> rows(ridge_scaled::block_features);
  AlignedVector<double> origin(ridge_scaled::block_features, 0.0);
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<std::int32_t>(k);
  for (std::size_t begin = 0; begin < m_; begin += ridge_scaled::block_features) {
    const std::size_t count = std::min(ridge_scaled::block_features, m_ - begin);
    kernel.scale(x_.data() + begin * ld_, ld_, rows.data(), count, origin.data(),
                 common_.data() + begin, rows.data(), scaled_.data(), nullptr);
    kernel.triangle(scaled_.data(), ld_, count, 0, ld_, a.data(), begin == 0);
  }
  double trace = 0;
  for (std::size_t i = 0; i < n_; ++i) trace += a[i * (ld_ + 1)];
  if (!std::isfinite(trace)) return false;
  // An intercept leaves no trace of what is added to all elements, which keeps the matrix of
  // centred values from being singular.
  const double n = static_cast<double>(n_);
  const double level = trace > 0 ? trace / (n * n) : problem.alpha / n;
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = i; j < n_; ++j) a[i * ld_ + j] += level;
    a[i * (ld_ + 1)] += problem.alpha / plan.weights[i];
  }
  block_diagonals_.resize(ld_);
  if (!(cholesky(a.data(), n_, ld_, block_diagonals_.data()) <= ridge_scaled::most_inflation)) {
    return false;
  }
  ridge_scaled::clear(inverse_, n_ * ld_);
  invert_symmetric(a.data(), block_diagonals_.data(), n_, ld_, a.data() + ld_ * ld_,
                   inverse_.data());
  border_inverse(inverse_.data(), n_, ld_, border_);
  block_begin_.assign(1, 0);
  diagonal_begin_.assign(1, 0);
  for (std::size_t s = 0; s < n_splits_; ++s) {
    const std::size_t l = plan.n_left(s), ld = algebra_ld(l);
    block_begin_.push_back(block_begin_.back() + l * ld);
    diagonal_begin_.push_back(diagonal_begin_.back() + ld);
  }
  ridge_scaled::clear(blocks_, block_begin_.back());
  ridge_scaled::clear(block_diagonals_, diagonal_begin_.back());
  for (std::size_t s = 0; s < n_splits_; ++s) {
    const std::size_t l = plan.n_left(s), ld = algebra_ld(l);
    const std::int32_t* left = plan.left.data() + plan.left_begin[s];
    double* block = blocks_.data() + block_begin_[s];
    for (std::size_t i = 0; i < l; ++i) {
      const double* row = inverse_.data() + static_cast<std::size_t>(left[i]) * ld_;
      for (std::size_t j = i; j < l; ++j) block[i * ld + j] = row[left[j]];
    }
    const double inflation = cholesky(block, l, ld, block_diagonals_.data() + diagonal_begin_[s]);
    if (!(inflation <= ridge_scaled::most_inflation)) return false;
  }
  return true;
}

// products = K_s vectors, of all samples, each column with the scales of its split.
void ScaledRidge::multiply(const AlignedVector<double>& vectors, AlignedVector<double>& products) {
  const AlgebraKernels& kernel = *kernels().algebra;
  ridge_scaled::clear(products, n_ * width_);
  for (std::size_t begin = 0; begin < m_; begin += ridge_scaled::block_features) {
    const std::size_t count = std::min(ridge_scaled::block_features, m_ - begin);
    const double* x = x_.data() + begin * ld_;
    double* inner = scaled_.data();
    std::fill_n(inner, count * width_, 0.0);
    kernel.add_products({x, ld_, 1}, vectors.data(), width_, n_, count, width_, 1.0, inner, width_);
    for (std::size_t k = 0; k < count; ++k) {
      const double* weights = weights_.data() + (begin + k) * lanes_;
      for (std::size_t t = 0; t < n_solved_; ++t) {
        double* row = inner + k * width_ + t * lanes_;
        for (std::size_t s = 0; s < lanes_; ++s) row[s] *= weights[s];
      }
    }
    kernel.add_products({x, 1, ld_}, inner, width_, count, n_, width_, 1.0, products.data(),
                        width_);
  }
}

// The solution of the preconditioner's system on the training part of each column's split. With M
// the inverse over all samples it is M r where r is zero on those left out, less what makes the
// solution vanish there: M (r - q) with M_LL q = (M r)_L.
void ScaledRidge::apply_inverse(const RidgePlan& plan, AlignedVector<double>& residual,
                                AlignedVector<double>& out) {
  const AlgebraKernels& kernel = *kernels().algebra;
  const auto by_inverse = [&] {
    ridge_scaled::clear(out, n_ * width_);
    kernel.add_products({inverse_.data(), 1, ld_}, residual.data(), width_, n_, n_, width_, 1.0,
                        out.data(), width_);
  };
  by_inverse();
  const std::size_t ld_right = algebra_ld(n_solved_);
  for (std::size_t s = 0; s < n_splits_; ++s) {
    const std::size_t l = plan.n_left(s);
    const std::int32_t* left = plan.left.data() + plan.left_begin[s];
    ridge_scaled::clear(right_, l * ld_right);
    for (std::size_t i = 0; i < l; ++i) {
      const double* row = out.data() + static_cast<std::size_t>(left[i]) * width_ + s;
      for (std::size_t t = 0; t < n_solved_; ++t) right_[i * ld_right + t] = row[t * lanes_];
    }
    solve_symmetric(blocks_.data() + block_begin_[s], block_diagonals_.data() + diagonal_begin_[s],
                    l, algebra_ld(l), right_.data(), ld_right, ld_right);
    for (std::size_t i = 0; i < l; ++i) {
      double* row = residual.data() + static_cast<std::size_t>(left[i]) * width_ + s;
      for (std::size_t t = 0; t < n_solved_; ++t) row[t * lanes_] = -right_[i * ld_right + t];
    }
  }
  by_inverse();
  for (std::size_t i = 0; i < n_; ++i) {
    const double* trains = trains_.data() + i * lanes_;
    for (std::size_t t = 0; t < n_solved_; ++t) {
      double* row = out.data() + i * width_ + t * lanes_;
      double* left = residual.data() + i * width_ + t * lanes_;
      for (std::size_t s = 0; s < lanes_; ++s) {
        row[s] *= trains[s];
        left[s] *= trains[s];
      }
    }
  }
}

// A constant, which the intercept takes up, is of no account in a residual, but its rounding would be.
void ScaledRidge::center_residual(const RidgePlan& plan) {
  ridge_scaled::clear(along_, width_);
  for (std::size_t i = 0; i < n_ * width_; i += width_) {
    for (std::size_t c = 0; c < width_; ++c) along_[c] += residual_[i + c];
  }
  for (std::size_t t = 0; t < n_solved_; ++t) {
    for (std::size_t s = 0; s < n_splits_; ++s) {
      along_[t * lanes_ + s] /= static_cast<double>(plan.n_trained(s));
    }
  }
  for (std::size_t i = 0; i < n_; ++i) {
    const double* trains = trains_.data() + i * lanes_;
    for (std::size_t t = 0; t < n_solved_; ++t) {
      double* row = residual_.data() + i * width_ + t * lanes_;
      for (std::size_t s = 0; s < lanes_; ++s) row[s] -= trains[s] * along_[t * lanes_ + s];
    }
  }
}

void ScaledRidge::start(const ScaledRidgeProblem& problem) {
  const std::size_t size = n_ * width_;
  for (auto* each : {&solution_, &residual_, &fitted_}) ridge_scaled::clear(*each, size);
  for (std::size_t i = 0; i < n_; ++i) {
    const double* trains = trains_.data() + i * lanes_;
    for (std::size_t t = 0; t < n_solved_; ++t) {
      const double y = problem.targets[i * problem.ld_targets + t];
      double* row = residual_.data() + i * width_ + t * lanes_;
      for (std::size_t s = 0; s < n_splits_; ++s) row[s] = trains[s] * y;
    }
  }
  center_residual(problem.plan);
  apply_inverse(problem.plan, residual_, conditioned_);
  direction_ = conditioned_;
  ridge_scaled::clear(square_, width_);
  for (std::size_t i = 0; i < size; i += width_) {
    for (std::size_t c = 0; c < width_; ++c) square_[c] += residual_[i + c] * conditioned_[i + c];
  }
  first_ = square_;
}

// One step of all columns along their directions. Columns that are done go on with the others, but
// for those of which nothing is left.
void ScaledRidge::step() {
  ridge_scaled::clear(along_, width_);
  slope_.resize(width_);
  for (std::size_t i = 0; i < n_; ++i) {
    const double *d = direction_.data() + i * width_, *q = product_.data() + i * width_;
    for (std::size_t t = 0; t < n_solved_; ++t) {
      const double* penalty = penalty_.data() + i * lanes_;
      for (std::size_t s = 0; s < lanes_; ++s) {
        const std::size_t c = t * lanes_ + s;
        along_[c] += d[c] * (q[c] + penalty[s] * d[c]);
      }
    }
  }
  for (std::size_t c = 0; c < width_; ++c) slope_[c] = along_[c] > 0 ? square_[c] / along_[c] : 0.0;
  for (std::size_t i = 0; i < n_; ++i) {
    const double *d = direction_.data() + i * width_, *q = product_.data() + i * width_;
    double *x = solution_.data() + i * width_, *r = residual_.data() + i * width_;
    double* f = fitted_.data() + i * width_;
    const double *penalty = penalty_.data() + i * lanes_, *trains = trains_.data() + i * lanes_;
    for (std::size_t t = 0; t < n_solved_; ++t) {
      for (std::size_t s = 0; s < lanes_; ++s) {
        const std::size_t c = t * lanes_ + s;
        x[c] += slope_[c] * d[c];
        f[c] += slope_[c] * q[c];  // of the samples left out too
        r[c] -= trains[s] * slope_[c] * (q[c] + penalty[s] * d[c]);
      }
    }
  }
}

void ScaledRidge::predict(const ScaledRidgeProblem& problem, double* predicted) const {
  const RidgePlan& plan = problem.plan;
  for (std::size_t s = 0; s < n_splits_; ++s) {
    const std::int32_t* tests = plan.left.data() + plan.left_begin[s];
    double* out = predicted + plan.test_begin[s] * problem.ld_targets;
    for (std::size_t t = 0; t < n_solved_; ++t) {
      const std::size_t c = t * lanes_ + s;
      double intercept = 0;
      for (std::size_t k = plan.train_begin[s]; k < plan.train_begin[s + 1]; ++k) {
        const std::size_t i = static_cast<std::size_t>(plan.train[k]);
        intercept += problem.targets[i * problem.ld_targets + t] - fitted_[i * width_ + c] -
                     penalty_[i * lanes_ + s] * solution_[i * width_ + c];
      }
      intercept /= static_cast<double>(plan.n_trained(s));
      for (std::size_t k = 0; k < plan.n_tests[s]; ++k) {
        const std::size_t i = static_cast<std::size_t>(tests[k]);
        out[k * problem.ld_targets + t] = fitted_[i * width_ + c] + intercept;
      }
    }
    if (n_solved_ == problem.n_targets) continue;
    // Targets of 1 for one class and -1 for the others sum to a constant, and so do predictions.
    for (std::size_t k = 0; k < plan.n_tests[s]; ++k) {
      double* row = out + k * problem.ld_targets;
      double rest = 2.0 - static_cast<double>(problem.n_targets);
      for (std::size_t t = 0; t < n_solved_; ++t) rest -= row[t];
      row[n_solved_] = rest;
    }
  }
}

bool ScaledRidge::solve(const ScaledRidgeProblem& problem, double* predicted) {
  if (!lay_out(problem) || !precondition(problem)) return false;
  start(problem);
  for (std::size_t k = 0; k < ridge_scaled::most_steps; ++k) {
    multiply(direction_, product_);
    check_interrupt();
    step();
    center_residual(problem.plan);
    apply_inverse(problem.plan, residual_, conditioned_);
    slope_.swap(square_);  // the squares before
    ridge_scaled::clear(square_, width_);
    for (std::size_t i = 0; i < n_ * width_; i += width_) {
      for (std::size_t c = 0; c < width_; ++c) square_[c] += residual_[i + c] * conditioned_[i + c];
    }
    bool done = true;
    for (std::size_t c = 0; c < width_; ++c) {
      if (!std::isfinite(square_[c])) return false;
      done = done && square_[c] <= ridge_scaled::tolerance * first_[c];
      slope_[c] = slope_[c] > 0 ? square_[c] / slope_[c] : 0.0;
    }
    if (done) {
      predict(problem, predicted);
      return true;
    }
    for (std::size_t i = 0; i < n_ * width_; i += width_) {
      for (std::size_t c = 0; c < width_; ++c) {
        direction_[i + c] = conditioned_[i + c] + slope_[c] * direction_[i + c];
      }
    }
  }
  return false;
}

}  // namespace bitsieve
