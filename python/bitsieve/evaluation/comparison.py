"""The selection beside what else might have been, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bitsieve._errors import closest
from bitsieve.evaluation.interval import corrected_standard_error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bitsieve.evaluation.alternatives import Alternative
    from bitsieve.evaluation.result import NestedResult

__all__ = ["PairedDifference", "compared", "cost_of", "paired_difference"]

#: Scores that are told as an error in percent.
_ERRORS = {"accuracy": "error", "balanced_accuracy": "balanced error"}


class PairedDifference(NamedTuple):
    """Mean difference of two scores on the same folds.

    Attributes
    ----------
    value : float
        The first minus the second.
    standard_error : float
        The corrected resampled one; NaN for a single fold.
    """

    value: float
    standard_error: float


def paired_difference(
    result: NestedResult, first: str | None, second: str | None
) -> PairedDifference:
    """Return how much better the first of two predicts, on the same folds.

    Parameters
    ----------
    result : NestedResult
    first, second : str or None
        Names of alternatives; None stands for the selection itself.

    Returns
    -------
    PairedDifference

    Raises
    ------
    ValueError
        Where there is no such alternative.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52,
    239-281.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bitsieve import AutoSelector
    >>> from bitsieve.evaluation import nested_cross_validate, paired_difference
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = AutoSelector(
    ...     selectors=["f"], estimators=["lda"], effort="quick", random_state=0)
    >>> result = nested_cross_validate(selector, None, X[::5], y[::5], cv=3)
    >>> value, error = paired_difference(result, "all features: svm", None)
    >>> abs(value - (result.alternatives["all features: svm"].score - result.score)) < 1e-9
    True
    """
    differences = _scores(result, first) - _scores(result, second)
    sizes = [len(test) for _, test in result.folds], [len(train) for train, _ in result.folds]
    return PairedDifference(
        float(differences.mean()), corrected_standard_error(differences, *sizes)
    )


def compared(result: NestedResult, name: str | None = None, *, other: str | None = None) -> str:
    """Say in one sentence whether selecting helped.

    Parameters
    ----------
    result : NestedResult
    name : str, optional
        Of an alternative; None compares with all features.
    other : str, optional
        What the alternative is called in the sentence, such as "the linear SVM on all features".

    Returns
    -------
    str
        One of the two is said to predict better only where the interval of the paired difference
        lies on one side of 0 and the numbers differ as they are shown.

    Raises
    ------
    ValueError
        Where there is no such alternative.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.evaluation import compared, nested_cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> result = nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X, y)
    >>> compared(result)[:53]
    'On the same folds no difference is shown between the '
    """
    better: str
    if name is None:
        score, interval, better = result.full_score, result.full_interval, result.full_comparison
        n = result.supports.shape[1]
        other = other or f"the full set of {n:,} feature{'' if n == 1 else 's'}"
    else:
        alternative = _alternative(result, name)
        score, interval, better = alternative.score, alternative.interval, alternative.comparison
        other = other or repr(name)
    chosen, against = _shown(result, result.score), _shown(result, score)
    # What cannot be seen in the numbers as they are shown is not said.
    if better == "no difference shown" or chosen == against:
        return (
            f"On the same folds no difference is shown between the selection ({chosen}) and "
            f"{other} ({against})."
        )
    span = f"{interval.low:.3f} to {interval.high:.3f}"
    if _is_error(result):
        span = f"{100 * interval.low:.1f} to {100 * interval.high:.1f} points"
    level = f"{100 * result.level:g} % interval of"
    if better == "selection":
        return (
            f"On the same folds the selection predicts better than {other} does ({against}; "
            f"{level} its lead {span})."
        )
    return (
        f"On the same folds {other} predicts better than the selection does ({against}; "
        f"{level} the selection's lead {span})."
    )


def cost_of(
    result: NestedResult,
    limited: str | None,
    free: str | None,
    *,
    limit: str,
    without: str = "no limit",
) -> str | None:
    """Say what a limit costs, where that is more than one standard error of the difference.

    Parameters
    ----------
    result : NestedResult
    limited, free : str or None
        Names of alternatives with the limit and without; None stands for the selection itself.
    limit : str
        The limit in words, such as "at most 10 features".
    without : str, default "no limit"

    Returns
    -------
    str or None
        None where the limit costs no more than one paired standard error.

    Raises
    ------
    ValueError
        Where there is no such alternative.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.evaluation import cost_of, nested_cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> result = nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X, y)
    >>> cost_of(result, None, None, limit="at most 2 features") is None  # against itself
    True
    """
    cost, error = paired_difference(result, free, limited)
    if not cost > error:  # nor where a single fold has no standard error
        return None
    if _is_error(result):
        cost_text, error_text = (
            f"{100 * cost:.1f} points of {_ERRORS[result.scoring]}",
            f"{100 * error:.1f}",
        )
    else:
        name = result.scoring.replace("_", " ")
        cost_text, error_text = f"{cost:.3f} of {name}", f"{error:.3f}"
    return (
        f"With {limit} the selection loses {cost_text} against {without}, more than one standard "
        f"error of the difference on the same folds ({error_text})."
    )


def _alternative(result: NestedResult, name: str) -> Alternative:
    if name not in result.alternatives:
        known = closest(name, result.alternatives)
        raise ValueError(f"the result has no alternative {name!r}: {known}")
    return result.alternatives[name]


def _scores(result: NestedResult, name: str | None) -> NDArray[np.float64]:
    return result.scores if name is None else _alternative(result, name).scores


def _is_error(result: NestedResult) -> bool:
    return result.scoring in _ERRORS


def _shown(result: NestedResult, score: float) -> str:
    """Return a score as reports show it: 12.3 % for an error, 0.877 otherwise."""
    return f"{100.0 * (1.0 - score):.1f} %" if _is_error(result) else f"{score:.3f}"
