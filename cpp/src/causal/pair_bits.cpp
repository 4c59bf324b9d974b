#include "pair_bits.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "pair_numbers.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t read_block = 64;  // features
constexpr std::size_t word_bits = 64;

}  // namespace

PairBits::PairBits(const double* x, std::size_t p, PairTarget of, double var_smoothing,
                   int n_threads)
    : PairErrors(p, std::move(of), var_smoothing) {
  const PairTarget& at = target();
  begin_.push_back(0);
  place_.resize(at.n_samples);
  for (std::size_t k = 0; k < at.n_segments(); ++k) {
    const std::size_t size = at.begin[k + 1] - at.begin[k];
    for (std::size_t i = 0; i < size; ++i) {
      place_[at.begin[k] + i] = static_cast<std::uint32_t>(begin_[k] * word_bits + i);
    }
    sizes_.push_back(static_cast<double>(size));
    begin_.push_back(begin_[k] + static_cast<std::uint32_t>((size + word_bits - 1) / word_bits));
  }
  words_ = begin_.back();

  // Which samples train, as bits: each at most once.
  std::vector<std::uint64_t> train(at.n_folds * words_, 0);
  std::vector<double> n_train;
  std::vector<std::uint32_t> place_of(at.n_samples);
  for (std::size_t k = 0; k < at.n_samples; ++k) {
    place_of[static_cast<std::size_t>(at.samples[k])] = place_[k];
  }
  for (std::size_t k = 0; k < at.train.size(); ++k) {
    n_train.push_back(static_cast<double>(at.train[k].size()));
    for (const std::int32_t i : at.train[k]) {
      const std::size_t bit = place_of[static_cast<std::size_t>(i)];
      std::uint64_t& word = train[k / at.n_classes * words_ + bit / word_bits];
      const std::uint64_t one = std::uint64_t{1} << bit % word_bits;
      is_fit_ = is_fit_ && (word & one) == 0;
      word |= one;
    }
  }
  if (!is_fit_) return;

  planes_ = AlignedBuffer<std::uint64_t>(p * words_);
  ones_.resize(p * at.n_segments());
  values_.resize(2 * p);
  const std::size_t n_blocks = (p + read_block - 1) / read_block;
  std::atomic<bool> fine{true};
  parallel_for(n_blocks, n_threads, [&](std::size_t block) {
    const std::size_t first = block * read_block, last = std::min(first + read_block, p);
    if (fine.load(std::memory_order_relaxed) && !read(x, first, last)) fine.store(false);
  });
  is_fit_ = fine.load();
  if (!is_fit_) return;
  double most = 0;
  for (const double value : values_) most = std::max(most, std::abs(value));
  int exponent = 0;
  (void)std::frexp(most, &exponent);
  const double half = std::ldexp(1.0, -exponent / 2);
  const double rest = std::ldexp(1.0, -exponent - (-exponent / 2));
  parallel_for(n_blocks, n_threads, [&](std::size_t block) {
    const std::size_t first = block * read_block, last = std::min(first + read_block, p);
    for (std::size_t f = first; f < last; ++f) measure(f, train, n_train, half, rest);
  });
}

bool PairBits::read(const double* x, std::size_t first, std::size_t last) {
  const PairTarget& at = target();
  const std::size_t p = n_features();
  std::fill(planes_.data() + first * words_, planes_.data() + last * words_, std::uint64_t{0});
  const double* top = x + static_cast<std::size_t>(at.samples[0]) * p;
  for (std::size_t f = first; f < last; ++f) values_[2 * f] = values_[2 * f + 1] = top[f];
  for (std::size_t k = 0; k < at.n_samples; ++k) {
    const double* row = x + static_cast<std::size_t>(at.samples[k]) * p;
    const std::size_t word = place_[k] / word_bits, bit = place_[k] % word_bits;
    for (std::size_t f = first; f < last; ++f) {
      if (row[f] == values_[2 * f]) continue;
      if (values_[2 * f + 1] == values_[2 * f]) values_[2 * f + 1] = row[f];
      if (row[f] != values_[2 * f + 1]) return false;
      planes_.data()[f * words_ + word] |= std::uint64_t{1} << bit;
    }
  }
  return true;
}

void PairBits::measure(std::size_t f, const std::vector<std::uint64_t>& train,
                       const std::vector<double>& n_train, double half, double rest) {
  const PairTarget& at = target();
  const std::uint64_t* plane = planes_.data() + f * words_;
  for (std::size_t k = 0; k < at.n_segments(); ++k) {
    int count = 0;
    for (std::size_t w = begin_[k]; w < begin_[k + 1]; ++w) count += std::popcount(plane[w]);
    ones_[f * at.n_segments() + k] = count;
  }
  const double low = values_[2 * f] = values_[2 * f] * half * rest;
  const double high = values_[2 * f + 1] = values_[2 * f + 1] * half * rest;
  const double apart = high - low;
  for (std::size_t s = 0; s < at.n_folds; ++s) {
    Part* own = parts(f, s);
    double all_ones = 0, all = 0;
    for (std::size_t c = 0; c < at.n_classes; ++c) {
      int found = 0;
      for (std::size_t w = begin_[c * at.n_folds]; w < begin_[(c + 1) * at.n_folds]; ++w) {
        found += std::popcount(plane[w] & train[s * words_ + w]);
      }
      const double ones = found, size = n_train[s * at.n_classes + c];
      own[c] = {};
      if (size == 0) continue;
      own[c].mean = ones == size ? high : low + apart * (ones / size);
      own[c].variance = apart * apart * (ones / size * ((size - ones) / size));
      all_ones += ones;
      all += size;
    }
    finish_part(f, s, apart * apart * (all_ones / all * ((all - all_ones) / all)));
  }
  finish_feature(f, std::min(low, high), std::max(low, high));
}

void PairBits::margins(std::size_t f, std::size_t partner, std::vector<Part>& room, double* out,
                       std::size_t stride) const {
  const PairTarget& at = target();
  for (std::size_t s = 0; s < at.n_folds; ++s) {
    const Part* own = parts_with(f, s, partner, room);
    for (std::size_t y = 0; y < at.n_classes; ++y) {
      for (std::size_t r = 0; r < at.n_rows(); ++r) {
        const PairLine found = line(own, is_flat(f, s), s, y, r);
        double* place = out + ((y * at.n_folds + s) * at.n_rows() + r) * 2 * stride;
        for (std::size_t v = 0; v < 2; ++v) {
          const double x = f == no_feature ? 0 : values_[2 * f + v];
          const double other = x - found.mean_other, mine = x - found.mean_own;
          place[v * stride] = (other * other * found.factor_other -
                               mine * mine * found.factor_own) + found.constant;
        }
      }
    }
  }
}

void PairBits::count_tile(const std::int64_t* a, std::size_t n_a, std::size_t b, std::size_t n_b,
                          Scratch& scratch) const {
  const PairTarget& at = target();
  const PairKernels& kernel = *kernels().pairs;
  const std::size_t n_segments = at.n_segments(), cells = n_segments * at.n_rows() * 2;
  scratch.numbers.resize(std::max(scratch.numbers.size(), tile_side * cells));
  scratch.others.resize(std::max(scratch.others.size(), cell_lanes * cells));
  scratch.counts.resize(n_segments * cell_lanes);
  scratch.ones.resize(n_segments * cell_lanes);
  scratch.cells.resize((at.n_classes + 1) * cell_lanes);
  double *wrong = scratch.cells.data(), *nearest = wrong + at.n_classes * cell_lanes;
  for (std::size_t i = 0; i < n_a; ++i) {
    margins(static_cast<std::size_t>(a[i]), no_feature, scratch.parts_a,
            scratch.numbers.data() + i * cells, 1);
  }
  for (std::size_t j = 0; j < n_b; j += cell_lanes) {
    const std::size_t lanes = std::min(cell_lanes, n_b - j);
    std::fill(scratch.others.begin(), scratch.others.end(), 1.0);
    std::fill(scratch.ones.begin(), scratch.ones.end(), 0.0);
    for (std::size_t l = 0; l < lanes; ++l) {
      margins(b + j + l, no_feature, scratch.parts_b, scratch.others.data() + l, cell_lanes);
      for (std::size_t k = 0; k < n_segments; ++k) {
        scratch.ones[k * cell_lanes + l] = ones_[(b + j + l) * n_segments + k];
      }
    }
    for (std::size_t i = 0; i < n_a; ++i) {
      const auto f = static_cast<std::size_t>(a[i]);
      kernel.count_ones(planes_.data() + f * words_, planes_.data() + (b + j) * words_, lanes,
                        words_, begin_.data(), n_segments, scratch.counts.data());
      const PairCells both = {
          scratch.numbers.data() + i * cells, ones_.data() + f * n_segments, scratch.others.data(),
          scratch.ones.data(), scratch.counts.data(), sizes_.data(), at.n_classes, at.n_folds,
          at.n_rows()};
      kernel.count_cells(both, wrong, nearest);
      for (std::size_t l = 0; l < lanes; ++l) {
        const std::size_t place = i * tile_side + j + l;
        scratch.tile.nearest[place] = nearest[l];
        for (std::size_t y = 0; y < at.n_classes; ++y) {
          scratch.tile.wrong[y * tile_side * tile_side + place] =
              static_cast<std::int64_t>(wrong[y * cell_lanes + l]);
        }
      }
    }
  }
}

void PairBits::count_pair(std::size_t a, std::size_t b, std::int64_t* wrong,
                          Scratch& scratch) const {
  const PairTarget& at = target();
  const std::size_t n_segments = at.n_segments(), cells = n_segments * at.n_rows() * 2;
  scratch.numbers.resize(std::max(scratch.numbers.size(), cells));
  scratch.others.resize(std::max(scratch.others.size(), cells));
  scratch.counts.resize(n_segments * cell_lanes);
  margins(a, b, scratch.parts_a, scratch.numbers.data(), 1);
  margins(b, a, scratch.parts_b, scratch.others.data(), 1);
  const bool is_alone = b == no_feature;
  kernels().pairs->count_ones(planes_.data() + a * words_,
                              planes_.data() + (is_alone ? a : b) * words_, 1, words_,
                              begin_.data(), n_segments, scratch.counts.data());
  for (std::size_t y = 0; y < at.n_classes; ++y) {
    double total = 0;
    for (std::size_t k = y * at.n_folds; k < (y + 1) * at.n_folds; ++k) {
      const double of_a = ones_[a * n_segments + k], both = scratch.counts[k * cell_lanes];
      const double of_b = is_alone ? of_a : ones_[b * n_segments + k];
      const double count[2][2] = {{sizes_[k] - of_a - (of_b - both), of_b - both},
                                  {of_a - both, both}};
      const double* own = scratch.numbers.data() + k * at.n_rows() * 2;
      const double* others = scratch.others.data() + k * at.n_rows() * 2;
      for (std::size_t v = 0; v < 2; ++v) {
        for (std::size_t w = 0; w < 2; ++w) {
          bool is_right = true;
          for (std::size_t r = 0; r < at.n_rows(); ++r) {
            is_right = is_right && own[2 * r + v] + others[2 * r + w] > 0;
          }
          if (!is_right) total += count[v][w];
        }
      }
    }
    wrong[y] = static_cast<std::int64_t>(total);
  }
}

std::unique_ptr<PairErrors> make_pair_errors(const double* x, std::size_t p, PairTarget target,
                                             double var_smoothing, int n_threads) {
  auto bits = std::make_unique<PairBits>(x, p, target, var_smoothing, n_threads);
  if (bits->is_fit()) return bits;
  bits.reset();
  return std::make_unique<PairNumbers>(x, p, std::move(target), var_smoothing, n_threads);
}

}  // namespace bitsieve
