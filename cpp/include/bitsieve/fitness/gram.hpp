// Gram matrices of masks: built in float32 to be thrown away, kept in int64 fixed point.
//
// Only the upper triangle (j >= i, in tiles of 16) is computed. The kept state is the same bits
// whatever the path that led to its mask: each product is rounded once, to a unit chosen from the
// table alone, and what follows is integer addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/core/table.hpp"

namespace bitsieve {

// Features a float tile sums before it is added to a partial matrix: the error bound grows with it,
// and 64 rows of 112 floats fit in L1.
inline constexpr std::size_t gram_block = 64;

// Blocks a partial matrix holds before it is added to the whole: near sqrt(m / 64), where the sum
// of both levels' error bounds is least.
std::size_t gram_blocks(std::size_t m);

// |error of an element| <= gram_error(m) * |x_i| * |x_j| (norms over the m features).
double gram_error(std::size_t m);

// Part of a Gram matrix, in 16s; with `upper`, of its upper triangle.
struct GramRegion {
  std::size_t i_begin, i_end, j_begin, j_end;
  bool upper;
};

// Products over the added features less those over the removed ones, in a region. `gram` and
// `partial` (scratch of the same size) begin at row i_begin, column 0; neither need be cleared.
// squares[i], where wanted, is the sum of squares over both lists.
void float_gram(const TableView& table, const std::vector<std::int32_t>& added,
                const std::vector<std::int32_t>& removed, const GramRegion& region, float* gram,
                float* partial, float* squares = nullptr);

// The whole upper triangle, with squares, by up to n_threads threads.
void float_gram(const TableView& table, const std::vector<std::int32_t>& added,
                const std::vector<std::int32_t>& removed, int n_threads, float* gram,
                float* partial, float* squares);

// A sum of products over features in units of a power of two, upper triangle.
class FixedGram {
 public:
  explicit FixedGram(const TableView& table);

  // Add or subtract the products of features: n^2 / 2 multiply-adds each.
  void add(const std::vector<std::int32_t>& features, int sign, int n_threads);
  void clear();

  std::int64_t at(std::size_t i, std::size_t j) const {
    return gram_[i < j ? i * table_.ld + j : j * table_.ld + i];
  }
  const std::int64_t* row(std::size_t i) const { return gram_.data() + i * table_.ld; }
  double unit() const { return unit_; }
  std::size_t ld() const { return table_.ld; }

 private:
  const TableView& table_;
  double unit_, magic_;
  AlignedVector<std::int64_t> gram_;  // [ld][ld]
  AlignedVector<double> rows_;
};

// One mask and its Gram matrix: what is kept from one evaluation to the next.
class GramState {
 public:
  explicit GramState(const TableView& table);

  void move_to(const Word* mask, int n_threads);

  const std::vector<Word>& mask() const { return mask_; }
  const FixedGram& gram() const { return gram_; }
  double unit() const { return gram_.unit(); }
  std::size_t n_selected() const { return n_selected_; }

  // gram += the state, upper triangle, one rounding to float32 and one of the sum.
  void add_to(float* gram) const;

 private:
  void clear();

  FixedGram gram_;
  std::vector<Word> mask_;
  std::size_t n_selected_ = 0;
};

// The sum of the states of two masks, a | b and a & b of a pair: S(b) = sum - S(a), so one matrix
// over the features in which a pair differs gives both. Complementary perturbations have a union
// and an intersection that hardly change from one pair to the next.
class PairSum {
 public:
  explicit PairSum(const TableView& table);

  void move_to(const Word* either, const Word* both, int n_threads);
  std::size_t distance(const Word* either, const Word* both) const;  // flips, of both masks

  const std::vector<Word>& either() const { return either_; }
  const std::vector<Word>& both() const { return both_; }
  std::size_t n_selected() const { return n_selected_; }  // of both masks
  double unit() const { return sum_.unit(); }
  double square(std::size_t i) const { return static_cast<double>(sum_.at(i, i)) * unit(); }

  // other = sum - gram, upper triangle.
  void subtract(const float* gram, float* other) const;

 private:
  FixedGram sum_;
  std::vector<Word> either_, both_;
  std::size_t n_selected_ = 0;
};

// Copy the upper triangle of a [ld][ld] matrix to the lower.
void mirror(float* gram, std::size_t ld);

}  // namespace bitsieve
