"""mRMR beside other packages: equal where they follow the papers, and their faults are not ours.

Measured faults: one level a value for continuous columns, so that the first columns win
(fast-select); places in the ranking returned for features (scikit-feature); F minus the signed
correlation (dataclr); nothing returned for text labels (mrmrs); numbers of numpy and text labels of
pandas refused (fast-select); copies ranked before an independent feature (mrmr-selection, mrmrs).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import twin_information as twin
from sklearn.feature_selection import f_classif

from bitsieve.filters import discretize, mrmr


def made(n: int = 100, p: int = 120, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, p))
    X[:, 50:60] += y[:, None] * rng.random(10) + rng.standard_normal((n, 1))
    return np.ascontiguousarray(X), y


def test_continuous_columns_do_not_win_for_coming_first() -> None:
    X, y = made()
    for criterion in ("MID", "MIQ"):
        order = mrmr(X, y, 10, criterion=criterion)
        assert order.tolist() != list(range(10))
        codes, _ = discretize(X, method="mean_sd")
        expected, _ = twin.selection(codes, y, 10, criterion.lower())
        assert order.tolist() == expected
        assert 50 <= order[0] < 60


def test_indices_are_those_of_features() -> None:
    X, y = made(seed=1)
    strong = np.column_stack([X, y + 0.1 * np.random.default_rng(0).standard_normal(100)])
    for criterion in ("MID", "MIQ", "FCD", "FCQ"):
        assert mrmr(strong, y, 5, criterion=criterion)[0] == 120


def test_mid_is_no_mifs_and_repeats_itself() -> None:
    X, y = made(seed=2)
    codes, _ = discretize(X, method="mean_sd")
    order = mrmr(codes, y)
    expected, _ = twin.selection(codes[:, :], y, 6, "mid")
    assert order[:6].tolist() == expected
    np.testing.assert_array_equal(mrmr(codes, y), order)


def test_labels_of_every_type() -> None:
    X, y = made(seed=3)
    expected = mrmr(X, y, 8)
    text = np.array(["benign", "malign"])[y]
    labels = (
        text,
        text.astype(object),
        text.tolist(),
        pd.Series(text),
        pd.Series(text, dtype="string"),
        pd.Series(text, dtype="category"),
        y.astype(bool),
        y.astype(float),
        y.astype(np.uint8) + 7,
    )
    for criterion in ("MID", "FCQ"):
        expected = mrmr(X, y, 8, criterion=criterion)
        for given in labels:
            np.testing.assert_array_equal(mrmr(X, given, 8, criterion=criterion), expected)


def test_numbers_of_numpy_and_float32() -> None:
    X, y = made(seed=4)
    X = X.astype(np.float32)
    for criterion in ("MID", "FCQ"):
        expected = mrmr(X.astype(np.float64), y, 6, criterion=criterion)
        for n in (np.int64(6), np.int32(6), np.uint8(6)):
            np.testing.assert_array_equal(mrmr(X, y, n, criterion=criterion), expected)


def test_copies_of_the_first_feature_wait() -> None:
    X, y = made(seed=5)
    best = int(f_classif(X, y)[0].argmax())
    X = np.column_stack([X, X[:, best], X[:, best], 2 * X[:, best]])
    order = mrmr(X, y, criterion="FCQ").tolist()
    assert sorted(order[-3:]) != sorted(order[:3])
    assert {best, 120, 121, 122} >= set(order[-3:])


def test_no_warning_filter_is_touched() -> None:
    X, y = made(seed=6)
    before = list(warnings.filters)
    mrmr(X, y, 3, criterion="FCQ")
    assert list(warnings.filters) == before


def test_fcq_is_that_of_mrmr_selection() -> None:
    with warnings.catch_warnings():  # importing it silences all warnings
        rival = pytest.importorskip("mrmr")
        X, y = made(80, 70, seed=7)
        frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(70)])
        for relevance in ("f", "ks"):
            names = rival.mrmr_classif(
                frame, pd.Series(y), K=15, relevance=relevance, show_progress=False, n_jobs=1
            )
            order = mrmr(X, y, 15, criterion="FCQ", relevance=relevance)
            assert [f"f{j}" for j in order] == names


def test_fcq_is_that_of_mrmrs() -> None:
    rival, polars = pytest.importorskip("mrmrs"), pytest.importorskip("polars")
    X, y = made(80, 70, seed=8)
    frame = polars.DataFrame({f"f{j}": X[:, j] for j in range(70)})
    found = rival.mrmr(frame, polars.Series("y", y), 20, "classification")
    order, scores = mrmr(X, y, 20, criterion="FCQ", return_scores=True)
    assert [feature.name for feature in found] == [f"f{j}" for j in order]
    # It divides the sum of k correlations by k + 1, which changes no order.
    k = np.arange(1, 20)
    values = np.array([feature.score for feature in found[1:]]) * k / (k + 1)
    np.testing.assert_allclose(values, scores[1:], rtol=1e-6)


def test_mid_and_miq_are_those_of_fast_select() -> None:
    rival = pytest.importorskip("fast_select")
    X, y = made(90, 70, seed=9)
    codes, _ = discretize(X, method="mean_sd")
    for criterion in ("MID", "MIQ"):
        model = rival.mRMR(n_features_to_select=12, method=criterion, backend="cpu")
        model.fit(codes.astype(np.float32), y)
        order = mrmr(codes, y, 12, criterion=criterion)
        np.testing.assert_array_equal(model.top_features_, order)
