// The compiled fitnesses: what all share, and the constructor of each.
#include "fitness.hpp"

#include <utility>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/fitness/centroid.hpp"
#include "bitsieve/fitness/gram_fitness.hpp"
#include "bitsieve/fitness/knn.hpp"
#include "bitsieve/fitness/knn_scaled.hpp"
#include "bitsieve/fitness/prior.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

void check_ranges(const Lists& begin, std::size_t n, std::size_t total) {
  const std::int64_t* b = begin.data();
  bool fine = b[0] == 0 && b[n] == static_cast<std::int64_t>(total);
  for (std::size_t k = 0; k < n; ++k) fine = fine && b[k] <= b[k + 1];
  require(fine, "ranges must ascend from 0 to the length of their list");
}

// One part of each split: in range, not empty, a sample once.
void check_parts(const Lists& list, const Lists& begin, std::size_t n_splits,
                 std::size_t n_samples) {
  check_ranges(begin, n_splits, length(list));
  std::vector<std::size_t> last(n_samples, n_splits);
  for (std::size_t s = 0; s < n_splits; ++s) {
    require(begin.data()[s] < begin.data()[s + 1], "a split must have both parts");
    for (std::int64_t k = begin.data()[s]; k < begin.data()[s + 1]; ++k) {
      const std::int64_t i = list.data()[k];
      require(i >= 0 && i < static_cast<std::int64_t>(n_samples),
              "splits must list samples in [0, n_samples)");
      require(last[static_cast<std::size_t>(i)] != s, "a split must list a sample once");
      last[static_cast<std::size_t>(i)] = s;
    }
  }
}

bool* declined_of(Declined& declined, std::size_t n_masks) {
  if (!declined) return nullptr;
  require(length(*declined) == n_masks, "declined must have one value a mask");
  return declined->mutable_data();
}

}  // namespace

Target make_target(const TargetArray& target, std::size_t n_samples, std::size_t n_classes) {
  Target out;
  if (const Codes* codes = std::get_if<Codes>(&target)) {
    check_codes(*codes, n_samples, n_classes);
    out.codes.assign(codes->data(), codes->data() + n_samples);
    out.n_classes = n_classes;
  } else {
    const Numbers& numbers = std::get<Numbers>(target);
    check_numbers(numbers, n_samples, "target must have one finite number a sample");
    require(n_classes == 0, "n_classes must be 0 where the target is numbers");
    out.numbers.assign(numbers.data(), numbers.data() + n_samples);
  }
  return out;
}

Splits make_splits(const Lists& train, const Lists& train_begin, const Lists& test,
                   const Lists& test_begin, std::size_t n_samples, std::size_t n_classes) {
  require(length(train_begin) >= 2 && length(train_begin) == length(test_begin),
          "train_begin and test_begin must have n_splits + 1 entries");
  const std::size_t n_splits = length(train_begin) - 1;
  require(n_splits < size_limit / std::max<std::size_t>(n_classes, 1),
          "there are too many splits");
  check_parts(train, train_begin, n_splits, n_samples);
  check_parts(test, test_begin, n_splits, n_samples);
  const py::gil_scoped_release release;
  return Splits::from_lists(train.data(), train_begin.data(), test.data(), test_begin.data(),
                            n_splits, n_samples);
}

SplitSource make_source(const Table& table, const Target& target, std::size_t n_repeats,
                        std::size_t n_folds, bool stratified) {
  const std::size_t n = table.view().n_samples, width = std::max<std::size_t>(target.n_classes, 1);
  require(n_repeats == 0 ? n_folds == 0 : n_folds >= 2 && n_folds <= n,
          "n_folds must lie in [2, n_samples], or be 0 with n_repeats=0");
  require(n_repeats < size_limit && n_repeats * n_folds < size_limit / width &&
              n_repeats < (std::size_t{1} << 40) / n,
          "n_repeats is too large");
  require(!stratified || target.is_classes(), "folds of numbers cannot be stratified");
  if (n_repeats == 0) return SplitSource(n);
  return SplitSource(n, n_repeats, n_folds,
                     stratified ? target.codes : std::vector<std::int32_t>(), target.n_classes);
}

// ---- what all share -------------------------------------------------------------------------

void PyFitness::set_splits(const Lists& train, const Lists& train_begin, const Lists& test,
                           const Lists& test_begin) {
  const SplitSource& source = fitness_->source();
  Splits splits = make_splits(train, train_begin, test, test_begin, source.n_samples(),
                              fitness_->target().n_classes);
  // Under the GIL from here on, as is whoever asks whether there are splits: of two callers at once
  // one is refused, and nobody evaluates before.
  require(source.is_fixed() && source.n_splits() == 0,
          "splits are set once, and not where folds come from seeds");
  fitness_->set_splits(std::move(splits));
}

void PyFitness::set_groups(const Codes& groups, std::size_t n_groups) {
  const SplitSource& source = fitness_->source();
  require(!source.is_fixed(), "groups are for folds that come from seeds");
  check_groups(groups, source.n_samples(), n_groups, source.n_folds());
  std::vector<std::int32_t> copy(groups.data(), groups.data() + groups.size());
  const py::gil_scoped_release release;  // another thread may hold the lock and want the GIL
  fitness_->set_groups(std::move(copy), n_groups);
}

void PyFitness::set_weights(const Numbers& weights) {
  check_numbers(weights, fitness_->source().n_samples(), "weights must have one finite number a sample");
  std::vector<double> copy(weights.data(), weights.data() + weights.size());
  for (const double weight : copy) require(weight >= 0, "weights must not be negative");
  const py::gil_scoped_release release;  // another thread may hold the lock and want the GIL
  fitness_->set_weights(std::move(copy));
}

Numbers PyFitness::evaluate(const WordArray& words, const WordArray& seeds, const Score& score,
                            Threads n_threads, Declined declined) {
  const std::size_t m = check_words(words, seeds);
  bool* unanswered = declined_of(declined, m);
  const Scorer scorer(score, fitness_->target());
  Numbers out({m, n_splits()});
  double* scores = out.mutable_data();
  const Word* data = words.data();
  const std::uint64_t* keys = seeds.data();
  const py::gil_scoped_release release;
  const InterruptScope scope(python_interrupt);
  fitness_->evaluate(data, m, keys, scorer, n_threads, scores, unanswered);
  return out;
}

Numbers PyFitness::evaluate_flips(const WordArray& base, const Lists& flips, const Lists& begin,
                                  const WordArray& seeds, const Score& score, Threads n_threads,
                                  Declined declined) {
  check_splits();
  const Word* words = check_mask(base);
  require(length(begin) >= 1, "begin must have n_masks + 1 entries");
  const std::size_t m = length(begin) - 1;
  require(length(seeds) == m, "seeds must have one value a mask");
  bool* unanswered = declined_of(declined, m);
  check_ranges(begin, m, length(flips));
  const std::int64_t p = static_cast<std::int64_t>(fitness_->table().view().n_features);
  const std::int64_t* list = flips.data();
  for (py::ssize_t k = 0; k < flips.size(); ++k) {
    require(list[k] >= 0 && list[k] < p, "flips must lie in [0, n_features)");
  }
  const Scorer scorer(score, fitness_->target());
  Numbers out({m, n_splits()});
  double* scores = out.mutable_data();
  const std::int64_t* starts = begin.data();
  const std::uint64_t* keys = seeds.data();
  const py::gil_scoped_release release;
  const InterruptScope scope(python_interrupt);
  fitness_->evaluate_flips(words, list, starts, m, keys, scorer, n_threads, scores,
                           unanswered);
  return out;
}

// Predicted classes (n_masks, n_tests), or None where the target is numbers, and values
// (n_masks, n_tests, n_values), or None where the model has none.
py::tuple PyFitness::outputs(const WordArray& words, const WordArray& seeds, Threads n_threads,
                             Declined declined) {
  const std::size_t m = check_words(words, seeds);
  bool* unanswered = declined_of(declined, m);
  py::object classes = py::none(), values = py::none();
  std::int32_t* given = nullptr;
  double* numbers = nullptr;
  if (fitness_->target().is_classes()) {
    Codes array({m, n_tests()});
    given = array.mutable_data();
    classes = std::move(array);
  }
  if (n_values() > 0) {
    Numbers array({m, n_tests(), n_values()});
    numbers = array.mutable_data();
    values = std::move(array);
  }
  const Word* data = words.data();
  const std::uint64_t* keys = seeds.data();
  {
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    fitness_->outputs(data, m, keys, n_threads, given, numbers, unanswered);
  }
  return py::make_tuple(classes, values);
}

py::dict PyFitness::counters() {
  MaskFitness::Counters counters;
  {
    const py::gil_scoped_release release;  // another thread may hold the lock and want the GIL
    counters = fitness_->counters();
  }
  py::dict out;
  for (const auto& [name, count] : counters) out[name] = count;
  return out;
}

const char* PyFitness::kind() const {
  switch (fitness_->kind()) {
    case Outputs::Kind::probabilities: return "probabilities";
    case Outputs::Kind::decisions: return "decisions";
    case Outputs::Kind::numbers: return "numbers";
    default: return "classes";
  }
}

void PyFitness::check_splits() const {
  require(n_splits() > 0, "set_splits comes before the first evaluation");
}

void PyFitness::check_tail(const Word* mask) const {
  const std::size_t p = fitness_->table().view().n_features;
  require((mask[words_for(p) - 1] & ~tail_mask(p)) == 0,
          "words have bits set past the last feature");
}

const Word* PyFitness::check_mask(const WordArray& mask) const {
  require(length(mask) == fitness_->n_words(), "a mask must have ceil(n_features / 64) words");
  check_tail(mask.data());
  return mask.data();
}

std::size_t PyFitness::check_masks(const WordArray& words) const {
  const std::size_t w = fitness_->n_words();
  require(words.ndim() == 2 && static_cast<std::size_t>(words.shape(1)) == w,
          "words must have shape (n_masks, ceil(n_features / 64))");
  const std::size_t m = static_cast<std::size_t>(words.shape(0));
  for (std::size_t i = 0; i < m; ++i) check_tail(words.data() + i * w);
  return m;
}

std::size_t PyFitness::check_words(const WordArray& words, const WordArray& seeds) const {
  check_splits();
  const std::size_t m = check_masks(words);
  require(length(seeds) == m, "seeds must have one value a mask");
  return m;
}

namespace {

// ---- each model -----------------------------------------------------------------------------

struct PyGram : PyFitness {
  using PyFitness::PyFitness;

  // The planner's matrices of a batch (n_masks, n, n), squares and bounds (n_masks, n), whether
  // they are exact, and what each was made from: nothing (0), the kept state (1), the full mask
  // (2), as the first (3) or the second (4) of a pair.
  py::tuple matrices(const WordArray& words, Threads n_threads) {
    const std::size_t m = check_masks(words), n = fitness_->source().n_samples();
    Array<float> gram({m, n, n});
    Numbers squares({m, n}), bounds({m, n});
    Array<bool> exact(static_cast<py::ssize_t>(m));
    Array<std::uint8_t> origins(static_cast<py::ssize_t>(m));
    {
      float* to = gram.mutable_data();
      double *square = squares.mutable_data(), *bound = bounds.mutable_data();
      bool* is_exact = exact.mutable_data();
      std::uint8_t* origin = origins.mutable_data();
      const Word* data = words.data();
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      static_cast<GramFitness&>(*fitness_).matrices_of(data, m, n_threads, to, square, bound,
                                                       is_exact, origin);
    }
    return py::make_tuple(gram, squares, bounds, exact, origins);
  }
};

struct PyKnn : PyGram {
  using PyGram::PyGram;

  py::tuple state(const WordArray& mask, Threads n_threads) {
    const Word* word = check_mask(mask);
    const std::size_t n = fitness_->source().n_samples();
    Array<std::int64_t> gram({n, n});
    std::int64_t* out = gram.mutable_data();
    double unit = 0;
    {
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      static_cast<KnnFitness&>(*fitness_).state_of(word, n_threads, out, &unit);
    }
    return py::make_tuple(gram, unit);
  }
};

std::unique_ptr<PyKnn> make_knn(const std::shared_ptr<PyTable>& table, const TargetArray& target,
                                std::size_t n_classes, std::size_t n_repeats, std::size_t n_folds,
                                bool stratified, std::size_t n_neighbors,
                                bool by_distance) {
  require(n_neighbors >= 1 && n_neighbors <= table->n_samples(),
          "n_neighbors must lie in [1, n_samples]");
  return make_model<PyKnn, KnnFitness>(table, target, n_classes, n_repeats, n_folds, stratified,
                                       KnnOptions{n_neighbors, by_distance});
}

struct PyScaledKnn : PyFitness {
  using PyFitness::PyFitness;
};

std::unique_ptr<PyScaledKnn> make_scaled_knn(const std::shared_ptr<PyTable>& table,
                                             const TargetArray& target, std::size_t n_classes,
                                             std::size_t n_repeats, std::size_t n_folds,
                                             bool stratified, std::size_t n_neighbors,
                                             bool by_distance, const ScalerOptions& scaler) {
  require(n_neighbors >= 1 && n_neighbors <= table->n_samples(),
          "n_neighbors must lie in [1, n_samples]");
  return make_model<PyScaledKnn, ScaledKnnFitness>(table, target, n_classes, n_repeats, n_folds,
                                                   stratified, KnnOptions{n_neighbors, by_distance},
                                                   scaler);
}

struct PyCentroid : PyFitness {
  using PyFitness::PyFitness;
};

struct PyPrior : PyFitness {
  using PyFitness::PyFitness;
};

}  // namespace

void register_fitness(py::module_& module) {
  module.attr("matrix_samples") = matrix_samples;
  register_fitness_scaled(module);  // whose options others name in their signatures
  py::class_<PyFitness>(module, "MaskFitness")
      .def_property_readonly("n_splits", &PyFitness::n_splits)
      .def_property_readonly("n_tests", &PyFitness::n_tests)
      .def_property_readonly("n_values", &PyFitness::n_values)
      .def_property_readonly("kind", &PyFitness::kind)
      .def("set_splits", &PyFitness::set_splits, py::arg("train").noconvert(),
           py::arg("train_begin").noconvert(), py::arg("test").noconvert(),
           py::arg("test_begin").noconvert())
      .def("set_groups", &PyFitness::set_groups, py::arg("groups").noconvert(),
           py::arg("n_groups"))
      .def("set_weights", &PyFitness::set_weights, py::arg("weights").noconvert())
      .def_property_readonly("may_decline", &PyFitness::may_decline)
      .def("evaluate", &PyFitness::evaluate, py::arg("words").noconvert(),
           py::arg("seeds").noconvert(), py::arg("score"), py::arg("n_threads"),
           py::arg("declined").noconvert() = py::none())
      .def("evaluate_flips", &PyFitness::evaluate_flips, py::arg("base").noconvert(),
           py::arg("flips").noconvert(), py::arg("begin").noconvert(),
           py::arg("seeds").noconvert(), py::arg("score"), py::arg("n_threads"),
           py::arg("declined").noconvert() = py::none())
      .def("outputs", &PyFitness::outputs, py::arg("words").noconvert(),
           py::arg("seeds").noconvert(), py::arg("n_threads"),
           py::arg("declined").noconvert() = py::none())
      .def("counters", &PyFitness::counters);
  py::class_<PyGram, PyFitness>(module, "GramFitness")
      .def("matrices", &PyGram::matrices, py::arg("words").noconvert(), py::arg("n_threads") = 1);
  py::class_<PyKnn, PyGram>(module, "KnnFitness")
      .def(py::init(&make_knn), py::arg("table").none(false), py::kw_only(), py::arg("target").noconvert(),
           py::arg("n_classes"), py::arg("n_repeats"), py::arg("n_folds"), py::arg("stratified"),
           py::arg("n_neighbors"), py::arg("by_distance") = false)
      .def("state", &PyKnn::state, py::arg("mask").noconvert(), py::arg("n_threads") = 1);
  py::class_<PyScaledKnn, PyFitness>(module, "ScaledKnnFitness")
      .def(py::init(&make_scaled_knn), py::arg("table").none(false), py::kw_only(),
           py::arg("target").noconvert(), py::arg("n_classes"), py::arg("n_repeats"),
           py::arg("n_folds"), py::arg("stratified"), py::arg("n_neighbors"),
           py::arg("by_distance"), py::arg("scaler"));
  py::class_<PyCentroid, PyFitness>(module, "CentroidFitness")
      .def(py::init(&make_model<PyCentroid, CentroidFitness>), py::arg("table").none(false), py::kw_only(),
           py::arg("target").noconvert(), py::arg("n_classes"), py::arg("n_repeats"),
           py::arg("n_folds"), py::arg("stratified"));
  py::class_<PyPrior, PyFitness>(module, "PriorFitness")
      .def(py::init(&make_model<PyPrior, PriorFitness>), py::arg("table").none(false), py::kw_only(),
           py::arg("target").noconvert(), py::arg("n_classes"), py::arg("n_repeats"),
           py::arg("n_folds"), py::arg("stratified"));
  register_fitness_additive(module);
  register_fitness_discrete_bayes(module);
  register_fitness_discriminant(module);
  register_fitness_solver(module);
  register_fitness_ridge(module);
}

}  // namespace bitsieve
