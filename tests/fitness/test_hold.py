"""Every compiled model on real tables beside scikit-learn: what it predicts, and its numbers.

Random masks (ten a table, or ``BITSIEVE_HOLD_MASKS``), the same splits on both sides. A new model
is a line of ``MODELS``.

* z-scored (and jittered, so that nothing ties): predictions are equal, and numbers to 1e-9 of the
  largest of them.
* raw: numbers to 100 times what scikit-learn's own solvers differ by, where it has two; predictions
  are equal where its own two agree by more than that.
* scikit-learn's solvers on a factor of the Gram matrix: predictions are equal.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from bitsieve import KernelRidgeClassifier, Masks
from bitsieve.fitness import CompiledFitness, compile

FOLDER = os.environ.get("BITSIEVE_TEST_DATA", "")
N_MASKS = int(os.environ.get("BITSIEVE_HOLD_MASKS", "10"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="BITSIEVE_TEST_DATA names no folder of NPZ files"),
    pytest.mark.usefixtures("one_blas_thread"),
    pytest.mark.filterwarnings("ignore"),
]

SMALL = ("sonar", "vehicle", "segment", "breast_w", "mofn_3_7_10")
WIDE = ("tox_171", "khan")
TABLES = (*SMALL, *WIDE)
CRIME = ("communities_crime",)
CLOSE = 1e-9


@dataclass(frozen=True)
class Model:
    """A model, the tables that it is held to, and another of scikit-learn's ways to its answer."""

    estimator: Any
    tables: tuple[str, ...] = TABLES
    other: Any = None
    forms: tuple[str, ...] = ("z-scored", "raw")


def _lda(solver: str) -> Any:
    return LinearDiscriminantAnalysis(solver=solver, shrinkage=0.1)


def _scaled(model: Any, scaler: Any = None) -> Any:
    return make_pipeline(StandardScaler() if scaler is None else scaler, model)


MODELS = (
    Model(GaussianNB()),
    Model(GaussianNB(var_smoothing=1e-3)),
    Model(BernoulliNB()),
    Model(MultinomialNB(), ("pcmac", "mofn_3_7_10", "segment"), forms=("counts",)),
    Model(ComplementNB(), ("pcmac", "mofn_3_7_10", "segment"), forms=("counts",)),
    Model(CategoricalNB(), ("mofn_3_7_10", "breast_w"), forms=("counts",)),
    Model(RidgeClassifier(solver="cholesky"), other=RidgeClassifier(solver="svd")),
    Model(
        RidgeClassifier(solver="cholesky", class_weight="balanced"),
        other=RidgeClassifier(solver="svd", class_weight="balanced"),
    ),
    Model(Ridge(solver="cholesky"), CRIME, other=Ridge(solver="svd")),
    Model(LinearRegression(), CRIME, other=Ridge(alpha=0.0, solver="svd")),
    Model(KernelRidge(), ("tox_171_numbers",), forms=("z-scored",)),
    Model(KernelRidgeClassifier(kernel="rbf"), forms=("z-scored",)),
    Model(
        KernelRidgeClassifier(kernel="poly", degree=2, class_weight="balanced"),
        ("sonar", "vehicle", *WIDE),
        forms=("z-scored",),
    ),
    Model(_lda("lsqr"), (*SMALL, "khan_few"), other=_lda("eigen")),
    Model(_lda("eigen"), (*SMALL, "khan_few"), other=_lda("lsqr")),
    Model(NearestCentroid(), forms=("z-scored",)),
    Model(NearestCentroid(shrink_threshold=0.3), forms=("z-scored",)),
    Model(_scaled(NearestCentroid()), ("sonar", "vehicle", *WIDE), forms=("z-scored",)),
    Model(
        _scaled(NearestCentroid(shrink_threshold=0.3), RobustScaler()), WIDE, forms=("z-scored",)
    ),
    Model(KNeighborsClassifier(3), forms=("z-scored",)),
    # Samples that stand twice in segment are told apart by rounding in scikit-learn's distances.
    Model(
        KNeighborsClassifier(5, weights="distance"),
        ("sonar", "vehicle", "breast_w", "mofn_3_7_10", *WIDE),
        forms=("z-scored",),
    ),
    Model(KNeighborsRegressor(3), CRIME, forms=("z-scored",)),
    Model(_scaled(KNeighborsClassifier(1)), forms=("z-scored",)),
    Model(_scaled(KNeighborsClassifier(3), RobustScaler()), WIDE, forms=("z-scored",)),
    Model(_scaled(GaussianNB()), ("sonar", "khan")),
    Model(_scaled(BernoulliNB()), ("sonar", "vehicle", *WIDE)),
    Model(_scaled(BernoulliNB(binarize=0.4), MinMaxScaler()), ("sonar", "segment", "khan")),
    Model(_scaled(MultinomialNB(), MinMaxScaler()), (*SMALL, *WIDE)),
    Model(_scaled(ComplementNB(), MinMaxScaler()), ("sonar", "vehicle", *WIDE)),
    Model(_scaled(MultinomialNB(), MaxAbsScaler()), ("pcmac", "segment"), forms=("counts",)),
    Model(_scaled(RidgeClassifier(solver="cholesky")), ("sonar", "vehicle", *WIDE)),
    Model(_scaled(RidgeClassifier(), MinMaxScaler()), ("sonar", "vehicle", *WIDE)),
    Model(_scaled(_lda("lsqr")), ("sonar", "vehicle")),
    Model(SVC(kernel="linear"), WIDE),
    Model(SVC(), WIDE),
    Model(SVR(), ("tox_171_numbers",), forms=("z-scored",)),
    Model(LinearSVC(random_state=0), WIDE, forms=("z-scored",)),
    Model(LogisticRegression(solver="liblinear"), ("singh",), forms=("z-scored",)),
    Model(_scaled(SVC(kernel="linear")), WIDE),
    Model(_scaled(LinearSVC(random_state=0)), WIDE),
)


@cache
def _table(name: str, form: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    file = name.removesuffix("_numbers").removesuffix("_few")
    with np.load(Path(FOLDER) / f"{file}.npz") as data:
        X, y = data["X"].astype(float), data["y"]
    if file == "communities_crime":
        X, y = X[~np.isnan(y)], y[~np.isnan(y)].astype(float)
        X = X[:, ~np.isnan(X).any(axis=0)]
    whole = ~np.isnan(X).any(axis=1)
    X, y = X[whole], y[whole]
    if file != "communities_crime":
        y = np.unique(y, return_inverse=True)[1]
    if name.endswith("_few"):
        X = X[:, :120]
    rng = np.random.default_rng(0)
    if name.endswith("_numbers"):
        y = y + rng.normal(size=len(y))
    if form == "counts":
        return np.round(np.abs(X)), y
    if form == "z-scored":
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
        X = X + 1e-6 * rng.normal(size=X.shape)
    return X, y


def _masks(p: int) -> NDArray[np.bool_]:
    rng = np.random.default_rng(p)
    masks = rng.random((N_MASKS, p)) < rng.uniform(0.2, 0.8, (N_MASKS, 1))
    masks[~masks.any(axis=1), 0] = True
    return masks


def _predictions(estimator: Any, X: Any, y: Any, splits: Any, kind: str | None) -> tuple[Any, Any]:
    """Predictions of all splits, and numbers of the kind."""
    answers, numbers = [], []
    for train, test in splits:
        fitted = clone(estimator).fit(X[train], y[train])
        answers.append(fitted.predict(X[test]))
        if kind == "probabilities":
            numbers.append(fitted.predict_proba(X[test]))
        elif kind == "decisions":
            numbers.append(fitted.decision_function(X[test]).reshape(len(test), -1))
        elif kind == "numbers":
            numbers.append(answers[-1].reshape(-1, 1))
    return np.concatenate(answers), np.concatenate(numbers) if numbers else None


def _one_number(truth: Any, predicted: Any) -> float:
    """A number that predictions share where they are the same."""
    return float(np.cos(np.arange(len(predicted))) @ predicted)


def _id(model: Model, name: str, form: str) -> str:
    estimator = model.estimator
    steps = [step for _, step in getattr(estimator, "steps", [("", estimator)])]
    number = MODELS.index(model)
    return f"{number}-{'+'.join(type(step).__name__ for step in steps)}-{name}-{form}"


CASES = [
    pytest.param(model, name, form, id=_id(model, name, form))
    for model in MODELS
    for name in model.tables
    for form in model.forms
]


@pytest.mark.parametrize(("model", "name", "form"), CASES)
def test_it_holds_on_real_tables(model: Model, name: str, form: str) -> None:
    X, y = _table(name, form)
    estimator = model.estimator
    folds = KFold if is_regressor(estimator) else StratifiedKFold
    splits = list(folds(3, shuffle=True, random_state=1).split(X, y))
    masks = _masks(X.shape[1])
    fitness = compile(estimator, X, y, cv=splits, n_jobs=1)
    if fitness.kernel is None:
        pytest.skip(f"no kernel: {fitness.fallback_reason}")
    if isinstance(fitness, CompiledFitness):
        has_shares = hasattr(estimator, "predict_proba")
        if not has_shares or form != "raw":
            _hold_outputs(model, fitness, masks, X, y, splits, form)
        if has_shares:  # some kernels have another way to classes alone
            fitness = compile(estimator, X, y, cv=splits, n_jobs=1, scoring="neg_log_loss")
            assert isinstance(fitness, CompiledFitness)
            _hold_outputs(model, fitness, masks, X, y, splits, form)
        return
    judged = compile(estimator, X, y, cv=splits, n_jobs=1, scoring=make_scorer(_one_number))
    assert judged.kernel == fitness.kernel
    wrong = []
    for m, found in enumerate(judged.evaluate_splits(masks)):
        for s, (train, test) in enumerate(splits):
            columns = X[:, masks[m]]
            fitted = clone(estimator).fit(columns[train], y[train])
            expected = _one_number(None, fitted.predict(columns[test]))
            if not np.isclose(found[s], expected, rtol=1e-9, atol=1e-9):
                wrong.append((m, s))
    assert not wrong, f"{len(wrong)} of {masks.shape[0] * len(splits)} differ: {wrong[:5]}"


def _hold_outputs(
    model: Model, fitness: Any, masks: Any, X: Any, y: Any, splits: Any, form: str
) -> None:
    words = Masks.from_bool(masks).words
    declined = np.zeros(len(masks), bool)
    classes, values = fitness._core.outputs(words, np.zeros(len(masks), np.uint64), 1, declined)
    is_of_classes = fitness._scorer.reads == "classes" and hasattr(model.estimator, "predict_proba")
    kind = None if values is None or is_of_classes else fitness._core.kind
    if declined.all():  # nearly collinear columns: scikit-learn's own scores
        pytest.skip("every mask was declined")
    worst, allowed, wrong = 0.0, CLOSE, 0
    for m in np.flatnonzero(~declined):
        columns = X[:, masks[m]]
        expected, numbers = _predictions(model.estimator, columns, y, splits, kind)
        unsure = np.zeros(len(expected), bool)
        share = CLOSE
        if numbers is not None:
            largest = np.abs(numbers).max()
            if form == "raw" and model.other is not None:
                _, others = _predictions(model.other, columns, y, splits, kind)
                share = max(CLOSE, 100 * np.abs(numbers - others).max() / largest)
            apart = np.abs(values[m] - numbers).max() / largest
            if apart / share > worst / allowed:
                worst, allowed = apart, share
            ordered = np.sort(numbers, axis=1)
            margin = np.abs(ordered[:, 0]) if numbers.shape[1] == 1 else np.diff(ordered)[:, -1]
            # Probabilities that saturate are told apart by what they are made of.
            unsure = margin <= 2 * share * largest
            if form != "raw" and kind != "probabilities":
                unsure[:] = False
        # Once is enough; NearestCentroid predicts another class than its probabilities may say.
        if kind != "numbers" and (kind != "probabilities" or form == "raw"):
            got = classes[m] if classes is not None else _first(values[m])
            wrong += int(((got != expected) & ~unsure).sum())
    assert wrong == 0, f"{wrong} predictions differ"
    assert worst <= allowed, f"numbers are apart by {worst:.1e} of the largest, not {allowed:.1e}"


def _first(values: Any) -> Any:
    return values[:, 0] > 0 if values.shape[1] == 1 else values.argmax(axis=1)
