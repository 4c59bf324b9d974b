// All one-flip neighbors of a mask in one pass, 16 features side by side.
//
// A feature x that joins or leaves (sign 1 or -1) adds sign xx' to the kernel matrix. With M the
// bordered inverse of the base mask, S = (M_LL)^-1, u = M x, v = S u_L, and r_L = S (M y)_L what is
// left of the samples L that are left out, Sherman and Morrison's formula says that
//   r_L - sign * v * e / d  is left then, where  e = x'M y - u_L'r_L,  d = 1 + sign (x'u - u_L'v).
// A solver has no exact re-check. What takes its place: a bound for the rounding of both this and
// the way by which the neighbor alone would be answered, from the condition number of its matrix.
// Classes of which all samples are further apart than the bound are the same either way, and scores
// of classes have the same bits; any other neighbor is answered alone. Values are not compared so:
// scores that read them take no short way.
#include <algorithm>
#include <cmath>
#include <memory>

#include "bitsieve/core/isa.hpp"
#include "ridge_worker.hpp"

namespace bitsieve {
namespace ridge_detail {

constexpr std::size_t lanes = 16;
constexpr std::size_t fewest_flips = 16;     // below, masks are answered one by one
constexpr std::size_t most_flip_classes = 64;
// The condition number up to which neither this nor the other way can find a matrix too near
// singular: each of its tests is below most_inflation then.
constexpr double most_condition = 1e5;

using Lanes = double[lanes];

}  // namespace ridge_detail

// What is made once for the base mask and all splits.
struct RidgeFitness::Flips {
  const RidgePlan& plan;
  std::size_t n, ld;
  const double* targets;           // [n][ld_targets]
  const double* inverse = nullptr;   // M [n][ld]
  const double* products = nullptr;  // M y [n][ld_targets]
  AlignedVector<double> blocks{};    // S of each split, [l][ld of l]
  std::vector<std::size_t> begin{};  // of them
  AlignedVector<double> residuals{};  // r_L of each split, [n_left][ld_targets]
  std::vector<std::vector<std::size_t>> trained{};  // classes of each split
  // M is the inverse times alpha where it is made of the features.
  bool on_features = false;
  bool is_closed = false;  // a mask of one feature more is answered from one inverse
  double start = 1;      // d of a feature that is zero
  double unit = 1;       // no element of M is greater
  double condition = 0;  // of the base's matrix
  double inflation = 1;  // the greatest of a feature of it
  std::vector<double> most_block{};  // a bound of the eigenvalues of S, by split
};

// What a thread of the pass owns.
struct RidgeFitness::FlipScratch {
  AlignedVector<double> x, u, left, moved, along, change, slack;
  std::vector<std::int32_t> hits, codes, counts;
  ScoreScratch scores;
};

bool RidgeFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                      std::size_t n_masks, const TargetSplits& at,
                                      const Scorer& scorer, int n_threads, double* scores,
                                      bool* declined) {
  using namespace ridge_detail;
  if (!target().is_classes() || !is_of_classes(scorer.score().metric) || settings_.balanced ||
      settings_.alpha == 0 || settings_.kernel != RidgeSettings::Kernel::linear ||
      !scales_.is_none() || !gram_.has_matrices() || n_masks < fewest_flips) {
    return false;
  }
  if (target().n_classes > most_flip_classes && !scorer.takes_hits()) return false;
  columns_ = &gram_.columns(n_threads);
  Own& own = static_cast<Own&>(*workers(n_threads)[0]);
  const RidgePlan& plan = plan_for(at, own);
  if (plan.least_train == 0) return false;
  Flips common{plan, table().view().n_samples, gram_.ld(), own.targets.data()};
  if (!prepare_flips(base, at, n_threads, common, own)) return false;

  const std::size_t n_blocks = (n_masks + lanes - 1) / lanes;
  std::vector<FlipScratch> scratch(static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  std::vector<char> open(n_masks, 0);
  parallel_for_worker(n_blocks, n_threads, [&](std::size_t b, int worker) {
    const std::size_t first = b * lanes, count = std::min(lanes, n_masks - first);
    if (b % 64 == 0) check_interrupt();
    flip_block(common, base, flips + first, count, at, scorer,
               scratch[static_cast<std::size_t>(worker)], scores + first * at.splits.n_splits,
               open.data() + first);
  });
  answer_open(base, flips, open, at, scorer, n_threads, scores, declined);
  return true;
}

bool RidgeFitness::flips_from_samples(const Word* base, int n_threads, Flips& common, Own& own) {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const std::size_t ld = common.ld, k = count_bits(base, n_words());
  own.trace = 0;
  if (k > 0) {
    gram_.make_one(base, n_threads, own.matrix);
    own.trace = make_kernel(base, k, own);
  } else {
    own.matrix.gram.assign(ld * ld, 0.0);
  }
  double penalties = 0, least = settings_.alpha;
  for (const double weight : plan.weights) {
    penalties += settings_.alpha / weight;
    least = std::min(least, settings_.alpha / weight);
  }
  common.on_features = false;
  common.start = 1;
  common.unit = 1 / least;
  common.condition = 2 * (own.trace + penalties) / least;
  return common.condition <= most_condition && invert_dual(plan, own);
}

bool RidgeFitness::flips_from_features(const Word* base, Flips& common, Own& own) const {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const std::size_t n = common.n, ld = common.ld;
  list_bits(base, n_words(), own.features);
  const std::size_t k = own.features.size(), ld_k = algebra_ld(k);
  gather_columns(own);
  if (!factor_primal(plan, own)) return false;
  common.on_features = true;
  common.is_closed = way_of(k + 1, plan) == Way::primal;
  common.start = settings_.alpha;
  common.unit = *std::max_element(plan.weights.begin(), plan.weights.end());
  // The sum of the inflations of all features bounds the condition number but for their number.
  common.condition = 1 + trace_of_inverse(own.a.data(), own.inverse_diagonal.data(), k, ld_k,
                                          own.right.data(), grow(own.work, k * ld_k));
  if (!(common.condition <= most_condition)) return false;
  common.inflation = 1;
  for (std::size_t f = 0; f < k; ++f) {
    double diagonal = 0;
    for (std::size_t i = f; i < k; ++i) {
      const double value = own.work[i * ld_k + f];
      diagonal += value * value;
    }
    common.inflation = std::max(common.inflation, own.right[f] * diagonal);
  }
  project_primal(plan, own);
  double* inverse = grow(own.inverse, n * ld);
  if (k > 0) {
    multiply_self(own.columns.data(), k, n, ld, inverse);
  } else {
    std::fill_n(inverse, n * ld, 0.0);
  }
  for (std::size_t i = 0; i < n; ++i) {
    double* row = inverse + i * ld;
    const double share = settings_.fit_intercept ? plan.weights[i] / own.total : 0;
    for (std::size_t j = 0; j < n; ++j) row[j] = -row[j] - share * plan.weights[j];
    std::fill(row + n, row + ld, 0.0);
    row[i] += plan.weights[i];
  }
  return true;
}

bool RidgeFitness::prepare_flips(const Word* base, const TargetSplits& at, int n_threads,
                                 Flips& common, Own& own) {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const std::size_t ld = common.ld, k = count_bits(base, n_words());
  // On samples where the penalty alone keeps them well apart, else on features; there a feature that
  // leaves is a difference without digits, and stays open. A feature more must not be too many: the
  // bound knows nothing of how samples would answer that mask, or decline.
  if (!flips_from_samples(base, n_threads, common, own) &&
      !(is_primal(k + 1, plan.least_train) && flips_from_features(base, common, own))) {
    return false;
  }
  common.inverse = own.inverse.data();
  common.products = own.products.data();
  common.begin = {0};
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    common.begin.push_back(common.begin.back() + plan.n_left(s) * algebra_ld(plan.n_left(s)));
  }
  common.blocks.assign(common.begin.back(), 0.0);
  common.residuals.assign(plan.left.size() * ld_targets_, 0.0);
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    const std::int32_t* left = plan.left.data() + plan.left_begin[s];
    const std::size_t l = plan.n_left(s), ld_block = algebra_ld(l);
    gather_block(left, l, common.inverse, ld, common.products, own);
    double* diagonal = grow(own.block_diagonal, ld_block);
    if (!(cholesky(own.block.data(), l, ld_block, diagonal) <= most_inflation)) return false;
    invert_symmetric(own.block.data(), diagonal, l, ld_block, grow(own.work, l * ld_block),
                     common.blocks.data() + common.begin[s]);
    solve_symmetric(own.block.data(), diagonal, l, ld_block, own.right.data(), ld_targets_,
                    ld_targets_);
    std::copy_n(own.right.data(), l * ld_targets_,
                common.residuals.data() + plan.left_begin[s] * ld_targets_);
    common.most_block.push_back(0);
    for (std::size_t i = 0; i < l; ++i) {
      const double* row = common.blocks.data() + common.begin[s] + i * ld_block;
      double sum = 0;
      for (std::size_t j = 0; j < l; ++j) sum += std::abs(row[j]);
      common.most_block.back() = std::max(common.most_block.back(), sum);
    }
    common.trained.emplace_back();
    for (std::size_t c = 0; c < target().n_classes; ++c) {
      if (at.target.train_of_class[s * target().n_classes + c] > 0) {
        common.trained.back().push_back(c);
      }
    }
  }
  return true;
}

void RidgeFitness::flip_block(const Flips& common, const Word* base, const std::int64_t* flips,
                              std::size_t count, const TargetSplits& at, const Scorer& scorer,
                              FlipScratch& own, double* scores, char* open) const {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const AlgebraKernels& kernel = *kernels().algebra;
  const std::size_t n = common.n, ld = common.ld, n_classes = target().n_classes;
  const std::size_t n_targets = n_targets_;
  double* x = grow(own.x, n * lanes);
  double* u = grow(own.u, n * lanes);
  double* v = grow(own.moved, plan.most_left * lanes);
  double* change = grow(own.change, n_targets * lanes);  // sign * e / d
  double* slack = grow(own.slack, n_targets * lanes);    // the bound is slack * |v| + base
  // Columns side by side; what is past the last is zero.
  double* column = grow(own.left, std::max(plan.most_left * lanes, table().view().ld));
  double* left_u = column;
  std::fill_n(x, n * lanes, 0.0);
  alignas(64) Lanes sign, condition, most_x, squares{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    sign[lane] = 1;
    condition[lane] = common.condition;
    most_x[lane] = 0;
    if (lane >= count) continue;
    const std::size_t f = static_cast<std::size_t>(flips[lane]);
    if (get_bit(base, f)) sign[lane] = -1;
    const double* values;
    if (settings_.fit_intercept) {
      columns_->copy(f, column);
      values = column;
    } else {
      values = table().doubles(1) + f * table().view().ld;
    }
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      x[i * lanes + lane] = values[i];
      square += values[i] * values[i];
      most_x[lane] = std::max(most_x[lane], std::abs(values[i]));
    }
    if (sign[lane] > 0) squares[lane] = square * common.unit;
  }
  std::fill_n(u, n * lanes, 0.0);
  kernel.add_products({common.inverse, 1, ld}, x, lanes, n, n, lanes, 1.0, u, lanes);
  alignas(64) Lanes whole{};  // x'Mx
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t lane = 0; lane < lanes; ++lane) whole[lane] += x[i * lanes + lane] * u[i * lanes + lane];
  }
  // x'My, and the sum of its magnitudes.
  double* along = grow(own.along, 2 * n_targets * lanes);
  double* size = along + n_targets * lanes;
  std::fill_n(along, 2 * n_targets * lanes, 0.0);
  for (std::size_t c = 0; c < n_targets; ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      const double product = common.products[i * ld_targets_ + c];
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = x[i * lanes + lane] * product;
        along[c * lanes + lane] += value;
        size[c * lanes + lane] += std::abs(value);
      }
    }
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    // A feature inflates those before it by no more than itself.
    condition[lane] = common.on_features
                          ? condition[lane] * (2 + (common.start + squares[lane]) /
                                                       (common.start + whole[lane]))
                          : condition[lane] + 2 * squares[lane];
  }
  // One rounding is this beside numbers of size 1, for sums over n of them; a matrix of samples may be
  // made of integers, which are of its least diagonal element to this.
  const double rounding =
      8 * static_cast<double>(n) * 0x1p-53 + (common.on_features ? 0 : solver_precision);
  alignas(64) Lanes unsure{};  // above zero where a class is open
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const bool is_difference = common.on_features && sign[lane] < 0;
    const double most = common.on_features ? most_inflation / 2 : most_condition;
    unsure[lane] = condition[lane] <= most && !is_difference ? 0 : 1;
  }
  const bool by_hits = scorer.takes_hits();
  own.hits.assign(by_hits ? plan.n_splits() * n_classes * lanes : 0, 0);
  own.codes.resize(at.splits.test_samples.size() * lanes);
  std::int32_t* codes = own.codes.data();
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    const std::int32_t* left = plan.left.data() + plan.left_begin[s];
    const std::size_t l = plan.n_left(s), n_tests = plan.n_tests[s];
    const double* r = common.residuals.data() + plan.left_begin[s] * ld_targets_;
    for (std::size_t i = 0; i < l; ++i) {
      std::copy_n(u + static_cast<std::size_t>(left[i]) * lanes, lanes, left_u + i * lanes);
    }
    std::fill_n(v, l * lanes, 0.0);
    kernel.add_products({common.blocks.data() + common.begin[s], 1, algebra_ld(l)}, left_u, lanes, l,
                        l, lanes, 1.0, v, lanes);
    alignas(64) Lanes d, most_v{};
    for (std::size_t lane = 0; lane < lanes; ++lane) d[lane] = whole[lane];
    for (std::size_t i = 0; i < l * lanes; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        d[lane] -= left_u[i + lane] * v[i + lane];
        most_v[lane] = std::max(most_v[lane], std::abs(v[i + lane]));
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) d[lane] = common.start + sign[lane] * d[lane];
    alignas(64) Lanes epsilon;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double inflated = condition[lane];
      if (common.on_features) {
        // What training parts inflate more than all samples do: by the diagonal of (M_LL)^-1.
        double block = 0;
        for (std::size_t i = 0; i < l; ++i) block += v[i * lanes + lane] * v[i * lanes + lane];
        block = std::max(common.unit * (common.most_block[s] + block / d[lane]), 1.0);
        // One inverse for all splits is looked at apart from the blocks of the splits.
        const double feature = inflated * common.inflation / common.condition;
        const double seen = common.is_closed ? std::max(feature, block) : feature * block;
        if (!(seen <= 0.9 * most_inflation)) unsure[lane] = 1;
        inflated *= block;
      }
      epsilon[lane] = rounding * inflated;
      // A quotient whose divisor is rounding alone says nothing.
      if (!(d[lane] > 4 * epsilon[lane] * (common.start + whole[lane]))) unsure[lane] = 1;
    }
    alignas(64) Lanes steady{};  // of the bound, whatever the sample
    for (std::size_t c = 0; c < n_targets; ++c) {
      alignas(64) Lanes e, sum;
      std::copy_n(along + c * lanes, lanes, e);
      std::copy_n(size + c * lanes, lanes, sum);
      for (std::size_t i = 0; i < l; ++i) {
        const double residual = r[i * ld_targets_ + c];
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const double value = left_u[i * lanes + lane] * residual;
          e[lane] -= value;
          sum[lane] += std::abs(value);
        }
      }
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double share = std::abs(e[lane]) / d[lane];
        change[c * lanes + lane] = sign[lane] * e[lane] / d[lane];
        slack[c * lanes + lane] =
            epsilon[lane] *
            (sum[lane] + static_cast<double>(n) * most_x[lane] * common.unit +
             share * (common.start + whole[lane])) / d[lane];
        steady[lane] = std::max(steady[lane], epsilon[lane] * (1 + (most_x[lane] + most_v[lane]) * share));
      }
    }
    decide(common, s, left, r, v, change, slack, steady, codes, unsure);
    for (std::size_t t = 0; by_hits && t < n_tests; ++t) {
      const std::int32_t truth = target().codes[static_cast<std::size_t>(left[t])];
      std::int32_t* hits = own.hits.data() + (s * n_classes + static_cast<std::size_t>(truth)) * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) hits[lane] += codes[t * lanes + lane] == truth;
    }
    codes += n_tests * lanes;
  }
  const std::size_t width = plan.n_splits() * n_classes * (by_hits ? 1 : n_classes);
  own.counts.resize(width);
  for (std::size_t lane = 0; lane < count; ++lane) {
    open[lane] = unsure[lane] > 0;
    if (open[lane] != 0) continue;
    double* out = scores + lane * plan.n_splits();
    if (by_hits) {
      for (std::size_t w = 0; w < width; ++w) own.counts[w] = own.hits[w * lanes + lane];
      scorer.of_hits(at, own.counts.data(), own.scores, out);
      continue;
    }
    std::fill(own.counts.begin(), own.counts.end(), 0);
    const std::int32_t* given = own.codes.data() + lane;
    for (std::size_t s = 0; s < plan.n_splits(); ++s) {
      const std::int32_t* left = plan.left.data() + plan.left_begin[s];
      for (std::size_t t = 0; t < plan.n_tests[s]; ++t, given += lanes) {
        const auto truth = static_cast<std::size_t>(target().codes[static_cast<std::size_t>(left[t])]);
        ++own.counts[(s * n_classes + truth) * n_classes + static_cast<std::size_t>(*given)];
      }
    }
    scorer.of_confusion(at, own.counts.data(), own.scores, out);
  }
}

// The classes of the test samples of a split, codes[t][lanes], and which lanes are unsure of one.
void RidgeFitness::decide(const Flips& common, std::size_t s, const std::int32_t* left,
                          const double* residuals, const double* v, const double* change,
                          const double* slack, const double* steady, std::int32_t* codes,
                          double* unsure) const {
  using namespace ridge_detail;
  const std::vector<std::size_t>& trained = common.trained[s];
  const std::size_t n_tests = common.plan.n_tests[s];
  const auto base_of = [&](std::size_t t, std::size_t c) {
    const std::size_t sample = static_cast<std::size_t>(left[t]);
    return common.targets[sample * ld_targets_ + c] - residuals[t * ld_targets_ + c];
  };
  if (trained.size() < 2) {
    std::fill_n(codes, n_tests * lanes, static_cast<std::int32_t>(trained.front()));
    return;
  }
  if (trained.size() == 2) {
    const std::size_t c = n_targets_ == 1 ? 0 : trained[1];
    const std::int32_t low = static_cast<std::int32_t>(trained[0]);
    const std::int32_t high = static_cast<std::int32_t>(trained[1]);
    for (std::size_t t = 0; t < n_tests; ++t) {
      const double f = base_of(t, c);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double along = v[t * lanes + lane];
        const double value = f + along * change[c * lanes + lane];
        const double bound = steady[lane] + slack[c * lanes + lane] * std::abs(along);
        codes[t * lanes + lane] = value > 0 ? high : low;
        unsure[lane] = std::abs(value) > bound ? unsure[lane] : 1.0;  // NaN is unsure
      }
    }
    return;
  }
  for (std::size_t t = 0; t < n_tests; ++t) {
    alignas(64) Lanes best, second, best_bound, second_upper;
    std::int32_t* own = codes + t * lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      best[lane] = -HUGE_VAL;
      second_upper[lane] = -HUGE_VAL;
      best_bound[lane] = 0;
      second[lane] = 0;
    }
    for (const std::size_t c : trained) {
      const double f = base_of(t, c);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double along = v[t * lanes + lane];
        const double value = f + along * change[c * lanes + lane];
        const double bound = steady[lane] + slack[c * lanes + lane] * std::abs(along);
        const bool wins = value > best[lane];
        const double loser = wins ? best[lane] + best_bound[lane] : value + bound;
        second_upper[lane] = std::max(second_upper[lane], loser);
        best_bound[lane] = wins ? bound : best_bound[lane];
        best[lane] = wins ? value : best[lane];
        own[lane] = wins ? static_cast<std::int32_t>(c) : own[lane];
        second[lane] += value * 0;  // NaN stays
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool sure = best[lane] - best_bound[lane] + second[lane] > second_upper[lane];
      unsure[lane] = sure ? unsure[lane] : 1.0;
      if (!sure) own[lane] = static_cast<std::int32_t>(trained.front());
    }
  }
}

// Neighbors that the pass left open, each as it would be alone.
void RidgeFitness::answer_open(const Word* base, const std::int64_t* flips,
                               const std::vector<char>& open, const TargetSplits& at,
                               const Scorer& scorer, int n_threads, double* scores,
                               bool* declined) {
  std::vector<std::size_t> rows;
  const bool is_single = count_bits(base, n_words()) == 1;
  for (std::size_t m = 0; m < open.size(); ++m) {
    const bool is_empty = is_single && get_bit(base, static_cast<std::size_t>(flips[m]));
    if (open[m] != 0 || is_empty) rows.push_back(m);
  }
  flips_open_ += rows.size();
  const std::size_t n_splits = at.splits.n_splits;
  constexpr std::size_t most = 1024;  // masks written out at a time
  std::vector<Word> words;
  std::vector<double> answers;
  const auto unanswered = std::make_unique<bool[]>(most);
  for (std::size_t first = 0; first < rows.size(); first += most) {
    const std::size_t count = std::min(most, rows.size() - first);
    words.resize(count * n_words());
    answers.resize(count * n_splits);
    const std::vector<std::uint64_t> seeds(count, at.seed);
    for (std::size_t m = 0; m < count; ++m) {
      Word* mask = words.data() + m * n_words();
      std::copy(base, base + n_words(), mask);
      flip_bit(mask, static_cast<std::size_t>(flips[rows[first + m]]));
    }
    evaluate_batch({words.data(), count, seeds.data(), base, count}, scorer, n_threads,
                   answers.data(), unanswered.get());
    for (std::size_t m = 0; m < count; ++m) {
      const std::size_t row = rows[first + m];
      std::copy_n(answers.data() + m * n_splits, n_splits, scores + row * n_splits);
      if (declined != nullptr) declined[row] = unanswered[m];
    }
  }
}

}  // namespace bitsieve
