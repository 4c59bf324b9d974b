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
  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F subtract(F a, F b) { return _mm512_sub_ps(a, b); }
  static F multiply(F a, F b) { return _mm512_mul_ps(a, b); }
  static F multiply_add(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
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
  static void accumulate(std::int64_t* p, L total, std::uint64_t excess, int sign) {
    const L change = _mm512_sub_epi64(total, _mm512_set1_epi64(static_cast<long long>(excess)));
    const L old = _mm512_load_si512(p);
    _mm512_store_si512(p, sign > 0 ? _mm512_add_epi64(old, change) : _mm512_sub_epi64(old, change));
  }
};

#include "body.hpp"
#include "body_information.hpp"
#include "body_relief.hpp"
#include "body_univariate.hpp"

}  // namespace avx512

const Kernels kernels_avx512 = {
    "avx512",
    &avx512::relief_kernels,
    &avx512::information_kernels,
    &avx512::univariate_kernels,
    avx512::gram_float,
    avx512::add_squares,
    avx512::gram_fixed,
    avx512::lower_bounds,
    avx512::least,
    avx512::find,
    avx512::flips_nearest,
};

}  // namespace bitsieve
