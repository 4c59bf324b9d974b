"""Classifiers on a Gram matrix, held to scikit-learn and to the formulas on the features."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from bitsieve.panels.classifiers import CLASSIFIERS, classifier_by_name, predicted_codes
from bitsieve.panels.gram import ABSENT
from bitsieve.panels.linear import ledoit_wolf_intensity

SHAPES = [(20, 1), (23, 5), (37, 60), (61, 200)]


def panels(n_classes=(2, 3, 4)):
    """Standardised tables with classes that overlap, and others from the same."""
    for number, (n, p) in enumerate(SHAPES):
        for count in n_classes:
            rng = np.random.default_rng(10 * number + count)
            codes = np.concatenate([np.arange(count), rng.integers(0, count, n - count)])
            means = rng.normal(size=(count, p))
            both = means[np.concatenate([codes, codes])] * 0.7 + rng.normal(size=(2 * n, p))
            Z = (both - both[:n].mean(axis=0)) / both[:n].std(axis=0)
            yield Z[:n], codes, count, Z[n:]


def decided(name, Z, codes, count, others):
    model = classifier_by_name(name).fit(Z @ Z.T, codes, count, n_features=Z.shape[1])
    return model, model.decide(others @ Z.T, np.square(others).sum(axis=1))


def functions(decisions, count):
    """scikit-learn's decisions in our shape."""
    return decisions.reshape(len(decisions), 1 if count == 2 else count)


def lda_twin(Z, codes, count, others):
    """The formulas with the covariance itself."""
    means = np.array([Z[codes == c].mean(axis=0) for c in range(count)])
    centred = Z - means[codes]
    covariance, _ = ledoit_wolf(centred, assume_centered=True)
    solved = np.linalg.solve(covariance, means.T)
    priors = np.array([(codes == c).mean() for c in range(count)])
    found = others @ solved - 0.5 * np.sum(means.T * solved, axis=0) + np.log(priors)
    return found[:, 1:] - found[:, :1] if count == 2 else found


def test_intensity_is_that_of_scikit_learn():
    for Z, *_ in panels():
        if Z.shape[1] == 1:
            continue  # every intensity gives the same covariance
        Z = Z - Z.mean(axis=0)
        ours = ledoit_wolf_intensity(Z @ Z.T, Z.shape[1])
        assert ours == pytest.approx(ledoit_wolf(Z, assume_centered=True)[1], rel=1e-10)
        assert 0 < ours <= 1


def test_lda_is_that_of_the_features():
    for Z, codes, count, others in panels():
        model, ours = decided("lda", Z, codes, count, others)
        np.testing.assert_allclose(ours, lda_twin(Z, codes, count, others), rtol=1e-6, atol=1e-8)
        # The dual coefficients stand for those of the features.
        np.testing.assert_allclose(ours, others @ (Z.T @ model.dual) + model.intercept, atol=1e-8)
        if Z.shape[1] > 1:
            theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=model.tuned)
            found = theirs.fit(Z, codes).decision_function(others)
            np.testing.assert_allclose(ours, functions(found, count), rtol=1e-6, atol=1e-8)


def test_svm_is_that_of_scikit_learn():
    for Z, codes, count, others in panels():
        model, ours = decided("svm", Z, codes, count, others)
        wanted = [1] if count == 2 else range(count)
        for place, code in enumerate(wanted):
            theirs = SVC(kernel="linear", C=1, tol=1e-5).fit(Z, codes == code)
            # Both stop when no pair of samples breaks the conditions by more than 1e-5.
            np.testing.assert_allclose(ours[:, place], theirs.decision_function(others), atol=1e-4)
            atol = 1e-4 * np.abs(theirs.coef_).max() + 1e-6
            np.testing.assert_allclose(Z.T @ model.dual[:, place], theirs.coef_[0], atol=atol)


def test_ridge_is_that_of_scikit_learn():
    seen = set()
    for Z, codes, count, others in panels():
        model, ours = decided("ridge", Z, codes, count, others)
        centred = Z - Z.mean(axis=0)
        grid = np.square(centred).sum() / len(Z) * 10.0 ** np.linspace(3, -3, 13)
        theirs = RidgeClassifierCV(alphas=grid).fit(Z, codes)
        assert model.tuned == pytest.approx(theirs.alpha_, rel=1e-9)
        seen.add(int(np.argmin(np.abs(grid - model.tuned))))
        np.testing.assert_allclose(
            ours, functions(theirs.decision_function(others), count), rtol=1e-7, atol=1e-9
        )
    assert len(seen) > 2  # the data decide


def test_neighbors_are_those_of_scikit_learn():
    for Z, codes, count, others in panels():
        for name, k in (("knn", 5), ("1nn", 1), ("3nn", 3), ("99nn", min(99, len(Z)))):
            _, ours = decided(name, Z, codes, count, others)
            shares = KNeighborsClassifier(k).fit(Z, codes).predict_proba(others)
            expected = shares[:, 1:] - shares[:, :1] if count == 2 else shares
            np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_neighbors_that_tie():
    Z = np.array([[0.0], [2.0], [2.0], [0.0]])
    codes = np.array([1, 0, 2, 0])
    _, ours = decided("1nn", Z, codes, 3, np.array([[1.0], [0.0], [2.0]]))
    assert predicted_codes(ours).tolist() == [1, 1, 0]  # the lowest index is nearest
    _, ours = decided("knn", Z, codes, 3, np.array([[1.0]]))
    assert ours.tolist() == [[0.5, 0.25, 0.25]]
    _, ours = decided("2nn", np.array([[0.0], [0.0]]), np.array([1, 0]), 2, np.array([[0.0]]))
    assert ours.tolist() == [[0.0]]
    assert predicted_codes(ours).tolist() == [0]


def test_edges_give_finite_decisions():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 4))
    two, three = np.arange(12) % 2, np.arange(12) % 3
    cases = {
        "constant panel": (np.zeros((12, 4)), three, 3),
        "constant, not zero": (np.full((12, 4), 1 / 3), two, 2),
        "one feature of two values": (np.where(two, 1.0, -1.0)[:, None], two, 2),
        "no spread within": (np.eye(3)[three], three, 3),
        "all rows of one length, one direction": (np.outer(rng.choice([-1, 1], 12), X[0]), two, 2),
        "class of one sample": (X, np.minimum(np.arange(12), 2), 3),
        "one sample a class": (X[:3], np.arange(3), 3),
        "one sample": (X[:1], np.array([1]), 2),
        "one class of two": (X, np.ones(12, dtype=int), 2),
        "lower class of two": (X, np.zeros(12, dtype=int), 2),
        "one class of four": (X, np.full(12, 2), 4),
        "class missing": (X, three * 2, 6),
        "last class missing": (X, two, 3),
        "huge values": (X * 100, three, 3),
        "tiny values": (X * 1e-8, three, 3),
        "twice the same sample": (np.repeat(X[:6], 2, axis=0), three, 3),
    }
    for case, (Z, codes, count) in cases.items():
        there = np.unique(codes)
        for name in CLASSIFIERS:
            with np.errstate(all="raise", under="ignore"):
                _, ours = decided(name, Z, codes, count, np.vstack([Z, X * 3 if Z is X else Z]))
            assert np.isfinite(ours).all(), (case, name)
            assert set(predicted_codes(ours)) <= set(there), (case, name)
            if count > 2 and name != "knn":
                absent = np.setdiff1d(np.arange(count), there)
                assert (ours[:, absent] == ABSENT).all(), (case, name)


def test_nearest_mean_where_classes_have_no_spread():
    codes = np.array([0, 0, 1, 1, 2])
    Z = np.array([[3.0, 0], [3, 0], [0, 3], [0, 3], [-3, -3]])
    _, ours = decided("lda", Z, codes, 3, np.array([[2.0, 1], [1, 2], [-1, -1.5]]))
    assert predicted_codes(ours).tolist() == [0, 1, 2]


def test_equal_samples_are_decided_by_the_larger_class():
    codes = np.array([0, 1, 1, 2, 1])
    for name in ("lda", "svm", "ridge"):
        for Z in (np.zeros((5, 2)), np.full((5, 2), 0.1)):
            _, ours = decided(name, Z, codes, 3, Z)
            assert predicted_codes(ours).tolist() == [1] * 5, name


def test_decisions_do_not_depend_on_settings_of_scikit_learn():
    Z, codes, count, others = next(iter(panels()))
    expected = decided("svm", Z, codes, count, others)[1]
    with sklearn.config_context(assume_finite=True):
        assert (decided("svm", Z, codes, count, others)[1] == expected).all()
        assert sklearn.get_config()["assume_finite"]
    assert not sklearn.get_config()["assume_finite"]


def test_messages():
    K, codes = np.eye(3), np.array([0, 1, 1])
    for name in CLASSIFIERS:
        fit = classifier_by_name(name).fit
        for bad in (K[:2], K.astype(np.float32), np.zeros((0, 0)), K[0]):
            with pytest.raises(ValueError, match="K must be a square matrix of float64, got"):
                fit(bad, codes, 2, n_features=3)
        for bad in (codes[:2], codes + 1, codes - 1):
            with pytest.raises(ValueError, match="codes must hold a class from 0 to 1 for each of"):
                fit(K, bad, 2, n_features=3)
        with pytest.raises(ValueError, match="at least 2 classes and 1 feature are expected"):
            fit(K, codes * 0, 1, n_features=3)
        with pytest.raises(ValueError, match="K must be finite"):
            fit(K * np.nan, codes, 2, n_features=3)
    with pytest.raises(ValueError, match="there is no classifier 'lad'; did you mean 'lda'"):
        classifier_by_name("lad")
    for name in ("0nn", "nn", "", "1000nn"):
        with pytest.raises(ValueError, match="there is no classifier"):
            classifier_by_name(name)
    with pytest.raises(ValueError, match="there is no classifier 3; there are 'lda'"):
        classifier_by_name(3)
