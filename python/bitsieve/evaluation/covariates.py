"""What is known of the samples besides the features: how well it predicts, and by group.

::

    covariates (batch, site, age ...), y
        |-- check_covariates         do they tell the classes apart at all?
        |-- covariates_alone         what they predict in given folds
        '-- covariates_alternative   the same, beside a selection that was measured there
    predictions, groups -- group_performance   a row a group, such as a site
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_number, key_of
from bitsieve._errors import plural, shorten
from bitsieve.data.groups import group_codes
from bitsieve.evaluation.alternatives import Alternative
from bitsieve.evaluation.folds import Folds, outer_folds
from bitsieve.evaluation.interval import Interval, binomial_interval
from bitsieve.evaluation.performance import class_performance
from bitsieve.evaluation.predictions import FoldOutputs, Predictions, put_together, score_of
from bitsieve.evaluation.result import NestedResult
from bitsieve.evaluation.scored import ScoredFolds

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CovariateCheck",
    "GroupRow",
    "check_covariates",
    "covariates_alone",
    "covariates_alternative",
    "expected_half_width",
    "group_performance",
]

#: Whole numbers of so few levels name something, as batches 1, 2 and 3 do.
_LEVELS = 10
#: Groups that are no repeated samples, but may be confounded with the classes themselves.
_SITES = 10
_N_ROUNDS = 3
_N_FOLDS = 5


def covariates_alone(covariates: pd.DataFrame, y: ArrayLike, folds: Folds) -> Predictions:
    """Predict classes from covariates alone, in each fold from its training part.

    A logistic regression (C = 1) on standardised numbers, missing ones at their median, and an
    indicator for each level of what is text or has at most 10 whole numbers.

    Parameters
    ----------
    covariates : DataFrame of shape (n_samples, n_covariates)
        Numbers, text or categories; values may be missing.
    y : array-like of shape (n_samples,)
        Class labels.
    folds : list of (train, test)
        Positions of samples, such as :attr:`NestedResult.folds`.

    Returns
    -------
    Predictions
        Row by row those of a selection that was measured in the same folds.

    Raises
    ------
    ValueError
        If there is no covariate, the lengths differ, or a training part holds one class.

    Examples
    --------
    >>> import pandas as pd
    >>> batch = pd.DataFrame({"batch": ["a", "a", "b", "b", "a", "b"]})
    >>> folds = [([0, 1, 2, 3], [4, 5])]
    >>> covariates_alone(batch, [0, 0, 1, 1, 0, 1], folds).predicted
    array([0, 1])
    """
    return _predicted(covariates, np.asarray(y), folds, None)[0]


def covariates_alternative(
    result: NestedResult, covariates: pd.DataFrame, y: ArrayLike
) -> Alternative:
    """Score covariates alone on the outer folds of a selection, and compare the two.

    Parameters
    ----------
    result : NestedResult
        Of a classifier, scored by a scorer that scikit-learn knows by its name.
    covariates, y
        As in :func:`covariates_alone`; the samples of `result`.

    Returns
    -------
    Alternative
        Named "covariates"; it needs none of the features.

    Raises
    ------
    ValueError
        As :func:`covariates_alone`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from bitsieve.evaluation import covariates_alternative, nested_cross_validate
    >>> y = np.arange(40) % 2
    >>> X = np.random.default_rng(0).normal(size=(40, 5))
    >>> result = nested_cross_validate(SelectKBest(k=1), GaussianNB(), X, y, scoring="accuracy")
    >>> alone = covariates_alternative(result, pd.DataFrame({"batch": y}), y)
    >>> alone.score, alone.comparison
    (1.0, 'alternative')
    """
    from sklearn.metrics import get_scorer

    if result.predictions is None:
        raise ValueError("covariates are compared by predictions, and the result has none")
    scorer = get_scorer(result.scoring)
    predictions, scores = _predicted(covariates, np.asarray(y), result.folds, scorer)
    scored = ScoredFolds(
        result.folds,
        result.predictions,
        scorer,
        result.scoring,
        groups=result.groups,
        level=result.level,
    )
    chance = result.chance_score
    own = scored.of(predictions)
    return Alternative(
        name="covariates",
        scores=scores,
        predictions=predictions,
        n_features=np.zeros(len(scores), dtype=np.int64),
        difference=float((result.scores - scores).mean()),
        interval=scored.difference(result.scores, scores, predictions.predicted, chance=chance),
        standard_error=scored.standard_error(result.scores - scores),
        own_interval=own.interval(scores, chance=chance, random_state=result.random_state),
    )


@dataclass(frozen=True)
class CovariateCheck:
    """How well covariates alone tell the classes apart.

    Attributes
    ----------
    names : tuple of str
        The columns.
    score : float
        Balanced accuracy of 3 x 5 folds, or fewer where a class has under 5 samples.
    interval : Interval
        Of the score, 95 %.
    chance : float
        One over the number of classes.
    """

    names: tuple[str, ...]
    score: float
    interval: Interval
    chance: float

    @property
    def is_clear(self) -> bool:
        """Whether they predict the classes better than chance, as the interval says."""
        return self.interval.low > self.chance

    def text(self) -> str:
        """Return one sentence."""
        said = f"{shorten(self.names)} alone"
        one = len(self.names) == 1
        low, high = (100 * end for end in self.interval)
        numbers = (
            f"balanced accuracy {100 * self.score:.0f} % (95 % interval {low:.0f} to {high:.0f} %, "
            f"chance {100 * self.chance:.0f} %)"
        )
        if not self.is_clear:
            shown = "is not shown" if one else "are not shown"
            return f"{said} {shown} to predict the classes: {numbers}"
        return (
            f"{said} {'predicts' if one else 'predict'} the classes: {numbers}; features may tell "
            "that apart and not the classes, so compare the panel with the covariates alone, and "
            "test it on samples where the two differ"
        )


def check_covariates(
    covariates: pd.DataFrame,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    random_state: Any = 0,
) -> CovariateCheck:
    """Tell whether covariates, such as the batch, predict the classes better than chance.

    Parameters
    ----------
    covariates, y
        As in :func:`covariates_alone`.
    groups : array-like of shape (n_samples,), optional
        Samples that belong together; folds keep them together. But not up to 10 groups, such as
        sites: what differs between those is what is looked for, and a site that was left out has
        levels that are new.
    random_state : int, numpy Generator or RandomState, or None, default 0
        Of the folds.

    Returns
    -------
    CovariateCheck

    Raises
    ------
    ValueError
        As :func:`covariates_alone`; also where a class has one sample.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> y = np.arange(60) % 2
    >>> batch = pd.DataFrame({"batch": np.where(np.arange(60) < 6, 1 - y, y)})
    >>> found = check_covariates(batch, y)
    >>> round(found.score, 2), found.is_clear
    (0.9, True)
    """
    labels = np.asarray(y)
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"covariates cannot be checked: the class {str(classes[counts.argmin()])!r} has one "
            "sample; leave it out, or merge it with another"
        )
    n_folds = int(max(2, min(_N_FOLDS, counts.min())))
    members = None if groups is None else group_codes(groups, len(labels))
    if members is not None and len(np.unique(members)) <= _SITES:
        members = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small classes is warned of elsewhere
        folds = outer_folds(
            n_folds,
            covariates,
            labels,
            members,
            is_classifier=True,
            n_repeats=_N_ROUNDS,
            key=key_of(random_state),
        )
    predictions, _ = _predicted(covariates, labels, folds, None, balanced=True)
    found = class_performance(predictions, folds, groups=members).balanced_accuracy
    names = tuple(str(name) for name in covariates.columns)
    return CovariateCheck(names, found.value, found.interval, 1 / len(classes))


class GroupRow(NamedTuple):
    """Out-of-fold predictions of the samples of one group.

    Attributes
    ----------
    name : object
        The group.
    n : int
        Its samples that were predicted.
    counts : dict
        How many of them are of each class.
    error : float
        Share of wrong predictions, each sample counted once.
    interval : Interval
        Exact interval of the error, samples taken as independent.
    """

    name: Any
    n: int
    counts: dict[Any, int]
    error: float
    interval: Interval


def group_performance(
    predictions: Predictions, groups: ArrayLike, *, level: float = 0.95
) -> tuple[GroupRow, ...]:
    """Return the error in each group, such as each site of a study.

    Where the outer folds leave out one group at a time (``LeaveOneGroupOut``), a row tells how the
    panel does in a group that it has not seen.

    Parameters
    ----------
    predictions : Predictions
        Of a classifier.
    groups : array-like of shape (n_samples,)
        Names, one for each sample of the table.
    level : float, default 0.95
        Of the intervals.

    Returns
    -------
    tuple of GroupRow
        In the order of the names; where they have none, as they first come.

    Raises
    ------
    ValueError
        If there is not a group for every sample.

    Examples
    --------
    >>> import pandas as pd
    >>> y, folds = [0, 0, 1, 1, 0, 1], [([0, 1, 2, 3], [4, 5])]
    >>> found = covariates_alone(pd.DataFrame({"batch": list("aabbaa")}), y, folds)
    >>> for row in group_performance(found, ["x", "x", "x", "x", "y", "z"]):
    ...     print(row.name, row.n, row.counts, row.error)
    y 1 {0: 1} 0.0
    z 1 {1: 1} 1.0
    """
    check_number("level", level, 0, 1, hint="0.95 asks for a 95 % interval")
    names: list[Any] = np.asarray(groups).tolist()
    codes = group_codes(groups, len(names))
    most = int(predictions.sample.max(initial=-1))
    if most >= len(names):
        raise ValueError(
            f"groups must have one value a sample: {len(names)} came, but sample {most} (counted "
            "from 0) was predicted"
        )
    samples, first, row = np.unique(predictions.sample, return_index=True, return_inverse=True)
    wrong = np.bincount(row, predictions.predicted != predictions.truth) / np.bincount(row)
    truth = predictions.truth[first]
    rows = []
    for code in np.unique(codes[samples]):
        inside = codes[samples] == code
        n, n_wrong = int(inside.sum()), float(wrong[inside].sum())
        classes, counts = np.unique(truth[inside], return_counts=True)
        rows.append(
            GroupRow(
                names[int(np.argmax(codes == code))],
                n,
                dict(zip(classes.tolist(), counts.tolist(), strict=True)),
                n_wrong / n,
                binomial_interval(n_wrong, n, level=level),
            )
        )
    return tuple(rows)


def expected_half_width(n_samples: float, *, share: float = 0.8, level: float = 0.95) -> float:
    """Return half the width of the exact interval that so many test samples will give.

    Parameters
    ----------
    n_samples : float
        Of a class, for its sensitivity; all, for the accuracy.
    share : float, default 0.8
        Of right predictions, as may be expected beforehand.
    level : float, default 0.95

    Returns
    -------
    float
        Of Clopper and Pearson's interval.

    Examples
    --------
    >>> round(expected_half_width(12), 2), round(expected_half_width(100), 2)
    (0.24, 0.08)
    """
    low, high = binomial_interval(share * n_samples, n_samples, level=level)
    return (high - low) / 2


def _predicted(
    covariates: pd.DataFrame,
    y: NDArray[Any],
    folds: Folds,
    scorer: Any,
    *,
    balanced: bool = False,
) -> tuple[Predictions, NDArray[np.float64]]:
    """Predictions of all folds, and their scores where there is a scorer."""
    if covariates.shape[1] == 0:
        raise ValueError("covariates must have a column or more, got none")
    if len(covariates) != len(y):
        raise ValueError(
            f"covariates have {plural(len(covariates), 'row')}, but y has "
            f"{plural(len(y), 'label')}; there must be one row a sample"
        )
    for j, name in enumerate(covariates.columns):
        column = covariates.iloc[:, j]
        if column.dtype.kind == "f":
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            if np.isinf(values).any():
                raise ValueError(
                    f"covariate {str(name)!r} holds infinite values: clip them, or mark them as "
                    "missing"
                )
    outputs, scores = [], np.full(len(folds), math.nan)
    for fold, (train, test) in enumerate(folds):
        known, new = covariates.iloc[train], covariates.iloc[test]
        if len(np.unique(y[train])) < 2:
            raise ValueError(f"split {fold} trains on samples of one class: lower the folds")
        model = _model(known, balanced).fit(_plain(known), y[train])
        table = _plain(new)
        classes = np.asarray(model.classes_)
        outputs.append(
            FoldOutputs(
                np.asarray(model.predict(table)),
                "predict_proba",
                np.asarray(model.predict_proba(table), dtype=np.float64),
                classes,
            )
        )
        if scorer is not None:
            scores[fold] = score_of(scorer, model, outputs[-1], table, y[test])
    told = put_together(y, folds, outputs, [None] * len(folds), is_classifier=True)
    return told, scores


def _model(known: pd.DataFrame, balanced: bool) -> Any:
    """An unfitted pipeline that suits the columns of a training part."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [j for j in range(known.shape[1]) if _is_number(known.iloc[:, j])]
    levels = [j for j in range(known.shape[1]) if j not in numbers]
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    table = ColumnTransformer(
        [
            ("numbers", make_pipeline(filled, StandardScaler()), numbers),
            ("levels", OneHotEncoder(handle_unknown="ignore", sparse_output=False), levels),
        ]
    )
    weight = "balanced" if balanced else None
    # A Newton step is small here, and quicker than many of lbfgs.
    last = LogisticRegression(class_weight=weight, solver="newton-cholesky", max_iter=1000)
    return make_pipeline(table, last)


def _is_number(column: pd.Series[Any]) -> bool:
    if column.dtype.kind not in "iuf":
        return False
    values = np.unique(column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = values[~np.isnan(values)]
    return len(values) > _LEVELS or bool((values != np.rint(values)).any())


def _plain(covariates: pd.DataFrame) -> NDArray[Any]:
    """Columns as numbers or text; what is missing in text is a level of its own."""
    import pandas as pd

    out = np.empty(covariates.shape, dtype=object)
    for j in range(covariates.shape[1]):
        column = covariates.iloc[:, j]
        if column.dtype.kind in "iufb":
            out[:, j] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            out[:, j] = ["" if pd.isna(value) else str(value) for value in column]
    return out
