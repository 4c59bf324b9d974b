#include "bitsieve/fitness/mask_fitness.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace bitsieve {
namespace {

constexpr std::size_t confused_classes = 64;  // counted by pairs; more would take memory

}  // namespace

MaskFitness::MaskFitness(std::shared_ptr<const Table> table, Target target, SplitSource source)
    : table_(std::move(table)),
      target_(std::move(target)),
      source_(std::move(source)),
      n_words_(words_for(table_->view().n_features)),
      generation_(fork_generation()) {}

MaskFitness::~MaskFitness() = default;

void MaskFitness::require_classes() const {
  if (!target_.is_classes()) {
    throw std::invalid_argument("the target of this model must be classes");
  }
}

// ---- sessions -------------------------------------------------------------------------------

MaskFitness::Session::Session(MaskFitness& fitness) : fitness_(fitness) {
  renew_after_fork(fitness.generation_, [&] { fitness.forget(); });
  if (fitness.owner_.load() == std::this_thread::get_id()) {
    throw std::logic_error("a signal handler called the fitness that it interrupted");
  }
  lock_ = std::unique_lock<std::mutex>(*fitness.mutex_);
  fitness.owner_ = std::this_thread::get_id();
}

void MaskFitness::forget() {
  leave_behind(mutex_);  // never unlocked by anyone here
  mutex_ = std::make_unique<std::mutex>();
  owner_ = std::thread::id();
  leave_behind(workers_);
  forget_states();
}

MaskFitness::Counters MaskFitness::counters() {
  const Session session(*this);
  Counters out = count();
  std::uint64_t rechecked = 0;
  for (const auto& worker : workers_) rechecked += worker->n_rechecked;
  out.emplace_back("rechecked", rechecked);
  return out;
}

std::vector<std::unique_ptr<MaskFitness::Worker>>& MaskFitness::workers(int n_threads) {
  const int wanted = std::clamp(n_threads, 1, max_threads);
  while (workers_.size() < static_cast<std::size_t>(wanted)) workers_.push_back(make_worker());
  return workers_;
}

// ---- splits ---------------------------------------------------------------------------------

void MaskFitness::set_splits(Splits splits) {
  fixed_target_ = SplitTarget(splits, target_);
  source_.set(std::move(splits));
}

void MaskFitness::set_weights(std::vector<double> weights) {
  const Session session(*this);
  if (!workers_.empty() || source_.n_splits() == 0) {
    throw std::invalid_argument("weights are set after the splits, before the first evaluation");
  }
  target_.weights = std::move(weights);
  if (source_.is_fixed()) fixed_target_ = SplitTarget(source_.fixed(), target_);
}

void MaskFitness::set_groups(std::vector<std::int32_t> groups, std::size_t n_groups) {
  const Session session(*this);
  if (!workers_.empty()) {  // some may keep folds
    throw std::invalid_argument("groups are set before the first evaluation");
  }
  source_.set_groups(std::move(groups), n_groups);
}

TargetSplits MaskFitness::splits_for(std::uint64_t seed, Worker& worker) const {
  if (source_.is_fixed()) return {source_.fixed(), fixed_target_};
  if (!worker.has_splits || worker.seed != seed) {
    worker.has_splits = false;
    worker.splits = source_.fresh(seed);
    worker.split_target = SplitTarget(worker.splits, target_);
    worker.seed = seed;
    worker.has_splits = true;
  }
  return {worker.splits, worker.split_target, seed};
}

bool MaskFitness::shares_splits(const MaskBatch& batch) const {
  return source_.is_fixed() ||
         std::all_of(batch.seeds, batch.seeds + batch.n_masks,
                     [&](std::uint64_t seed) { return seed == batch.seeds[0]; });
}

// ---- batches --------------------------------------------------------------------------------

void MaskFitness::prepare(const MaskBatch& batch, int, std::vector<std::size_t>& costs) {
  costs.resize(batch.n_masks);
  for (std::size_t m = 0; m < batch.n_masks; ++m) {
    costs[m] = count_bits(batch.masks + m * n_words_, n_words_);
  }
}

bool MaskFitness::evaluate_neighbors(const Word*, const std::int64_t*, std::size_t,
                                     const TargetSplits&, const Scorer&, int, double*, bool*) {
  return false;
}

void MaskFitness::for_each_mask(const MaskBatch& batch, int n_threads,
                                FunctionRef<std::size_t, const TargetSplits&, Worker&, int> body) {
  if (batch.n_masks == 0) return;
  std::vector<std::size_t> costs;
  prepare(batch, n_threads, costs);
  auto& pool = workers(n_threads);
  // Splits that all masks share are made once, by the first worker.
  const std::uint64_t* seeds = batch.seeds;
  const bool shared = shares_splits(batch);
  Worker* common = shared ? pool[0].get() : nullptr;
  if (shared) splits_for(seeds[0], *common);
  const auto one = [&](std::size_t m, Worker& worker, int threads) {
    const TargetSplits at = splits_for(seeds[m], common != nullptr ? *common : worker);
    body(m, at, worker, threads);
  };
  if (takes_all_threads()) {
    for (std::size_t m = 0; m < batch.n_masks; ++m) {
      one(m, *pool[0], n_threads);
      check_interrupt();
    }
    return;
  }
  // The dear ones first, so that the threads end together.
  std::vector<std::size_t> order(batch.n_masks);
  for (std::size_t m = 0; m < order.size(); ++m) order[m] = m;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  const int threads = batch.n_masks == 1 ? n_threads : 1;
  parallel_for_worker(batch.n_masks, n_threads, [&](std::size_t t, int w) {
    one(order[t], *pool[static_cast<std::size_t>(w)], threads);
  });
}

// ---- scores ---------------------------------------------------------------------------------

MaskFitness::Way MaskFitness::way_of(const Scorer& scorer) const {
  const bool of_classes = is_of_classes(scorer.score().metric);
  const bool certain = is_certain() && scorer.score().reads == Outputs::Kind::probabilities;
  if (of_classes || certain) {
    if (scorer.takes_hits()) return Way::hits;
    if (target_.n_classes <= confused_classes) return Way::confusion;
    if (of_classes) return Way::classes;
  }
  if (scorer.score().reads != kind()) {
    throw std::invalid_argument("the score reads what this model does not give");
  }
  return Way::values;
}

void MaskFitness::count_classes(const Splits& splits, const Answer& answer) const {
  const std::size_t n_classes = target_.n_classes;
  if (answer.hits == nullptr && answer.confusion == nullptr) return;
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    for (std::int64_t k = splits.test_begin[s]; k < splits.test_begin[s + 1]; ++k) {
      const std::size_t t = static_cast<std::size_t>(k);
      const std::size_t i = static_cast<std::size_t>(splits.test_samples[t]);
      const std::size_t own = static_cast<std::size_t>(target_.codes[i]);
      const std::size_t given = static_cast<std::size_t>(answer.classes[t]);
      if (answer.hits != nullptr) answer.hits[s * n_classes + own] += given == own;
      if (answer.confusion != nullptr) {
        ++answer.confusion[(s * n_classes + own) * n_classes + given];
      }
    }
  }
}

// What DummyClassifier("prior") and DummyRegressor() say.
void MaskFitness::predict_empty(const TargetSplits& at, std::int32_t* classes, double* values,
                                std::size_t n_values) const {
  const std::size_t n_classes = target_.n_classes;
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    for (std::int64_t k = at.splits.test_begin[s]; k < at.splits.test_begin[s + 1]; ++k) {
      const std::size_t t = static_cast<std::size_t>(k);
      if (classes != nullptr) classes[t] = at.target.majority[s];
      if (values == nullptr) continue;
      double* row = values + t * n_values;
      if (!target_.is_classes()) {
        row[0] = at.target.mean[s];
        continue;
      }
      const double* prior = at.target.prior.data() + s * n_classes;
      if (n_values == 1) {
        row[0] = prior[1] - 0.5;  // a decision: above zero is the second class
      } else {
        std::copy(prior, prior + n_values, row);
      }
    }
  }
}

void MaskFitness::score_empty(const TargetSplits& at, const Scorer& scorer, Worker& worker,
                              double* out) const {
  const std::size_t n_tests = at.splits.test_samples.size();
  Outputs outputs;
  if (target_.is_classes()) {
    worker.classes.resize(n_tests);
    outputs.classes = worker.classes.data();
    outputs.n_values = target_.n_classes;
    outputs.kind = Outputs::Kind::probabilities;
  } else {
    outputs.n_values = 1;
    outputs.kind = Outputs::Kind::numbers;
  }
  worker.values.resize(n_tests * outputs.n_values);
  outputs.values = worker.values.data();
  predict_empty(at, target_.is_classes() ? worker.classes.data() : nullptr, worker.values.data(),
                outputs.n_values);
  scorer.of_outputs(at, outputs, worker.scratch, out);
}

void MaskFitness::score_mask(const MaskBatch& batch, std::size_t index, const TargetSplits& at,
                             const Scorer& scorer, int n_threads, Worker& worker, double* out,
                             bool* declined) {
  if (declined != nullptr) *declined = false;
  if (count_bits(batch.masks + index * n_words_, n_words_) == 0) {
    score_empty(at, scorer, worker, out);
    return;
  }
  score_answer(at, scorer, worker, out, declined, [&](const Answer& answer) {
    predict(batch.masks, index, at, n_threads, worker, answer);
  });
}

void MaskFitness::score_found(const TargetSplits& at, const Scorer& scorer,
                              const std::int32_t* classes, const double* values, Worker& worker,
                              double* out) const {
  if (classes == nullptr && values == nullptr) {
    score_empty(at, scorer, worker, out);
    return;
  }
  const std::size_t n_tests = at.splits.test_samples.size();
  score_answer(at, scorer, worker, out, nullptr, [&](const Answer& answer) {
    if (answer.classes != nullptr) std::copy(classes, classes + n_tests, answer.classes);
    if (answer.values != nullptr) std::copy(values, values + n_tests * n_values(), answer.values);
    Answer counted;
    counted.hits = answer.hits;
    counted.confusion = answer.confusion;
    counted.classes = const_cast<std::int32_t*>(classes);  // read alone
    count_classes(at.splits, counted);
  });
}

void MaskFitness::score_answer(const TargetSplits& at, const Scorer& scorer, Worker& worker,
                               double* out, bool* declined,
                               FunctionRef<const Answer&> fill) const {
  const Way way = way_of(scorer);
  const std::size_t n_tests = at.splits.test_samples.size(), n_classes = target_.n_classes;
  Answer answer;
  bool is_declined = false;
  answer.declined = &is_declined;
  Outputs outputs;
  if (way == Way::values) {
    worker.values.resize(n_tests * n_values());
    outputs.values = answer.values = worker.values.data();
    outputs.n_values = n_values();
    outputs.kind = kind();
  }
  if (way == Way::classes || (way != Way::values && !counts())) {
    worker.classes.resize(n_tests);
    outputs.classes = answer.classes = worker.classes.data();
  }
  Answer counted;
  if (way == Way::hits || way == Way::confusion) {
    worker.counts.assign(at.splits.n_splits * n_classes * (way == Way::hits ? 1 : n_classes), 0);
    (way == Way::hits ? counted.hits : counted.confusion) = worker.counts.data();
  }
  if (counts()) {
    answer.hits = counted.hits;
    answer.confusion = counted.confusion;
  }
  fill(answer);
  if (is_declined) {
    std::fill(out, out + at.splits.n_splits, std::numeric_limits<double>::quiet_NaN());
    if (declined != nullptr) *declined = true;
    return;
  }
  if (!counts()) {
    counted.classes = answer.classes;
    count_classes(at.splits, counted);
  }
  if (way == Way::hits) {
    scorer.of_hits(at, worker.counts.data(), worker.scratch, out);
  } else if (way == Way::confusion) {
    scorer.of_confusion(at, worker.counts.data(), worker.scratch, out);
  } else {
    scorer.of_outputs(at, outputs, worker.scratch, out);
  }
}

void MaskFitness::evaluate_batch(const MaskBatch& batch, const Scorer& scorer, int n_threads,
                                 double* scores, bool* declined) {
  MaskBatch asked = batch;
  asked.wants_values = way_of(scorer) == Way::values;
  for_each_mask(asked, n_threads, [&](std::size_t m, const TargetSplits& at, Worker& worker,
                                      int threads) {
    score_mask(batch, m, at, scorer, threads, worker, scores + m * source_.n_splits(),
               declined == nullptr ? nullptr : declined + m);
  });
}

void MaskFitness::evaluate(const Word* masks, std::size_t n_masks, const std::uint64_t* seeds,
                           const Scorer& scorer, int n_threads, double* scores, bool* declined) {
  static_cast<void>(way_of(scorer));  // refuses what the model does not give
  const Session session(*this);
  const std::size_t most = most_masks();
  for (std::size_t first = 0; first < n_masks; first += most) {
    const std::size_t count = std::min(most, n_masks - first);
    evaluate_batch({masks + first * n_words_, count, seeds + first}, scorer, n_threads,
                   scores + first * source_.n_splits(),
                   declined == nullptr ? nullptr : declined + first);
  }
}

void MaskFitness::outputs(const Word* masks, std::size_t n_masks, const std::uint64_t* seeds,
                          int n_threads, std::int32_t* classes, double* values,
                          bool* declined) {
  const Session session(*this);
  const std::size_t n_tests = source_.n_tests(), width = n_values(), most = most_masks();
  for (std::size_t first = 0; first < n_masks; first += most) {
    const Word* from = masks + first * n_words_;
    const MaskBatch batch{from,    std::min(most, n_masks - first), seeds + first,
                          nullptr, 0, values != nullptr};
    for_each_mask(batch, n_threads, [&](std::size_t m, const TargetSplits& at, Worker& worker,
                                        int threads) {
      Answer answer;
      bool is_declined = false;
      answer.declined = &is_declined;
      if (classes != nullptr) answer.classes = classes + (first + m) * n_tests;
      if (values != nullptr) answer.values = values + (first + m) * n_tests * width;
      if (count_bits(from + m * n_words_, n_words_) == 0) {
        predict_empty(at, answer.classes, answer.values, width);
      } else {
        predict(from, m, at, threads, worker, answer);
      }
      if (declined != nullptr) declined[first + m] = is_declined;
      if (!is_declined) return;
      if (classes != nullptr) std::fill_n(answer.classes, n_tests, 0);
      if (values != nullptr) {
        std::fill_n(answer.values, n_tests * width, std::numeric_limits<double>::quiet_NaN());
      }
    });
  }
}

}  // namespace bitsieve
