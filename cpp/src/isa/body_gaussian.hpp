// The bodies of additive_kernels.hpp for Gaussians. See body.hpp for the rule about headers.

namespace gaussian {

using D = typename Isa::D;
constexpr std::size_t lanes = additive_lanes;
constexpr std::size_t double_width = Isa::width_double;
constexpr int vectors = static_cast<int>(lanes / double_width);

// ---- moments ----------------------------------------------------------------------------------

// Rows[sample][2][lanes] of the samples, where wanted.
void moment_sums(const double* values, const std::int32_t* samples, std::size_t n,
                 const double* weights, const double* centre, double* sum, double* squares,
                 double* rows) {
  D from[vectors], first[vectors], second[vectors];
  for (int v = 0; v < vectors; ++v) {
    from[v] = Isa::load(centre + v * double_width);
    first[v] = second[v] = Isa::broadcast(0.0);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = static_cast<std::size_t>(samples[k]);
    const D weight = Isa::broadcast(weights != nullptr ? weights[i] : 1.0);
    for (int v = 0; v < vectors; ++v) {
      const std::size_t lane = static_cast<std::size_t>(v) * double_width;
      const D apart = Isa::subtract(Isa::load(values + i * lanes + lane), from[v]);
      const D weighted = Isa::multiply(weight, apart), square = Isa::multiply(weighted, apart);
      first[v] = Isa::add(first[v], weighted);
      second[v] = Isa::add(second[v], square);
      if (rows == nullptr) continue;
      Isa::store(rows + 2 * i * lanes + lane, weighted);
      Isa::store(rows + (2 * i + 1) * lanes + lane, square);
    }
  }
  for (int v = 0; v < vectors; ++v) {
    Isa::store(sum + v * double_width, first[v]);
    Isa::store(squares + v * double_width, second[v]);
  }
}

unsigned part_moments(const double* rows, const std::int32_t* samples, std::size_t n,
                      const double* centre, const double* sum, const double* squares,
                      double inverse, double digits, double* mean, double* variance) {
  D first[vectors], second[vectors];
  for (int v = 0; v < vectors; ++v) first[v] = second[v] = Isa::broadcast(0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const double* row = rows + 2 * static_cast<std::size_t>(samples[k]) * lanes;
    for (int v = 0; v < vectors; ++v) {
      first[v] = Isa::add(first[v], Isa::load(row + v * double_width));
      second[v] = Isa::add(second[v], Isa::load(row + lanes + v * double_width));
    }
  }
  const D scale = Isa::broadcast(inverse), least = Isa::broadcast(digits * inverse);
  unsigned enough = 0;
  for (int v = 0; v < vectors; ++v) {
    const std::size_t lane = static_cast<std::size_t>(v) * double_width;
    D total = first[v], square = second[v], reach = second[v];
    if (sum != nullptr) {
      reach = Isa::load(squares + lane);
      total = Isa::subtract(Isa::load(sum + lane), total);
      square = Isa::subtract(reach, square);
    }
    const D shift = Isa::multiply(total, scale);
    const D found = Isa::subtract(Isa::multiply(square, scale), Isa::multiply(shift, shift));
    Isa::store(mean + lane, Isa::add(Isa::load(centre + lane), shift));
    Isa::store(variance + lane, found);
    enough |= Isa::greater(found, Isa::multiply(least, reach)) << lane;
  }
  return ~enough & ((1u << lanes) - 1);
}

// ---- weights ----------------------------------------------------------------------------------

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

void weights(const double* variance, double smoothing, double* halves, double* logs) {
  double smoothed[lanes], found[lanes];
  for (std::size_t l = 0; l < lanes; ++l) {
    smoothed[l] = variance[l] + smoothing;
    halves[l] = 0.5 / smoothed[l];
  }
  logarithms(smoothed, found);
  for (std::size_t l = 0; l < lanes; ++l) logs[l] = 0.5 * found[l];
}

// Of the classes' variances, in place, their factors; lanes past n_lanes are taken to be nothing.
void weigh_parts(double* mean, double* variance, const double* class_weights,
                 std::size_t n_classes, double smoothing, const double* inverse,
                 std::size_t n_lanes, double* scratch, double* logs) {
  D least[vectors];
  for (int v = 0; v < vectors; ++v) least[v] = Isa::broadcast(1e300);
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (class_weights[c] == 0) continue;
    double* own = variance + c * lanes;
    weights(own, smoothing, own, scratch + c * lanes);
    for (int v = 0; v < vectors; ++v) {
      const std::size_t lane = static_cast<std::size_t>(v) * double_width;
      least[v] = Isa::minimum(Isa::load(scratch + c * lanes + lane), least[v]);
      if (inverse == nullptr) continue;
      const D scale = Isa::load(inverse + lane);
      Isa::store(own + lane, Isa::multiply(Isa::multiply(Isa::load(own + lane), scale), scale));
    }
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (class_weights[c] == 0) continue;
    for (std::size_t l = n_lanes; l < lanes; ++l) {
      mean[c * lanes + l] = variance[c * lanes + l] = 0;
    }
    alignas(64) double log[lanes];
    for (int v = 0; v < vectors; ++v) {
      const std::size_t lane = static_cast<std::size_t>(v) * double_width;
      Isa::store(log + lane, Isa::subtract(Isa::load(scratch + c * lanes + lane), least[v]));
    }
    for (std::size_t l = 0; l < n_lanes; ++l) logs[c * lanes + l] += log[l];
  }
}

// ---- terms ------------------------------------------------------------------------------------

void terms(const double* values, const std::int32_t* samples, std::size_t n,
                    const double* mean, const double* halves, const double* start, double* out,
                    double* slopes, double* steepest) {
  D centre[vectors], factor[vectors], first[vectors], most[vectors];
  for (int v = 0; v < vectors; ++v) {
    centre[v] = Isa::load(mean + v * double_width);
    factor[v] = Isa::load(halves + v * double_width);
    first[v] = Isa::load(start + v * double_width);
    most[v] = Isa::broadcast(0.0);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double* x = values + static_cast<std::size_t>(samples[k]) * lanes;
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = k * lanes + static_cast<std::size_t>(v) * double_width;
      const D apart = Isa::subtract(Isa::load(x + v * double_width), centre[v]);
      const D term = Isa::multiply(Isa::multiply(apart, apart), factor[v]);
      Isa::store(out + at, Isa::add(term, first[v]));
      if (slopes != nullptr) {
        const D slope = Isa::multiply(term, Isa::add(factor[v], factor[v]));
        most[v] = Isa::maximum(most[v], slope);
        Isa::store(slopes + at, slope);
      }
    }
  }
  if (slopes == nullptr) return;
  for (int v = 0; v < vectors; ++v) Isa::store(steepest + v * double_width, most[v]);
}

// Samples T at a time, so that their chains of additions overlap.
template <std::size_t T>
BITSIEVE_INLINE void add_samples(const double* values, std::size_t n_blocks, std::size_t stride,
                                 const double* means, const double* factors,
                                 std::size_t part_stride, const std::int32_t* samples,
                                 double* sums) {
  D total[T][vectors];
  const double* x[T];
  for (std::size_t t = 0; t < T; ++t) {
    x[t] = values + static_cast<std::size_t>(samples[t]) * lanes;
    for (int v = 0; v < vectors; ++v) total[t][v] = Isa::load(sums + t * lanes + v * double_width);
  }
  for (std::size_t b = 0; b < n_blocks; ++b) {
    for (int v = 0; v < vectors; ++v) {
      const std::size_t lane = static_cast<std::size_t>(v) * double_width;
      const D mean = Isa::load(means + b * part_stride + lane);
      const D factor = Isa::load(factors + b * part_stride + lane);
      for (std::size_t t = 0; t < T; ++t) {
        const D apart = Isa::subtract(Isa::load(x[t] + b * stride + lane), mean);
        total[t][v] = Isa::add(total[t][v], Isa::multiply(Isa::multiply(apart, apart), factor));
      }
    }
  }
  for (std::size_t t = 0; t < T; ++t) {
    for (int v = 0; v < vectors; ++v) Isa::store(sums + t * lanes + v * double_width, total[t][v]);
  }
}

void add_parts(const double* values, std::size_t n_blocks, std::size_t stride, const double* means,
               const double* factors, std::size_t part_stride, const std::int32_t* samples,
               std::size_t n, double* sums) {
  constexpr std::size_t T = double_width / 2;
  std::size_t k = 0;
  for (; k + T <= n; k += T) {
    add_samples<T>(values, n_blocks, stride, means, factors, part_stride, samples + k,
                   sums + k * lanes);
  }
  for (; k < n; ++k) {
    add_samples<1>(values, n_blocks, stride, means, factors, part_stride, samples + k,
                   sums + k * lanes);
  }
}

}  // namespace gaussian
