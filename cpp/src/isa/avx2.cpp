// AVX2 with FMA. See body.hpp for the rule about headers.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "bitsieve/isa/kernels.hpp"

namespace bitsieve {
namespace avx2 {

struct Isa {
  using F = __m256;
  using D = __m256d;
  using L = __m256i;
  static constexpr int width = 8, width_double = 4;
  static constexpr int float_rows = 4, float_columns = 2;
  static constexpr int fixed_rows = 4, fixed_columns = 2;
  static constexpr unsigned all = 0xFFu;

  static F zero() { return _mm256_setzero_ps(); }
  static F load(const float* p) { return _mm256_load_ps(p); }
  static void store(float* p, F a) { _mm256_store_ps(p, a); }
  static F broadcast(float a) { return _mm256_set1_ps(a); }
  static F load_any(const float* p) { return _mm256_loadu_ps(p); }
  static void store_any(float* p, F a) { _mm256_storeu_ps(p, a); }
  static F divide(F a, F b) { return _mm256_div_ps(a, b); }
  static F root(F a) { return _mm256_sqrt_ps(a); }
  static F add(F a, F b) { return _mm256_add_ps(a, b); }
  static F subtract(F a, F b) { return _mm256_sub_ps(a, b); }
  static F multiply(F a, F b) { return _mm256_mul_ps(a, b); }
  static F multiply_add(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static F multiply_less(F a, F b, F c) { return _mm256_fnmadd_ps(a, b, c); }  // c - a b
  static F minimum(F a, F b) { return _mm256_min_ps(a, b); }
  static F magnitude(F a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
  static unsigned less(F a, F b) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ)));
  }
  static unsigned equal(F a, F b) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)));
  }
  static float least(F a) {
    __m128 low = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    low = _mm_min_ps(low, _mm_movehl_ps(low, low));
    low = _mm_min_ss(low, _mm_shuffle_ps(low, low, 1));
    return _mm_cvtss_f32(low);
  }
  static void count(std::int32_t* p, unsigned lanes) {
    for (int lane = 0; lane < width; ++lane) p[lane] += static_cast<std::int32_t>((lanes >> lane) & 1u);
  }

  static L zero_long() { return _mm256_setzero_si256(); }
  static D load(const double* p) { return _mm256_load_pd(p); }
  static D broadcast(double a) { return _mm256_set1_pd(a); }
  static D multiply_add(D a, D b, D c) { return _mm256_fmadd_pd(a, b, c); }
  static L bits(D a) { return _mm256_castpd_si256(a); }
  static L add(L a, L b) { return _mm256_add_epi64(a, b); }
  static L subtract_long(L a, L b) { return _mm256_sub_epi64(a, b); }
  static L load_long(const std::int64_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void store_long(std::int64_t* p, L a) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(p), a);
  }
  static void accumulate(std::int64_t* p, L total, std::uint64_t excess, int sign) {
    const L change = _mm256_sub_epi64(total, _mm256_set1_epi64x(static_cast<long long>(excess)));
    __m256i* place = reinterpret_cast<__m256i*>(p);
    const L old = _mm256_load_si256(place);
    _mm256_store_si256(place,
                       sign > 0 ? _mm256_add_epi64(old, change) : _mm256_sub_epi64(old, change));
  }

  // Integers of 32, 16 and 8 bits, and doubles, for the Relief family.
  using U = __m256i;
  static constexpr int l1_rows = 2;
  static U zero_words() { return _mm256_setzero_si256(); }
  static U load_words(const std::uint32_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
  }
  static U load_halves(const std::uint16_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
  }
  static U load_bytes(const std::uint8_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
  }
  static U max_words(U a, U b) { return _mm256_max_epu32(a, b); }
  static U add_words(U a, U b) { return _mm256_add_epi32(a, b); }
  static U max_halves(U a, U b) { return _mm256_max_epu16(a, b); }
  static U add_halves(U a, U b) { return _mm256_add_epi16(a, b); }
  static U pair_halves(U a) {
    return _mm256_add_epi32(_mm256_and_si256(a, _mm256_set1_epi32(0xFFFF)), _mm256_srli_epi32(a, 16));
  }
  static U add_differences(U total, U a, U b) {
    return _mm256_add_epi64(total, _mm256_sad_epu8(a, b));
  }
  template <int N>
  static void sum_words(const U* words, std::int64_t* out) {
    const __m256i low = _mm256_set1_epi64x(0xFFFFFFFF);
    for (int n = 0; n < N; n += 4) {
      __m256i a[4], b[2];
      for (int k = 0; k < 4; ++k) {
        a[k] = _mm256_add_epi64(_mm256_and_si256(words[n + k], low),
                                _mm256_srli_epi64(words[n + k], 32));
      }
      for (int k = 0; k < 2; ++k) {
        b[k] = _mm256_add_epi64(_mm256_unpacklo_epi64(a[2 * k], a[2 * k + 1]),
                                _mm256_unpackhi_epi64(a[2 * k], a[2 * k + 1]));
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + n),
                          _mm256_add_epi64(_mm256_permute2x128_si256(b[0], b[1], 0x20),
                                           _mm256_permute2x128_si256(b[0], b[1], 0x31)));
    }
  }
  static D load_any(const double* p) { return _mm256_loadu_pd(p); }
  static D load_as_double(const double* p) { return _mm256_loadu_pd(p); }
  static D load_as_double(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
  static void store(double* p, D a) { _mm256_store_pd(p, a); }
  static D add(D a, D b) { return _mm256_add_pd(a, b); }
  static D subtract(D a, D b) { return _mm256_sub_pd(a, b); }
  static D multiply(D a, D b) { return _mm256_mul_pd(a, b); }
  static D minimum(D a, D b) { return _mm256_min_pd(a, b); }
  static D maximum(D a, D b) { return _mm256_max_pd(a, b); }
  static D magnitude(D a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
  static D scale_add(D a, D b, D c) { return _mm256_fmadd_pd(a, b, c); }
  static D divide(D a, D b) { return _mm256_div_pd(a, b); }
  // Lanes of x where a is greater than b, else of y; the greatest and the least lane.
  static D where_greater(D a, D b, D x, D y) {
    return _mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_GT_OQ));
  }
  static unsigned greater(D a, D b) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)));
  }
  static unsigned equal(D a, D b) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)));
  }
  static void store_any(double* p, D a) { _mm256_storeu_pd(p, a); }
  // Of a count in each lane, one more where a is greater than b; the lesser of least and |a|.
  static L count_greater(L total, D a, D b) {
    return _mm256_sub_epi64(total, _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_GT_OQ)));
  }
  static D least_magnitude(D least, D a) { return _mm256_min_pd(least, magnitude(a)); }
  static double most(D a) {
    const __m128d half = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_max_sd(half, _mm_unpackhi_pd(half, half)));
  }
  static double least(D a) {
    const __m128d half = _mm_min_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_min_sd(half, _mm_unpackhi_pd(half, half)));
  }
  static double sum(D a) {
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
  }
  static D store_rounded(std::uint32_t* p, D a) {
    const __m128i rounded = _mm256_cvtpd_epi32(a);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), rounded);
    return _mm256_cvtepi32_pd(rounded);
  }

  // sums[k] of the 16 numbers of each of 8 rows: halves, then neighbors, neighbors, neighbors.
  static void sum_columns(const double* rows, double* sums) {
    for (int k = 0; k < 8; k += 4) {
      __m256d pairs[4];  // [(0 + 1), (4 + 5), (2 + 3), (6 + 7)] of a row
      for (int r = 0; r < 4; ++r) {
        const double* row = rows + 16 * (k + r);
        const __m256d low = _mm256_add_pd(_mm256_load_pd(row), _mm256_load_pd(row + 8));
        const __m256d high = _mm256_add_pd(_mm256_load_pd(row + 4), _mm256_load_pd(row + 12));
        pairs[r] = _mm256_hadd_pd(low, high);
      }
      __m256d fours[2];  // [a left, a right, b left, b right], the sums of a row's halves
      for (int r = 0; r < 4; r += 2) {
        const __m256d first = _mm256_permute2f128_pd(pairs[r], pairs[r + 1], 0x20);
        const __m256d second = _mm256_permute2f128_pd(pairs[r], pairs[r + 1], 0x31);
        fours[r / 2] = _mm256_add_pd(first, second);
      }
      const __m256d all = _mm256_hadd_pd(fours[0], fours[1]);  // rows 0, 2, 1, 3
      _mm256_storeu_pd(sums + k, _mm256_permute4x64_pd(all, 0xD8));
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
    for (std::size_t k = 0; k < 16; k += 4) {
      for (std::size_t l = 0; l < 16; l += 4) {
        __m128 a = _mm256_cvtpd_ps(_mm256_load_pd(rows + 16 * k + l));
        __m128 b = _mm256_cvtpd_ps(_mm256_load_pd(rows + 16 * (k + 1) + l));
        __m128 c = _mm256_cvtpd_ps(_mm256_load_pd(rows + 16 * (k + 2) + l));
        __m128 d = _mm256_cvtpd_ps(_mm256_load_pd(rows + 16 * (k + 3) + l));
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(out + l * stride + k, a);
        _mm_storeu_ps(out + (l + 1) * stride + k, b);
        _mm_storeu_ps(out + (l + 2) * stride + k, c);
        _mm_storeu_ps(out + (l + 3) * stride + k, d);
      }
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

}  // namespace avx2

const Kernels kernels_avx2 = {
    "avx2",
    true,
    &avx2::relief_kernels,
    &avx2::information_kernels,
    &avx2::univariate_kernels,
    &avx2::svm_kernels,
    &avx2::additive_kernels,
    &avx2::algebra_kernels,
    &avx2::neighbor_kernels,
    &avx2::scaled_kernels,
    &avx2::solver_kernels,
    &avx2::row_kernels,
    &avx2::search_kernels,
    &avx2::pair_kernels,
    avx2::gram_float,
    avx2::add_squares,
    avx2::gram_fixed,
    avx2::lower_bounds,
    avx2::least,
    avx2::find,
    avx2::flips_nearest,
    avx2::flips_class,
};

}  // namespace bitsieve
