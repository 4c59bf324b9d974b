// Scores of single features. X is read as it lies in memory; whether it is finite shows in what
// comes out.
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/univariate.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

// Calls function(SampleRows<T>) without the GIL.
template <typename Function>
void over(const Values& x, Function&& function) {
  std::visit(
      [&](const auto& array) {
        using T = typename std::decay_t<decltype(array)>::value_type;
        const SampleRows<T> columns{array.data(), static_cast<std::size_t>(array.shape(0)),
                                 static_cast<std::size_t>(array.shape(1))};
        const py::gil_scoped_release release;
        const InterruptScope scope(python_interrupt);
        function(columns);
      },
      x);
}

std::size_t check_table(const Values& x) {
  return std::visit(
      [](const auto& array) {
        require(array.ndim() == 2 && array.shape(0) > 0 && array.shape(1) > 0,
                "X must have shape (n_samples, n_features), both positive");
        require(array.shape(0) < (1 << 29), "X must have fewer than 2^29 samples");
        return static_cast<std::size_t>(array.shape(1));
      },
      x);
}

std::size_t samples(const Values& x) {
  return std::visit([](const auto& a) { return static_cast<std::size_t>(a.shape(0)); }, x);
}

constexpr const char* y_message = "y must have one finite value a sample";

using Pair = std::pair<Numbers, Numbers>;

Pair moments_of_classes(const Values& x, const Codes& codes, std::size_t n_classes,
                             Threads n_threads) {
  const std::size_t p = check_table(x);
  check_codes(codes, samples(x), n_classes);
  Numbers mean({n_classes, p}), square({n_classes, p});
  double* means = mean.mutable_data();
  double* squares = square.mutable_data();
  const std::int32_t* code = codes.data();
  over(x, [&](auto columns) {
    class_moments(columns, code, n_classes, n_threads, means, squares);
  });
  return {mean, square};
}

Pair moments_with_target(const Values& x, const Numbers& y, Threads n_threads) {
  const std::size_t p = check_table(x);
  check_numbers(y, samples(x), y_message);
  Numbers square(static_cast<py::ssize_t>(p)), cross(static_cast<py::ssize_t>(p));
  double* squares = square.mutable_data();
  double* products = cross.mutable_data();
  const double* target = y.data();
  over(x, [&](auto columns) { target_moments(columns, target, n_threads, squares, products); });
  return {square, cross};
}

Numbers products_with_target(const Values& x, const Numbers& y, Threads n_threads) {
  const std::size_t p = check_table(x);
  check_numbers(y, samples(x), y_message);
  Numbers cross(static_cast<py::ssize_t>(p));
  double* products = cross.mutable_data();
  const double* target = y.data();
  over(x, [&](auto columns) { target_products(columns, target, n_threads, products); });
  return cross;
}

Numbers wins_of_pairs(const Values& x, const Codes& codes, Threads n_threads) {
  const std::size_t p = check_table(x), n = samples(x);
  check_codes(codes, n, 2);
  std::size_t n_high = 0;
  for (std::size_t i = 0; i < n; ++i) n_high += static_cast<std::size_t>(codes.data()[i]);
  require(n_high * (n - n_high) < (std::size_t{1} << 31), "fewer than 2^31 pairs can be compared");
  Numbers wins(static_cast<py::ssize_t>(p));
  double* out = wins.mutable_data();
  const std::int32_t* code = codes.data();
  over(x, [&](auto columns) { pair_wins(columns, code, n_threads, out); });
  return wins;
}

std::tuple<Numbers, Numbers, Numbers> sums_of_ranks(const Values& x, const Codes& codes, std::size_t n_classes,
                        const std::optional<Numbers>& y, Threads n_threads) {
  const std::size_t p = check_table(x);
  check_codes(codes, samples(x), n_classes);
  if (y) check_numbers(*y, samples(x), y_message);
  Numbers sums({n_classes, p}), ties(static_cast<py::ssize_t>(p));
  Numbers cross(static_cast<py::ssize_t>(y ? p : 0));
  double* sum = sums.mutable_data();
  double* tie = ties.mutable_data();
  double* product = y ? cross.mutable_data() : nullptr;
  const double* target = y ? y->data() : nullptr;
  const std::int32_t* code = codes.data();
  over(x, [&](auto columns) {
    rank_sums(columns, code, n_classes, target, n_threads, sum, tie, product);
  });
  return {sums, ties, cross};
}

}  // namespace

void register_univariate(py::module_& module) {
  module.def("class_moments", &moments_of_classes, py::arg("X").noconvert(),
             py::arg("codes").noconvert(), py::arg("n_classes"), py::arg("n_threads"));
  module.def("target_moments", &moments_with_target, py::arg("X").noconvert(),
             py::arg("y").noconvert(), py::arg("n_threads"));
  module.def("target_products", &products_with_target, py::arg("X").noconvert(),
             py::arg("y").noconvert(), py::arg("n_threads"));
  module.def("pair_wins", &wins_of_pairs, py::arg("X").noconvert(), py::arg("codes").noconvert(),
             py::arg("n_threads"));
  module.def("rank_sums", &sums_of_ranks, py::arg("X").noconvert(), py::arg("codes").noconvert(),
             py::arg("n_classes"), py::arg("y").noconvert(), py::arg("n_threads"));
}

}  // namespace bitsieve
