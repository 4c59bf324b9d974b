// Fitnesses whose state is a sum over features: Gaussian naive Bayes.
#include <cmath>
#include <vector>

#include "bitsieve/fitness/gaussian_bayes.hpp"
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

struct PyGaussianBayes : PyFitness {
  using PyFitness::PyFitness;
};

std::unique_ptr<PyGaussianBayes> make_gaussian_bayes(
    const std::shared_ptr<PyTable>& table, const TargetArray& target, std::size_t n_classes,
    std::size_t n_repeats, std::size_t n_folds, bool stratified, double var_smoothing,
    const std::optional<Numbers>& priors, const ScalerOptions& scaler) {
  require(std::isfinite(var_smoothing) && var_smoothing >= 0,
          "var_smoothing must be finite and not negative");
  std::vector<double> shares;
  if (priors) {
    check_numbers(*priors, n_classes, "priors must have one finite number a class");
    shares.assign(priors->data(), priors->data() + n_classes);
    for (const double share : shares) require(share >= 0, "priors must not be negative");
  }
  return make_model<PyGaussianBayes, GaussianBayesFitness>(
      table, target, n_classes, n_repeats, n_folds, stratified, var_smoothing, shares, scaler);
}

}  // namespace

void register_fitness_additive(py::module_& module) {
  py::class_<PyGaussianBayes, PyFitness>(module, "GaussianBayesFitness")
      .def(py::init(&make_gaussian_bayes), py::arg("table").none(false), py::kw_only(),
           py::arg("target").noconvert(), py::arg("n_classes"), py::arg("n_repeats"),
           py::arg("n_folds"), py::arg("stratified"), py::arg("var_smoothing"),
           py::arg("priors").noconvert() = py::none(), py::arg("scaler") = ScalerOptions());
}

}  // namespace bitsieve
