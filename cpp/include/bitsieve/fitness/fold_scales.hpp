// What a scaler learns of the features under one set of splits, kept for the masks that ask for it.
//
// Measuring 5,670 features in 50 splits takes 7 ms, some 50 for robust: as long as nearest neighbors
// take for the whole mask. Under fixed splits every feature is measured once; under fresh folds once
// a seed, where the masks of a batch share one; else each mask measures its own. The numbers are the
// same bits wherever they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/fold_scaler.hpp"
#include "bitsieve/fitness/target.hpp"

namespace bitsieve {

// The scales of a mask's features: z = (x - origin) * inverse, feature k of the mask at place[k]
// of each split's list. Not owned.
struct ScaleView {
  const double* origin;   // [n_splits][stride]
  const double* inverse;  // [n_splits][stride]
  std::size_t stride;
  const std::int32_t* place;  // [m]

  const double* origin_of(std::size_t split) const { return origin + split * stride; }
  const double* inverse_of(std::size_t split) const { return inverse + split * stride; }
};

class FoldScales {
 public:
  // What z is measured from: the scaler's own center, or a value amid those of the training part, for
  // models that do not see where zero is.
  enum class Origin : std::uint8_t { center, middle };

  // What one mask measured for itself.
  struct Own {
    std::vector<double> origin, inverse;
    std::vector<std::int32_t> place;
  };

  FoldScales(const Table& table, const ScalerOptions& options, Origin origin)
      : table_(table), scaler_(table, options), origin_(origin) {}

  bool is_none() const { return scaler_.is_none(); }

  // Before a batch is predicted, by one thread: measures those features of its masks that are not
  // known yet under these splits. `at` is null where its masks are scored on different folds.
  void prepare(const Word* masks, std::size_t n_masks, const TargetSplits* at, int n_threads);

  // From any thread: of features in ascending order, what was prepared or is measured now. The view
  // is good until the next prepare() or the next use of `own`, and as long as `features` stays.
  ScaleView view(const std::vector<std::int32_t>& features, const TargetSplits& at, Own& own,
                 int n_threads = 1) const;

  void forget();  // in a forked child: the memory is left behind

 private:
  void measure(const std::vector<std::int32_t>& features, const Splits& splits, int n_threads,
               std::size_t stride, const std::int32_t* place, double* origin,
               double* inverse) const;
  bool knows(const std::vector<std::int32_t>& features, const TargetSplits& at) const;

  const Table& table_;
  FoldScaler scaler_;
  Origin origin_;
  std::vector<Word> known_;  // features measured under the splits of seed_; empty: none
  std::uint64_t seed_ = 0;
  AlignedVector<double> origins_, inverses_;  // [n_splits][n_features]
};

}  // namespace bitsieve
