"""Recursive feature elimination, cross-validated or to a given size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bitsieve._checkpoint import fingerprint
from bitsieve._checks import (
    check_choice,
    check_flag,
    check_int,
    check_number,
    is_whole,
    key_of,
)
from bitsieve._once import info_once
from bitsieve._random import seeded
from bitsieve._threads import effective_n_jobs
from bitsieve.data import Table
from bitsieve.data.copies import warn_of_copies
from bitsieve.data.groups import group_codes
from bitsieve.fitness.describe import describe
from bitsieve.panels.recursive import sizes_to_eliminate
from bitsieve.selectors._eliminating import Plan, plan_of
from bitsieve.selectors._elimination_folds import Split, check_unused, splits_of
from bitsieve.selectors._elimination_sizes import range_of_sizes, results_of_folds, size_taken
from bitsieve.selectors._elimination_store import EliminationStore
from bitsieve.selectors._space import Space
from bitsieve.selectors._weights import name_of_weights, weights_of
from bitsieve.selectors._wrapping import WrappingSelector

__all__ = ["RecursiveFeatureElimination"]


class RecursiveFeatureElimination(WrappingSelector):
    """Fit, drop the features of the least coefficients, and fit again.

    With a linear support vector machine this is SVM-RFE [1]_. It ranks and selects as
    scikit-learn's ``RFE`` does, and with ``n_features_to_select="auto"`` as its ``RFECV``, where
    the solver goes all the way to its answer. Linear models are fitted from the n x n Gram
    matrix, which loses what the features that leave gave it: a step takes one pass over the
    features and no fit of all columns.

    Parameters
    ----------
    estimator : scikit-learn estimator
        One with ``coef_`` or ``feature_importances_`` once it is fitted; it is never fitted itself.
        ``SVC(kernel="linear")``, ``Ridge`` and ``RidgeClassifier`` have kernels; ``SVR``,
        ``LinearSVC``, ``LogisticRegression`` (with a ``tol`` of 1e-8, or ``solver="liblinear"``)
        and others that see features through inner products are fitted by scikit-learn to a small
        matrix; all others to the columns. A pipeline of one scaler and such a model is scaled on
        each training part.
    n_features_to_select : int, float, "auto", (int, int) or None, default None
        How many to keep; a fraction in (0, 1] of the features; None for half of them. "auto" takes
        the cross-validated size, of all from ``min_features_to_select`` on that ``step`` comes by;
        two numbers are the least and the largest of those. Forced features count.
    step : int or float, default 1
        Features that a step drops; in (0, 1) as a share of all features, the same number in every
        step.
    cv : int, splitter or iterable of (train, test), default 5
        The folds that sizes are compared on; scikit-learn's, unshuffled, for a number.
    scoring : str, callable or None, default None
        Any scorer of scikit-learn, greater is better; None means the estimator's own score.
    min_features_to_select : int, default 1
        The least size that "auto" looks at.
    size_rule : {"best", "one_standard_error"}, default "best"
        Which size is taken: that of the best mean score, the smallest of equal ones; or the
        smallest whose mean is within one standard error (that of the best) of it.
    forced_features, forbidden_features : sequence of int or str, bool array or None, default None
        Features that are never dropped, and that are left out from the start: positions, names (of
        a data frame), or a mask.
    importance_getter : str or callable, default "auto"
        As in scikit-learn: the name of an attribute, or a function of the fitted estimator. "auto"
        asks the last step of a pipeline.
    random_state : int, RandomState, Generator or None, default None
        Every ``random_state=None`` of the estimator gets a number drawn from it, on a clone. A
        linear model with a kernel draws nothing.
    n_jobs : int or None, default None
        Folds at a time; None uses the cores there are. The result does not depend on it.
    checkpoint : path-like or None, default None
        Directory to store the eliminations in, about once a second each.
    resume : bool, default True
        Go on from a stored fit with the same data and parameters, bit for bit.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        The selected features.
    ranking_ : int64 array of shape (n_features,)
        scikit-learn's: 1 for what is selected, 2 for what the last step dropped, and so on;
        forbidden features are last.
    elimination_order_ : int64 array of shape (n_features,)
        All features in the order they left, the selected ones at the end by their importance, the
        best last. Of equal importances the lowest index leaves first, as in scikit-learn.
    scores_ : float64 array of shape (n_features,)
        How many features left before each; greater is better.
    n_features_ : int
        Number of selected features.
    estimator_ : estimator
        Fitted to the selected features.
    cv_results_ : dict of str to array
        Where sizes were compared, from the smallest on: ``n_features``, ``mean_test_score``,
        ``std_test_score``, ``standard_error`` (of the mean), ``split0_test_score`` and so on.
    best_score_ : float
        The mean score of the size that was taken, where sizes were compared. See the notes.
    n_steps_ : int
        Fits of the elimination on all samples.
    kernel_ : str or None
        What made the coefficients: "dual_svm", "ridge", "factor"; None where scikit-learn fitted
        columns.
    fallback_reason_ : str or None
        Why it did, in a line.
    n_declined_ : int
        Fits on all samples that the kernel left to scikit-learn: with no more features than
        samples, or where the matrix determines the answer too badly.
    seed_ : int
        ``random_state=seed_`` repeats the fit.
    classes_ : array of shape (n_classes,)
        Class labels, for classifiers.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had names.

    See Also
    --------
    bitsieve.evaluation.nested_cross_validate : The honest score of a selection.

    Notes
    -----
    The elimination is repeated inside each fold: what is scored on a test part was eliminated on
    its training part alone, so that the scores of one size are honest. The size is then the best
    of many, by the same folds: ``best_score_`` is that of a choice and still too good. Outer folds
    (:func:`bitsieve.evaluation.nested_cross_validate`) repeat all of it, the choice of the size
    too.

    LIBSVM at its default tolerance leaves the order of small coefficients to chance; here an SVM is
    solved to 1e-10 whatever its ``tol``, so scikit-learn's ranking is the same with ``tol=1e-10``.

    Coefficients measure what a feature is worth if features have one scale: standardise them, in a
    pipeline.

    Ctrl-C ends a fit and leaves the selector as it was before: half an elimination selects
    nothing. What was done is in the ``checkpoint``, and the same fit goes on from it.

    References
    ----------
    .. [1] I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification
       using support vector machines", Machine Learning 46 (2002) 389-422.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from bitsieve import RecursiveFeatureElimination
    >>> from bitsieve.datasets import make_microarray
    >>> data = make_microarray(60, 400, random_state=0)
    >>> selector = RecursiveFeatureElimination(
    ...     SVC(kernel="linear"), n_features_to_select=5, step=0.1
    ... ).fit(data.X, data.y)
    >>> selector.kernel_, selector.n_steps_, selector.transform(data.X).shape
    ('dual_svm', 11, (60, 5))
    """

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: int | float | str | tuple[int, int] | None = None,
        step: float = 1,
        cv: Any = 5,
        scoring: Any = None,
        min_features_to_select: int = 1,
        size_rule: Literal["best", "one_standard_error"] = "best",
        forced_features: Any = None,
        forbidden_features: Any = None,
        importance_getter: str | Callable[[Any], Any] = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        resume: bool = True,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.cv = cv
        self.scoring = scoring
        self.min_features_to_select = min_features_to_select
        self.size_rule = size_rule
        self.forced_features = forced_features
        self.forbidden_features = forbidden_features
        self.importance_getter = importance_getter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.resume = resume

    # Named here and not in the signature: see SearchSelector.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012

    def fit(
        self, X: Any, y: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> RecursiveFeatureElimination:
        """Eliminate features by their coefficients.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Numbers, and missing values where the estimator takes them; pandas and polars frames
            keep their names. Sparse input is refused.
        y : array-like of shape (n_samples,)
            Class labels of any type, or numbers for a regressor.
        groups : array-like of shape (n_samples,) or None, default None
            Samples that belong together: every fold holds whole groups.
        **fit_params
            ``sample_weight``, array-like of shape (n_samples,), goes to every fit of the estimator,
            by scikit-learn; scores are not weighted.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where X or y are not fit for use, a parameter is out of its range, the estimator has no
            coefficients, the scorer has no value on some test part, or a file of the checkpoint is
            damaged.
        TypeError
            For another name among ``fit_params``.

        Warns
        -----
        DuplicateSamplesWarning
            Where sizes are compared and samples stand twice that no group holds together.
        UserWarning
            Where the fits will take a minute or more.
        """
        unknown = sorted(fit_params.keys() - {"sample_weight"})
        if unknown:
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument {unknown[0]!r}"
            )
        self._check_parameters()
        table = self._check_input(X, y)
        members = None if groups is None else group_codes(groups, table.n_samples)
        weights = weights_of(fit_params.get("sample_weight"), self.estimator, table.n_samples)
        space = Space(table, forced=self.forced_features, forbidden=self.forbidden_features)
        left = np.flatnonzero(space.forced | (space.unit_of >= 0)).astype(np.int64)
        least, largest, compared = range_of_sizes(
            self.n_features_to_select, self.min_features_to_select, len(left), space.n_forced
        )
        step = max(1, int(self.step * len(left))) if self.step < 1 else int(self.step)
        sizes = sizes_to_eliminate(len(left), least, step)
        splits: list[Split] = []
        if compared:
            warn_of_copies(table.X, members, stacklevel=2)
            splits = splits_of(self.cv, table, groups, self.estimator, self.scoring)
        else:
            check_unused(self.cv, table, groups, self.estimator, self.scoring)
        key = None if self.random_state is None else key_of(self.random_state)
        store = None
        if self.checkpoint is not None:
            store = self._stored(table, space, weights, left, sizes, largest, splits, key)
            key = store.key
        elif key is None:
            key = key_of(None)
        plan = plan_of(
            seeded(self.estimator, key),
            table,
            scoring=self.scoring,
            getter=self.importance_getter,
            weights=weights,
            left=left,
            forced=space.forced,
            scored=compared,
        )
        if plan.reason is not None:
            info_once(
                f"scikit-learn fits the columns that are left ({plan.reason})",
                fallback_reason=plan.reason,
            )
        elif plan.model is not None:
            kernel = plan.model.kernel
            info_once(f"kernel {kernel!r} makes the coefficients", kernel=kernel)
        if store is None or store.found is None:
            plan.tell_cost(sizes, len(splits) + 1, self.n_jobs)
        results = None
        if compared:
            scores = plan.on_folds(splits, sizes, largest, self.n_jobs, store)
            results = results_of_folds(scores, sizes, largest)
            sizes = sizes_to_eliminate(len(left), size_taken(results, self.size_rule), step)
        self._store(plan, sizes, results, store, key)
        return self

    def _check_parameters(self) -> None:
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise ValueError(
                "estimator must be a scikit-learn estimator, such as SVC(kernel='linear'), got "
                f"{self.estimator!r}"
            )
        check_choice("size_rule", self.size_rule, ("best", "one_standard_error"))
        check_int("min_features_to_select", self.min_features_to_select, 1)
        if not is_whole(self.step) or self.step < 1:
            check_number("step", self.step, 0, 1, instead="or a whole number from 1 on")
        if not (isinstance(self.importance_getter, str) or callable(self.importance_getter)):
            raise ValueError(
                "importance_getter must be 'auto', the name of an attribute or a function of the "
                f"fitted estimator, got {self.importance_getter!r}"
            )
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(
                "scoring must be one scorer (a name, a callable or None), got "
                f"{type(self.scoring).__name__}"
            )
        effective_n_jobs(self.n_jobs)
        check_flag("resume", self.resume)

    def _stored(
        self,
        table: Table,
        space: Space,
        weights: NDArray[Any] | None,
        left: NDArray[np.int64],
        sizes: list[int],
        largest: int,
        splits: list[Split],
        key: int | None,
    ) -> EliminationStore:
        """Return the files of this fit, which its data, parameters and folds name."""
        parts: dict[str, object] = {
            "selector": type(self).__qualname__,
            "table": table.fingerprint(),
            "estimator": describe(self.estimator),
            "scoring": describe(self.scoring),
            "getter": describe(self.importance_getter),
            "weights": weights,
            "free": space.unit_of,
            "forced": space.forced,
            "sizes": np.array(sizes),
            "largest": largest,
            "rule": self.size_rule,
            "splits": {
                f"{fold} {name}": samples
                for fold, split in enumerate(splits)
                for name, samples in zip(("train", "test"), split, strict=True)
            },
            "seed": "drawn" if key is None else str(key),
        }
        return EliminationStore(
            self.checkpoint,
            fingerprint(parts),
            left=left,
            shape=(len(splits), sum(size <= largest for size in sizes)),
            key=key,
            resume=self.resume,
        )

    def _store(
        self,
        plan: Plan,
        sizes: list[int],
        results: dict[str, NDArray[Any]] | None,
        store: EliminationStore | None,
        key: int,
    ) -> None:
        """Eliminate on all samples, and set the fitted attributes."""
        table, p = plan.table, plan.table.n_features
        found = plan.on_all(sizes, store)
        forbidden = np.setdiff1d(np.arange(p), plan.left)
        order = np.concatenate([forbidden, found.order]).astype(np.int64)
        ranking = np.empty(p, dtype=np.int64)
        ranking[forbidden] = len(sizes) + 1
        dropped = np.repeat(np.arange(len(sizes), 0, -1), [*(-np.diff(sizes)).tolist(), sizes[-1]])
        ranking[found.order] = dropped
        support = ranking == 1
        options = {}
        if plan.weights is not None:
            options[name_of_weights(plan.estimator)] = plan.weights
        fitted = clone(plan.estimator).fit(table.X[:, support], table.y, **options)
        scores = np.empty(p)
        scores[order] = np.arange(p)
        for name in ("cv_results_", "best_score_", "classes_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        self.support_, self.ranking_, self.scores_ = support, ranking, scores
        self.elimination_order_ = order
        self.n_features_ = int(support.sum())
        self.estimator_ = fitted
        self.n_steps_ = len(sizes)
        self.kernel_ = None if plan.model is None else plan.model.kernel
        self.fallback_reason_ = plan.reason
        self.n_declined_ = found.n_on_columns
        self.seed_ = key
        if results is not None:
            self.cv_results_ = results
            taken = results["n_features"] == self.n_features_
            self.best_score_ = float(results["mean_test_score"][taken][0])
        if table.classes is not None:
            self.classes_ = table.classes
