#include "bitsieve/fitness/eigen.hpp"

#include <algorithm>
#include <cmath>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace eigen_detail {

constexpr int most_steps = 40;  // of QR for each eigenvalue

// I - vv' / half over rows and columns from `first` on; v stands in the row before them.
struct Reflection {
  std::size_t first;
  double half;  // v'v / 2; 0: no reflection
};

// A between two of them, so that of a row one element beside the diagonal is left: off.
Reflection reflect(double* a, std::size_t n, std::size_t ld, std::size_t row, double& off,
                   std::vector<double>& p) {
  const std::size_t first = row + 1;
  double* v = a + row * ld;
  double square = 0;
  for (std::size_t i = first + 1; i < n; ++i) square += v[i] * v[i];
  if (square == 0) {
    off = v[first];
    return {first, 0};
  }
  const double length = std::sqrt(square + v[first] * v[first]);
  off = v[first] > 0 ? -length : length;
  v[first] -= off;
  const double half = (square + v[first] * v[first]) / 2;
  std::fill(p.begin(), p.end(), 0.0);
  for (std::size_t i = first; i < n; ++i) {
    const double* from = a + i * ld;
    const double factor = v[i] / half;
    for (std::size_t j = first; j < n; ++j) p[j] += factor * from[j];
  }
  double along = 0;
  for (std::size_t i = first; i < n; ++i) along += v[i] * p[i];
  along /= 2 * half;
  for (std::size_t i = first; i < n; ++i) p[i] -= along * v[i];
  for (std::size_t i = first; i < n; ++i) {
    double* to = a + i * ld;
    for (std::size_t j = first; j < n; ++j) to[j] -= v[i] * p[j] + p[i] * v[j];
  }
  return {first, half};
}

// One implicit QR step of the tridiagonal block [low, high], with the shift of its last corner.
void step(std::vector<double>& d, std::vector<double>& e, std::size_t low, std::size_t high,
          double* vectors, std::size_t n, std::size_t ld) {
  const double half = (d[high - 1] - d[high]) / 2, corner = e[high - 1];
  const double shift =
      d[high] - corner * corner / (half + std::copysign(std::hypot(half, corner), half));
  double x = d[low] - shift, z = e[low];
  for (std::size_t k = low; k < high; ++k) {
    const double r = std::hypot(x, z);
    const double c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0;
    if (k > low) e[k - 1] = r;
    const double first = d[k], second = d[k + 1], between = e[k];
    d[k] = c * c * first + 2 * c * s * between + s * s * second;
    d[k + 1] = s * s * first - 2 * c * s * between + c * c * second;
    e[k] = c * s * (second - first) + (c * c - s * s) * between;
    if (k + 1 < high) {
      x = e[k];
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
    double *above = vectors + k * ld, *below = above + ld;
    for (std::size_t j = 0; j < n; ++j) {
      const double u = above[j], v = below[j];
      above[j] = c * u + s * v;
      below[j] = c * v - s * u;
    }
  }
}

}  // namespace eigen_detail

bool diagonalize(double* a, std::size_t n, std::size_t ld, std::vector<double>& values,
                 AlignedVector<double>& vectors) {
  using namespace eigen_detail;
  values.assign(n, 0.0);
  vectors.assign(n * ld, 0.0);
  if (n == 0) return true;
  std::vector<double> off(n, 0.0), p(ld, 0.0);
  std::vector<Reflection> reflections;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (i % 64 == 63) check_interrupt();
    values[i] = a[i * (ld + 1)];
    reflections.push_back(reflect(a, n, ld, i, off[i], p));
  }
  values[n - 1] = a[(n - 1) * (ld + 1)];
  // Q, the product of all reflections, from the last on; then its columns are made rows.
  for (std::size_t i = 0; i < n; ++i) vectors[i * (ld + 1)] = 1;
  for (std::size_t r = reflections.size(); r-- > 0;) {
    const auto [first, half] = reflections[r];
    if (half == 0) continue;
    const double* v = a + r * ld;
    std::fill(p.begin(), p.end(), 0.0);
    for (std::size_t i = first; i < n; ++i) {
      const double* from = vectors.data() + i * ld;
      for (std::size_t j = first; j < n; ++j) p[j] += v[i] * from[j];
    }
    for (std::size_t i = first; i < n; ++i) {
      double* to = vectors.data() + i * ld;
      const double factor = v[i] / half;
      for (std::size_t j = first; j < n; ++j) to[j] -= factor * p[j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      std::swap(vectors[i * ld + j], vectors[j * ld + i]);
    }
  }
  const auto is_small = [&](std::size_t i) {
    const double beside = std::abs(values[i]) + std::abs(values[i + 1]);
    return std::abs(off[i]) <= 0x1p-53 * beside || off[i] == 0;
  };
  std::size_t steps = most_steps * n;
  for (std::size_t high = n - 1; high > 0;) {
    if (is_small(high - 1)) {
      off[--high] = 0;
      continue;
    }
    std::size_t low = high - 1;
    while (low > 0 && !is_small(low - 1)) --low;
    if (steps-- == 0) return false;
    step(values, off, low, high, vectors.data(), n, ld);
  }
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace bitsieve
