"""Scores of outputs equal scikit-learn's own scorers: values, refusals, what is undefined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn import config_context, metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import _core
from bitsieve.data import Table
from bitsieve.fitness.metrics import balanced_error_rate, cost_scorer, mean_cost
from bitsieve.fitness.output_scorer import OutputScorer
from bitsieve.fitness.scoring import compiled_score, refusal_of_scoring

pytestmark = pytest.mark.filterwarnings("ignore")

Array = np.ndarray[Any, Any]
AVERAGES = ("micro", "macro", "weighted")
KINDS = ("votes", "one hot", "shares", "decisions")


class Answers(ClassifierMixin, BaseEstimator):
    """A classifier as a scorer sees it, with the classes of its training part."""

    def __init__(self, classes: Array, predicted: Array, values: Array, decides: bool) -> None:
        self.classes_ = classes
        self.predicted, self.values = predicted, values
        if decides:
            self.decision_function = self._decision_function
        else:
            self.predict_proba = self._predict_proba
        self._decision_function.__func__.__name__ = "decision_function"
        self._predict_proba.__func__.__name__ = "predict_proba"

    def fit(self, X: Any, y: Any) -> Answers:
        return self

    def predict(self, X: Array) -> Array:
        return self.classes_[self.predicted[X]]

    def _predict_proba(self, X: Array) -> Array:
        return self.values[X]

    def _decision_function(self, X: Array) -> Array:
        values = self.values[X]
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values


class Numbers(RegressorMixin, BaseEstimator):
    def __init__(self, values: Array) -> None:
        self.values = values

    def fit(self, X: Any, y: Any) -> Numbers:
        return self

    def predict(self, X: Array) -> Array:
        return self.values[X]


class Problem:
    """A target, splits, and a mask's outputs: a row for each test sample of each split."""

    def __init__(self, rng: np.random.Generator, n_classes: int, kind: str, labels: Any) -> None:
        n = int(rng.integers(16, 30))
        self.codes = rng.permutation(np.arange(n) % n_classes).astype(np.int32)
        few = rng.random(n) < rng.choice([0.0, 0.6])  # some classes much rarer
        self.codes[few] = 0
        self.codes[: 3 * n_classes] = np.repeat(np.arange(n_classes), 3)
        self.table = table_of(np.asarray(labels)[self.codes])
        self.y, self.classes = self.table.y, self.table.classes
        fold = rng.integers(0, 2, n)
        fold[: 3 * n_classes] = np.arange(3 * n_classes) % 3 % 2  # both have every class
        self.splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(2)]
        order = rng.permutation(n)
        tests = order[: int(rng.integers(1, 6))]  # a small part, in an order of its own
        self.splits.append((np.setdiff1d(order, tests), tests))
        lacking = self.codes == n_classes - 1
        self.splits.append((np.flatnonzero(~lacking)[::2], np.flatnonzero(lacking)))
        self.tests = np.concatenate([test for _, test in self.splits])
        self.kind = kind
        self.classes_out, self.values = outputs(rng, kind, self.codes[self.tests], n_classes)
        last = self.rows(3)  # no model names a class that it has not seen
        self.values[last, -1] = 0 if kind != "decisions" else -9
        if kind != "decisions":
            self.values[last, 0] += 1 - self.values[last].sum(axis=1)
        self.classes_out[last] = self.values[last].argmax(axis=1)
        self.core = scored_splits(self.codes, n_classes, self.splits)

    def estimator(self) -> Any:
        if self.kind == "decisions":
            return RidgeClassifier()
        return KNeighborsClassifier()

    def columns(self) -> Array:
        """Values as the core takes them: of two classes' decisions their difference."""
        if self.kind == "decisions" and len(self.classes) == 2:
            return self.values[:, 1:] - self.values[:, :1]
        return self.values

    def rows(self, s: int) -> Array:
        begin = sum(len(test) for _, test in self.splits[:s])
        return np.arange(begin, begin + len(self.splits[s][1]))

    def compiled(self, score: Any, **more: Any) -> Array:
        kind = "decisions" if self.kind == "decisions" else "probabilities"
        arguments = {
            "classes": self.classes_out[None],
            "values": self.columns()[None],
            "kind": kind,
        }
        return self.core.score_outputs(score, **(arguments | more))[0]

    def expected(self, scoring: Any, s: int) -> float | str:
        """What the scorer says of split s, or the error that it raises."""
        train, test = self.splits[s]
        trained = np.unique(self.codes[train])
        predicted = np.searchsorted(trained, self.classes_out)
        model = Answers(
            self.classes[trained], predicted, self.values[:, trained], self.kind == "decisions"
        )
        scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
        return value_or_error(lambda: scorer(model, self.rows(s), self.y[test]))


def value_or_error(call: Callable[[], float]) -> float | str:
    try:
        return float(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def table_of(y: Any, **more: Any) -> Table:
    return Table(np.arange(len(y), dtype=float)[:, None], y, **more)


def scored_splits(target: Array, n_classes: int, splits: Any) -> Any:
    lists: dict[str, Array] = {}
    for name, parts in zip(("train", "test"), zip(*splits, strict=True), strict=True):
        lists[name] = np.concatenate(parts).astype(np.int64)
        lists[f"{name}_begin"] = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return _core.ScoredSplits(target, n_classes=n_classes, **lists)


def outputs(
    rng: np.random.Generator, kind: str, codes: Array, n_classes: int
) -> tuple[Array, Array]:
    n = len(codes)
    right = rng.random(n) < rng.choice([0.3, 0.8])
    guess = np.where(right, codes, rng.integers(0, n_classes, n)).astype(np.int32)
    if kind == "decisions":
        values = rng.integers(-2, 3, (n, n_classes)) / 2 + (rng.random() < 0.5) * rng.normal(
            size=(n, n_classes)
        )
        values[np.arange(n), guess] += 1
        return values.argmax(axis=1).astype(np.int32), values
    if kind == "one hot":
        return guess, np.eye(n_classes)[guess]
    if kind == "votes":
        k = int(rng.integers(2, 6))
        votes = np.array([rng.multinomial(k, np.full(n_classes, 1 / n_classes)) for _ in codes])
        values = votes / k
    else:
        values = rng.dirichlet(np.full(n_classes, 0.5), n)
    return values.argmax(axis=1).astype(np.int32), values


def problems(seeds: int, kinds: tuple[str, ...] = KINDS) -> Iterator[Problem]:
    for seed in range(seeds):
        for kind in kinds:
            rng = np.random.default_rng([seed, len(kind)])
            n_classes = 2 + seed % 4
            labels = (range(n_classes), "abcde"[:n_classes], np.arange(n_classes) * 2.0 - 1)
            yield Problem(rng, n_classes, kind, list(labels[seed % 3]))


def sets(problem: Problem) -> Iterator[Any]:
    """Scorers of precision, recall, F and Jaccard under all of their options."""
    classes = problem.classes.tolist()
    for function in (
        metrics.precision_score,
        metrics.recall_score,
        metrics.f1_score,
        metrics.jaccard_score,
    ):
        for average in AVERAGES:
            yield make_scorer(function, average=average, pos_label=None, zero_division=0)
        yield make_scorer(function, average="macro", pos_label=None, labels=classes[1:][::-1])
        yield make_scorer(function, average="weighted", pos_label=classes[0], labels=classes[:1])
        yield make_scorer(function, average="macro", zero_division=1)
        if len(classes) == 2:
            yield make_scorer(function, pos_label=classes[0])
            yield make_scorer(function, zero_division=1.0)
    for beta in (0, 0.5, 2, np.inf):
        yield make_scorer(metrics.fbeta_score, beta=beta, average="macro", zero_division=np.nan)
        yield make_scorer(metrics.fbeta_score, beta=beta, average="weighted", pos_label=None)


def of_classes(problem: Problem) -> Iterator[Any]:
    classes = problem.classes.tolist()
    yield from ("accuracy", "balanced_accuracy", "matthews_corrcoef")
    yield make_scorer(metrics.accuracy_score, normalize=False)
    yield make_scorer(metrics.balanced_accuracy_score, adjusted=True)
    yield make_scorer(balanced_error_rate, greater_is_better=False)
    for weights in (None, "linear", "quadratic"):
        yield make_scorer(metrics.cohen_kappa_score, weights=weights)
        yield make_scorer(metrics.cohen_kappa_score, weights=weights, labels=classes[::-1])
        yield make_scorer(metrics.cohen_kappa_score, weights=weights, labels=classes[:2])
    costs = np.random.default_rng(len(classes)).random((len(classes), len(classes)))
    yield cost_scorer(costs, classes[::-1])


def of_ranks(problem: Problem) -> Iterator[Any]:
    labels, choices = problem.classes, ("decision_function", "predict_proba")
    yield from ("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "average_precision")
    yield from ("roc_auc_ovr_weighted", "roc_auc_ovo_weighted")
    yield make_scorer(
        metrics.roc_auc_score, response_method=choices, multi_class="ovr", average="micro"
    )
    yield make_scorer(
        metrics.roc_auc_score, response_method="predict_proba", multi_class="ovr", labels=labels
    )
    yield make_scorer(
        metrics.roc_auc_score,
        response_method=choices,
        multi_class="ovo",
        max_fpr=1.0,
        greater_is_better=False,
    )
    for average in AVERAGES:
        scorer: Any = metrics.average_precision_score
        yield make_scorer(scorer, response_method=choices, average=average)
    yield make_scorer(scorer, response_method=choices, pos_label=labels[0])


def of_probabilities(problem: Problem) -> Iterator[Any]:
    labels, response = problem.classes, {"response_method": "predict_proba"}
    yield from ("neg_log_loss", "neg_brier_score")
    yield make_scorer(metrics.log_loss, **response, normalize=False, labels=labels.tolist())
    yield make_scorer(metrics.log_loss, **response, labels=labels)
    yield make_scorer(metrics.brier_score_loss, **response, pos_label=labels[0])
    yield make_scorer(metrics.brier_score_loss, **response, labels=labels)
    yield make_scorer(metrics.brier_score_loss, **response, scale_by_half=len(labels) > 2)


def agree(problem: Problem, scoring: Any, counted: list[int]) -> None:
    """Compare every split; where the core has no value, scikit-learn is asked and says the same."""
    estimator = problem.estimator()
    score = compiled_score(estimator, scoring, problem.table)
    refusal = refusal_of_scoring(estimator, scoring)
    if score is None and refusal is not None:
        return
    slow = OutputScorer(estimator, scoring, problem.table)
    found = np.full(len(problem.splits), np.nan) if score is None else problem.compiled(score)
    for s, value in enumerate(found):
        told = problem.expected(scoring, s)
        where = (scoring, problem.kind, problem.classes, s, value, told)
        if not np.isnan(value):
            assert isinstance(told, float), where
            np.testing.assert_allclose(value, told, rtol=0, atol=1e-12, err_msg=str(where))
            counted[0] += 1
            continue
        counted[1] += 1
        rows = problem.rows(s)
        outputs = {"classes": problem.classes_out[rows], "values": problem.columns()[rows]}
        again = value_or_error(lambda s=s, o=outputs: slow.score(problem.splits[s : s + 1], **o)[0])
        if isinstance(told, str):
            assert again == told, where
        else:
            np.testing.assert_allclose(again, told, rtol=0, atol=1e-12, err_msg=str(where))


@pytest.mark.parametrize(
    "scorings", [of_classes, pytest.param(sets, marks=pytest.mark.slow), of_ranks, of_probabilities]
)
def test_scores_are_those_of_scikit_learn(scorings: Callable[[Problem], Iterator[Any]]) -> None:
    counted = [0, 0]
    with config_context(skip_parameter_validation=True):
        for k, problem in enumerate(problems(8)):
            for scoring in list(scorings(problem))[k % 5 :: 5]:  # each with some of the problems
                agree(problem, scoring, counted)
    assert counted[0] > 30
    assert counted[1] > 10


def test_scores_of_numbers_are_those_of_scikit_learn() -> None:
    scorings = [
        *("r2", "explained_variance", "neg_mean_squared_error", "neg_root_mean_squared_error"),
        *("neg_mean_absolute_error", "neg_median_absolute_error", "neg_max_error"),
        make_scorer(metrics.r2_score, force_finite=False),
        make_scorer(metrics.explained_variance_score, force_finite=False),
    ]
    undefined = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 40))
        y = np.round(rng.normal(size=n) * 3 + (1e3 if seed % 2 else 0), int(rng.integers(0, 4)))
        y[:2] = 0.1  # a part of two samples that do not vary, and one of a single sample
        order = rng.permutation(np.arange(3, n))
        tests = [np.array([0, 1]), np.array([2]), order[: len(order) // 2], order[-5:]]
        splits = [(np.setdiff1d(np.arange(n), test), test) for test in tests]
        values = np.concatenate([y[test] for test in tests]) + rng.normal(size=sum(map(len, tests)))
        values[: 2 * (seed % 3)] = 0.1  # right where nothing varies
        core, table = scored_splits(y, 0, splits), table_of(y, task="regression")
        for scoring in scorings:
            score = compiled_score(Ridge(), scoring, table)
            found = core.score_outputs(score, values=values[None, :, None], kind="numbers")[0]
            scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
            begin = np.cumsum([0, *map(len, tests)])
            told = np.array(
                [
                    scorer(Numbers(values), np.arange(begin[s], begin[s + 1]), y[test])
                    for s, test in enumerate(tests)
                ]
            )
            undefined += int(np.isnan(found).sum())
            defined = ~np.isnan(found)
            np.testing.assert_allclose(
                found[defined], told[defined], rtol=1e-12, atol=1e-12, err_msg=str(scoring)
            )
            again = OutputScorer(Ridge(), scoring, table).score(
                splits, values=values[:, None], scores=found
            )
            np.testing.assert_allclose(again[~defined], told[~defined], rtol=1e-12)
    assert undefined == 20 * 4 * 2


def test_counts_give_the_scores_of_one_hot_outputs() -> None:
    for seed in range(12):
        problem = Problem(np.random.default_rng(seed), 2 + seed % 4, "one hot", range(2 + seed % 4))
        n_classes, n_splits = len(problem.classes), len(problem.splits)
        cells = np.zeros((1, n_splits, n_classes, n_classes), np.int32)
        for s, (_, test) in enumerate(problem.splits):
            np.add.at(cells[0, s], (problem.codes[test], problem.classes_out[problem.rows(s)]), 1)
        hits = np.ascontiguousarray(np.diagonal(cells, axis1=2, axis2=3))
        scorings = [*of_classes(problem), *sets(problem), *of_ranks(problem)]
        for scoring in [*scorings, *of_probabilities(problem)]:
            score = compiled_score(KNeighborsClassifier(), scoring, problem.table)
            if score is None:
                continue
            expected = problem.compiled(score)
            exact = score.metric not in ("log_loss", "brier")
            for counts in (cells, hits):
                few = counts is hits and n_classes > 2
                if few and score.metric not in ("accuracy", "balanced_accuracy", "balanced_error"):
                    with pytest.raises(ValueError, match="hits alone"):
                        problem.core.score_counts(score, counts=counts)
                    continue
                found = problem.core.score_counts(score, counts=counts)[0]
                np.testing.assert_allclose(
                    found, expected, rtol=0, atol=0 if exact else 1e-12, err_msg=str(score)
                )


def test_scores_are_a_function_of_the_outputs_alone() -> None:
    """Not of the threads, the batch, or whether the classes of the greatest values are told."""
    rng = np.random.default_rng(0)
    for problem in problems(4):
        batch = np.stack([problem.columns()] * 9)
        batch[1::2] = rng.permutation(batch[1::2], axis=1)
        if problem.kind == "decisions" and batch.shape[2] == 1:
            classes = (batch[..., 0] > 0).astype(np.int32)
        else:
            classes = batch.argmax(axis=2).astype(np.int32)
        for scoring in ("f1_macro", "matthews_corrcoef", "roc_auc", "neg_log_loss"):
            score = compiled_score(problem.estimator(), scoring, problem.table)
            if score is None:
                continue
            kind = "decisions" if problem.kind == "decisions" else "probabilities"
            given = {"values": batch, "kind": kind}
            one = problem.core.score_outputs(score, classes=classes, **given)
            others = [
                problem.core.score_outputs(score, **given, n_threads=3),
                problem.core.score_outputs(score, classes=classes[::-1].copy(), kind=kind)[::-1]
                if score.reads == "classes"
                else problem.core.score_outputs(score, values=batch[::-1].copy(), kind=kind)[::-1],
            ]
            for other in others:
                np.testing.assert_array_equal(one.view(np.uint64), other.view(np.uint64))


def test_values_that_scikit_learn_refuses_have_no_score() -> None:
    problem = Problem(np.random.default_rng(0), 3, "shares", range(3))
    for scoring in ("roc_auc_ovr", "roc_auc_ovo", "average_precision", "neg_log_loss"):
        score = compiled_score(KNeighborsClassifier(), scoring, problem.table)
        assert np.isfinite(problem.compiled(score)[:2]).all()
        for wrong in (np.nan, np.inf, 1.5):
            values = problem.values.copy()
            values[problem.rows(0)[0]] = wrong
            found = problem.compiled(score, values=values[None])
            # Any finite values have ranks.
            is_fine = wrong == 1.5 and scoring == "average_precision"
            assert np.isfinite(found).tolist()[:2] == [is_fine, True]


def test_what_the_core_does_not_know_is_left_to_scikit_learn() -> None:
    two = table_of(["a", "b", "a", "b"])
    three = table_of([0, 1, 2, 2])
    numbers = table_of([0.5, 1.5, 2.5], task="regression")
    knn, ridge = KNeighborsClassifier(), RidgeClassifier()
    refused: list[tuple[Any, Any, Table]] = [
        (knn, "top_k_accuracy", three),
        (knn, "roc_auc", three),  # multi_class="raise"
        (knn, "f1", three),
        (knn, "f1", two),  # pos_label=1 is no class
        (knn, make_scorer(metrics.f1_score, average="macro"), two),  # nor here
        (knn, "average_precision", two),
        (knn, "neg_brier_score", two),
        (knn, "r2", two),
        (knn, "accuracy", numbers),
        (ridge, "neg_log_loss", three),
        (Ridge(), "neg_mean_squared_log_error", numbers),
        (Ridge(), make_scorer(metrics.mean_squared_error, multioutput="raw_values"), numbers),
        (knn, make_scorer(metrics.roc_auc_score), two),  # of predictions
        (knn, make_scorer(metrics.accuracy_score, sample_weight=[1.0]), two),
        (knn, make_scorer(metrics.f1_score, average="macro", labels=[0, 7]), three),
        (knn, make_scorer(metrics.f1_score, average="samples"), three),
        # What scikit-learn's own check of parameters refuses.
        (knn, make_scorer(metrics.f1_score, average="macro", zero_division=0.5), three),
        (knn, make_scorer(metrics.accuracy_score, normalize="yes"), three),
        (knn, make_scorer(metrics.accuracy_score, normalize=np.ones(2)), three),
        (knn, make_scorer(metrics.balanced_accuracy_score, adjusted=1), three),
        (knn, make_scorer(metrics.cohen_kappa_score, weights=np.eye(3)), three),
        (knn, make_scorer(metrics.log_loss, response_method="predict_proba", normalize=2), two),
        (
            knn,
            make_scorer(metrics.roc_auc_score, response_method="predict_proba", average="mean"),
            two,
        ),
        (knn, cost_scorer(np.ones((2, 2)), [0, 1]), three),
        (
            knn,
            make_scorer(metrics.roc_auc_score, response_method="predict_proba", max_fpr=0.5),
            two,
        ),
        (knn, lambda estimator, X, y: 1.0, two),
    ]
    for estimator, scoring, table in refused:
        assert compiled_score(estimator, scoring, table) is None, scoring
    for name in get_scorer_names():  # whatever a name asks, an answer or None
        for table in (two, three, numbers):
            compiled_score(knn if table is not numbers else Ridge(), name, table)
    assert compiled_score(ridge, "roc_auc", two).reads == "decisions"
    assert compiled_score(ridge, None, two).metric == "accuracy"
    assert compiled_score(Ridge(), None, numbers).metric == "r2"
    assert refusal_of_scoring(knn, "rand_score") is None
    assert "of your own" in str(refusal_of_scoring(knn, lambda estimator, X, y: 1.0))
    assert "does not answer" in str(refusal_of_scoring(ridge, "neg_log_loss"))
    search = type("Search", (KNeighborsClassifier,), {"score": lambda self, X, y: 0.5})
    assert "score method of Search" in str(refusal_of_scoring(search(), None))


def test_metrics_that_do_not_hash_or_give_arrays() -> None:
    table = table_of([0, 1, 0, 1])
    split = [(np.array([0, 1]), np.array([2, 3]))]

    def score(metric: Any, **options: Any) -> Array:
        scoring = make_scorer(metric, **options)
        assert compiled_score(KNeighborsClassifier(), scoring, table) is None
        scorer = OutputScorer(KNeighborsClassifier(), scoring, table)
        return scorer.score(split, classes=np.zeros(2, np.int32))

    class Constant:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, y_true: Any, y_pred: Any) -> float:
            return 0.25

    assert score(Constant()) == 0.25
    assert score(metrics.recall_score, average=None, labels=[0]) == 1
    with pytest.raises(ValueError, match="scoring must return a number, got"):
        score(metrics.recall_score, average=None)


def test_costs_and_balanced_error() -> None:
    y, guess = np.array(["b", "a", "c", "a"]), np.array(["a", "a", "b", "c"])
    costs = np.arange(9.0).reshape(3, 3)
    assert mean_cost(y, guess, costs=costs, labels=["a", "b", "c"]) == (3 + 0 + 7 + 2) / 4
    assert balanced_error_rate(y, guess) == 1 - (0.5 + 0 + 0) / 3
    for arguments, message in (
        ((costs, ["a", "b"]), "row and a column for each of 2 labels"),
        ((costs, ["a", "b", "a"]), "each class once"),
        ((costs * np.inf, ["a", "b", "c"]), "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            cost_scorer(*arguments)
    with pytest.raises(ValueError, match="'c' is not among"):
        mean_cost(y, guess, costs=costs[:2, :2], labels=["a", "b"])


def test_equal_outputs_are_scored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(y_true: Array, y_pred: Array) -> float:
        calls.append(1)
        return float(np.mean(y_true == y_pred))

    problem = Problem(np.random.default_rng(1), 2, "one hot", list("ab"))
    knn, n_splits = KNeighborsClassifier(), len(problem.splits)
    scorer = OutputScorer(knn, make_scorer(counted), problem.table)
    first = scorer.score(problem.splits, classes=problem.classes_out)
    changed = problem.classes_out.copy()
    changed[problem.rows(1)[0]] ^= 1
    second = scorer.score(problem.splits, classes=changed)
    assert len(calls) == n_splits + 1
    assert (first != second).tolist() == [False, True, False, False]
    score = compiled_score(knn, "accuracy", problem.table)
    np.testing.assert_array_equal(second, problem.compiled(score, classes=changed[None]))
    # A function of the user's own may go by the order of the samples; scikit-learn's do not.
    splits = [(train, test[::-1]) for train, test in problem.splits]
    reversed_ = np.concatenate([changed[problem.rows(s)][::-1] for s in range(n_splits)])
    for module, new in ((__name__, n_splits), ("sklearn.metrics", 0)):
        monkeypatch.setattr(counted, "__module__", module)
        scorer = OutputScorer(knn, make_scorer(counted), problem.table)
        scorer.score(problem.splits, classes=changed)
        calls.clear()
        scorer.score(splits, classes=reversed_)
        assert len(calls) <= new
        assert (len(calls) > 0) == (new > 0)


def test_equal_outputs_of_other_training_classes_are_scored_anew() -> None:
    codes = np.arange(12) % 4
    test, values = np.arange(3), np.tile([0.5, 0.25, 0.25, 0.0], (6, 1))
    splits = [(np.arange(3, 12), test), (np.flatnonzero(codes < 3), test)]

    def n_columns(y: Array, shares: Array) -> float:
        return float(shares.shape[1])

    scoring = make_scorer(n_columns, response_method="predict_proba")
    scorer = OutputScorer(KNeighborsClassifier(), scoring, Table(np.eye(12), codes))
    found = scorer.score(splits, classes=np.zeros(6, np.int32), values=values)
    assert found.tolist() == [4.0, 3.0]


def test_splits_are_refused_in_the_same_words_wherever_they_come_in() -> None:
    """By a fitness and by outputs scored outside of any."""
    table = Table(np.eye(6), list("ababab"))
    assert table.codes is not None
    good = (np.array([0, 1, 2, 3]), np.array([0, 4]), np.array([4, 5]), np.array([0, 2]))
    for changes, message in (
        ({0: np.array([0, 1, 1, 3])}, "a split must list a sample once"),
        ({2: np.array([4, 4])}, "a split must list a sample once"),
        ({2: np.array([4, 6])}, r"splits must list samples in \[0, n_samples\)"),
        ({3: np.array([0, 1])}, "ranges must ascend from 0 to the length of their list"),
        ({2: np.empty(0, np.int64), 3: np.array([0, 0])}, "a split must have both parts"),
        ({1: np.array([0])}, r"train_begin and test_begin must have n_splits \+ 1 entries"),
    ):
        train, train_begin, test, test_begin = (changes.get(k, part) for k, part in enumerate(good))
        lists = {"train": train, "train_begin": train_begin, "test": test, "test_begin": test_begin}
        fresh = {"n_repeats": 0, "n_folds": 0, "stratified": True}
        fitness = _core.CentroidFitness(table.core, target=table.codes, n_classes=2, **fresh)
        with pytest.raises(ValueError, match=message):
            fitness.set_splits(**lists)
        with pytest.raises(ValueError, match=message):
            _core.ScoredSplits(table.codes, n_classes=2, **lists)
