#include "pair_numbers.hpp"

#include <algorithm>
#include <cmath>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t pad_to = 8;
constexpr std::size_t feature_block = 16;
constexpr std::size_t tile_samples = 1024;  // whose margins, of two tiles of features, stay in L2
constexpr std::size_t pair_chains = 4;      // sums that run side by side
constexpr std::size_t few_samples = 8;      // of a segment, on average, that no vector is worth

std::size_t padded(std::size_t n) { return (n + pad_to - 1) / pad_to * pad_to; }

// term(x) added over places, in four sums.
template <typename Term>
double sum_over(const double* x, const std::vector<std::size_t>& places, Term&& term) {
  double chain[pair_chains] = {};
  std::size_t k = 0;
  for (; k + pair_chains <= places.size(); k += pair_chains) {
    for (std::size_t l = 0; l < pair_chains; ++l) chain[l] += term(x[places[k + l]]);
  }
  for (; k < places.size(); ++k) chain[k % pair_chains] += term(x[places[k]]);
  return (chain[0] + chain[2]) + (chain[1] + chain[3]);
}

}  // namespace

PairNumbers::PairNumbers(const double* x, std::size_t p, PairTarget of, double var_smoothing,
                         int n_threads)
    : PairErrors(p, std::move(of), var_smoothing) {
  const PairTarget& at = target();
  const std::size_t n = at.n_samples;
  std::vector<std::size_t> place(n);
  for (std::size_t y = 0; y < at.n_classes; ++y) {
    class_begin_.push_back(ld_);
    const std::size_t first = at.begin[y * at.n_folds];
    for (std::size_t s = 0; s < at.n_folds; ++s) {
      const std::size_t k = y * at.n_folds + s;
      segment_begin_.push_back(ld_ + at.begin[k] - first);
      segment_end_.push_back(ld_ + at.begin[k + 1] - first);
      for (std::size_t i = at.begin[k]; i < at.begin[k + 1]; ++i) {
        place[static_cast<std::size_t>(at.samples[i])] = ld_ + i - first;
      }
    }
    ld_ += padded(at.begin[(y + 1) * at.n_folds] - first);
  }
  class_begin_.push_back(ld_);
  for (const auto& list : at.train) {
    train_.emplace_back();
    for (const std::int32_t i : list) train_.back().push_back(place[static_cast<std::size_t>(i)]);
  }

  // A power of two makes the greatest value at most 1; no prediction depends on it.
  double most = 0;
  for (std::size_t k = 0; k < n * p; ++k) most = std::max(most, std::abs(x[k]));
  int exponent = 0;
  (void)std::frexp(most, &exponent);
  const double half = std::ldexp(1.0, -exponent / 2);  // 2^1074 is no number
  const double rest = std::ldexp(1.0, -exponent - (-exponent / 2));

  values_ = AlignedBuffer<double>(p * ld_);
  const std::size_t n_blocks = (p + feature_block - 1) / feature_block;
  parallel_for(n_blocks, n_threads, [&](std::size_t block) {
    const std::size_t first = block * feature_block, last = std::min(first + feature_block, p);
    std::fill(values_.data() + first * ld_, values_.data() + last * ld_, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t f = first; f < last; ++f) {
        values_.data()[f * ld_ + place[i]] = x[i * p + f] * half * rest;
      }
    }
    for (std::size_t f = first; f < last; ++f) measure(f);
  });
}

void PairNumbers::measure(std::size_t f) {
  const PairTarget& at = target();
  const double* x = values_.data() + f * ld_;
  for (std::size_t s = 0; s < at.n_folds; ++s) {
    Part* own = parts(f, s);
    double total = 0, count = 0, low = 2, high = -2;
    for (std::size_t c = 0; c < at.n_classes; ++c) {
      const auto& places = train_[s * at.n_classes + c];
      own[c] = {};
      if (places.empty()) continue;
      const auto size = static_cast<double>(places.size());
      double least = x[places[0]], most = least;
      for (const std::size_t k : places) {
        least = std::min(least, x[k]);
        most = std::max(most, x[k]);
      }
      own[c].mean = least;
      if (least != most) {
        const double about = sum_over(x, places, [](double v) { return v; }) / size;
        const double shift = sum_over(x, places, [&](double v) { return v - about; }) / size;
        const double square =
            sum_over(x, places, [&](double v) { return (v - about) * (v - about); }) / size;
        own[c].mean = about + shift;
        own[c].variance = std::max(square - shift * shift, 0.0);
      }
      low = std::min(low, least);
      high = std::max(high, most);
      total += size * own[c].mean;
      count += size;
    }
    double whole = 0;
    if (low != high) {
      const double mean = total / count;
      for (std::size_t c = 0; c < at.n_classes; ++c) {
        const auto size = static_cast<double>(train_[s * at.n_classes + c].size());
        const double apart = own[c].mean - mean;
        if (size > 0) whole += size / count * (own[c].variance + apart * apart);
      }
    }
    finish_part(f, s, whole);
  }
  double least = 2, most = -2;
  for (std::size_t k = 0; k < at.n_segments(); ++k) {
    for (std::size_t i = segment_begin_[k]; i < segment_end_[k]; ++i) {
      least = std::min(least, x[i]);
      most = std::max(most, x[i]);
    }
  }
  finish_feature(f, least, most);
}

void PairNumbers::margins(std::size_t f, std::size_t partner, std::size_t y, std::size_t begin,
                          std::size_t end, std::size_t row_stride, std::vector<Part>& room,
                          double* out) const {
  const PairTarget& at = target();
  const PairKernels& kernel = *kernels().pairs;
  const double* x = f == no_feature ? values_.data() : values_.data() + f * ld_;
  std::size_t last = begin;
  for (std::size_t s = 0; s < at.n_folds; ++s) {
    const std::size_t k = y * at.n_folds + s;
    const std::size_t from = std::max(begin, segment_begin_[k]);
    const std::size_t to = std::min(end, segment_end_[k]);
    if (from >= to) continue;
    last = to;
    const Part* own = parts_with(f, s, partner, room);
    for (std::size_t r = 0; r < at.n_rows(); ++r) {
      kernel.margins(x + from, to - from, line(own, is_flat(f, s), s, y, r),
                     out + r * row_stride + (from - begin));
    }
  }
  for (std::size_t r = 0; r < at.n_rows(); ++r) {
    std::fill(out + r * row_stride + (last - begin), out + r * row_stride + (end - begin), 1.0);
  }
}

void PairNumbers::count_tile(const std::int64_t* a, std::size_t n_a, std::size_t b,
                             std::size_t n_b, Scratch& scratch) const {
  const PairTarget& at = target();
  const std::size_t most = std::max(padded(tile_samples / at.n_rows()), std::size_t{64});
  const std::size_t step = std::min(most, ld_), stride = at.n_rows() * step;
  scratch.numbers.resize(tile_side * stride);
  scratch.others.resize(tile_side * stride);
  for (std::size_t y = 0; y < at.n_classes; ++y) {
    std::int64_t* wrong = scratch.tile.wrong.data() + y * tile_side * tile_side;
    for (std::size_t begin = class_begin_[y]; begin < class_begin_[y + 1]; begin += step) {
      const std::size_t end = std::min(begin + step, class_begin_[y + 1]);
      for (std::size_t i = 0; i < n_a; ++i) {
        margins(static_cast<std::size_t>(a[i]), no_feature, y, begin, end, step, scratch.parts_a,
                scratch.numbers.data() + i * stride);
      }
      for (std::size_t j = 0; j < n_b; ++j) {
        margins(b + j, no_feature, y, begin, end, step, scratch.parts_b,
                scratch.others.data() + j * stride);
      }
      kernels().pairs->count_wrong(scratch.numbers.data(), n_a, scratch.others.data(), n_b, stride,
                                   at.n_rows(), step, end - begin, scratch.tile.nearest.data(),
                                   wrong, tile_side);
    }
  }
}

// As the kernel does it, with the parts of a fold made once, and no other class looked at for a
// sample that one has beaten.
void PairNumbers::count_few(std::size_t a, std::size_t b, std::int64_t* wrong,
                            Scratch& scratch) const {
  const PairTarget& at = target();
  const double* x = values_.data() + a * ld_;
  const double* z = b == no_feature ? x : values_.data() + b * ld_;
  const auto margin = [](double value, const PairLine& line) {
    const double other = value - line.mean_other, own = value - line.mean_own;
    return (other * other * line.factor_other - own * own * line.factor_own) + line.constant;
  };
  std::fill(wrong, wrong + at.n_classes, 0);
  for (std::size_t s = 0; s < at.n_folds; ++s) {
    const Part* of_a = parts_with(a, s, b, scratch.parts_a);
    const Part* of_b = parts_with(b, s, a, scratch.parts_b);
    for (std::size_t y = 0; y < at.n_classes; ++y) {
      const std::size_t k = y * at.n_folds + s;
      std::size_t from = segment_begin_[k];
      const std::size_t to = segment_end_[k];
      scratch.right.clear();
      for (; from < to; ++from) scratch.right.push_back(from);
      for (std::size_t r = 0; r < at.n_rows() && !scratch.right.empty(); ++r) {
        const PairLine first = line(of_a, is_flat(a, s), s, y, r);
        const PairLine second = line(of_b, is_flat(b, s), s, y, r);
        const auto beaten = [&](std::size_t i) {
          return !(margin(x[i], first) + margin(z[i], second) > 0);
        };
        const auto end = std::remove_if(scratch.right.begin(), scratch.right.end(), beaten);
        wrong[y] += scratch.right.end() - end;
        scratch.right.erase(end, scratch.right.end());
      }
    }
  }
}

void PairNumbers::count_pair(std::size_t a, std::size_t b, std::int64_t* wrong,
                             Scratch& scratch) const {
  const PairTarget& at = target();
  if (at.n_samples <= few_samples * at.n_segments()) return count_few(a, b, wrong, scratch);
  const std::size_t step = std::min(tile_samples, ld_), stride = at.n_rows() * step;
  scratch.numbers.resize(std::max(scratch.numbers.size(), stride));
  scratch.others.resize(std::max(scratch.others.size(), stride));
  double nearest = 1e300;
  for (std::size_t y = 0; y < at.n_classes; ++y) {
    wrong[y] = 0;
    for (std::size_t begin = class_begin_[y]; begin < class_begin_[y + 1]; begin += step) {
      const std::size_t end = std::min(begin + step, class_begin_[y + 1]);
      margins(a, b, y, begin, end, step, scratch.parts_a, scratch.numbers.data());
      margins(b, a, y, begin, end, step, scratch.parts_b, scratch.others.data());
      kernels().pairs->count_wrong(scratch.numbers.data(), 1, scratch.others.data(), 1, stride,
                                   at.n_rows(), step, end - begin, &nearest, wrong + y, 1);
    }
  }
}

}  // namespace bitsieve
