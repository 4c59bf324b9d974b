// Discrete tables, their entropies, and the greedy selections over them.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/greedy.hpp"
#include "bitsieve/discrete/levels.hpp"
#include "bitsieve/discrete/table.hpp"
#include "information.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

using Wholes =
    std::variant<Array<float>, Array<double>, Bytes, Array<std::int8_t>, Array<std::int16_t>,
                 Codes, Lists>;
using Target = std::variant<Bytes, Codes>;  // a code a sample

Correction correction_of(const std::string& name, double prior) {
  if (name == "none") return Correction::none;
  if (name == "miller_madow") return Correction::miller_madow;
  require(name == "dirichlet", "correction must be none, miller_madow or dirichlet");
  // Beyond, it outweighs any table by more than the entropies can tell.
  require(prior > 0 && prior <= 1e12, "prior must be above 0 and at most 1e12");
  return Correction::dirichlet;
}

constexpr std::size_t chunk_features = 128;

class PyDiscreteTable {
 public:
  PyDiscreteTable(const Bytes& codes, const Codes& n_levels, Threads n_threads)
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
                  const Codes& n_levels, std::size_t n, Threads n_threads)
      : n_threads_(n_threads) {
    const std::size_t p = length(rest);
    require(p > 0 && length(begin) == p + 1, "begin must have n_features + 1 entries");
    check_levels(n_levels, n, p);
    check_columns(begin, rows, p, n);
    require(length(rows) == length(values), "rows and values must be of one length");
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

  Array<double> joint_entropy(const Target& target, int n_levels,
                              const std::optional<Lists>& features,
                              const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    const Variable y = variable(target, n_levels, "target");
    return each(features, entropy, [&](Counter& counter, std::size_t f) {
      return entropy.total() - counter.joint(f, y);
    });
  }

  Array<double> mutual_information(const Target& target, int n_levels,
                                   const std::optional<Lists>& features,
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

  Array<double> joint_mutual_information(const Target& target, int n_levels, const Target& given,
                                         int n_given, const std::optional<Lists>& features,
                                         const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    const Variable y = variable(target, n_levels, "target");
    const Variable z = variable(given, n_given, "given");
    const Variable yz = combine(z, y, table_->n());
    const std::int64_t rest = entropy.total() - sum_of(entropy, y);
    return each(features, entropy, [&](Counter& counter, std::size_t f) {
      return rest + counter.joint(f, yz) - counter.joint(f, z);
    });
  }

  const DiscreteTable& table() const { return *table_; }
  int n_threads() const { return n_threads_; }

  Variable variable(const Target& target, int n_levels, const std::string& name) const {
    require(n_levels >= 1 && n_levels <= (1 << 24), "n_levels must lie in [1, 2^24]");
    std::vector<std::uint32_t> wide(table_->n());
    const auto widen = [&](const auto& codes) {
      if (length(codes) != table_->n()) {
        throw std::invalid_argument(name + " must have one code a sample");
      }
      for (std::size_t i = 0; i < wide.size(); ++i) {
        const std::int64_t code = codes.data()[i];
        if (code < 0 || code >= n_levels) {
          throw std::invalid_argument(name + " must have codes in [0, n_levels)");
        }
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
      if (n_levels.data()[f] >= 1 && n_levels.data()[f] <= 256) continue;
      throw std::invalid_argument("n_levels must lie in [1, 256], but feature " +
                                  std::to_string(f) + " has " +
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

py::tuple run_information(const PyDiscreteTable& table, const Target& target, int n_levels,
                          const std::string& criterion, std::size_t n_select, double beta,
                          const std::string& correction, double prior, bool lazy, Threads n_threads) {
  GreedySettings settings;
  settings.criterion = criterion_of(criterion);
  settings.beta = beta;
  settings.n_select = n_select;
  settings.lazy = lazy;
  require(std::isfinite(beta) && beta >= 0, "beta must be a number of at least 0");
  require(n_select >= 1 && n_select <= table.n_features() && n_select <= (std::size_t{1} << 17),
          "n_select must lie in [1, min(n_features, 2^17)]");
  const EntropyTable entropy(table.n_samples(), correction_of(correction, prior), prior);
  const Variable y = table.variable(target, n_levels, "target");
  Selection selection;
  {
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    selection = greedy_information(table.table(), y, entropy, settings, n_threads);
  }
  return as_tuple(selection);
}

py::tuple run_encode(const Wholes& x, std::size_t most, Threads n_threads) {
  require(most >= 1 && most <= 256, "most must lie in [1, 256]");
  const auto encode = [&](const auto& array) {
    require(array.ndim() == 2, "X must have shape (n_samples, n_features)");
    const std::size_t n = static_cast<std::size_t>(array.shape(0));
    const std::size_t p = static_cast<std::size_t>(array.shape(1));
    Bytes codes({n, p});
    Codes n_levels(static_cast<py::ssize_t>(p));
    const auto* data = array.data();
    std::uint8_t* out = codes.mutable_data();
    std::int32_t* levels = n_levels.mutable_data();
    if (n > 0 && p > 0) {
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      encode_levels(data, n, p, most, out, levels, n_threads);
    }
    return py::make_tuple(codes, n_levels);
  };
  return std::visit(encode, x);
}

}  // namespace

void register_information(py::module_& module) {
  const py::arg_v correction = py::arg("correction") = "none";
  const py::arg_v prior = py::arg("prior") = 1.0;
  const py::arg_v features = py::arg("features").noconvert() = py::none();
  py::class_<PyDiscreteTable>(module, "DiscreteTable")
      .def(py::init<const Bytes&, const Codes&, Threads>(), py::arg("codes").noconvert(),
           py::arg("n_levels").noconvert(), py::arg("n_threads") = 1)
      .def_property_readonly("n_samples", &PyDiscreteTable::n_samples)
      .def_property_readonly("n_features", &PyDiscreteTable::n_features)
      .def("entropies", &PyDiscreteTable::entropies, correction, prior)
      .def("joint_entropy", &PyDiscreteTable::joint_entropy, py::arg("target").noconvert(),
           py::arg("n_levels"), features, correction, prior)
      .def("mutual_information", &PyDiscreteTable::mutual_information,
           py::arg("target").noconvert(), py::arg("n_levels"), features, correction, prior)
      .def("conditional_mutual_information", &PyDiscreteTable::conditional_mutual_information,
           py::arg("target").noconvert(), py::arg("n_levels"), py::arg("given").noconvert(),
           py::arg("n_given"), features, correction, prior)
      .def("joint_mutual_information", &PyDiscreteTable::joint_mutual_information,
           py::arg("target").noconvert(), py::arg("n_levels"), py::arg("given").noconvert(),
           py::arg("n_given"), features, correction, prior);
  module.def("greedy_information", run_information, py::arg("table"),
             py::arg("target").noconvert(), py::arg("n_levels"), py::kw_only(),
             py::arg("criterion"), py::arg("n_select"), py::arg("beta") = 1.0, correction, prior,
             py::arg("lazy") = true, py::arg("n_threads") = 1);
  module.def(
      "sparse_discrete_table",
      [](const Lists& begin, const Codes& rows, const Bytes& values, const Bytes& rest,
         const Codes& n_levels, std::size_t n_samples, Threads n_threads) {
        return std::make_unique<PyDiscreteTable>(begin, rows, values, rest, n_levels,
                                                 n_samples, n_threads);
      },
      py::arg("begin").noconvert(), py::arg("rows").noconvert(), py::arg("values").noconvert(),
      py::arg("rest").noconvert(), py::arg("n_levels").noconvert(), py::arg("n_samples"),
      py::arg("n_threads") = 1);
  module.def("encode_levels", run_encode, py::arg("X").noconvert(), py::kw_only(),
             py::arg("most"), py::arg("n_threads") = 1);
}

}  // namespace bitsieve
