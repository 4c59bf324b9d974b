"""Feature selection at a given size, by swaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bitsieve._checks import check_choice, check_int, check_number, is_number, is_whole
from bitsieve.data import Table
from bitsieve.search import FixedSizeMaskSearch
from bitsieve.selectors._base import SearchSelector
from bitsieve.selectors._space import Space
from bitsieve.selectors._starts import start_units

__all__ = ["FixedSizeSearch"]

_N_FEATURES, _N_REPEATS = 10, 5
_N_ASKED, _N_ASKED_SLOWLY = 500_000, 1_000  # masks of a batch, with a kernel and without


class FixedSizeSearch(SearchSelector):
    """Exchange one selected feature for another for as long as that predicts better.

    From the best features of a filter, a mask or a random one: all swaps are measured, the best is
    made, and so on until none gains more than ``tol``. It finds what methods that add or remove one
    feature at a time cannot, a pair that is better than the two that each seem best.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier or regressor. Nearest neighbors, nearest centroids, naive Bayes,
        discriminant analysis, ridge regression and others run compiled (``kernel_``), anything
        else through scikit-learn on the selected columns (``fallback_reason_`` says why).
    n_features_to_select : int, float or None, default None
        Features of the selection: a number, or a fraction of all that may be selected. Forced
        features count, and a group counts as one. None selects 10 (all where there are fewer).
    start : str or array-like, default "mrmr"
        Where the search begins: the name of a filter (:mod:`bitsieve.filters.named`), of which the
        best features are taken and which then decides between equal swaps; "random"; or as many
        features as are to be selected, as a boolean mask, positions or names.
    moves : {"swaps", "best_pairs"}, default "swaps"
        All swaps; or the ``n_paired`` best features to add, each paired with the ``n_paired`` best
        to drop, which costs little more than one pass of adds.
    n_paired : int, default 20
    n_candidates : int or None, default None
        Only so many features, the best of the filter that ``start`` names, may come. The fewer
        masks are compared the less of the best score is luck.
    tol : float, default 0.0
        A swap must gain more than this.
    n_kicks : int, default 0
        How often the search goes on from a local optimum, kicked by some swaps at random; the best
        mask is kept.
    kick_size : int or float, default 0.2
        Swaps of a kick: a number, or a fraction of the size, at least one.
    n_restarts : int, default 1
        Searches from so many seeds, of which the best by its last measurement is taken and
        measured once more. They differ where the start is random or there are kicks.
    cv : int or splitter, default 5
        Folds that a mask is measured on, scikit-learn's where it is a number. One set of them
        serves the whole search, since scores of different batches are compared.
    n_repeats : int or "auto", default "auto"
        Repeats of a number of folds, shuffled: 5 by default, none of a splitter, which repeats
        itself. On one set of folds the best of thousands of swaps is mostly one that fits the
        folds, and predicts no better.
    scoring : str, callable or None, default None
        Any scorer of scikit-learn, greater is better; None means the estimator's own score.
    forced_features, forbidden_features : array-like or None, default None
        Features that are always in or never: positions, names (of a data frame), or a boolean mask.
    feature_groups : list of array-like or None, default None
        Features that come and go together, a list for each group; what is in none is alone.
    size_penalty : float, default 0.0
        What each selected feature costs the search, in the unit of the scores. All that it decides
        is between groups of several sizes. The scores that are reported are without it.
    max_evaluations : int or None, default None
        Limit on the number of evaluations.
    max_time : float or None, default None
        Limit in seconds, the last measurement included. It is looked at after each batch, of
        500,000 masks at most (1,000 where scikit-learn evaluates them).
    random_state : int, RandomState, Generator or None, default None
        Seed of a random start, of kicks and of the last measurement.
    n_jobs : int or None, default None
        Threads of a kernel, or processes of scikit-learn; None uses the cores there are. The
        result does not depend on it.
    checkpoint : path-like or None, default None
        Directory to store the run in, about once a second.
    resume : bool, default True
        Go on from a stored run with the same data and parameters, bit for bit.
    dtype : numpy.float32, numpy.float64 or None, default None
        No effect on the result, which is that of float64 arithmetic on X in any case.
    device : {"cpu"}, default "cpu"
        Where the fitness is computed.
    callbacks : sequence of callable or None, default None
        Called after each batch; see :func:`bitsieve.search.run`.
    progress : bool or None, default None
        A progress bar; None shows it on a terminal only.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        The selected features.
    n_swaps_ : int
        Swaps that the search made, those of kicks not counted.
    best_score_ : float
        Score of the selection on fresh folds of the same samples. Optimistic: those samples were
        searched. :func:`bitsieve.evaluation.nested_cross_validate` gives an honest one.
    best_observed_score_, observed_score_ : float
        The score of the selection on the folds of the search: more optimistic still.
    scores_ : float64 array of shape (n_features,)
        1 more for selected features, and otherwise by the filter of the start, between 0 and 1.
    ranking_ : int64 array of shape (n_features,)
        Positions by ``scores_``, 1 for the best; equal scores by index.
    n_features_ : int
        Number of selected features.
    n_units_ : int
        What the search could move: features and groups that are neither forced nor forbidden.
    n_evaluations_ : int
        Of all restarts.
    n_iter_ : int
        Batches of the search that was taken, as ``history_``.
    n_final_evaluations_ : int
        What measuring the selection again took on top.
    history_ : dict of str to 1-d array
        One entry a batch: ``iteration``, ``n_evaluations``, ``score``, ``best_observed``,
        ``n_selected``, ``n_selected_best``, ``seconds``.
    finalists_ : list
        The selection, and the best of the masks on the way.
    restarts_ : list
        ``support``, ``score``, ``n_features`` and ``seed`` of each restart.
    restart_overlap_ : float or None
        Mean Jaccard index of the selections of two restarts; None where there was one.
    seed_ : int
        The seed; ``random_state=seed_`` repeats the run.
    stop_reason_ : dict of str to object
        ``optimum`` where no swap gains and no kick is left, or a limit.
    stopped_early_ : bool
        Whether a limit ended it before any swap was measured.
    final_cut_ : str or None
        What ``max_time`` left out of the last measurement, in words.
    kernel_ : str or None
        The compiled fitness that was used; None where scikit-learn did the work.
    fallback_reason_ : str or None
        Why scikit-learn did it, in a line; None where a kernel served.
    n_declined_ : int
        Masks of the search that the kernel left to scikit-learn.
    classes_ : array of shape (n_classes,)
        Class labels, for classifiers.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had names.

    See Also
    --------
    bitsieve.search.FixedSizeMaskSearch : The search itself, and its ties.
    bitsieve.evaluation.nested_cross_validate : The honest score of a selection.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve import FixedSizeSearch
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = FixedSizeSearch(KNeighborsClassifier(1), n_features_to_select=4)
    >>> selector.fit(X, y).get_support(indices=True)
    array([ 5,  6,  9, 11])
    """

    _CHOOSE = "recommended"
    resample = False  # scores of different batches are compared
    folds = "common"

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: float | None = None,
        start: str | ArrayLike = "mrmr",
        moves: Literal["swaps", "best_pairs"] = "swaps",
        n_paired: int = 20,
        n_candidates: int | None = None,
        tol: float = 0.0,
        n_kicks: int = 0,
        kick_size: float = 0.2,
        n_restarts: int = 1,
        cv: Any = 5,
        n_repeats: int | str = "auto",
        scoring: Any = None,
        forced_features: ArrayLike | None = None,
        forbidden_features: ArrayLike | None = None,
        feature_groups: Sequence[ArrayLike] | None = None,
        size_penalty: float = 0.0,
        max_evaluations: int | None = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        resume: bool = True,
        dtype: Any = None,
        device: str = "cpu",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        progress: bool | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.start = start
        self.moves = moves
        self.n_paired = n_paired
        self.n_candidates = n_candidates
        self.tol = tol
        self.n_kicks = n_kicks
        self.kick_size = kick_size
        self.n_restarts = n_restarts
        self.cv = cv
        self.n_repeats = n_repeats  # type: ignore[assignment]
        self.scoring = scoring
        self.forced_features = forced_features
        self.forbidden_features = forbidden_features
        self.feature_groups = feature_groups
        self.size_penalty = size_penalty
        self.max_evaluations = max_evaluations
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.resume = resume
        self.dtype = dtype
        self.device = device
        self.callbacks = callbacks
        self.progress = progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("moves", self.moves, ("swaps", "best_pairs"))
        n_kicks = check_int("n_kicks", self.n_kicks, 0)
        n_restarts = check_int("n_restarts", self.n_restarts, 1)
        if n_restarts > 1 and not n_kicks and not self._is_random:
            raise ValueError(
                f"n_restarts={n_restarts} searches from one start without kicks are the same: give "
                "start='random' or n_kicks"
            )
        if self.n_candidates is not None:
            check_int("n_candidates", self.n_candidates, 1)
        if self.n_candidates is not None and (self._is_random or not isinstance(self.start, str)):
            raise ValueError(
                f"n_candidates={self.n_candidates} are the best of a filter: name one as start, "
                f"got start={self.start!r}"
            )

    def _limits(self, n_units: int) -> tuple[int | None, int | None]:
        return None, None  # it ends at a local optimum

    @property
    def _is_random(self) -> bool:
        return isinstance(self.start, str) and self.start == "random"

    def _make_fitness(
        self, table: Table, key: int | None, *, groups: Any, sample_weight: Any
    ) -> Any:
        ours = self
        if isinstance(self.n_repeats, str):
            check_choice("n_repeats", self.n_repeats, ("auto",), instead="or a whole number")
            ours = copy(self)
            ours.n_repeats = _N_REPEATS if self.cv is None or is_whole(self.cv) else 1
        return super(FixedSizeSearch, ours)._make_fitness(
            table, key, groups=groups, sample_weight=sample_weight
        )

    def _search(self, table: Table, space: Space, fitness: Any, key: int | None) -> None:
        is_slow = getattr(fitness, "kernel", None) is None
        self._n_asked = _N_ASKED_SLOWLY if is_slow else _N_ASKED
        super()._search(table, space, fitness, key)

    def _make_search(self, table: Table, space: Space) -> FixedSizeMaskSearch:
        size = self._size(space)
        start = priority = None
        if isinstance(self.start, str) and not self._is_random:
            n_wanted = max(size, self.n_candidates or 0)
            priority = space.filter_scores(
                "start", self.start, n_features=n_wanted, n_jobs=self.n_jobs
            )
            start = np.zeros(space.n_units, dtype=bool)
            start[np.argsort(-priority, kind="stable")[:size]] = True
        elif not self._is_random:
            start = start_units("start", self.start, space)
            if start.sum() != size:
                raise ValueError(
                    f"start must be {size} features that may be exchanged (groups count as one), "
                    f"as many as are to be selected, got {int(start.sum())}"
                )
        return FixedSizeMaskSearch(
            space.n_units,
            size=size,
            start=start,
            priority=priority,
            moves=self.moves,
            n_paired=self.n_paired,
            n_candidates=self.n_candidates,
            tol=check_number("tol", self.tol, 0, closed="left"),
            n_kicks=self.n_kicks,
            kick_size=self.kick_size,
            n_asked=self._n_asked,
        )

    def _size(self, space: Space) -> int:
        given, n = self.n_features_to_select, space.n_forced + space.n_units
        if given is None:
            return space.size(min(n, max(_N_FEATURES, space.n_forced + 1)))
        if is_number(given) and not is_whole(given) and 0 < given < 1:
            return space.size(max(1, int(given * n)))
        if not is_whole(given):
            raise ValueError(
                "n_features_to_select must be a whole number, a fraction in (0, 1) or None, got "
                f"{given!r}"
            )
        return space.size(int(given))

    def _stopped_early(self, result: Any) -> bool:
        return result.n_iterations == 1 and "optimum" not in result.stop_reason

    def _store_search(self, search: Any, space: Space) -> None:
        self.n_swaps_ = int(search.n_moves)
