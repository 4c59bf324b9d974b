"""Nested cross-validation: the whole selection repeated in every outer fold."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import column_or_1d

from bitsieve._checks import RandomState, check_number, is_whole, key_of
from bitsieve._errors import DuplicateSamplesWarning
from bitsieve._once import said_once
from bitsieve._random import outer_seeds, with_seed
from bitsieve._scorers import own_scoring, refuse_undefined
from bitsieve.data.copies import warn_of_copies
from bitsieve.data.groups import group_codes, group_values
from bitsieve.evaluation.folds import fold_seed, outer_folds
from bitsieve.evaluation.grouping import group_params, warn_of_ungrouped_steps
from bitsieve.evaluation.predictions import (
    FoldOutputs,
    outputs_of,
    put_together,
    response_methods,
    score_of,
)
from bitsieve.evaluation.resampling import recomputes
from bitsieve.evaluation.result import NestedResult
from bitsieve.evaluation.rows import column_names, n_columns, take_rows
from bitsieve.evaluation.scored import ScoredFolds
from bitsieve.evaluation.support import (
    is_selecting,
    last_selecting_step,
    steps_of,
    support_of,
    without_selection,
)

__all__ = ["nested_cross_validate"]


class _FoldScores(NamedTuple):
    honest: float
    full: float
    chance: float
    observed: float
    remeasured: float
    support: NDArray[np.bool_]
    outputs: FoldOutputs
    full_predicted: NDArray[Any]
    seconds: float
    stopped_early: int | None  # after so many iterations
    is_cut: bool


def nested_cross_validate(
    selector: Any,
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: int | Iterable[Any] | Any = 5,
    scoring: str | Callable[..., float] | None = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    level: float = 0.95,
) -> NestedResult:
    """Honest score of a selection: repeat all of it in every outer fold.

    In each outer fold a clone of the selector is fitted to the training part alone, the estimator
    is fitted to the selected columns of it, and both are scored on the test part, which neither
    has seen. A score that was measured on the searched samples is optimistic, even on fresh
    folds; the mean over these outer folds is not.

    Parameters
    ----------
    selector : selector or Pipeline
        Anything with ``get_support``, or a pipeline of steps that keep the columns (a scaler) and
        at least one selector. A scaler inside the pipeline is fitted inside each training part.
    estimator : estimator or None
        What predicts from the selected features. None means the estimator that the selector
        wraps, or the last step of the pipeline where that one predicts.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The target: class labels of any type, or numbers for a regressor.
    cv : int, splitter or iterable of (train, test), default 5
        Outer folds, as in :func:`sklearn.model_selection.cross_val_score`: an int means
        stratified folds for a classifier and plain ones for a regressor, unshuffled, of whole
        groups with ``groups`` (``StratifiedGroupKFold``, ``GroupKFold``). The command line's
        ``--outer-folds`` means the same. Where the order of the samples has a meaning, give
        ``StratifiedKFold(5, shuffle=True, random_state=0)``. Splits that train on what they
        test, and splits that are listed twice, are refused.
    scoring : str, callable or None, default None
        None means the selector's own ``scoring``, and the estimator's ``score`` without one: the
        ``scoring`` of a grid search.
    groups : array-like of shape (n_samples,) or None, default None
        Samples that belong together, such as those of one patient: no outer fold parts them, and
        they are handed to every step whose ``fit`` takes groups, alone or in a pipeline, so that
        its inner folds keep them too. A step with folds of its own that cannot take them is
        warned of.
    n_jobs : int or None, default None
        Processes over the outer folds; None means one after the other, where a selector may use
        threads itself.
    random_state : int, Generator, RandomState or None, default None
        Every parameter ``random_state=None`` of selector and estimator gets a seed of its fold,
        drawn from this one, a whole number in [0, 2**64). A generator is drawn from once; None
        draws one. The result records the number. A selector's own ``random_state`` stands for an
        independent seed in every fold, :func:`bitsieve.evaluation.folds.fold_seed`, so that
        searches which share their start do not pass for stable; an estimator's is kept.
    level : float, default 0.95
        Level of confidence of the interval.

    Returns
    -------
    NestedResult
        ``score`` and ``interval`` are honest; the text of the result says what the rest is.

    Raises
    ------
    ValueError
        Where nothing selects, no estimator is found, X and y differ in length, a split is empty,
        is listed twice or trains on samples that it tests, the scorer has no value on a test part,
        or a parameter is out of its range.

    Warns
    -----
    DuplicateSamplesWarning
        Where samples stand twice that no group holds together.
    UserWarning
        Where groups have no effect on the folds or on a step, and, once and by name, of classes
        that are smaller than the number of folds inside the search.

    References
    ----------
    C. Ambroise, G. McLachlan (2002), Selection bias in gene extraction on the basis of microarray
    gene-expression data, PNAS 99(10), 6562-6566. For the interval: C. Nadeau, Y. Bengio (2003),
    Inference for the generalization error, Machine Learning 52, 239-281; C. J. Clopper, E. S.
    Pearson (1934), Biometrika 26, 404-413; G. Y. Zou, A. Donner (2008), Statistics in Medicine 27,
    1693-1702; R. G. Newcombe (2006), Statistics in Medicine 25, 559-573, method 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.evaluation import nested_cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> result = nested_cross_validate(SelectKBest(k=2), KNeighborsClassifier(1), X, y)
    >>> round(result.score, 3), result.consensus_support.tolist()
    (0.967, [False, False, True, True])
    """
    base = key_of(random_state)
    check_number("level", level, 0, 1, hint="0.95 asks for a 95 % interval")
    if type(X).__name__ == "Table":
        raise ValueError(
            "X must be an array or a DataFrame; of a Table pass table.to_frame() and table.y"
        )
    X, y, groups = indexable(X, y, groups)
    shape = np.shape(y)
    if len(shape) == 2 and shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if groups is not None:
        groups = group_values(groups, shape[0])
    if estimator is not None and hasattr(selector, "fit") and not hasattr(selector, "transform"):
        raise ValueError(
            f"selector must transform, but {_named(selector)} does not; leave out its last step, "
            "or pass estimator=None to have that step predict"
        )
    selector, estimator = _split_estimator(selector, estimator)
    search = last_selecting_step(selector)
    search_scoring = getattr(search, "scoring", None)
    if search_scoring is None:
        search_scoring = own_scoring(estimator)
    if scoring is None:
        scoring = search_scoring
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            "scoring must be the name of one scorer, a callable (estimator, X, y) -> float or "
            f"None, got {scoring!r}; evaluate several scorers one after the other"
        )
    scorer = check_scoring(estimator, scoring=scoring)
    name = _scorer_name(scoring, estimator)
    # A claim in another scorer's units, or of another estimator, cannot be compared with the
    # honest score.
    is_comparable = _same_estimator(getattr(search, "estimator", estimator), estimator) and (
        search_scoring is scoring or _scorer_name(search_scoring, estimator) == name
    )

    labels = np.asarray(y)
    folds = outer_folds(cv, X, labels, groups, is_classifier=is_classifier(estimator))
    refuse_undefined(
        scorer,
        name,
        labels,
        [test for _, test in folds],
        is_classifier=is_classifier(estimator),
        folds="the outer folds",
    )
    members = None if groups is None else group_codes(groups, len(labels))
    copies = warn_of_copies(X, members, stacklevel=2)
    if groups is not None:
        warn_of_ungrouped_steps(selector, estimator)
    if is_classifier(estimator):
        _warn_of_small_classes(getattr(search, "cv", None), labels, [train for train, _ in folds])
    seeds = outer_seeds(base, len(folds))
    n_features = n_columns(X)
    with said_once():
        rows = Parallel(n_jobs=n_jobs)(
            delayed(_score_fold)(
                selector, estimator, X, y, groups, fold, train, test, scorer, int(seed), n_features
            )
            for fold, ((train, test), seed) in enumerate(zip(folds, seeds, strict=True))
        )

    scores = np.array([row.honest for row in rows])
    observed = np.array([row.observed for row in rows])
    remeasured = np.array([row.remeasured for row in rows])
    full_scores = np.array([row.full for row in rows])
    chance_scores = np.array([row.chance for row in rows])
    honest, chance = float(scores.mean()), float(chance_scores.mean())
    predictions = put_together(
        y,
        folds,
        [row.outputs for row in rows],
        [row.full_predicted for row in rows],
        is_classifier=is_classifier(estimator),
    )
    if type(scorer).__name__ == "_PassthroughScorer" and not recomputes(
        scorer, predictions, scores
    ):
        name = "score"  # of the estimator's own, neither accuracy nor R squared
    scored = ScoredFolds(folds, predictions, scorer, name, groups=members, level=level)
    return NestedResult(
        score=honest,
        interval=scored.interval(scores, chance=chance, random_state=base),
        level=level,
        scores=scores,
        full_scores=full_scores,
        chance_scores=chance_scores,
        observed_scores=observed,
        remeasured_scores=remeasured,
        optimism=float(observed.mean()) - honest if is_comparable else float("nan"),
        remeasured_optimism=float(remeasured.mean()) - honest if is_comparable else float("nan"),
        supports=np.array([row.support for row in rows], dtype=bool),
        seeds=seeds,
        random_state=base,
        seconds=np.array([row.seconds for row in rows]),
        scoring=name,
        folds=folds,
        feature_names=column_names(X),
        full_interval=scored.difference(scores, full_scores, chance=chance),
        predictions=predictions,
        remarks=_remarks(rows),
        copies=None if copies is None else copies.text(),
    )


def _warn_of_small_classes(
    cv: Any, labels: NDArray[Any], train_parts: list[NDArray[np.int64]]
) -> None:
    """Name the classes that some outer training part has fewer of than the search has folds."""
    if not is_whole(cv):
        return
    least = {
        str(one): min(int(np.sum(labels[train] == one)) for train in train_parts)
        for one in np.unique(labels)
    }
    small = [f"{name!r} ({count})" for name, count in least.items() if count < cv]
    if small:
        warnings.warn(
            f"The least populated classes of the outer training parts have fewer samples than the "
            f"search has folds (cv={cv}): {', '.join(small[:8])}",
            stacklevel=3,
        )


def _remarks(rows: list[_FoldScores]) -> tuple[str, ...]:
    """Return what to know of the searches before the numbers are read."""
    said = []
    early = [row.stopped_early for row in rows if row.stopped_early is not None]
    if early:
        least, most = min(early), max(early)
        after = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        said.append(
            f"{len(early)} of {len(rows)} searches in the outer folds were stopped early, after "
            f"{after} iteration{'' if most == 1 else 's'}: what they selected still depends on "
            "their random start."
        )
    n_cut = sum(row.is_cut for row in rows)
    if n_cut:
        said.append(
            f"In {n_cut} of {len(rows)} outer folds max_time cut the last measurement short."
        )
    return tuple(said)


def _split_estimator(selector: Any, estimator: Any) -> tuple[Any, Any]:
    """Return the part that selects and the part that predicts."""
    if estimator is not None:
        last_selecting_step(selector)
        return selector, estimator
    if isinstance(selector, Pipeline):
        last = selector.steps[-1][1]
        if hasattr(last, "predict") and not hasattr(last, "get_support"):
            last_selecting_step(selector[:-1])
            return selector[:-1], last
    wrapped = getattr(last_selecting_step(selector), "estimator", None)
    if wrapped is None:
        raise ValueError(
            f"estimator is None and {selector!r} wraps none: pass the estimator that is to "
            "predict from the selected features"
        )
    return selector, wrapped


def _score_fold(
    selector: Any,
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    fold: int,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    scorer: Callable[..., float],
    seed: int,
    n_features: int,
) -> _FoldScores:
    """Select, fit and score one outer fold; the test part is used for scoring only."""
    start = time.perf_counter()
    X_train, y_train = take_rows(X, train), take_rows(y, train)
    X_test, y_test = take_rows(X, test), take_rows(y, test)
    dummy = _dummy(estimator).fit(X_train, y_train)

    fitted = with_seed(_of_fold(clone(selector), fold), seed)
    params = {} if groups is None else group_params(fitted, take_rows(groups, train))
    with warnings.catch_warnings():  # said of all samples, once
        warnings.simplefilter("ignore", DuplicateSamplesWarning)
        warnings.filterwarnings("ignore", message="The least populated class")
        fitted.fit(X_train, y_train, **params)
    support = support_of(fitted, n_features)
    model: Any = dummy
    if support.any():
        predictor = with_seed(clone(estimator), seed).fit(fitted.transform(X_train), y_train)
        model = Pipeline([("selector", fitted), ("estimator", predictor)])

    everything = with_seed(clone(estimator), seed)
    preparation = without_selection(selector)
    if preparation is not None:
        everything = Pipeline([*preparation.steps, ("estimator", everything)])
    everything.fit(X_train, y_train)

    search = steps_of(fitted)
    claims = [step for _, step in search if hasattr(step, "best_score_")]
    observed = remeasured = float("nan")
    if claims:
        remeasured = float(claims[-1].best_score_)
        observed = float(getattr(claims[-1], "best_observed_score_", remeasured))
    methods = response_methods(scorer)
    outputs = outputs_of(model, X_test, methods)
    full_outputs = outputs_of(everything, X_test, methods)
    return _FoldScores(
        honest=score_of(scorer, model, outputs, X_test, y_test),
        full=score_of(scorer, everything, full_outputs, X_test, y_test),
        chance=float(scorer(dummy, X_test, y_test)),
        observed=observed,
        remeasured=remeasured,
        support=support,
        outputs=outputs,
        full_predicted=full_outputs.predicted,
        seconds=time.perf_counter() - start,
        stopped_early=_early(search),
        is_cut=any(getattr(step, "final_cut_", None) is not None for _, step in search),
    )


def _early(steps: list[tuple[str, Any]]) -> int | None:
    """Return the iterations of a search that was stopped early, None without one."""
    early = [step.n_iter_ for _, step in steps if getattr(step, "stopped_early_", False)]
    return int(early[-1]) if early else None


def _of_fold(selector: Any, fold: int) -> Any:
    """Give every selecting step that has a random_state an independent one for this fold."""
    for _, step in steps_of(selector):
        own = step.get_params(deep=False).get("random_state") if is_selecting(step) else None
        if own is not None:
            step.set_params(random_state=fold_seed(own, fold))
    return selector


def _dummy(estimator: Any) -> Any:
    return DummyRegressor() if is_regressor(estimator) else DummyClassifier(strategy="prior")


def _same_estimator(one: Any, other: Any) -> bool:
    """Whether two unfitted estimators would answer alike, as far as their parameters tell."""
    if one is other:
        return True
    return type(one) is type(other) and repr(one.get_params()) == repr(other.get_params())


def _scorer_name(scoring: str | Callable[..., float] | None, estimator: Any) -> str:
    if isinstance(scoring, str):
        return scoring
    if scoring is None:
        return "r2" if is_regressor(estimator) else "accuracy"
    return getattr(scoring, "__name__", type(scoring).__name__)


def _named(selector: Any) -> str:
    steps = getattr(selector, "steps", None)
    name = type(selector).__name__
    return f"a {name} that ends in {type(steps[-1][1]).__name__}" if steps else f"a {name}"
