"""Nested cross-validation: the whole selection repeated in every outer fold."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable
from sklearn.utils.validation import column_or_1d

from bitsieve._checks import (
    RandomState,
    check_choice,
    check_int,
    check_number,
    is_whole,
    key_of,
)
from bitsieve._once import said_once
from bitsieve._random import outer_seeds
from bitsieve._scorers import own_scoring, refuse_undefined
from bitsieve.data.copies import warn_of_copies
from bitsieve.data.groups import group_codes, group_values
from bitsieve.evaluation.alternatives import Alternative, names_in_all
from bitsieve.evaluation.fold import FoldScores, Procedure
from bitsieve.evaluation.folds import outer_folds, rounds_of
from bitsieve.evaluation.grouping import warn_of_ungrouped_steps
from bitsieve.evaluation.pairs import PairSplit, pairs_of
from bitsieve.evaluation.predictions import Predictions, put_together
from bitsieve.evaluation.resampling import recomputes
from bitsieve.evaluation.result import NestedResult
from bitsieve.evaluation.resume import FoldStore, fingerprint_of
from bitsieve.evaluation.rows import column_names, n_columns
from bitsieve.evaluation.scored import ScoredFolds
from bitsieve.evaluation.support import last_selecting_step, steps_of
from bitsieve.evaluation.tasks import run_tasks, tasks_of

__all__ = ["nested_cross_validate"]


def nested_cross_validate(
    selector: Any,
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: int | Iterable[Any] | Any = 5,
    n_repeats: int | None = None,
    scoring: str | Callable[..., float] | None = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    level: float = 0.95,
    interval: Literal["corrected", "nested"] = "corrected",
    checkpoint: str | os.PathLike[str] | None = None,
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
        wraps, the last step of the pipeline where that one predicts, or the selector itself where
        it wraps none and predicts. If the fitted selector has ``alternatives_``, a mapping of
        names to fitted predictors (with ``predict`` and a boolean ``support``), each of them is
        scored on the same test parts; for a selector that predicts itself "all features: chosen",
        or the first that begins with "all features", stands for all features, and else what its
        ``without_selection()``, if it has one, returns: an unfitted estimator.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The target: class labels of any type, or numbers for a regressor.
    cv : int, splitter or iterable of (train, test), default 5
        Outer folds, as in :func:`sklearn.model_selection.cross_val_score`: an int means
        stratified folds for a classifier and plain ones for a regressor, unshuffled, of whole
        groups with ``groups`` (``StratifiedGroupKFold``, ``GroupKFold``). The command line's
        ``--outer-folds`` are shuffled: they are those of ``n_repeats=1``. Splits that train on what
        they test, and splits that are listed twice, are refused. A ``RepeatedStratifiedKFold``
        gives several rounds.
    n_repeats : int or None, default None
        Rounds of a number of outer folds, shuffled, stratified and of whole groups likewise, and
        drawn from ``random_state``, as ``RepeatedStratifiedKFold`` does. None means one round that
        is not shuffled. More rounds take away the luck of the folds, not that of the samples.
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
    interval : {"corrected", "nested"}, default "corrected"
        How the interval of the honest score is made. "corrected" is the corrected resampled
        t-interval joined to one that knows the number of samples. "nested" estimates the
        variance by a cross-validation inside every outer training part and joins that to the
        same floor; it repeats the selection (K - 1) / 2 times as often again, and wants many
        rounds (``n_repeats=10`` and more): for selectors that are cheap, accuracy or balanced
        accuracy, and outer folds that come in rounds.
    checkpoint : str or path, optional
        A directory for finished outer folds, one file each. A call with the same data, selector,
        estimator, scorer, ``random_state`` (give one) and version takes those that are there and
        computes the others, however many processes and repeats it has; any other call begins
        anew beside them.

    Returns
    -------
    NestedResult
        ``score`` and ``interval`` are honest; the text of the result says what the rest is.

    Raises
    ------
    ValueError
        Where nothing selects, no estimator is found, anything but a number of folds is repeated,
        X and y differ in length, a split is empty,
        is listed twice or trains on samples that it tests, the scorer has no value on a test part,
        a parameter is out of its range, or a file of the checkpoint is damaged.

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
    check_choice("interval", interval, ("corrected", "nested"))
    check_number("level", level, 0, 1, hint="0.95 asks for a 95 % interval")
    if n_repeats is not None:
        n_repeats = check_int("n_repeats", n_repeats, 1)
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
    selector, predictor = _split_estimator(selector, estimator)
    estimator = selector if predictor is None else predictor
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
    folds = outer_folds(
        cv,
        X,
        labels,
        groups,
        is_classifier=is_classifier(estimator),
        n_repeats=n_repeats,
        key=base,
    )
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
        warn_of_ungrouped_steps(selector, predictor)
    if is_classifier(estimator):
        _warn_of_small_classes(getattr(search, "cv", None), labels, [train for train, _ in folds])
    seeds = outer_seeds(base, len(folds))
    rounds = rounds_of(folds, len(labels))
    pairs: list[PairSplit] = []
    if interval == "nested":
        _refuse_nested(name, rounds)
        assert rounds is not None
        pairs = pairs_of(folds, rounds)
    tasks = tasks_of(folds, seeds, pairs, base)
    procedure = Procedure(selector, predictor, scorer, n_columns(X))
    stores = None
    if checkpoint is not None:
        evaluation = fingerprint_of(procedure, name, X, y, groups)
        classes = np.unique(labels) if is_classifier(estimator) else None
        stores = [FoldStore(checkpoint, evaluation, task, labels=classes) for task in tasks]
    with said_once():
        every = run_tasks(procedure, X, y, groups, tasks, stores, n_jobs=n_jobs)
    rows, inside = every[: len(folds)], every[len(folds) :]

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
    alternatives = {
        other: put_together(
            y,
            folds,
            [row.alternatives[other].outputs for row in rows],
            [None] * len(folds),
            is_classifier=is_classifier(estimator),
        )
        for other in names_in_all([row.alternatives for row in rows])
    }
    if type(scorer).__name__ == "_PassthroughScorer" and not recomputes(
        scorer, predictions, scores
    ):
        name = "score"  # of the estimator's own, neither accuracy nor R squared
    claimed_by = {row.claimed_by for row in rows}
    if predictor is None and claimed_by != {None}:
        is_comparable = claimed_by == {name}
    scored = ScoredFolds(folds, predictions, scorer, name, groups=members, level=level)
    if rounds is None or not pairs or name == "score":
        found = scored.interval(scores, chance=chance, random_state=base)
    else:
        found = scored.nested(scores, pairs, [row.outputs.predicted for row in inside], rounds)
    return NestedResult(
        score=honest,
        interval=found,
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
        full_interval=scored.difference(
            scores, full_scores, predictions.full_predicted, chance=chance
        ),
        predictions=predictions,
        remarks=_remarks(rows),
        copies=None if copies is None else copies.text(),
        groups=members,
        repeats=np.zeros(len(folds), np.int64) if rounds is None else rounds,
        alternatives={
            other: _alternative(other, rows, told, scored, scores, chance, base)
            for other, told in alternatives.items()
        },
    )


def _refuse_nested(name: str, rounds: NDArray[np.int64] | None) -> None:
    if name not in ("accuracy", "balanced_accuracy"):
        raise ValueError(
            "interval='nested' is for means of losses a sample, scoring 'accuracy' or "
            f"'balanced_accuracy', got {name!r}; take interval='corrected'"
        )
    if rounds is None or len(set(np.bincount(rounds).tolist())) > 1 or np.sum(rounds == 0) < 3:
        raise ValueError(
            "interval='nested' needs outer folds in rounds that test every sample once, all of "
            "the same number of folds from 3 on; give cv as a number and n_repeats, or take "
            "interval='corrected'"
        )


def _alternative(
    name: str,
    rows: list[FoldScores],
    predictions: Predictions,
    scored: ScoredFolds,
    chosen: NDArray[np.float64],
    chance: float,
    base: int,
) -> Alternative:
    """Return what the folds found of one alternative."""
    others = [row.alternatives[name] for row in rows]
    scores = np.array([one.score for one in others])
    own = scored.of(predictions)
    return Alternative(
        name=name,
        scores=scores,
        predictions=predictions,
        n_features=np.array([one.n_features for one in others], dtype=np.int64),
        difference=float((chosen - scores).mean()),
        interval=scored.difference(chosen, scores, predictions.predicted, chance=chance),
        standard_error=scored.standard_error(chosen - scores),
        own_interval=own.interval(scores, chance=chance, random_state=base),
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


def _remarks(rows: list[FoldScores]) -> tuple[str, ...]:
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
    names = dict.fromkeys(name for row in rows for name in row.alternatives)
    fickle = [repr(name) for name in names if not all(name in row.alternatives for row in rows)]
    if fickle:
        said.append(f"Not every outer fold has the alternative {', '.join(fickle)}: left out.")
    return tuple(said)


def _split_estimator(selector: Any, estimator: Any) -> tuple[Any, Any]:
    """Return the part that selects and the part that predicts, None where they are the same."""
    if estimator is not None:
        last_selecting_step(selector)
        return selector, estimator
    if isinstance(selector, Pipeline):
        last = selector.steps[-1][1]
        if hasattr(last, "predict") and not hasattr(last, "get_support"):
            last_selecting_step(selector[:-1])
            return selector[:-1], last
    search = last_selecting_step(selector)
    wrapped = getattr(search, "estimator", None)
    if wrapped is None and hasattr(search, "predict") and steps_of(selector)[-1][1] is search:
        return selector, None
    if wrapped is None:
        raise ValueError(
            f"estimator is None and {selector!r} wraps none: pass the estimator that is to "
            "predict from the selected features"
        )
    return selector, wrapped


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
