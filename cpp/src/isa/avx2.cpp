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
  static F add(F a, F b) { return _mm256_add_ps(a, b); }
  static F subtract(F a, F b) { return _mm256_sub_ps(a, b); }
  static F multiply(F a, F b) { return _mm256_mul_ps(a, b); }
  static F multiply_add(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
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
  static void accumulate(std::int64_t* p, L total, std::uint64_t excess, int sign) {
    const L change = _mm256_sub_epi64(total, _mm256_set1_epi64x(static_cast<long long>(excess)));
    __m256i* place = reinterpret_cast<__m256i*>(p);
    const L old = _mm256_load_si256(place);
    _mm256_store_si256(place,
                       sign > 0 ? _mm256_add_epi64(old, change) : _mm256_sub_epi64(old, change));
  }
};

#include "body.hpp"
#include "body_information.hpp"
#include "body_relief.hpp"
#include "body_univariate.hpp"

}  // namespace avx2

const Kernels kernels_avx2 = {
    "avx2",
    &avx2::relief_kernels,
    &avx2::information_kernels,
    &avx2::univariate_kernels,
    avx2::gram_float,
    avx2::add_squares,
    avx2::gram_fixed,
    avx2::lower_bounds,
    avx2::least,
    avx2::find,
    avx2::flips_nearest,
};

}  // namespace bitsieve
