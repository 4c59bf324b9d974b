// The masks of a batch at once: terms of a few hundred features, tabled in fours, added to all masks.
#include <algorithm>
#include <utility>

#include "additive_worker.hpp"
#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t tile_features = 8 * pattern_features;  // that are added in float32
constexpr std::size_t panel_columns = 1792;                 // of whole splits, worked on at a time
constexpr std::size_t chunk_masks = 256;
constexpr std::size_t chunk_bytes = std::size_t{1} << 25;  // of sums
constexpr std::size_t chosen_bytes = std::size_t{1} << 26;
constexpr std::size_t surveyed_tables = 2;    // features asked one by one, before a survey pays
constexpr std::size_t common_features = 64;  // that are worth adding once for all masks

}  // namespace

class AdditiveFitness::Tables {
 public:
  Tables(AdditiveFitness& fitness, const State& state, const TargetSplits& at, int n_threads)
      : fitness_(fitness),
        state_(state),
        at_(at),
        layout_(state.reference),
        pool_(fitness.workers(n_threads)),
        n_threads_(n_threads),
        n_params_(fitness.n_params()),
        reference_(at.splits.n_splits * n_params_) {
    fitness.reference_params(state, reference_.data());
  }

  void run(const Word* masks, std::size_t n_masks, Chosen& chosen) {
    std::size_t widest = panel_columns;
    for (std::size_t s = 0; s < at_.splits.n_splits; ++s) {
      widest = std::max(widest, layout_.begin[s + 1] - layout_.begin[s]);
    }
    const std::size_t most =
        std::clamp<std::size_t>(chunk_bytes / (8 * widest) / lanes * lanes, lanes, chunk_masks);
    for (std::size_t first = 0; first < n_masks; first += most) {
      n_masks_ = std::min(most, n_masks - first);
      masks_ = masks + first * fitness_.n_words();
      classes_ = chosen.classes.data() + first * chosen.n_tests;
      declined_ = chosen.declined.data() + first;
      chunk();
    }
  }

 private:
  Adder& adder(int worker) { return static_cast<Adder&>(*pool_[static_cast<std::size_t>(worker)]); }

  void chunk() {
    measure();
    list_features();
    const std::size_t n_splits = at_.splits.n_splits;
    for (std::size_t first = 0; first < n_splits;) {
      std::size_t last = first + 1;
      while (last < n_splits && layout_.begin[last + 1] - layout_.begin[first] <= panel_columns) {
        ++last;
      }
      panel(first, last);
      first = last;
      check_interrupt();
    }
  }

  // The parameters of each mask, and who is declined.
  void measure() {
    const std::size_t width = at_.splits.n_splits * n_params_;
    params_.assign(n_masks_ * width, 0.0);
    parallel_for_worker(n_masks_, n_threads_, [&](std::size_t m, int w) {
      Adder& own = adder(w);
      list_bits(masks_ + m * fitness_.n_words(), fitness_.n_words(), own.features);
      if (own.features.empty()) return;  // scored as empty
      double* params = params_.data() + m * width;
      fitness_.measure(state_, at_, own.features, params, own.scratch_numbers);
      declined_[m] = fitness_.declines(state_, at_, own.features, params) ? 1 : 0;
    });
  }

  // Which features are tabled, which are added once, and where the masks' bits are then.
  void list_features() {
    const std::size_t n_words = fitness_.n_words(), p = fitness_.table().view().n_features;
    std::vector<Word> any(n_words, 0), all(n_words, ~Word{0});
    for (std::size_t m = 0; m < n_masks_; ++m) {
      const Word* mask = masks_ + m * n_words;
      for (std::size_t w = 0; w < n_words; ++w) {
        any[w] |= mask[w];
        all[w] &= mask[w];
      }
    }
    left_out_.assign(n_words, 0);
    for (const std::int32_t f : state_.left_out) set_bit(left_out_.data(), static_cast<std::size_t>(f));
    for (std::size_t w = 0; w < n_words; ++w) {
      any[w] &= ~left_out_[w];
      all[w] &= ~left_out_[w];
    }
    common_.clear();
    if (n_masks_ > 1 && count_bits(all.data(), n_words) >= common_features) {
      list_bits(all.data(), n_words, common_);
      for (std::size_t w = 0; w < n_words; ++w) any[w] &= ~all[w];
    }
    listed_.clear();
    packed_.clear();
    if (5 * count_bits(any.data(), n_words) >= 4 * p) {
      for (std::size_t f = 0; f < p; ++f) {
        listed_.push_back(get_bit(any.data(), f) ? static_cast<std::int32_t>(f) : -1);
      }
      words_ = masks_;
      stride_ = n_words;
    } else {
      list_bits(any.data(), n_words, listed_);
      stride_ = words_for(listed_.size());
      packed_.assign(n_masks_ * stride_, 0);
      std::vector<std::int32_t> place(p);
      for (std::size_t k = 0; k < listed_.size(); ++k) {
        place[static_cast<std::size_t>(listed_[k])] = static_cast<std::int32_t>(k);
      }
      parallel_for(n_masks_, n_threads_, [&](std::size_t m) {
        Word* to = packed_.data() + m * stride_;
        for (std::size_t w = 0; w < n_words; ++w) {
          for_each_bit(masks_[m * n_words + w] & any[w], w, [&](std::size_t f) {
            set_bit(to, static_cast<std::size_t>(place[f]));
          });
        }
      });
      words_ = packed_.data();
    }
    listed_.resize((listed_.size() + pattern_features - 1) / pattern_features * pattern_features, -1);
  }

  void panel(std::size_t first, std::size_t last) {
    first_ = first;
    last_ = last;
    n_columns_ = layout_.begin[last] - layout_.begin[first];
    n_strips_ = (n_columns_ + pattern_columns - 1) / pattern_columns;
    totals_.assign(n_strips_ * n_masks_ * pattern_columns, 0.0);
    add_common();
    terms_.resize(n_strips_ * tile_features * pattern_columns);
    for (std::size_t begin = 0; begin < listed_.size(); begin += tile_features) {
      const std::size_t n = std::min(tile_features, listed_.size() - begin);
      parallel_for_worker(n / lanes, n_threads_, [&](std::size_t k, int w) {
        fill_terms(begin + k * lanes, k * lanes, adder(w));
      });
      parallel_for_worker(n_strips_, n_threads_, [&](std::size_t strip, int w) {
        add_strip(strip, begin / pattern_features, n / pattern_features, adder(w));
      });
    }
    const std::size_t n_groups = (n_masks_ + lanes - 1) / lanes;
    parallel_for_worker(n_groups, n_threads_,
                        [&](std::size_t group, int w) { decide(group * lanes, adder(w)); });
  }

  // Terms of a block for all columns of the panel, [columns][lanes].
  void make_terms(const FeatureBlock& block, Adder& own) {
    const std::size_t n_classes = fitness_.target().n_classes;
    for (std::size_t s = first_; s < last_; ++s) {
      double* out = own.terms.data() + (layout_.begin[s] - layout_.begin[first_]) * lanes;
      const std::size_t count = layout_.begin[s + 1] - layout_.begin[s];
      fitness_.terms(state_, at_, block, reference_.data() + s * n_params_, true, s, out,
                     own.scratch_numbers);
      kernels().additive->shift_costs(out, tests_of(at_.splits, s), n_classes,
                                      out + (count - 1) * lanes);
    }
  }

  void fill_terms(std::size_t begin, std::size_t row, Adder& own) {
    const AdditiveKernels& kernel = *kernels().additive;
    const std::int32_t* listed = listed_.data() + begin;
    std::int32_t some = -1;
    std::size_t n = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
      if (listed[l] < 0) continue;
      some = listed[l];
      ++n;
    }
    const std::size_t strip_floats = tile_features * pattern_columns;
    if (n == 0) {
      for (std::size_t strip = 0; strip < n_strips_; ++strip) {
        std::fill_n(terms_.data() + strip * strip_floats + row * pattern_columns,
                    lanes * pattern_columns, 0.0f);
      }
      return;
    }
    std::int32_t features[lanes];  // each in its own lane, some other one where there is none
    for (std::size_t l = 0; l < lanes; ++l) features[l] = listed[l] >= 0 ? listed[l] : some;
    own.terms.resize(n_strips_ * pattern_columns * lanes);
    fitness_.for_each_block(state_, features, lanes, own.block, [&](const FeatureBlock& block) {
      make_terms(block, own);
    });
    const std::size_t n_padded = n_strips_ * pattern_columns;
    std::fill(own.terms.begin() + static_cast<std::ptrdiff_t>(n_columns_ * lanes),
              own.terms.begin() + static_cast<std::ptrdiff_t>(n_padded * lanes), 0.0);
    for (std::size_t column = 0; column < n_padded; column += lanes) {
      float* to = terms_.data() + column / pattern_columns * strip_floats + row * pattern_columns +
                  column % pattern_columns;
      kernel.round_columns(own.terms.data() + column * lanes, to, pattern_columns);
    }
    if (n == lanes) return;
    for (std::size_t strip = 0; strip < n_strips_; ++strip) {
      for (std::size_t l = 0; l < lanes; ++l) {
        if (listed[l] >= 0) continue;
        std::fill_n(terms_.data() + strip * strip_floats + (row + l) * pattern_columns,
                    pattern_columns, 0.0f);
      }
    }
  }

  void add_strip(std::size_t strip, std::size_t first_word, std::size_t n_words, Adder& own) {
    const AdditiveKernels& kernel = *kernels().additive;
    own.tables.resize(pattern_floats);
    own.pattern_sums.assign(n_masks_ * pattern_columns, 0.0f);
    const float* terms = terms_.data() + strip * tile_features * pattern_columns;
    for (std::size_t w = 0; w < n_words; ++w) {
      kernel.table_patterns(terms + w * pattern_features * pattern_columns, own.tables.data());
      kernel.add_patterns(own.tables.data(), words_ + first_word + w, stride_, n_masks_,
                          own.pattern_sums.data());
    }
    kernel.flush(own.pattern_sums.data(), n_masks_ * pattern_columns,
                 totals_.data() + strip * n_masks_ * pattern_columns);
  }

  // Features that all masks have.
  void add_common() {
    common_sums_.assign(n_columns_, 0.0);
    if (common_.empty()) return;
    Adder& own = adder(0);
    own.terms.resize(n_columns_ * lanes);
    fitness_.for_each_block(state_, common_.data(), common_.size(), own.block,
                            [&](const FeatureBlock& block) {
      make_terms(block, own);
      kernels().additive->add_lanes(own.terms.data(), n_columns_, block.n, common_sums_.data());
    });
  }

  // Classes of up to 16 masks in the splits of the panel.
  void decide(std::size_t first_mask, Adder& own) {
    const std::size_t n = std::min(lanes, n_masks_ - first_mask);
    const std::size_t n_splits = at_.splits.n_splits, n_classes = fitness_.target().n_classes;
    own.lane_sums.resize(n_columns_ * lanes);
    for (std::size_t strip = 0; strip < n_strips_; ++strip) {
      const std::size_t begin = strip * pattern_columns;
      const std::size_t count = std::min(pattern_columns, n_columns_ - begin);
      for (std::size_t l = 0; l < lanes; ++l) {
        const double* from =
            totals_.data() + (strip * n_masks_ + first_mask + std::min(l, n - 1)) * pattern_columns;
        for (std::size_t k = 0; k < count; ++k) {
          own.lane_sums[(begin + k) * lanes + l] = from[k] + common_sums_[begin + k];
        }
      }
    }
    add_left_out(first_mask, n, own);
    for (std::size_t s = first_; s < last_; ++s) {
      const std::size_t n_tests = tests_of(at_.splits, s);
      const double* sums = own.lane_sums.data() + (layout_.begin[s] - layout_.begin[first_]) * lanes;
      const double* split_sums = sums + layout_.n_place_sums * n_tests * lanes;
      own.lane_params.resize(n_params_ * lanes);
      for (std::size_t l = 0; l < lanes; ++l) {
        const std::size_t m = first_mask + std::min(l, n - 1);
        for (std::size_t k = 0; k < n_params_; ++k) {
          own.lane_params[k * lanes + l] = params_[(m * n_splits + s) * n_params_ + k];
        }
      }
      fitness_.offsets_of(state_, at_, s, {split_sums, split_sums, table_share, true},
                          own.lane_params.data(), reference_.data() + s * n_params_, own);
      const Offsets out = own.offsets(n_classes);
      const double* reach = split_sums + (layout_.n_split_sums - 1) * lanes;
      for (std::size_t k = 0; k < n_classes * lanes; ++k) {
        out.slack[k] += (out.relative[k] + 0x1p-45) * reach[k % lanes] * (1 + table_share);
      }
      own.classes.resize(n_tests * lanes);
      fitness_.choose(layout_, at_, s, sums, sums, table_share, own, own.classes.data());
      const auto first_test = static_cast<std::size_t>(at_.splits.test_begin[s]);
      const std::size_t n_all = at_.splits.test_samples.size();
      for (std::size_t l = 0; l < n; ++l) {
        std::int16_t* to = classes_ + (first_mask + l) * n_all + first_test;
        for (std::size_t k = 0; k < n_tests; ++k) {
          to[k] = static_cast<std::int16_t>(own.classes[k * lanes + l]);
        }
      }
    }
  }

  // Exact sums of the features that have no place in tables.
  void add_left_out(std::size_t first_mask, std::size_t n, Adder& own) {
    if (state_.left_out.empty()) return;
    const SumLayout& exact = state_.exact;
    const std::size_t n_words = fitness_.n_words(), n_splits = at_.splits.n_splits;
    for (std::size_t l = 0; l < n; ++l) {
      const std::size_t m = first_mask + l;
      own.features.clear();
      for (std::size_t w = 0; w < n_words; ++w) {
        for_each_bit(masks_[m * n_words + w] & left_out_[w], w, [&](std::size_t f) {
          own.features.push_back(static_cast<std::int32_t>(f));
        });
      }
      if (own.features.empty() || declined_[m] != 0) continue;
      own.sums.resize(exact.begin[last_] - exact.begin[first_]);
      fitness_.add_sums(state_, at_, own.features, params_.data() + m * n_splits * n_params_,
                        own.range(first_, last_), own.scratch_sums, own.sums.data());
      for (std::size_t s = first_; s < last_; ++s) {
        const double* from = own.sums.data() + (exact.begin[s] - exact.begin[first_]);
        double* to = own.lane_sums.data() + (layout_.begin[s] - layout_.begin[first_]) * lanes + l;
        const std::size_t n_tests = tests_of(at_.splits, s);
        const std::size_t n_places = exact.n_place_sums * n_tests;
        for (std::size_t k = 0; k < n_places; ++k) to[k * lanes] += from[k];
        to += layout_.n_place_sums * n_tests * lanes;
        for (std::size_t k = 0; k < exact.n_split_sums; ++k) to[k * lanes] += from[n_places + k];
      }
    }
  }

  AdditiveFitness& fitness_;
  const State& state_;
  const TargetSplits at_;
  const SumLayout& layout_;
  std::vector<std::unique_ptr<Worker>>& pool_;
  int n_threads_;
  std::size_t n_params_;
  std::vector<double> reference_;  // [n_splits][n_params]

  // Of a chunk of masks.
  const Word* masks_ = nullptr;
  std::size_t n_masks_ = 0;
  std::int16_t* classes_ = nullptr;
  std::uint8_t* declined_ = nullptr;
  std::vector<double> params_;  // [n_masks][n_splits][n_params]
  std::vector<std::int32_t> listed_, common_;  // -1: nothing there
  std::vector<Word> left_out_, packed_;
  const Word* words_ = nullptr;  // [n_masks][stride] bits of the listed features
  std::size_t stride_ = 0;

  // Of a panel of splits, in strips of columns.
  std::size_t first_ = 0, last_ = 0, n_columns_ = 0, n_strips_ = 0;
  AlignedVector<double> totals_;  // [n_strips][n_masks][pattern_columns]
  AlignedVector<float> terms_;    // [n_strips][tile_features][pattern_columns]
  std::vector<double> common_sums_;
};

std::size_t AdditiveFitness::most_masks() const {
  const std::size_t n_tests = std::max<std::size_t>(source().n_tests(), 1);
  return std::max<std::size_t>(chosen_bytes / (2 * n_tests), 4 * lanes);
}

// Tables pay where masks share features: each that some mask has is made once.
void AdditiveFitness::prepare(const MaskBatch& batch, int n_threads,
                              std::vector<std::size_t>& costs) {
  MaskFitness::prepare(batch, n_threads, costs);
  chosen_.reset();
  const std::uint64_t* seeds = batch.seeds;
  if (!shares_splits(batch)) return;
  const TargetSplits at = splits_for(seeds[0], *workers(n_threads)[0]);
  shared_state(at, false, n_threads);
  std::vector<Word> any(n_words(), 0);
  std::size_t total = 0;
  for (const std::size_t cost : costs) total += cost;
  const std::size_t p = table().view().n_features;
  if (batch.wants_values || batch.n_masks < 4) {
    shared_->n_asked += total;
    if (shared_->n_asked > surveyed_tables * p) shared_state(at, true, n_threads);
    return;
  }
  for (std::size_t m = 0; m < batch.n_masks; ++m) {
    for (std::size_t w = 0; w < n_words(); ++w) any[w] |= batch.masks[m * n_words() + w];
  }
  const bool is_known = shared_->is_surveyed;
  const std::size_t n_any = count_bits(any.data(), n_words());
  const std::size_t needed = n_any + (is_known ? 0 : p / 2);
  if (total < 2 * needed || !prefers_tables(batch, at, n_any)) return;
  const State& state = shared_state(at, true, n_threads);
  if (8 * state.left_out.size() > p) return;
  chosen_ = std::make_unique<Chosen>();
  chosen_->masks = batch.masks;
  chosen_->n_masks = batch.n_masks;
  chosen_->n_tests = at.splits.test_samples.size();
  chosen_->seed = at.seed;
  chosen_->classes.assign(batch.n_masks * chosen_->n_tests, no_class);
  chosen_->declined.assign(batch.n_masks, 0);
  Tables(*this, state, at, n_threads).run(batch.masks, batch.n_masks, *chosen_);
  n_tabled_ += batch.n_masks;
  std::fill(costs.begin(), costs.end(), std::size_t{1});
}

}  // namespace bitsieve
