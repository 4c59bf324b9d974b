// Pairs and ranks of univariate_kernels.hpp. See body.hpp for the rule about headers.
//
//   lanes (body_lanes.hpp) -> networks of exchanges -> sorts -> keys and their ranks

#include "body_lanes.hpp"

namespace univariate {

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

// Nearest whole number of |t| < 2^51; farther out it is of no use, and not asked for.
inline Doubles::V whole_of(const Doubles::V& t) {
  const auto magic = Doubles::broadcast(6755399441055744.0);  // 1.5 * 2^52
  return Doubles::subtract(Doubles::add(t, magic), magic);
}

// How far samples i .. end - 1, times the scale, are from whole numbers at most.
template <typename T>
Doubles::V far_from_whole(const T* tile, std::size_t i, std::size_t end, const Doubles::V& scale,
                          Doubles::V most) {
  for (; i < end; ++i) {
    const auto t = Doubles::multiply(Doubles::widen(tile + i * rank_lanes), scale);
    most = Doubles::maximum(Doubles::magnitude(Doubles::subtract(t, whole_of(t))), most);
  }
  return most;
}

// The power of ten that makes whole numbers of each lane, or 0.
template <typename T>
void find_scale(const T* tile, std::size_t n, double* scale) {
  constexpr std::size_t look = 16;  // samples before a scale that suits no lane is given up
  constexpr double nearly = 1e-3;
  double away[Doubles::width] = {};
  bool found[Doubles::width] = {};
  for (std::size_t lane = 0; lane < Doubles::width; ++lane) scale[lane] = 0.0;
  double power = 1.0;
  for (int digits = 0; digits <= 6; ++digits, power *= 10.0) {
    const auto each = Doubles::broadcast(power);
    auto most = Doubles::broadcast(0.0);
    for (std::size_t i = 0; i < n; i += look) {
      most = far_from_whole(tile, i, i + look < n ? i + look : n, each, most);
      Doubles::store(away, most);
      bool hope = false;
      for (std::size_t lane = 0; lane < Doubles::width; ++lane) {
        hope = hope || (!found[lane] && away[lane] <= nearly);
      }
      if (!hope) break;
    }
    bool all = true;
    for (std::size_t lane = 0; lane < Doubles::width; ++lane) {
      if (!found[lane] && away[lane] <= nearly) {
        scale[lane] = power;
        found[lane] = true;
      }
      all = all && found[lane];
    }
    if (all) break;
  }
}

inline Doubles::V rounded(const Doubles::V& a, const double*) { return a; }
inline Doubles::V rounded(const Doubles::V& a, const float*) {
  float single[Doubles::width];
  Doubles::narrow(single, a);
  return Doubles::widen(single);
}

template <typename T>
void decimal_keys(const T* tile, std::size_t n, const std::int32_t* codes, std::uint32_t mask,
                  float* keys, std::uint32_t* lossy) {
  constexpr double largest = 16777216.0;  // whole numbers that a float32 holds
  double scale[rank_lanes], missed[rank_lanes], most[rank_lanes];
  float unused[rank_lanes] = {};
  for (std::size_t lane = 0; lane < rank_lanes; ++lane) lossy[lane] = 0;
  for (std::size_t v = 0; v < rank_lanes; v += Doubles::width) {
    find_scale(tile + v, n, scale + v);
    const auto scales = Doubles::load(scale + v);
    const auto limit = Doubles::broadcast(largest), floor = Doubles::broadcast(-largest);
    auto error = Doubles::broadcast(0.0), size = error;
    for (std::size_t i = 0; i < n; ++i) {
      const auto value = Doubles::widen(tile + i * rank_lanes + v);
      const auto whole = whole_of(Doubles::multiply(value, scales));
      // It stands for one value where that value comes back out of it.
      const auto back = rounded(Doubles::divide(whole, scales), tile);
      error = Doubles::add(error, Doubles::magnitude(Doubles::subtract(back, value)));
      size = Doubles::maximum(Doubles::magnitude(whole), size);
      Doubles::narrow(keys + i * rank_lanes + v,
                      Doubles::maximum(Doubles::minimum(whole, limit), floor));
    }
    Doubles::store(missed + v, error);
    Doubles::store(most + v, size);
  }
  for (std::size_t i = 0; i < n; ++i) {
    float* row = keys + i * rank_lanes;
    key_row(row, row, mask, static_cast<std::uint32_t>(codes[i]), row, lossy, unused);
  }
  for (std::size_t lane = 0; lane < rank_lanes; ++lane) {
    if (!(scale[lane] != 0 && missed[lane] == 0 && most[lane] < largest)) lossy[lane] |= 1u;
  }
  const std::size_t padded = (n + sort_padding - 1) / sort_padding * sort_padding;
  for (std::size_t k = n * rank_lanes; k < padded * rank_lanes; ++k) {
    keys[k] = __builtin_bit_cast(float, 0x7F800000u);
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
