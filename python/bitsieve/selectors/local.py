"""Feature selection by stochastic local search."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bitsieve._checks import check_int, check_number
from bitsieve.data import Table
from bitsieve.masks import Masks
from bitsieve.search import StochasticLocalMaskSearch, best_of_scores
from bitsieve.selectors._base import SearchSelector
from bitsieve.selectors._space import Space
from bitsieve.selectors._starts import are_numbers, start_units

__all__ = ["StochasticLocalSearch"]


class StochasticLocalSearch(SearchSelector):
    """Select features by a walk of greedy steps, noise and restarts under an estimator.

    SLS4FS [1]_. A step is a restart with probability P_r, else noise with probability P_n (one
    feature is flipped, whichever), else greedy: of N_r neighbors drawn at random, each with one
    feature flipped, the best is where the walk goes on. The best subset that the walk was at is
    selected. Folds are fixed: all subsets are compared on the same ones.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier or regressor. Many run compiled (``kernel_``), and the neighbors
        of a greedy step in one pass; anything else through scikit-learn (``fallback_reason_``).
    cv : int or splitter, default 5
        Folds that a subset is measured on; an int means stratified folds for a classifier, of
        whole groups where ``fit`` is given groups. [1]_ has one split, two thirds to train on:
        ``cv=StratifiedShuffleSplit(1, test_size=1/3, random_state=0)``.
    n_repeats : int, default 1
        Repeats of the folds in one measurement.
    scoring : str, callable or None, default None
        Any scorer of scikit-learn, greater is better; None means the estimator's own score.
    preset : {"sls4fs", "softsls", "adaptivesls", "markovsls", "adaptivenoise"}, default "sls4fs"
        What the parameters below are where they are None. "sls4fs" is the best row of Table 2 of
        [1]_: P_n = 0.5, P_r = 0, soft, a tenth of the neighbors, from no feature. The others are
        its rivals over whole neighborhoods, from random subsets.
    p_restart, p_noise : float or None, default None
        P_r and P_n, in [0, 1]; where they adapt, what they begin with.
    adapt_restart, adapt_noise : float or None, default None
        Rates of adaptation, alpha_r and alpha_n, in [0, 1]; 0 keeps a probability as it is.
    adapt_window : int, float or None, default None
        Steps without improvement before a probability rises, or a share of the features.
    greedy : {"soft", "strict"} or None, default None
        Whether a greedy step always goes to the best neighbor, or only to a better one.
    neighborhood : int, float or None, default None
        N_r: a number of neighbors, or a share of all.
    start, restart : None, str, callable or array-like, default None
        Where the walk starts, and where it restarts (None: where it starts). "zeros", "random"; the
        name of a filter, such as "chi2" or "relieff" (:mod:`bitsieve.filters.named`), a function
        of (X, y) that returns scores, or an array of float scores, whose best are taken by
        ``percentile``; or features, by positions, names or a mask. A filter is asked anew in every
        fit, so an outer fold's sees that fold's training part only.
    percentile : float, default 90
        Which scores are good enough to start with.
    max_iter : int or None, default 1000
        Steps.
    max_evaluations : int or None, default None
        Limit on the number of evaluations: one a step of noise or a restart, N_r a greedy one.
    max_time : float or None, default None
        Limit in seconds, the last measurement included; the step that is under way is finished.
    patience : int or None, default None
        Stop after this many steps without a new best.
    size_penalty : float, default 0.0
        What each selected feature costs the search, in the unit of the scores. All scores that are
        reported are without it.
    forced_features, forbidden_features : sequence of int or str, bool array or None, default None
        Features that every subset has, and that none has: positions, names (of a data frame), or a
        mask.
    feature_groups : sequence of sequences of int or str, or None, default None
        Features that move together, all in or all out.
    n_restarts : int, default 1
        Whole searches from so many seeds, of which the best by its last measurement is taken and
        measured once more. Each has an equal share of ``max_evaluations`` and ``max_time``.
    folds : {"common", "independent"}, default "common"
        With ``resample=True``, whether the neighbors of a step share their folds.
    resample : bool, default False
        True for fresh folds in every step. Steps and answer then compare scores of different folds,
        which flatters what was lucky.
    random_state : int, RandomState, Generator or None, default None
        Seed of the search and the last measurement; None draws one and stores it in ``seed_``. See
        :class:`bitsieve.BinarySPSA`.
    n_jobs : int or None, default None
        Threads of a kernel, or processes of scikit-learn. The result does not depend on it.
    checkpoint : path-like or None, default None
        Directory to store the run in, about once a second.
    resume : bool, default True
        Go on from a stored run with the same data and parameters, bit for bit.
    dtype : numpy.float32, numpy.float64 or None, default None
        No effect on the result.
    device : {"cpu"}, default "cpu"
    callbacks : sequence of callable or None, default None
        Called after each step; see :func:`bitsieve.search.run`.
    progress : bool or None, default None
        A progress bar; None shows it on a terminal only.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        The best subset that the walk was at; that without features is none.
    best_score_ : float
        Score of the selection on fresh folds of the same samples, where ``cv`` can be drawn again,
        and on the folds of the search otherwise. Optimistic: those samples were searched.
        :func:`bitsieve.evaluation.nested_cross_validate` gives an honest one.
    best_observed_score_, observed_score_ : float
        The best score that the search saw, and that of the selection.
    scores_ : float64 array of shape (n_features,)
        How often a feature is in the finalists, those of rank r counted 1 / r times.
    ranking_ : int64 array of shape (n_features,)
        Positions by ``scores_``, 1 for the best; equal scores by index.
    n_features_, n_units_, n_iter_, n_evaluations_, n_final_evaluations_ : int
        As :class:`bitsieve.BinarySPSA` has them.
    n_steps_ : dict of str to int
        Steps of each kind: "restart" (the start is one), "noise", "greedy".
    p_restart_, p_noise_ : float
        The probabilities at the end.
    history_ : dict of str to 1-d array
        One entry a step; ``score`` is the best so far.
    finalists_, restarts_, restart_overlap_, seed_, stop_reason_, final_cut_, kernel_,
    fallback_reason_, n_declined_, classes_, n_features_in_, feature_names_in_
        As :class:`bitsieve.BinarySPSA` has them.

    See Also
    --------
    bitsieve.search.StochasticLocalMaskSearch : The search.
    bitsieve.search.markov_analysis : How long it takes on average.

    References
    ----------
    .. [1] O. J. Mengshoel, T. Yu, J. Riege, E. Flogard (2021), Stochastic local search for
       efficient hybrid feature selection, GECCO Companion.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve import StochasticLocalSearch
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = StochasticLocalSearch(KNeighborsClassifier(1), max_iter=50, random_state=0)
    >>> selector.fit(X, y).get_support()
    array([False, False,  True,  True])
    """

    _FLAGS = SearchSelector._FLAGS
    _CHOOSE = "recommended"

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        n_repeats: int = 1,
        scoring: Any = None,
        preset: str = "sls4fs",
        p_restart: float | None = None,
        p_noise: float | None = None,
        adapt_restart: float | None = None,
        adapt_noise: float | None = None,
        adapt_window: float | None = None,
        greedy: Literal["soft", "strict"] | None = None,
        neighborhood: float | None = None,
        start: str | ArrayLike | Masks | Callable[..., Any] | None = None,
        restart: str | ArrayLike | Masks | Callable[..., Any] | None = None,
        percentile: float = 90.0,
        max_iter: int | None = 1000,
        max_evaluations: int | None = None,
        max_time: float | None = None,
        patience: int | None = None,
        size_penalty: float = 0.0,
        forced_features: Any = None,
        forbidden_features: Any = None,
        feature_groups: Any = None,
        n_restarts: int = 1,
        folds: Literal["common", "independent"] = "common",
        resample: bool = False,
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
        self.cv = cv
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.preset = preset
        self.p_restart = p_restart
        self.p_noise = p_noise
        self.adapt_restart = adapt_restart
        self.adapt_noise = adapt_noise
        self.adapt_window = adapt_window
        self.greedy = greedy
        self.neighborhood = neighborhood
        self.start = start
        self.restart = restart
        self.percentile = percentile
        self.max_iter = max_iter
        self.max_evaluations = max_evaluations
        self.max_time = max_time
        self.patience = patience
        self.size_penalty = size_penalty
        self.forced_features = forced_features
        self.forbidden_features = forbidden_features
        self.feature_groups = feature_groups
        self.n_restarts = n_restarts
        self.folds = folds
        self.resample = resample
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.resume = resume
        self.dtype = dtype
        self.device = device
        self.callbacks = callbacks
        self.progress = progress

    def _limits(self, n_units: int) -> tuple[int | None, int | None]:
        most = self.max_iter
        if most is not None:
            most = check_int("max_iter", most, 1, instead="or None")
        return most, self.patience

    def _make_search(self, table: Table, space: Space) -> StochasticLocalMaskSearch:
        return StochasticLocalMaskSearch(
            space.n_units,
            preset=self.preset,
            p_restart=self.p_restart,
            p_noise=self.p_noise,
            adapt_restart=self.adapt_restart,
            adapt_noise=self.adapt_noise,
            adapt_window=self.adapt_window,
            greedy=self.greedy,
            neighborhood=self.neighborhood,
            start=self._start("start", self.start, space),
            restart=self._start("restart", self.restart, space),
            # Without any unit there are still the forced features.
            admit_empty=space.n_forced > 0,
        )

    def _start(self, name: str, given: Any, space: Space) -> Any:
        """Return a word that the search knows, or a mask of units."""
        percentile = check_number("percentile", self.percentile, 0, 100, closed="both")
        if given is None or (isinstance(given, str) and given in ("zeros", "random")):
            return given
        is_scores = are_numbers(given) and np.ndim(given) > 0  # one number is none
        if isinstance(given, str) or callable(given) or is_scores:
            p = space.n_features
            scores = space.filter_scores(
                name,
                given,
                n_features=p - math.ceil(percentile * (p - 1) / 100.0),
                n_jobs=self.n_jobs,
            )
            return best_of_scores(scores, percentile)
        return start_units(name, given, space)

    def _store_search(self, search: Any, space: Space) -> None:
        self.n_steps_ = search.n_steps
        self.p_restart_, self.p_noise_ = search.p_restart, search.p_noise
