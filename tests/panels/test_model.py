"""A panel's predictions: votes and ties, batches, columns by name, and JSON to the bit."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from small_panels import NAMES, made, member, table
from threadpoolctl import threadpool_limits

from bitsieve.data import Table
from bitsieve.panels import Calibration, Member, Panel, Scaling, predicted_codes
from bitsieve.panels.calibration import smoothed_shares
from bitsieve.panels.rules import LinearRule, NeighborsRule

IDENTITY = Scaling(None, np.zeros(1), np.ones(1))


def fixed(*functions):
    """A member of one feature whose decisions are given for x = 0, with probabilities of them."""
    rule = LinearRule(np.zeros((len(functions), 1)), np.array(functions, dtype=float))
    offset = np.zeros(len(functions))
    return Member(np.array([0]), IDENTITY, "lda", rule, Calibration(1.0, offset), "f")


def test_members_decide_as_the_classifiers_did():
    for count in (2, 3):
        X, codes = table(count=count)
        for name in ("lda", "svm", "ridge", "knn"):
            for log in ("always", "never"):
                one, expected = member(X, codes, count, [3, 9, 1, 39, 20], name, log)
                panel = Panel.of([one], np.arange(count), 40)
                np.testing.assert_allclose(panel.decide(X, one), expected, rtol=1e-9, atol=1e-9)
                assert panel.votes(X).argmax(axis=1).tolist() == predicted_codes(expected).tolist()
                np.testing.assert_allclose(
                    panel.predict_proba(X), one.calibration.apply(expected), atol=1e-9
                )
                assert (panel.predict_proba(X).argmax(axis=1) == panel.predict(X)).all()
                assert (one.size, one.log) == (5, log == "always")


def test_votes_and_ties():
    x = np.zeros((1, 1))

    def said(*members):
        panel = Panel.of(members, np.array(list("abc")), 1)
        return panel.predict(x)[0], panel.votes(x)[0].tolist(), panel.predict_proba(x)[0]

    a, b, surely_b, c = fixed(1, 0, 0), fixed(0, 1, 0), fixed(0, 5, 0), fixed(0, 0, 9)
    assert said(a, a, c)[:2] == ("c", [2 / 3, 0, 1 / 3])  # the mean probability, not the votes
    assert said(a, surely_b)[:2] == ("b", [0.5, 0.5, 0])
    assert said(a, b)[0] == "a"  # then the lower
    assert said(fixed(1, 1, 0))[0] == "a"
    expected = np.mean([np.exp(s) / np.exp(s).sum() for s in np.array([[1, 0, 0], [0, 5, 0]])], 0)
    np.testing.assert_allclose(said(a, surely_b)[2], expected)
    two = Panel.of([fixed(2.0), fixed(-1.0)], np.array([False, True]), 1)
    assert two.predict(x).tolist() == [True]
    assert two.votes(x).tolist() == [[0.5, 0.5]]
    assert Panel.of([fixed(0.0)], np.array([5, 7]), 1).predict(x).tolist() == [5]
    # A single member is overruled by its probabilities: predict and predict_proba agree.
    shifted = Member(np.array([0]), IDENTITY, "lda", fixed(1.0).rule,
                     Calibration(1.0, np.array([-9.0])), "f")  # fmt: skip
    assert Panel.of([shifted], np.array(["a", "b"]), 1).predict(x).tolist() == ["a"]


def test_a_sample_is_the_same_in_any_batch():
    for count in (2, 4):
        panel, X = made(count)
        whole = panel.outcome(X)
        for batch in (1, 3, 16):
            for start in range(0, len(X), batch):
                rows = slice(start, start + batch)
                part = panel.outcome(np.asfortranarray(X[rows]))
                assert (part.probabilities == whole.probabilities[rows]).all()
                assert (part.predicted == whole.predicted[rows]).all()
                for one in panel.members:
                    assert (panel.decide(X[rows], one) == panel.decide(X, one)[rows]).all()


def test_blas_has_no_part_in_predictions():
    X, codes = table(n=64)
    for name in ("lda", "knn"):
        one, _ = member(X, codes, 2, np.arange(40), name)
        panel, found = Panel.of([one], np.array([0, 1]), 40), []
        for threads in (1, 2):
            with threadpool_limits(threads):
                found.append(panel.outcome(X).probabilities)
        assert (found[0] == found[1]).all()


def test_wide_rules_are_the_same_in_any_batch():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(37, 7001))
    linear = LinearRule(rng.normal(size=(3, 7001)), rng.normal(size=3))
    near = NeighborsRule(rng.normal(size=(30, 7001)), rng.integers(0, 3, 30), 3, 5)
    np.testing.assert_allclose(linear.decide(Z), Z @ linear.coefficients.T + linear.intercept)
    for rule in (linear, near):
        whole = rule.decide(Z)
        parts = np.vstack([rule.decide(Z[i : i + 5]) for i in range(0, 37, 5)])
        assert (whole == parts).all()


def test_json_gives_the_same_numbers_to_the_bit(tmp_path):
    labels = [None, np.array([3, -7]), np.array([0.5, 1e-300]), np.array([False, True]),
              np.array(["naïve, \"B\"", "=1+1"], dtype=object)]  # fmt: skip
    for count, classes in [*((2, one) for one in labels), (4, None)]:
        for names in (NAMES, None):
            panel, X = made(count, classes, names)
            text = panel.to_json()
            again = Panel.from_json(text)
            assert again.to_json() == text
            ours, theirs = panel.outcome(X), again.outcome(X)
            assert (ours.probabilities == theirs.probabilities).all()
            assert (ours.votes == theirs.votes).all()
            assert ours.predicted.tolist() == theirs.predicted.tolist()
            assert (again.support == panel.support).all()
            assert again.feature_names == panel.feature_names
            for one, other in zip(panel.members, again.members, strict=True):
                assert (panel.decide(X, one) == again.decide(X, other)).all()
                assert (one.size, one.log, one.selector, one.classifier) == (
                    other.size, other.log, other.selector, other.classifier
                )  # fmt: skip
    path = panel.save(tmp_path / "panel.json")
    assert Panel.load(path).to_json() == text
    assert json.loads(path.read_text())["schema"] == 1
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"panel\.json: the panel must have the field 'format'"):
        Panel.load(path)


def test_float32_is_taken_as_its_float64():
    panel, X = made()
    small = X.astype(np.float32)
    expected = panel.outcome(small.astype(np.float64)).probabilities
    frame = pd.DataFrame(small, columns=NAMES)
    for given in (small, np.asfortranarray(small), frame, Table(small, names=NAMES)):
        assert (panel.outcome(given).probabilities == expected).all()


def test_columns_by_name():
    panel, X = made()
    expected = panel.predict_proba(X)
    order = np.random.default_rng(0).permutation(40)
    frame = pd.DataFrame(X[:, order], columns=np.array(NAMES)[order]).assign(other=1.0)
    assert (panel.predict_proba(frame) == expected).all()
    assert (panel.predict_proba(Table(frame)) == expected).all()
    assert (panel.predict_proba(pd.DataFrame(X)) == expected).all()  # only numbered: by place
    used = panel.restricted()
    assert used.n_features_in == panel.n_features == len(panel.feature_names) == 35
    assert (used.predict_proba(X[:, panel.columns]) == expected).all()
    assert (used.predict_proba(frame) == expected).all()
    assert [NAMES[j] for j in panel.columns] == list(panel.feature_names)
    assert panel.support.sum() == panel.n_features
    assert repr(panel) == "Panel(5 members, 35 of 40 features, classes 'class 0', 'class 1')"
    # What is not needed may be anything.
    X[:, ~panel.support] = np.nan
    assert (panel.predict_proba(X) == expected).all()
    lost = frame.drop(columns=[panel.feature_names[0], panel.feature_names[4]])
    said = f"X lacks 2 features of the panel: '{panel.feature_names[0]}'"
    with pytest.raises(ValueError, match=said):
        panel.predict(lost)
    twice = pd.concat([frame, frame[[panel.feature_names[3]]]], axis=1)
    said = f"X has 1 feature of the panel more than once: '{panel.feature_names[3]}'; leave all"
    with pytest.raises(ValueError, match=said):
        panel.predict(twice)


def test_missing_features_stand_at_their_centre():
    panel, X = made(3)
    missing = np.zeros(40, dtype=bool)
    missing[panel.members[0].features[:2]] = True
    spoilt = X.copy()
    spoilt[:, missing] = np.nan
    found = panel.outcome(spoilt, missing=missing)
    frame = pd.DataFrame(X, columns=NAMES).loc[:, ~missing]
    assert (panel.outcome(frame, missing=missing).probabilities == found.probabilities).all()
    first = panel.members[0]
    alone = Panel.of([first], panel.classes, 40, NAMES)
    Z = first.scaling.apply(X[:, first.features])
    Z[:, :2] = 0
    expected = first.calibration.apply(first.rule.decide(Z))
    assert (alone.outcome(spoilt, missing=missing).probabilities == expected).all()


def test_far_values_are_cut():
    panel, X = made()
    X[0], X[1] = 1e308, -1e308
    found = panel.outcome(X)
    assert np.isfinite(found.probabilities).all()
    for one in panel.members:
        assert np.abs(one.scaling.apply(X[:2][:, one.features])).max() <= Scaling.CLIP


def test_messages():
    panel, X = made()
    for bad in (X[:, :39], np.hstack([X, X[:, :1]])):
        with pytest.raises(ValueError, match="X must have the 40 features that the panel was fit"):
            panel.predict(bad)
    for bad in (X[0], X.astype(str), X[None]):
        with pytest.raises(ValueError, match="X must be a table of numbers"):
            panel.predict(bad)
    for bad in (np.nan, np.inf):
        Y = X.copy()
        Y[3, panel.columns[2]] = bad
        said = rf"but 1 column \('{panel.feature_names[2]}'\) holds missing or infinite values"
        with pytest.raises(ValueError, match=said):
            panel.predict(Y)
    nameless = Panel.of(panel.members, panel.classes, 40)
    with pytest.raises(ValueError, match=rf"1 column \(number {panel.columns[2]}\) holds missing"):
        nameless.predict(Y)
    mixed = Panel.of(panel.members, np.array(["a", 1], dtype=object), 40)
    with pytest.raises(ValueError, match="classes must be all text, all whole numbers"):
        mixed.to_json()
    rule = LinearRule(np.full((1, 1), 1e308), np.zeros(1))
    great = Member(np.array([0]), IDENTITY, "lda", rule, Calibration(1.0, np.zeros(1)), "f")
    with pytest.raises(ValueError, match="coefficients are too large to decide with"):
        Panel.of([great], np.array(["a", "b"]), 1).predict(np.full((1, 1), 9.0))


def test_where_nothing_is_learnt_the_largest_class_is_predicted():
    for counts in ([28, 2], [2, 28], [5, 40, 3]):
        codes = np.repeat(np.arange(len(counts)), counts)
        functions = 1 if len(counts) == 2 else len(counts)
        flat = Calibration.fit(np.zeros((len(codes), functions)), codes, len(counts))
        one = fixed(*np.linspace(-1.0, 1.0, functions))
        blind = Member(one.features, one.scaling, one.classifier, one.rule, flat, one.selector)
        shares = smoothed_shares(codes, len(counts))
        panel = Panel.of([blind, blind], np.arange(len(counts)), 1, thresholds=shares)
        x = np.random.default_rng(0).normal(size=(9, 1))
        assert (panel.predict(x) == int(np.argmax(counts))).all()
        np.testing.assert_allclose(panel.predict_proba(x), np.tile(shares, (9, 1)))
