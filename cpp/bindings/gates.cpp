// The first layer of a network behind gates: its optimiser, and what surrounds its product.
// Weights, moments and steps are written where they lie: they share their memory with torch.
#include <numeric>
#include <optional>
#include <vector>

#include "bitsieve/gates/row_rule.hpp"
#include "bitsieve/gates/small_steps.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

using Floats = Array<float>;

constexpr std::int64_t most_steps = (std::int64_t{1} << 31) - 1;

std::size_t side(const py::array& array, int axis) {
  return static_cast<std::size_t>(array.shape(axis));
}

RowList check_rows(const Codes& rows, std::size_t n_rows) {
  const std::size_t n = length(rows);
  std::int64_t before = -1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t row = rows.data()[i];
    require(row > before && row < static_cast<std::int64_t>(n_rows),
            "rows must ascend and lie in [0, n_features)");
    before = row;
  }
  return {rows.data(), n};
}

// Steps of the listed rows lie in [least, most].
RowState check_state(const RowRule& rule, Floats& weight, std::optional<Floats>& mean,
                     std::optional<Floats>& square, Lists& last, RowList list, std::int64_t least,
                     std::int64_t most) {
  require(weight.ndim() == 2, "weight must have shape (n_features, n_units)");
  require(rule.is_adam() == mean.has_value() && rule.is_adam() == square.has_value(),
          "Adam needs both moments, plain descent none");
  for (const auto* moment : {&mean, &square}) {
    require(!*moment || ((*moment)->ndim() == 2 && side(**moment, 0) == side(weight, 0) &&
                         side(**moment, 1) == side(weight, 1)),
            "moments must have the shape of weight");
  }
  require(length(last) == side(weight, 0), "last must have one value a feature");
  for (std::size_t i = 0; i < list.n_rows; ++i) {
    const std::int64_t step = last.data()[list.rows[i]];
    require(step >= least && step <= most, "last must lie at or before the step that is made");
  }
  return {weight.mutable_data(), mean ? mean->mutable_data() : nullptr,
          square ? square->mutable_data() : nullptr, last.mutable_data(), side(weight, 1)};
}

// Returns the number of draws of a gradient of shape (n_rows, n_draws, n_units).
std::size_t check_gradient(const Floats& gradient, RowList list, std::size_t n_units) {
  require(gradient.ndim() == 3 && side(gradient, 0) == list.n_rows && side(gradient, 2) == n_units,
          "gradient must have shape (n_rows, n_draws, n_units)");
  return side(gradient, 1);
}

const float* check_gates(const std::optional<Floats>& gates, std::size_t n_draws, RowList list) {
  if (!gates) return nullptr;
  require(gates->ndim() == 2 && side(*gates, 0) == n_draws && side(*gates, 1) == list.n_rows,
          "gates must have shape (n_draws, n_rows)");
  return gates->data();
}

RowRule make_rule(double rate, double decay, std::optional<std::pair<double, double>> betas,
                  double epsilon) {
  require(std::isfinite(rate) && rate >= 0, "rate must be finite and at least 0");
  require(std::isfinite(decay) && decay >= 0, "decay must be finite and at least 0");
  require(std::isfinite(epsilon) && epsilon >= 0, "epsilon must be finite and at least 0");
  if (!betas) return {rate, decay};
  for (const double beta : {betas->first, betas->second}) {
    require(beta >= 0 && beta <= 0.9999, "betas must lie in [0, 0.9999]");
  }
  return {rate, decay, betas->first, betas->second, epsilon};
}

void advance(const RowRule& rule, Floats weight, std::optional<Floats> mean,
             std::optional<Floats> square, Lists last, const Codes& rows, std::int64_t step) {
  require(step >= 0 && step <= most_steps, "step must lie in [0, 2^31)");
  require(weight.ndim() == 2, "weight must have shape (n_features, n_units)");
  const RowList list = check_rows(rows, side(weight, 0));
  const RowState state = check_state(rule, weight, mean, square, last, list, 0, step);
  const py::gil_scoped_release release;
  rule.advance(state, list, step);
}

void learn(const RowRule& rule, Floats weight, std::optional<Floats> mean,
           std::optional<Floats> square, Lists last, const Codes& rows,
           const std::optional<Floats>& gates, const Floats& gradient, std::int64_t step) {
  require(step >= 1 && step <= most_steps, "step must lie in [1, 2^31)");
  require(weight.ndim() == 2, "weight must have shape (n_features, n_units)");
  const RowList list = check_rows(rows, side(weight, 0));
  const RowState state = check_state(rule, weight, mean, square, last, list, step - 1, step - 1);
  const std::size_t n_draws = check_gradient(gradient, list, state.n_columns);
  require(n_draws > 0, "a gradient must have at least one draw");
  const float* opened = check_gates(gates, n_draws, list);
  const float* g = gradient.data();
  const py::gil_scoped_release release;
  rule.learn(state, list, opened, g, n_draws, step);
}

Floats fold(const Floats& weight, const Codes& rows, const std::optional<Floats>& gates) {
  require(weight.ndim() == 2, "weight must have shape (n_features, n_units)");
  const RowList list = check_rows(rows, side(weight, 0));
  require(!gates || gates->ndim() == 2, "gates must have shape (n_draws, n_rows)");
  const std::size_t n_draws = gates ? side(*gates, 0) : 1, n_units = side(weight, 1);
  const float* opened = check_gates(gates, n_draws, list);
  Floats out({list.n_rows, n_draws * n_units});
  const float* w = weight.data();
  float* to = out.mutable_data();
  const py::gil_scoped_release release;
  fold_rows(w, n_units, list, opened, n_draws, to);
  return out;
}

Floats gradients(const Floats& weight, const Codes& rows, const Floats& gradient) {
  require(weight.ndim() == 2, "weight must have shape (n_features, n_units)");
  const RowList list = check_rows(rows, side(weight, 0));
  const std::size_t n_draws = check_gradient(gradient, list, side(weight, 1));
  Floats out({n_draws, list.n_rows});
  const float *w = weight.data(), *g = gradient.data();
  float* to = out.mutable_data();
  const std::size_t n_units = side(weight, 1);
  const py::gil_scoped_release release;
  gate_gradients(w, n_units, list, g, n_draws, to);
  return out;
}

void add_gradients(const Floats& weight, const Codes& rows, const Floats& gradient,
                   const Floats& slopes, Floats out) {
  require(weight.ndim() == 2, "weight must have shape (n_features, n_units)");
  const RowList list = check_rows(rows, side(weight, 0));
  require(check_gradient(gradient, list, side(weight, 1)) == 1, "gradient must be of one draw");
  require(length(slopes) == list.n_rows, "slopes must have one value a row");
  require(length(out) == side(weight, 0), "out must have one value a feature");
  const float *w = weight.data(), *g = gradient.data(), *s = slopes.data();
  float* to = out.mutable_data();
  const std::size_t n_units = side(weight, 1);
  const py::gil_scoped_release release;
  add_gate_gradients(w, n_units, list, g, s, to);
}

std::pair<double, Floats> of_normal_penalty(const Floats& mu, double sigma, double weight) {
  const std::size_t n = length(mu);
  require(std::isfinite(sigma) && sigma > 0, "sigma must be finite and positive");
  Floats gradient(n);
  const float* from = mu.data();
  float* to = gradient.mutable_data();
  double penalty;
  {
    const py::gil_scoped_release release;
    penalty = normal_penalty(from, n, static_cast<float>(sigma), static_cast<float>(weight), to);
  }
  return {penalty, gradient};
}

Floats gather(const Floats& x, const Lists& samples, const Codes& features) {
  require(x.ndim() == 2, "X must have shape (n_samples, n_features)");
  const std::size_t n = length(samples), m = length(features), p = side(x, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t sample = samples.data()[i];
    require(sample >= 0 && sample < x.shape(0), "samples must lie in [0, n_samples)");
  }
  for (std::size_t j = 0; j < m; ++j) {
    const std::int32_t feature = features.data()[j];
    require(feature >= 0 && static_cast<std::size_t>(feature) < p,
            "features must lie in [0, n_features)");
  }
  Floats out({n, m});
  const float* from = x.data();
  float* to = out.mutable_data();
  const std::int64_t* sample = samples.data();
  const std::int32_t* feature = features.data();
  const py::gil_scoped_release release;
  gather_columns(from, p, sample, n, feature, m, to);
  return out;
}

// Returns the open features, their gates of shape (1, n_open), and their columns of the samples.
py::tuple open_columns(const Floats& gates, const Floats& x, const std::optional<Lists>& samples,
                       std::size_t most) {
  const std::size_t p = length(gates);
  require(x.ndim() == 2 && side(x, 1) == p, "X must have one column a gate");
  std::vector<std::int32_t> rows(p + 1);
  std::vector<float> opened(p + 1);
  const std::size_t m = open_gates(gates.data(), p, most, rows.data(), opened.data());
  const Codes features(m, rows.data());
  const Floats values({std::size_t{1}, m}, opened.data());
  if (!samples) {
    if (m == p) return py::make_tuple(features, values, x);
    Lists every(x.shape(0));
    std::iota(every.mutable_data(), every.mutable_data() + x.shape(0), std::int64_t{0});
    return py::make_tuple(features, values, gather(x, every, features));
  }
  return py::make_tuple(features, values, gather(x, *samples, features));
}

constexpr std::size_t n_levels = std::size_t{1} << 16;

Floats draw_noise(std::uint64_t key, std::uint64_t lane, const Floats& table, std::size_t n) {
  require(length(table) == n_levels, "table must have 2^16 values");
  Floats out(n);
  const float* from = table.data();
  float* to = out.mutable_data();
  const py::gil_scoped_release release;
  gate_noise(key, lane, from, n, to);
  return out;
}

Floats draw_normal_gates(std::uint64_t key, std::uint64_t lane, const Floats& table,
                         const Floats& mu, double sigma, std::size_t n_draws) {
  require(length(table) == n_levels, "table must have 2^16 values");
  const std::size_t n = length(mu);
  Floats out({n_draws, n});
  const float *from = table.data(), *at = mu.data();
  float* to = out.mutable_data();
  const py::gil_scoped_release release;
  normal_gates(key, lane, from, at, n, static_cast<float>(sigma), n_draws, to);
  return out;
}

std::pair<double, Floats> of_softmax(const Floats& outputs, const Lists& codes,
                                     const std::optional<Floats>& weight) {
  require(outputs.ndim() == 2, "outputs must have shape (n_samples, n_classes)");
  const std::size_t n = side(outputs, 0), n_classes = side(outputs, 1);
  require(length(codes) == n, "codes must have one value a sample");
  require(!weight || length(*weight) == n, "weight must have one value a sample");
  for (std::size_t i = 0; i < n; ++i) {
    require(codes.data()[i] >= 0 && codes.data()[i] < outputs.shape(1),
            "codes must lie in [0, n_classes)");
  }
  Floats gradient({n, n_classes});
  const float *from = outputs.data(), *weights = weight ? weight->data() : nullptr;
  const std::int64_t* code = codes.data();
  float* to = gradient.mutable_data();
  double loss;
  {
    const py::gil_scoped_release release;
    loss = softmax_loss(from, code, weights, n, n_classes, to);
  }
  return {loss, gradient};
}

}  // namespace

void register_gates(py::module_& module) {
  py::class_<RowRule>(module, "RowRule")
      .def(py::init(&make_rule), py::arg("rate"), py::arg("decay"), py::arg("betas") = py::none(),
           py::arg("epsilon") = 1e-8)
      .def("advance", &advance, py::arg("weight").noconvert(), py::arg("mean").noconvert(),
           py::arg("square").noconvert(), py::arg("last").noconvert(), py::arg("rows").noconvert(),
           py::arg("step"))
      .def("learn", &learn, py::arg("weight").noconvert(), py::arg("mean").noconvert(),
           py::arg("square").noconvert(), py::arg("last").noconvert(), py::arg("rows").noconvert(),
           py::arg("gates").noconvert(), py::arg("gradient").noconvert(), py::arg("step"));
  module.def("fold_rows", &fold, py::arg("weight").noconvert(), py::arg("rows").noconvert(),
             py::arg("gates").noconvert());
  module.def("gate_gradients", &gradients, py::arg("weight").noconvert(),
             py::arg("rows").noconvert(), py::arg("gradient").noconvert());
  module.def("open_columns", &open_columns, py::arg("gates").noconvert(),
             py::arg("X").noconvert(), py::arg("samples").noconvert(), py::arg("most"));
  module.def("gate_noise", &draw_noise, py::arg("key"), py::arg("lane"),
             py::arg("table").noconvert(), py::arg("n"));
  module.def("normal_gates", &draw_normal_gates, py::arg("key"), py::arg("lane"),
             py::arg("table").noconvert(), py::arg("mu").noconvert(), py::arg("sigma"),
             py::arg("n_draws"));
  module.def("softmax_loss", &of_softmax, py::arg("outputs").noconvert(),
             py::arg("codes").noconvert(), py::arg("weight").noconvert());
  module.def("add_gate_gradients", &add_gradients, py::arg("weight").noconvert(),
             py::arg("rows").noconvert(), py::arg("gradient").noconvert(),
             py::arg("slopes").noconvert(), py::arg("out").noconvert());
  module.def("normal_penalty", &of_normal_penalty, py::arg("mu").noconvert(), py::arg("sigma"),
             py::arg("weight"));
  module.def("gather_columns", &gather, py::arg("X").noconvert(), py::arg("samples").noconvert(),
             py::arg("features").noconvert());
}

}  // namespace bitsieve
