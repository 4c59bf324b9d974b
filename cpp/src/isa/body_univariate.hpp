// The bodies of univariate_kernels.hpp. See body.hpp for the rule about headers.
//
// Plain loops over neighbouring features, which the compiler turns into vectors; four samples a
// turn, so that the sums are loaded and stored a quarter as often.

namespace univariate {

// A row's next line, asked for while this turn's is added up: rows lie far apart, so the processor
// does not guess them.
inline void fetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, 0, 3);
#else
  (void)address;
#endif
}

// Features [begin, end) of four samples a, b, c, d.
template <typename T>
inline void add_four(const T* shift, const T* a, const T* b, const T* c, const T* d,
                     std::size_t begin, std::size_t end, double* __restrict sum,
                     double* __restrict square) {
  for (std::size_t f = begin; f < end; ++f) {
    const double s = static_cast<double>(shift[f]);
    const double da = static_cast<double>(a[f]) - s, db = static_cast<double>(b[f]) - s;
    const double dc = static_cast<double>(c[f]) - s, dd = static_cast<double>(d[f]) - s;
    sum[f] += (da + db) + (dc + dd);
    square[f] += (da * da + db * db) + (dc * dc + dd * dd);
  }
}

template <typename T>
inline void add_products(const T* shift, const T* a, const T* b, const T* c, const T* d,
                         const double* y, std::size_t begin, std::size_t end,
                         double* __restrict cross) {
  const double ya = y[0], yb = y[1], yc = y[2], yd = y[3];
  for (std::size_t f = begin; f < end; ++f) {
    const double s = static_cast<double>(shift[f]);
    const double da = static_cast<double>(a[f]) - s, db = static_cast<double>(b[f]) - s;
    const double dc = static_cast<double>(c[f]) - s, dd = static_cast<double>(d[f]) - s;
    cross[f] += (da * ya + db * yb) + (dc * yc + dd * yd);
  }
}

// turn(a, b, c, d, k, begin, end) for the samples at(k) .. at(k + 3), k = 1, 5, ..., line by line;
// returns the first k left over.
template <typename T, typename At, typename Turn>
inline std::size_t by_fours(std::size_t n, std::size_t width, const At& at, const Turn& turn) {
  constexpr std::size_t line = 64 / sizeof(T);
  std::size_t k = 1;
  for (; k + 4 <= n; k += 4) {
    const T *a = at(k), *b = at(k + 1), *c = at(k + 2), *d = at(k + 3);
    const bool more = k + 8 <= n;
    const T *e = more ? at(k + 4) : a, *f = more ? at(k + 5) : b;
    const T *g = more ? at(k + 6) : c, *h = more ? at(k + 7) : d;
    std::size_t begin = 0;
    for (; begin + line <= width; begin += line) {
      fetch(e + begin);
      fetch(f + begin);
      fetch(g + begin);
      fetch(h + begin);
      turn(a, b, c, d, k, begin, begin + line);
    }
    turn(a, b, c, d, k, begin, width);
  }
  return k;
}

template <typename T>
void moments(const T* x, std::size_t ld, const std::int32_t* rows, std::size_t n_rows,
             std::size_t width, double* __restrict sum, double* __restrict square) {
  for (std::size_t f = 0; f < width; ++f) sum[f] = square[f] = 0.0;
  const auto at = [=](std::size_t k) { return x + static_cast<std::size_t>(rows[k]) * ld; };
  const T* shift = at(0);
  std::size_t k = by_fours<T>(n_rows, width, at,
                              [=](const T* a, const T* b, const T* c, const T* d, std::size_t,
                                  std::size_t begin, std::size_t end) {
                                add_four(shift, a, b, c, d, begin, end, sum, square);
                              });
  for (; k < n_rows; ++k) {
    const T* a = at(k);
    for (std::size_t f = 0; f < width; ++f) {
      const double da = static_cast<double>(a[f]) - static_cast<double>(shift[f]);
      sum[f] += da;
      square[f] += da * da;
    }
  }
}

template <typename T>
void weighted(const T* x, std::size_t ld, std::size_t n, const double* y, std::size_t width,
              double* __restrict cross) {
  for (std::size_t f = 0; f < width; ++f) cross[f] = 0.0;
  const auto at = [=](std::size_t k) { return x + k * ld; };
  std::size_t k = by_fours<T>(n, width, at,
                              [=](const T* a, const T* b, const T* c, const T* d, std::size_t i,
                                  std::size_t begin, std::size_t end) {
                                add_products(x, a, b, c, d, y + i, begin, end, cross);
                              });
  for (; k < n; ++k) {
    const T* a = at(k);
    for (std::size_t f = 0; f < width; ++f) {
      cross[f] += (static_cast<double>(a[f]) - static_cast<double>(x[f])) * y[k];
    }
  }
}

template <typename T>
void comoments(const T* x, std::size_t ld, std::size_t n, const double* y, std::size_t width,
               double* __restrict sum, double* __restrict square, double* __restrict cross) {
  for (std::size_t f = 0; f < width; ++f) sum[f] = square[f] = cross[f] = 0.0;
  const auto at = [=](std::size_t k) { return x + k * ld; };
  std::size_t k = by_fours<T>(n, width, at,
                              [=](const T* a, const T* b, const T* c, const T* d, std::size_t i,
                                  std::size_t begin, std::size_t end) {
                                add_four(x, a, b, c, d, begin, end, sum, square);
                                add_products(x, a, b, c, d, y + i, begin, end, cross);
                              });
  for (; k < n; ++k) {
    const T* a = at(k);
    for (std::size_t f = 0; f < width; ++f) {
      const double da = static_cast<double>(a[f]) - static_cast<double>(x[f]);
      sum[f] += da;
      square[f] += da * da;
      cross[f] += da * y[k];
    }
  }
}

// What the pair counts and the sort need of an instruction set: vectors that compare, count and
// exchange. Elsewhere the compiler makes them of short loops.
#if defined(__AVX512F__)
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
  static V minimum(V a, V b) { return _mm256_min_pd(a, b); }
  static V maximum(V a, V b) { return _mm256_max_pd(a, b); }
  static void exchange(V a, V b, V& low, V& high) {
    const V stay = _mm256_cmp_pd(a, b, _CMP_LE_OQ), first = low, second = high;
    low = _mm256_blendv_pd(second, first, stay);
    high = _mm256_blendv_pd(first, second, stay);
  }
};
#else
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

// Four of the high samples stay in registers while the low ones stream by.
template <typename Isa>
void pairs(const typename Isa::T* high, std::size_t n_high, const typename Isa::T* low,
           std::size_t n_low, std::uint32_t* twice) {
  for (std::size_t v = 0; v < pair_lanes; v += Isa::width) {
    typename Isa::C p = Isa::none(), q = p, r = p, s = p;
    std::size_t i = 0;
    for (; i + 4 <= n_high; i += 4) {
      const typename Isa::T* at = high + i * pair_lanes + v;
      const auto a = Isa::load(at), b = Isa::load(at + pair_lanes);
      const auto c = Isa::load(at + 2 * pair_lanes), d = Isa::load(at + 3 * pair_lanes);
      for (std::size_t j = 0; j < n_low; ++j) {
        const auto other = Isa::load(low + j * pair_lanes + v);
        p = Isa::tally(p, a, other);
        q = Isa::tally(q, b, other);
        r = Isa::tally(r, c, other);
        s = Isa::tally(s, d, other);
      }
    }
    for (; i < n_high; ++i) {
      const auto a = Isa::load(high + i * pair_lanes + v);
      for (std::size_t j = 0; j < n_low; ++j) {
        p = Isa::tally(p, a, Isa::load(low + j * pair_lanes + v));
      }
    }
    Isa::store(twice + v, Isa::add(Isa::add(p, q), Isa::add(r, s)));
  }
}

struct Exchange {
  double* keys;
  void operator()(std::size_t i, std::size_t j) const {
    double* low = keys + i * sort_lanes;
    double* high = keys + j * sort_lanes;
    for (std::size_t v = 0; v < sort_lanes; v += Doubles::width) {
      const auto a = Doubles::load(low + v), b = Doubles::load(high + v);
      Doubles::store(low + v, Doubles::minimum(a, b));
      Doubles::store(high + v, Doubles::maximum(a, b));
    }
  }
};

struct ExchangeWith {
  double* keys;
  double* carried;
  void operator()(std::size_t i, std::size_t j) const {
    const std::size_t low = i * sort_lanes, high = j * sort_lanes;
    for (std::size_t v = 0; v < sort_lanes; v += Doubles::width) {
      const auto a = Doubles::load(keys + low + v), b = Doubles::load(keys + high + v);
      auto first = Doubles::load(carried + low + v), second = Doubles::load(carried + high + v);
      Doubles::exchange(a, b, first, second);
      Doubles::store(keys + low + v, Doubles::minimum(a, b));
      Doubles::store(keys + high + v, Doubles::maximum(a, b));
      Doubles::store(carried + low + v, first);
      Doubles::store(carried + high + v, second);
    }
  }
};

// Knuth's algorithm M; its bit test is turned into runs of 2^t exchanges.
template <typename Step>
void merge_exchange(std::size_t n, const Step& step) {
  std::size_t top = 1;
  while (2 * top < n) top *= 2;
  for (std::size_t p = top; p > 0; p /= 2) {
    std::size_t q = top, r = 0, d = p;
    for (;;) {
      for (std::size_t begin = r; begin + d < n; begin += 2 * p) {
        const std::size_t end = begin + p < n - d ? begin + p : n - d;
        for (std::size_t i = begin; i < end; ++i) step(i, i + d);
      }
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
}

inline void sort(double* keys, std::size_t n) { merge_exchange(n, Exchange{keys}); }

inline void sort_with(double* keys, double* carried, std::size_t n) {
  merge_exchange(n, ExchangeWith{keys, carried});
}

}  // namespace univariate

inline constexpr UnivariateKernels univariate_kernels = {
    {univariate::moments<float>, univariate::comoments<float>, univariate::weighted<float>,
     univariate::pairs<univariate::Floats>},
    {univariate::moments<double>, univariate::comoments<double>, univariate::weighted<double>,
     univariate::pairs<univariate::Doubles>},
    univariate::sort,
    univariate::sort_with,
};
