#include "bitsieve/fitness/knn.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "knn_worker.hpp"

namespace bitsieve {

KnnFitness::KnnFitness(const TableView& table, const Arbiter& arbiter, Target target,
                       SplitSource source, const KnnSettings& settings)
    : table_(table),
      arbiter_(arbiter),
      target_(std::move(target)),
      source_(std::move(source)),
      settings_(settings),
      n_words_(words_for(table.n_features)),
      first_of_pair_(std::make_unique<Matrix>()),
      generation_(fork_generation()) {}

KnnFitness::~KnnFitness() = default;

void KnnFitness::forget() {
  mutex_.release();  // never unlocked by anyone here: left behind
  mutex_ = std::make_unique<std::mutex>();
  owner_ = std::thread::id();
  state_.reset();
  full_.reset();
  pair_.reset();
  first_of_pair_ = std::make_unique<Matrix>();
  workers_.clear();
  full_credit_ = median_credit_ = pair_credit_ = 0;
  last_median_.clear();
  last_either_.clear();
  last_both_.clear();
}

KnnFitness::Counters KnnFitness::counters() {
  const Session session(*this);
  return counters_;
}

void KnnFitness::set_splits(Splits splits) {
  fixed_target_ = SplitTarget(splits, target_);
  source_.set(std::move(splits));
}

void KnnFitness::set_groups(std::vector<std::int32_t> groups, std::size_t n_groups) {
  source_.set_groups(std::move(groups), n_groups);
}

TargetSplits KnnFitness::splits_for(std::uint64_t seed, Worker& worker) const {
  if (source_.is_fixed()) return {source_.fixed(), fixed_target_};
  if (!worker.has_splits || worker.splits_seed != seed) {
    worker.has_splits = false;
    worker.splits = source_.fresh(seed);
    worker.split_target = SplitTarget(worker.splits, target_);
    worker.splits_seed = seed;
    worker.has_splits = true;
  }
  return {worker.splits, worker.split_target};
}

std::vector<std::unique_ptr<KnnFitness::Worker>>& KnnFitness::workers(int n_threads) {
  const int wanted = std::clamp(n_threads, 1, max_threads);
  while (workers_.size() < static_cast<std::size_t>(wanted)) {
    workers_.push_back(std::make_unique<Worker>(table_, target_.codes.data(), arbiter_));
  }
  return workers_;
}

const GramState* KnnFitness::origin_of(Origin origin) const {
  if (origin == Origin::state) return state_.get();
  return origin == Origin::full ? full_.get() : nullptr;
}

GramState& KnnFitness::state() {
  if (!state_) state_ = std::make_unique<GramState>(table_);
  return *state_;
}

// ---- from a Gram matrix to counts -----------------------------------------------------------

void KnnFitness::count_row(std::size_t i, const float* gram_row, const Splits& splits,
                           Worker& worker, Tally tally) {
  const std::int64_t first = splits.place_begin[i], last = splits.place_begin[i + 1];
  if (first == last) return;
  const std::size_t n_words = splits.n_words, n_classes = target_.n_classes;
  const std::int32_t* codes = target_.codes.data();
  const auto features = [&]() -> const std::vector<std::int32_t>& { return worker.features; };
  worker.order.begin_row(i, gram_row);

  if (settings_.n_neighbors == 1 && tally.votes == nullptr) {
    // All splits at once, a bit each: a candidate decides those that train on it and are open.
    worker.pending.assign(splits.testing.begin() + static_cast<std::ptrdiff_t>(i * n_words),
                          splits.testing.begin() + static_cast<std::ptrdiff_t>((i + 1) * n_words));
    const std::size_t own = static_cast<std::size_t>(codes[i]);
    for (bool open = true; open;) {
      const std::ptrdiff_t j = worker.order.next(features);
      if (j < 0) return;
      const Word* training = splits.training.data() + static_cast<std::size_t>(j) * n_words;
      const bool hit = codes[j] == codes[i];
      open = false;
      for (std::size_t w = 0; w < n_words; ++w) {
        const Word decided = worker.pending[w] & training[w];
        worker.pending[w] ^= decided;
        open = open || worker.pending[w] != 0;
        if (hit) {
          for_each_bit(decided, w, [&](std::size_t s) { ++tally.hits[s * n_classes + own]; });
        }
      }
    }
    return;
  }

  const std::size_t n_places = static_cast<std::size_t>(last - first);
  worker.remaining.assign(n_places, static_cast<std::int32_t>(settings_.n_neighbors));
  worker.votes.assign(n_places * n_classes, 0);
  for (std::size_t open = n_places; open > 0;) {
    const std::ptrdiff_t j = worker.order.next(features);
    if (j < 0) break;
    const Word* training = splits.training.data() + static_cast<std::size_t>(j) * n_words;
    for (std::size_t t = 0; t < n_places; ++t) {
      const std::size_t split =
          static_cast<std::size_t>(splits.places[static_cast<std::size_t>(first) + t].split);
      if (worker.remaining[t] == 0 || !get_bit(training, split)) continue;
      ++worker.votes[t * n_classes + static_cast<std::size_t>(codes[j])];
      if (--worker.remaining[t] == 0) --open;
    }
  }
  for (std::size_t t = 0; t < n_places; ++t) {
    const Splits::Place& place = splits.places[static_cast<std::size_t>(first) + t];
    const std::int32_t* votes = worker.votes.data() + t * n_classes;
    if (tally.votes != nullptr) {
      std::copy(votes, votes + n_classes,
                tally.votes + static_cast<std::size_t>(place.position) * n_classes);
    } else if (std::max_element(votes, votes + n_classes) - votes == codes[i]) {
      // max_element returns the first of equals: a tied vote goes to the lowest class.
      ++tally.hits[static_cast<std::size_t>(place.split) * n_classes +
                   static_cast<std::size_t>(codes[i])];
    }
  }
}

void KnnFitness::count_streaming(const Word* mask, const Splits& splits, int n_threads,
                                 Tally tally) {
  const std::size_t n = table_.n_samples, ld = table_.ld;
  auto& pool = workers(n_threads);
  std::vector<std::int32_t> features;
  list_bits(mask, n_words_, features);
  std::vector<double> squares(ld, 0.0);
  for (const std::int32_t f : features) {
    const float* row = table_.row(static_cast<std::size_t>(f));
    for (std::size_t j = 0; j < n; ++j) squares[j] += static_cast<double>(row[j]) * row[j];
  }
  const double share = gram_error(features.size()) + float_share;
  const bool exact = exact_sums(features, {});
  std::vector<double> bounds(n);
  for (std::size_t j = 0; j < n; ++j) {
    bounds[j] =
        exact ? 0 : share * squares[j] + static_cast<double>(features.size() + 1) * underflow;
  }
  // A block of rows should stay in the second-level cache beside the columns it meets.
  const std::size_t n_rows =
      std::clamp<std::size_t>((std::size_t{1} << 18) / ld / 16 * 16, 16, 128);
  const std::size_t n_blocks = (n + n_rows - 1) / n_rows;
  const std::size_t n_hits = splits.n_splits * target_.n_classes;
  for (auto& worker : pool) {
    worker->features = features;
    worker->hits.assign(n_hits, 0);
    worker->order.begin_matrix(squares.data(), bounds.data());
  }
  parallel_for_worker(n_blocks, n_threads, [&](std::size_t block, int w) {
    Worker& worker = *pool[static_cast<std::size_t>(w)];
    const std::size_t begin = block * n_rows;
    const std::size_t end = std::min(begin + n_rows, ld);
    Matrix& matrix = worker.matrix;
    matrix.gram.resize(n_rows * ld);
    matrix.partial.resize(n_rows * ld);
    float_gram(table_, features, {}, {begin, end, 0, ld, false}, matrix.gram.data(),
               matrix.partial.data());
    for (std::size_t i = begin; i < std::min(end, n); ++i) {
      count_row(i, matrix.gram.data() + (i - begin) * ld, splits, worker,
                {worker.hits.data(), tally.votes});
    }
  });
  if (tally.hits != nullptr) {
    for (const auto& worker : pool) {
      for (std::size_t k = 0; k < n_hits; ++k) tally.hits[k] += worker->hits[k];
    }
  }
}

// ---- scores ---------------------------------------------------------------------------------

void KnnFitness::scores_of(const std::int32_t* hits, const SplitTarget& split, HitScore score,
                           double* out) const {
  const std::size_t n_classes = target_.n_classes, n_splits = source_.n_splits();
  for (std::size_t s = 0; s < n_splits; ++s) {
    const std::int32_t* right = hits + s * n_classes;
    const std::int32_t* tested = split.test_of_class.data() + s * n_classes;
    double sum = 0, total = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      if (score == HitScore::accuracy) {
        sum += right[c];
        total += tested[c];
      } else if (tested[c] > 0) {
        sum += static_cast<double>(right[c]) / tested[c];
        total += 1;
      }
    }
    out[s] = sum / total;
  }
}

void KnnFitness::empty_scores(const SplitTarget& split, HitScore score, double* out) const {
  // The most frequent class of each training set, as DummyClassifier("prior") says.
  std::vector<std::int32_t> hits(split.test_of_class.size(), 0);
  for (std::size_t s = 0; s < split.majority.size(); ++s) {
    const std::size_t k = s * target_.n_classes + static_cast<std::size_t>(split.majority[s]);
    hits[k] = split.test_of_class[k];
  }
  scores_of(hits.data(), split, score, out);
}

// ---- evaluation -----------------------------------------------------------------------------

void KnnFitness::run(const Word* masks, std::vector<Task>& tasks, const std::uint64_t* seeds,
                     HitScore score, int n_threads, double* scores, std::int32_t* votes) {
  auto& pool = workers(n_threads);
  const std::size_t columns = n_splits(), n_classes = target_.n_classes;
  const bool streaming = table_.n_samples > matrix_samples;
  const bool shared = source_.is_fixed() ||
                      std::all_of(tasks.begin(), tasks.end(), [&](const Task& task) {
                        return seeds[task.mask] == seeds[tasks.front().mask];
                      });
  Matrix& first = *first_of_pair_;
  // Splits that all masks share are made once, by the first worker.
  Worker* common = shared ? pool[0].get() : nullptr;
  if (shared && !tasks.empty()) splits_for(seeds[tasks.front().mask], *common);
  const auto one = [&](std::size_t t, int w) {
    const Task& task = tasks[t];
    Worker& worker = *pool[static_cast<std::size_t>(w)];
    const auto [splits, split_target] =
        splits_for(seeds[task.mask], common != nullptr ? *common : worker);
    const Word* mask = masks + task.mask * n_words_;
    Tally tally;
    std::vector<std::int32_t> hits;
    if (votes != nullptr) {
      tally.votes = votes + task.mask * splits.test_samples.size() * n_classes;
      std::fill(tally.votes, tally.votes + splits.test_samples.size() * n_classes, 0);
    } else {
      hits.assign(splits.n_splits * n_classes, 0);
      tally.hits = hits.data();
    }
    double* out = scores == nullptr ? nullptr : scores + task.mask * columns;
    if (count_bits(mask, n_words_) == 0) {
      if (out != nullptr) empty_scores(split_target, score, out);
      return;
    }
    if (streaming) {
      count_streaming(mask, splits, n_threads, tally);
    } else {
      Matrix* matrix = &worker.matrix;
      if (task.origin == Origin::pair_first) {
        matrix = &first;
      } else if (task.origin == Origin::pair_second) {
        derive(first, *matrix);
      } else {
        build(mask, origin_of(task.origin), tasks.size() == 1 ? n_threads : 1, *matrix);
      }
      count_matrix(mask, *matrix, splits, worker, tally);
    }
    if (out != nullptr) scores_of(hits.data(), split_target, score, out);
  };
  if (streaming) {
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      one(t, 0);
      check_interrupt();
    }
  } else {
    // A pair's common matrix is made by all threads; the rest is a mask a thread, the dear ones
    // first, so that the threads end together.
    for (const Task& task : tasks) {
      if (task.origin == Origin::pair_first) {
        build(masks + task.mask * n_words_, state_.get(), n_threads, first);
      }
    }
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const Task& a, const Task& b) { return a.cost > b.cost; });
    parallel_for_worker(tasks.size(), n_threads, one);
  }
  for (const auto& worker : pool) counters_.arbitrated += worker->order.take_arbitrated();
}

void KnnFitness::evaluate(const Word* masks, std::size_t n_masks, const std::uint64_t* seeds,
                          HitScore score, int n_threads, double* scores) {
  const Session session(*this);
  std::vector<Task> tasks;
  plan(masks, n_masks, n_threads, tasks);
  run(masks, tasks, seeds, score, n_threads, scores, nullptr);
}

void KnnFitness::votes(const Word* masks, std::size_t n_masks, const std::uint64_t* seeds,
                       int n_threads, std::int32_t* votes) {
  const Session session(*this);
  std::vector<Task> tasks;
  plan(masks, n_masks, n_threads, tasks);
  run(masks, tasks, seeds, HitScore::accuracy, n_threads, nullptr, votes);
}

void KnnFitness::state_of(const Word* mask, int n_threads, std::int64_t* gram, double* unit) {
  const Session session(*this);
  if (table_.n_samples > matrix_samples) {
    throw std::invalid_argument("no state is kept for more than " +
                                std::to_string(matrix_samples) + " samples");
  }
  state().move_to(mask, n_threads);
  const std::size_t n = table_.n_samples;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      gram[i * n + j] = state_->gram().at(i, j);
    }
  }
  *unit = state_->unit();
}

}  // namespace bitsieve
