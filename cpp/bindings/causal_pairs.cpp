// Errors of single features and of pairs.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "bitsieve/causal/pair_errors.hpp"
#include "bitsieve/core/parallel.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

void check_fold_lists(const Lists& list, const Lists& begin, std::size_t n) {
  const std::size_t size = length(list), n_begin = length(begin);
  const auto* at = begin.data();
  require(n_begin >= 2, "begin must have one number more than there are folds");
  bool fine = at[0] == 0 && at[n_begin - 1] == static_cast<std::int64_t>(size);
  for (std::size_t s = 0; s + 1 < n_begin; ++s) fine = fine && at[s] <= at[s + 1];
  require(fine, "begin must ascend from 0 to the length of its list");
  for (std::size_t k = 0; k < size; ++k) {
    require(list.data()[k] >= 0 && static_cast<std::size_t>(list.data()[k]) < n,
            "samples must lie in [0, n_samples)");
  }
}

class PyPairErrors {
 public:
  PyPairErrors(const Numbers& x, const Codes& codes, std::size_t n_classes, const Lists& train,
               const Lists& train_begin, const Lists& test, const Lists& test_begin,
               double var_smoothing, Threads n_threads) {
    require(x.ndim() == 2 && x.shape(0) > 0 && x.shape(1) > 0,
            "X must have shape (n_samples, n_features)");
    const auto n = static_cast<std::size_t>(x.shape(0)), p = static_cast<std::size_t>(x.shape(1));
    require(n < (std::size_t{1} << 31), "X must have less than 2^31 samples");
    for (std::size_t k = 0; k < n * p; ++k) require(std::isfinite(x.data()[k]), "X must be finite");
    require(n_classes >= 2 && n_classes <= n, "n_classes must lie in [2, n_samples]");
    check_codes(codes, n, n_classes);
    check_classes(codes, n_classes);
    check_fold_lists(train, train_begin, n);
    check_fold_lists(test, test_begin, n);
    require(train_begin.size() == test_begin.size(), "train and test must be of as many folds");
    check_tests(test, n);
    const auto n_folds = static_cast<std::size_t>(test_begin.size()) - 1;
    for (std::size_t s = 0; s < n_folds; ++s) {
      require(train_begin.data()[s] < train_begin.data()[s + 1],
              "each training part must have a sample");
    }
    require(std::isfinite(var_smoothing) && var_smoothing > 0,
            "var_smoothing must be a positive number");
    const double* values = x.data();
    const std::int32_t* own = codes.data();
    const std::int64_t *first = train.data(), *first_begin = train_begin.data();
    const std::int64_t *second = test.data(), *second_begin = test_begin.data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    errors_ = make_pair_errors(values, p,
                               make_pair_target(own, n, n_classes, first, first_begin, second,
                                                second_begin, n_folds),
                               var_smoothing, n_threads);
  }

  std::size_t n_features() const { return errors_->n_features(); }
  const char* kind() const { return errors_->kind(); }

  Numbers singles(Threads n_threads) const {
    Numbers out(static_cast<py::ssize_t>(n_features()));
    double* place = out.mutable_data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    errors_->singles(place, n_threads);
    return out;
  }

  Numbers pairs(const Lists& a, const Lists& b, Threads n_threads) const {
    require(length(a) == length(b), "a and b must be of one length");
    check_features(a);
    check_features(b);
    Numbers out(a.size());
    const std::int64_t *first = a.data(), *second = b.data();
    const auto count = static_cast<std::size_t>(a.size());
    double* place = out.mutable_data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    errors_->pairs(first, second, count, place, n_threads);
    return out;
  }

  Numbers rows(const Lists& features, std::size_t first, std::size_t last,
               Threads n_threads) const {
    check_features(features);
    require(first <= last && last <= n_features(), "first and last must lie in [0, n_features]");
    Numbers out({features.size(), static_cast<py::ssize_t>(last - first)});
    const std::int64_t* asked = features.data();
    const auto count = static_cast<std::size_t>(features.size());
    double* place = out.mutable_data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    errors_->rows(asked, count, first, last, place, n_threads);
    return out;
  }

  Numbers matrix(Threads n_threads) const {
    const auto p = static_cast<py::ssize_t>(n_features());
    Numbers out({p, p});
    double* place = out.mutable_data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    errors_->matrix(place, n_threads);
    return out;
  }

 private:
  static void check_classes(const Codes& codes, std::size_t n_classes) {
    std::vector<char> seen(n_classes, 0);
    for (py::ssize_t i = 0; i < codes.size(); ++i) {
      seen[static_cast<std::size_t>(codes.data()[i])] = 1;
    }
    for (const char one : seen) require(one != 0, "each class must have a sample");
  }

  static void check_tests(const Lists& test, std::size_t n) {
    std::vector<char> seen(n, 0);
    require(length(test) == n, "each sample must be tested once");
    for (std::size_t k = 0; k < n; ++k) {
      char& one = seen[static_cast<std::size_t>(test.data()[k])];
      require(one == 0, "each sample must be tested once");
      one = 1;
    }
  }

  void check_features(const Lists& features) const {
    const std::size_t size = length(features);
    for (std::size_t k = 0; k < size; ++k) {
      const std::int64_t f = features.data()[k];
      require(f >= 0 && static_cast<std::size_t>(f) < n_features(),
              "features must lie in [0, n_features)");
    }
  }

  std::unique_ptr<PairErrors> errors_;
};

}  // namespace

void register_causal_pairs(py::module_& module) {
  py::class_<PyPairErrors>(module, "PairErrors")
      .def(py::init<const Numbers&, const Codes&, std::size_t, const Lists&, const Lists&,
                    const Lists&, const Lists&, double, Threads>(),
           py::arg("X").noconvert(), py::arg("codes").noconvert(), py::arg("n_classes"),
           py::kw_only(), py::arg("train").noconvert(), py::arg("train_begin").noconvert(),
           py::arg("test").noconvert(), py::arg("test_begin").noconvert(),
           py::arg("var_smoothing"), py::arg("n_threads") = 1)
      .def_property_readonly("n_features", &PyPairErrors::n_features)
      .def_property_readonly("kind", &PyPairErrors::kind)
      .def("singles", &PyPairErrors::singles, py::arg("n_threads") = 1)
      .def("pairs", &PyPairErrors::pairs, py::arg("a").noconvert(), py::arg("b").noconvert(),
           py::arg("n_threads") = 1)
      .def("rows", &PyPairErrors::rows, py::arg("features").noconvert(), py::arg("first"),
           py::arg("last"), py::arg("n_threads") = 1)
      .def("matrix", &PyPairErrors::matrix, py::arg("n_threads") = 1);
}

}  // namespace bitsieve
