"""Bundled sets, and made tables whose answer is checked against the values."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from bitsieve import datasets
from bitsieve.data import Table
from bitsieve.data import datasets as data_sets


def test_bundled_sets_are_those_of_scikit_learn():
    assert datasets.names() == ["breast_cancer", "diabetes", "digits", "iris", "wine"]
    for name in datasets.names():
        ours, theirs = datasets.load(name), getattr(sklearn_datasets, f"load_{name}")()
        np.testing.assert_array_equal(ours.X, theirs.data)
        np.testing.assert_array_equal(ours.y, theirs.target)
        assert ours.names == list(theirs.feature_names)
        assert ours.name == name
        table = Table(ours.X, ours.y, names=ours.names, task=ours.task)
        assert table.task == ("regression" if name == "diabetes" else "classification")
        again = getattr(datasets, f"load_{name}")()
        np.testing.assert_array_equal(again.X, ours.X)


def test_unknown_set():
    with pytest.raises(ValueError, match=r"no data set named 'irsi'; did you mean 'iris'\?"):
        datasets.load("irsi")


def test_one_list_of_names():
    assert datasets.__all__ == data_sets.__all__
    for name in datasets.__all__:
        assert getattr(datasets, name) is getattr(data_sets, name)
    assert isinstance(datasets.load("iris"), datasets.Dataset)


def test_sets_compare_by_identity():
    iris, made = datasets.load("iris"), datasets.make_microarray(20, 100, random_state=0)
    assert iris == iris
    assert iris != datasets.load("iris")
    assert made != datasets.make_microarray(20, 100, random_state=0)
    assert len({iris, made}) == 2


def standardised(data):
    """z = (X - level) / spread within a class, with the level and spread of each feature."""
    X = data.X.astype(np.float64)
    within = X - np.stack([X[data.y == c].mean(axis=0) for c in np.unique(data.y)])[data.y]
    return X, within, within.std(axis=0)


def test_class_means_of_informative_features():
    data = datasets.make_microarray(
        2000, 300, n_informative=10, n_redundant=0, class_sep=3.0, random_state=0
    )
    X, _, spread = standardised(data)
    gap = np.abs(X[data.y == 0].mean(axis=0) - X[data.y == 1].mean(axis=0)) / spread
    np.testing.assert_allclose(gap[data.informative], 3.0, atol=0.15)
    assert gap[~data.support].max() < 0.2
    np.testing.assert_array_equal(np.flatnonzero(data.support), data.informative)


def test_more_classes():
    data = datasets.make_microarray(
        3000, 100, n_informative=8, n_redundant=0, n_classes=5, class_sep=4.0, random_state=1
    )
    assert np.bincount(data.y).tolist() == [600] * 5
    X, _, spread = standardised(data)
    means = np.stack([X[data.y == c].mean(axis=0) for c in range(5)]) / spread
    np.testing.assert_allclose(np.ptp(means, axis=0)[data.informative], 4.0, atol=0.25)
    assert np.ptp(means, axis=0)[~data.support].max() < 0.4


def test_redundant_features_follow_their_parents():
    data = datasets.make_microarray(2000, 200, n_informative=4, n_redundant=9, random_state=2)
    _, within, _ = standardised(data)
    assert set(data.parents) == set(data.informative)
    assert not set(data.redundant) & set(data.informative)
    for child, parent in zip(data.redundant, data.parents, strict=True):
        r = np.corrcoef(within[:, child], within[:, parent])[0, 1]
        assert abs(r) == pytest.approx(0.9, abs=0.02)
    others = np.setdiff1d(np.arange(200), np.r_[data.redundant, data.informative])
    r = np.corrcoef(within[:, np.r_[data.informative[:1], others]], rowvar=False)[0, 1:]
    assert np.abs(r).max() < 0.12


def test_batch_effect():
    kwargs = {"n_informative": 5, "n_redundant": 0, "n_batches": 3, "random_state": 3}
    none = datasets.make_microarray(1500, 400, **kwargs)
    some = datasets.make_microarray(1500, 400, batch_effect=2.0, **kwargs)
    assert np.bincount(some.batch).tolist() == [500] * 3
    np.testing.assert_array_equal(none.y, some.y)

    def shifts(data):
        _, _, spread = standardised(none)
        X = data.X.astype(np.float64)
        means = np.stack([X[data.batch == b].mean(axis=0) for b in range(3)])
        return (means - means.mean(axis=0)) / spread

    assert shifts(none).std() < 0.06
    assert shifts(some).std() == pytest.approx(2.0 * np.sqrt(2 / 3), rel=0.1)
    crossed = np.zeros((2, 3))
    np.add.at(crossed, (some.y, some.batch), 1)
    np.testing.assert_allclose(crossed, 250, atol=50)


def test_levels_and_names():
    data = datasets.make_microarray(50, 2000, random_state=4)
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    assert data.names[:2] == ["g0", "g1"]
    assert len(set(data.names)) == 2000
    assert data.X.mean() == pytest.approx(8, abs=0.3)
    assert Table(data.X, data.y, names=data.names).n_features == 2000


def test_same_seed_same_table():
    a, b = (datasets.make_microarray(20, 300, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(a.X, b.X)
    c = datasets.make_microarray(20, 300, random_state=6)
    assert not np.array_equal(a.X, c.X)
    drawn = datasets.make_microarray(20, 300)
    again = datasets.make_microarray(20, 300, random_state=drawn.seed)
    np.testing.assert_array_equal(drawn.X, again.X)

    one, two = (
        datasets.make_microarray(20, 300, random_state=np.random.default_rng(0)) for _ in range(2)
    )
    assert one.seed == two.seed


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"n_classes": 1}, "n_classes must be a whole number from 2 on, got 1"),
        ({"n_samples": 2, "n_classes": 3}, "n_classes=3, n_samples=2"),
        ({"n_features": 30}, "n_informative=20 and n_redundant=20 must not .* n_features=30"),
        ({"n_informative": -1}, "n_informative must be a whole number from 0 on"),
        ({"n_informative": 0}, "made of informative ones"),
        ({"n_batches": 0}, "n_batches must be a whole number from 1 on"),
        ({"class_sep": -1.0}, "class_sep must be a finite number from 0 on, got -1.0"),
        ({"class_sep": float("nan")}, "class_sep must be a finite number from 0 on, got nan"),
        ({"batch_effect": "none"}, "batch_effect must be a finite number from 0 on"),
        ({"n_samples": 100.0}, "n_samples must be a whole number from 1 on, got 100.0"),
        ({"random_state": -1}, r"random_state must lie in \[0, 2\*\*64\)"),
        ({"random_state": "x"}, "random_state must be a whole number"),
        ({"n_features": 0, "n_informative": 0, "n_redundant": 0}, "n_features must be a whole"),
    ],
)
def test_bad_arguments(kwargs, words):
    with pytest.raises(ValueError, match=words):
        datasets.make_microarray(**kwargs)
