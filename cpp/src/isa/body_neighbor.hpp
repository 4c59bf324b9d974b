// The bodies of neighbor_kernels.hpp. See body.hpp for the rule about headers.

namespace neighbor {

using F = typename Isa::F;

template <int J>
BITSIEVE_INLINE void scale_columns(const float* table, std::size_t ld,
                                   const std::int32_t* features, std::size_t m,
                                   const float* weights, std::size_t width, float* scaled,
                                   float* squares) {
  F total[J];
  for (int j = 0; j < J; ++j) total[j] = Isa::zero();
  for (std::size_t k = 0; k < m; ++k) {
    const float* row = table + static_cast<std::size_t>(features[k]) * ld;
    const F weight = Isa::broadcast(weights[k]);
    for (int j = 0; j < J; ++j) {
      const F value = Isa::multiply(Isa::load(row + j * Isa::width), weight);
      total[j] = Isa::multiply_add(value, value, total[j]);
      Isa::store(scaled + k * width + static_cast<std::size_t>(j * Isa::width),
                 Isa::multiply(value, weight));
    }
  }
  for (int j = 0; j < J; ++j) {
    float* out = squares + j * Isa::width;
    Isa::store(out, Isa::add(Isa::load(out), total[j]));
  }
}

void scale_rows(const float* table, std::size_t ld, const std::int32_t* features, std::size_t m,
                const float* weights, std::size_t width, float* scaled, float* squares) {
  constexpr std::size_t J = 4, W = Isa::width;
  std::size_t j = 0;
  for (; j + J * W <= width; j += J * W) {
    scale_columns<J>(table + j, ld, features, m, weights, width, scaled + j, squares + j);
  }
  for (; j < width; j += W) {
    scale_columns<1>(table + j, ld, features, m, weights, width, scaled + j, squares + j);
  }
}

// A tile of I rows by J vectors lives in registers for all features.
template <int I, int J>
BITSIEVE_INLINE void rectangle_tile(const float* table, std::size_t ld,
                                    const std::int32_t* features, std::size_t m,
                                    const std::int32_t* rows, const float* scaled,
                                    std::size_t width, float* out, std::size_t ldo, bool fresh) {
  F total[I][J];
  std::size_t place[I];
  for (int i = 0; i < I; ++i) {
    place[i] = static_cast<std::size_t>(rows[i]);
    for (int j = 0; j < J; ++j) total[i][j] = Isa::zero();
  }
  for (std::size_t k = 0; k < m; ++k) {
    const float* row = table + static_cast<std::size_t>(features[k]) * ld;
    F column[J];
    for (int j = 0; j < J; ++j) column[j] = Isa::load(scaled + k * width + j * Isa::width);
    for (int i = 0; i < I; ++i) {
      const F value = Isa::broadcast(row[place[i]]);
      for (int j = 0; j < J; ++j) total[i][j] = Isa::multiply_add(value, column[j], total[i][j]);
    }
  }
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      float* to = out + static_cast<std::size_t>(i) * ldo + j * Isa::width;
      Isa::store(to, fresh ? total[i][j] : Isa::add(Isa::load(to), total[i][j]));
    }
  }
}

void rectangle(const float* table, std::size_t ld, const std::int32_t* features, std::size_t m,
               const std::int32_t* rows, std::size_t n_rows, const float* scaled,
               std::size_t width, float* out, std::size_t ldo, bool fresh) {
  constexpr std::size_t I = Isa::float_rows, J = Isa::float_columns, W = Isa::width;
  static_assert(rectangle_rows % I == 0);
  std::size_t j = 0;
  for (; j + J * W <= width; j += J * W) {
    for (std::size_t i = 0; i < n_rows; i += I) {
      rectangle_tile<I, J>(table, ld, features, m, rows + i, scaled + j, width,
                           out + i * ldo + j, ldo, fresh);
    }
  }
  for (; j < width; j += W) {
    for (std::size_t i = 0; i < n_rows; i += I) {
      rectangle_tile<I, 1>(table, ld, features, m, rows + i, scaled + j, width,
                           out + i * ldo + j, ldo, fresh);
    }
  }
}

// ---- votes of one-flip masks --------------------------------------------------------------

// A value with its last bits (of Mask) replaced by a code, and those bits as a number.
#if defined(__AVX512F__)
BITSIEVE_INLINE F larger(F a, F b) { return _mm512_max_ps(a, b); }
template <int Mask>
BITSIEVE_INLINE F coded(F a, std::uint32_t code) {
  const __m512i bits = _mm512_andnot_si512(_mm512_set1_epi32(Mask), _mm512_castps_si512(a));
  return _mm512_castsi512_ps(_mm512_or_si512(bits, _mm512_set1_epi32(static_cast<int>(code))));
}
template <int Mask>
BITSIEVE_INLINE F code_of(F a) {
  return _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(Mask)));
}
#elif defined(__AVX2__)
BITSIEVE_INLINE F larger(F a, F b) { return _mm256_max_ps(a, b); }
template <int Mask>
BITSIEVE_INLINE F coded(F a, std::uint32_t code) {
  const __m256i bits = _mm256_andnot_si256(_mm256_set1_epi32(Mask), _mm256_castps_si256(a));
  return _mm256_castsi256_ps(_mm256_or_si256(bits, _mm256_set1_epi32(static_cast<int>(code))));
}
template <int Mask>
BITSIEVE_INLINE F code_of(F a) {
  return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_castps_si256(a), _mm256_set1_epi32(Mask)));
}
#else
BITSIEVE_INLINE F larger(F a, F b) {
  return Isa::subtract(Isa::zero(),
                       Isa::minimum(Isa::subtract(Isa::zero(), a), Isa::subtract(Isa::zero(), b)));
}
template <int Mask>
BITSIEVE_INLINE F coded(F a, std::uint32_t code) {
  alignas(64) float lanes[flip_lanes];
  Isa::store(lanes, a);
  for (int lane = 0; lane < Isa::width; ++lane) {
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, lanes[lane]);
    lanes[lane] = __builtin_bit_cast(float, (bits & ~std::uint32_t{Mask}) | code);
  }
  return Isa::load(lanes);
}
template <int Mask>
BITSIEVE_INLINE F code_of(F a) {
  alignas(64) float lanes[flip_lanes];
  Isa::store(lanes, a);
  for (int lane = 0; lane < Isa::width; ++lane) {
    lanes[lane] = static_cast<float>(__builtin_bit_cast(std::uint32_t, lanes[lane]) &
                                      std::uint32_t{Mask});
  }
  return Isa::load(lanes);
}
#endif

constexpr int class_code = 15, place_code = 255;

// The K nearest candidates of a test, ascending, each with a code in its last bits: a class
// (class_code), or its place among the candidates, place_code where that is as far or farther.
template <int K, int Mask>
BITSIEVE_INLINE void nearest_of(FlipLanes& lanes, const FlipVotes& votes, const FlipTest& test,
                                F (&nearest)[FlipLanes::J][K]) {
  constexpr int J = FlipLanes::J, k = K - 1;
  const F zero = Isa::zero();
  // Below it no code could be carried where subnormal numbers are taken for zero.
  const F floor = Isa::broadcast(0x1p-100f);
  const std::size_t split =
      votes.first_split + static_cast<std::size_t>(test.counter) / votes.n_classes;
  const std::uint64_t* training = votes.training + split / 64;
  const unsigned bit = static_cast<unsigned>(split % 64);
  const VoteCandidate* row =
      votes.candidates + static_cast<std::size_t>(test.row) * votes.n_candidates;
  lanes.begin(static_cast<std::size_t>(test.sample));
  F slack[J];  // what a leaving feature may take off a distance
  for (int v = 0; v < J; ++v) {
    const F reach = Isa::add(Isa::magnitude(lanes.own[v]), lanes.spreads[v]);
    const F left = larger(zero, Isa::subtract(zero, lanes.signs[v]));
    slack[v] = Isa::multiply(Isa::multiply(Isa::multiply(reach, reach), left),
                             Isa::broadcast(1.0f + 0x1p-18f));
    for (int s = 0; s < K; ++s) nearest[v][s] = Isa::broadcast(far_away);
  }
  for (std::size_t c = 0; c < votes.n_candidates; ++c) {
    const VoteCandidate& candidate = row[c];
    const std::size_t j = static_cast<std::size_t>(candidate.sample);
    if (((training[j * votes.n_words] >> bit) & 1u) == 0) continue;
    const F distance = Isa::broadcast(candidate.distance);
    unsigned may = 0;
    for (int v = 0; v < J; ++v) {
      may |= Isa::less(Isa::subtract(distance, slack[v]), nearest[v][k]);
    }
    if (may == 0) break;  // nor may any that is farther under the base mask
    const std::uint32_t code =
        Mask == class_code ? candidate.code : static_cast<std::uint32_t>(c < Mask ? c : Mask);
    for (int v = 0; v < J; ++v) {
      const F difference =
          Isa::subtract(lanes.own[v], Isa::load(lanes.values + j * flip_lanes + v * Isa::width));
      F next = Isa::multiply_add(difference, Isa::multiply(difference, lanes.signs[v]), distance);
      next = coded<Mask>(larger(floor, next), code);
      for (int s = 0; s < K; ++s) {
        const F nearer = Isa::minimum(nearest[v][s], next);
        next = larger(nearest[v][s], next);
        nearest[v][s] = nearer;
      }
    }
  }
}

template <int K>
BITSIEVE_INLINE void votes_of(const float* values, const float* sign, const float* margin,
                              const float* spread, const FlipVotes& votes, std::int32_t* counts,
                              std::uint16_t* unsure) {
  constexpr int J = FlipLanes::J, k = K - 1;
  FlipLanes lanes(values, sign, spread);
  const F zero = Isa::zero(), one = Isa::broadcast(1.0f);
  const std::size_t n_classes = votes.n_classes;
  for (std::size_t c = 0; c < votes.n_counters * flip_lanes; ++c) counts[c] = 0;
  for (std::size_t t = 0; t < votes.n_tests; ++t) {
    const FlipTest& test = votes.tests[t];
    const std::size_t i = static_cast<std::size_t>(test.sample);
    const std::size_t counter = static_cast<std::size_t>(test.counter);
    F nearest[J][K];  // the neighbors and the next one
    nearest_of<K, class_code>(lanes, votes, test, nearest);
    unsigned open = 0;
    for (int v = 0; v < J; ++v) {
      F bound = lanes.bound(v, margin[i], nearest[v][k - 1]);
      bound = Isa::multiply_add(Isa::broadcast(0x1p-17f), nearest[v][k], bound);
      unsigned left = Isa::less(bound, Isa::subtract(nearest[v][k], nearest[v][k - 1]));
      open |= (~left & Isa::all) << (v * Isa::width);
      F code[k];
      for (int s = 0; s < k; ++s) code[s] = code_of<class_code>(nearest[v][s]);
      unsigned won[flip_classes];  // lanes in which a class has more votes than those before it
      F most = zero;
      for (std::size_t c = 0; c < n_classes; ++c) {
        const F wanted = Isa::broadcast(static_cast<float>(c));
        F total = zero;
        for (int s = 0; s < k; ++s) {
          const F apart = Isa::magnitude(Isa::subtract(code[s], wanted));
          total = Isa::add(total, larger(zero, Isa::subtract(one, apart)));
        }
        won[c] = Isa::less(most, total);
        most = larger(most, total);
      }
      for (std::size_t c = n_classes; c-- > 0 && left != 0;) {
        const unsigned here = left & won[c];
        left ^= here;
        if (!votes.hits_only) {
          Isa::count(counts + (counter * n_classes + c) * flip_lanes + v * Isa::width, here);
        } else if (c == counter % n_classes) {
          Isa::count(counts + counter * flip_lanes + v * Isa::width, here);
        }
      }
    }
    unsure[t] = static_cast<std::uint16_t>(open);
  }
}

void flips_votes(const float* values, const float* sign, const float* margin, const float* spread,
                 const FlipVotes& votes, std::int32_t* counts, std::uint16_t* unsure) {
  switch (votes.n_neighbors) {
    case 2: return votes_of<3>(values, sign, margin, spread, votes, counts, unsure);
    case 3: return votes_of<4>(values, sign, margin, spread, votes, counts, unsure);
    case 4: return votes_of<5>(values, sign, margin, spread, votes, counts, unsure);
    default: return votes_of<6>(values, sign, margin, spread, votes, counts, unsure);
  }
}

// ---- neighbors of one-flip masks, one by one ------------------------------------------------

template <int K>
BITSIEVE_INLINE void places_of(const float* values, const float* sign, const float* margin,
                               const float* spread, const FlipVotes& votes, float* places,
                               std::uint16_t* unsure, std::uint16_t* unordered) {
  constexpr int J = FlipLanes::J, k = K - 1;
  FlipLanes lanes(values, sign, spread);
  const F last = Isa::broadcast(static_cast<float>(place_code));
  for (std::size_t t = 0; t < votes.n_tests; ++t) {
    F nearest[J][K];  // the neighbors and the next one
    nearest_of<K, place_code>(lanes, votes, votes.tests[t], nearest);
    const float here = margin[static_cast<std::size_t>(votes.tests[t].sample)];
    unsigned open = 0, loose = 0;
    for (int v = 0; v < J; ++v) {
      F bound = lanes.bound(v, here, nearest[v][k - 1]);
      bound = Isa::multiply_add(Isa::broadcast(0x1p-13f), nearest[v][k], bound);
      unsigned sure = Isa::less(bound, Isa::subtract(nearest[v][k], nearest[v][k - 1]));
      unsigned apart = Isa::all;
      for (int s = 0; s < k; ++s) {
        const F place = code_of<place_code>(nearest[v][s]);
        sure &= Isa::less(place, last);
        if (s > 0) apart &= Isa::less(bound, Isa::subtract(nearest[v][s], nearest[v][s - 1]));
        Isa::store(places + (t * k + static_cast<std::size_t>(s)) * flip_lanes + v * Isa::width,
                   place);
      }
      open |= (~sure & Isa::all) << (v * Isa::width);
      loose |= (~apart & Isa::all) << (v * Isa::width);
    }
    unsure[t] = static_cast<std::uint16_t>(open);
    unordered[t] = static_cast<std::uint16_t>(loose);
  }
}

void flips_places(const float* values, const float* sign, const float* margin, const float* spread,
                  const FlipVotes& votes, float* places, std::uint16_t* unsure,
                  std::uint16_t* unordered) {
  switch (votes.n_neighbors) {
    case 1: return places_of<2>(values, sign, margin, spread, votes, places, unsure, unordered);
    case 2: return places_of<3>(values, sign, margin, spread, votes, places, unsure, unordered);
    case 3: return places_of<4>(values, sign, margin, spread, votes, places, unsure, unordered);
    case 4: return places_of<5>(values, sign, margin, spread, votes, places, unsure, unordered);
    default: return places_of<6>(values, sign, margin, spread, votes, places, unsure, unordered);
  }
}

// ---- exact distances ------------------------------------------------------------------------

template <bool scaled>
BITSIEVE_INLINE double sum_squares(const double* a, const double* b, const double* factors,
                                   std::size_t m) {
  constexpr int V = 8 / Isa::width_double;
  typename Isa::D total[V];
  for (int v = 0; v < V; ++v) total[v] = Isa::broadcast(0.0);
  std::size_t k = 0;
  for (; k + 8 <= m; k += 8) {
    for (int v = 0; v < V; ++v) {
      const std::size_t at = k + static_cast<std::size_t>(v * Isa::width_double);
      auto d = Isa::subtract(Isa::load_any(a + at), Isa::load_any(b + at));
      if constexpr (scaled) d = Isa::multiply(d, Isa::load_any(factors + at));
      total[v] = Isa::add(total[v], Isa::multiply(d, d));
    }
  }
  alignas(64) double partial[8];
  for (int v = 0; v < V; ++v) Isa::store(partial + v * Isa::width_double, total[v]);
  for (std::size_t lane = 0; k < m; ++k, ++lane) {
    double d = a[k] - b[k];
    if constexpr (scaled) d = d * factors[k];
    partial[lane] += d * d;
  }
  return ((partial[0] + partial[4]) + (partial[2] + partial[6])) +
         ((partial[1] + partial[5]) + (partial[3] + partial[7]));
}

double squared_distance(const double* a, const double* b, const double* factors, std::size_t m) {
  return factors == nullptr ? sum_squares<false>(a, b, factors, m)
                            : sum_squares<true>(a, b, factors, m);
}

// ---- flips side by side ---------------------------------------------------------------------

void side_by_side(const float* const* rows, std::size_t ld, float* out) {
  for (std::size_t j = 0; j < ld; j += flip_lanes) Isa::transpose(rows, j, out + j * flip_lanes);
}

}  // namespace neighbor

const NeighborKernels neighbor_kernels = {neighbor::scale_rows, neighbor::rectangle,
                                          neighbor::flips_votes, neighbor::flips_places,
                                          neighbor::squared_distance, neighbor::single_features,
                                          neighbor::side_by_side};
