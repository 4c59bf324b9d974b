// The compiled k-nearest-neighbour fitness.
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bitsieve/core/finite.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/fitness/knn.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

using WordArray = Array<std::uint64_t>;

// Owns what the views of a KnnFitness point into. What is an index or a bound is copied: were it
// changed from outside, memory would be, too. A number of the two tables can only change scores.
class PyKnn {
 public:
  PyKnn(Array<float> features, std::size_t n_samples, Values x, const Numbers& max_abs,
        const Codes& codes, std::size_t n_classes, std::size_t n_neighbors, bool exact, std::size_t n_repeats,
        std::size_t n_folds, bool stratified)
      : features_(std::move(features)),
        x_(std::move(x)) {
    require(features_.ndim() == 2, "features must have shape (n_features, ld)");
    TableView view;
    view.values = features_.data();
    view.n_features = static_cast<std::size_t>(features_.shape(0));
    view.ld = static_cast<std::size_t>(features_.shape(1));
    view.n_samples = n_samples;
    require(view.n_features > 0 && view.n_features < limit && n_samples > 0 && n_samples < limit &&
                view.ld % 16 == 0 && view.ld >= n_samples && view.ld < n_samples + 16,
            "features must be padded to the next multiple of 16 samples");
    require(reinterpret_cast<std::uintptr_t>(view.values) % cache_line == 0,
            "features must be aligned to 64 bytes");
    require(length(max_abs) == view.n_features, "max_abs must have one value a feature");
    max_abs_.assign(max_abs.data(), max_abs.data() + view.n_features);
    view.max_abs = max_abs_.data();
    check_bounds(view);
    check_codes(codes, n_samples, n_classes);
    require(n_neighbors >= 1 && n_neighbors <= n_samples,
            "n_neighbors must lie in [1, n_samples]");
    require(n_repeats == 0 ? n_folds == 0 : n_folds >= 2 && n_folds <= n_samples,
            "n_folds must lie in [2, n_samples], or be 0 with n_repeats=0");
    require(n_repeats < limit && n_repeats * n_folds < limit / n_classes &&
                n_repeats < (std::size_t{1} << 40) / n_samples,
            "n_repeats is too large");
    const auto check_x = [&](const auto& array) {
      require(array.ndim() == 2 && static_cast<std::size_t>(array.shape(0)) == n_samples &&
                  static_cast<std::size_t>(array.shape(1)) == view.n_features,
              "X must have shape (n_samples, n_features)");
      require(all_finite(array.data(), static_cast<std::size_t>(array.size()), 1),
              "X must be finite");
    };
    std::visit(check_x, x_);
    const Arbiter arbiter = std::visit(
        [&](const auto& array) { return Arbiter(array.data(), view.n_features); }, x_);
    KnnSettings settings;
    settings.n_neighbors = n_neighbors;
    if (exact) settings.grid = grid_of(view);
    n_features_ = view.n_features;
    n_samples_ = n_samples;
    n_classes_ = n_classes;
    Target target;
    target.codes.assign(codes.data(), codes.data() + n_samples);
    target.n_classes = n_classes;
    SplitSource source(n_samples);
    if (n_repeats > 0) {
      source = SplitSource(n_samples, n_repeats, n_folds,
                           stratified ? target.codes : std::vector<std::int32_t>(), n_classes);
    }
    fitness_ = std::make_unique<KnnFitness>(view, arbiter, std::move(target), std::move(source),
                                            settings);
  }

  void set_splits(const Lists& train, const Lists& train_begin, const Lists& test,
                  const Lists& test_begin) {
    require(fitness_->source().is_fixed() && fitness_->n_splits() == 0,
            "splits are set once, and not where folds come from seeds");
    require(length(train_begin) >= 2 && length(train_begin) == length(test_begin),
            "train_begin and test_begin must have n_splits + 1 entries");
    const std::size_t n_splits = length(train_begin) - 1;
    require(n_splits < limit / n_classes_, "there are too many splits");
    check_lists(train, train_begin, n_splits);
    check_lists(test, test_begin, n_splits);
    const py::gil_scoped_release release;
    fitness_->set_splits(Splits::from_lists(train.data(), train_begin.data(), test.data(),
                                            test_begin.data(), n_splits, n_samples_));
  }

  void set_groups(const Codes& groups, std::size_t n_groups) {
    const SplitSource& source = fitness_->source();
    require(!source.is_fixed(), "groups are for folds that come from seeds");
    check_groups(groups, n_samples_, n_groups, source.n_folds());
    fitness_->set_groups({groups.data(), groups.data() + n_samples_}, n_groups);
  }

  std::size_t n_splits() const { return fitness_->n_splits(); }

  Array<double> evaluate(const WordArray& words, const WordArray& seeds, bool balanced,
                         Threads n_threads) {
    const std::size_t m = check_words(words);
    require(length(seeds) == m, "seeds must have one value a mask");
    Array<double> out({m, fitness_->n_splits()});
    double* scores = out.mutable_data();
    const Word* data = words.data();
    const std::uint64_t* keys = seeds.data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    fitness_->evaluate(data, m, keys, score_of(balanced), n_threads, scores);
    return out;
  }

  Array<double> evaluate_flips(const WordArray& base, const Lists& flips, const Lists& begin,
                               const WordArray& seeds, bool balanced, Threads n_threads) {
    require(length(base) == words_for(n_features_),
            "base must have ceil(n_features / 64) words");
    check_tail(base.data());
    require(length(begin) >= 1, "begin must have n_masks + 1 entries");
    const std::size_t m = length(begin) - 1;
    require(length(seeds) == m, "seeds must have one value a mask");
    check_ranges(begin, m, length(flips));
    check_splits();
    for (py::ssize_t k = 0; k < flips.size(); ++k) {
      require(flips.data()[k] >= 0 && flips.data()[k] < static_cast<std::int64_t>(n_features_),
              "flips must lie in [0, n_features)");
    }
    Array<double> out({m, fitness_->n_splits()});
    double* scores = out.mutable_data();
    const Word* words = base.data();
    const std::int64_t* list = flips.data();
    const std::int64_t* starts = begin.data();
    const std::uint64_t* keys = seeds.data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    fitness_->evaluate_flips(words, list, starts, m, keys, score_of(balanced), n_threads, scores);
    return out;
  }

  Array<std::int32_t> votes(const WordArray& words, const WordArray& seeds, Threads n_threads) {
    const std::size_t m = check_words(words);
    require(length(seeds) == m, "seeds must have one value a mask");
    Array<std::int32_t> out({m, fitness_->source().n_tests(), n_classes_});
    std::int32_t* counts = out.mutable_data();
    const Word* data = words.data();
    const std::uint64_t* keys = seeds.data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    fitness_->votes(data, m, keys, n_threads, counts);
    return out;
  }

  py::tuple state(const WordArray& mask, Threads n_threads) {
    require(length(mask) == words_for(n_features_),
            "mask must have ceil(n_features / 64) words");
    check_tail(mask.data());
    Array<std::int64_t> gram({n_samples_, n_samples_});
    std::int64_t* out = gram.mutable_data();
    double unit = 0;
    const Word* word = mask.data();
    {
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      fitness_->state_of(word, n_threads, out, &unit);
    }
    return py::make_tuple(gram, unit);
  }

  py::dict counters() {
    KnnFitness::Counters c;
    {
      const py::gil_scoped_release release;  // another thread may hold the lock and want the GIL
      c = fitness_->counters();
    }
    py::dict out;
    out["float_features"] = c.float_features;
    out["fixed_features"] = c.fixed_features;
    out["arbitrated"] = c.arbitrated;
    out["flips_open"] = c.flips_open;
    return out;
  }

 private:
  static HitScore score_of(bool balanced) {
    return balanced ? HitScore::balanced_accuracy : HitScore::accuracy;
  }

  // Sizes that fit the kernels' 32-bit places.
  static constexpr std::size_t limit = std::size_t{1} << 31;

  // Whether each hot value is within its feature's bound, and squares within float32: the errors
  // that kernels allow for, and the fixed point, are made of these.
  static void check_bounds(const TableView& view) {
    double squares = 0;
    for (std::size_t f = 0; f < view.n_features; ++f) {
      const auto most = static_cast<float>(view.max_abs[f]);
      const float* row = view.row(f);
      bool fine = true;
      for (std::size_t i = 0; i < view.ld; ++i) fine &= std::abs(row[i]) <= most;
      require(fine, "max_abs must bound the values of each feature");
      for (std::size_t i = view.n_samples; i < view.ld; ++i) {
        require(row[i] == 0, "features must be zero past the last sample");
      }
      squares += view.max_abs[f] * view.max_abs[f];
    }
    require(squares <= 1.001e36, "features must have squares within float32");
  }

  void check_splits() const {
    require(fitness_->n_splits() > 0, "set_splits comes before the first evaluation");
  }

  std::size_t check_words(const WordArray& words) const {
    check_splits();
    require(words.ndim() == 2 && static_cast<std::size_t>(words.shape(1)) == words_for(n_features_),
            "words must have shape (n_masks, ceil(n_features / 64))");
    const std::size_t m = static_cast<std::size_t>(words.shape(0));
    const std::size_t w = words_for(n_features_);
    for (std::size_t i = 0; i < m; ++i) {
      check_tail(words.data() + i * w);
    }
    return m;
  }

  void check_tail(const Word* mask) const {
    require((mask[words_for(n_features_) - 1] & ~tail_mask(n_features_)) == 0,
            "words have bits set past the last feature");
  }

  static void check_ranges(const Lists& begin, std::size_t n, std::size_t total) {
    const std::int64_t* b = begin.data();
    bool fine = b[0] == 0 && b[n] == static_cast<std::int64_t>(total);
    for (std::size_t k = 0; k < n; ++k) fine = fine && b[k] <= b[k + 1];
    require(fine, "ranges must ascend from 0 to the length of their list");
  }

  void check_lists(const Lists& list, const Lists& begin, std::size_t n_splits) const {
    check_ranges(begin, n_splits, length(list));
    for (std::size_t s = 0; s < n_splits; ++s) {
      require(begin.data()[s] < begin.data()[s + 1], "a split must have both parts");
    }
    for (py::ssize_t k = 0; k < list.size(); ++k) {
      require(list.data()[k] >= 0 && list.data()[k] < static_cast<std::int64_t>(n_samples_),
              "splits must list samples in [0, n_samples)");
    }
  }

  // The largest power of two that divides every hot value; 0 if there is none worth having.
  static double grid_of(const TableView& view) {
    int lowest = 1000;
    for (std::size_t f = 0; f < view.n_features; ++f) {
      const float* row = view.row(f);
      for (std::size_t i = 0; i < view.n_samples; ++i) {
        if (row[i] == 0) continue;
        int exponent;
        const float fraction = std::frexp(row[i], &exponent);  // in [0.5, 1), 24 bits
        const auto bits = static_cast<std::int32_t>(std::abs(fraction) * 0x1p24f);
        lowest = std::min(lowest, exponent - 24 + std::countr_zero(static_cast<unsigned>(bits)));
      }
      if (lowest < -60) return 0;
    }
    return lowest > 60 ? 0 : std::ldexp(1.0, lowest);
  }

  Array<float> features_;
  Values x_;
  std::vector<double> max_abs_;
  std::size_t n_features_ = 0, n_samples_ = 0, n_classes_ = 0;
  std::unique_ptr<KnnFitness> fitness_;
};

}  // namespace

void register_fitness(py::module_& module) {
  module.attr("matrix_samples") = matrix_samples;
  py::class_<PyKnn>(module, "KnnFitness")
      .def(py::init<Array<float>, std::size_t, Values, const Numbers&, const Codes&, std::size_t,
                    std::size_t, bool, std::size_t, std::size_t, bool>(),
           py::arg("features").noconvert(), py::kw_only(), py::arg("n_samples"),
           py::arg("X").noconvert(), py::arg("max_abs").noconvert(), py::arg("codes").noconvert(),
           py::arg("n_classes"), py::arg("n_neighbors"), py::arg("exact"), py::arg("n_repeats"),
           py::arg("n_folds"), py::arg("stratified"))
      .def_property_readonly("n_splits", &PyKnn::n_splits)
      .def("set_splits", &PyKnn::set_splits, py::arg("train").noconvert(),
           py::arg("train_begin").noconvert(), py::arg("test").noconvert(),
           py::arg("test_begin").noconvert())
      .def("set_groups", &PyKnn::set_groups, py::arg("groups").noconvert(), py::arg("n_groups"))
      .def("evaluate", &PyKnn::evaluate, py::arg("words").noconvert(), py::arg("seeds").noconvert(),
           py::arg("balanced"), py::arg("n_threads"))
      .def("evaluate_flips", &PyKnn::evaluate_flips, py::arg("base").noconvert(),
           py::arg("flips").noconvert(), py::arg("begin").noconvert(),
           py::arg("seeds").noconvert(), py::arg("balanced"), py::arg("n_threads"))
      .def("votes", &PyKnn::votes, py::arg("words").noconvert(), py::arg("seeds").noconvert(),
           py::arg("n_threads"))
      .def("state", &PyKnn::state, py::arg("mask").noconvert(), py::arg("n_threads") = 1)
      .def("counters", &PyKnn::counters);
}

}  // namespace bitsieve
