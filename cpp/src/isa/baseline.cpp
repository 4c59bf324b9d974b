// Plain loops that a compiler can turn into whatever its target has (SSE2, NEON). No FMA is
// assumed: products of float32 values are exact in float64, so the fixed-point bits are the same.
#include <cstddef>
#include <cstdint>

#include "bitsieve/isa/kernels.hpp"

namespace bitsieve {
namespace baseline {

struct Isa {
  static constexpr int width = 8, width_double = 4;
  struct F {
    float v[width];
  };
  struct D {
    double v[width_double];
  };
  struct L {
    std::uint64_t v[width_double];
  };
  static constexpr int float_rows = 4, float_columns = 1;
  static constexpr int fixed_rows = 4, fixed_columns = 1;
  static constexpr unsigned all = 0xFFu;

  template <typename Function>
  static F map(Function&& function) {
    F out;
    for (int lane = 0; lane < width; ++lane) out.v[lane] = function(lane);
    return out;
  }
  template <typename Function>
  static unsigned ask(Function&& function) {
    unsigned out = 0;
    for (int lane = 0; lane < width; ++lane) out |= (function(lane) ? 1u : 0u) << lane;
    return out;
  }

  static F zero() { return map([](int) { return 0.0f; }); }
  static F load(const float* p) { return map([&](int l) { return p[l]; }); }
  static void store(float* p, F a) {
    for (int lane = 0; lane < width; ++lane) p[lane] = a.v[lane];
  }
  static F broadcast(float a) { return map([&](int) { return a; }); }
  static F add(F a, F b) { return map([&](int l) { return a.v[l] + b.v[l]; }); }
  static F subtract(F a, F b) { return map([&](int l) { return a.v[l] - b.v[l]; }); }
  static F multiply(F a, F b) { return map([&](int l) { return a.v[l] * b.v[l]; }); }
  static F multiply_add(F a, F b, F c) { return map([&](int l) { return a.v[l] * b.v[l] + c.v[l]; }); }
  static F minimum(F a, F b) { return map([&](int l) { return a.v[l] < b.v[l] ? a.v[l] : b.v[l]; }); }
  static F magnitude(F a) { return map([&](int l) { return a.v[l] < 0 ? -a.v[l] : a.v[l]; }); }
  static unsigned less(F a, F b) { return ask([&](int l) { return a.v[l] < b.v[l]; }); }
  static unsigned equal(F a, F b) { return ask([&](int l) { return a.v[l] == b.v[l]; }); }
  static float least(F a) {
    float out = a.v[0];
    for (int lane = 1; lane < width; ++lane) out = a.v[lane] < out ? a.v[lane] : out;
    return out;
  }
  static void count(std::int32_t* p, unsigned lanes) {
    for (int lane = 0; lane < width; ++lane) p[lane] += static_cast<std::int32_t>((lanes >> lane) & 1u);
  }

  static L zero_long() { return L{}; }
  static D load(const double* p) {
    D out;
    for (int lane = 0; lane < width_double; ++lane) out.v[lane] = p[lane];
    return out;
  }
  static D broadcast(double a) {
    D out;
    for (int lane = 0; lane < width_double; ++lane) out.v[lane] = a;
    return out;
  }
  static D multiply_add(D a, D b, D c) {
    D out;
    for (int lane = 0; lane < width_double; ++lane) out.v[lane] = a.v[lane] * b.v[lane] + c.v[lane];
    return out;
  }
  static L bits(D a) {
    L out;
    for (int lane = 0; lane < width_double; ++lane) {
      out.v[lane] = __builtin_bit_cast(std::uint64_t, a.v[lane]);
    }
    return out;
  }
  static L add(L a, L b) {
    L out;
    for (int lane = 0; lane < width_double; ++lane) out.v[lane] = a.v[lane] + b.v[lane];
    return out;
  }
  static void accumulate(std::int64_t* p, L total, std::uint64_t excess, int sign) {
    for (int lane = 0; lane < width_double; ++lane) {
      const std::uint64_t change = total.v[lane] - excess;
      const std::uint64_t old = static_cast<std::uint64_t>(p[lane]);
      p[lane] = static_cast<std::int64_t>(sign > 0 ? old + change : old - change);
    }
  }
};

#include "body.hpp"
#include "body_information.hpp"
#include "body_relief.hpp"
#include "body_univariate.hpp"

}  // namespace baseline

const Kernels kernels_baseline = {
    "baseline",
    &baseline::relief_kernels,
    &baseline::information_kernels,
    &baseline::univariate_kernels,
    baseline::gram_float,
    baseline::add_squares,
    baseline::gram_fixed,
    baseline::lower_bounds,
    baseline::least,
    baseline::find,
    baseline::flips_nearest,
};

}  // namespace bitsieve
