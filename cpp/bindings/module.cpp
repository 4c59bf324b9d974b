#include "rooms.hpp"

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.doc() = "The compiled core of bitsieve.";
  bitsieve::register_core(module);
  bitsieve::register_discrete(module);
  bitsieve::register_table(module);
  bitsieve::register_scores(module);
  bitsieve::register_fitness(module);
  bitsieve::register_dual_svm(module);
  bitsieve::register_relief(module);
  bitsieve::register_information(module);
  bitsieve::register_correlation(module);
  bitsieve::register_univariate(module);
  bitsieve::register_search(module);
  bitsieve::register_gates(module);
  bitsieve::register_causal(module);
  bitsieve::register_causal_pairs(module);
}
