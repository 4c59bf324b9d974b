"""predictions.csv: what the outer folds said of each sample."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from bitsieve.evaluation import Predictions
from bitsieve.report import prediction_rows, write_predictions_csv


def _predictions(**changed: object) -> Predictions:
    fields: dict[str, object] = {
        "sample": np.array([2, 0, 1, 0]),
        "fold": np.array([0, 0, 1, 2]),
        "truth": np.array(["yes", "no, never", "no, never", "no, never"]),
        "predicted": np.array(["yes", "yes", "no, never", "no, never"]),
        "full_predicted": np.array(["yes"] * 4),
        "outputs": np.array([[0.1, 0.9], [0.3, 0.7], [1.0, np.nan], [2 / 3, 1 / 3]]),
        "responses": ("predict_proba", "decision_function", "predict_proba"),
        "classes": np.array(["no, never", "yes"]),
    }
    return Predictions(**{**fields, **changed})  # type: ignore[arg-type]


def test_a_row_a_sample_and_fold(tmp_path: Path) -> None:
    names = ["first", "a\nb", "third"]
    path = write_predictions_csv(tmp_path / "p.csv", _predictions(), names)
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["sample"], row["fold"]) for row in rows] == [
        ("0", "0"),
        ("0", "2"),
        ("1", "1"),
        ("2", "0"),
    ]
    assert rows[0]["name"] == "first"
    assert rows[1]["truth"] == rows[1]["predicted"] == "no, never"
    assert float(rows[1]["score_no, never"]) == 2 / 3
    assert rows[2]["score_yes"] == ""
    assert rows[2]["output"] == "decision_function"
    assert rows[3]["full_set_predicted"] == "yes"


def test_without_names_and_outputs() -> None:
    numbers = np.array([0.1, 1e-300, 3.0, 2.0])
    header, rows = prediction_rows(
        _predictions(
            truth=numbers, predicted=numbers, full_predicted=numbers, outputs=None, classes=None
        )
    )
    assert header == ["sample", "fold", "truth", "predicted", "full_set_predicted"]
    assert rows[0] == [0, 0, 1e-300, 1e-300, 1e-300]
