"""The best subset of all, by measuring each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from bitsieve._errors import TooManySubsets
from bitsieve.data import Table
from bitsieve.search import ExhaustiveMaskSearch
from bitsieve.selectors._base import SearchSelector
from bitsieve.selectors._limits import within
from bitsieve.selectors._space import Space

__all__ = ["ExhaustiveSearch"]

_N_ASKED = 1024  # subsets in a batch


class ExhaustiveSearch(SearchSelector):
    """Measure every subset of the features and select the best.

    For small problems: what it selects is the optimum on its folds, with which other searches can
    be compared. There may be 2**25 subsets, all of those of 25 features. Of equal scores the
    smaller subset is selected, of equally many features the one that holds the first feature in
    which two differ.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier or regressor. Many run compiled (``kernel_``), anything else
        through scikit-learn on the selected columns (``fallback_reason_`` says why).
    cv : int or splitter, default 5
        Folds that a subset is measured on, scikit-learn's where it is a number.
    n_repeats : int, default 1
        Repeats of a number of folds, shuffled.
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
    resample : bool, default False
        Draw fresh folds for every batch of 1024 subsets: scores of two are then of different
        folds, and the best is no longer the optimum of anything.
    max_evaluations : int or None, default None
        Limit on the number of subsets; where it is met, the best so far is selected.
    max_time : float or None, default None
        Limit in seconds, the last measurement included.
    random_state : int, RandomState, Generator or None, default None
        Seed of the last measurement; nothing else is drawn.
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
        Score of the selection on fresh folds of the same samples. Optimistic: those samples chose
        it. :func:`bitsieve.evaluation.nested_cross_validate` gives an honest one.
    best_observed_score_, observed_score_ : float
        The best score, which is that of the selection, on the folds that chose it; without
        ``size_penalty``.
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
        What measuring the selection again took on top.
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
    RandomSearch : For more features than can be gone through.
    bitsieve.search.ExhaustiveMaskSearch : The search itself.

    Notes
    -----
    With forced features every subset holds at least one feature besides them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve import ExhaustiveSearch
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = ExhaustiveSearch(KNeighborsClassifier(3), random_state=0).fit(X, y)
    >>> selector.n_evaluations_, selector.get_support()
    (15, array([ True, False,  True,  True]))
    """

    _CHOOSE = "recommended"
    folds = "common"  # the subsets of one batch are compared

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        n_repeats: int = 1,
        scoring: Any = None,
        n_features_to_select: int | tuple[int, int] | None = None,
        size_penalty: float = 0.0,
        forced_features: ArrayLike | None = None,
        forbidden_features: ArrayLike | None = None,
        feature_groups: Sequence[ArrayLike] | None = None,
        resample: bool = False,
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
        self.cv = cv
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.n_features_to_select = n_features_to_select
        self.size_penalty = size_penalty
        self.forced_features = forced_features
        self.forbidden_features = forbidden_features
        self.feature_groups = feature_groups
        self.resample = resample
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

    def _limits(self, n_units: int) -> tuple[int | None, int | None]:
        return None, None  # it ends with the last subset

    def _make_search(self, table: Table, space: Space) -> ExhaustiveMaskSearch:
        least, most = space.sizes(self.n_features_to_select)
        try:
            return ExhaustiveMaskSearch(
                space.n_units,
                min_size=least,
                max_size=most,
                n_asked=within(self.max_evaluations, _N_ASKED),
            )
        except TooManySubsets as error:
            # In the words of the user, whose sizes count what is forced.
            given, lowest = self.n_features_to_select, least + space.n_forced
            sized = "" if given is None else f"n_features_to_select={given!r}: "
            ways = ["leave features out by forbidden_features", "search with another method"]
            if error.largest:
                size = f"n_features_to_select={(lowest, error.largest + space.n_forced)}"
                ways = [f"give {size} or smaller sizes", *ways]
            raise ValueError(
                f"{sized}{error.what}: {', '.join(ways[:-1])}, or {ways[-1]}"
            ) from error
