"""Nested cross-validation, against scikit-learn's own on a pipeline, and its promises."""

from __future__ import annotations

import pickle
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from each import each
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    SequentialFeatureSelector,
    VarianceThreshold,
    f_regression,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from bitsieve import BinarySPSA, RecursiveFeatureElimination
from bitsieve._errors import DuplicateSamplesWarning
from bitsieve.evaluation import nested_cross_validate
from bitsieve.evaluation.folds import fold_seed
from bitsieve.evaluation.interval import binomial_interval
from bitsieve.evaluation.nested import _remarks


def test_scores_equal_cross_val_score_of_the_pipeline() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    scaled = make_pipeline(StandardScaler(), SelectKBest(k=5))
    found = nested_cross_validate(scaled, KNeighborsClassifier(3), X, y, cv=4)
    whole = make_pipeline(StandardScaler(), SelectKBest(k=5), KNeighborsClassifier(3))
    np.testing.assert_array_equal(found.scores, cross_val_score(whole, X, y, cv=4))
    full = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    np.testing.assert_array_equal(found.full_scores, cross_val_score(full, X, y, cv=4))
    assert found.score == found.scores.mean()
    assert found.n_features.tolist() == [5] * 4
    majority = max(np.mean(y), 1 - np.mean(y))
    assert found.chance_score == pytest.approx(majority, abs=0.01)
    assert found.beats_chance is True


def test_any_scorer_splitter_and_type_of_label() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    text = np.where(y == 1, "benign", "malignant")
    splits = ShuffleSplit(3, test_size=0.3, random_state=1)
    found = nested_cross_validate(
        SelectKBest(k=3), GaussianNB(), X, text, cv=splits, scoring="roc_auc"
    )
    whole = make_pipeline(SelectKBest(k=3), GaussianNB())
    expected = cross_val_score(whole, X, text, cv=splits, scoring="roc_auc")
    np.testing.assert_allclose(found.scores, expected)
    assert found.chance_scores.tolist() == [0.5] * 3
    assert found.scoring == "roc_auc"
    assert found.interval.high <= 1.0


def test_regression() -> None:
    X, y = load_diabetes(return_X_y=True)
    selector = SelectKBest(f_regression, k=4)
    found = nested_cross_validate(selector, LinearRegression(), X, y)
    expected = cross_val_score(make_pipeline(selector, LinearRegression()), X, y)
    np.testing.assert_allclose(found.scores, expected)
    assert found.scoring == "r2"
    assert found.chance_score < 0.01 < found.score


def test_the_test_part_never_reaches_the_selection() -> None:
    """A feature that copies the label in the test part alone must not help."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.repeat([0, 1], 30)
    splits = list(StratifiedKFold(5).split(X, y))
    train, test = splits[0]
    X[test, 3] += 100 * y[test]
    found = nested_cross_validate(SelectKBest(k=1), KNeighborsClassifier(1), X, y, cv=[splits[0]])
    best = SelectKBest(k=1).fit(X[train], y[train]).get_support()
    np.testing.assert_array_equal(found.supports[0], best)


def test_parallel_folds_change_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    selector = SelectFromModel(RandomForestClassifier(5))
    one = nested_cross_validate(selector, KNeighborsClassifier(1), X, y, random_state=3)
    two = nested_cross_validate(selector, KNeighborsClassifier(1), X, y, random_state=3, n_jobs=2)
    np.testing.assert_array_equal(one.scores, two.scores)
    np.testing.assert_array_equal(one.supports, two.supports)


def test_drawn_seeds_are_recorded_and_repeat_the_evaluation() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(150, 20))])
    selector = RFE(RandomForestClassifier(3), n_features_to_select=6, step=6)
    first = nested_cross_validate(selector, None, X, y)
    again = nested_cross_validate(selector, None, X, y, random_state=first.random_state)
    np.testing.assert_array_equal(first.supports, again.supports)
    np.testing.assert_array_equal(first.seeds, again.seeds)
    assert len(set(first.seeds.tolist())) == 5
    assert selector.estimator.random_state is None


def test_a_given_random_state_is_kept() -> None:
    X, y = load_iris(return_X_y=True)
    selector = SelectFromModel(RandomForestClassifier(3, random_state=0))
    one = nested_cross_validate(selector, KNeighborsClassifier(1), X, y, random_state=1)
    two = nested_cross_validate(selector, KNeighborsClassifier(1), X, y, random_state=2)
    np.testing.assert_array_equal(one.supports, two.supports)


def test_supports_of_a_pipeline_are_in_terms_of_the_input() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.hstack([np.zeros((150, 1)), X])  # the first column is dropped before the selection
    selector = make_pipeline(VarianceThreshold(), StandardScaler(), SelectKBest(k=2))
    found = nested_cross_validate(selector, KNeighborsClassifier(1), X, y)
    assert found.consensus_support.tolist() == [False, False, False, True, True]
    assert found.n_times_selected.tolist() == [0, 0, 0, 5, 5]


def test_consensus_needs_more_than_half_the_folds() -> None:
    X, y = load_iris(return_X_y=True)
    found = nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X, y, cv=4)
    supports = np.array([[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 0, 1]], bool)
    mixed = type(found)(**{**vars(found), "supports": supports})
    assert mixed.consensus_support.tolist() == [False, False, True, False]


def test_a_step_that_mixes_columns_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    selector = make_pipeline(PolynomialFeatures(include_bias=False), SelectKBest(k=2))
    with pytest.raises(ValueError, match=r"step 'polynomialfeatures' .* turns 4 columns into 14"):
        nested_cross_validate(selector, KNeighborsClassifier(1), X, y)


def test_a_pipeline_that_predicts_is_its_own_estimator() -> None:
    X, y = load_iris(return_X_y=True)
    whole = make_pipeline(StandardScaler(), SelectKBest(k=2), KNeighborsClassifier(1))
    found = nested_cross_validate(whole, None, X, y)
    np.testing.assert_array_equal(found.scores, cross_val_score(whole, X, y))


def test_an_empty_selection_scores_as_chance() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    nothing = SelectFromModel(LogisticRegression(max_iter=50), threshold=np.inf)
    found = nested_cross_validate(
        make_pipeline(StandardScaler(), nothing), KNeighborsClassifier(1), X, y
    )
    np.testing.assert_array_equal(found.scores, found.chance_scores)
    assert found.n_features.tolist() == [0] * 5
    assert found.beats_chance is False
    assert "not shown to predict better than chance" in found.summary()


def test_groups_stay_together() -> None:
    X, y = make_classification(80, 6, random_state=0)
    groups = np.arange(80) // 4
    found = nested_cross_validate(
        SelectKBest(k=2), KNeighborsClassifier(1), X, y, cv=GroupKFold(4), groups=groups
    )
    for train, test in found.folds:
        assert not set(groups[train]) & set(groups[test])


def test_groups_of_any_type_and_in_a_column_are_taken() -> None:
    X, y = make_classification(80, 6, random_state=0)
    groups = np.arange(80) // 4
    mixed, column = groups.astype(object), groups[:, None]
    mixed[:40] = [f"patient {g}" for g in groups[:40]]
    selector, model = SelectKBest(k=2), KNeighborsClassifier(1)
    plain = nested_cross_validate(selector, model, X, y, cv=4, groups=groups)
    for given in (mixed, column):
        found = nested_cross_validate(selector, model, X, y, cv=4, groups=given)
        np.testing.assert_array_equal(found.scores, plain.scores)
        assert found.interval == plain.interval


def test_groups_reach_a_selector_that_splits_by_them() -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) % 15
    options = {"max_iter": 3, "random_state": 0, "n_repeats": 1}
    for cv, resample in ((GroupKFold(3), False), (StratifiedGroupKFold(3), True), (3, True)):
        by_group = BinarySPSA(KNeighborsClassifier(1), cv=cv, resample=resample, **options)
        found = nested_cross_validate(by_group, None, X, y, cv=GroupKFold(3), groups=groups)
        train = found.folds[1][0]
        direct = clone(by_group).set_params(random_state=fold_seed(0, 1))
        direct.fit(X[train], y[train], groups=groups[train])
        assert found.observed_scores[1] == direct.best_observed_score_


def test_groups_go_through_pipelines() -> None:
    """Labels by coin, two samples a patient: only folds of whole groups say so."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(30, 60))
    X = np.r_[half, half + 0.05 * rng.normal(size=half.shape)]
    y = np.tile(rng.permutation(np.arange(30) % 2), 2)
    groups = np.tile(np.arange(30), 2)
    knn = KNeighborsClassifier(1)
    selector = BinarySPSA(knn, n_repeats=1, max_iter=10, random_state=0, progress=False)
    bare = nested_cross_validate(selector, knn, X, y, cv=5, groups=groups)
    piped = make_pipeline(StandardScaler(), selector)
    found = nested_cross_validate(piped, knn, X, y, cv=5, groups=groups)
    parted = nested_cross_validate(piped, knn, X, y, cv=5)
    assert parted.score > 0.9
    assert max(bare.score, found.score, *found.observed_scores) < 0.8
    for train, test in found.folds:
        assert not set(groups[train]) & set(groups[test])
    expected = list(StratifiedGroupKFold(5).split(X, y, groups))
    for (train, _), (other, _) in zip(found.folds, expected, strict=True):
        np.testing.assert_array_equal(train, other)
    train = found.folds[2][0]
    direct = clone(piped).set_params(binaryspsa__random_state=fold_seed(0, 2))
    direct.fit(X[train], y[train], binaryspsa__groups=groups[train])
    np.testing.assert_array_equal(found.supports[2], direct[-1].support_)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = nested_cross_validate(piped, knn, X, y, cv=5, groups=groups)
    np.testing.assert_array_equal(routed.scores, found.scores)


def test_numbers_are_split_by_whole_groups_too() -> None:
    X, y = load_diabetes(return_X_y=True)
    groups = np.arange(len(y)) // 20
    found = nested_cross_validate(
        SelectKBest(f_regression, k=4), LinearRegression(), X, y, groups=groups
    )
    for train, test in found.folds:
        assert not set(groups[train]) & set(groups[test])


def test_groups_are_never_dropped_silently() -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) % 15
    knn = KNeighborsClassifier(1)
    with pytest.warns(UserWarning, match="cv parts 15 of 15 groups: samples of one group"):
        nested_cross_validate(
            SelectKBest(k=2), knn, X, y, cv=StratifiedKFold(3, shuffle=True), groups=groups
        )
    by_folds = SequentialFeatureSelector(knn, n_features_to_select=1, cv=3)
    for selector in (by_folds, make_pipeline(StandardScaler(), by_folds)):
        with pytest.warns(UserWarning, match="SequentialFeatureSelector has folds of its own"):
            nested_cross_validate(selector, knn, X, y, cv=3, groups=groups)
    with pytest.raises(ValueError, match="cv=GroupKFold splits by groups, and none were given"):
        nested_cross_validate(SelectKBest(k=2), knn, X, y, cv=GroupKFold(3))
    with pytest.raises(ValueError, match=r"5 outer folds of whole groups .* got 3; lower cv to 3"):
        nested_cross_validate(SelectKBest(k=2), knn, X, y, groups=np.arange(150) % 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nested_cross_validate(SelectKBest(k=2), knn, X, y, cv=GroupKFold(3), groups=groups)


def test_samples_that_stand_twice_are_said_once() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(30, 20))
    X, y = np.r_[half, half], np.tile(rng.permutation(np.arange(30) % 2), 2)
    selector = BinarySPSA(KNeighborsClassifier(1), n_repeats=1, max_iter=2, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = nested_cross_validate(selector, None, X, y, cv=3)
    said = [str(w.message) for w in caught if w.category is DuplicateSamplesWarning]
    assert len(said) == 1
    assert "30 of 60 samples are copies of another one" in said[0]
    assert caught[0].filename == __file__
    assert said[0] in found.summary()
    with warnings.catch_warnings():
        warnings.simplefilter("error", DuplicateSamplesWarning)
        held = nested_cross_validate(selector, None, X, y, cv=3, groups=np.tile(np.arange(30), 2))
    assert "copies" not in held.summary()


def test_each_fold_starts_from_a_seed_of_its_own() -> None:
    """A search that is cut off at once shows its start: no feature recurs because of the seed."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 400)), np.arange(40) % 2
    selector = BinarySPSA(
        KNeighborsClassifier(1),
        n_repeats=1, max_iter=2, start=None, n_features_to_select=20, admit_perturbed=True,
        random_state=7,
    )  # fmt: skip
    for form in (selector, make_pipeline(StandardScaler(), selector)):
        found = nested_cross_validate(form, None, X, y, cv=5)
        assert found.n_times_selected.max() <= 3
        assert "5 of 5 searches in the outer folds were stopped early, after 2 iterations" in (
            found.summary()
        )
        again = nested_cross_validate(form, None, X, y, cv=5)
        np.testing.assert_array_equal(found.supports, again.supports)
    assert selector.random_state == 7
    seeds = {fold_seed(seed, fold) for seed in (0, 1, 2**64 - 1) for fold in range(9)}
    assert len(seeds) == 27
    assert fold_seed(np.random.default_rng(0), 1) == fold_seed(np.random.default_rng(0), 1)


def test_searches_stopped_after_different_iterations_are_said_from_least_to_most() -> None:
    rows: list[Any] = [
        SimpleNamespace(is_cut=False, stopped_early=after, alternatives={})
        for after in (7, None, 1200)
    ]
    assert _remarks(rows)[0].startswith(
        "2 of 3 searches in the outer folds were stopped early, after 7 to 1,200 iterations"
    )


def test_a_search_that_went_on_is_not_called_cut_off() -> None:
    X, y = load_iris(return_X_y=True)
    selector = BinarySPSA(KNeighborsClassifier(1), n_repeats=1, max_iter=250, patience=None)
    found = nested_cross_validate(selector, None, X, y, cv=2, random_state=0)
    assert found.remarks == ()


def test_a_score_without_a_value_is_refused_before_any_fit() -> None:
    class Unfit(SelectKBest):
        def fit(self, X: Any, y: Any = None) -> Any:
            raise AssertionError("fitted before the scorer was tried")

    X = np.random.default_rng(0).normal(size=(40, 5))
    y = (np.arange(40) < 3).astype(int)
    for scoring in ("roc_auc", "neg_log_loss", "average_precision"):
        with (
            pytest.warns(UserWarning, match="least populated"),
            pytest.raises(
                ValueError,
                match=rf"scoring='{scoring}' has no value where a test part lacks a class .*2 of "
                r"5 test parts of the outer folds lack one: '1 \(3 samples\)'; use at most 3 folds",
            ),
        ):
            nested_cross_validate(Unfit(k=2), GaussianNB(), X, y, scoring=scoring)
    with pytest.raises(ValueError, match="scoring='r2' has no value for a single sample"):
        nested_cross_validate(Unfit(k=2), LinearRegression(), X, X[:, 0], cv=LeaveOneOut())


def test_data_frames_keep_their_names() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X, y)
    assert found.feature_names == list(X.columns)
    assert isinstance(X, pd.DataFrame)


def test_the_text_says_which_number_may_be_published() -> None:
    X, y = load_iris(return_X_y=True)
    found = nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X, y)
    text = repr(found)
    published = [line for line in text.splitlines() if "may be published" in line]
    assert len(published) == 1
    assert "honest" in published[0]
    assert f"{found.score:.4f}" in published[0]
    assert "observed" not in text  # SelectKBest claims no score
    assert np.isnan(found.optimism)


def test_claims_are_compared_with_the_honest_score() -> None:
    class Claiming(SelectKBest):
        def fit(self, X, y=None):  # type: ignore[no-untyped-def]
            super().fit(X, y)
            self.best_score_, self.best_observed_score_ = 0.97, 0.99
            return self

    X, y = load_iris(return_X_y=True)
    found = nested_cross_validate(Claiming(k=2), KNeighborsClassifier(1), X, y)
    assert found.observed_scores.tolist() == [0.99] * 5
    assert found.remeasured_scores.tolist() == [0.97] * 5
    assert found.optimism == pytest.approx(0.99 - found.score)
    assert found.remeasured_optimism == pytest.approx(0.97 - found.score)
    assert "optimistic, not for publication" in found.summary()


def test_what_measured_nothing_again_claims_no_such_number() -> None:
    """A recursive elimination knows the score that it chose by, and no other."""
    X, y = load_iris(return_X_y=True)
    svm = SVC(kernel="linear", tol=1e-10)
    elimination = RecursiveFeatureElimination(svm, n_features_to_select="auto")
    found = nested_cross_validate(elimination, svm, X, y, cv=3)
    assert np.isnan(found.remeasured_scores).all()
    assert np.isnan(found.remeasured_optimism)
    train = found.folds[1][0]
    rival = RFECV(svm).fit(X[train], y[train])
    assert found.observed_scores[1] == pytest.approx(rival.cv_results_["mean_test_score"].max())
    assert found.optimism == pytest.approx(found.observed_scores.mean() - found.score)
    text = found.summary()
    assert "  observed " in text
    assert "re-measured" not in text


def test_claims_of_another_scorer_are_not_compared() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    selector = BinarySPSA(KNeighborsClassifier(1), max_iter=2, n_repeats=1, random_state=0)
    one = KNeighborsClassifier(1)
    assert np.isfinite(nested_cross_validate(selector, one, X, y, cv=2).optimism)
    assert np.isfinite(
        nested_cross_validate(selector, one, X, y, cv=2, scoring="accuracy").optimism
    )
    other = nested_cross_validate(selector, one, X, y, cv=2, scoring="roc_auc")
    assert np.isnan(other.optimism)
    assert np.isfinite(other.observed_scores).all()


@pytest.mark.parametrize("estimator", [KNeighborsClassifier(5), GaussianNB()])
def test_claims_of_another_estimator_are_not_compared(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    selector = BinarySPSA(KNeighborsClassifier(1), max_iter=2, n_repeats=1, random_state=0)
    for found in (
        nested_cross_validate(selector, estimator, X, y, cv=2),
        nested_cross_validate(make_pipeline(selector, estimator), None, X, y, cv=2),
    ):
        assert np.isnan(found.optimism)
        assert np.isnan(found.remeasured_optimism)
        assert np.isfinite(found.observed_scores).all()
        assert "optimism" not in found.summary()


def test_seeds_of_64_bits_and_what_is_none() -> None:
    X, y = load_iris(return_X_y=True)
    selector = BinarySPSA(RandomForestClassifier(2), cv=2, n_repeats=1, max_iter=1)
    a, b = (
        nested_cross_validate(selector, None, X, y, cv=2, random_state=2**64 - 1) for _ in range(2)
    )
    assert a.random_state == 2**64 - 1
    np.testing.assert_array_equal(a.scores, b.scores)
    for bad in (-1, 2**64, 1.5, "seed", True):
        with pytest.raises(ValueError, match="random_state must"):
            nested_cross_validate(selector, None, X, y, random_state=bad)  # type: ignore[arg-type]


def test_frames_lists_and_sparse_matrices_give_the_scores_of_arrays() -> None:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    frame = pd.DataFrame(X, index=order)  # positions count, not what the index says
    labels = pd.Series(y, index=order)
    selector, model = SelectKBest(k=2), KNeighborsClassifier(5, algorithm="brute")
    expected = nested_cross_validate(selector, model, X, y).scores
    for same_X, same_y in (
        (frame, labels),
        (X.tolist(), y.tolist()),
        (scipy.sparse.csr_matrix(X), y),
        (pl.DataFrame(X), pl.Series(y)),
    ):
        found = nested_cross_validate(selector, model, same_X, same_y)
        np.testing.assert_array_equal(found.scores, expected)


def test_results_are_compared_by_identity() -> None:
    X, y = load_iris(return_X_y=True)
    one, two = (nested_cross_validate(SelectKBest(k=2), GaussianNB(), X, y) for _ in range(2))
    assert one != two
    assert one == one
    assert len({one, two}) == 2


def test_the_result_pickles() -> None:
    X, y = load_iris(return_X_y=True)
    found = nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X, y)
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


def test_bad_input_is_named() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="selector must select features"):
        nested_cross_validate(StandardScaler(), KNeighborsClassifier(1), X, y)
    with pytest.raises(ValueError, match="pass the estimator that is to predict"):
        nested_cross_validate(SelectKBest(k=2), None, X, y)
    with pytest.raises(ValueError, match=r"shape \(150,\)"):
        nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X[:, 0], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X, y[:-1])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([(range(150), range(150))], "split 0 of cv trains on 150 samples that it also tests"),
        ([(range(100), range(50, 120))], "split 0 of cv trains on 50 samples that it also tests"),
        (
            [(range(100), range(100, 150)), (range(101), range(100, 150))],
            "split 1 of cv trains on 1 sample that it also tests",
        ),
        ([(range(100), range(100, 150))] * 3, "splits 0 and 1 of cv are the same"),
        ([(range(100), range(100, 150)), ([], range(9))], "split 1 of cv has an empty training"),
        ([(range(100), [])], "split 0 of cv has an empty test part"),
        ([(range(100), [100, 150])], "the test part names sample 150"),
        ([(range(100), [-1])], "the test part names sample -1"),
        ([(range(100), [100.5])], "must be positions of samples"),
        ([], "cv has no split"),
        ([1, 2, 3], r"split 0 of cv must be \(train, test\), got 1"),
        (1, "cv must be at least 2 outer folds, got 1"),
        ("x", "cv must be a number of outer folds from 2 on"),
        (2.5, "cv must be a number of outer folds from 2 on"),
    ],
)
def test_dishonest_outer_folds_are_refused_before_any_fit(cv: Any, message: str) -> None:
    class Unfit(SelectKBest):
        def fit(self, X: Any, y: Any = None) -> Any:
            raise AssertionError("fitted before the folds were checked")

    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        nested_cross_validate(Unfit(k=1), KNeighborsClassifier(1), X, y, cv=cv)


def test_outer_folds_may_be_booleans() -> None:
    X, y = load_iris(return_X_y=True)
    test = np.arange(150) % 5 == 0
    selector, one = SelectKBest(k=2), KNeighborsClassifier(1)
    given = nested_cross_validate(selector, one, X, y, cv=[(~test, test)])
    positions = [(np.flatnonzero(~test), np.flatnonzero(test))]
    assert given.score == nested_cross_validate(selector, one, X, y, cv=positions).score
    # One fold knows nothing of how folds differ, but 30 predictions.
    assert tuple(given.interval) == tuple(binomial_interval(given.score * 30, 30))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring": ["accuracy"]}, "scoring must be the name of one scorer"),
        (
            {"level": 95},
            r"level must be a number in \(0, 1\), got 95; 0.95 asks for",
        ),
    ],
)
def test_bad_options_are_refused_before_any_fit(options: Any, message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        nested_cross_validate(SelectKBest(k=9), KNeighborsClassifier(1), X, y, **options)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_drawn_from(make: Any) -> None:
    X, y = load_iris(return_X_y=True)
    selector, one = SelectFromModel(RandomForestClassifier(3)), KNeighborsClassifier(1)
    state = make(4)
    first = nested_cross_validate(selector, one, X, y, random_state=state)
    second = nested_cross_validate(selector, one, X, y, random_state=state)
    again = nested_cross_validate(selector, one, X, y, random_state=first.random_state)
    np.testing.assert_array_equal(first.supports, again.supports)
    assert first.random_state != second.random_state


def test_a_pipeline_that_ends_in_a_classifier_is_refused_with_the_way_out() -> None:
    X, y = load_iris(return_X_y=True)
    whole = make_pipeline(SelectKBest(k=2), KNeighborsClassifier(1))
    with pytest.raises(ValueError, match=r"ends in KNeighborsClassifier does not.*estimator=None"):
        nested_cross_validate(whole, KNeighborsClassifier(1), X, y)
    assert nested_cross_validate(whole, None, X, y).score > 0.9


def test_small_classes_are_named_once_and_not_in_every_fold() -> None:
    rng = np.random.default_rng(0)
    y = np.array(["a"] * 20 + ["b"] * 20 + ["rare"] * 5)
    X = rng.normal(size=(45, 6))
    search = BinarySPSA(
        KNeighborsClassifier(1), cv=5, n_repeats=1, max_iter=3, random_state=0, progress=False
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nested_cross_validate(search, None, X, y, cv=5, random_state=0)
    said = [str(one.message) for one in caught if "least populated" in str(one.message)]
    assert said == [
        "The least populated classes of the outer training parts have fewer samples than the "
        "search has folds (cv=5): 'rare' (4)"
    ]


def test_a_score_where_copies_straddle_the_folds_is_not_for_publication() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(30, 12))
    y = np.tile(rng.permutation(np.arange(30) % 2), 2)
    with pytest.warns(DuplicateSamplesWarning):
        result = nested_cross_validate(
            SelectKBest(k=3), KNeighborsClassifier(1), np.r_[half, half], y, random_state=0
        )
    assert "not for publication: copies" in result.summary()
    assert "may be published" not in result.summary()


def test_a_grid_search_is_scored_by_its_own_scorer_the_chance_level_too() -> None:
    X, y = load_iris(return_X_y=True)
    params = {"var_smoothing": [1e-9]}
    grid = GridSearchCV(GaussianNB(), params, scoring="neg_log_loss", cv=2)
    result = nested_cross_validate(SelectKBest(k=2), grid, X, y, cv=3, random_state=0)
    named = nested_cross_validate(
        SelectKBest(k=2), grid, X, y, cv=3, random_state=0, scoring="neg_log_loss"
    )
    # Not the accuracy of a guess.
    np.testing.assert_allclose(result.chance_scores, -np.log(3), rtol=1e-3)
    assert (result.scoring, result.interval) == ("neg_log_loss", named.interval)
    both = {"a": "accuracy", "b": "balanced_accuracy"}
    grid.set_params(scoring=both, refit="b")
    result = nested_cross_validate(SelectKBest(k=2), grid, X, y, cv=3, random_state=0)
    assert result.scoring == "balanced_accuracy"
    search = BinarySPSA(grid, cv=2, n_repeats=1, max_iter=1, random_state=0, progress=False)
    result = nested_cross_validate(search, None, X, y, cv=2, random_state=0)
    assert np.isfinite(result.optimism)  # both in one scorer's units


def test_a_score_of_the_estimators_own_is_not_called_accuracy() -> None:
    class Likely(GaussianNB):  # type: ignore[misc]
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            return float(np.mean(self.predict_log_proba(X).max(axis=1))) - 3.0

    X, y = load_iris(return_X_y=True)
    result = nested_cross_validate(SelectKBest(k=2), Likely(), X, y, random_state=0)
    assert result.scoring == "score"
    assert result.score < -3.0
    assert result.score in result.interval
    assert result.interval.low < result.interval.high


def test_a_function_with_the_name_of_a_scorer_has_no_range() -> None:
    def precision_gain(estimator: Any, X: Any, y: Any) -> float:
        return 5.0 + float(np.mean(estimator.predict(X) == y))

    X, y = load_iris(return_X_y=True)
    result = nested_cross_validate(
        SelectKBest(k=2), GaussianNB(), X, y, scoring=precision_gain, random_state=0
    )
    assert result.score in result.interval
    assert 5.0 < result.interval.low < result.interval.high


def test_a_target_in_one_column_is_a_target_and_several_are_scored() -> None:
    X, y = load_iris(return_X_y=True)
    one = KNeighborsClassifier(1)
    flat = nested_cross_validate(SelectKBest(k=2), one, X, y, random_state=0)
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        column = nested_cross_validate(SelectKBest(k=2), one, X, y[:, None], random_state=0)
    assert column.interval == flat.interval
    both = np.column_stack([y > 0, y > 1]).astype(int)
    result = nested_cross_validate(
        VarianceThreshold(), one, X, both, scoring="f1_macro", cv=3, random_state=0
    )
    assert 0.0 < result.score <= 1.0


def test_groups_of_any_type_and_in_one_column() -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.random.default_rng(0).integers(0, 20, 150)
    mixed = groups.astype(object)
    mixed[groups < 5] = "a"
    search = BinarySPSA(
        KNeighborsClassifier(1), cv=2, n_repeats=1, max_iter=2, random_state=0, progress=False
    )
    plain = nested_cross_validate(search, None, X, y, groups=groups, cv=3, random_state=0)
    for one in (groups[:, None], pd.DataFrame({"patient": groups})):
        found = nested_cross_validate(search, None, X, y, groups=one, cv=3, random_state=0)
        np.testing.assert_array_equal(found.scores, plain.scores)
    found = nested_cross_validate(search, None, X, y, groups=mixed, cv=3, random_state=0)
    for train, test in found.folds:
        assert not set(mixed[train]) & set(mixed[test])


@each("piped", [False, True])
def test_groups_reach_recursive_elimination_without_routing(piped: bool) -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) // 5
    selector: Any = RFECV(RidgeClassifier(), cv=GroupKFold(3))
    if piped:
        selector = make_pipeline(StandardScaler(), selector)
    result = nested_cross_validate(
        selector, GaussianNB(), X, y, groups=groups, cv=3, random_state=0
    )
    assert result.score > 0.8


class _FirstTwo(SelectorMixin, KNeighborsClassifier):  # type: ignore[misc]
    """Selects the first two columns and predicts by them."""

    def fit(self, X: Any, y: Any) -> _FirstTwo:
        self.n_features_in_ = X.shape[1]
        self.model_ = KNeighborsClassifier(3).fit(X[:, :2], y)
        self.classes_ = self.model_.classes_
        return self

    def _get_support_mask(self) -> Any:
        return np.arange(self.n_features_in_) < 2

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X[:, :2])

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X[:, :2])


class _WithControl(_FirstTwo):
    def without_selection(self) -> Any:
        return KNeighborsClassifier(3)


def test_a_selector_that_predicts_itself_says_what_predicts_from_all_features() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for cls, scaled in ((_FirstTwo, False), (_WithControl, False), (_WithControl, True)):
        scaler = [StandardScaler()] if scaled else []
        selector = make_pipeline(*scaler, cls()) if scaled else cls()
        found = nested_cross_validate(selector, None, X, y, cv=3)
        few = make_pipeline(*scaler, KNeighborsClassifier(3))
        np.testing.assert_array_equal(found.scores, cross_val_score(few, X[:, :2], y, cv=3))
        if cls is _FirstTwo:
            assert np.isnan(found.full_scores).all()
            continue
        full = make_pipeline(*scaler, KNeighborsClassifier(3))
        np.testing.assert_array_equal(found.full_scores, cross_val_score(full, X, y, cv=3))
