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

// The least upper bound U and its class, and the two least lower bounds: it is decided where the
// second of them is above U.
void choose(const LaneCosts& costs, std::int32_t* classes) {
  const std::size_t n_places = costs.n_places, n_classes = costs.n_classes;
  const D share = Isa::broadcast(costs.share), zero = Isa::broadcast(0.0);
  const D none = Isa::broadcast(static_cast<double>(no_class)), much = Isa::broadcast(1e30);
  for (std::size_t k = 0; k < n_places; ++k) {
    for (int v = 0; v < vectors; ++v) {
      const std::size_t lane = static_cast<std::size_t>(v) * double_width;
      D upper = Isa::broadcast(__builtin_huge_val()), first = upper, second = upper;
      D best = zero, all = zero;
      for (std::size_t c = 0; c < n_classes; ++c) {
        const std::size_t place = (c * n_places + k) * lanes + lane, own = c * lanes + lane;
        const D magnitude = Isa::load(costs.magnitudes + place);
        all = Isa::add(all, magnitude);
        D cost = Isa::add(Isa::load(costs.sums + place), Isa::load(costs.offset + own));
        D error = Isa::add(Isa::multiply(magnitude, Isa::load(costs.relative + own)),
                           Isa::load(costs.slack + own));
        if (costs.n_extra > 0) {
          const std::size_t extra =
              ((n_classes + (costs.n_extra == 1 ? 0 : c)) * n_places + k) * lanes + lane;
          const D factor = Isa::load(costs.factor + own);
          cost = Isa::add(cost, Isa::multiply(factor, Isa::load(costs.sums + extra)));
          const D size = Isa::multiply(Isa::magnitude(factor), Isa::load(costs.magnitudes + extra));
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
      best = Isa::where_greater(much, all, best, none);
      Isa::store_rounded(reinterpret_cast<std::uint32_t*>(classes) + k * lanes + lane, best);
    }
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

// ---- Gaussians ----------------------------------------------------------------------------------

void moment_sums(const double* values, const std::int32_t* samples, std::size_t n,
                 const double* weights, const double* centre, double* sum, double* squares) {
  D from[vectors], first[vectors], second[vectors];
  for (int v = 0; v < vectors; ++v) {
    from[v] = Isa::load(centre + v * double_width);
    first[v] = Isa::load(sum + v * double_width);
    second[v] = Isa::load(squares + v * double_width);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = static_cast<std::size_t>(samples[k]);
    const D weight = Isa::broadcast(weights != nullptr ? weights[i] : 1.0);
    for (int v = 0; v < vectors; ++v) {
      const D apart = Isa::subtract(Isa::load(values + i * lanes + v * double_width), from[v]);
      const D weighted = weights != nullptr ? Isa::multiply(weight, apart) : apart;
      first[v] = Isa::add(first[v], weighted);
      second[v] = Isa::add(second[v], Isa::multiply(weighted, apart));
    }
  }
  for (int v = 0; v < vectors; ++v) {
    Isa::store(sum + v * double_width, first[v]);
    Isa::store(squares + v * double_width, second[v]);
  }
}

unsigned finish_moments(const double* sum, const double* squares, const double* centre,
                        const double* reach, double inverse, double digits, double* mean,
                        double* variance) {
  const double least = digits * inverse;
  unsigned short_of[lanes], out = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    const double shift = sum[l] * inverse;
    const double found = squares[l] * inverse - shift * shift;
    mean[l] = centre[l] + shift;
    variance[l] = found;
    short_of[l] = found > least * reach[l] ? 0u : 1u;
  }
  for (std::size_t l = 0; l < lanes; ++l) out |= short_of[l] << l;
  return out;
}

// The natural logarithm of positive, normal numbers, to an ulp: the method of fdlibm's e_log.c
// (Sun Microsystems, 1993), without its branches.
BITSIEVE_INLINE void logarithms(const double* x, double* out) {
  double exponent[lanes], fraction[lanes];
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, x[l]);
    const std::uint64_t power = (bits + 0x00095F6200000000u) >> 52;  // so that 1 / sqrt 2 <= m < sqrt 2
    const std::uint64_t rest = bits - (power << 52) + 0x3FF0000000000000u;
    exponent[l] = __builtin_bit_cast(double, power | 0x4330000000000000u) - (0x1p52 + 1023);
    fraction[l] = __builtin_bit_cast(double, rest) - 1.0;
  }
  for (std::size_t l = 0; l < lanes; ++l) {
    const double f = fraction[l], s = f / (2.0 + f), z = s * s;
    double series = 1.479819860511658591e-01;
    series = series * z + 1.531383769920937332e-01;
    series = series * z + 1.818357216161805012e-01;
    series = series * z + 2.222219843214978396e-01;
    series = series * z + 2.857142874366239149e-01;
    series = series * z + 3.999999999940941908e-01;
    series = series * z + 6.666666666666735130e-01;
    series = series * z;
    const double half = 0.5 * f * f;
    out[l] = exponent[l] * 6.93147180369123816490e-01 -
             ((half - (s * (half + series) + exponent[l] * 1.90821492927058770002e-10)) - f);
  }
}

void gaussian_weights(const double* variance, double smoothing, double* halves, double* logs) {
  double smoothed[lanes], found[lanes];
  for (std::size_t l = 0; l < lanes; ++l) {
    smoothed[l] = variance[l] + smoothing;
    halves[l] = 0.5 / smoothed[l];
  }
  logarithms(smoothed, found);
  for (std::size_t l = 0; l < lanes; ++l) logs[l] = 0.5 * found[l];
}

void gaussian_terms(const double* values, const std::int32_t* samples, std::size_t n,
                    const double* mean, const double* halves, const double* start, double* out,
                    double* slopes) {
  D centre[vectors], factor[vectors], first[vectors];
  for (int v = 0; v < vectors; ++v) {
    centre[v] = Isa::load(mean + v * double_width);
    factor[v] = Isa::load(halves + v * double_width);
    first[v] = Isa::load(start + v * double_width);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double* x = values + static_cast<std::size_t>(samples[k]) * lanes;
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = k * lanes + static_cast<std::size_t>(v) * double_width;
      const D apart = Isa::subtract(Isa::load(x + v * double_width), centre[v]);
      const D term = Isa::multiply(Isa::multiply(apart, apart), factor[v]);
      Isa::store(out + at, Isa::add(term, first[v]));
      if (slopes != nullptr) {
        Isa::store(slopes + at, Isa::multiply(term, Isa::add(factor[v], factor[v])));
      }
    }
  }
}

}  // namespace additive

const AdditiveKernels additive_kernels = {
    additive::table_patterns, additive::add_patterns, additive::shift_costs, additive::flush,
    additive::round_columns,  additive::add_lanes,    additive::flip_sums,
    additive::choose,         additive::count_hits,   additive::moment_sums,
    additive::finish_moments, additive::gaussian_weights, additive::gaussian_terms,
};
