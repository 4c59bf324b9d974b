// Scores from outputs: what is asked, and outputs of masks scored outside of any fitness.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/fitness/scores.hpp"
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

template <typename Enum, std::size_t n>
using Names = std::array<std::pair<const char*, Enum>, n>;

constexpr Names<Metric, 21> metric_names{{
    {"accuracy", Metric::accuracy},
    {"balanced_accuracy", Metric::balanced_accuracy},
    {"balanced_error", Metric::balanced_error},
    {"precision", Metric::precision},
    {"recall", Metric::recall},
    {"f_score", Metric::f_score},
    {"jaccard", Metric::jaccard},
    {"matthews", Metric::matthews},
    {"kappa", Metric::kappa},
    {"cost", Metric::cost},
    {"roc_auc", Metric::roc_auc},
    {"average_precision", Metric::average_precision},
    {"log_loss", Metric::log_loss},
    {"brier", Metric::brier},
    {"r2", Metric::r2},
    {"explained_variance", Metric::explained_variance},
    {"mean_squared_error", Metric::mean_squared_error},
    {"root_mean_squared_error", Metric::root_mean_squared_error},
    {"mean_absolute_error", Metric::mean_absolute_error},
    {"median_absolute_error", Metric::median_absolute_error},
    {"max_error", Metric::max_error},
}};
constexpr Names<Average, 4> average_names{{{"binary", Average::binary},
                                           {"micro", Average::micro},
                                           {"macro", Average::macro},
                                           {"weighted", Average::weighted}}};
constexpr Names<KappaWeights, 3> weight_names{{{"none", KappaWeights::none},
                                               {"linear", KappaWeights::linear},
                                               {"quadratic", KappaWeights::quadratic}}};
constexpr Names<Outputs::Kind, 4> kind_names{{{"classes", Outputs::Kind::none},
                                              {"probabilities", Outputs::Kind::probabilities},
                                              {"decisions", Outputs::Kind::decisions},
                                              {"numbers", Outputs::Kind::numbers}}};

template <typename Enum, std::size_t n>
Enum from_name(const Names<Enum, n>& names, const std::string& name, const char* what) {
  for (const auto& [known, value] : names) {
    if (name == known) return value;
  }
  std::string message = std::string(what) + " must be one of ";
  for (const auto& [known, value] : names) message += std::string(known) + " ";
  throw std::invalid_argument(message + "(see bitsieve.fitness.scoring)");
}

template <typename Enum, std::size_t n>
const char* name_of(const Names<Enum, n>& names, Enum value) {
  for (const auto& [known, each] : names) {
    if (each == value) return known;
  }
  return "";
}

Score make_score(const std::string& metric, const std::string& reads, double sign,
                 const std::string& average, std::int32_t positive,
                 const std::optional<Codes>& labels, double beta, double zero_division,
                 bool one_vs_one, bool adjusted, bool normalize, double scale,
                 const std::string& weights, const std::optional<Numbers>& costs,
                 bool needs_trained, bool needs_tested) {
  Score score;
  score.metric = from_name(metric_names, metric, "metric");
  score.reads = from_name(kind_names, reads, "reads");
  score.sign = sign;
  score.average = from_name(average_names, average, "average");
  score.positive = positive;
  if (labels) score.labels.assign(labels->data(), labels->data() + length(*labels));
  score.beta = beta;
  score.zero_division = zero_division;
  score.one_vs_one = one_vs_one;
  score.adjusted = adjusted;
  score.normalize = normalize;
  score.scale = scale;
  score.weights = from_name(weight_names, weights, "weights");
  if (costs) {
    require(costs->ndim() == 2 && costs->shape(0) == costs->shape(1), "costs must be square");
    score.costs.assign(costs->data(), costs->data() + costs->size());
  }
  score.needs_trained = needs_trained;
  score.needs_tested = needs_tested;
  return score;
}

// A target under fixed splits, for outputs that come from elsewhere.
class ScoredSplits {
 public:
  ScoredSplits(const TargetArray& target, std::size_t n_classes, const Lists& train,
               const Lists& train_begin, const Lists& test, const Lists& test_begin) {
    const std::size_t n = std::visit([](const py::array& array) { return length(array); }, target);
    require(n > 0, "target must not be empty");
    target_ = make_target(target, n, n_classes);
    splits_ = make_splits(train, train_begin, test, test_begin, n, n_classes);
    counts_ = SplitTarget(splits_, target_);
  }

  Array<double> score_outputs(const Score& score, const std::optional<Codes>& classes,
                              const std::optional<Numbers>& values, const std::string& kind,
                              Threads n_threads) const {
    const Scorer scorer(score, target_);
    const std::size_t n_tests = splits_.test_samples.size(), n_classes = target_.n_classes;
    require(classes || values, "classes or values must be given");
    Outputs all;
    std::size_t n_masks = 0;
    if (classes) {
      require(classes->ndim() == 2 && static_cast<std::size_t>(classes->shape(1)) == n_tests,
              "classes must have shape (n_masks, n_tests)");
      n_masks = static_cast<std::size_t>(classes->shape(0));
      check_codes_of(*classes, n_classes);
      all.classes = classes->data();
    }
    if (values) {
      require(values->ndim() == 3 && static_cast<std::size_t>(values->shape(1)) == n_tests,
              "values must have shape (n_masks, n_tests, n_values)");
      require(!classes || values->shape(0) == classes->shape(0),
              "values and classes must be of the same masks");
      n_masks = static_cast<std::size_t>(values->shape(0));
      all.values = values->data();
      all.n_values = static_cast<std::size_t>(values->shape(2));
      all.kind = from_name(kind_names, kind, "kind");
      using Kind = Outputs::Kind;
      require(all.kind != Kind::none, "kind must say what the values are");
      const bool one =
          all.kind == Kind::numbers || (all.kind == Kind::decisions && n_classes == 2);
      require(all.n_values == (one ? 1 : n_classes),
              "values must have a column a class; of numbers, and of decisions of two classes, one");
    }
    Array<double> out({n_masks, splits_.n_splits});
    run(n_masks, n_threads, out.mutable_data(),
        [&](std::size_t m, ScoreScratch& scratch, double* scores) {
          Outputs one = all;
          if (one.classes != nullptr) one.classes += m * n_tests;
          if (one.values != nullptr) one.values += m * n_tests * one.n_values;
          scorer.of_outputs({splits_, counts_}, one, scratch, scores);
        });
    return out;
  }

  // Of hits (n_masks, n_splits, n_classes) or a confusion matrix (..., n_classes, n_classes).
  Array<double> score_counts(const Score& score, const Codes& counts, Threads n_threads) const {
    const Scorer scorer(score, target_);
    const std::size_t n_classes = target_.n_classes;
    const bool hits = counts.ndim() == 3;
    require(n_classes > 0, "counts are of classes, and the target is numbers");
    require((hits || counts.ndim() == 4) &&
                static_cast<std::size_t>(counts.shape(1)) == splits_.n_splits &&
                static_cast<std::size_t>(counts.shape(counts.ndim() - 1)) == n_classes &&
                static_cast<std::size_t>(counts.shape(2)) == n_classes,
            "counts must have shape (n_masks, n_splits, n_classes), or one more n_classes");
    const auto n_masks = static_cast<std::size_t>(counts.shape(0));
    const std::size_t width = hits ? 1 : n_classes;
    const std::size_t n_rows = splits_.n_splits * n_classes;
    for (std::size_t k = 0; k < n_masks * n_rows; ++k) {
      const std::int32_t* row = counts.data() + k * width;
      std::int64_t sum = 0;
      for (std::size_t c = 0; c < width; ++c) {
        require(row[c] >= 0, "counts must not be negative");
        sum += row[c];
      }
      const std::int64_t tested = counts_.test_of_class[k % n_rows];
      require(hits ? sum <= tested : sum == tested, "counts must fit the test samples of a class");
    }
    Array<double> out({n_masks, splits_.n_splits});
    const std::int32_t* data = counts.data();
    run(n_masks, n_threads, out.mutable_data(),
        [&](std::size_t m, ScoreScratch& scratch, double* scores) {
          const std::int32_t* one = data + m * n_rows * width;
          const TargetSplits at{splits_, counts_};
          if (hits) {
            scorer.of_hits(at, one, scratch, scores);
          } else {
            scorer.of_confusion(at, one, scratch, scores);
          }
        });
    return out;
  }

 private:
  static void check_codes_of(const Codes& classes, std::size_t n_classes) {
    for (py::ssize_t k = 0; k < classes.size(); ++k) {
      const std::int32_t c = classes.data()[k];
      require(c >= 0 && static_cast<std::size_t>(c) < n_classes,
              "classes must lie in [0, n_classes)");
    }
  }

  template <typename Function>
  void run(std::size_t n_masks, Threads n_threads, double* out, const Function& one) const {
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    std::vector<ScoreScratch> scratch(
        static_cast<std::size_t>(std::min<int>(n_threads, max_threads)));
    parallel_for_worker(n_masks, n_threads, [&](std::size_t m, int w) {
      one(m, scratch[static_cast<std::size_t>(w)], out + m * splits_.n_splits);
    });
  }

  Target target_;
  Splits splits_;
  SplitTarget counts_;
};

}  // namespace

void register_scores(py::module_& module) {
  py::class_<Score>(module, "Score")
      .def(py::init(&make_score), py::arg("metric"), py::kw_only(), py::arg("reads") = "classes",
           py::arg("sign") = 1.0, py::arg("average") = "macro", py::arg("positive") = 1,
           py::arg("labels").noconvert() = py::none(), py::arg("beta") = 1.0,
           py::arg("zero_division") = 0.0, py::arg("one_vs_one") = false,
           py::arg("adjusted") = false, py::arg("normalize") = true, py::arg("scale") = 1.0,
           py::arg("weights") = "none", py::arg("costs").noconvert() = py::none(),
           py::arg("needs_trained") = false, py::arg("needs_tested") = false)
      .def_property_readonly("metric",
                             [](const Score& s) { return name_of(metric_names, s.metric); })
      .def_property_readonly("reads", [](const Score& s) { return name_of(kind_names, s.reads); })
      .def("__repr__", [](const Score& s) {
        return std::string("<Score ") + (s.sign < 0 ? "-" : "") + name_of(metric_names, s.metric) +
               " of " + name_of(kind_names, s.reads) + ">";
      });
  py::class_<ScoredSplits>(module, "ScoredSplits")
      .def(py::init<const TargetArray&, std::size_t, const Lists&, const Lists&,
                    const Lists&, const Lists&>(),
           py::arg("target").noconvert(), py::kw_only(), py::arg("n_classes"),
           py::arg("train").noconvert(), py::arg("train_begin").noconvert(),
           py::arg("test").noconvert(), py::arg("test_begin").noconvert())
      .def("score_outputs", &ScoredSplits::score_outputs, py::arg("score"), py::kw_only(),
           py::arg("classes").noconvert() = py::none(), py::arg("values").noconvert() = py::none(),
           py::arg("kind") = "classes", py::arg("n_threads") = 1)
      .def("score_counts", &ScoredSplits::score_counts, py::arg("score"), py::kw_only(),
           py::arg("counts").noconvert(), py::arg("n_threads") = 1);
}

}  // namespace bitsieve
