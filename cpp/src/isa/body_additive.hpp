// The bodies of additive_kernels.hpp. See body.hpp for the rule about headers.

namespace additive {

using F = typename Isa::F;
using D = typename Isa::D;
constexpr std::size_t lanes = additive_lanes;
constexpr std::size_t double_width = Isa::width_double;
constexpr int vectors = static_cast<int>(lanes / double_width);

// ---- adding -----------------------------------------------------------------------------------

void table_patterns(const float* terms, float* tables) {
  constexpr std::size_t width = Isa::width;
  for (std::size_t group = 0; group < pattern_features / 4; ++group) {
    const float* term = terms + group * 4 * pattern_columns;
    float* table = tables + group * 16 * pattern_columns;
    for (std::size_t j = 0; j < pattern_columns; j += width) {
      F sum[16];
      sum[0] = Isa::zero();
      for (std::size_t bit = 0; bit < 4; ++bit) {
        const F own = Isa::load(term + bit * pattern_columns + j);
        const std::size_t half = std::size_t{1} << bit;
        sum[half] = own;
        for (std::size_t k = 1; k < half; ++k) sum[half + k] = Isa::add(own, sum[k]);
      }
      for (std::size_t k = 0; k < 16; ++k) Isa::store(table + k * pattern_columns + j, sum[k]);
    }
  }
}

// M masks at once, so that their chains of additions overlap.
template <int M>
BITSIEVE_INLINE void add_masks(const float* tables, const std::uint64_t* masks, std::size_t stride,
                               float* sums) {
  constexpr int V = static_cast<int>(pattern_columns) / Isa::width;
  F total[M][V];
  std::uint64_t word[M];
  for (int m = 0; m < M; ++m) {
    word[m] = masks[static_cast<std::size_t>(m) * stride];
    for (int v = 0; v < V; ++v) total[m][v] = Isa::zero();
  }
  for (std::size_t group = 0; group < pattern_features / 4; ++group) {
    const float* table = tables + group * 16 * pattern_columns;
    for (int m = 0; m < M; ++m) {
      const float* row = table + (word[m] & 15u) * pattern_columns;
      word[m] >>= 4;
      for (int v = 0; v < V; ++v) {
        total[m][v] = Isa::add(total[m][v], Isa::load(row + v * Isa::width));
      }
    }
  }
  for (int m = 0; m < M; ++m) {
    for (int v = 0; v < V; ++v) {
      float* out = sums + static_cast<std::size_t>(m) * pattern_columns + v * Isa::width;
      Isa::store(out, Isa::add(Isa::load(out), total[m][v]));
    }
  }
}

void add_patterns(const float* tables, const std::uint64_t* masks, std::size_t stride,
                  std::size_t n_masks, float* sums) {
  constexpr int M = 8 * Isa::width / static_cast<int>(pattern_columns);  // 8 chains
  std::size_t m = 0;
  for (; m + M <= n_masks; m += M) {
    add_masks<M>(tables, masks + m * stride, stride, sums + m * pattern_columns);
  }
  for (; m < n_masks; ++m) {
    add_masks<1>(tables, masks + m * stride, stride, sums + m * pattern_columns);
  }
}

void shift_costs(double* terms, std::size_t n_places, std::size_t n_classes, double* reach) {
  for (int v = 0; v < vectors; ++v) {
    const std::size_t lane = static_cast<std::size_t>(v) * double_width;
    D greatest = Isa::broadcast(0.0);
    for (std::size_t k = 0; k < n_places; ++k) {
      D least = Isa::load(terms + k * lanes + lane);
      greatest = Isa::maximum(greatest, least);
      for (std::size_t c = 1; c < n_classes; ++c) {
        const D term = Isa::load(terms + (c * n_places + k) * lanes + lane);
        least = Isa::minimum(least, term);
        greatest = Isa::maximum(greatest, term);
      }
      for (std::size_t c = 0; c < n_classes; ++c) {
        double* term = terms + (c * n_places + k) * lanes + lane;
        Isa::store(term, Isa::subtract(Isa::load(term), least));
      }
    }
    Isa::store(reach + lane, greatest);
  }
}

void flush(float* sums, std::size_t n, double* totals) {
  for (std::size_t k = 0; k < n; k += double_width) {
    Isa::store(totals + k, Isa::add(Isa::load(totals + k), Isa::load_as_double(sums + k)));
  }
  for (std::size_t k = 0; k < n; k += Isa::width) Isa::store(sums + k, Isa::zero());
}

void round_columns(const double* terms, float* out, std::size_t stride) {
  Isa::transpose_rounded(terms, out, stride);
}

void add_lanes(const double* terms, std::size_t n_columns, std::size_t n_lanes, double* sums) {
  std::size_t k = 0;
  if (n_lanes == lanes) {
    for (; k + 8 <= n_columns; k += 8) {
      alignas(64) double added[8];
      Isa::sum_columns(terms + k * lanes, added);
      for (std::size_t j = 0; j < 8; ++j) sums[k + j] += added[j];
    }
  }
  for (; k < n_columns; ++k) {
    const double* row = terms + k * lanes;
    double kept[lanes];
    for (std::size_t l = 0; l < lanes; ++l) kept[l] = l < n_lanes ? row[l] : 0.0;
    for (std::size_t l = 0; l < 8; ++l) kept[l] += kept[l + 8];
    for (std::size_t l = 0; l < 4; ++l) kept[l] = kept[2 * l] + kept[2 * l + 1];
    sums[k] += (kept[0] + kept[1]) + (kept[2] + kept[3]);
  }
}

void flip_sums(const double* base, const double* terms, const double* sign, std::size_t n_columns,
               double* out, double* magnitudes) {
  D signs[vectors];
  for (int v = 0; v < vectors; ++v) signs[v] = Isa::load(sign + v * double_width);
  for (std::size_t k = 0; k < n_columns; ++k) {
    const D start = Isa::broadcast(base[k]);
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = k * lanes + static_cast<std::size_t>(v) * double_width;
      const D term = Isa::load(terms + at);
      Isa::store(out + at, Isa::add(start, Isa::multiply(signs[v], term)));
      Isa::store(magnitudes + at, Isa::add(start, term));
    }
  }
}

// ---- deciding ---------------------------------------------------------------------------------

// A sum, and what its error is a share of.
struct Sum {
  D sum, magnitude;
};

// The class of lanes at a place, of sums [class or extra][place]. The least upper bound U and its
// class, and the two least lower bounds: it is decided where the second of them is above U. C: the
// classes where none has an extra, or 0.
template <std::size_t C, typename Sums>
BITSIEVE_INLINE D decide(const LaneCosts& costs, std::size_t k, std::size_t lane, Sums&& sum_at) {
  const std::size_t n_places = costs.n_places, n_classes = C > 0 ? C : costs.n_classes;
  const D share = Isa::broadcast(costs.share), zero = Isa::broadcast(0.0);
  const D none = Isa::broadcast(static_cast<double>(no_class)), much = Isa::broadcast(1e30);
  D upper = Isa::broadcast(__builtin_huge_val()), first = upper, second = upper;
  D best = zero, all = zero;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const std::size_t own = c * lanes + lane;
    const Sum of_class = sum_at(c * n_places + k);
    all = Isa::add(all, of_class.magnitude);
    D cost = Isa::add(of_class.sum, Isa::load(costs.offset + own));
    D error = Isa::add(Isa::multiply(of_class.magnitude, Isa::load(costs.relative + own)),
                       Isa::load(costs.slack + own));
    if (C == 0 && costs.n_extra > 0) {
      const Sum extra = sum_at((n_classes + (costs.n_extra == 1 ? 0 : c)) * n_places + k);
      const D factor = Isa::load(costs.factor + own);
      cost = Isa::add(cost, Isa::multiply(factor, extra.sum));
      const D size = Isa::multiply(Isa::magnitude(factor), extra.magnitude);
      all = Isa::add(all, size);
      error = Isa::add(error, Isa::multiply(size, share));
    }
    const D high = Isa::add(cost, error), low = Isa::subtract(cost, error);
    best = Isa::where_greater(upper, high, Isa::broadcast(static_cast<double>(c)), best);
    upper = Isa::minimum(high, upper);
    second = Isa::minimum(second, Isa::maximum(first, low));
    first = Isa::minimum(first, low);
  }
  best = Isa::where_greater(second, upper, best, none);
  return Isa::where_greater(much, all, best, none);
}

void choose(const LaneCosts& costs, std::int32_t* classes) {
  for (std::size_t k = 0; k < costs.n_places; ++k) {
    for (int v = 0; v < vectors; ++v) {
      const std::size_t lane = static_cast<std::size_t>(v) * double_width;
      const D best = decide<0>(costs, k, lane, [&](std::size_t row) {
        const std::size_t at = row * lanes + lane;
        return Sum{Isa::load(costs.sums + at), Isa::load(costs.magnitudes + at)};
      });
      Isa::store_rounded(reinterpret_cast<std::uint32_t*>(classes) + k * lanes + lane, best);
    }
  }
}

template <std::size_t C>
BITSIEVE_INLINE void flip_hits_of(const LaneCosts& costs, const double* base, const double* sign,
                                  const std::int32_t* own, double* counts, std::int32_t* open) {
  const D one = Isa::broadcast(1.0), zero = Isa::broadcast(0.0), half = Isa::broadcast(0.5);
  D signs[vectors], most[vectors];
  for (int v = 0; v < vectors; ++v) {
    signs[v] = Isa::load(sign + v * double_width);
    most[v] = zero;
  }
  for (std::size_t k = 0; k < costs.n_places; ++k) {
    const D wanted = Isa::broadcast(static_cast<double>(own[k]));
    double* row = counts + static_cast<std::size_t>(own[k]) * lanes;
    for (int v = 0; v < vectors; ++v) {
      const std::size_t lane = static_cast<std::size_t>(v) * double_width;
      const D best = decide<C>(costs, k, lane, [&](std::size_t at) {
        const D start = Isa::broadcast(base[at]), term = Isa::load(costs.sums + at * lanes + lane);
        return Sum{Isa::add(start, Isa::multiply(signs[v], term)), Isa::add(start, term)};
      });
      most[v] = Isa::maximum(most[v], best);
      const D apart = Isa::magnitude(Isa::subtract(best, wanted));
      const D hit = Isa::where_greater(half, apart, one, zero);
      Isa::store(row + lane, Isa::add(Isa::load(row + lane), hit));
    }
  }
  const D bar = Isa::broadcast(no_class - 0.5);
  for (int v = 0; v < vectors; ++v) {
    const std::size_t lane = static_cast<std::size_t>(v) * double_width;
    Isa::store_rounded(reinterpret_cast<std::uint32_t*>(open) + lane,
                       Isa::where_greater(most[v], bar, one, zero));
  }
}

void flip_hits(const LaneCosts& costs, const double* base, const double* sign,
               const std::int32_t* own, double* counts, std::int32_t* hits, std::int32_t* open) {
  const std::size_t n = costs.n_classes * lanes;
  for (std::size_t k = 0; k < n; ++k) counts[k] = 0;
  if (costs.n_classes == 2 && costs.n_extra == 0) {
    flip_hits_of<2>(costs, base, sign, own, counts, open);
  } else {
    flip_hits_of<0>(costs, base, sign, own, counts, open);
  }
  for (std::size_t k = 0; k < n; k += double_width) {
    Isa::store_rounded(reinterpret_cast<std::uint32_t*>(hits) + k, Isa::load(counts + k));
  }
}

void count_hits(const std::int32_t* classes, const std::int32_t* own, std::size_t n_places,
                std::int32_t* hits, std::int32_t* open) {
  std::int32_t most[lanes] = {};
  for (std::size_t k = 0; k < n_places; ++k) {
    const std::int32_t wanted = own[k];
    std::int32_t row[lanes];  // a copy, so that counts are no reason to read it again
    for (std::size_t l = 0; l < lanes; ++l) row[l] = classes[k * lanes + l];
    std::int32_t* counts = hits + static_cast<std::size_t>(wanted) * lanes;
    for (std::size_t l = 0; l < lanes; ++l) counts[l] += row[l] == wanted ? 1 : 0;
    for (std::size_t l = 0; l < lanes; ++l) most[l] = row[l] > most[l] ? row[l] : most[l];
  }
  for (std::size_t l = 0; l < lanes; ++l) open[l] = most[l] == no_class ? 1 : 0;
}

}  // namespace additive

const AdditiveKernels additive_kernels = {
    additive::table_patterns, additive::add_patterns, additive::shift_costs, additive::flush,
    additive::round_columns,  additive::add_lanes,    additive::flip_sums,
    additive::choose,         additive::flip_hits,    additive::count_hits,
    gaussian::moment_sums,    gaussian::part_moments, gaussian::weights,
    gaussian::weigh_parts,    gaussian::terms,        gaussian::add_parts,
};
