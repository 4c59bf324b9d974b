"""Sequential feature selection, as scikit-learn has it and further."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_choice, check_int, check_number, is_number, is_whole
from bitsieve.data import Table
from bitsieve.search import RunResult, SequentialSearch, run
from bitsieve.selectors._base import SearchSelector
from bitsieve.selectors._cost import tell_cost
from bitsieve.selectors._size_range import size_range, warn_of_size
from bitsieve.selectors._sizes import (
    FeaturesOfSizes,
    Path,
    results_of_sizes,
    within_one_standard_error,
)
from bitsieve.selectors._space import Space
from bitsieve.selectors._starts import start_units

__all__ = ["SequentialFeatureSelector"]


class SequentialFeatureSelector(SearchSelector):
    """Add or remove the one feature after the other that lets the estimator predict best.

    A drop-in for :class:`sklearn.feature_selection.SequentialFeatureSelector`: with its parameters
    it selects the same features on the same splits. All masks that differ by one feature are
    measured in one pass where the estimator has a kernel (``kernel_``).

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier or regressor. Nearest neighbors, nearest centroids, naive Bayes,
        discriminant analysis, ridge regression and others run compiled (``kernel_``), anything
        else through scikit-learn on the selected columns; what that will take is then said before
        it starts (the logger ``bitsieve``, and a warning from a minute on).
    n_features_to_select : "auto", int, float or (int, int), default "auto"
        A number of features, or a fraction of them; "auto" selects half of them, or, where ``tol``
        is given, goes on while it improves the score. A pair is a range of sizes, of which
        ``size_rule`` takes one. Groups count as one feature.
    tol : float or None, default None
        Under "auto", the least improvement of the score that a step is made for; negative ones
        are for removing features. The first step is always made. Without effect otherwise, as in
        scikit-learn.
    direction : {"forward", "backward"}, default "forward"
        Whether features are added, to none at first, or removed, from all.
    scoring : str, callable or None, default None
        Any scorer of scikit-learn, greater is better; None means the estimator's own score.
    cv : int or splitter, default 5
        Folds that a mask is measured on, scikit-learn's where it is a number. One set of them
        serves the whole search, where scikit-learn draws those of a shuffling splitter without a
        seed anew for every mask.
    n_jobs : int or None, default None
        Threads of a kernel, or processes of scikit-learn; None uses the cores there are. The
        result does not depend on it.
    floating : {False, True, "mlxtend"}, default False
        Take features back after each step, for as long as that gives a better mask of its size
        than any before [1]_. "mlxtend" is the stricter rule of the package of this name: see
        :class:`bitsieve.search.SequentialSearch`.
    plus_l_minus_r : (int, int) or None, default None
        In place of floating: l steps in the direction, then r < l back, whatever the scores [2]_.
    step : int or float, default 1
        Features that a step adds or removes, the best by the scores of single ones; a number below
        1 is a fraction of all features.
    size_rule : {"best", "one_standard_error"}, default "best"
        Which size of a range is taken: the one with the best score, or the smallest that is within
        one standard error (of the best, over its splits) of it. Ties go to the smaller size.
    patience : int or None, default None
        Stop after so many sizes of a range without a score better than the best of it.
    start : None, str or array-like, default None
        Features to begin with, as a boolean mask, positions or names: at least as many as a
        backward search is to end with, at most as many as a forward search. The name of a filter,
        such as "relieff" (:mod:`bitsieve.filters`), stands for its best features: half as many as
        a forward search is to end with, twice as many as a backward search. None: the forced ones
        (forward), or all that are not forbidden.
    forced_features, forbidden_features : array-like or None, default None
        Features that are always in or never: a boolean mask, positions or names. The forced ones
        count among ``n_features_to_select``.
    feature_groups : list of array-like or None, default None
        Features that come and go together, a list for each group; what is in none is alone.
    size_penalty : float, default 0.0
        Score that each selected feature costs while sizes are compared.
    n_repeats : int, default 1
        Repeats of a number of folds, shuffled.
    resample : bool, default False
        Draw fresh folds for every step. Scores of two sizes are then of different folds, so that
        ``floating`` refuses it.
    max_evaluations : int or None, default None
        Limit on the number of evaluations. Where this or ``max_time`` ends the search short of the
        sizes asked for, or before ``tol`` or ``patience`` does, a ``ConvergenceWarning`` of
        scikit-learn says so.
    max_time : float or None, default None
        Limit in seconds.
    random_state : int, RandomState, Generator or None, default None
        Seed of fresh folds and of the last measurement; the search draws nothing.
    checkpoint : path-like or None, default None
        Directory to store the run in, about once a second.
    resume : bool, default True
        Go on from a stored run with the same data and parameters, bit for bit.
    dtype : numpy.float32, numpy.float64 or None, default None
        No effect on the result, which is that of float64 arithmetic on X in any case.
    device : {"cpu"}, default "cpu"
        Where the fitness is computed.
    callbacks : sequence of callable or None, default None
        Called after each step; see :func:`bitsieve.search.run`.
    progress : bool or None, default None
        A progress bar; None shows it on a terminal only.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        The selected features.
    n_features_to_select_ : int
        Their number.
    cv_results_ : dict of str to array or sequence
        A row for the best mask of each size that was met, the smallest first: ``n_features``,
        ``mean_test_score``, ``std_test_score``, ``standard_error`` of the mean,
        ``split0_test_score`` and so on, and ``features``, positions. After Ctrl-C those of the
        splits are NaN.
    best_score_ : float
        Score of the selection on fresh folds of the same samples. Optimistic: those samples were
        searched. :func:`bitsieve.evaluation.nested_cross_validate` gives an honest one.
    best_observed_score_ : float
        The best score of all selections on the way.
    observed_score_ : float
        The score of the selection itself, on the folds of the search.
    scores_ : float64 array of shape (n_features,)
        1 for a selected feature, and up to 1 more the earlier it came or the later it would go.
    ranking_ : int64 array of shape (n_features,)
        Positions by ``scores_``, 1 for the best; equal scores by index.
    n_features_ : int
        Number of selected features.
    n_evaluations_, n_iter_ : int
        Of the search: masks, and batches of them.
    n_final_evaluations_ : int
        What measuring the selection again took on top.
    history_ : dict of str to 1-d array
        One entry a batch: ``iteration``, ``n_evaluations``, ``score``, ``best_observed``,
        ``n_selected``, ``n_selected_best``, ``seconds``.
    finalists_ : list
        The selection, and the best of the masks on the way.
    seed_ : int
        The seed; ``random_state=seed_`` repeats the run.
    stop_reason_ : dict of str to object
        ``size``, ``tol`` or ``patience``, or a limit.
    stopped_early_ : bool
    final_cut_ : str or None
        What ``max_time`` left out of the last measurement, in words.
    kernel_ : str or None
        The compiled fitness that was used; None where scikit-learn did the work.
    fallback_reason_ : str or None
        Why scikit-learn did it, in a line; None where a kernel served.
    classes_ : array of shape (n_classes,)
        Class labels, for classifiers.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had names.

    See Also
    --------
    sklearn.feature_selection.SequentialFeatureSelector
    bitsieve.search.SequentialSearch : The search itself.

    Notes
    -----
    It differs from scikit-learn's in three things: sparse X and a missing y are refused, all
    features may be asked for, and no feature at all may not.

    References
    ----------
    .. [1] P. Pudil, J. Novovičová, J. Kittler (1994), Floating search methods in feature
       selection, Pattern Recognition Letters 15, 1119-1125.
    .. [2] S. D. Stearns (1976), On selecting features for pattern classifiers, 3rd International
       Conference on Pattern Recognition, 71-75.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve import SequentialFeatureSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = SequentialFeatureSelector(KNeighborsClassifier(3), n_features_to_select=3)
    >>> selector.fit(X, y).get_support()
    array([ True, False,  True,  True])

    The smallest of the sizes from 1 to 4 within one standard error of the best one:

    >>> selector.set_params(n_features_to_select=(1, 4), size_rule="one_standard_error")
    SequentialFeatureSelector(...)
    >>> selector.fit(X, y).cv_results_["mean_test_score"].round(3)
    array([0.96 , 0.953, 0.973, 0.967])
    >>> selector.get_support(indices=True)
    array([0, 2, 3])
    """

    _CHOOSE = "recommended"
    folds = "common"  # the masks of one batch are compared

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: str | float | tuple[int, int] = "auto",
        tol: float | None = None,
        direction: Literal["forward", "backward"] = "forward",
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        floating: bool | Literal["mlxtend"] = False,
        plus_l_minus_r: tuple[int, int] | None = None,
        step: float = 1,
        size_rule: Literal["best", "one_standard_error"] = "best",
        patience: int | None = None,
        start: str | ArrayLike | None = None,
        forced_features: ArrayLike | None = None,
        forbidden_features: ArrayLike | None = None,
        feature_groups: Sequence[ArrayLike] | None = None,
        size_penalty: float = 0.0,
        n_repeats: int = 1,
        resample: bool = False,
        max_evaluations: int | None = None,
        max_time: float | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        resume: bool = True,
        dtype: Any = None,
        device: str = "cpu",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        progress: bool | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.direction = direction
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.floating = floating
        self.plus_l_minus_r = plus_l_minus_r
        self.step = step
        self.size_rule = size_rule
        self.patience = patience
        self.start = start
        self.forced_features = forced_features
        self.forbidden_features = forbidden_features
        self.feature_groups = feature_groups
        self.size_penalty = size_penalty
        self.n_repeats = n_repeats
        self.resample = resample
        self.max_evaluations = max_evaluations
        self.max_time = max_time
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.resume = resume
        self.dtype = dtype
        self.device = device
        self.callbacks = callbacks
        self.progress = progress

    # -- parameters ----------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("direction", self.direction, ("forward", "backward"))
        check_choice("size_rule", self.size_rule, ("best", "one_standard_error"))
        if self.tol is not None:
            tol = check_number("tol", self.tol, instead="or None")
            if tol < 0 and self.direction == "forward":
                raise ValueError(f"tol must be positive where features are added, got {tol}")
        if self.resample and self.floating is not False:
            raise ValueError(
                "floating compares scores of different steps, so it needs the same folds for all "
                "of them: leave resample out"
            )

    def _limits(self, n_units: int) -> tuple[int | None, int | None]:
        return None, None  # the search ends by itself, and counts sizes

    def _make_search(self, table: Table, space: Space) -> SequentialSearch:
        size = self._size(space)
        start = self._start(space, size)
        at_once = self.step
        if is_number(at_once) and not is_whole(at_once) and 0 < at_once < 1:
            at_once = max(1, int(at_once * space.n_units))
        return SequentialSearch(
            space.n_units,
            size=size,
            direction=self.direction,
            step=check_int("step", at_once, 1, instead="or a fraction between 0 and 1"),
            floating=self.floating,
            plus_l_minus_r=self.plus_l_minus_r,
            tol=self.tol if self._goes_by_tol else None,
            patience=self.patience,
            start=start,
            scores_empty=space.n_forced > 0,
        )

    def _start(self, space: Space, size: tuple[int, int]) -> NDArray[np.bool_] | None:
        """The units to begin with, None for the search's own."""
        if self.start is None:
            return None
        if not isinstance(self.start, str):
            return start_units("start", self.start, space)
        # On the way to the end: half of its size, or twice as many.
        wanted = max(1, size[1] // 2) if self._adds else min(2 * size[0], space.n_units)
        scores = space.filter_scores(
            "start", self.start, n_features=wanted + space.n_forced, n_jobs=self.n_jobs
        )
        mask = np.zeros(space.n_units, dtype=bool)
        mask[np.argsort(-scores, kind="stable")[:wanted]] = True
        return mask

    @property
    def _goes_by_tol(self) -> bool:
        return isinstance(self.n_features_to_select, str) and self.tol is not None

    def _size(self, space: Space) -> tuple[int, int]:
        """The range of sizes of the search, forced features not counted."""
        return size_range(
            self.n_features_to_select, space, adds=self._adds, by_tol=self.tol is not None
        )

    @property
    def _adds(self) -> bool:
        return self.direction == "forward"

    # -- before and after the search -----------------------------------------------------------

    def _search(self, table: Table, space: Space, fitness: Any, key: int | None) -> None:
        search = self._make_search(table, space)
        if self.size_rule != "best" and getattr(fitness, "n_splits", 2) < 2:
            raise ValueError(
                f"size_rule={self.size_rule!r} needs two splits at least, and cv makes one"
            )
        if getattr(fitness, "kernel", None) is None:
            n_evaluations, bound = search.evaluations_left()
            limit = self.max_evaluations
            if is_whole(limit) and (limit < n_evaluations or bound == "at least"):
                n_evaluations, bound = max(1, limit), "at most"
            sizes = int(search.recommend().counts()[0]), search.steps.target
            tell_cost(
                fitness,
                n_evaluations,
                space.n_forced + sum(sizes) // 2,
                n_jobs=self.n_jobs,
                bound=bound,
            )
        super()._search(table, space, fitness, key)
        warn_of_size(
            self.n_features_to_select,
            space,
            asked=(search.steps.low, search.steps.high),
            reached=int(space.units_of(self.support_).sum()),
            reasons=self.stop_reason_,
            rules={"tol": self.tol if self._goes_by_tol else None, "patience": self.patience},
        )

    def _store(self, result: Any, table: Table, fitness: Any, search: Any) -> None:
        path = Path(search)
        found = FeaturesOfSizes(path.masks_of, path.walked.sizes())
        # After Ctrl-C nothing more is measured.
        known = path.walked.scores() if "interrupted" in result.stop_reason else None
        results = results_of_sizes(found, fitness, known)
        if known is not None:
            results["mean_test_score"] += self.size_penalty * results["n_features"]
        if self.size_rule != "best" and known is None:
            result = self._within_one_error(result, results, path, fitness)
        super()._store(result, table, fitness, search)
        self.n_features_to_select_ = self.n_features_
        self.cv_results_ = results

    def _store_search(self, search: Any, space: Space) -> None:
        first = self.restarts_[0]
        if not np.array_equal(first.support, self.support_):  # another size was taken
            self.restarts_ = [
                replace(
                    first,
                    support=self.support_.copy(),
                    score=self.best_score_,
                    n_features=self.n_features_,
                )
            ]

    def _within_one_error(
        self, result: RunResult, results: dict[str, Any], path: Path, fitness: Any
    ) -> RunResult:
        """Exchange the best of the range for the smallest within one standard error of it."""
        steps = path.search.steps
        wanted = np.array([steps.is_wanted(size) for size in path.walked.sizes()], dtype=bool)
        if not wanted.any():
            return result
        scores = results["mean_test_score"] - self.size_penalty * results["n_features"]
        row = within_one_standard_error(scores, results["standard_error"], wanted)
        mask = results["features"].mask(row)
        if mask == result.mask:
            return result
        alone = SequentialSearch(
            mask.n_features, size=int(mask.counts()[0]), start=mask.to_bool()[0]
        )
        again = run(alone, fitness, choose="recommended", random_state=result.seed, progress=False)
        others = [one for one in result.finalists if one.mask != mask]
        return replace(
            result,
            mask=again.mask,
            best_score=again.best_score,
            finalists=[*again.finalists, *others],
            n_final_evaluations=result.n_final_evaluations + 1 + again.n_final_evaluations,
        )
