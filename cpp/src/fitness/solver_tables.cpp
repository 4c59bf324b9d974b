#include "bitsieve/fitness/solver_tables.hpp"

#include <algorithm>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t sums_memory = std::size_t{128} << 20;
constexpr std::size_t features_a_call = solver_group * solver_groups;
constexpr std::size_t packed_features = 4096;  // at a time; a multiple of features_a_call

// In vectors of pairs: a group's tables are made, and added to a mask; adding a feature by itself
// takes 1.
constexpr double making_a_group = 18;
constexpr double adding_a_group = 0.7;

std::size_t count_tiles(std::size_t n_samples) {
  std::size_t total = 0;
  for (std::size_t j = 0; j < n_samples; j += solver_columns) {
    total += (std::min(j + solver_columns, n_samples) + solver_rows - 1) / solver_rows;
  }
  return total;
}

}  // namespace

std::size_t SolverTables::most_masks(std::size_t n_samples) {
  return std::max<std::size_t>(
      1, sums_memory / (count_tiles(n_samples) * solver_pairs * sizeof(std::int64_t)));
}

double SolverTables::cost(std::size_t n_features, std::size_t n_masks) {
  const double groups = static_cast<double>((n_features + solver_group - 1) / solver_group);
  return groups * (making_a_group + adding_a_group * static_cast<double>(n_masks));
}

void SolverTables::find_places(const Word* masks, std::size_t n_words) {
  std::vector<Word> either(n_words, 0);
  for (std::size_t m = 0; m < n_masks_; ++m) {
    for (std::size_t w = 0; w < n_words; ++w) either[w] |= masks[m * n_words + w];
  }
  list_bits(either.data(), n_words, features_);
  const std::size_t n_blocks = (features_.size() + features_a_call - 1) / features_a_call;
  places_.assign(n_blocks * n_masks_ * solver_groups, 0);
  for (std::size_t k = 0; k < features_.size(); ++k) {
    const std::size_t f = static_cast<std::size_t>(features_[k]);
    const std::size_t block = k / features_a_call, group = k / solver_group % solver_groups;
    std::uint16_t* out = places_.data() + block * n_masks_ * solver_groups + group;
    const bool opens = k % solver_group == 0;
    for (std::size_t m = 0; m < n_masks_; ++m) {
      const std::size_t set = (get_bit(masks + m * n_words, f) ? 1u : 0u) << k % solver_group;
      const std::size_t start = opens ? group * solver_sets * solver_pairs : 0;
      out[m * solver_groups] =
          static_cast<std::uint16_t>(out[m * solver_groups] + start + set * solver_pairs);
    }
  }
}

void SolverTables::make(const CenteredColumns& columns, const Word* masks, std::size_t n_masks,
                        int n_threads) {
  n_masks_ = n_masks;
  find_places(masks, words_for(columns.n_features()));
  tiles_.clear();
  for (std::size_t j = 0; j < columns.n_samples(); j += solver_columns) {
    for (std::size_t i = 0; i < std::min(j + solver_columns, columns.n_samples());
         i += solver_rows) {
      tiles_.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
    }
  }
  if (tiles_.size() * n_masks > capacity_) {
    capacity_ = tiles_.size() * n_masks;
    sums_ = AlignedBuffer<std::int64_t>(capacity_ * solver_pairs);
  }
  const SolverKernels& kernel = *kernels().solver;
  const double magic = 1.5 * 0x1p52 * columns.unit();
  std::vector<AlignedVector<std::int64_t>> tables(
      static_cast<std::size_t>(std::min(n_threads, max_threads)));
  for (std::size_t begin = 0; begin < features_.size(); begin += packed_features) {
    const std::size_t m = std::min(packed_features, features_.size() - begin);
    pack(columns, begin, m, n_threads);
    const std::size_t length = packed_features * solver_columns;  // of a panel
    parallel_for_worker(tiles_.size(), n_threads, [&](std::size_t t, int worker) {
      AlignedVector<std::int64_t>& own = tables[static_cast<std::size_t>(worker)];
      own.resize(solver_groups * solver_sets * solver_pairs);
      std::int64_t* sums = sums_.data() + t * n_masks * solver_pairs;
      if (begin == 0) std::fill(sums, sums + n_masks * solver_pairs, std::int64_t{0});
      const std::size_t i = static_cast<std::size_t>(tiles_[t].i);
      const std::size_t j = static_cast<std::size_t>(tiles_[t].j);
      const double* left = packed_.data() + i / solver_columns * length + i % solver_columns;
      const double* right = packed_.data() + j / solver_columns * length;
      for (std::size_t f = 0; f < m; f += features_a_call) {
        const std::size_t n_groups =
            (std::min(features_a_call, m - f) + solver_group - 1) / solver_group;
        const std::size_t block = (begin + f) / features_a_call;
        kernel.tabulate(left + f * solver_columns, right + f * solver_columns, n_groups, magic,
                        own.data());
        kernel.add_tables(own.data(), n_groups, places_.data() + block * n_masks * solver_groups,
                          n_masks, sums);
      }
    });
  }
}

// packed_[panel][feature][8]: 8 samples of a feature beside one another, so that a tile reads two
// streams. Features past the last of a group are zero.
void SolverTables::pack(const CenteredColumns& columns, std::size_t begin, std::size_t m,
                        int n_threads) {
  const std::size_t ld = columns.ld(), n_panels = ld / solver_columns;
  packed_.resize(n_panels * packed_features * solver_columns);
  const std::size_t filled = (m + solver_group - 1) / solver_group * solver_group;
  parallel_for((filled + features_a_call - 1) / features_a_call, n_threads, [&](std::size_t task) {
    std::vector<double> column(ld);
    const std::size_t end = std::min((task + 1) * features_a_call, filled);
    for (std::size_t f = task * features_a_call; f < end; ++f) {
      if (f < m) {
        columns.copy(static_cast<std::size_t>(features_[begin + f]), column.data());
      } else {
        std::fill(column.begin(), column.end(), 0.0);
      }
      for (std::size_t panel = 0; panel < n_panels; ++panel) {
        std::copy_n(column.data() + panel * solver_columns, solver_columns,
                    packed_.data() + (panel * packed_features + f) * solver_columns);
      }
    }
  });
}

void SolverTables::copy(std::size_t mask, std::size_t ld, std::int64_t* units) const {
  for (std::size_t t = 0; t < tiles_.size(); ++t) {
    const std::int64_t* sums = sums_.data() + (t * n_masks_ + mask) * solver_pairs;
    std::int64_t* out =
        units + static_cast<std::size_t>(tiles_[t].i) * ld + static_cast<std::size_t>(tiles_[t].j);
    for (std::size_t r = 0; r < solver_rows; ++r) {
      std::copy_n(sums + r * solver_columns, solver_columns, out + r * ld);
    }
  }
}

}  // namespace bitsieve
