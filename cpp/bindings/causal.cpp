// Tests of conditional independence.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bitsieve/causal/discrete_test.hpp"
#include "bitsieve/causal/fisher.hpp"
#include "bitsieve/causal/permutation.hpp"
#include "bitsieve/causal/tail.hpp"
#include "bitsieve/core/finite.hpp"
#include "bitsieve/core/parallel.hpp"
#include "discrete_table.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

constexpr std::size_t most_results = std::size_t{1} << 26;

constexpr std::int64_t most_dof = std::int64_t{1} << 31;

using Answer = std::tuple<double, double, std::int64_t, bool>;

Answer as_answer(const Independence& found) {
  return {found.statistic, found.log_p, found.dof, found.reliable};
}

DiscreteStatistic discrete_statistic_of(const std::string& name) {
  if (name == "g_squared") return DiscreteStatistic::g_squared;
  require(name == "chi_squared", "statistic must be g_squared or chi_squared");
  return DiscreteStatistic::chi_squared;
}

std::size_t check_kept(std::size_t most_kept) {
  require(most_kept <= most_results, "most_kept must lie in [0, 2^26]");
  return most_kept;
}

// A test over data that it keeps alive.
class PyIndependenceTest {
 public:
  PyIndependenceTest(std::shared_ptr<const void> data, std::unique_ptr<IndependenceTest> test)
      : data_(std::move(data)), test_(std::move(test)), p_(test_->p()) {}

  std::size_t n_samples() const { return test_->n(); }
  std::size_t n_variables() const { return p_; }
  std::uint64_t n_computed() const { return test_->n_computed(); }
  std::uint64_t n_remembered() const { return test_->n_remembered(); }
  IndependenceTest& test() const { return *test_; }

  Answer ask(std::int64_t x, std::int64_t y, const Lists& given) {
    const std::size_t a = variable(x), b = variable(y);
    const auto set = variables(given);
    distinct(a, b, set, {});
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    return as_answer(test_->test(a, b, set));
  }

  py::tuple test_many(const Lists& xs, std::int64_t y, const Lists& given, Threads n_threads) {
    const std::size_t b = variable(y);
    const auto many = variables(xs), set = variables(given);
    std::vector<char> taken = distinct(p_, b, set, {});
    for (const std::size_t x : many) require(!taken[x], "x, y and given must differ");
    std::vector<Independence> found(many.size());
    {
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      test_->test_many(many, b, set, found.data(), n_threads);
    }
    const auto size = static_cast<py::ssize_t>(found.size());
    Numbers statistic(size), log_p(size);
    Lists dof(size);
    Array<bool> reliable(size);
    for (std::size_t k = 0; k < found.size(); ++k) {
      statistic.mutable_data()[k] = found[k].statistic;
      log_p.mutable_data()[k] = found[k].log_p;
      dof.mutable_data()[k] = found[k].dof;
      reliable.mutable_data()[k] = found[k].reliable;
    }
    return py::make_tuple(statistic, log_p, dof, reliable);
  }

  py::tuple separate(std::int64_t x, std::int64_t y, const Lists& pool, const Lists& among,
                     double log_alpha, std::size_t min_size, std::size_t max_size) {
    const std::size_t a = variable(x), b = variable(y);
    const auto choices = variables(pool), fixed = variables(among);
    distinct(a, b, choices, fixed);
    require(!std::isnan(log_alpha), "log_alpha must be a number");
    Separation found;
    {
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      found = test_->separate(a, b, choices, fixed, {log_alpha, min_size, max_size});
    }
    return py::make_tuple(found.found, as_answer(found.weakest), found.weakest_given,
                          found.n_tests);
  }

 protected:
  std::size_t variable(std::int64_t v) const {
    require(v >= 0 && static_cast<std::size_t>(v) < p_, "variables must lie in [0, n_variables)");
    return static_cast<std::size_t>(v);
  }

  std::vector<std::size_t> variables(const Lists& list) const {
    std::vector<std::size_t> out(length(list));
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = variable(list.data()[k]);
    return out;
  }

  // Which variables are taken; each but once.
  std::vector<char> distinct(std::size_t x, std::size_t y, const std::vector<std::size_t>& some,
                             const std::vector<std::size_t>& others) const {
    std::vector<char> taken(p_ + 1, 0);
    const auto take = [&](std::size_t v) {
      require(!taken[v], "x, y and given must differ");
      taken[v] = 1;
    };
    take(x);
    take(y);
    for (const std::size_t v : some) take(v);
    for (const std::size_t v : others) take(v);
    return taken;
  }

 private:
  std::shared_ptr<const void> data_;
  std::unique_ptr<IndependenceTest> test_;
  std::size_t p_;
};

class PyDiscreteTest : public PyIndependenceTest {
 public:
  PyDiscreteTest(std::shared_ptr<PyDiscreteTable> table, const std::string& statistic,
                 double min_samples_per_cell, std::size_t most_kept)
      : PyIndependenceTest(table, make(*table, statistic, min_samples_per_cell, most_kept)) {}

 private:
  static std::unique_ptr<IndependenceTest> make(const PyDiscreteTable& table,
                                                const std::string& statistic,
                                                double min_samples_per_cell,
                                                std::size_t most_kept) {
    require(std::isfinite(min_samples_per_cell) && min_samples_per_cell >= 0,
            "min_samples_per_cell must be a number of at least 0");
    require(table.n_samples() < (std::size_t{1} << 24), "at most 2^24 samples are counted");
    return std::make_unique<DiscreteTest>(table.table(), discrete_statistic_of(statistic),
                                          min_samples_per_cell, check_kept(most_kept));
  }
};

class PyFisherTest : public PyIndependenceTest {
 public:
  PyFisherTest(const Numbers& x, std::size_t most_kept, std::size_t most_bytes, Threads n_threads)
      : PyIndependenceTest(nullptr, make(x, most_kept, most_bytes, n_threads)) {}

 private:
  static std::unique_ptr<IndependenceTest> make(const Numbers& x, std::size_t most_kept,
                                                std::size_t most_bytes, Threads n_threads) {
    require(x.ndim() == 2 && x.shape(0) > 0 && x.shape(1) > 0,
            "X must have shape (n_samples, n_variables)");
    const auto n = static_cast<std::size_t>(x.shape(0)), p = static_cast<std::size_t>(x.shape(1));
    for (std::size_t k = 0; k < n * p; ++k) require(std::isfinite(x.data()[k]), "X must be finite");
    check_kept(most_kept);
    const double* data = x.data();
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    return std::make_unique<FisherTest>(data, n, p, most_kept, most_bytes, n_threads);
  }
};

class PyPermutationTest : public PyIndependenceTest {
 public:
  PyPermutationTest(std::shared_ptr<PyIndependenceTest> base, std::size_t n_permutations,
                    std::size_t most_hits, std::uint64_t seed, std::size_t most_kept)
      : PyIndependenceTest(base, make(base->test(), {n_permutations, most_hits, seed}, most_kept)) {}

 private:
  static std::unique_ptr<IndependenceTest> make(IndependenceTest& base,
                                                const Permutations& permutations,
                                                std::size_t most_kept) {
    require(permutations.count >= 1 && permutations.count <= (std::size_t{1} << 31),
            "n_permutations must lie in [1, 2^31]");
    check_kept(most_kept);
    if (auto* discrete = dynamic_cast<DiscreteTest*>(&base)) {
      return std::make_unique<PermutationTest>(*discrete, permutations, most_kept);
    }
    auto* fisher = dynamic_cast<FisherTest*>(&base);
    require(fisher != nullptr, "base must be a DiscreteTest or a FisherTest");
    return std::make_unique<PermutationTest>(*fisher, permutations, most_kept);
  }
};

Numbers chi_squared_tails(const Numbers& x, const Lists& dof) {
  require(length(x) == length(dof), "x and dof must be of one length");
  Numbers out(x.size());
  for (py::ssize_t k = 0; k < x.size(); ++k) {
    require(!std::isnan(x.data()[k]), "x must not be NaN");
    require(dof.data()[k] >= 0 && dof.data()[k] <= most_dof, "dof must lie in [0, 2^31]");
    out.mutable_data()[k] = log_chi_squared_tail(x.data()[k], dof.data()[k]);
  }
  return out;
}

Numbers normal_tails(const Numbers& z) {
  Numbers out(static_cast<py::ssize_t>(length(z)));
  for (py::ssize_t k = 0; k < z.size(); ++k) {
    require(!std::isnan(z.data()[k]), "z must not be NaN");
    out.mutable_data()[k] = log_normal_tails(z.data()[k]);
  }
  return out;
}

}  // namespace

void register_causal(py::module_& module) {
  py::class_<PyIndependenceTest, std::shared_ptr<PyIndependenceTest>>(module, "IndependenceTest")
      .def_property_readonly("n_samples", &PyIndependenceTest::n_samples)
      .def_property_readonly("n_variables", &PyIndependenceTest::n_variables)
      .def_property_readonly("n_computed", &PyIndependenceTest::n_computed)
      .def_property_readonly("n_remembered", &PyIndependenceTest::n_remembered)
      .def("test", &PyIndependenceTest::ask, py::arg("x"), py::arg("y"),
           py::arg("given").noconvert())
      .def("test_many", &PyIndependenceTest::test_many, py::arg("xs").noconvert(), py::arg("y"),
           py::arg("given").noconvert(), py::arg("n_threads") = 1)
      .def("separate", &PyIndependenceTest::separate, py::arg("x"), py::arg("y"),
           py::arg("pool").noconvert(), py::arg("among").noconvert(), py::kw_only(),
           py::arg("log_alpha"), py::arg("min_size"), py::arg("max_size"));
  py::class_<PyDiscreteTest, PyIndependenceTest, std::shared_ptr<PyDiscreteTest>>(
      module, "DiscreteTest")
      .def(py::init<std::shared_ptr<PyDiscreteTable>, const std::string&, double, std::size_t>(),
           py::arg("table"), py::kw_only(), py::arg("statistic"), py::arg("min_samples_per_cell"),
           py::arg("most_kept"));
  py::class_<PyFisherTest, PyIndependenceTest, std::shared_ptr<PyFisherTest>>(
      module, "FisherTest")
      .def(py::init<const Numbers&, std::size_t, std::size_t, Threads>(),
           py::arg("X").noconvert(), py::kw_only(), py::arg("most_kept"), py::arg("most_bytes"),
           py::arg("n_threads") = 1);
  py::class_<PyPermutationTest, PyIndependenceTest, std::shared_ptr<PyPermutationTest>>(
      module, "PermutationTest")
      .def(py::init<std::shared_ptr<PyIndependenceTest>, std::size_t, std::size_t, std::uint64_t,
                    std::size_t>(),
           py::arg("base"), py::kw_only(), py::arg("n_permutations"), py::arg("most_hits"),
           py::arg("seed"), py::arg("most_kept"));
  module.def("log_chi_squared_tails", &chi_squared_tails, py::arg("x").noconvert(),
             py::arg("dof").noconvert());
  module.def("log_normal_tails", &normal_tails, py::arg("z").noconvert());
}

}  // namespace bitsieve
