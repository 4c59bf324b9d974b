// Discrete tables, their entropies, and the greedy selections over them.
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/planes.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

using Bytes = Array<std::uint8_t>;
using Codes = Array<std::int32_t>;
using Lists = Array<std::int64_t>;
using Target = std::variant<Bytes, Codes>;  // a code a sample

void require(bool fine, const std::string& message) {
  if (!fine) throw std::invalid_argument(message);
}

std::size_t length(const py::array& array) { return static_cast<std::size_t>(array.size()); }

Correction correction_of(const std::string& name, double prior) {
  if (name == "none") return Correction::none;
  if (name == "miller_madow") return Correction::miller_madow;
  require(name == "dirichlet", "correction must be none, miller_madow or dirichlet");
  require(std::isfinite(prior) && prior > 0, "prior must be a positive number");
  return Correction::dirichlet;
}

constexpr std::size_t chunk_features = 128;

class PyDiscreteTable {
 public:
  PyDiscreteTable(const Bytes& codes, const Codes& n_levels, int n_threads)
      : n_threads_(n_threads) {
    require(codes.ndim() == 2 && codes.shape(0) > 0 && codes.shape(1) > 0,
            "codes must have shape (n_samples, n_features)");
    const std::size_t n = static_cast<std::size_t>(codes.shape(0));
    const std::size_t p = static_cast<std::size_t>(codes.shape(1));
    check_levels(n_levels, n, p);
    const std::uint8_t* data = codes.data();
    const std::int32_t* bounds = n_levels.data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    table_ = std::make_unique<DiscreteTable>(data, n, p, bounds, n_threads);
  }

  PyDiscreteTable(const Lists& begin, const Codes& rows, const Bytes& values, const Bytes& rest,
                  const Codes& n_levels, std::size_t n, int n_threads)
      : n_threads_(n_threads) {
    const std::size_t p = length(rest);
    require(p > 0 && length(begin) == p + 1, "begin must have n_features + 1 entries");
    check_levels(n_levels, n, p);
    bool fine = begin.data()[0] == 0 && begin.data()[p] == static_cast<std::int64_t>(rows.size());
    for (std::size_t f = 0; f < p; ++f) fine = fine && begin.data()[f] <= begin.data()[f + 1];
    require(fine && rows.size() == values.size(),
            "begin must ascend from 0 to the length of rows and values");
    for (py::ssize_t k = 0; k < rows.size(); ++k) {
      require(rows.data()[k] >= 0 && static_cast<std::size_t>(rows.data()[k]) < n,
              "rows must lie in [0, n_samples)");
    }
    const std::int64_t* starts = begin.data();
    const std::int32_t* samples = rows.data();
    const std::uint8_t* codes = values.data();
    const std::uint8_t* others = rest.data();
    const std::int32_t* bounds = n_levels.data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    table_ = std::make_unique<DiscreteTable>(starts, samples, codes, others, n, p, bounds,
                                             n_threads);
  }

  std::size_t n_samples() const { return table_->n(); }
  std::size_t n_features() const { return table_->p(); }

  Array<double> entropies(const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    return each(std::nullopt, entropy, [&](Counter& counter, std::size_t f) {
      return entropy.total() - counter.single(f);
    });
  }

  Array<double> joint_entropy(const Target& target, int n_levels, const std::optional<Lists>& features,
                              const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    const Variable y = variable(target, n_levels, "target");
    return each(features, entropy, [&](Counter& counter, std::size_t f) {
      return entropy.total() - counter.joint(f, y);
    });
  }

  Array<double> mutual_information(const Target& target, int n_levels, const std::optional<Lists>& features,
                                   const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    const Variable y = variable(target, n_levels, "target");
    const std::int64_t rest = entropy.total() - sum_of(entropy, y);
    return each(features, entropy, [&](Counter& counter, std::size_t f) {
      return rest - counter.single(f) + counter.joint(f, y);
    });
  }

  Array<double> conditional_mutual_information(const Target& target, int n_levels,
                                               const Target& given, int n_given,
                                               const std::optional<Lists>& features,
                                               const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    const Variable y = variable(target, n_levels, "target");
    const Variable z = variable(given, n_given, "given");
    const Variable yz = combine(z, y, table_->n());
    const std::int64_t rest = sum_of(entropy, z) - sum_of(entropy, yz);
    return each(features, entropy, [&](Counter& counter, std::size_t f) {
      return rest + counter.joint(f, yz) - counter.joint(f, z);
    });
  }

  const DiscreteTable& table() const { return *table_; }
  int n_threads() const { return n_threads_; }

  Variable variable(const Target& target, int n_levels, const std::string& name) const {
    require(n_levels >= 1, "n_levels must be at least 1");
    std::vector<std::uint32_t> wide(table_->n());
    const auto widen = [&](const auto& codes) {
      require(length(codes) == table_->n(), name + " must have one code a sample");
      for (std::size_t i = 0; i < wide.size(); ++i) {
        const std::int64_t code = codes.data()[i];
        require(code >= 0 && code < n_levels, name + " must have codes in [0, n_levels)");
        wide[i] = static_cast<std::uint32_t>(code);
      }
    };
    std::visit(widen, target);
    return make_variable(wide.data(), wide.size(), static_cast<std::size_t>(n_levels));
  }

  static std::int64_t sum_of(const EntropyTable& entropy, const Variable& v) {
    return entropy.sum(v.margins.data(), v.levels, v.cells);
  }

 private:
  static void check_levels(const Codes& n_levels, std::size_t n, std::size_t p) {
    require(n > 0 && n < (std::size_t{1} << 31), "n_samples must lie in [1, 2^31)");
    require(length(n_levels) == p, "n_levels must have one value a feature");
    for (std::size_t f = 0; f < p; ++f) {
      require(n_levels.data()[f] >= 1 && n_levels.data()[f] <= 256,
              "n_levels must lie in [1, 256], but feature " + std::to_string(f) + " has " +
                  std::to_string(n_levels.data()[f]));
    }
  }

  // value(counter, f) in units of the table, for all features or those listed.
  template <typename Value>
  Array<double> each(const std::optional<Lists>& features, const EntropyTable& entropy,
                     const Value& value) const {
    const std::size_t count = features ? length(*features) : table_->p();
    const std::int64_t* list = features ? features->data() : nullptr;
    for (std::size_t k = 0; list && k < count; ++k) {
      require(list[k] >= 0 && static_cast<std::size_t>(list[k]) < table_->p(),
              "features must lie in [0, n_features)");
    }
    Array<double> out(static_cast<py::ssize_t>(count));
    double* values = out.mutable_data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    const std::size_t n_chunks = (count + chunk_features - 1) / chunk_features;
    parallel_for(n_chunks, n_threads_, [&](std::size_t chunk) {
      Counter counter(*table_, entropy);
      const std::size_t end = std::min(count, (chunk + 1) * chunk_features);
      for (std::size_t k = chunk * chunk_features; k < end; ++k) {
        const std::size_t f = list ? static_cast<std::size_t>(list[k]) : k;
        values[k] = static_cast<double>(value(counter, f)) * entropy.unit();
      }
    });
    return out;
  }

  std::unique_ptr<DiscreteTable> table_;
  int n_threads_;
};

}  // namespace

void register_information(py::module_& module) {
  const py::arg_v correction = py::arg("correction") = "none";
  const py::arg_v prior = py::arg("prior") = 1.0;
  const py::arg_v features = py::arg("features").noconvert() = py::none();
  py::class_<PyDiscreteTable>(module, "DiscreteTable")
      .def(py::init<const Bytes&, const Codes&, int>(), py::arg("codes").noconvert(),
           py::arg("n_levels").noconvert(), py::arg("n_threads") = 1)
      .def_static(
          "from_columns",
          [](const Lists& begin, const Codes& rows, const Bytes& values, const Bytes& rest,
             const Codes& n_levels, std::size_t n_samples, int n_threads) {
            return std::make_unique<PyDiscreteTable>(begin, rows, values, rest, n_levels,
                                                     n_samples, n_threads);
          },
          py::arg("begin").noconvert(), py::arg("rows").noconvert(), py::arg("values").noconvert(),
          py::arg("rest").noconvert(), py::arg("n_levels").noconvert(), py::arg("n_samples"),
          py::arg("n_threads") = 1)
      .def_property_readonly("n_samples", &PyDiscreteTable::n_samples)
      .def_property_readonly("n_features", &PyDiscreteTable::n_features)
      .def("entropies", &PyDiscreteTable::entropies, correction, prior)
      .def("joint_entropy", &PyDiscreteTable::joint_entropy, py::arg("target").noconvert(),
           py::arg("n_levels"), features, correction, prior)
      .def("mutual_information", &PyDiscreteTable::mutual_information,
           py::arg("target").noconvert(), py::arg("n_levels"), features, correction, prior)
      .def("conditional_mutual_information", &PyDiscreteTable::conditional_mutual_information,
           py::arg("target").noconvert(), py::arg("n_levels"), py::arg("given").noconvert(),
           py::arg("n_given"), features, correction, prior);
}

}  // namespace bitsieve
