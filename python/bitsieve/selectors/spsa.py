"""Feature selection by binary simultaneous perturbation stochastic approximation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bitsieve._checks import check_int, is_number
from bitsieve.data import Table
from bitsieve.masks import Masks
from bitsieve.search import BinarySPSASearch, preset_of
from bitsieve.search.starts import vector
from bitsieve.selectors._base import SearchSelector
from bitsieve.selectors._space import Space
from bitsieve.selectors._starts import are_numbers, start_units

__all__ = ["BinarySPSA"]

_LEAST_PATIENCE = 100  # iterations
# From a random mask a search of 20 features of thousands sees little beyond it: docs/searches.md.
_FEW, _FEW_START = 10, "relieff"


class BinarySPSA(SearchSelector):
    """Select features by binary SPSA under a cross-validated estimator.

    SPSA is simultaneous perturbation stochastic approximation [2]_, here over masks [1]_. Each
    iteration measures three masks: the iterate, and two that differ from it in opposite
    random directions. The difference of the two moves the iterate, whatever the number of
    features. The best iterates are measured again at the end and one of them is chosen.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier or regressor. Nearest neighbors, nearest centroids, naive Bayes,
        discriminant analysis, ridge regression and others run compiled (``kernel_``), anything
        else through scikit-learn on the selected columns (``fallback_reason_`` says why).
    cv : int or splitter, default 5
        Folds that a mask is measured on. An int means stratified folds for a classifier, plain
        ones for a regressor, of whole groups where ``fit`` is given groups. With
        ``resample=True`` they are shuffled anew from the seed in every measurement; with
        ``resample=False`` they are scikit-learn's, unshuffled for ``n_repeats=1``.
    n_repeats : int, default 10
        Repeats of the folds in one measurement; a splitter repeats itself, so 1 with one that
        ``resample`` cannot draw again.
    scoring : str, callable or None, default None
        Any scorer of scikit-learn, greater is better; None means the estimator's own score.
    max_iter : int, None or "auto", default "auto"
        Iterations, three evaluations each. "auto" is that of [1]_: 1000 below 100 features, 3000
        from there on.
    max_evaluations : int or None, default None
        Limit on the number of evaluations.
    max_time : float or None, default None
        Limit in seconds, the last measurement included; one iteration and one measurement are
        always made. Where time is short, fewer of the best are measured again, and fewer times.
    patience : int, None or "auto", default "auto"
        Stop after this many iterations without a new best; None never does, and then one of the
        other limits is needed. "auto" is the rule of [1]_, a quarter of the iterations (of the
        preset's where ``max_iter`` is None), but 100 at least; None with ``halving_patience``,
        by which the search ends itself.
    n_features_to_select : int or None, default None
        Size of every mask, forced features among them and a group counted as one; None lets the
        search find it.
    size_penalty : float, default 0.0
        What each selected feature costs the search, in the unit of the scores. All scores that are
        reported are without it.
    forced_features, forbidden_features : sequence of int or str, bool array or None, default None
        Features that every mask has, and that none has: positions, names (of a data frame), or a
        mask.
    feature_groups : sequence of sequences of int or str, or None, default None
        Features that move together, all in or all out, such as the columns of one category. A
        feature that stands in no group moves alone.
    n_restarts : int, default 1
        Searches from so many seeds, of which the best by its last measurement is taken and
        measured once more. Each has an equal share of ``max_evaluations`` and ``max_time``.
    gain : float, "auto", "paper" or "half-difference", default "auto"
        The gain a. "auto" keeps the steps at one size, measured by the recent differences, and
        needs no A and no alpha; "paper" is the preset's; "half-difference" the rule of [1]_ in
        words. See :class:`bitsieve.search.BinarySPSASearch`.
    preset : {"auto", "small", "large"}, default "auto"
        Column of Table 2 of [1]_; "auto" takes "small" below 100 features.
    c : float, default 0.05
        Size of the perturbation, below 0.5.
    A : float or None, default None
        Stability of a fixed gain; None means the preset's. Without effect where the gain is
        "auto".
    alpha : float, default 0.6
        Decay of a fixed gain. Without effect where the gain is "auto".
    start : "auto", None, float, str or array-like, default "auto"
        Where the iterate starts, w_0, in [0, 1]. "auto": where ``n_features_to_select`` is at most
        a tenth of the features and y holds classes, the ranks of ReliefF, as
        ``filter_scores="relieff"``, from which honest errors are lower; otherwise None. None: 0.5
        everywhere, so that the first perturbation decides; with ``n_features_to_select`` the first
        mask is a random one. "random" is None in a word. Features, as a boolean mask, positions
        (whole numbers) or names, are the first mask, of which w_0 stands c / 2 above and below
        0.5. The name of a filter means what it means as ``filter_scores``. Real numbers, one a
        feature, are w_0; those of a group are averaged.
    filter_scores : None, str, array-like of shape (n_features,) or callable, default None
        In place of ``start``: scores of a filter, greater is better, whose ranks put w_0 within c
        of 0.5; or its name, such as "relieff" (:mod:`bitsieve.filters.named`). A callable gets
        (X, y) and returns scores, or scores and p-values, such as
        :func:`sklearn.feature_selection.f_classif`. A name and a callable are asked anew in every
        fit, so an outer fold's filter sees that fold's training part only.
    folds : {"common", "independent"}, default "common"
        Whether the three masks of an iteration share their folds.
    resample : bool, default True
        Fresh folds for every iteration; False keeps one set of folds, as splitters that cannot
        be drawn again need. The folds that a number ``cv`` and ``n_repeats`` stand for are then
        the same for every ``random_state``; for others give a splitter with a seed of its own.
    admit_perturbed : bool, default False
        Whether the perturbed masks may become the best too; [1]_ takes iterates only.
    injected_noise : float, default 0.0
        Above 0, normal noise is added to the iterate after each step, of size
        ``injected_noise * c`` at first and fading, so that it may leave a local optimum [3]_.
    second_order : bool, default False
        Adaptive SPSA [4]_: five masks an iteration, of which a Hessian is estimated (its diagonal
        above 500 features) that turns the steps into those of Newton's method.
    halving_patience : int or None, default None
        Runs in sequence, as [1]_ proposes: after so many iterations without a new best the search
        goes on with the features of that best alone, about half of them in a mask, and it
        ends after a run that was no better than the one before. ``max_iter`` is that of all
        runs. Not together with ``n_features_to_select``.
    random_state : int, RandomState, Generator or None, default None
        Seed of the search, the folds and the last measurement. None draws one and stores it in
        ``seed_``. Every ``random_state=None`` of the estimator gets a number drawn from it, on a
        clone, so that the same seed gives the same result; only a stored run (``checkpoint``)
        with a drawn seed leaves the estimator unseeded.
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
        Called after each iteration; see :func:`bitsieve.search.run`.
    progress : bool or None, default None
        A progress bar; None shows it on a terminal only.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        The selected features.
    best_score_ : float
        Score of the selection on fresh folds of the same samples. Optimistic: those samples were
        searched. :func:`bitsieve.evaluation.nested_cross_validate` gives an honest one.
    best_observed_score_ : float
        The best score that the search saw, maybe of another selection: more optimistic still.
    observed_score_ : float
        The best score that the search saw of the selection itself.
    scores_ : float64 array of shape (n_features,)
        The mean iterate w of the search, greater for better features.
    ranking_ : int64 array of shape (n_features,)
        Positions by ``scores_``, 1 for the best; equal scores by index.
    n_features_ : int
        Number of selected features.
    n_units_ : int
        What the search could move: features and groups that are neither forced nor forbidden.
    n_evaluations_ : int
        Of all restarts.
    n_iter_ : int
        Of the search that was taken, as ``history_``.
    n_final_evaluations_ : int
        What measuring the finalists again took on top, in all restarts.
    history_ : dict of str to 1-d array
        One entry an iteration: ``iteration``, ``n_evaluations``, ``score``, ``best_observed``,
        ``n_selected``, ``n_selected_best``, ``seconds``.
    finalists_ : list
        The best masks with what was measured of them, best first.
    restarts_ : list
        ``support``, ``score``, ``n_features`` and ``seed`` of each restart.
    restart_overlap_ : float or None
        Mean Jaccard index of the selections of two restarts; None where there was one.
    seed_ : int
        The seed; ``random_state=seed_`` repeats the run.
    stop_reason_ : dict of str to object
    stopped_early_ : bool
        Whether the search made fewer iterations than the preset's stall limit (250 below 100
        features, 750 from there on) without standing still: its selection then still depends on
        its random start.
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
    bitsieve.evaluation.nested_cross_validate : The honest score of a selection.

    References
    ----------
    .. [1] V. Aksakalli, M. Malekipirbazari (2016), Feature selection via binary simultaneous
       perturbation stochastic approximation, Pattern Recognition Letters 75, 41-47: equation 5,
       Table 2. The automatic gain is not of it.
    .. [2] J. C. Spall (1992), Multivariate stochastic approximation using a simultaneous
       perturbation gradient approximation, IEEE Transactions on Automatic Control 37, 332-341.
    .. [3] J. L. Maryak, D. C. Chin (2008), Global random optimization by simultaneous perturbation
       stochastic approximation, IEEE Transactions on Automatic Control 53, 780-783.
    .. [4] J. C. Spall (2000), Adaptive stochastic approximation by the simultaneous perturbation
       method, IEEE Transactions on Automatic Control 45, 1839-1853.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve import BinarySPSA
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = BinarySPSA(KNeighborsClassifier(1), max_iter=20, random_state=0)
    >>> selector.fit(X, y).transform(X).shape[0]
    150
    """

    _FLAGS = (*SearchSelector._FLAGS, "admit_perturbed", "second_order")

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        n_repeats: int = 10,
        scoring: Any = None,
        max_iter: int | str | None = "auto",
        max_evaluations: int | None = None,
        max_time: float | None = None,
        patience: int | str | None = "auto",
        n_features_to_select: int | None = None,
        size_penalty: float = 0.0,
        forced_features: Any = None,
        forbidden_features: Any = None,
        feature_groups: Any = None,
        n_restarts: int = 1,
        gain: float | str = "auto",
        preset: str = "auto",
        c: float = 0.05,
        A: float | None = None,
        alpha: float = 0.6,
        start: float | str | ArrayLike | Masks | None = "auto",
        filter_scores: str | ArrayLike | Callable[..., Any] | None = None,
        folds: Literal["common", "independent"] = "common",
        resample: bool = True,
        admit_perturbed: bool = False,
        injected_noise: float = 0.0,
        second_order: bool = False,
        halving_patience: int | None = None,
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
        self.max_iter = max_iter
        self.max_evaluations = max_evaluations
        self.max_time = max_time
        self.patience = patience
        self.n_features_to_select = n_features_to_select
        self.size_penalty = size_penalty
        self.forced_features = forced_features
        self.forbidden_features = forbidden_features
        self.feature_groups = feature_groups
        self.n_restarts = n_restarts
        self.gain = gain
        self.preset = preset
        self.c = c
        self.A = A
        self.alpha = alpha
        self.start = start
        self.filter_scores = filter_scores
        self.folds = folds
        self.resample = resample
        self.admit_perturbed = admit_perturbed
        self.injected_noise = injected_noise
        self.second_order = second_order
        self.halving_patience = halving_patience
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.resume = resume
        self.dtype = dtype
        self.device = device
        self.callbacks = callbacks
        self.progress = progress

    def _limits(self, n_units: int) -> tuple[int | None, int | None]:
        preset = preset_of(self.preset, n_units)
        max_iter = _number_or_auto("max_iter", self.max_iter, preset.max_iter)
        # Section IV: a run has stalled after a quarter of its iterations without a new best. In a
        # short run a quarter is too few to tell.
        stalled = preset.patience if max_iter is None else max_iter // 4
        patience = None if self.halving_patience is not None else max(_LEAST_PATIENCE, stalled)
        return max_iter, _number_or_auto("patience", self.patience, patience)

    def _stopped_early(self, result: Any) -> bool:
        # Table 2: so many iterations without a new best show that a search stands still. One of
        # fewer iterations in all has decided few features, unless it stood still by our own rule.
        usual = preset_of(self.preset, self.n_units_).patience
        stalled = result.stop_reason.get("patience", 0) >= _LEAST_PATIENCE
        stalled = stalled or "halving" in result.stop_reason
        return bool(result.n_iterations < usual and not stalled)

    def _make_search(self, table: Table, space: Space) -> BinarySPSASearch:
        start, scores = self._start(space)
        return BinarySPSASearch(
            space.n_units,
            preset=self.preset,  # type: ignore[arg-type]
            start=start,
            filter_scores=scores,
            gain=self.gain,  # type: ignore[arg-type]
            c=self.c,
            A=self.A,
            alpha=self.alpha,
            n_features_to_select=None
            if self.n_features_to_select is None
            else space.size(self.n_features_to_select),
            admit_perturbed=self.admit_perturbed,
            injected_noise=self.injected_noise,
            second_order=self.second_order,
            halving_patience=self.halving_patience,
        )

    def _is_few_of_many(self, space: Space) -> bool:
        """Tell whether the size is so far below what can move that a filter is to begin."""
        if self.n_features_to_select is None or space.table.codes is None:
            return False
        return _FEW * space.size(self.n_features_to_select) <= space.n_units

    def _start(self, space: Space) -> tuple[Any, Any]:
        """Return where the search starts and the scores of a filter, for units; one is None."""
        start: Any = self.start
        scores, name = self.filter_scores, "filter_scores"
        if isinstance(start, str) and start == "auto":
            start = _FEW_START if scores is None and self._is_few_of_many(space) else None
        elif isinstance(start, str) and start == "random":
            start = None
        if callable(start):
            raise ValueError(
                "start must be 'auto', None, a number, one number a feature, a mask, positions or "
                f"names of features or the name of a filter, got {start!r}; a filter, called in "
                "every fit, is given as filter_scores"
            )
        if isinstance(start, str):
            if scores is not None:
                raise ValueError("give either start or filter_scores, not both")
            start, scores, name = None, start, "start"
        if scores is not None:
            scores = space.filter_scores(name, scores, n_jobs=self.n_jobs)
        if start is None or is_number(start):
            return start, scores
        if are_numbers(start):
            if np.ndim(start) == 0:
                return start, scores
            return space.unit_scores(vector("start", start, space.n_features)), scores
        return start_units("start", start, space), scores


def _number_or_auto(name: str, value: Any, auto: int | None) -> int | None:
    if isinstance(value, str) and value == "auto":
        return auto
    return None if value is None else check_int(name, value, 1, instead="or None or 'auto'")
