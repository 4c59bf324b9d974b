"""Information gain, gain ratio, symmetrical uncertainty and Gini: Weka, twins, identities."""

from __future__ import annotations

import functools
import gzip
import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import twin_cfs as twin
from each import each, each_isa
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import mutual_info_score
from sklearn.tree import DecisionTreeClassifier

from bitsieve.data import Table
from bitsieve.filters import (
    cfs,
    discretize,
    fcbf,
    gain_ratio,
    gini,
    information_gain,
    symmetrical_uncertainty,
)

ALL = [information_gain, gain_ratio, symmetrical_uncertainty, gini]
OF_WEKA = {"infogain": information_gain, "gainratio": gain_ratio, "su": symmetrical_uncertainty}


def levels(n, p, n_classes, seed, most=6):
    """Columns of 1 to `most` levels, some of which tell something."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, rng.integers(1, most + 1, p), (n, p))
    told = rng.random((n, p)) < rng.choice([0.0, 0.3, 1.0], p)
    return np.where(told, y[:, None], X), y


# -- against Weka ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sonar", "ionosphere", "vehicle", "segment", "khan"])
@pytest.mark.parametrize("score", OF_WEKA)
def test_equals_weka_after_mdl_cuts(name, score, dataset, weka):
    X, y, _ = dataset(name)
    np.testing.assert_allclose(OF_WEKA[score](X, y), weka[name][score], rtol=0, atol=1e-10)


@pytest.fixture(scope="module")
def adult(data_dir, weka):
    path = data_dir / "formats" / "adult.csv.gz"
    if not path.is_file():
        pytest.skip(f"needs real data: {path} is not there")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        head = "".join(line for line, _ in zip(file, range(3000), strict=False))
    frame = pd.read_csv(io.StringIO(head), na_values="?", skipinitialspace=True).dropna()[:1500]
    return frame.drop(columns="income"), frame["income"], weka["adult_mixed_1500"]


@pytest.mark.parametrize("score", OF_WEKA)
def test_equals_weka_on_numbers_and_categories(score, adult):
    frame, y, reference = adult
    assert list(frame.columns) == reference["columns"]
    np.testing.assert_allclose(OF_WEKA[score](frame, y), reference[score], rtol=0, atol=1e-10)
    coded = frame.copy()
    for name in frame.columns[reference["nominal"]]:
        coded[name] = frame[name].astype("category").cat.codes
    np.testing.assert_allclose(
        OF_WEKA[score](coded.to_numpy(float), y, discrete_features=reference["nominal"]),
        reference[score],
        rtol=0,
        atol=1e-10,
    )


# -- against twins and other software --------------------------------------------------------------


@functools.cache
def known_scores(n, p, n_classes):
    X, y = levels(n, p, n_classes, n + n_classes)
    y[:2] = 0, 1
    columns = list(X.T)
    own = np.array([twin.entropy(c) for c in columns])
    shared = np.array([twin.information(c, y) for c in columns])
    ratio = np.divide(shared, own, out=np.zeros(p), where=own > 1e-12)
    expected = {
        information_gain: shared / np.log(2),
        gain_ratio: ratio,
        symmetrical_uncertainty: np.array([twin.uncertainty(c, y) for c in columns]),
        gini: np.array([twin.gini(c, y) for c in columns]),
    }
    return X, y, expected, [mutual_info_score(c, y) for c in columns]


@each(("n", "p"), [(2, 3), (63, 17), (64, 64), (65, 65), (500, 40)])
@each("n_classes", [2, 3, 9])
@each_isa
def test_equal_the_twins(n, p, n_classes, isa):
    X, y, expected, others = known_scores(n, p, n_classes)
    for score, values in expected.items():
        found = score(X, y, discretization=None)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, values, rtol=0, atol=1e-10, err_msg=score.__name__)
    nats = information_gain(X, y, discretization=None, unit="nats")
    np.testing.assert_allclose(nats, others, rtol=0, atol=1e-10)


def test_gini_is_what_a_tree_gains_by_the_same_split():
    X, y = load_breast_cancer(return_X_y=True)
    codes, _ = discretize(X, method="user", bins=np.median(X, axis=0)[:, None])
    found = gini(codes, y, discretization=None)
    for f in range(X.shape[1]):
        tree = DecisionTreeClassifier(max_depth=1).fit(codes[:, [f]], y).tree_
        after = np.dot(tree.n_node_samples[1:3], tree.impurity[1:3]) / len(y)
        assert found[f] == pytest.approx(tree.impurity[0] - after)


# -- identities ------------------------------------------------------------------------------------


def test_a_copy_of_y_tells_all_and_a_constant_nothing():
    y = np.repeat([0, 1, 2], [10, 20, 30])
    X = np.column_stack([y, 2 - y, np.zeros(60), np.tile([0, 1], 30)])
    entropy = twin.entropy(y)
    for score, most in (
        (information_gain, entropy / np.log(2)),
        (gain_ratio, 1.0),
        (symmetrical_uncertainty, 1.0),
        (gini, 1 - (1 / 36 + 4 / 36 + 9 / 36)),
    ):
        found = score(X, y, discretization=None)
        assert found[0] == pytest.approx(most, abs=1e-11)
        assert found[1] == found[0]
        assert found[2] == 0.0
        assert found[3] == pytest.approx(0.0, abs=1e-15), "independent of y to the last bit"


def test_rounding_leads_beyond_no_limit():
    rng = np.random.default_rng(0)
    for n in range(5, 65):
        y = np.r_[0, 1, rng.integers(0, 7, n)]
        X = np.column_stack([rng.permutation(7)[y], np.zeros(n + 2)])
        for score in (gain_ratio, symmetrical_uncertainty):
            most, least = score(X, y, discretization=None)
            assert 1.0 - 1e-11 < most <= 1.0
            assert least == 0.0
        assert gini(X, y, discretization=None)[1] == 0.0


def test_symmetrical_uncertainty_is_symmetrical():
    X, y = levels(80, 12, 4, 3)
    there = [symmetrical_uncertainty(X[:, [f]], y, discretization=None)[0] for f in range(12)]
    varies = [len(set(X[:, f])) > 1 for f in range(12)]
    back = [
        symmetrical_uncertainty(y[:, None], X[:, f], discretization=None)[0] if varies[f] else 0.0
        for f in range(12)
    ]
    np.testing.assert_allclose(there, back, rtol=0, atol=1e-12)


@each("score", ALL)
def test_bounds(score):
    X, y = levels(70, 200, 3, 5)
    found = score(X, y, discretization=None)
    assert found.min() >= 0.0
    assert found.max() <= (np.log2(3) if score is information_gain else 1.0)


@pytest.mark.parametrize("score", ALL)
@each_isa
def test_what_must_not_matter(score, isa):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = np.column_stack([X[::3], X[::3, 4], np.ones(190)]), y[::3]
    found = score(X, y, n_jobs=1)
    assert found[30] == found[4], "a copy of a feature has its score"
    assert found[31] == 0.0
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(score(X[order], y[order]), found)
    np.testing.assert_array_equal(score(X, np.array(["well", "sick"])[y]), found)
    np.testing.assert_array_equal(score(X, y, n_jobs=3), found)
    np.testing.assert_array_equal(score(X[:, ::-1], y), found[::-1])
    np.testing.assert_array_equal(score(Table(X, y)), found)


@each("score", ALL)
def test_float32(score):
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    np.testing.assert_array_equal(score(X, y), score(X.astype(np.float64), y))


@each("score", ALL)
def test_missing_values_as_a_level(score):
    y = np.repeat(["a", "b"], 20)
    X = np.where(y == "a", np.nan, np.arange(40.0))[:, None]
    with pytest.raises(ValueError, match="Input X contains NaN: 20 values"):
        score(X, y)
    most = {information_gain: 1.0, gini: 0.5}.get(score, 1.0)
    assert score(X, y, missing="level")[0] == pytest.approx(most, abs=1e-11)


@each("score", ALL)
def test_works_in_select_k_best(score):
    X, y = load_breast_cancer(return_X_y=True)
    selector = SelectKBest(score, k=4).fit(X, y)
    np.testing.assert_array_equal(selector.scores_, score(X, y))


@each("score", ALL)
def test_other_cuts(score):
    X, y = load_breast_cancer(return_X_y=True)
    for method in ("equal_width", "equal_frequency", "mean_sd"):
        codes, _ = discretize(X, method=method, n_bins=5)
        np.testing.assert_array_equal(
            score(X, y, discretization=method, n_bins=5), score(codes, y, discretization=None)
        )


# -- sparse tables ---------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [*ALL, cfs, fcbf])
@each("layout", [scipy.sparse.csr_array, scipy.sparse.csc_matrix])
@each("discretization", ["mdl", "equal_width", None])
def test_sparse_tables_score_as_dense_ones(score, layout, discretization, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    X = rng.poisson(0.3 + (y[:, None] == 1) * rng.choice([0.0, 0.5], 70), (90, 70)).astype(float)
    X[:, 3] = 0.0
    X[:, 4] = 2.0
    if discretization is not None:
        X *= rng.normal(size=X.shape)
    expected = score(X, y, discretization=discretization)
    assert expected.size
    monkeypatch.setattr("bitsieve.discrete._sparse.BLOCK", 90 * 16)
    found = score(layout(X), y, discretization=discretization)
    np.testing.assert_array_equal(found, expected)


def test_words_in_texts(dataset):
    X, y, _ = dataset("pcmac")
    X = X[:, :600]
    counts = scipy.sparse.csr_array(X)
    np.testing.assert_array_equal(information_gain(counts, y), information_gain(X, y))
    assert cfs(counts, y).tolist() == cfs(X, y).tolist()


# -- refusals --------------------------------------------------------------------------------------


def test_continuous_columns_are_refused_where_levels_are_promised():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="levels must be whole numbers, but 30 columns"):
        information_gain(X, y, discretization=None)


@each("score", ALL)
def test_refusals(score):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=r"discretization must be one of 'mdl', .*got 'user'"):
        score(X, y, discretization="user")
    with pytest.raises(ValueError, match="y is needed"):
        score(X, None)
    with pytest.raises(ValueError, match="Unknown label type"):
        score(X, X[:, 0])
    with pytest.raises(ValueError, match="two classes or more"):
        score(X, np.zeros(len(y)))
    if score is information_gain:
        with pytest.raises(ValueError, match="unit must be 'bits' or 'nats', got 'hartley'"):
            score(X, y, unit="hartley")
