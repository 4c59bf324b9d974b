// What each room of the extension adds to the module; the one place that includes pybind11.
#pragma once

#include <pybind11/native_enum.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <variant>

namespace bitsieve {

void register_core(pybind11::module_& module);
void register_discrete(pybind11::module_& module);
void register_table(pybind11::module_& module);
void register_fitness(pybind11::module_& module);
void register_dual_svm(pybind11::module_& module);
void register_scores(pybind11::module_& module);
void register_relief(pybind11::module_& module);
void register_information(pybind11::module_& module);
void register_correlation(pybind11::module_& module);
void register_univariate(pybind11::module_& module);
void register_search(pybind11::module_& module);
void register_gates(pybind11::module_& module);
void register_causal(pybind11::module_& module);
void register_causal_pairs(pybind11::module_& module);

// For InterruptScope: asks Python for a pending Ctrl-C, from the main thread of a GIL-free call.
bool python_interrupt();

// A wrong dtype, a strided array or a list is refused, never silently copied or cast.
template <typename T>
using Array = pybind11::array_t<T, pybind11::array::c_style>;

using Bytes = Array<std::uint8_t>;
using Codes = Array<std::int32_t>;
using Lists = Array<std::int64_t>;
using Numbers = Array<double>;
using Values = std::variant<Array<float>, Array<double>>;

// What a kernel relies on; a ValueError where it does not hold. Where a message has to be put
// together, throw: it would be for every value that is fine.
inline void require(bool fine, const char* message) {
  if (!fine) throw std::invalid_argument(message);
}

// Of a list: an array of one dimension.
inline std::size_t length(const pybind11::array& array) {
  require(array.ndim() == 1, "lists must be one-dimensional");
  return static_cast<std::size_t>(array.size());
}

// Threads to work with: kernels take it for granted that there is one.
struct Threads {
  int count = 1;
  operator int() const { return count; }  // NOLINT: kernels take an int
};

// A class of [0, n_classes) for every sample.
inline void check_codes(const Codes& codes, std::size_t n_samples, std::size_t n_classes) {
  require(length(codes) == n_samples, "codes must have one value a sample");
  require(n_classes >= 1 && n_classes <= (std::size_t{1} << 24), "n_classes must lie in [1, 2^24]");
  for (std::size_t i = 0; i < n_samples; ++i) {
    const std::int32_t c = codes.data()[i];
    require(c >= 0 && static_cast<std::size_t>(c) < n_classes, "codes must lie in [0, n_classes)");
  }
}

// Groups of samples, of which folds keep each whole.
inline void check_groups(const Codes& groups, std::size_t n_samples, std::size_t n_groups,
                         std::size_t n_folds) {
  require(length(groups) == n_samples, "groups must have one value a sample");
  require(n_groups >= n_folds && n_groups <= n_samples,
          "n_groups must lie in [n_folds, n_samples]");
  for (std::size_t i = 0; i < n_samples; ++i) {
    const std::int32_t g = groups.data()[i];
    require(g >= 0 && static_cast<std::size_t>(g) < n_groups, "groups must lie in [0, n_groups)");
  }
}

// A number for every sample, or whatever else `count` counts.
inline void check_numbers(const Numbers& numbers, std::size_t count, const char* message) {
  bool fine = length(numbers) == count;
  for (std::size_t k = 0; fine && k < count; ++k) fine = std::isfinite(numbers.data()[k]);
  require(fine, message);
}

}  // namespace bitsieve

namespace pybind11::detail {

// As an int, and refused where it is less than 1: one place for every function.
template <>
struct type_caster<bitsieve::Threads> {
  PYBIND11_TYPE_CASTER(bitsieve::Threads, make_caster<int>::name);
  bool load(handle source, bool convert) {
    make_caster<int> number;
    if (!number.load(source, convert)) return false;
    value.count = cast_op<int>(number);
    bitsieve::require(value.count >= 1, "n_threads must be at least 1");
    return true;
  }
};

}  // namespace pybind11::detail
