// Scalers that are fitted inside each fold.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/fitness/fold_scaler.hpp"
#include "bitsieve/fitness/fold_scales.hpp"
#include "bitsieve/fitness/scaled_gram.hpp"
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace scaled {

constexpr std::array<std::pair<std::string_view, ScalerOptions::Kind>, 5> scaler_names{{
    {"none", ScalerOptions::Kind::none},
    {"standard", ScalerOptions::Kind::standard},
    {"min_max", ScalerOptions::Kind::min_max},
    {"max_abs", ScalerOptions::Kind::max_abs},
    {"robust", ScalerOptions::Kind::robust},
}};

ScalerOptions make_options(const std::string& kind, double low, double high, bool center,
                           bool scale, double divisor) {
  ScalerOptions options;
  bool known = false;
  for (const auto& [name, value] : scaler_names) {
    if (kind != name) continue;
    options.kind = value;
    known = true;
  }
  require(known, "kind must be 'none', 'standard', 'min_max', 'max_abs' or 'robust'");
  require(std::isfinite(low) && std::isfinite(high) && std::isfinite(high - low),
          "low and high must be finite, and high - low too");
  require(options.kind != ScalerOptions::Kind::min_max || low < high, "low must be below high");
  require(options.kind != ScalerOptions::Kind::robust || (low >= 0 && low <= high && high <= 1),
          "quantiles must lie in [0, 1], low not above high");
  require(std::isfinite(divisor) && divisor > 0, "divisor must be positive");
  options.low = low;
  options.high = high;
  options.center = center;
  options.scale = scale;
  options.divisor = divisor;
  return options;
}

// A table and a scaler, for whoever asks what it learns (tests, models written in Python).
class PyFoldScaler {
 public:
  PyFoldScaler(std::shared_ptr<PyTable> table, const ScalerOptions& options)
      : table_(std::move(table)), scaler_(*table_, options) {}

  // (center, scale) of shape (n_features, n_splits) each, of the features listed.
  py::tuple measure(const Codes& features, const Lists& train, const Lists& train_begin,
                    const Lists& test, const Lists& test_begin, Threads n_threads) const {
    const std::size_t m = check_features(features);
    const Splits splits =
        make_splits(train, train_begin, test, test_begin, table_->n_samples(), 0);
    Numbers center({m, splits.n_splits}), scale({m, splits.n_splits});
    double *centers = center.mutable_data(), *scales = scale.mutable_data();
    const std::int32_t* list = features.data();
    {
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      scaler_.measure(list, m, splits, centers, scales, n_threads);
    }
    return py::make_tuple(center, scale);
  }

  // gram (n_splits, n, n) of the scaled features and sums over them (n_splits, n), by split.
  // `shifted`: from a value amid those of the training part, whatever the scaler's center.
  py::tuple grams(const Codes& features, const Lists& train, const Lists& train_begin,
                  const Lists& test, const Lists& test_begin, bool shifted,
                  Threads n_threads) const {
    const std::size_t m = check_features(features), n = table_->n_samples();
    require(m > 0, "features must not be empty");
    const Splits splits = make_splits(train, train_begin, test, test_begin, n, 0);
    require(splits.n_splits < (std::size_t{1} << 40) / (n * n), "the matrices are too large");
    Numbers gram({splits.n_splits, n, n}), sum({splits.n_splits, n});
    double *grams = gram.mutable_data(), *sums = sum.mutable_data();
    const std::vector<std::int32_t> list(features.data(), features.data() + m);
    {
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      const auto origin = shifted ? FoldScales::Origin::middle : FoldScales::Origin::center;
      const FoldScales scales(*table_, scaler_.options(), origin);
      const SplitTarget nothing;
      FoldScales::Own own;
      const ScaleView view = scales.view(list, {splits, nothing}, own, n_threads);
      ScaledGram matrices(*table_);
      matrices.begin(list, view, splits.n_splits, n_threads);
      for (std::size_t s = 0; s < splits.n_splits; ++s) {
        const double* one = matrices.of(s);
        for (std::size_t i = 0; i < n; ++i) {
          std::copy_n(one + i * matrices.ld(), n, grams + (s * n + i) * n);
        }
        std::copy_n(matrices.sums(), n, sums + s * n);
      }
    }
    return py::make_tuple(gram, sum);
  }

 private:
  std::size_t check_features(const Codes& features) const {
    const std::size_t m = length(features);
    for (std::size_t k = 0; k < m; ++k) {
      const std::int32_t f = features.data()[k];
      require(f >= 0 && static_cast<std::size_t>(f) < table_->n_features(),
              "features must lie in [0, n_features)");
      require(k == 0 || features.data()[k - 1] < f, "features must ascend");
    }
    return m;
  }

  std::shared_ptr<PyTable> table_;
  FoldScaler scaler_;
};

}  // namespace scaled

void register_fitness_scaled(py::module_& module) {
  using scaled::PyFoldScaler;
  py::class_<ScalerOptions>(module, "ScalerOptions")
      .def(py::init(&scaled::make_options), py::arg("kind"), py::kw_only(), py::arg("low") = 0.0,
           py::arg("high") = 1.0, py::arg("center") = true, py::arg("scale") = true,
           py::arg("divisor") = 1.0)
      .def("__repr__", [](const ScalerOptions& options) {
        std::string name;
        for (const auto& [known, value] : scaled::scaler_names) {
          if (value == options.kind) name = known;
        }
        return "<ScalerOptions " + name + ">";
      });
  py::class_<PyFoldScaler>(module, "FoldScaler")
      .def(py::init<std::shared_ptr<PyTable>, const ScalerOptions&>(),
           py::arg("table").none(false), py::arg("options"))
      .def("measure", &PyFoldScaler::measure, py::kw_only(), py::arg("features").noconvert(),
           py::arg("train").noconvert(), py::arg("train_begin").noconvert(),
           py::arg("test").noconvert(), py::arg("test_begin").noconvert(),
           py::arg("n_threads") = 1)
      .def("grams", &PyFoldScaler::grams, py::kw_only(), py::arg("features").noconvert(),
           py::arg("train").noconvert(), py::arg("train_begin").noconvert(),
           py::arg("test").noconvert(), py::arg("test_begin").noconvert(),
           py::arg("shifted") = false, py::arg("n_threads") = 1);
}

}  // namespace bitsieve
