"""A fixed panel on a table from elsewhere: the numbers, held to scikit-learn's and to formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, roc_auc_score
from small_panels import NAMES, made, table

from bitsieve.data import Table
from bitsieve.evaluation import external_result


def test_numbers():
    for count in (2, 3):
        panel, _ = made(count)
        X, codes = table(seed=7, count=count)
        truth = panel.classes[codes]
        found = external_result(panel, Table(X, truth, names=NAMES), scoring="balanced_accuracy")
        predicted = panel.predict(X)
        assert (found.confusion == confusion_matrix(truth, predicted)).all()
        assert found.accuracy == pytest.approx(accuracy_score(truth, predicted))
        assert found.score == pytest.approx(balanced_accuracy_score(truth, predicted))
        right = int((truth == predicted).sum())
        exact = binomtest(right, 50).proportion_ci(0.95, "exact")
        assert tuple(found.accuracy_interval) == pytest.approx((exact.low, exact.high))
        assert found.interval.low < found.score <= found.interval.high
        assert found.interval.low >= 0
        assert found.interval.high <= 1
        if count == 2:
            expected = roc_auc_score(codes, panel.predict_proba(X)[:, 1])
            assert found.auc == pytest.approx(expected)
            assert found.auc in found.auc_interval
        else:
            assert np.isnan(found.auc)
        record = found.as_dict()
        assert record["score"] == found.score
        assert record["n_samples"] == 50
        said = found.sentences()
        assert said[0].startswith(f"Error on 50 samples: "
                                  f"{100 - 2 * right:.1f} % (95 % interval ")  # fmt: skip
        assert said[1].startswith("Balanced error: ")
        plain = external_result(panel, Table(X, truth, names=NAMES))
        assert (plain.score, plain.interval) == (found.accuracy, found.accuracy_interval)


def test_labels_of_another_type():
    panel, X = made(2, np.array([1, 2]))
    codes = table(count=2)[1]
    expected = external_result(panel, Table(X, codes + 1, names=NAMES)).confusion
    for labels in ((codes + 1).astype(str), (codes + 1).astype(float)):
        found = external_result(panel, Table(X, labels, names=NAMES))
        assert (found.confusion == expected).all()


def test_one_class_and_one_sample():
    panel, X = made(2)
    for rows in (slice(0, 1), slice(0, 9)):
        labels = np.repeat(panel.classes[:1], len(X[rows]))
        found = external_result(panel, Table(X[rows], labels, names=NAMES, to_predict=True))
        assert found.recall_intervals[1] is None
        assert np.isnan(found.recalls[1])
        assert found.score == found.recalls[0]
        assert np.isnan(found.auc)
        assert len(found.sentences()) == 2


def test_messages():
    panel, X = made(2)
    with pytest.raises(ValueError, match="the classes of the samples are needed"):
        external_result(panel, Table(X, names=NAMES))
    labels = ["class 0", "a", "b", *["class 1"] * 47]
    with pytest.raises(ValueError, match="classes that the panel does not know: 'a', 'b'; it kno"):
        external_result(panel, Table(X, labels, names=NAMES))
    truth = panel.classes[table(count=2)[1]]
    with pytest.raises(ValueError, match="the table has no feature names, so columns are taken"):
        external_result(panel, Table(X[:, :30], truth))
    with pytest.raises(ValueError, match="scoring must be 'accuracy' or 'balanced_accuracy', got"):
        external_result(panel, Table(X, truth, names=NAMES), scoring="roc_auc")
