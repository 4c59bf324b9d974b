// The float64 Gram matrices that solvers take.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bitsieve/core/parallel.hpp"
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
  // was made from: nothing (0), the kept state (1), as the first (2) or second (3) of a pair.
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
      make(masks, m, n_threads, [&](std::size_t k, const SolverMatrix& made) {
        copy(made, to + k * n * n);
        is_fixed[k] = made.fixed;
        origin[k] = static_cast<std::uint8_t>(gram_.origin(k));
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
      make(masks, m, n_threads, [&](std::size_t k, const SolverMatrix& made) {
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
    std::vector<std::size_t> costs;
    gram_.plan({masks, m, nullptr}, n_threads, costs);
    std::vector<SolverMatrix> own(static_cast<std::size_t>(std::min(n_threads, max_threads)));
    const int inner = m == 1 ? n_threads : 1;
    parallel_for_worker(m, n_threads, [&](std::size_t k, int worker) {
      SolverMatrix& matrix = own[static_cast<std::size_t>(worker)];
      gram_.make(masks, k, inner, matrix);
      body(k, matrix);
    });
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

}  // namespace

void register_fitness_solver(py::module_& module) {
  py::class_<PySolverGram>(module, "SolverGram")
      .def(py::init<std::shared_ptr<PyTable>>(), py::arg("table").none(false))
      .def("unit", &PySolverGram::unit, py::arg("n_threads") = 1)
      .def("matrices", &PySolverGram::matrices, py::arg("words").noconvert(),
           py::arg("n_threads") = 1)
      .def("raw", &PySolverGram::raw, py::arg("words").noconvert(), py::arg("n_threads") = 1);
}

}  // namespace bitsieve
