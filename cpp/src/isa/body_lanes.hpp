// The vectors that body_ranks.hpp works with, for each instruction set. See body.hpp for the rule
// about headers.

namespace univariate {

// What the pair counts and the sort need of an instruction set: vectors that compare, count and
// exchange. Elsewhere the compiler makes them of short loops.
#if defined(__AVX512F__)
inline constexpr int register_rows = 16;  // what a sort holds at once
struct Floats {
  using T = float;
  using V = __m512;
  using C = __m512i;
  static constexpr std::size_t width = 16;
  static V load(const float* p) { return _mm512_loadu_ps(p); }
  static C none() { return _mm512_setzero_si512(); }
  static C tally(C t, V a, V b) {
    const C one = _mm512_set1_epi32(1);
    t = _mm512_mask_add_epi32(t, _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), t, one);
    return _mm512_mask_add_epi32(t, _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ), t, one);
  }
  static C add(C a, C b) { return _mm512_add_epi32(a, b); }
  static void store(std::uint32_t* p, C t) { _mm512_storeu_si512(p, t); }
  static void store(float* p, V a) { _mm512_storeu_ps(p, a); }
  static V minimum(V a, V b) { return _mm512_min_ps(a, b); }
  static V maximum(V a, V b) { return _mm512_max_ps(a, b); }
  using M = __mmask16;
  static M is_class(V key, std::uint32_t mask, std::uint32_t c) {
    return _mm512_cmpeq_epi32_mask(_mm512_and_si512(_mm512_castps_si512(key), splat(mask)),
                                   splat(c));
  }
  static M same(V a, V b, std::uint32_t mask) {
    const C differ = _mm512_xor_si512(_mm512_castps_si512(a), _mm512_castps_si512(b));
    return _mm512_testn_epi32_mask(differ, splat(~mask));
  }
  static C where(M m, C a) { return _mm512_maskz_mov_epi32(m, a); }
  static C select(M m, C a, C b) { return _mm512_mask_blend_epi32(m, b, a); }
  static C splat(std::uint32_t a) { return _mm512_set1_epi32(static_cast<int>(a)); }
};
struct Doubles {
  using T = double;
  using V = __m512d;
  using C = __m512i;
  static constexpr std::size_t width = 8;
  static V load(const double* p) { return _mm512_loadu_pd(p); }
  static C none() { return _mm512_setzero_si512(); }
  static C tally(C t, V a, V b) {
    const C one = _mm512_set1_epi64(1);
    t = _mm512_mask_add_epi64(t, _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ), t, one);
    return _mm512_mask_add_epi64(t, _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ), t, one);
  }
  static C add(C a, C b) { return _mm512_add_epi64(a, b); }
  static void store(std::uint32_t* p, C t) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi64_epi32(t));
  }
  static void store(double* p, V a) { _mm512_storeu_pd(p, a); }
  static V broadcast(double a) { return _mm512_set1_pd(a); }
  static V widen(const double* p) { return load(p); }
  static V widen(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
  static void narrow(float* p, V a) { _mm256_storeu_ps(p, _mm512_cvtpd_ps(a)); }
  static V add(V a, V b) { return _mm512_add_pd(a, b); }
  static V subtract(V a, V b) { return _mm512_sub_pd(a, b); }
  static V multiply(V a, V b) { return _mm512_mul_pd(a, b); }
  static V divide(V a, V b) { return _mm512_div_pd(a, b); }
  static V magnitude(V a) { return _mm512_abs_pd(a); }
  static V minimum(V a, V b) { return _mm512_min_pd(a, b); }
  static V maximum(V a, V b) { return _mm512_max_pd(a, b); }
  static void exchange(V a, V b, V& low, V& high) {
    const __mmask8 stay = _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
    const V first = low, second = high;
    low = _mm512_mask_blend_pd(stay, second, first);
    high = _mm512_mask_blend_pd(stay, first, second);
  }
};
#elif defined(__AVX2__)
inline constexpr int register_rows = 8;
struct Floats {
  using T = float;
  using V = __m256;
  using C = __m256i;
  static constexpr std::size_t width = 8;
  static V load(const float* p) { return _mm256_loadu_ps(p); }
  static C none() { return _mm256_setzero_si256(); }
  static C tally(C t, V a, V b) {
    t = _mm256_sub_epi32(t, _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_GT_OQ)));
    return _mm256_sub_epi32(t, _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_GE_OQ)));
  }
  static C add(C a, C b) { return _mm256_add_epi32(a, b); }
  static void store(std::uint32_t* p, C t) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), t);
  }
  static void store(float* p, V a) { _mm256_storeu_ps(p, a); }
  static V minimum(V a, V b) { return _mm256_min_ps(a, b); }
  static V maximum(V a, V b) { return _mm256_max_ps(a, b); }
  using M = __m256i;
  static M is_class(V key, std::uint32_t mask, std::uint32_t c) {
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(key), splat(mask)), splat(c));
  }
  static M same(V a, V b, std::uint32_t mask) {
    const C differ = _mm256_xor_si256(_mm256_castps_si256(a), _mm256_castps_si256(b));
    return _mm256_cmpeq_epi32(_mm256_and_si256(differ, splat(~mask)), _mm256_setzero_si256());
  }
  static C where(M m, C a) { return _mm256_and_si256(m, a); }
  static C select(M m, C a, C b) { return _mm256_blendv_epi8(b, a, m); }
  static C splat(std::uint32_t a) { return _mm256_set1_epi32(static_cast<int>(a)); }
};
struct Doubles {
  using T = double;
  using V = __m256d;
  using C = __m256i;
  static constexpr std::size_t width = 4;
  static V load(const double* p) { return _mm256_loadu_pd(p); }
  static C none() { return _mm256_setzero_si256(); }
  static C tally(C t, V a, V b) {
    t = _mm256_sub_epi64(t, _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_GT_OQ)));
    return _mm256_sub_epi64(t, _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_GE_OQ)));
  }
  static C add(C a, C b) { return _mm256_add_epi64(a, b); }
  static void store(std::uint32_t* p, C t) {
    std::uint64_t wide[width];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(wide), t);
    for (std::size_t lane = 0; lane < width; ++lane) p[lane] = static_cast<std::uint32_t>(wide[lane]);
  }
  static void store(double* p, V a) { _mm256_storeu_pd(p, a); }
  static V broadcast(double a) { return _mm256_set1_pd(a); }
  static V widen(const double* p) { return load(p); }
  static V widen(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
  static void narrow(float* p, V a) { _mm_storeu_ps(p, _mm256_cvtpd_ps(a)); }
  static V add(V a, V b) { return _mm256_add_pd(a, b); }
  static V subtract(V a, V b) { return _mm256_sub_pd(a, b); }
  static V multiply(V a, V b) { return _mm256_mul_pd(a, b); }
  static V divide(V a, V b) { return _mm256_div_pd(a, b); }
  static V magnitude(V a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
  static V minimum(V a, V b) { return _mm256_min_pd(a, b); }
  static V maximum(V a, V b) { return _mm256_max_pd(a, b); }
  static void exchange(V a, V b, V& low, V& high) {
    const V stay = _mm256_cmp_pd(a, b, _CMP_LE_OQ), first = low, second = high;
    low = _mm256_blendv_pd(second, first, stay);
    high = _mm256_blendv_pd(first, second, stay);
  }
};
#else
inline constexpr int register_rows = 8;
template <typename Number>
struct Portable {
  using T = Number;
  static constexpr std::size_t width = 4;
  struct V {
    T v[width];
  };
  struct C {
    std::uint32_t v[width];
  };
  static V load(const T* p) { return {{p[0], p[1], p[2], p[3]}}; }
  static C none() { return {}; }
  static V broadcast(T a) { return {{a, a, a, a}}; }
  template <typename From>
  static V widen(const From* p) {
    return {{T(p[0]), T(p[1]), T(p[2]), T(p[3])}};
  }
  static void narrow(float* p, const V& a) {
    for (std::size_t lane = 0; lane < width; ++lane) p[lane] = static_cast<float>(a.v[lane]);
  }
  static V add(V a, const V& b) {
    for (std::size_t lane = 0; lane < width; ++lane) a.v[lane] += b.v[lane];
    return a;
  }
  static V subtract(V a, const V& b) {
    for (std::size_t lane = 0; lane < width; ++lane) a.v[lane] -= b.v[lane];
    return a;
  }
  static V multiply(V a, const V& b) {
    for (std::size_t lane = 0; lane < width; ++lane) a.v[lane] *= b.v[lane];
    return a;
  }
  static V divide(V a, const V& b) {
    for (std::size_t lane = 0; lane < width; ++lane) a.v[lane] /= b.v[lane];
    return a;
  }
  static V magnitude(V a) {
    for (std::size_t lane = 0; lane < width; ++lane) a.v[lane] = a.v[lane] < 0 ? -a.v[lane] : a.v[lane];
    return a;
  }
  static C tally(C t, const V& a, const V& b) {
    for (std::size_t lane = 0; lane < width; ++lane) {
      t.v[lane] += static_cast<std::uint32_t>(a.v[lane] > b.v[lane]) +
                   static_cast<std::uint32_t>(a.v[lane] >= b.v[lane]);
    }
    return t;
  }
  static C add(C a, const C& b) {
    for (std::size_t lane = 0; lane < width; ++lane) a.v[lane] += b.v[lane];
    return a;
  }
  static void store(std::uint32_t* p, const C& t) {
    for (std::size_t lane = 0; lane < width; ++lane) p[lane] = t.v[lane];
  }
  static void store(T* p, const V& a) {
    for (std::size_t lane = 0; lane < width; ++lane) p[lane] = a.v[lane];
  }
  static V minimum(V a, const V& b) {
    for (std::size_t lane = 0; lane < width; ++lane) a.v[lane] = a.v[lane] < b.v[lane] ? a.v[lane] : b.v[lane];
    return a;
  }
  static V maximum(V a, const V& b) {
    for (std::size_t lane = 0; lane < width; ++lane) a.v[lane] = a.v[lane] > b.v[lane] ? a.v[lane] : b.v[lane];
    return a;
  }
  using M = C;  // all ones or none
  static M is_class(const V& key, std::uint32_t mask, std::uint32_t c) {
    M m;
    for (std::size_t lane = 0; lane < width; ++lane) {
      m.v[lane] = (bits(key.v[lane]) & mask) == c ? ~0u : 0u;
    }
    return m;
  }
  static M same(const V& a, const V& b, std::uint32_t mask) {
    M m;
    for (std::size_t lane = 0; lane < width; ++lane) {
      m.v[lane] = ((bits(a.v[lane]) ^ bits(b.v[lane])) & ~mask) == 0 ? ~0u : 0u;
    }
    return m;
  }
  static C where(const M& m, C a) {
    for (std::size_t lane = 0; lane < width; ++lane) a.v[lane] &= m.v[lane];
    return a;
  }
  static C select(const M& m, C a, const C& b) {
    for (std::size_t lane = 0; lane < width; ++lane) {
      a.v[lane] = (a.v[lane] & m.v[lane]) | (b.v[lane] & ~m.v[lane]);
    }
    return a;
  }
  static C splat(std::uint32_t a) { return {{a, a, a, a}}; }
  static std::uint32_t bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }
  static void exchange(const V& a, const V& b, V& low, V& high) {
    for (std::size_t lane = 0; lane < width; ++lane) {
      const bool stay = a.v[lane] <= b.v[lane];
      const T first = low.v[lane], second = high.v[lane];
      low.v[lane] = stay ? first : second;
      high.v[lane] = stay ? second : first;
    }
  }
};
using Floats = Portable<float>;
using Doubles = Portable<double>;
#endif

inline std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }

constexpr double largest_float = 3.4028234663852886e38;

// rank_lanes values of one sample to keys: float32 with the code in the bits of `mask`; `lossy` where
// another value could have the same key but for the code. Of float64 it is the difference from the
// first sample, and nothing was lost where the value comes back out of it.
#if defined(__AVX512F__)
inline void key_row(const float* values, const float*, std::uint32_t mask, std::uint32_t code,
                    float* keys, std::uint32_t* lossy, float* poison) {
  const __m512 value = _mm512_loadu_ps(values);
  const __m512i bits = _mm512_castps_si512(_mm512_add_ps(value, _mm512_setzero_ps()));
  const __m512i low = Floats::splat(mask);
  _mm512_storeu_si512(lossy, _mm512_or_si512(_mm512_loadu_si512(lossy), _mm512_and_si512(bits, low)));
  _mm512_storeu_ps(poison, _mm512_add_ps(_mm512_loadu_ps(poison),
                                         _mm512_mul_ps(value, _mm512_setzero_ps())));
  _mm512_storeu_si512(keys, _mm512_or_si512(_mm512_andnot_si512(low, bits), Floats::splat(code)));
}

inline void key_row(const double* values, const double* first, std::uint32_t mask,
                    std::uint32_t code, float* keys, std::uint32_t* lossy, double* poison) {
  const __m256i low = _mm256_set1_epi32(static_cast<int>(mask));
  for (std::size_t half = 0; half < rank_lanes; half += 8) {
    const __m512d value = _mm512_loadu_pd(values + half), base = _mm512_loadu_pd(first + half);
    const __m512d difference = _mm512_sub_pd(value, base);
    const __m512d inside = _mm512_max_pd(_mm512_min_pd(difference, _mm512_set1_pd(largest_float)),
                                         _mm512_set1_pd(-largest_float));
    const __m256 single = _mm256_add_ps(_mm512_cvtpd_ps(inside), _mm256_setzero_ps());
    const __m512d back = _mm512_cvtps_pd(single);
    const __mmask8 differs = static_cast<__mmask8>(
        _mm512_cmp_pd_mask(_mm512_add_pd(back, base), value, _CMP_NEQ_UQ) |
        _mm512_cmp_pd_mask(back, difference, _CMP_NEQ_UQ));
    const __m256i bits = _mm256_castps_si256(single);
    __m256i* place = reinterpret_cast<__m256i*>(lossy + half);
    __m256i lost = _mm256_or_si256(_mm256_loadu_si256(place), _mm256_and_si256(bits, low));
    lost = _mm256_mask_or_epi32(lost, differs, lost, _mm256_set1_epi32(1));
    _mm256_storeu_si256(place, lost);
    _mm512_storeu_pd(poison + half, _mm512_add_pd(_mm512_loadu_pd(poison + half),
                                                  _mm512_mul_pd(value, _mm512_setzero_pd())));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(keys + half),
                        _mm256_or_si256(_mm256_andnot_si256(low, bits),
                                        _mm256_set1_epi32(static_cast<int>(code))));
  }
}
#elif defined(__AVX2__)
inline void key_row(const float* values, const float*, std::uint32_t mask, std::uint32_t code,
                    float* keys, std::uint32_t* lossy, float* poison) {
  const __m256i low = Floats::splat(mask);
  for (std::size_t half = 0; half < rank_lanes; half += 8) {
    const __m256 value = _mm256_loadu_ps(values + half);
    const __m256i bits = _mm256_castps_si256(_mm256_add_ps(value, _mm256_setzero_ps()));
    __m256i* place = reinterpret_cast<__m256i*>(lossy + half);
    _mm256_storeu_si256(place,
                        _mm256_or_si256(_mm256_loadu_si256(place), _mm256_and_si256(bits, low)));
    _mm256_storeu_ps(poison + half, _mm256_add_ps(_mm256_loadu_ps(poison + half),
                                                  _mm256_mul_ps(value, _mm256_setzero_ps())));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(keys + half),
                        _mm256_or_si256(_mm256_andnot_si256(low, bits), Floats::splat(code)));
  }
}

inline void key_row(const double* values, const double* first, std::uint32_t mask,
                    std::uint32_t code, float* keys, std::uint32_t* lossy, double* poison) {
  const __m128i low = _mm_set1_epi32(static_cast<int>(mask));
  for (std::size_t part = 0; part < rank_lanes; part += 4) {
    const __m256d value = _mm256_loadu_pd(values + part), base = _mm256_loadu_pd(first + part);
    const __m256d difference = _mm256_sub_pd(value, base);
    const __m256d inside = _mm256_max_pd(_mm256_min_pd(difference, _mm256_set1_pd(largest_float)),
                                         _mm256_set1_pd(-largest_float));
    const __m128 single = _mm_add_ps(_mm256_cvtpd_ps(inside), _mm_setzero_ps());
    const __m256d back = _mm256_cvtps_pd(single);
    const __m256d differs =
        _mm256_or_pd(_mm256_cmp_pd(_mm256_add_pd(back, base), value, _CMP_NEQ_UQ),
                     _mm256_cmp_pd(back, difference, _CMP_NEQ_UQ));
    // The lower half of each 64-bit answer.
    const __m128 answers = _mm_shuffle_ps(_mm_castpd_ps(_mm256_castpd256_pd128(differs)),
                                          _mm_castpd_ps(_mm256_extractf128_pd(differs, 1)), 0x88);
    const __m128i bits = _mm_castps_si128(single);
    __m128i* place = reinterpret_cast<__m128i*>(lossy + part);
    const __m128i lost = _mm_or_si128(_mm_and_si128(bits, low), _mm_castps_si128(answers));
    _mm_storeu_si128(place, _mm_or_si128(_mm_loadu_si128(place), lost));
    _mm256_storeu_pd(poison + part, _mm256_add_pd(_mm256_loadu_pd(poison + part),
                                                  _mm256_mul_pd(value, _mm256_setzero_pd())));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(keys + part),
                     _mm_or_si128(_mm_andnot_si128(low, bits),
                                  _mm_set1_epi32(static_cast<int>(code))));
  }
}
#else
inline float narrowed(float value, float, std::uint32_t&) { return value + 0.0f; }

inline float narrowed(double value, double first, std::uint32_t& lossy) {
  const double difference = value - first;
  double inside = difference < largest_float ? difference : largest_float;
  inside = inside > -largest_float ? inside : -largest_float;
  const float single = static_cast<float>(inside) + 0.0f;
  const double back = static_cast<double>(single);
  lossy |= static_cast<std::uint32_t>((back + first != value) | (back != difference));
  return single;
}

template <typename T>
inline void key_row(const T* values, const T* first, std::uint32_t mask, std::uint32_t code,
                    float* keys, std::uint32_t* lossy, T* poison) {
  for (std::size_t lane = 0; lane < rank_lanes; ++lane) {
    const std::uint32_t bits = bits_of(narrowed(values[lane], first[lane], lossy[lane]));
    lossy[lane] |= bits & mask;
    poison[lane] += values[lane] * T{0};
    keys[lane] = __builtin_bit_cast(float, (bits & ~mask) | code);
  }
}
#endif

}  // namespace univariate
