"""From an estimator and data to the fastest fitness that gives its answer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import clone, is_classifier, is_regressor

from bitsieve._checks import check_choice, check_flag
from bitsieve._once import info_once
from bitsieve.data import Table
from bitsieve.fitness.base import Fitness
from bitsieve.fitness.cv import make_splits
from bitsieve.fitness.options import FitnessOptions, Problem
from bitsieve.fitness.registry import serve
from bitsieve.fitness.taking import last_step, takes_missing, takes_weights

# Below so many steps nobody waits; from so many seconds on the user is told.
_MANY_STEPS, _LONG_SECONDS = 1e11, 10.0


def compile(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    cv: Any = 5,
    n_repeats: int = 1,
    resample: bool = False,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    dtype: DTypeLike | None = None,
    device: str = "cpu",
    copy: bool = True,
) -> Fitness:
    """Return the cross-validated score of an estimator as a function of the mask.

    ``compile(est, X, y, scoring=s, cv=cv).evaluate([m])`` equals
    ``cross_val_score(est, X[:, m], y, scoring=s, cv=cv).mean()`` on the same splits, to rounding.
    Of training samples exactly as far away the lowest index is nearest; scikit-learn's choice
    among them depends on its algorithm.
    A mask without features gets the score of ``DummyClassifier("prior")`` or ``DummyRegressor()``.
    One exception: ``cross_val_score`` itself drops ``groups`` where ``cv`` is a number; here a
    number then means folds of whole groups.

    Parameters
    ----------
    estimator : scikit-learn classifier or regressor
        It is never fitted itself. What no kernel serves goes through scikit-learn:
        :func:`bitsieve.fitness.kernels` lists them, each with its ``estimators``. Nearest
        neighbors, nearest centroids, naive Bayes, discriminant analysis and ridge regression have
        one under most of their options, some behind a scaler in a pipeline too.
    X : array-like or DataFrame of shape (n_samples, n_features), or Table
        Missing values (NaN) pass where the estimator takes them: trees, an imputer in a pipeline.
    y : array-like of shape (n_samples,)
        None with a Table that has its own.
    scoring : str, callable or None, default=None
        As in ``cross_val_score``.
    cv : int, splitter or iterable of (train, test), default=5
        An int means scikit-learn's folds, unshuffled: ``StratifiedKFold`` for a classifier,
        ``KFold`` for a regressor; with groups ``StratifiedGroupKFold`` and ``GroupKFold``.
    n_repeats : int, default=1
        Repeats of a number of folds, shuffled.
    resample : bool, default=False
        Draw fresh folds from the seed of each evaluation instead of keeping one set.
    groups : array-like of shape (n_samples,), optional
        Samples that belong together, such as those of one patient: a number of folds, repeats and
        fresh folds keep them in one fold, and splitters are given them. By default those of the
        Table.
    sample_weight : array-like of shape (n_samples,), optional
        Passed to the estimator's ``fit`` (of a pipeline, to its last step's); scores are not
        weighted. The kernels of naive Bayes and of the ridge family take it.
    random_state : int, RandomState or None
        For the shuffling of repeated fixed folds.
    n_jobs : int or None, default=None
        Threads of a kernel, or processes of scikit-learn; None uses the cores there are. The
        answer does not depend on it.
    dtype : {None, numpy.float32, numpy.float64}, default=None
        No effect on the answer, which is that of float64 arithmetic on X in any case. (Kernels
        read a float32 copy and decide close comparisons on X; data beyond the range of float32
        go through scikit-learn.)
    device : {"cpu"}, default="cpu"
    copy : bool, default=True
        Keep X and y as they are now. False saves the memory where X is a C-ordered float32 or
        float64 array or a Table, and is your promise not to change it.

    Returns
    -------
    Fitness
        Its ``kernel`` tells what serves the estimator. Where scikit-learn does, ``kernel`` is
        None and ``fallback_reason`` says why. The logger ``bitsieve`` says either (INFO).

    Raises
    ------
    ValueError
        If data, folds or options do not fit together; the message names what to change.

    Warns
    -----
    UserWarning
        Where one evaluation will take ten seconds or more.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.fitness import compile
    >>> fitness = compile(KNeighborsClassifier(3), *load_iris(return_X_y=True), cv=5)
    >>> fitness.kernel, fitness.n_splits
    ('knn', 5)
    >>> fitness.evaluate([[True, True, True, True]]).round(4)
    array([0.9667])
    """
    check_choice("device", device, ("cpu",))
    if dtype is not None and np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be None, numpy.float32 or numpy.float64, got {dtype!r}")
    if isinstance(estimator, type):
        raise ValueError(
            f"estimator must be an instance, got the class {estimator.__name__}; "
            f"write {estimator.__name__}()"
        )
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise ValueError(
            f"estimator must be a scikit-learn estimator, got {type(estimator).__name__}"
        )
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            f"scoring must be one scorer (a name, a callable or None), got {type(scoring).__name__}"
        )
    _validate(estimator)
    estimator = clone(estimator)  # a later change of the user's must not change the answers
    check_flag("copy", copy)
    table = _as_table(estimator, X, y)
    if table.y is None:
        raise ValueError("y is missing: give the target values")
    if copy:
        table = _own(table)
    if sample_weight is not None:
        sample_weight = np.array(sample_weight)
        if sample_weight.shape != (table.n_samples,):
            raise ValueError(
                f"sample_weight must have one value a sample: it has shape "
                f"{sample_weight.shape}, X has {table.n_samples} samples"
            )
        weighted = last_step(estimator)
        if not takes_weights(weighted):
            raise ValueError(
                f"{type(weighted).__name__} takes no sample_weight in fit; leave sample_weight "
                "out, or take an estimator that does"
            )
    splits = make_splits(
        cv,
        table.X,
        table.y,
        codes=table.codes,
        classes=table.classes,
        n_repeats=n_repeats,
        resample=resample,
        groups=table.groups if groups is None else groups,
        random_state=random_state,
    )
    options = FitnessOptions(estimator, scoring, sample_weight, n_jobs)
    fitness = serve(Problem(options, table, splits))
    if fitness.fallback_reason is not None:
        reason = fitness.fallback_reason
        info_once(f"scikit-learn evaluates each mask ({reason})", fallback_reason=reason)
    elif fitness.kernel is not None:
        info_once(f"kernel {fitness.kernel!r} evaluates each mask", kernel=fitness.kernel)
    _say_what_it_takes(fitness)
    return fitness


def _say_what_it_takes(fitness: Fitness) -> None:
    """Warn where one evaluation takes long, before hours go into the first iteration."""
    n, pairs = fitness.n_samples, fitness.pairs_of_samples
    if (n**2 if pairs else n) * fitness.n_features < _MANY_STEPS:
        return
    seconds = fitness.seconds_per_evaluation()
    if seconds is None or seconds < _LONG_SECONDS:
        return
    about = f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
    why = f": all pairs of {n:,} samples are compared" if pairs else ""
    warnings.warn(
        f"one evaluation will take about {about}{why}, and a search takes thousands of "
        f"evaluations; give a sample of the rows",
        UserWarning,
        stacklevel=3,
    )


def _validate(estimator: Any) -> None:
    """Refuse what fit would: a kernel must not serve it. A pipeline looks at its own alone."""
    if hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()
    for _, step in getattr(estimator, "steps", None) or ():
        if step is not None and not isinstance(step, str):
            _validate(step)


def _as_table(estimator: Any, X: Any, y: Any) -> Table:
    """Return a table whose task is the estimator's and whose feature-major copy is float32."""
    task: Any = None
    if is_classifier(estimator):
        task = "classification"
    elif is_regressor(estimator):
        task = "regression"
    keeps = takes_missing(estimator)
    if not isinstance(X, Table):
        return Table(X, y, task=task, missing="keep" if keeps else "error")
    if not keeps:
        X.refuse_missing()
    if y is None:
        fits = task in (None, X.task) and X.dtype == np.dtype(np.float32)
        if fits or X.y is None:
            return X
        y = X.y
    missing: Any = "keep" if keeps else "error"
    return Table(X.X, y, names=X.names, task=task, missing=missing, groups=X.groups)


def _own(table: Table) -> Table:
    """Return the same table in memory that nobody else knows of."""
    state = table.__getstate__()
    for name in ("X", "y", "classes", "codes", "groups"):
        if state[name] is not None:
            state[name] = state[name].copy()
    own = Table.__new__(Table)
    own.__setstate__(state)
    return own
