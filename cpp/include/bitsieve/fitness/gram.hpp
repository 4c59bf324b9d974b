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

namespace bitsieve {

// The hot copy of the data: float32, column-centred, feature-major, rows padded with zeros to a
// multiple of 16 and aligned. Not owned.
struct TableView {
  const float* values = nullptr;  // [n_features][ld]
  std::size_t n_samples = 0;
  std::size_t n_features = 0;
  std::size_t ld = 0;
  const double* max_abs = nullptr;  // per feature, of the hot values

  const float* row(std::size_t f) const { return values + f * ld; }
};

// Features a float tile sums before it is added to the matrix: the error bound grows with
// gram_block + m / gram_block, which is least near sqrt(m); 64 rows of 112 floats fit in L1.
inline constexpr std::size_t gram_block = 64;

// |error of an element| <= gram_error(m) * |x_i| * |x_j| (norms over the m features).
double gram_error(std::size_t m);

// gram = products over the added features less those over the removed ones, upper triangle;
// squares[i] = sum of squares over both (null where the diagonal says enough). Neither need be
// cleared before.
void float_gram(const TableView& table, const std::vector<std::int32_t>& added,
                const std::vector<std::int32_t>& removed, float* gram, float* squares);

// One mask and its Gram matrix in units of 2^exponent.
class GramState {
 public:
  explicit GramState(const TableView& table);

  // Move to another mask: n^2 / 2 multiply-adds a flipped feature.
  void move_to(const Word* mask, int n_threads);
  void clear();  // to the empty mask

  const std::vector<Word>& mask() const { return mask_; }
  const std::int64_t* gram() const { return gram_.data(); }  // [ld][ld], upper triangle
  double unit() const { return unit_; }
  std::size_t n_selected() const { return n_selected_; }

  // gram += the state, upper triangle, one rounding to float32 and one of the sum.
  void add_to(float* gram) const;

 private:
  void add(const std::vector<std::int32_t>& features, int sign, int n_threads);

  const TableView& table_;
  double unit_, magic_;
  std::vector<Word> mask_;
  std::size_t n_selected_ = 0;
  AlignedVector<std::int64_t> gram_;
  AlignedVector<double> rows_;
};

// Copy the upper triangle of a [ld][ld] matrix to the lower.
void mirror(float* gram, std::size_t ld);

}  // namespace bitsieve
