// How one matrix is made; what it is made from is planned in solver_plan.cpp.
#include "bitsieve/fitness/solver_gram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "rectangles.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t solver_block = 64;  // features summed before they are added: fixes the bits

void copy_columns(const CenteredColumns& columns, const std::int32_t* features, std::size_t m,
                  AlignedVector<double>& rows) {
  rows.resize(solver_block * columns.ld());
  for (std::size_t f = 0; f < m; ++f) {
    columns.copy(static_cast<std::size_t>(features[f]), rows.data() + f * columns.ld());
  }
}

// units += sign * the products of features: n^2 / 2 multiply-adds and additions each.
void add_units(const CenteredColumns& columns, const std::vector<std::int32_t>& features, int sign,
               int n_threads, std::int64_t* units, AlignedVector<double>& rows) {
  const Kernels& kernel = kernels();
  const std::size_t ld = columns.ld();
  const double magic = 1.5 * 0x1p52 * columns.unit();
  for (std::size_t begin = 0; begin < features.size(); begin += solver_block) {
    check_interrupt();
    const std::size_t m = std::min(solver_block, features.size() - begin);
    copy_columns(columns, features.data() + begin, m, rows);
    for_each_rectangle(ld, m, n_threads, [&](std::size_t i, std::size_t i_end, std::size_t j,
                                             std::size_t j_end) {
      kernel.gram_fixed(rows.data(), ld, m, i, i_end, j, j_end, units + i * ld + j, ld, magic, sign);
    });
  }
}

}  // namespace

// ---- states ---------------------------------------------------------------------------------

SolverState::SolverState(const CenteredColumns& columns)
    : columns_(columns),
      units_(columns.ld() * columns.ld(), 0),
      mask_(words_for(columns.n_features()), 0),
      second_(mask_) {}

void SolverState::clear() {
  std::fill(mask_.begin(), mask_.end(), Word{0});
  std::fill(second_.begin(), second_.end(), Word{0});
  std::fill(units_.begin(), units_.end(), std::int64_t{0});
}

void SolverState::shift(std::vector<Word>& from, const Word* to, int n_threads) {
  std::vector<std::int32_t> added, removed;
  list_difference(from.data(), to, from.size(), added, removed);
  try {
    add_units(columns_, added, +1, n_threads, units_.data(), rows_);
    add_units(columns_, removed, -1, n_threads, units_.data(), rows_);
  } catch (...) {
    clear();  // interrupted half-way: back to a state that is known
    throw;
  }
  std::copy(to, to + from.size(), from.begin());
}

void SolverState::move_to(const Word* mask, int n_threads) {
  const std::size_t n_words = mask_.size();
  if (count_bits(mask, n_words) < hamming(mask_.data(), mask, n_words)) clear();
  shift(mask_, mask, n_threads);
}

void SolverState::move_to(const Word* first, const Word* second, int n_threads) {
  shift(mask_, first, n_threads);
  shift(second_, second, n_threads);
}

std::size_t SolverState::distance(const Word* first, const Word* second) const {
  return hamming(mask_.data(), first, mask_.size()) +
         hamming(second_.data(), second, second_.size());
}

// ---- matrices -------------------------------------------------------------------------------

void SolverGram::make(const Word* masks, std::size_t index, int n_threads,
                      SolverMatrix& out) const {
  const Word* mask = masks + index * n_words_;
  switch (steps_.at(index).origin) {
    case Origin::doubles:
      out.fixed = !is_coarse(mask, out);
      if (out.fixed) sum_units(mask, nullptr, n_threads, out);
      break;
    case Origin::pair_first:
      out.units = first_of_pair_.units;
      break;
    case Origin::pair_second: {
      const AlignedVector<std::int64_t>&sum = pair_->units(), &first = first_of_pair_.units;
      out.units.resize(sum.size());
      for (std::size_t k = 0; k < sum.size(); ++k) out.units[k] = sum[k] - first[k];
      break;
    }
    case Origin::tables:
      out.units.resize(ld() * ld());
      tables_.copy(index, ld(), out.units.data());
      break;
    case Origin::state:
      sum_units(mask, state_.get(), n_threads, out);
      break;
    default:
      sum_units(mask, nullptr, n_threads, out);
  }
  if (steps_.at(index).origin != Origin::doubles) {
    out.fixed = is_fine(mask, out.units.data(), ld() + 1);
  }
  out.gram.resize(ld() * ld());
  if (out.fixed) {
    convert(out);
  } else {
    seen_coarse_ = true;
    sum_doubles(mask, n_threads, out);
  }
  for (std::size_t i0 = 0; i0 < ld(); i0 += 16) {
    for (std::size_t j0 = i0; j0 < ld(); j0 += 16) {
      for (std::size_t i = i0; i < i0 + 16; ++i) {
        for (std::size_t j = std::max(j0, i + 1); j < j0 + 16; ++j) {
          out.gram[j * ld() + i] = out.gram[i * ld() + j];
        }
      }
    }
  }
}

void SolverGram::sum_units(const Word* mask, const SolverState* from, int n_threads,
                           SolverMatrix& out) const {
  if (from == nullptr) {
    out.units.assign(ld() * ld(), 0);
    list_bits(mask, n_words_, out.added);
    out.removed.clear();
  } else {
    out.units = from->units();
    list_difference(from->mask().data(), mask, n_words_, out.added, out.removed);
  }
  add_units(*columns_, out.added, +1, n_threads, out.units.data(), out.rows);
  add_units(*columns_, out.removed, -1, n_threads, out.units.data(), out.rows);
}

void SolverGram::convert(SolverMatrix& out) const {
  const std::size_t n = n_samples(), ld = this->ld();
  const double unit = columns_->unit();
  for (std::size_t i = 0; i < ld; ++i) {
    double* row = out.gram.data() + i * ld;
    const std::int64_t* units = out.units.data() + i * ld;
    const std::size_t end = i < n ? n : i;
    for (std::size_t j = i; j < end; ++j) row[j] = static_cast<double>(units[j]) * unit;
    std::fill(row + end, row + ld, 0.0);
  }
}

bool SolverGram::is_fine(const Word* mask, const std::int64_t* squares, std::size_t stride) const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int32_t> features;
  for (std::size_t i = 0; i < n_samples(); ++i) {
    const std::int64_t square = squares[i * stride];
    if (square == 0) {  // zero, or too small for the unit?
      if (features.empty()) list_bits(mask, n_words_, features);
      const auto is_zero = [&](std::int32_t f) {
        return columns_->is_zero(static_cast<std::size_t>(f), i);
      };
      if (std::all_of(features.begin(), features.end(), is_zero)) continue;
    }
    least = std::min(least, square);
  }
  const double size = static_cast<double>(count_bits(mask, n_words_));
  const double square = static_cast<double>(least);
  return size <= solver_precision * square && std::sqrt(size) <= solver_likely * square;
}

bool SolverGram::is_coarse(const Word* mask, SolverMatrix& scratch) const {
  const double magic = 1.5 * 0x1p52 * columns_->unit();
  scratch.units.assign(ld() * ld(), 0);
  list_bits(mask, n_words_, scratch.added);
  for (std::size_t begin = 0; begin < scratch.added.size(); begin += solver_block) {
    const std::size_t m = std::min(solver_block, scratch.added.size() - begin);
    copy_columns(*columns_, scratch.added.data() + begin, m, scratch.rows);
    kernels().solver->squares(scratch.rows.data(), ld(), m, magic, scratch.units.data());
  }
  return !is_fine(mask, scratch.units.data(), 1);
}

void SolverGram::sum_doubles(const Word* mask, int n_threads, SolverMatrix& out) const {
  const SolverKernels& kernel = *kernels().solver;
  const std::size_t ld = this->ld();
  list_bits(mask, n_words_, out.added);
  for (std::size_t begin = 0; begin < out.added.size(); begin += solver_block) {
    check_interrupt();
    const std::size_t m = std::min(solver_block, out.added.size() - begin);
    copy_columns(*columns_, out.added.data() + begin, m, out.rows);
    for_each_rectangle(ld, m, n_threads, [&](std::size_t i, std::size_t i_end, std::size_t j,
                                             std::size_t j_end) {
      kernel.gram(out.rows.data(), ld, m, i, i_end, j, j_end, out.gram.data() + i * ld + j, ld,
                  begin == 0);
    });
  }
  if (out.added.empty()) std::fill(out.gram.begin(), out.gram.end(), 0.0);
}

void SolverGram::shift_of(const Word* mask, SolverShift& out) const {
  const std::size_t n = n_samples(), ld = this->ld();
  out.shift.assign(n, 0.0);
  out.sums.assign(n, 0.0);
  out.constant = 0;
  std::vector<double> column(ld);
  double total = 0;
  for (std::size_t w = 0; w < n_words_; ++w) {
    for_each_bit(mask[w], w, [&](std::size_t f) {
      const double mean = columns_->mean(f);
      columns_->copy(f, column.data());
      for (std::size_t i = 0; i < n; ++i) {
        out.shift[i] += column[i] * mean;
        out.sums[i] += column[i];
      }
      out.constant += mean * mean;
      total += mean;
    });
  }
  for (double& sum : out.sums) sum += total;
}

}  // namespace bitsieve
