#include "bitsieve/core/rng.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t draws_between_interrupts = std::size_t{1} << 20;

// Coefficients from the constant on.
template <std::size_t n>
double polynomial(const double (&coefficients)[n], double x) {
  double sum = coefficients[n - 1];
  for (std::size_t i = n - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// -log(x) for a normal x in (0, 0.5], by sums and products alone: libraries differ in the last bit.
// x = 2^-e m with m in [sqrt(1/2), sqrt(2)); log(m) = 2 atanh((m - 1) / (m + 1)), of which twelve
// terms of the series leave 1e-19.
double minus_log(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
  double m = std::bit_cast<double>((bits & fraction) | std::uint64_t{1023} << 52);
  double e = 1023.0 - static_cast<double>(bits >> 52);
  if (m >= 1.4142135623730951) {
    m *= 0.5;
    e -= 1.0;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double square = s * s;
  double series = 0.0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * square;
  return e * 0.6931471805599453 - 2.0 * (s + s * series);
}

}  // namespace

// The inverse of the distribution function at (word + 1/2) / 2^64: algorithm AS 241, PPND16
// (Wichura 1988, Applied Statistics 37, 477-484), exact to 1e-16 of the number. The half that the
// first bit names is mirrored, so that both tails have all digits. Nothing but +, -, *, / and sqrt:
// the same bits on every platform.
double normal_of(std::uint64_t word) {
  constexpr double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                          1.9715909503065514427e+3, 1.3731693765509461125e+4,
                          4.5921953931549871457e+4, 6.7265770927008700853e+4,
                          3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr double b[] = {1.0,
                          4.2313330701600911252e+1,
                          6.8718700749205790830e+2,
                          5.3941960214247511077e+3,
                          2.1213794301586595867e+4,
                          3.9307895800092710610e+4,
                          2.8729085735721942674e+4,
                          5.2264952788528545610e+3};
  constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                          5.76949722146069140550e0,  3.64784832476320460504e0,
                          1.27045825245236838258e0,  2.41780725177450611770e-1,
                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double d[] = {1.0,
                          2.05319162663775882187e0,
                          1.67638483018380384940e0,
                          6.89767334985100004550e-1,
                          1.48103976427480074590e-1,
                          1.51986665636164571966e-2,
                          5.47593808499534494600e-4,
                          1.05075007164441684324e-9};
  constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                          1.78482653991729133580e0,  2.96560571828504891230e-1,
                          2.65321895265761230930e-2, 1.24266094738807843860e-3,
                          2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double f[] = {1.0,
                          5.99832206555887937690e-1,
                          1.36929880922735805310e-1,
                          1.48753612908506148525e-2,
                          7.86869131145613259100e-4,
                          1.84631831751005468180e-5,
                          1.42151175831644588870e-7,
                          2.04426310338993978564e-15};
  const bool upper = word >> 63 != 0;
  const std::uint64_t below_half = upper ? ~word : word;
  const double tail = (static_cast<double>(below_half) + 0.5) * 0x1p-64;  // in (0, 0.5]
  const double q = 0.5 - tail;
  double x;
  if (q <= 0.425) {
    const double r = 0.180625 - q * q;
    x = q * polynomial(a, r) / polynomial(b, r);
  } else {
    double r = std::sqrt(minus_log(tail));
    if (r <= 5.0) {
      r -= 1.6;
      x = polynomial(c, r) / polynomial(d, r);
    } else {
      r -= 5.0;
      x = polynomial(e, r) / polynomial(f, r);
    }
  }
  return upper ? x : -x;
}

void PhiloxStream::choose(std::uint64_t n, std::size_t k, std::int64_t* chosen) {
  const auto draw = [&](auto&& value_at, auto&& put) {
    for (std::size_t i = 0; i < k; ++i) {
      if (i % draws_between_interrupts == 0) check_interrupt();
      const std::uint64_t last = n - 1 - i;
      const std::uint64_t at = last == 0 ? 0 : below(last + 1);
      chosen[i] = value_at(at);
      put(at, value_at(last));
    }
  };
  // To write 64 numbers a draw down costs less than to look one up.
  if (n / 64 <= k && n <= UINT32_MAX) {
    std::vector<std::uint32_t> values(n);
    std::iota(values.begin(), values.end(), std::uint32_t{0});
    draw([&](std::uint64_t at) { return static_cast<std::int64_t>(values[at]); },
         [&](std::uint64_t at, std::int64_t value) {
           values[at] = static_cast<std::uint32_t>(value);
         });
    return;
  }
  // Of the n places only those that no longer hold their own number.
  std::unordered_map<std::uint64_t, std::int64_t> moved;
  moved.reserve(k);
  draw(
      [&](std::uint64_t at) {
        const auto found = moved.find(at);
        return found == moved.end() ? static_cast<std::int64_t>(at) : found->second;
      },
      [&](std::uint64_t at, std::int64_t value) { moved[at] = value; });
}

}  // namespace bitsieve
