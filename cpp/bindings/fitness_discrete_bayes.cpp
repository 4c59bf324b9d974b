// Naive Bayes of bits, counts and categories.
#include <cmath>
#include <utility>

#include "bitsieve/fitness/discrete_bayes.hpp"
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

struct PyBernoulli : PyFitness {
  using PyFitness::PyFitness;
};

struct PyMultinomial : PyFitness {
  using PyFitness::PyFitness;
};

struct PyCategorical : PyFitness {
  using PyFitness::PyFitness;
};

DiscreteOptions make_options(double alpha, bool fit_prior, const Numbers& log_prior,
                             std::size_t n_classes) {
  require(std::isfinite(alpha) && alpha > 0, "alpha must be finite and above 0");
  if (length(log_prior) > 0) {
    check_numbers(log_prior, n_classes, "log_prior must have one finite number a class, or none");
  }
  return {alpha, fit_prior, {log_prior.data(), log_prior.data() + log_prior.size()}};
}

std::unique_ptr<PyBernoulli> make_bernoulli(const std::shared_ptr<PyTable>& table,
                                            const TargetArray& target, std::size_t n_classes,
                                            std::size_t n_repeats, std::size_t n_folds,
                                            bool stratified, double alpha, bool fit_prior,
                                            const Numbers& log_prior, double threshold,
                                            const ScalerOptions& scaler, bool ascending) {
  require(!std::isnan(threshold), "threshold must be a number");
  return make_model<PyBernoulli, BernoulliFitness>(
      table, target, n_classes, n_repeats, n_folds, stratified,
      make_options(alpha, fit_prior, log_prior, n_classes), threshold, scaler, ascending);
}

std::unique_ptr<PyMultinomial> make_multinomial(const std::shared_ptr<PyTable>& table,
                                                const TargetArray& target, std::size_t n_classes,
                                                std::size_t n_repeats, std::size_t n_folds,
                                                bool stratified, double alpha, bool fit_prior,
                                                const Numbers& log_prior, bool complement,
                                                const ScalerOptions& scaler) {
  return make_model<PyMultinomial, MultinomialFitness>(
      table, target, n_classes, n_repeats, n_folds, stratified,
      make_options(alpha, fit_prior, log_prior, n_classes), complement, scaler);
}

std::unique_ptr<PyCategorical> make_categorical(const std::shared_ptr<PyTable>& table,
                                                const TargetArray& target, std::size_t n_classes,
                                                std::size_t n_repeats, std::size_t n_folds,
                                                bool stratified, double alpha, bool fit_prior,
                                                const Numbers& log_prior,
                                                std::size_t min_categories) {
  require(min_categories < size_limit, "min_categories is too large");
  return make_model<PyCategorical, CategoricalFitness>(
      table, target, n_classes, n_repeats, n_folds, stratified,
      make_options(alpha, fit_prior, log_prior, n_classes), min_categories);
}

// What all three take, and what is their own.
template <typename Class, typename Make, typename... Arguments>
void define(Class&& model, Make make, Arguments... own) {
  model.def(py::init(make), py::arg("table").none(false), py::kw_only(),
            py::arg("target").noconvert(), py::arg("n_classes"), py::arg("n_repeats"),
            py::arg("n_folds"), py::arg("stratified"), py::arg("alpha"), py::arg("fit_prior"),
            py::arg("log_prior").noconvert(), own...);
}

}  // namespace

void register_fitness_discrete_bayes(py::module_& module) {
  define(py::class_<PyBernoulli, PyFitness>(module, "BernoulliFitness"), &make_bernoulli,
         py::arg("threshold"), py::arg("scaler") = ScalerOptions(),
         py::arg("ascending") = true);
  define(py::class_<PyMultinomial, PyFitness>(module, "MultinomialFitness"), &make_multinomial,
         py::arg("complement"), py::arg("scaler") = ScalerOptions());
  define(py::class_<PyCategorical, PyFitness>(module, "CategoricalFitness"), &make_categorical,
         py::arg("min_categories"));
}

}  // namespace bitsieve
