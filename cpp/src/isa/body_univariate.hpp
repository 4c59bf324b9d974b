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

// Rows that a sort works on: one vector of lanes of each.
template <typename Isa, std::size_t lanes>
struct KeyRows {
  static constexpr int block = register_rows;
  using Item = typename Isa::V;
  typename Isa::T* keys;
  Item load(std::size_t row) const { return Isa::load(keys + row * lanes); }
  void store(std::size_t row, const Item& item) const { Isa::store(keys + row * lanes, item); }
  static void order(Item& a, Item& b) {
    const Item low = Isa::minimum(a, b);
    b = Isa::maximum(a, b);
    a = low;
  }
};

struct PairRows {
  static constexpr int block = register_rows / 2;
  struct Item {
    Doubles::V key, carried;
  };
  double* keys;
  double* carried;
  Item load(std::size_t row) const {
    return {Doubles::load(keys + row * sort_lanes), Doubles::load(carried + row * sort_lanes)};
  }
  void store(std::size_t row, const Item& item) const {
    Doubles::store(keys + row * sort_lanes, item.key);
    Doubles::store(carried + row * sort_lanes, item.carried);
  }
  static void order(Item& a, Item& b) {
    Doubles::exchange(a.key, b.key, a.carried, b.carried);
    const Doubles::V low = Doubles::minimum(a.key, b.key);
    b.key = Doubles::maximum(a.key, b.key);
    a.key = low;
  }
};

// A network over items in registers, written out by the compiler: Batcher's odd-even merge sort of
// `count` items, a power of two, from `first` on.
template <typename Rows, int first, int count>
struct Network {
  using Item = typename Rows::Item;

  static BITSIEVE_INLINE void sort(Item* items) {
    if constexpr (count > 1) {
      Network<Rows, first, count / 2>::sort(items);
      Network<Rows, first + count / 2, count / 2>::sort(items);
      merge<first, 1>(items);
    }
  }

  // Smooth out a sequence that first rises and then falls, or the reverse.
  static BITSIEVE_INLINE void clean(Item* items) {
    if constexpr (count > 1) {
      each<first, count / 2, 1, first + count / 2>(items);
      Network<Rows, first, count / 2>::clean(items);
      Network<Rows, first + count / 2, count / 2>::clean(items);
    }
  }

 private:
  template <int start, int step>
  static BITSIEVE_INLINE void merge(Item* items) {
    if constexpr (2 * step < count) {
      merge<start, 2 * step>(items);
      merge<start + step, 2 * step>(items);
      each<start + step, step, 2 * step, first + count - step>(items);
    } else {
      Rows::order(items[start], items[start + step]);
    }
  }

  // i = at, at + stride, ... below end: order(i, i + distance)
  template <int at, int distance, int stride, int end>
  static BITSIEVE_INLINE void each(Item* items) {
    if constexpr (at < end) {
      Rows::order(items[at], items[at + distance]);
      each<at + stride, distance, stride, end>(items);
    }
  }
};

// Sort n rows, a multiple of Rows::block: blocks in registers, then runs merged pairwise as bitonic
// sequences, the last steps of a merge in registers again. Rows past n count as infinite.
template <typename Rows>
void sort_rows(const Rows& rows, std::size_t n) {
  constexpr std::size_t block = Rows::block;
  using Item = typename Rows::Item;
  using InRegisters = Network<Rows, 0, Rows::block>;
  const auto exchange = [&rows](std::size_t i, std::size_t j) {
    Item a = rows.load(i), b = rows.load(j);
    Rows::order(a, b);
    rows.store(i, a);
    rows.store(j, b);
  };
  for (std::size_t begin = 0; begin < n; begin += block) {
    Item items[block];
    for (std::size_t k = 0; k < block; ++k) items[k] = rows.load(begin + k);
    InRegisters::sort(items);
    for (std::size_t k = 0; k < block; ++k) rows.store(begin + k, items[k]);
  }
  for (std::size_t run = block; run < n; run *= 2) {
    for (std::size_t begin = 0; begin + run < n; begin += 2 * run) {
      const std::size_t last = begin + 2 * run - 1;
      for (std::size_t i = last < n ? begin : begin + last - (n - 1); i < begin + run; ++i) {
        exchange(i, begin + last - i);
      }
    }
    for (std::size_t step = run / 2; step >= block; step /= 2) {
      for (std::size_t begin = 0; begin + step < n; begin += 2 * step) {
        const std::size_t end = begin + 2 * step <= n ? begin + step : n - step;
        for (std::size_t i = begin; i < end; ++i) exchange(i, i + step);
      }
    }
    for (std::size_t begin = 0; begin < n; begin += block) {
      Item items[block];
      for (std::size_t k = 0; k < block; ++k) items[k] = rows.load(begin + k);
      InRegisters::clean(items);
      for (std::size_t k = 0; k < block; ++k) rows.store(begin + k, items[k]);
    }
  }
}

inline void sort(double* keys, std::size_t n) {
  for (std::size_t v = 0; v < sort_lanes; v += Doubles::width) {
    sort_rows(KeyRows<Doubles, sort_lanes>{keys + v}, n);
  }
}

inline void sort_with(double* keys, double* carried, std::size_t n) {
  for (std::size_t v = 0; v < sort_lanes; v += Doubles::width) {
    sort_rows(PairRows{keys + v, carried + v}, n);
  }
}

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

template <typename T>
void rank_keys(const T* x, std::size_t ld, std::size_t n, std::size_t width,
               const std::int32_t* codes, std::uint32_t mask, float* keys, std::uint32_t* lossy,
               T* poison) {
  const std::size_t padded = (n + sort_padding - 1) / sort_padding * sort_padding;
  const std::size_t tiles = (width + rank_lanes - 1) / rank_lanes;
  for (std::size_t f = 0; f < tiles * rank_lanes; ++f) {
    lossy[f] = 0;
    poison[f] = 0;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = x + i * ld;
    const T* next = i + 4 < n ? row + 4 * ld : row;
    const auto code = static_cast<std::uint32_t>(codes[i]);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const std::size_t f = tile * rank_lanes;
      float* to = keys + (tile * padded + i) * rank_lanes;
      if (f + rank_lanes <= width) {
        for (std::size_t k = 0; k < rank_lanes; k += 64 / sizeof(T)) fetch(next + f + k);
        key_row(row + f, x + f, mask, code, to, lossy + f, poison + f);
        continue;
      }
      T values[rank_lanes] = {}, first[rank_lanes] = {};
      for (std::size_t lane = 0; f + lane < width; ++lane) {
        values[lane] = row[f + lane];
        first[lane] = x[f + lane];
      }
      key_row(values, first, mask, code, to, lossy + f, poison + f);
    }
  }
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    float* after = keys + (tile * padded + n) * rank_lanes;
    for (std::size_t k = 0; k < (padded - n) * rank_lanes; ++k) after[k] = __builtin_bit_cast(float, 0x7F800000u);
  }
}

// The ranks of sorted keys where some are equal. A group of equal ones takes the places
// [begin, end); twice the rank of its members is begin + end + 1. Forwards it is known where a group
// began, backwards where it ends. t^3 - t is the sum of 3 m (m - 1) over m = 1 ... t.
inline void rank_groups(const float* keys, std::size_t n, std::uint32_t n_classes,
                        std::uint32_t mask, std::uint32_t* twice, std::uint32_t* ties) {
  using C = Floats::C;
  constexpr std::size_t most_classes = 8;
  C total[most_classes];
  for (std::uint32_t c = 0; c < n_classes; ++c) total[c] = Floats::none();
  C begin = Floats::none(), slope = begin, term = begin, tied = begin;
  auto last = Floats::load(keys);
  for (std::size_t k = 0; k < n; ++k) {
    const auto key = Floats::load(keys + k * rank_lanes);
    if (k > 0) {
      const auto same = Floats::same(last, key, mask);
      begin = Floats::select(same, begin, Floats::splat(static_cast<std::uint32_t>(k)));
      slope = Floats::where(same, Floats::add(slope, Floats::splat(6)));
      term = Floats::where(same, Floats::add(term, slope));
      tied = Floats::add(tied, term);
    }
    for (std::uint32_t c = 1; c < n_classes; ++c) {
      total[c] = Floats::add(total[c], Floats::where(Floats::is_class(key, mask, c), begin));
    }
    last = key;
  }
  C after = Floats::none();  // the end of the group, and one more
  for (std::size_t k = n; k-- > 0;) {
    const auto key = Floats::load(keys + k * rank_lanes);
    const C here = Floats::splat(static_cast<std::uint32_t>(k + 2));
    after = k + 1 < n ? Floats::select(Floats::same(last, key, mask), after, here) : here;
    for (std::uint32_t c = 1; c < n_classes; ++c) {
      total[c] = Floats::add(total[c], Floats::where(Floats::is_class(key, mask, c), after));
    }
    last = key;
  }
  for (std::uint32_t c = 1; c < n_classes; ++c) Floats::store(twice + c * rank_lanes, total[c]);
  Floats::store(ties, tied);
}

inline void rank_classes(float* keys, std::size_t n, std::uint32_t n_classes, std::uint32_t mask,
                         std::uint32_t* twice, std::uint32_t* ties) {
  const std::size_t padded = (n + sort_padding - 1) / sort_padding * sort_padding;
  for (std::size_t v = 0; v < rank_lanes; v += Floats::width) {
    sort_rows(KeyRows<Floats, rank_lanes>{keys + v}, padded);
    // As if no two values were equal; class 0 has what the others leave.
    auto count = Floats::none(), total = count;
    auto last = Floats::load(keys + v);
    for (std::size_t k = 0; k < n; ++k) {
      const auto key = Floats::load(keys + k * rank_lanes + v);
      const auto rank = Floats::splat(static_cast<std::uint32_t>(2 * k + 2));
      total = Floats::add(total, Floats::where(Floats::is_class(key, mask, 1), rank));
      count = Floats::add(count, Floats::where(Floats::same(last, key, mask), Floats::splat(1)));
      last = key;
    }
    Floats::store(twice + rank_lanes + v, total);
    for (std::uint32_t c = 2; c < n_classes; ++c) {
      total = Floats::none();
      for (std::size_t k = 0; k < n; ++k) {
        const auto key = Floats::load(keys + k * rank_lanes + v);
        const auto rank = Floats::splat(static_cast<std::uint32_t>(2 * k + 2));
        total = Floats::add(total, Floats::where(Floats::is_class(key, mask, c), rank));
      }
      Floats::store(twice + c * rank_lanes + v, total);
    }
    Floats::store(ties + v, Floats::none());
    std::uint32_t equal[Floats::width];
    Floats::store(equal, count);
    std::uint32_t most = 0;
    for (std::size_t lane = 0; lane < Floats::width; ++lane) most |= equal[lane] - 1;  // own first
    if (most != 0) rank_groups(keys + v, n, n_classes, mask, twice + v, ties + v);
  }
  for (std::size_t lane = 0; lane < rank_lanes; ++lane) {
    std::uint32_t rest = static_cast<std::uint32_t>(n * (n + 1));
    for (std::uint32_t c = 1; c < n_classes; ++c) rest -= twice[c * rank_lanes + lane];
    twice[lane] = rest;
  }
}

}  // namespace univariate

inline constexpr UnivariateKernels univariate_kernels = {
    {univariate::moments<float>, univariate::comoments<float>, univariate::weighted<float>,
     univariate::pairs<univariate::Floats>, univariate::rank_keys<float>},
    {univariate::moments<double>, univariate::comoments<double>, univariate::weighted<double>,
     univariate::pairs<univariate::Doubles>, univariate::rank_keys<double>},
    univariate::sort,
    univariate::sort_with,
    univariate::rank_classes,
};
