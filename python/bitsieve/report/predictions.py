"""The table of out-of-fold predictions: what each outer fold said of the samples it tested."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bitsieve.report.cells import write_csv

if TYPE_CHECKING:
    from bitsieve.evaluation.predictions import Predictions

__all__ = ["prediction_rows", "write_predictions_csv"]


def prediction_rows(
    predictions: Predictions, names: Sequence[str] | None = None
) -> tuple[list[str], list[list[object]]]:
    """Return a header and one row a prediction, by sample, then by fold.

    Parameters
    ----------
    predictions : Predictions
    names : sequence of n_samples str or None
        Names of the samples.

    Returns
    -------
    header : list of str
        ``sample`` (position from 0), ``name`` where there are names, ``fold`` (from 0),
        ``truth``, ``predicted``, ``full_set_predicted`` where there is one, and where there are
        outputs ``output`` (predict_proba or decision_function) and ``score_CLASS`` for each class.
    rows : list of list
        A decision value that a fold does not have is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.evaluation import Predictions
    >>> from bitsieve.report import prediction_rows
    >>> found = Predictions(
    ...     sample=np.array([1, 0]), fold=np.array([0, 1]), truth=np.array(["b", "a"]),
    ...     predicted=np.array(["b", "b"]), full_predicted=np.array(["b", "a"]),
    ...     outputs=np.array([[0.25, 0.75], [0.5, 0.5]]), responses=("predict_proba",) * 2,
    ...     classes=np.array(["a", "b"]))
    >>> header, rows = prediction_rows(found)
    >>> header[4:]
    ['full_set_predicted', 'output', 'score_a', 'score_b']
    >>> rows[0]
    [0, 1, 'a', 'b', 'a', 'predict_proba', 0.5, 0.5]
    """
    outputs, classes = predictions.outputs, predictions.classes
    header = ["sample", *([] if names is None else ["name"]), "fold", "truth", "predicted"]
    told = [predictions.truth, predictions.predicted]
    if predictions.full_predicted is not None:
        told.append(predictions.full_predicted)
        header.append("full_set_predicted")
    if outputs is not None and classes is not None:
        header += ["output", *(f"score_{one}" for one in classes)]
    rows = []
    for i in np.lexsort((predictions.fold, predictions.sample)):
        sample, fold = int(predictions.sample[i]), int(predictions.fold[i])
        row: list[object] = [sample, *([] if names is None else [str(names[sample])]), fold]
        for values in told:
            row.append(_value(values[i]))
        if outputs is not None:
            row.append(predictions.responses[fold])
            row += ["" if np.isnan(value) else float(value) for value in outputs[i]]
        rows.append(row)
    return header, rows


def write_predictions_csv(
    path: str | os.PathLike[str], predictions: Predictions, names: Sequence[str] | None = None
) -> Path:
    """Write :func:`prediction_rows` as a CSV file (UTF-8, a header, quoted where needed).

    Names are written as :func:`bitsieve.report.cells.cell` says, so that none is a formula.

    Parameters
    ----------
    path : path-like
        The file; written atomically.
    predictions, names
        As in :func:`prediction_rows`.

    Returns
    -------
    pathlib.Path
        The path written.

    Raises
    ------
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.evaluation import nested_cross_validate
    >>> from bitsieve.report import write_predictions_csv
    >>> X, y = load_iris(return_X_y=True)
    >>> result = nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_predictions_csv(f"{folder}/predictions.csv", result.predictions)
    ...     print(*path.read_text(encoding="utf-8").splitlines()[:2], sep="\\n")
    sample,fold,truth,predicted,full_set_predicted
    0,0,0,0,0
    """
    header, rows = prediction_rows(predictions, names)
    return write_csv(path, header, rows)


def _value(value: object) -> object:
    """Return a target as it is written: a number as it is, anything else as a name."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (int, float)) else str(value)
