// Nearest centroids and discriminant analysis.
#include <cmath>
#include <string>
#include <vector>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/fitness/diagonal_lda.hpp"
#include "bitsieve/fitness/lda.hpp"
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace discriminant {

using Priors = std::optional<Numbers>;

// One positive number a class; none: the shares of the training part.
std::vector<double> make_priors(const Priors& priors, std::size_t n_classes) {
  if (!priors) return {};
  check_numbers(*priors, n_classes, "priors must have one finite number a class");
  std::vector<double> out(priors->data(), priors->data() + n_classes);
  for (const double prior : out) require(prior > 0, "priors must be positive");
  return out;
}

struct PyLda : PyFitness {
  using PyFitness::PyFitness;
};

std::unique_ptr<PyLda> make_lda(const std::shared_ptr<PyTable>& table, const TargetArray& target,
                                std::size_t n_classes, std::size_t n_repeats, std::size_t n_folds,
                                bool stratified, const std::string& solver, double shrinkage,
                                double tol, const Priors& priors, bool decisions,
                                const ScalerOptions& scaler) {
  require(kernels().has_fma, "the instruction set has no fused multiply-add");
  require(shrinkage >= 0 && shrinkage <= 1, "shrinkage must lie in [0, 1]");
  require(std::isfinite(tol) && tol >= 0, "tol must be finite and not negative");
  LdaSettings settings;
  require(solver == "svd" || solver == "lsqr", "solver must be 'svd' or 'lsqr'");
  settings.svd = solver == "svd";
  require(!settings.svd || shrinkage == 0, "solver 'svd' has no shrinkage");
  settings.shrinkage = shrinkage;
  settings.tol = tol;
  settings.priors = make_priors(priors, n_classes);
  settings.kind = decisions ? Outputs::Kind::decisions : Outputs::Kind::probabilities;
  return make_model<PyLda, LdaFitness>(table, target, n_classes, n_repeats, n_folds, stratified,
                                       settings, scaler);
}

struct PyDiagonal : PyFitness {
  using PyFitness::PyFitness;
};

// priors: "uniform", "shares", or one positive number a class.
std::unique_ptr<PyDiagonal> make_diagonal(
    const std::shared_ptr<PyTable>& table, const TargetArray& target, std::size_t n_classes,
    std::size_t n_repeats, std::size_t n_folds, bool stratified, const std::string& priors,
    const Priors& given, bool plain, double smoothing, double shrink, bool halved,
    bool decisions, const ScalerOptions& scaler) {
  require(std::isfinite(smoothing) && smoothing >= 0, "smoothing must be finite and not negative");
  require(std::isfinite(shrink) && shrink >= 0, "shrink must be finite and not negative");
  require(smoothing == 0 || shrink == 0, "smoothed variances have no shrunken means");
  require(priors == "uniform" || priors == "shares" || priors == "given",
          "priors must be 'uniform', 'shares' or 'given'");
  require((priors == "given") == given.has_value(), "given must stand where priors is 'given'");
  DiagonalSettings settings;
  settings.priors = priors == "uniform"  ? DiagonalSettings::Priors::uniform
                    : priors == "shares" ? DiagonalSettings::Priors::shares
                                         : DiagonalSettings::Priors::given;
  settings.given = make_priors(given, n_classes);
  settings.plain = plain;
  settings.smoothing = smoothing;
  settings.shrink = shrink;
  settings.halved = halved;
  settings.kind = decisions ? Outputs::Kind::decisions : Outputs::Kind::probabilities;
  return make_model<PyDiagonal, DiagonalFitness>(table, target, n_classes, n_repeats, n_folds,
                                                 stratified, settings, scaler);
}

}  // namespace discriminant

void register_fitness_discriminant(py::module_& module) {
  using namespace discriminant;
  py::class_<PyLda, PyFitness>(module, "LdaFitness")
      .def(py::init(&make_lda), py::arg("table").none(false), py::kw_only(),
           py::arg("target").noconvert(), py::arg("n_classes"), py::arg("n_repeats"),
           py::arg("n_folds"), py::arg("stratified"), py::arg("solver"), py::arg("shrinkage"),
           py::arg("tol"), py::arg("priors").noconvert() = py::none(), py::arg("decisions") = false,
           py::arg("scaler") = ScalerOptions());
  py::class_<PyDiagonal, PyFitness>(module, "DiagonalFitness")
      .def(py::init(&make_diagonal), py::arg("table").none(false), py::kw_only(),
           py::arg("target").noconvert(), py::arg("n_classes"), py::arg("n_repeats"),
           py::arg("n_folds"), py::arg("stratified"), py::arg("priors"),
           py::arg("given").noconvert() = py::none(), py::arg("plain") = false,
           py::arg("smoothing") = 0.0, py::arg("shrink") = 0.0, py::arg("halved") = false,
           py::arg("decisions") = false, py::arg("scaler") = ScalerOptions());
}

}  // namespace bitsieve
