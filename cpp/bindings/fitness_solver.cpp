// What solvers take: float64 Gram matrices of masks, and moments of training parts.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/fitness/moments.hpp"
#include "bitsieve/fitness/solver_gram.hpp"
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

class PySolverGram {
 public:
  explicit PySolverGram(std::shared_ptr<PyTable> table)
      : table_(std::move(table)), gram_(*table_), generation_(fork_generation()) {
    require(gram_.has_matrices(), "there are too many samples for whole matrices");
  }

  double unit(Threads n_threads) {
    const py::gil_scoped_release release;
    const Session session(*this);
    return gram_.columns(n_threads).unit();
  }

  // The matrices (n_masks, n, n) of centred columns, whether each is a sum of integers, and what it
  // was made from: nothing (0), the kept state (1), as the first (2) or second (3) of a pair, tables of
  // the batch (4), nothing in float64 (5).
  py::tuple matrices(const WordArray& words, Threads n_threads) {
    const std::size_t m = check_masks(words), n = table_->n_samples();
    Numbers grams({m, n, n});
    Array<bool> fixed(static_cast<py::ssize_t>(m));
    Array<std::uint8_t> origins(static_cast<py::ssize_t>(m));
    bool* is_fixed = fixed.mutable_data();
    std::uint8_t* origin = origins.mutable_data();
    {
      double* to = grams.mutable_data();
      const Word* masks = words.data();
      const py::gil_scoped_release release;
      make(masks, m, n_threads, [&](std::size_t k, std::uint8_t from, const SolverMatrix& made) {
        copy(made, to + k * n * n);
        is_fixed[k] = made.fixed;
        origin[k] = from;
      });
    }
    return py::make_tuple(grams, fixed, origins);
  }

  // The matrices (n_masks, n, n) of the user's own values, and the sums of each mask's rows
  // (n_masks, n).
  py::tuple raw(const WordArray& words, Threads n_threads) {
    const std::size_t m = check_masks(words), n = table_->n_samples(), w = gram_.n_words();
    Numbers grams({m, n, n}), sums({m, n});
    {
      double *to = grams.mutable_data(), *sum = sums.mutable_data();
      const Word* masks = words.data();
      const py::gil_scoped_release release;
      make(masks, m, n_threads, [&](std::size_t k, std::uint8_t, const SolverMatrix& made) {
        SolverShift shift;
        gram_.shift_of(masks + k * w, shift);
        double* out = to + k * n * n;
        copy(made, out);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            out[i * n + j] = shift.raw(out[i * n + j], i, j);
          }
        }
        std::copy(shift.sums.begin(), shift.sums.end(), sum + k * n);
      });
    }
    return py::make_tuple(grams, sums);
  }

 private:
  // One caller at a time, as MaskFitness has it.
  class Session {
   public:
    explicit Session(PySolverGram& owner) : owner_(owner) {
      renew_after_fork(owner.generation_, [&] {
        leave_behind(owner.mutex_);
        owner.mutex_ = std::make_unique<std::mutex>();
        owner.caller_ = std::thread::id();
        owner.gram_.forget();
      });
      if (owner.caller_.load() == std::this_thread::get_id()) {
        throw std::logic_error("a signal handler called the matrices that it interrupted");
      }
      lock_ = std::unique_lock<std::mutex>(*owner.mutex_);
      owner.caller_ = std::this_thread::get_id();
    }
    ~Session() { owner_.caller_ = std::thread::id(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

   private:
    PySolverGram& owner_;
    std::unique_lock<std::mutex> lock_;
  };

  template <typename Body>
  void make(const Word* masks, std::size_t m, int n_threads, Body&& body) {
    const InterruptScope scope(python_interrupt);
    const Session session(*this);
    const std::size_t most = gram_.most_masks();
    std::vector<std::size_t> costs;
    std::vector<SolverMatrix> own(static_cast<std::size_t>(std::min(n_threads, max_threads)));
    gram_.columns(n_threads);
    for (std::size_t first = 0; first < m; first += most) {
      const Word* from = masks + first * gram_.n_words();
      const std::size_t count = std::min(most, m - first);
      gram_.plan({from, count, nullptr}, n_threads, costs);
      parallel_for_worker(count, n_threads, [&](std::size_t k, int worker) {
        SolverMatrix& matrix = own[static_cast<std::size_t>(worker)];
        gram_.make(from, k, count == 1 ? n_threads : 1, matrix);
        body(first + k, static_cast<std::uint8_t>(gram_.origin(k)), matrix);
      });
    }
  }

  void copy(const SolverMatrix& made, double* out) const {
    const std::size_t n = gram_.n_samples();
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(made.gram.data() + i * gram_.ld(), n, out + i * n);
    }
  }

  std::size_t check_masks(const WordArray& words) const {
    const std::size_t w = gram_.n_words(), p = table_->n_features();
    require(words.ndim() == 2 && static_cast<std::size_t>(words.shape(1)) == w,
            "words must have shape (n_masks, ceil(n_features / 64))");
    const std::size_t m = static_cast<std::size_t>(words.shape(0));
    for (std::size_t k = 0; k < m; ++k) {
      require((words.data()[(k + 1) * w - 1] & ~tail_mask(p)) == 0,
              "words have bits set past the last feature");
    }
    return m;
  }

  std::shared_ptr<PyTable> table_;
  SolverGram gram_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::atomic<std::thread::id> caller_{};
  std::atomic<unsigned> generation_;
};

// Moments of the training parts under one mask, as a fitness would have them: (n_splits, k, k) of
// features, (n_splits, n_targets, k) with targets, means (n_splits, k), of targets
// (n_splits, n_targets), weights (n_splits,). `keep` makes those of all features first.
py::tuple training_moments(const std::shared_ptr<PyTable>& table, const TargetArray& target,
                           std::size_t n_classes, const Numbers& weights, const Lists& train,
                           const Lists& train_begin, const Lists& test, const Lists& test_begin,
                           const WordArray& mask, bool keep, Threads n_threads) {
  const std::size_t n = table->n_samples(), p = table->n_features(), w = words_for(p);
  Target goal = make_target(target, n, n_classes);
  if (length(weights) > 0) {
    check_numbers(weights, n, "weights must have one finite number a sample");
    goal.weights.assign(weights.data(), weights.data() + n);
    for (const double weight : goal.weights) require(weight >= 0, "weights must not be negative");
  }
  const Splits splits = make_splits(train, train_begin, test, test_begin, n, n_classes);
  require(length(mask) == w, "a mask must have ceil(n_features / 64) words");
  require((mask.data()[w - 1] & ~tail_mask(p)) == 0, "words have bits set past the last feature");
  const Word* words = mask.data();
  Moments moments(*table, goal);
  MaskMoments own;
  const MaskMoments* made = nullptr;
  const SplitTarget split_target;
  const TargetSplits at{splits, split_target};
  {
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    std::vector<Word> all(w, ~Word{0});
    all.back() = tail_mask(p);
    require(moments.fits(p, splits.n_splits), "there are too many features or splits");
    moments.prepare(all.data(), keep ? 1 : 0, &at, n_threads);
    made = &moments.make(words, at, n_threads, own);
  }
  const std::size_t k = made->size(), n_targets = made->n_targets(), n_splits = splits.n_splits;
  Numbers squares({n_splits, k, k}), crosses({n_splits, n_targets, k}), means({n_splits, k});
  Numbers target_means({n_splits, n_targets}), totals(static_cast<py::ssize_t>(n_splits));
  for (std::size_t s = 0; s < n_splits; ++s) {
    made->copy(s, squares.mutable_data() + s * k * k, k);
    made->means(s, means.mutable_data() + s * k);
    totals.mutable_data()[s] = made->weight(s);
    for (std::size_t t = 0; t < n_targets; ++t) {
      made->cross(s, t, crosses.mutable_data() + (s * n_targets + t) * k);
      target_means.mutable_data()[s * n_targets + t] = made->target_mean(s, t);
    }
  }
  return py::make_tuple(squares, crosses, means, target_means, totals);
}

}  // namespace

void register_fitness_solver(py::module_& module) {
  py::class_<PySolverGram>(module, "SolverGram")
      .def(py::init<std::shared_ptr<PyTable>>(), py::arg("table").none(false))
      .def("unit", &PySolverGram::unit, py::arg("n_threads") = 1)
      .def("matrices", &PySolverGram::matrices, py::arg("words").noconvert(),
           py::arg("n_threads") = 1)
      .def("raw", &PySolverGram::raw, py::arg("words").noconvert(), py::arg("n_threads") = 1);
  module.def("training_moments", &training_moments, py::arg("table").none(false), py::kw_only(),
             py::arg("target").noconvert(), py::arg("n_classes"), py::arg("weights").noconvert(),
             py::arg("train").noconvert(), py::arg("train_begin").noconvert(),
             py::arg("test").noconvert(), py::arg("test_begin").noconvert(),
             py::arg("mask").noconvert(), py::arg("keep"), py::arg("n_threads") = 1);
}

}  // namespace bitsieve
