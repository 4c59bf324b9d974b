// AVX-512 (F, BW, DQ, VL). See body.hpp for the rule about headers.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "bitsieve/isa/kernels.hpp"

namespace bitsieve {
namespace avx512 {

struct Isa {
  using F = __m512;
  using D = __m512d;
  using L = __m512i;
  static constexpr int width = 16, width_double = 8;
  // 16 running tiles hide the 4 cycles of 2 FMA units and leave room for the operands.
  static constexpr int float_rows = 8, float_columns = 2;
  static constexpr int fixed_rows = 8, fixed_columns = 2;
  static constexpr unsigned all = 0xFFFFu;

  static F zero() { return _mm512_setzero_ps(); }
  static F load(const float* p) { return _mm512_load_ps(p); }
  static void store(float* p, F a) { _mm512_store_ps(p, a); }
  static F broadcast(float a) { return _mm512_set1_ps(a); }
  static F load_any(const float* p) { return _mm512_loadu_ps(p); }
  static void store_any(float* p, F a) { _mm512_storeu_ps(p, a); }
  static F divide(F a, F b) { return _mm512_div_ps(a, b); }
  static F root(F a) { return _mm512_sqrt_ps(a); }
  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F subtract(F a, F b) { return _mm512_sub_ps(a, b); }
  static F multiply(F a, F b) { return _mm512_mul_ps(a, b); }
  static F multiply_add(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F multiply_less(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a b
  static F minimum(F a, F b) { return _mm512_min_ps(a, b); }
  static F magnitude(F a) { return _mm512_abs_ps(a); }
  static unsigned less(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  static unsigned equal(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
  static float least(F a) { return _mm512_reduce_min_ps(a); }
  static void count(std::int32_t* p, unsigned lanes) {
    const __m512i old = _mm512_loadu_si512(p);
    _mm512_storeu_si512(p, _mm512_mask_add_epi32(old, static_cast<__mmask16>(lanes), old,
                                                 _mm512_set1_epi32(1)));
  }

  static L zero_long() { return _mm512_setzero_si512(); }
  static D load(const double* p) { return _mm512_load_pd(p); }
  static D broadcast(double a) { return _mm512_set1_pd(a); }
  static D multiply_add(D a, D b, D c) { return _mm512_fmadd_pd(a, b, c); }
  static L bits(D a) { return _mm512_castpd_si512(a); }
  static L add(L a, L b) { return _mm512_add_epi64(a, b); }
  static L subtract_long(L a, L b) { return _mm512_sub_epi64(a, b); }
  static L load_long(const std::int64_t* p) { return _mm512_load_si512(p); }
  static void store_long(std::int64_t* p, L a) { _mm512_store_si512(p, a); }
  static void accumulate(std::int64_t* p, L total, std::uint64_t excess, int sign) {
    const L change = _mm512_sub_epi64(total, _mm512_set1_epi64(static_cast<long long>(excess)));
    const L old = _mm512_load_si512(p);
    _mm512_store_si512(p, sign > 0 ? _mm512_add_epi64(old, change) : _mm512_sub_epi64(old, change));
  }

  // Integers of 32, 16 and 8 bits, and doubles, for the Relief family.
  using U = __m512i;
  static constexpr int l1_rows = 4;
  static U zero_words() { return _mm512_setzero_si512(); }
  static U load_words(const std::uint32_t* p) { return _mm512_load_si512(p); }
  static U load_halves(const std::uint16_t* p) { return _mm512_load_si512(p); }
  static U load_bytes(const std::uint8_t* p) { return _mm512_load_si512(p); }
  static U max_words(U a, U b) { return _mm512_max_epu32(a, b); }
  static U add_words(U a, U b) { return _mm512_add_epi32(a, b); }
  static U max_halves(U a, U b) { return _mm512_max_epu16(a, b); }
  static U add_halves(U a, U b) { return _mm512_add_epi16(a, b); }
  static U pair_halves(U a) {
    return _mm512_add_epi32(_mm512_and_si512(a, _mm512_set1_epi32(0xFFFF)), _mm512_srli_epi32(a, 16));
  }
  static U add_differences(U total, U a, U b) {
    return _mm512_add_epi64(total, _mm512_sad_epu8(a, b));
  }
  template <int N>
  static void sum_words(const U* words, std::int64_t* out) {
    const __m512i low = _mm512_set1_epi64(0xFFFFFFFF);
    for (int n = 0; n < N; n += 8) {
      __m512i a[8], b[4], c[2];
      for (int k = 0; k < 8; ++k) {
        a[k] = _mm512_add_epi64(_mm512_and_si512(words[n + k], low),
                                _mm512_srli_epi64(words[n + k], 32));
      }
      for (int k = 0; k < 4; ++k) {
        b[k] = _mm512_add_epi64(_mm512_unpacklo_epi64(a[2 * k], a[2 * k + 1]),
                                _mm512_unpackhi_epi64(a[2 * k], a[2 * k + 1]));
      }
      for (int k = 0; k < 2; ++k) {
        c[k] = _mm512_add_epi64(_mm512_shuffle_i64x2(b[2 * k], b[2 * k + 1], 0x88),
                                _mm512_shuffle_i64x2(b[2 * k], b[2 * k + 1], 0xDD));
      }
      _mm512_storeu_si512(out + n, _mm512_add_epi64(_mm512_shuffle_i64x2(c[0], c[1], 0x88),
                                                    _mm512_shuffle_i64x2(c[0], c[1], 0xDD)));
    }
  }
  static D load_any(const double* p) { return _mm512_loadu_pd(p); }
  static D load_as_double(const double* p) { return _mm512_loadu_pd(p); }
  static D load_as_double(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
  static void store(double* p, D a) { _mm512_store_pd(p, a); }
  static D add(D a, D b) { return _mm512_add_pd(a, b); }
  static D subtract(D a, D b) { return _mm512_sub_pd(a, b); }
  static D multiply(D a, D b) { return _mm512_mul_pd(a, b); }
  static D minimum(D a, D b) { return _mm512_min_pd(a, b); }
  static D maximum(D a, D b) { return _mm512_max_pd(a, b); }
  static D magnitude(D a) { return _mm512_abs_pd(a); }
  static D scale_add(D a, D b, D c) { return _mm512_fmadd_pd(a, b, c); }
  static D divide(D a, D b) { return _mm512_div_pd(a, b); }
  // Lanes of x where a is greater than b, else of y; the greatest and the least lane.
  static D where_greater(D a, D b, D x, D y) {
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_GT_OQ), y, x);
  }
  static unsigned greater(D a, D b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
  static unsigned equal(D a, D b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
  static void store_any(double* p, D a) { _mm512_storeu_pd(p, a); }
  // Of a count in each lane, one more where a is greater than b; the lesser of least and |a|.
  static L count_greater(L total, D a, D b) {
    return _mm512_mask_add_epi64(total, _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ), total,
                                 _mm512_set1_epi64(1));
  }
  static D least_magnitude(D least, D a) { return _mm512_range_pd(least, a, 0x0A); }
  static double most(D a) { return _mm512_reduce_max_pd(a); }
  static double least(D a) { return _mm512_reduce_min_pd(a); }
  static double sum(D a) { return _mm512_reduce_add_pd(a); }
  static D store_rounded(std::uint32_t* p, D a) {
    const __m256i rounded = _mm512_cvtpd_epi32(a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), rounded);
    return _mm512_cvtepi32_pd(rounded);
  }

  // sums[k] of the 16 numbers of each of 8 rows: halves, then neighbors, neighbors, neighbors.
  static void sum_columns(const double* rows, double* sums) {
    __m512d pairs[4];  // of rows 2 r and 2 r + 1, the sums of neighbors in turn
    for (int r = 0; r < 4; ++r) {
      const double* row = rows + 32 * r;
      const __m512d a = _mm512_add_pd(_mm512_load_pd(row), _mm512_load_pd(row + 8));
      const __m512d b = _mm512_add_pd(_mm512_load_pd(row + 16), _mm512_load_pd(row + 24));
      pairs[r] = _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
    }
    __m512d fours[2];  // of four rows: [left of a, b | right of a, b | left of c, d | right of c, d]
    for (int r = 0; r < 2; ++r) {
      const __m512d first = _mm512_shuffle_f64x2(pairs[2 * r], pairs[2 * r + 1], 0x88);
      const __m512d second = _mm512_shuffle_f64x2(pairs[2 * r], pairs[2 * r + 1], 0xDD);
      fours[r] = _mm512_add_pd(first, second);
    }
    const __m512d first = _mm512_shuffle_f64x2(fours[0], fours[1], 0x88);
    const __m512d second = _mm512_shuffle_f64x2(fours[0], fours[1], 0xDD);
    _mm512_storeu_pd(sums, _mm512_add_pd(first, second));
  }
  // out[column * stride + row] of 16 rows of 16, rounded.
  static void transpose_rounded(const double* rows, float* out, std::size_t stride) {
    __m512 a[16];
    for (int k = 0; k < 16; ++k) {
      const __m256 low = _mm512_cvtpd_ps(_mm512_load_pd(rows + 16 * k));
      const __m256 high = _mm512_cvtpd_ps(_mm512_load_pd(rows + 16 * k + 8));
      a[k] = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
    }
    store_columns(a, out, stride);
  }
  // out[column * 16 + row] of 16 rows from `at` on, 16 columns.
  static void transpose(const float* const* rows, std::size_t at, float* out) {
    __m512 a[16];
    for (int k = 0; k < 16; ++k) a[k] = _mm512_load_ps(rows[k] + at);
    store_columns(a, out, 16);
  }
  static void store_columns(const __m512 (&a)[16], float* out, std::size_t stride) {
    __m512 b[16];
    for (int k = 0; k < 16; k += 4) {
      const __m512 x = _mm512_unpacklo_ps(a[k], a[k + 1]), y = _mm512_unpackhi_ps(a[k], a[k + 1]);
      const __m512 z = _mm512_unpacklo_ps(a[k + 2], a[k + 3]);
      const __m512 w = _mm512_unpackhi_ps(a[k + 2], a[k + 3]);
      b[k] = _mm512_shuffle_ps(x, z, 0x44);  // of each fourth of the lanes its first, ...
      b[k + 1] = _mm512_shuffle_ps(x, z, 0xEE);
      b[k + 2] = _mm512_shuffle_ps(y, w, 0x44);
      b[k + 3] = _mm512_shuffle_ps(y, w, 0xEE);
    }
    for (int j = 0; j < 4; ++j) {
      const __m512 x = _mm512_shuffle_f32x4(b[j], b[4 + j], 0x88);
      const __m512 y = _mm512_shuffle_f32x4(b[j], b[4 + j], 0xDD);
      const __m512 z = _mm512_shuffle_f32x4(b[8 + j], b[12 + j], 0x88);
      const __m512 w = _mm512_shuffle_f32x4(b[8 + j], b[12 + j], 0xDD);
      float* row = out + static_cast<std::size_t>(j) * stride;
      _mm512_storeu_ps(row, _mm512_shuffle_f32x4(x, z, 0x88));
      _mm512_storeu_ps(row + 4 * stride, _mm512_shuffle_f32x4(y, w, 0x88));
      _mm512_storeu_ps(row + 8 * stride, _mm512_shuffle_f32x4(x, z, 0xDD));
      _mm512_storeu_ps(row + 12 * stride, _mm512_shuffle_f32x4(y, w, 0xDD));
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

}  // namespace avx512

const Kernels kernels_avx512 = {
    "avx512",
    true,
    &avx512::relief_kernels,
    &avx512::information_kernels,
    &avx512::univariate_kernels,
    &avx512::svm_kernels,
    &avx512::additive_kernels,
    &avx512::algebra_kernels,
    &avx512::neighbor_kernels,
    &avx512::scaled_kernels,
    &avx512::solver_kernels,
    &avx512::row_kernels,
    &avx512::search_kernels,
    &avx512::pair_kernels,
    avx512::gram_float,
    avx512::add_squares,
    avx512::gram_fixed,
    avx512::lower_bounds,
    avx512::least,
    avx512::find,
    avx512::flips_nearest,
    avx512::flips_class,
};

}  // namespace bitsieve
