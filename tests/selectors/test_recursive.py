"""Recursive elimination: scikit-learn's rankings and scores, effects, and what it refuses."""

from __future__ import annotations

import logging
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from interrupted import interrupt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, RFECV
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from bitsieve import RecursiveFeatureElimination
from bitsieve.testing._draws import normals, order, table

SVM = SVC(kernel="linear", tol=1e-10)
X, CODES = table(40, 90)
Y = np.array(["healthy", "sick"])[CODES]
NUMBERS = X[:, 0] - 2.0 * X[:, 3] + X[:, 8] + normals(5, 40)


def eliminated(estimator: Any, X: Any = X, y: Any = Y, **options: Any) -> Any:
    return RecursiveFeatureElimination(estimator, **{"n_jobs": 1, **options}).fit(X, y)


def theirs(selector: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, y)


def standardised(data: Any, n_features: int | None = None) -> Any:
    return StandardScaler().fit_transform(np.asarray(data[0], dtype=np.float64)[:, :n_features])


def same_as_rfe(ours: Any, rfe: Any) -> None:
    np.testing.assert_array_equal(ours.ranking_, rfe.ranking_)
    np.testing.assert_array_equal(ours.support_, rfe.support_)


def same_as_rfecv(ours: Any, rfecv: Any) -> None:
    same_as_rfe(ours, rfecv)
    kept = [name for name in rfecv.cv_results_ if "ranking" not in name and "support" not in name]
    assert set(ours.cv_results_) == {*kept, "standard_error"}
    for name in kept:
        np.testing.assert_allclose(ours.cv_results_[name], rfecv.cv_results_[name], atol=1e-9)


# -- scikit-learn's answers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "n_features", "estimator", "kernel"),
    [
        ("khan", 300, SVM, "dual_svm"),
        ("khan", 300, RidgeClassifier(), "ridge"),
        pytest.param(
            *("khan", 300, LogisticRegression(tol=1e-9, max_iter=10_000), "factor"),
            marks=pytest.mark.slow,
        ),
        ("sonar", None, SVM, "dual_svm"),
        ("sonar", None, RidgeClassifier(), None),
        ("vehicle", None, SVM, "dual_svm"),
        ("singh", 900, LinearSVC(tol=1e-10, max_iter=1_000_000), "factor"),
    ],
)
def test_ranks_real_data_as_scikit_learns(
    dataset: Any, name: str, n_features: int | None, estimator: Any, kernel: str | None
) -> None:
    data = dataset(name)
    Z = standardised(data, n_features)
    steps = (1, 0.1) if Z.shape[1] < 100 else (0.05,)
    for step in steps:
        options = {"n_features_to_select": 5, "step": step}
        ours = eliminated(estimator, Z, data[1], **options)
        assert ours.kernel_ == kernel
        same_as_rfe(ours, theirs(RFE(estimator, **options), Z, data[1]))


@pytest.mark.slow
def test_ranks_step_by_step_as_scikit_learns(dataset: Any) -> None:
    data = dataset("khan")
    Z = standardised(data, 300)
    for estimator in (SVM, RidgeClassifier()):
        ours = eliminated(estimator, Z, data[1], n_features_to_select=8)
        same_as_rfe(ours, theirs(RFE(estimator, n_features_to_select=8), Z, data[1]))


@pytest.mark.parametrize(
    ("name", "scoring"),
    [("khan", None), ("khan", "balanced_accuracy"), ("sonar", "roc_auc")],
)
def test_compares_sizes_as_scikit_learns(dataset: Any, name: str, scoring: str | None) -> None:
    data = dataset(name)
    Z = standardised(data, 300)
    for estimator in (SVM, RidgeClassifier()):
        # LIBSVM takes minutes to 1e-10 where few features do not part the classes.
        options = {"step": 0.2, "min_features_to_select": Z.shape[1] // 3, "scoring": scoring}
        ours = eliminated(estimator, Z, data[1], n_features_to_select="auto", **options)
        same_as_rfecv(ours, theirs(RFECV(estimator, **options), Z, data[1]))


def test_numbers_as_scikit_learns() -> None:
    svr = SVR(kernel="linear", tol=1e-8)
    for estimator, kernel, close in (
        (Ridge(), "ridge", 1e-9),
        (Ridge(fit_intercept=False, alpha=20.0), "ridge", 1e-9),
        (LinearRegression(), "factor", 1e-7),
        (LinearSVR(tol=1e-9, max_iter=1_000_000, C=0.01), "factor", 1e-6),
        (svr, "factor", 1e-4),  # LIBSVM keeps its matrix in float32
    ):
        ours = eliminated(estimator, X, NUMBERS, n_features_to_select="auto", step=9, cv=4)
        rfecv = theirs(RFECV(estimator, step=9, cv=4), X, NUMBERS)
        assert (ours.kernel_, ours.fallback_reason_) == (kernel, None)
        same_as_rfe(ours, rfecv)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], rfecv.cv_results_["mean_test_score"], atol=close
        )


def test_anything_else_goes_through_scikit_learn() -> None:
    weights = 0.5 + np.arange(40) % 3
    forest = RandomForestClassifier(5, random_state=0)
    for estimator, options, given, said in (
        (forest, {}, {}, "RandomForestClassifier has no coefficients of inner products"),
        (LogisticRegression(), {}, {}, "stops by single coefficients"),
        (SVM, {}, {"sample_weight": weights}, "sample_weight has no kernel"),
        (SVM, {"importance_getter": "coef_"}, {}, "importance_getter has no kernel"),
    ):
        ours = RecursiveFeatureElimination(
            estimator, n_features_to_select=4, step=10, n_jobs=1, **options
        ).fit(X, Y, **given)
        assert ours.kernel_ is None
        assert said in ours.fallback_reason_
        rfe = RFE(estimator, n_features_to_select=4, step=10, **options).fit(X, Y, **given)
        same_as_rfe(ours, rfe)


def test_a_scaler_is_fitted_to_each_training_part() -> None:
    scaled = X * np.exp(normals(3, 90))
    pipeline = make_pipeline(StandardScaler(), SVM)
    ours = eliminated(pipeline, scaled, n_features_to_select="auto", step=9)
    assert ours.kernel_ == "dual_svm"
    by_name = RFECV(pipeline, step=9, importance_getter="named_steps.svc.coef_")
    same_as_rfecv(ours, theirs(by_name, scaled, Y))
    bare = eliminated(SVM, scaled, n_features_to_select="auto", step=9)
    assert not np.array_equal(bare.ranking_, ours.ranking_)


def test_decisions_of_several_classes_are_scikit_learns() -> None:
    wide, codes = table(60, 80, 4)
    for options in ({}, {"break_ties": True}):
        estimator = SVC(kernel="linear", tol=1e-10, C=0.01, **options)
        ours = eliminated(estimator, wide, codes, n_features_to_select="auto", step=8, cv=3)
        same_as_rfecv(ours, theirs(RFECV(estimator, step=8, cv=3), wide, codes))


# -- effects ---------------------------------------------------------------------------------------


def test_an_informative_pair_survives() -> None:
    """Neither of two features tells the classes apart, their difference does."""
    noise = normals(11, 80, 200)
    codes = np.arange(80) % 2
    noise[:, 17] = 2.0 * noise[:, 101] + 1.2 * (codes - 0.5)
    for estimator in (SVC(kernel="linear"), RidgeClassifier()):
        ours = eliminated(estimator, noise, codes, n_features_to_select=2, step=0.02)
        assert np.flatnonzero(ours.support_).tolist() == [17, 101]
        assert set(ours.elimination_order_[-2:].tolist()) == {17, 101}


def test_constant_features_go_first_and_equals_from_the_lowest_on() -> None:
    made = X.copy()
    made[:, [70, 5, 33]] = [1.7, -0.1, 1e6]
    made[:, 80] = made[:, 20]
    for estimator in (SVM, RidgeClassifier(), Ridge()):
        y = NUMBERS if isinstance(estimator, Ridge) else CODES
        order_ = eliminated(estimator, made, y, n_features_to_select=1).elimination_order_
        assert order_[:3].tolist() == [5, 33, 70]
        # Of two that are equal the lower leaves, and the other then counts for both.
        places = {int(f): at for at, f in enumerate(order_)}
        assert places[20] < places[80]


def test_order_scores_and_ranking_tell_the_same() -> None:
    ours = eliminated(SVM, n_features_to_select=7, step=0.25)
    assert ours.n_steps_ == 5
    sizes = np.bincount(ours.ranking_)[1:].tolist()
    assert sizes == [7, 17, 22, 22, 22]
    assert np.array_equal(np.sort(ours.elimination_order_), np.arange(90))
    np.testing.assert_array_equal(ours.scores_[ours.elimination_order_], np.arange(90))
    weights = np.square(SVM.fit(X[:, ours.support_], CODES).coef_[0])
    kept = np.flatnonzero(ours.support_)[np.argsort(weights)]
    assert ours.elimination_order_[-7:].tolist() == kept.tolist()


def test_forced_stay_and_forbidden_never_count() -> None:
    frame = pd.DataFrame(X, columns=[f"g{f}" for f in range(90)])
    free = eliminated(SVM, frame, n_features_to_select=4)
    worst = [f"g{f}" for f in free.elimination_order_[:2]]
    best = [f"g{f}" for f in free.elimination_order_[-2:]]
    ours = eliminated(
        SVM, frame, n_features_to_select=4, forced_features=worst, forbidden_features=best
    )
    names = list(ours.get_feature_names_out())
    assert len(names) == 4
    assert set(worst) <= set(names)
    assert not set(best) & set(names)
    assert (ours.ranking_[free.elimination_order_[-2:]] == ours.ranking_.max()).all()
    left = frame.drop(columns=best)
    alike = eliminated(SVM, left, n_features_to_select=4, forced_features=worst)
    assert list(alike.get_feature_names_out()) == names


def test_one_standard_error_takes_a_smaller_size() -> None:
    noisy = NUMBERS + 4.0 * normals(6, 40)
    options = {"n_features_to_select": "auto", "step": 3, "cv": 8}
    best = eliminated(Ridge(30.0), y=noisy, **options)
    smaller = eliminated(Ridge(30.0), y=noisy, size_rule="one_standard_error", **options)
    results = best.cv_results_
    mean, error = results["mean_test_score"], results["standard_error"]
    at = int(np.argmax(mean))
    assert best.n_features_ == results["n_features"][at]
    within = results["n_features"][mean >= mean[at] - error[at]]
    assert smaller.n_features_ == within.min() < best.n_features_
    splits = np.array([results[f"split{k}_test_score"] for k in range(8)])
    np.testing.assert_allclose(error, splits.std(axis=0, ddof=1) / np.sqrt(8))
    assert smaller.best_score_ == mean[results["n_features"] == smaller.n_features_][0]


def test_a_range_of_sizes_is_compared_and_no_other() -> None:
    every = eliminated(SVM, n_features_to_select="auto", step=4, min_features_to_select=6)
    some = eliminated(SVM, n_features_to_select=(6, 20), step=4)
    sizes = some.cv_results_["n_features"]
    assert sizes.tolist() == [6, 10, 14, 18]
    n = len(sizes)
    for name, values in some.cv_results_.items():
        np.testing.assert_array_equal(values, every.cv_results_[name][:n])
    assert 6 <= some.n_features_ <= 20


def test_folds_hold_whole_groups() -> None:
    seen = []

    class Watches(RidgeClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen.append(set(X[:, 0].tolist()))
            return super().fit(X, y, sample_weight)

    groups = np.arange(40) // 4
    marked = X.copy()
    marked[:, 0] = groups
    RecursiveFeatureElimination(
        Watches(), n_features_to_select="auto", step=89, cv=3, n_jobs=1, forced_features=[0]
    ).fit(marked, Y, groups=groups)
    parts = [part for part in seen if len(part) < 10]
    assert len(parts) == 6  # two sizes in each of three folds
    assert all(sum(g in part for part in parts) == 4 for g in range(10))


@pytest.mark.parametrize(
    "estimators",
    [
        (SVM, RidgeClassifier()),  # in threads
        pytest.param((LinearSVC(dual=True), LogisticRegression()), marks=pytest.mark.slow),
    ],
)
def test_same_bits_for_any_number_of_jobs(estimators: Any) -> None:
    for estimator in estimators:
        one, two = (
            eliminated(estimator, n_features_to_select="auto", step=20, cv=3, n_jobs=n_jobs)
            for n_jobs in (1, 2)
        )
        for name, values in one.cv_results_.items():
            np.testing.assert_array_equal(values, two.cv_results_[name])
        np.testing.assert_array_equal(one.elimination_order_, two.elimination_order_)


def test_unseeded_estimators_draw_from_the_seed() -> None:
    forest = RandomForestClassifier(3)
    first = eliminated(forest, step=0.3)
    again = eliminated(forest, step=0.3, random_state=first.seed_)
    np.testing.assert_array_equal(first.elimination_order_, again.elimination_order_)
    assert forest.random_state is None


@pytest.mark.filterwarnings("ignore:Singular matrix")  # while the large ones are in
def test_matrix_that_lost_most_of_its_trace_is_made_anew() -> None:
    """What left by subtraction alone would leave 1e16 times its rounding."""
    made = X.copy()
    made[:, 1::3] *= 1e8
    kept = np.flatnonzero(np.arange(90) % 3 != 1)
    ours = eliminated(RidgeClassifier(), made, n_features_to_select=60, forced_features=kept)
    assert ours.kernel_ == "ridge"
    assert np.flatnonzero(ours.support_).tolist() == kept.tolist()
    weights = np.square(RidgeClassifier().fit(X[:, kept], Y).coef_).ravel()
    assert ours.elimination_order_[-60:].tolist() == kept[np.argsort(weights)].tolist()


# -- Ctrl-C, cost, refusals ------------------------------------------------------------------------


class Interrupted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> Any:
        if X.shape[1] < 80:
            raise KeyboardInterrupt
        self.classes_ = np.unique(y)
        self.coef_ = np.abs(X).sum(axis=0)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def test_ctrl_c_leaves_the_selector_as_it_was() -> None:
    selector = RecursiveFeatureElimination(SVM, n_features_to_select=3, n_jobs=1).fit(X, Y)
    before = {name: value for name, value in vars(selector).items() if name.endswith("_")}
    for options in ({}, {"n_features_to_select": "auto"}):
        selector.set_params(estimator=Interrupted(), **options)
        with pytest.raises(KeyboardInterrupt):
            selector.fit(X, Y)
        for name, value in before.items():
            assert getattr(selector, name) is value


def test_ctrl_c_in_the_folds_leaves_no_thread_behind() -> None:
    """A thread in a kernel would end the process by an abort."""
    interrupt(
        """
        from sklearn.svm import SVC
        from bitsieve import RecursiveFeatureElimination
        from bitsieve.datasets import make_microarray
        data = make_microarray(60, 2500, random_state=0)
        selector = RecursiveFeatureElimination(
            SVC(kernel="linear"), n_features_to_select="auto", n_jobs=2
        )
        def long():
            selector.fit(data.X, data.y)
        def few():
            threads = threading.enumerate()
            return [sum(not isinstance(thread, threading.Timer) for thread in threads)]
        """
    )


def test_says_what_fits_will_take(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from bitsieve.selectors import _cost

    forest = RandomForestClassifier(2, random_state=0)
    with caplog.at_level(logging.INFO, logger="bitsieve"), warnings.catch_warnings():
        warnings.simplefilter("error")
        eliminated(forest, step=2)
    said = [line for line in caplog.messages if "fits by scikit-learn" in line]
    assert len(said) == 1
    assert "24 fits by scikit-learn" in said[0]
    monkeypatch.setattr(_cost, "_LONG", 0.0)
    with pytest.warns(UserWarning, match=r"24 fits by scikit-learn.*a larger step takes less"):
        eliminated(forest, step=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eliminated(SVM, step=2)


@pytest.mark.filterwarnings("ignore:.*fits")  # a minute on a busy machine
def test_says_what_many_fits_of_a_matrix_will_take(caplog: pytest.LogCaptureFixture) -> None:
    """LinearSVC has a kernel, and scikit-learn fits its small matrix at every step."""
    wide = normals(8, 12, 10_100)
    codes = np.arange(12) % 2
    begun = []

    class Stops(Exception):
        pass

    def stop(*_: Any, **__: Any) -> None:
        begun.append(len(caplog.messages))
        raise Stops

    with caplog.at_level(logging.INFO, logger="bitsieve"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("bitsieve.selectors._eliminating.eliminate", stop)
        for estimator, text in (
            (LinearSVC(dual=True), r"kernel 'factor': 10,000 fits of a small matrix by scikit-l"),
            (SVM, r"kernel 'dual_svm': 10,000 fits, the first"),
            (RandomForestClassifier(1), r"no kernel serves this estimator .* 10,000 fits by sciki"),
        ):
            caplog.clear()
            with pytest.raises(Stops):
                eliminated(estimator, wide, codes, n_features_to_select=101)
            said = [record for record in caplog.records if hasattr(record, "search_seconds")]
            assert len(said) == 1
            assert re.search(text, said[0].getMessage())
            assert said[0].search_seconds > 0
            assert begun.pop() == len(caplog.messages)  # before it starts


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"step": 0}, "step must be"),
        ({"step": 1.5}, "step must be"),
        ({"step": True}, "step must be"),
        (
            {"n_features_to_select": (5, 2)},
            r"n_features_to_select\[1\] must be a whole number from 5",
        ),
        ({"n_features_to_select": 91}, "n_features_to_select must be a whole number from 1 to 90"),
        ({"n_features_to_select": 1.5}, "n_features_to_select must be"),
        ({"n_features_to_select": 2, "forced_features": [1, 2, 3]}, "3 forced features"),
        ({"forced_features": [1], "forbidden_features": [1]}, "cannot be both"),
        ({"n_features_to_select": "auto", "min_features_to_select": 0}, "min_features_to_select"),
        ({"size_rule": "first"}, "size_rule must be"),
        ({"scoring": ["accuracy"]}, "scoring must be one scorer"),
        ({"n_features_to_select": "auto", "scoring": "r3"}, "r3"),
        # To one size nothing is measured by these; they are refused all the same.
        ({"scoring": "r3"}, "r3"),
        ({"scoring": "neg_median_absolute_error"}, "scoring='neg_med.* cannot score this target"),
        ({"cv": 1}, "cv must be at least 2 folds, got 1"),
        ({"cv": 28}, "cv=28 folds are more than any class has members"),
        ({"cv": "five"}, "cv"),
        ({"cv": KFold(2), "scoring": "r3"}, "r3"),
        ({"cv": [([0, 1], [50])]}, "split 0 of cv .* lists samples from 0 to 50"),
        ({"importance_getter": 3}, "importance_getter must be"),
        ({"importance_getter": "weights_"}, "importance_getter='weights_' is no attr.* SVC"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"estimator": SVC}, "estimator must be"),
        ({"estimator": KNeighborsClassifier()}, "neither coef_ nor feature_importances_"),
        ({"estimator": SVC()}, "neither coef_ nor feature_importances_"),
    ],
)
def test_refuses_in_words(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        RecursiveFeatureElimination(**{"estimator": SVM, "n_jobs": 1, **options}).fit(X, Y)


def test_the_default_folds_are_not_held_to_data_that_nothing_splits() -> None:
    few = [0, 1, 5, 6]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert eliminated(SVM, X[few], CODES[few], n_features_to_select=3).n_features_ == 3
        assert eliminated(SVM, X[:30], CODES[:30], n_features_to_select=3, cv=12).n_features_ == 3


def test_refuses_data_in_words() -> None:
    holes = X.copy()
    holes[3, 4] = np.nan
    with pytest.raises(ValueError, match="contains NaN: 1 value in 1 column"):
        eliminated(SVM, holes)
    with pytest.raises(ValueError, match="class"):
        eliminated(SVM, X, np.zeros(40, int))
    with pytest.raises(ValueError, match="sample_weight must have one value a sample"):
        RecursiveFeatureElimination(SVM).fit(X, Y, sample_weight=[1.0])
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        RecursiveFeatureElimination(SVM).fit(X, Y, weight=1)
    ordered = np.sort(CODES)
    halves = [(np.arange(10), np.arange(10, 40)), (np.arange(40), np.arange(10))]
    with pytest.raises(ValueError, match="split 0 has samples of one class alone"):
        eliminated(SVM, X, ordered, n_features_to_select="auto", cv=halves)


def test_missing_values_pass_where_the_estimator_takes_them() -> None:
    holes = X.copy()
    holes[order(3, 40)[:9], 4] = np.nan
    forest = RandomForestClassifier(5, random_state=0)
    same_as_rfe(
        eliminated(forest, holes, n_features_to_select=5, step=15),
        RFE(forest, n_features_to_select=5, step=15).fit(holes, Y),
    )
