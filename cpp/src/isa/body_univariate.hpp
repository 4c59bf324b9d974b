// The bodies of univariate_kernels.hpp. See body.hpp for the rule about headers.
//
// Plain loops over neighboring features, which the compiler turns into vectors; four samples a
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

}  // namespace univariate

#include "body_ranks.hpp"

inline constexpr UnivariateKernels univariate_kernels = {
    {univariate::moments<float>, univariate::comoments<float>, univariate::weighted<float>,
     univariate::pairs<univariate::Floats>, univariate::rank_keys<float>,
     univariate::decimal_keys<float>},
    {univariate::moments<double>, univariate::comoments<double>, univariate::weighted<double>,
     univariate::pairs<univariate::Doubles>, univariate::rank_keys<double>,
     univariate::decimal_keys<double>},
    univariate::sort,
    univariate::sort_with,
    univariate::rank_classes,
};
