#include "bitsieve/causal/tail.hpp"

#include <cmath>
#include <limits>

namespace bitsieve {
namespace {

constexpr double log_2_pi = 1.8378770664093454836;
constexpr double root_half = 0.70710678118654752440;
constexpr double least_step = 1e-17;  // of a sum or a product: no bit changes any more

// log Gamma(a) - (a - 1/2) log a + a - log(2 pi) / 2, for a a multiple of 1/2.
double stirling_error(double a) {
  if (a < 16) {
    const bool half = a != std::floor(a);
    double gamma = half ? 1.7724538509055160273 : 1.0;  // of 1/2, of 1
    for (double k = half ? 0.5 : 1.0; k < a; k += 1.0) gamma *= k;
    return std::log(gamma) - (a - 0.5) * std::log(a) + a - 0.5 * log_2_pi;
  }
  const double square = a * a;
  return (1.0 / 12 -
          (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / square) / square) / square) /
              square) /
         a;
}

// x - a - a log(x / a), which is 0 at x = a and positive beside it.
double deviance(double a, double x) {
  const double u = (x - a) / a;
  if (std::fabs(u) < 0.1) {
    // u - log(1 + u) = u^2 / 2 - u^3 / 3 + ...
    double power = u * u, sum = 0.0;
    for (int k = 2; k < 40; ++k) {
      const double term = power / k;
      sum += k % 2 == 0 ? term : -term;
      if (std::fabs(term) < least_step * sum) break;
      power *= u;
    }
    return a * sum;
  }
  return x - a - a * std::log(x / a);
}

// log of x^a e^-x / Gamma(a), without the cancellation of its three factors.
double log_density(double a, double x) {
  return 0.5 * std::log(a) - 0.5 * log_2_pi - stirling_error(a) - deviance(a, x);
}

// Gamma(a, x) e^x / x^a by the continued fraction of Legendre, by Lentz's method.
double fraction(double a, double x) {
  constexpr double tiny = std::numeric_limits<double>::min() / 1e-17;
  double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, h = d;
  for (int i = 1; i < 100000; ++i) {
    const double step = -i * (i - a);
    b += 2.0;
    d = step * d + b;
    if (std::fabs(d) < tiny) d = tiny;
    c = b + step / c;
    if (std::fabs(c) < tiny) c = tiny;
    d = 1.0 / d;
    const double factor = d * c;
    h *= factor;
    if (std::fabs(factor - 1.0) < 3e-16) break;
  }
  return h;
}

// log Q(a, x), the upper incomplete gamma function over the whole one.
double log_upper_gamma(double a, double x) {
  if (x < a + 1.0) {
    double term = 1.0 / a, sum = term;
    for (double k = a + 1.0; term > least_step * sum; k += 1.0) {
      term *= x / k;
      sum += term;
    }
    const double lower = std::exp(log_density(a, x) + std::log(sum));
    return lower < 1.0 ? std::log1p(-lower) : -std::numeric_limits<double>::infinity();
  }
  return log_density(a, x) + std::log(fraction(a, x));
}

}  // namespace

double log_chi_squared_tail(double x, std::int64_t dof) {
  if (dof <= 0 || !(x > 0)) return 0.0;
  if (std::isinf(x)) return -x;
  if (dof == 1) return log_normal_tails(std::sqrt(x));
  if (dof == 2) return -0.5 * x;
  return log_upper_gamma(0.5 * static_cast<double>(dof), 0.5 * x);
}

double log_normal_tails(double z) {
  z = std::fabs(z);
  if (std::isinf(z)) return -z;
  if (z < 0.5) return std::log1p(-std::erf(z * root_half));
  if (z < 8.0) return std::log(std::erfc(z * root_half));
  return log_upper_gamma(0.5, 0.5 * z * z);
}

}  // namespace bitsieve
