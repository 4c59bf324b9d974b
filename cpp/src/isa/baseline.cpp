// Plain loops that a compiler can turn into whatever its target has (SSE2, NEON). No FMA is
// assumed: products of float32 values are exact in float64, so the fixed-point bits are the same.
#include <cstddef>
#include <cstdint>

#include "bitsieve/isa/kernels.hpp"

// Declared by hand: <cmath> is not for files of this folder.
extern "C" double fma(double, double, double);
extern "C" float sqrtf(float);

namespace bitsieve {
namespace baseline {

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(_M_ARM64)
constexpr bool has_fma = true;
#else
constexpr bool has_fma = false;  // fma() may then be a routine of the library
#endif

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
  static F load_any(const float* p) { return load(p); }
  static void store_any(float* p, F a) { store(p, a); }
  static F divide(F a, F b) { return map([&](int l) { return a.v[l] / b.v[l]; }); }
  static F root(F a) { return map([&](int l) { return sqrtf(a.v[l]); }); }
  static F add(F a, F b) { return map([&](int l) { return a.v[l] + b.v[l]; }); }
  static F subtract(F a, F b) { return map([&](int l) { return a.v[l] - b.v[l]; }); }
  static F multiply(F a, F b) { return map([&](int l) { return a.v[l] * b.v[l]; }); }
  static F multiply_add(F a, F b, F c) { return map([&](int l) { return a.v[l] * b.v[l] + c.v[l]; }); }
  // c - a b
  static F multiply_less(F a, F b, F c) { return map([&](int l) { return c.v[l] - a.v[l] * b.v[l]; }); }
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
  static L subtract_long(L a, L b) {
    L out;
    for (int lane = 0; lane < width_double; ++lane) out.v[lane] = a.v[lane] - b.v[lane];
    return out;
  }
  static L load_long(const std::int64_t* p) {
    L out;
    for (int lane = 0; lane < width_double; ++lane) out.v[lane] = static_cast<std::uint64_t>(p[lane]);
    return out;
  }
  static void store_long(std::int64_t* p, L a) {
    for (int lane = 0; lane < width_double; ++lane) p[lane] = static_cast<std::int64_t>(a.v[lane]);
  }
  static void accumulate(std::int64_t* p, L total, std::uint64_t excess, int sign) {
    for (int lane = 0; lane < width_double; ++lane) {
      const std::uint64_t change = total.v[lane] - excess;
      const std::uint64_t old = static_cast<std::uint64_t>(p[lane]);
      p[lane] = static_cast<std::int64_t>(sign > 0 ? old + change : old - change);
    }
  }

  // Integers of 32, 16 and 8 bits, and doubles, for the Relief family.
  struct U {
    std::uint32_t v[width];
  };
  static constexpr int l1_rows = 2;
  template <typename Function>
  static U map_words(Function&& function) {
    U out;
    for (int lane = 0; lane < width; ++lane) out.v[lane] = function(lane);
    return out;
  }
  template <typename Function>
  static D map_doubles(Function&& function) {
    D out;
    for (int lane = 0; lane < width_double; ++lane) out.v[lane] = function(lane);
    return out;
  }
  static U zero_words() { return U{}; }
  static U load_words(const std::uint32_t* p) { return map_words([&](int l) { return p[l]; }); }
  static U load_halves(const std::uint16_t* p) {
    return map_words([&](int l) {
      return static_cast<std::uint32_t>(p[2 * l]) | static_cast<std::uint32_t>(p[2 * l + 1]) << 16;
    });
  }
  static U load_bytes(const std::uint8_t* p) {
    return map_words([&](int l) {
      std::uint32_t word = 0;
      for (int k = 3; k >= 0; --k) word = word << 8 | p[4 * l + k];
      return word;
    });
  }
  static U max_words(U a, U b) {
    return map_words([&](int l) { return a.v[l] > b.v[l] ? a.v[l] : b.v[l]; });
  }
  static U add_words(U a, U b) { return map_words([&](int l) { return a.v[l] + b.v[l]; }); }
  static U max_halves(U a, U b) {
    return map_words([&](int l) {
      const std::uint32_t low_a = a.v[l] & 0xFFFFu, low_b = b.v[l] & 0xFFFFu;
      const std::uint32_t high_a = a.v[l] & 0xFFFF0000u, high_b = b.v[l] & 0xFFFF0000u;
      return (low_a > low_b ? low_a : low_b) | (high_a > high_b ? high_a : high_b);
    });
  }
  // No half ever carries into its neighbor: sums stay below 2^16.
  static U add_halves(U a, U b) { return add_words(a, b); }
  static U pair_halves(U a) {
    return map_words([&](int l) { return (a.v[l] & 0xFFFFu) + (a.v[l] >> 16); });
  }
  static U add_differences(U total, U a, U b) {
    return map_words([&](int l) {
      std::uint32_t sum = total.v[l];
      for (int shift = 0; shift < 32; shift += 8) {
        const std::uint32_t x = a.v[l] >> shift & 0xFFu, y = b.v[l] >> shift & 0xFFu;
        sum += x > y ? x - y : y - x;
      }
      return sum;
    });
  }
  template <int N>
  static void sum_words(const U* words, std::int64_t* out) {
    for (int n = 0; n < N; ++n) {
      std::int64_t total = 0;
      for (int lane = 0; lane < width; ++lane) total += words[n].v[lane];
      out[n] = total;
    }
  }
  static D load_any(const double* p) { return load(p); }
  static D load_as_double(const double* p) { return load(p); }
  static D load_as_double(const float* p) {
    return map_doubles([&](int l) { return static_cast<double>(p[l]); });
  }
  static void store(double* p, D a) {
    for (int lane = 0; lane < width_double; ++lane) p[lane] = a.v[lane];
  }
  static D add(D a, D b) { return map_doubles([&](int l) { return a.v[l] + b.v[l]; }); }
  static D subtract(D a, D b) { return map_doubles([&](int l) { return a.v[l] - b.v[l]; }); }
  static D multiply(D a, D b) { return map_doubles([&](int l) { return a.v[l] * b.v[l]; }); }
  static D minimum(D a, D b) {
    return map_doubles([&](int l) { return a.v[l] < b.v[l] ? a.v[l] : b.v[l]; });
  }
  static D maximum(D a, D b) {
    return map_doubles([&](int l) { return a.v[l] > b.v[l] ? a.v[l] : b.v[l]; });
  }
  static D divide(D a, D b) { return map_doubles([&](int l) { return a.v[l] / b.v[l]; }); }
  // Lanes of x where a is greater than b, else of y; the greatest and the least lane.
  static D where_greater(D a, D b, D x, D y) {
    return map_doubles([&](int l) { return a.v[l] > b.v[l] ? x.v[l] : y.v[l]; });
  }
  static unsigned greater(D a, D b) {
    unsigned out = 0;
    for (int lane = 0; lane < width_double; ++lane) out |= (a.v[lane] > b.v[lane] ? 1u : 0u) << lane;
    return out;
  }
  static unsigned equal(D a, D b) {
    unsigned out = 0;
    for (int lane = 0; lane < width_double; ++lane) {
      out |= (a.v[lane] == b.v[lane] ? 1u : 0u) << lane;
    }
    return out;
  }
  static void store_any(double* p, D a) { store(p, a); }
  // Of a count in each lane, one more where a is greater than b; the lesser of least and |a|.
  static L count_greater(L total, D a, D b) {
    L out;
    for (int lane = 0; lane < width_double; ++lane) {
      out.v[lane] = total.v[lane] + (a.v[lane] > b.v[lane] ? 1u : 0u);
    }
    return out;
  }
  static D least_magnitude(D least, D a) { return minimum(least, magnitude(a)); }
  static double most(D a) {
    double out = a.v[0];
    for (int lane = 1; lane < width_double; ++lane) out = a.v[lane] > out ? a.v[lane] : out;
    return out;
  }
  static double least(D a) {
    double out = a.v[0];
    for (int lane = 1; lane < width_double; ++lane) out = a.v[lane] < out ? a.v[lane] : out;
    return out;
  }
  static D magnitude(D a) { return map_doubles([&](int l) { return a.v[l] < 0 ? -a.v[l] : a.v[l]; }); }
  // One rounding, as an FMA unit does: the library's function uses the unit where there is one.
  static D scale_add(D a, D b, D c) {
    return map_doubles([&](int l) { return fma(a.v[l], b.v[l], c.v[l]); });
  }
  static double sum(D a) {
    double total = 0.0;
    for (int lane = 0; lane < width_double; ++lane) total += a.v[lane];
    return total;
  }
  static D store_rounded(std::uint32_t* p, D a) {
    return map_doubles([&](int l) {
      p[l] = static_cast<std::uint32_t>(a.v[l] + 0.5);
      return static_cast<double>(p[l]);
    });
  }

  // sums[k] of the 16 numbers of each of 8 rows: halves, then neighbors, neighbors, neighbors.
  static void sum_columns(const double* rows, double* sums) {
    for (int k = 0; k < 8; ++k) {
      double kept[8];
      for (int l = 0; l < 8; ++l) kept[l] = rows[16 * k + l] + rows[16 * k + l + 8];
      for (int l = 0; l < 4; ++l) kept[l] = kept[2 * l] + kept[2 * l + 1];
      sums[k] = (kept[0] + kept[1]) + (kept[2] + kept[3]);
    }
  }
  // out[column * 16 + row] of 16 rows from `at` on, 16 columns.
  static void transpose(const float* const* rows, std::size_t at, float* out) {
    for (std::size_t j = 0; j < 16; ++j) {
      for (std::size_t k = 0; k < 16; ++k) out[j * 16 + k] = rows[k][at + j];
    }
  }
  // out[column * stride + row] of 16 rows of 16, rounded.
  static void transpose_rounded(const double* rows, float* out, std::size_t stride) {
    for (std::size_t l = 0; l < 16; ++l) {
      for (std::size_t k = 0; k < 16; ++k) out[l * stride + k] = static_cast<float>(rows[16 * k + l]);
    }
  }
};

#include "body.hpp"
#include "body_flips.hpp"
#include "body_gaussian.hpp"
#include "body_additive.hpp"
#include "body_algebra.hpp"
#include "body_information.hpp"
#include "body_single.hpp"
#include "body_neighbor.hpp"
#include "body_pairs.hpp"
#include "body_relief.hpp"
#include "body_rows.hpp"
#include "body_scaled.hpp"
#include "body_search.hpp"
#include "body_solver.hpp"
#include "body_svm.hpp"
#include "body_univariate.hpp"

}  // namespace baseline

const Kernels kernels_baseline = {
    "baseline",
    baseline::has_fma,
    &baseline::relief_kernels,
    &baseline::information_kernels,
    &baseline::univariate_kernels,
    &baseline::svm_kernels,
    &baseline::additive_kernels,
    &baseline::algebra_kernels,
    &baseline::neighbor_kernels,
    &baseline::scaled_kernels,
    &baseline::solver_kernels,
    &baseline::row_kernels,
    &baseline::search_kernels,
    &baseline::pair_kernels,
    baseline::gram_float,
    baseline::add_squares,
    baseline::gram_fixed,
    baseline::lower_bounds,
    baseline::least,
    baseline::find,
    baseline::flips_nearest,
    baseline::flips_class,
};

}  // namespace bitsieve
