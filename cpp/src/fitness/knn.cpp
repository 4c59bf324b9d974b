#include "bitsieve/fitness/knn.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "bitsieve/core/parallel.hpp"
#include "knn_worker.hpp"

namespace bitsieve {
namespace {

// Set bits below position s.
std::size_t rank(const Word* words, std::size_t s) {
  return count_bits(words, s / 64) +
         static_cast<std::size_t>(std::popcount(words[s / 64] & ((Word{1} << (s % 64)) - 1)));
}

}  // namespace

KnnFitness::KnnFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                       KnnOptions options)
    : GramFitness(std::move(table), std::move(target), std::move(source)),
      recheck_(recheck_of(this->table())),
      options_(options) {
  // The share of a single neighbor is 1 at any distance.
  if (options_.n_neighbors == 1) options_.by_distance = false;
}

KnnFitness::~KnnFitness() = default;

std::unique_ptr<MaskFitness::Worker> KnnFitness::make_worker() const {
  return std::make_unique<Finder>(table().view(), target(), options_, is_ordered(), recheck_);
}

MaskFitness::Counters KnnFitness::count() const {
  Counters out = GramFitness::count();
  out.emplace_back("flips_open", flips_open_);
  return out;
}

void KnnFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at,
                         int n_threads, Worker& worker, const Answer& answer) {
  const Word* mask = masks + index * n_words();
  if (answer.values != nullptr) {
    std::fill(answer.values, answer.values + at.splits.test_samples.size() * n_values(), 0.0);
  }
  if (!planner_.has_matrices()) {
    predict_streaming(mask, at.splits, n_threads, answer);
    return;
  }
  Finder& finder = static_cast<Finder&>(worker);
  GramMatrix& matrix = planner_.make(masks, index, n_threads, finder.matrix);
  list_bits(mask, n_words(), finder.features);
  finder.order.begin_mask();
  finder.order.begin_matrix(matrix.squares.data(), matrix.bounds.data());
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  for (std::size_t i = 0; i < n; ++i) {
    walk(i, matrix.gram.data() + i * ld, at.splits, finder, answer);
  }
}

// Rows are made block by block. Counts of several threads would have to be added up, so that
// predictions are written down instead: next to n^2 products they cost nothing.
void KnnFitness::predict_streaming(const Word* mask, const Splits& splits, int n_threads,
                                   const Answer& answer) {
  const TableView& view = table().view();
  const std::size_t n = view.n_samples, ld = view.ld;
  auto& pool = workers(n_threads);
  std::vector<std::int32_t> features, classes;
  list_bits(mask, n_words(), features);
  Answer out;
  out.classes = answer.classes;
  out.values = answer.values;
  const bool count = answer.hits != nullptr || answer.confusion != nullptr;
  if (count && out.classes == nullptr) {
    classes.resize(splits.test_samples.size());
    out.classes = classes.data();
  }
  GramMatrix whole;
  planner_.measure(features, whole);
  // A block of rows should stay in the second-level cache beside the columns it meets.
  const std::size_t n_rows =
      std::clamp<std::size_t>((std::size_t{1} << 18) / ld / 16 * 16, 16, 128);
  const std::size_t n_blocks = (n + n_rows - 1) / n_rows;
  for (auto& worker : pool) {
    Finder& finder = static_cast<Finder&>(*worker);
    finder.features = features;
    finder.order.begin_mask();
    finder.order.begin_matrix(whole.squares.data(), whole.bounds.data());
  }
  parallel_for_worker(n_blocks, n_threads, [&](std::size_t block, int w) {
    Finder& finder = static_cast<Finder&>(*pool[static_cast<std::size_t>(w)]);
    const std::size_t begin = block * n_rows;
    const std::size_t end = std::min(begin + n_rows, ld);
    GramMatrix& matrix = finder.matrix;
    matrix.gram.resize(n_rows * ld);
    matrix.partial.resize(n_rows * ld);
    float_gram(view, features, {}, {begin, end, 0, ld, false}, matrix.gram.data(),
               matrix.partial.data());
    for (std::size_t i = begin; i < std::min(end, n); ++i) {
      walk(i, matrix.gram.data() + (i - begin) * ld, splits, finder, out);
    }
  });
  if (count) {
    Answer all = answer;
    all.classes = out.classes;
    count_classes(splits, all);
  }
}

// The neighbors of sample i in every split that tests it.
void KnnFitness::walk(std::size_t i, const float* gram_row, const Splits& splits, Finder& finder,
                      const Answer& answer) const {
  const std::int64_t first = splits.place_begin[i], last = splits.place_begin[i + 1];
  if (first == last) return;
  finder.order.begin_row(i, gram_row);
  if (is_ordered() || options_.n_neighbors == 1) {
    if (is_ordered()) {
      walk_ordered(i, splits, finder, answer);
    } else {
      walk_nearest(i, splits, finder, answer);
    }
    finder.n_rechecked += finder.order.take_rechecked();
    return;
  }
  const std::size_t n_classes = target().n_classes, own = static_cast<std::size_t>(target().codes[i]);
  const std::int32_t* codes = target().codes.data();
  const auto features = [&]() -> const std::vector<std::int32_t>& { return finder.features; };
  const std::size_t n_places = static_cast<std::size_t>(last - first);
  finder.remaining.assign(n_places, static_cast<std::int32_t>(options_.n_neighbors));
  finder.votes.assign(n_places * n_classes, 0);
  for (std::size_t open = n_places; open > 0;) {
    const std::ptrdiff_t j = finder.order.next(features);
    if (j < 0) break;
    const Word* training = splits.training.data() + static_cast<std::size_t>(j) * splits.n_words;
    for (std::size_t t = 0; t < n_places; ++t) {
      const std::size_t split =
          static_cast<std::size_t>(splits.places[static_cast<std::size_t>(first) + t].split);
      if (finder.remaining[t] == 0 || !get_bit(training, split)) continue;
      ++finder.votes[t * n_classes + static_cast<std::size_t>(codes[j])];
      if (--finder.remaining[t] == 0) --open;
    }
  }
  finder.n_rechecked += finder.order.take_rechecked();
  for (std::size_t t = 0; t < n_places; ++t) {
    const Splits::Place& place = splits.places[static_cast<std::size_t>(first) + t];
    const std::int32_t* votes = finder.votes.data() + t * n_classes;
    // The first of equals: a tied vote goes to the lowest class.
    const std::size_t given =
        static_cast<std::size_t>(std::max_element(votes, votes + n_classes) - votes);
    const std::size_t s = static_cast<std::size_t>(place.split);
    const std::size_t at = static_cast<std::size_t>(place.position);
    if (answer.hits != nullptr) answer.hits[s * n_classes + own] += given == own;
    if (answer.confusion != nullptr) {
      ++answer.confusion[(s * n_classes + own) * n_classes + given];
    }
    if (answer.classes != nullptr) answer.classes[at] = static_cast<std::int32_t>(given);
    if (answer.values != nullptr) {
      for (std::size_t c = 0; c < n_classes; ++c) {
        answer.values[at * n_classes + c] =
            static_cast<double>(votes[c]) / static_cast<double>(options_.n_neighbors);
      }
    }
  }
}

// Neighbors whose distances count, or whose numbers are summed in their order.
void KnnFitness::walk_ordered(std::size_t i, const Splits& splits, Finder& finder,
                              const Answer& answer) const {
  const std::int64_t first = splits.place_begin[i], last = splits.place_begin[i + 1];
  const Splits::Place* places = splits.places.data() + first;
  const std::size_t n_places = static_cast<std::size_t>(last - first);
  const auto features = [&]() -> const std::vector<std::int32_t>& { return finder.features; };
  KnnVotes& votes = finder.sums;
  votes.begin(n_places);
  for (std::size_t open = n_places; open > 0;) {
    const std::ptrdiff_t j = finder.order.next(features);
    if (j < 0) break;
    const std::size_t sample = static_cast<std::size_t>(j);
    const Word* training = splits.training.data() + sample * splits.n_words;
    double square = -1;
    for (std::size_t t = 0; t < n_places; ++t) {
      if (!votes.is_open(t) || !get_bit(training, static_cast<std::size_t>(places[t].split))) {
        continue;
      }
      if (square < 0) square = options_.by_distance ? finder.order.distance(features) : 0;
      votes.add(t, sample, square);
      if (!votes.is_open(t)) --open;
    }
  }
  for (std::size_t t = 0; t < n_places; ++t) votes.write(t, i, places[t], answer);
}

// All splits at once, a bit each: a candidate decides those that train on it and are open.
void KnnFitness::walk_nearest(std::size_t i, const Splits& splits, Finder& finder,
                              const Answer& answer) const {
  const std::size_t n_words = splits.n_words, n_classes = target().n_classes;
  const std::int32_t* codes = target().codes.data();
  const std::size_t own = static_cast<std::size_t>(codes[i]);
  const Word* testing = splits.testing.data() + i * n_words;
  const Splits::Place* places = splits.places.data() + splits.place_begin[i];
  const auto features = [&]() -> const std::vector<std::int32_t>& { return finder.features; };
  // Here, so that no count that is written makes the compiler read them again.
  std::int32_t* const hits = answer.hits;
  std::int32_t* const confusion = answer.confusion;
  const bool written = answer.classes != nullptr || answer.values != nullptr;
  finder.pending.assign(testing, testing + n_words);
  for (bool open = true; open;) {
    const std::ptrdiff_t j = finder.order.next(features);
    if (j < 0) return;
    const Word* training = splits.training.data() + static_cast<std::size_t>(j) * n_words;
    const std::size_t given = static_cast<std::size_t>(codes[j]);
    open = false;
    for (std::size_t w = 0; w < n_words; ++w) {
      const Word decided = finder.pending[w] & training[w];
      finder.pending[w] ^= decided;
      open = open || finder.pending[w] != 0;
      if (hits != nullptr && given == own) {
        for_each_bit(decided, w, [&](std::size_t s) { ++hits[s * n_classes + own]; });
      }
      if (confusion != nullptr) {
        for_each_bit(decided, w, [&](std::size_t s) {
          ++confusion[(s * n_classes + own) * n_classes + given];
        });
      }
      if (written) {
        // A sample's places are in the order of its splits.
        for_each_bit(decided, w, [&](std::size_t s) {
          const std::size_t at = static_cast<std::size_t>(places[rank(testing, s)].position);
          if (answer.classes != nullptr) answer.classes[at] = static_cast<std::int32_t>(given);
          if (answer.values != nullptr) answer.values[at * n_classes + given] = 1;
        });
      }
    }
  }
}

void KnnFitness::state_of(const Word* mask, int n_threads, std::int64_t* gram, double* unit) {
  const Session session(*this);
  if (!planner_.has_matrices()) {
    throw std::invalid_argument("no state is kept for more than " +
                                std::to_string(matrix_samples) + " samples");
  }
  GramState& state = planner_.state();
  state.move_to(mask, n_threads);
  const std::size_t n = table().view().n_samples;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) gram[i * n + j] = state.gram().at(i, j);
  }
  *unit = state.unit();
}

}  // namespace bitsieve
