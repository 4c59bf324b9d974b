"""Subsets drawn at random, the best of which is selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from bitsieve.data import Table
from bitsieve.search import RandomMaskSearch
from bitsieve.selectors._base import SearchSelector
from bitsieve.selectors._limits import within
from bitsieve.selectors._space import Space

__all__ = ["RandomSearch"]

_N_ASKED = 32  # subsets in a batch


class RandomSearch(SearchSelector):
    """Measure subsets drawn at random and select the best of them.

    What any search has to be better than at the same number of evaluations. Each subset gets a
    size, all that are allowed equally likely, and as many features. The best subsets are measured
    again at the end and one of them is chosen, as with :class:`BinarySPSA`.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier or regressor. Many run compiled (``kernel_``), anything else
        through scikit-learn on the selected columns (``fallback_reason_`` says why).
    cv : int or splitter, default 5
        Folds that a subset is measured on. With ``resample=True`` they are shuffled anew from the
        seed for every batch of subsets; otherwise they are scikit-learn's where it is a number,
        unshuffled for ``n_repeats=1``.
    n_repeats : int, default 10
        Repeats of the folds in one measurement; a splitter repeats itself, so 1 with one that
        ``resample`` cannot draw again.
    scoring : str, callable or None, default None
        Any scorer of scikit-learn, greater is better; None means the estimator's own score.
    n_features_to_select : int, (int, int) or None, default None
        Size of the subsets, or the least and the greatest; forced features count, and a group
        counts as one. None means all sizes.
    size_penalty : float, default 0.0
        What each selected feature costs, in the unit of the scores. All scores that are reported
        are without it.
    forced_features, forbidden_features : sequence of int or str, bool array or None, default None
        Features that every subset has, and that none has: positions, names (of a data frame), or
        a mask.
    feature_groups : sequence of sequences of int or str, or None, default None
        Features that are in or out together, such as the columns of one category. A feature that
        stands in no group is alone.
    max_evaluations : int or None, default 3000
        Subsets to draw at most; they come in batches of 32, and none is cut. None means no limit,
        and then another one is needed.
    max_time : float or None, default None
        Limit in seconds, the last measurement included.
    patience : int or None, default None
        Stop after this many batches of 32 subsets without a new best.
    folds : {"common", "independent"}, default "common"
        Whether the subsets of a batch share their folds.
    resample : bool, default True
        Fresh folds for every batch; False keeps one set of folds, as splitters that cannot be
        drawn again need.
    random_state : int, RandomState, Generator or None, default None
        Seed of the subsets, the folds and the last measurement. None draws one and stores it in
        ``seed_``.
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
        The best score of all subsets.
    observed_score_ : float
        The score of the selection when it was drawn.
    scores_ : float64 array of shape (n_features,)
        How often the finalists hold each feature, those of rank r counted 1 / r times.
    ranking_ : int64 array of shape (n_features,)
        Positions by ``scores_``, 1 for the best; equal scores by index.
    n_features_ : int
        Number of selected features.
    n_units_ : int
        What can be in or out: features and groups that are neither forced nor forbidden.
    n_evaluations_ : int
    n_iter_ : int
        Batches of subsets.
    n_final_evaluations_ : int
        What measuring the finalists again took on top.
    history_ : dict of str to 1-d array
        One entry a batch: ``iteration``, ``n_evaluations``, ``score``, ``best_observed``,
        ``n_selected``, ``n_selected_best``, ``seconds``.
    finalists_ : list
        The best masks with what was measured of them, best first.
    seed_ : int
        The seed; ``random_state=seed_`` repeats the run.
    stop_reason_ : dict of str to object
    final_cut_ : str or None
        What ``max_time`` left out of the last measurement, in words.
    kernel_ : str or None
        The compiled fitness that was used; None where scikit-learn did the work.
    fallback_reason_ : str or None
        Why scikit-learn did it, in a line; None where a kernel served.
    n_declined_ : int
        Subsets that the kernel left to scikit-learn.
    classes_ : array of shape (n_classes,)
        Class labels, for classifiers.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had names.

    See Also
    --------
    BinarySPSA : A search that learns from what it measures.
    bitsieve.search.RandomMaskSearch : The search itself.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from bitsieve import RandomSearch
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = RandomSearch(
    ...     GaussianNB(), n_features_to_select=(2, 5), max_evaluations=320, random_state=0)
    >>> selector.fit(X, y).n_evaluations_
    320
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        n_repeats: int = 10,
        scoring: Any = None,
        n_features_to_select: int | tuple[int, int] | None = None,
        size_penalty: float = 0.0,
        forced_features: ArrayLike | None = None,
        forbidden_features: ArrayLike | None = None,
        feature_groups: Sequence[ArrayLike] | None = None,
        max_evaluations: int | None = 3000,
        max_time: float | None = None,
        patience: int | None = None,
        folds: Literal["common", "independent"] = "common",
        resample: bool = True,
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
        self.n_features_to_select = n_features_to_select
        self.size_penalty = size_penalty
        self.forced_features = forced_features
        self.forbidden_features = forbidden_features
        self.feature_groups = feature_groups
        self.max_evaluations = max_evaluations
        self.max_time = max_time
        self.patience = patience
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
        return None, self.patience

    def _make_search(self, table: Table, space: Space) -> RandomMaskSearch:
        least, most = space.sizes(self.n_features_to_select)
        return RandomMaskSearch(
            space.n_units,
            min_size=least,
            max_size=most,
            n_asked=within(self.max_evaluations, _N_ASKED),
        )
