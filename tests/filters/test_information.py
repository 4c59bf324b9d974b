"""Entropies and mutual information: a twin, scikit-learn, identities, invariances, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import twin_information as twin
from each import each, each_isa
from sklearn.feature_selection import SelectKBest, mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

from bitsieve import _core, filters
from bitsieve.data import Table
from bitsieve.filters import (
    conditional_mutual_information,
    discretize,
    entropy,
    joint_mutual_information,
    mutual_information,
)

# Samples around the width of a word, levels on both sides of the limit of bit planes (8).
SHAPES = [(5, 3, 2), (63, 9, 3), (64, 9, 3), (65, 70, 4), (130, 12, 9), (200, 131, 3), (400, 6, 60)]


def made(n: int, p: int, most: int, seed: int = 0) -> tuple[Any, Any]:
    """Columns of 1 to `most` levels, some of which say something about y."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    y[:3] = [0, 1, 2]
    levels = rng.integers(1, most + 1, p)
    noise = rng.random((n, p))
    mixed = np.where(rng.random((n, p)) < 0.4, (y[:, None] + noise) / 3, noise)
    return np.minimum(np.floor(mixed * levels), levels - 1.0), y


@pytest.mark.parametrize("shape", SHAPES)
@each("correction", [None, "miller_madow", "dirichlet"])
@each_isa
def test_values_are_those_of_the_twin(
    shape: tuple[int, int, int], correction: Any, isa: str
) -> None:
    X, y = made(*shape)
    X = X[:, :12]
    z = (X[:, 0] + 2 * (np.arange(len(X)) % 2)).astype(int)
    how: dict[str, Any] = {"correction": correction, "prior": 2.5}
    close: dict[str, float] = {"rtol": 0, "atol": 1e-10}
    np.testing.assert_allclose(entropy(X, **how), [twin.entropy(c, **how) for c in X.T], **close)
    expected = [twin.information(c, y, **how) for c in X.T]
    np.testing.assert_allclose(mutual_information(X, y, **how), expected, **close)
    expected = [twin.conditional(c, y, z, **how) for c in X.T]
    found = conditional_mutual_information(X, y, z, **how)
    np.testing.assert_allclose(found, expected, **close)
    expected = [twin.joint(y, c, z, **how) for c in X.T]
    np.testing.assert_allclose(joint_mutual_information(X, y, z, **how), expected, **close)


def test_values_are_those_of_scikit_learn() -> None:
    X, y = made(211, 40, 5)
    expected = [mutual_info_score(column, y) for column in X.T]
    np.testing.assert_allclose(mutual_information(X, y), expected, rtol=0, atol=1e-11)


def test_many_levels_of_both_and_of_their_combination() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 250, (900, 3)).astype(float)
    y, z = rng.integers(0, 300, 900), rng.integers(0, 400, 900)
    discrete = {"discrete_features": [0, 1, 2]}
    found = mutual_information(X, y, **discrete)
    expected = [mutual_info_score(c, y) for c in X.T]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    found = conditional_mutual_information(X, y, z, **discrete)
    expected = [twin.conditional(c, y, z) for c in X.T]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_identities_hold_to_the_bit() -> None:
    X, _ = made(150, 8, 7)
    X[:, 7] = np.arange(150) % 4
    X[:, 3] = 4.0  # constant
    X[:, 5] = X[:, 2]
    own = entropy(X)
    for j in range(8):
        # I(X;X) = H(X), and symmetry.
        among = mutual_information(X, X[:, j].astype(int)) if np.ptp(X[:, j]) else np.zeros(8)
        assert among[j] == own[j]
        for k in range(8):
            if np.ptp(X[:, k]):
                assert among[k] == mutual_information(X, X[:, k].astype(int))[j]
    assert own[3] == 0
    scores = mutual_information(X, X[:, 7].astype(int))
    assert scores[3] == 0
    assert scores[5] == scores[2]


def test_the_chain_rule_holds_to_rounding() -> None:
    X, y = made(170, 20, 6)
    z = X[:, 7].astype(int)
    # I(X,Z;Y) = I(Z;Y) + I(X;Y|Z): one sum in fixed point, two roundings to float64.
    left = joint_mutual_information(X, y, z)
    right = mutual_information(X[:, [7]], y) + conditional_mutual_information(X, y, z)
    np.testing.assert_allclose(left, right, rtol=1e-15, atol=1e-15)
    assert conditional_mutual_information(X, y, z)[7] == 0
    np.testing.assert_allclose(
        conditional_mutual_information(X, y, np.zeros(170, dtype=int)), mutual_information(X, y),
        rtol=1e-15, atol=1e-15,
    )  # fmt: skip


@each_isa
def test_nothing_but_the_partition_counts(isa: str) -> None:
    X, y = made(140, 30, 6)
    rng = np.random.default_rng(2)
    scores = mutual_information(X, y, n_jobs=1)
    samples, features = rng.permutation(140), rng.permutation(30)
    np.testing.assert_array_equal(mutual_information(X[samples], y[samples]), scores)
    np.testing.assert_array_equal(mutual_information(X[:, features], y), scores[features])
    np.testing.assert_array_equal(mutual_information(1000 - 7 * X, y), scores)
    np.testing.assert_array_equal(mutual_information(X, np.array(list("xab"))[y]), scores)
    for threads in (2, 3, 7):
        np.testing.assert_array_equal(mutual_information(X, y, n_jobs=threads), scores)
    for kind in (np.float32, np.int8, np.uint16, np.int64):
        np.testing.assert_array_equal(mutual_information(X.astype(kind), y), scores)


def test_instruction_sets_agree_to_the_bit() -> None:
    X, y = made(333, 50, 12)
    before = _core.get_isa()
    found = []
    for name in _core.available_isas():
        _core.set_isa(name)
        found.append(mutual_information(X, y, correction="miller_madow"))
    _core.set_isa(before)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_continuous_columns_are_cut_in_three_by_default() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 6))
    y = (X[:, 2] + 0.5 * rng.standard_normal(80) > 0).astype(int)
    codes, _ = discretize(X, method="mean_sd")
    expected = [mutual_info_score(c, y) for c in codes.T]
    np.testing.assert_allclose(mutual_information(X, y), expected, rtol=0, atol=1e-11)
    # A column of whole numbers stays as it is beside them, unless nearly every one is another.
    X[:, 0] = rng.integers(0, 5, 80)
    X[:, 1] = rng.permutation(80)
    found = mutual_information(X, y)
    assert abs(found[0] - mutual_info_score(X[:, 0], y)) < 1e-11
    cut = np.digitize(X[:, 1], [X[:, 1].mean() - X[:, 1].std(ddof=1), 39.5 + X[:, 1].std(ddof=1)])
    assert abs(found[1] - mutual_info_score(cut, y)) < 1e-11


def test_few_whole_numbers_are_levels_unasked() -> None:
    """No more than half as many as there are samples; missing ones are not counted."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 40)
    few, many = rng.permutation(40) % 20, rng.permutation(40) % 21
    X = np.column_stack([few, many]).astype(float)
    as_they_are = mutual_information(X, y, discrete_features=[0, 1])
    in_three = mutual_information(X, y, discretization="mean_sd")
    found = mutual_information(X, y)
    np.testing.assert_array_equal(found, [as_they_are[0], in_three[1]])
    X[:2] = np.nan
    as_they_are = mutual_information(X, y, discrete_features=[0], missing="level")
    in_three = mutual_information(X, y, discretization="mean_sd", missing="level")
    found = mutual_information(X, y, missing="level")
    np.testing.assert_array_equal(found, [as_they_are[0], in_three[1]])


def test_continuous_columns_are_never_one_level_a_value() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 2
    # One level a value would say all about y: log 2 for each column.
    assert mutual_information(X, y).max() < 0.2
    with pytest.raises(ValueError, match=r"whole numbers.*discretization='mdl'"):
        mutual_information(X, y, discretization=None)
    ids = np.arange(60.0)[:, None]
    assert mutual_information(ids, y).max() < 0.2
    with pytest.raises(ValueError, match="distinct values"):
        mutual_information(ids, y, discretization=None)


@pytest.mark.parametrize("method", ["mdl", "equal_width", "equal_frequency", "mean_sd"])
def test_methods_of_discretisation(method: Any) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 90)
    X = rng.standard_normal((90, 4)) + y[:, None]
    codes, _ = discretize(X, y, method=method, n_bins=4)
    expected = [mutual_info_score(c, y) for c in codes.T]
    found = mutual_information(X, y, discretization=method, n_bins=4)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_a_numeric_target_is_cut_as_the_columns_are() -> None:
    rng = np.random.default_rng(6)
    X = rng.standard_normal((100, 3))
    y = X[:, 1] + 0.1 * rng.standard_normal(100)
    codes, _ = discretize(np.column_stack([X, y]), method="equal_frequency", n_bins=5)
    expected = [mutual_info_score(c, codes[:, 3]) for c in codes.T[:3]]
    found = mutual_information(X, y, discretization="equal_frequency", n_bins=5)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    assert mutual_information(X, y).argmax() == 1
    with pytest.raises(ValueError, match="'mdl' cuts features by classes, but y is numeric"):
        mutual_information(X, y, discretization="mdl")


def test_corrections_lower_the_information_of_noise() -> None:
    rng = np.random.default_rng(7)
    X = rng.integers(0, 5, (40, 300))
    y = rng.integers(0, 4, 40)
    plain = mutual_information(X, y).mean()
    assert plain > 0.1  # (5 - 1) (4 - 1) / 80 in the mean, though all is noise
    assert mutual_information(X, y, correction="miller_madow").mean() < 0.5 * plain
    shrunk = [
        mutual_information(X, y, correction="dirichlet", prior=a).mean() for a in (1, 10, 100)
    ]
    assert plain > shrunk[0] > shrunk[1] > shrunk[2]


def test_a_prior_too_small_for_its_cells_weighs_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 4)).astype(float), np.arange(40) % 2
    X[:, 0] = y  # cells without a sample
    plain = mutual_information(X, y)
    for prior in (5e-324, 1e-310, 1e-300):
        found = mutual_information(X, y, correction="dirichlet", prior=prior)
        np.testing.assert_allclose(found, plain, rtol=1e-9, err_msg=str(prior))


def test_constant_columns_score_nothing_under_any_correction() -> None:
    X, y = made(50, 4, 3)
    X[:, 2] = 1.0
    for correction in (None, "miller_madow", "dirichlet"):
        assert mutual_information(X, y, correction=correction)[2] == 0
        assert entropy(X, correction=correction)[2] == 0


@each("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("method", ["auto", None, "mdl", "equal_width", "mean_sd"])
def test_sparse_zeros_are_zeros(form: str, method: Any) -> None:
    rng = np.random.default_rng(8)
    X = rng.poisson(0.4, (70, 40)).astype(float)
    X[:, 3], X[:, 4] = 0.0, rng.integers(1, 4, 70)  # no entry at all, and no zero
    y = rng.integers(0, 3, 70)
    sparse = getattr(scipy.sparse, f"{form}_array")(X)
    expected = mutual_information(X, y, discretization=method)
    np.testing.assert_array_equal(mutual_information(sparse, y, discretization=method), expected)


def test_sparse_continuous_values() -> None:
    rng = np.random.default_rng(9)
    X = rng.exponential(1.0, (50, 30)) * (rng.random((50, 30)) < 0.3)
    y = rng.integers(0, 2, 50)
    sparse = scipy.sparse.csr_matrix(X)
    np.testing.assert_array_equal(mutual_information(sparse, y), mutual_information(X, y))
    sparse.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        mutual_information(sparse, y)


@pytest.mark.slow
def test_neighbors_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(10)
    X = rng.standard_normal((70, 5))
    y = (X[:, 0] > 0).astype(int)
    found = mutual_information(X, y, estimator="knn", n_neighbors=4, random_state=3)
    expected = mutual_info_classif(X, y, n_neighbors=4, random_state=3, discrete_features=False)
    np.testing.assert_array_equal(found, expected)
    tied = rng.integers(0, 4, (70, 5)).astype(float)  # where the noise tells
    for seed in (3, 4):
        found = mutual_information(tied, y, estimator="knn", random_state=seed)
        expected = mutual_info_classif(tied, y, random_state=seed, discrete_features=False)
        np.testing.assert_array_equal(found, expected)
    z = X[:, 1] + 0.01 * X[:, 2]
    found = mutual_information(X, z, estimator="knn", random_state=3)
    expected = mutual_info_regression(X, z, random_state=3, discrete_features=False)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match=r"belong to estimator='counts'"):
        mutual_information(X, y, estimator="knn", correction="miller_madow")
    with pytest.raises(ValueError, match=r"estimator must be 'counts' or 'knn', got 'kde'"):
        mutual_information(X, y, estimator="kde")  # type: ignore[arg-type]


def test_frames_tables_and_selectkbest() -> None:
    X, y = made(60, 6, 3)
    scores = mutual_information(X, y)
    names = list("abcdef")
    frame = pd.DataFrame(X, columns=names)
    np.testing.assert_array_equal(mutual_information(frame, y), scores)
    frame["b"] = frame["b"].map({0.0: "low", 1.0: "mid", 2.0: "top"}).astype("category")
    np.testing.assert_array_equal(mutual_information(frame, y), scores)
    table = Table(X, y, names=names)
    np.testing.assert_array_equal(mutual_information(table), scores)
    best = SelectKBest(mutual_information, k=2).fit(X, y)
    np.testing.assert_array_equal(best.scores_, scores)


def test_missing_values_may_be_a_level() -> None:
    X, y = made(60, 5, 3)
    holed = X.copy()
    holed[::7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        mutual_information(holed, y)
    filled = np.where(np.isnan(holed), 9.0, holed)
    found = mutual_information(holed, y, missing="level")
    np.testing.assert_array_equal(found, mutual_information(filled, y))


def test_real_expression_data(dataset: Callable[[str], Any]) -> None:
    X, y, _ = dataset("chowdary")
    codes, _ = discretize(X, method="mean_sd")
    some = np.linspace(0, X.shape[1] - 1, 200).astype(int)
    expected = [mutual_info_score(codes[:, j], y) for j in some]
    np.testing.assert_allclose(mutual_information(X, y)[some], expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discretization": "sturges"}, r"discretization must be one of 'auto', 'mdl'"),
        ({"correction": "james_stein"}, r"correction must be 'miller_madow', 'dirichlet' or None"),
        (
            {"prior": 0.0, "correction": "dirichlet"},
            r"number of samples in \(0, 1e\+12\]",
        ),
        ({"n_jobs": 0}, r"n_jobs must be None or a whole number other than 0"),
        ({"task": "ranking"}, r"task must be 'classification'"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    X, y = made(30, 4, 3)
    with pytest.raises(ValueError, match=message):
        mutual_information(X, y, **options)


def test_refusals_of_targets_and_conditions() -> None:
    X, y = made(30, 4, 3)
    with pytest.raises(ValueError, match="y is needed"):
        mutual_information(X)
    with pytest.raises(ValueError, match="X has 30 samples but y has 29 labels"):
        mutual_information(X, y[1:])
    with pytest.raises(ValueError, match="1 class"):
        mutual_information(X, np.zeros(30))
    with pytest.raises(ValueError, match="X has 30 samples but given has 7"):
        conditional_mutual_information(X, y, y[:7])
    with pytest.raises(ValueError, match="given must have shape"):
        conditional_mutual_information(X, y, 3)


def test_conditions_of_several_columns_and_of_numbers() -> None:
    X, y = made(120, 6, 3)
    two = X[:, :2]
    found = conditional_mutual_information(X, y, two)
    expected = [twin.conditional(c, y, two[:, 0], two[:, 1]) for c in X.T]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    z = np.random.default_rng(0).standard_normal(120)
    cut = discretize(z[:, None], method="mean_sd")[0][:, 0]
    found = conditional_mutual_information(X, y, z)
    np.testing.assert_array_equal(found, conditional_mutual_information(X, y, cut))


def test_the_estimator_of_neighbors_takes_categories() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60)
    grade = np.where(rng.random(60) < 0.8, y, 1 - y)
    frame = pd.DataFrame({"x": rng.normal(size=60), "grade": np.array(["low", "high"])[grade]})
    found = mutual_information(frame, y, estimator="knn", random_state=0)
    plain = np.column_stack([frame["x"], 1.0 - grade])  # "high" comes before "low"
    wanted = mutual_information(plain, y, estimator="knn", discrete_features=[1], random_state=0)
    np.testing.assert_array_equal(found, wanted)
    assert found[1] > 0.1


@pytest.mark.parametrize("discretization", ["auto", "equal_frequency"])
def test_a_table_of_whole_numbers_brings_its_task(discretization: Any) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 4))
    y = np.rint(100 * X[:, 2] + 20 * rng.normal(size=120))
    table = Table(X, y, task="regression")
    options = {"discretization": discretization}
    wanted = filters.mutual_information(X, y, task="regression", **options)
    np.testing.assert_array_equal(filters.mutual_information(table, **options), wanted)
    assert np.argmax(wanted) == 2
    for criterion in ("jmi", "cmim"):
        found = filters.information_selection(table, None, 2, criterion=criterion, **options)
        assert found[0] == 2
    assert filters.mrmr(table, None, 1, **options)[0] == 2
    with pytest.warns(UserWarning, match="distinct whole numbers over 120 samples"):
        filters.mutual_information(X, y, **options)


@pytest.mark.parametrize("discrete", [True, False, "auto", [0, 3]])
def test_neighbors_of_a_sparse_table(discrete: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.7, (60, 9)).astype(np.float64), rng.integers(0, 2, 60)
    options: dict[str, Any] = {"estimator": "knn", "discrete_features": discrete, "random_state": 0}
    dense = filters.mutual_information(X, y, **options)
    flags = discrete if discrete != "auto" else False
    wanted = mutual_info_classif(X, y, discrete_features=flags, random_state=0)
    np.testing.assert_allclose(dense, wanted, rtol=0, atol=1e-12)
    for form in (scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        found = filters.mutual_information(form(X), y, **options)
        np.testing.assert_array_equal(found, dense)
    # In blocks the noise that parts equal values is another; here there are none.
    monkeypatch.setattr("bitsieve.filters.information.scores._BLOCK", 240)
    X, options["discrete_features"] = rng.random((60, 9)), "auto"
    blocks = filters.mutual_information(scipy.sparse.csr_array(X), y, **options)
    np.testing.assert_allclose(blocks, filters.mutual_information(X, y, **options), rtol=1e-9)


@each("prior", [0, -1.0, 1e308, np.inf, np.nan, "much"])
def test_a_prior_that_no_entropy_can_tell_from_another_is_refused(prior: object) -> None:
    X = np.array([[0], [1], [0], [1]])
    with pytest.raises(ValueError, match=r"number of samples in \(0, 1e\+12\]"):
        entropy(X, correction="dirichlet", prior=prior)
