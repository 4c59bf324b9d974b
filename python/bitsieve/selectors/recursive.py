"""Recursive feature elimination, cross-validated or to a given size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bitsieve._checks import check_choice, check_int, check_number, is_whole, key_of
from bitsieve._errors import plural
from bitsieve._once import info_once
from bitsieve._random import seeded
from bitsieve._scorers import check_scorer
from bitsieve._threads import effective_n_jobs
from bitsieve.data import Table
from bitsieve.data.copies import warn_of_copies
from bitsieve.data.groups import group_codes
from bitsieve.data.refusals import needs_target, refuse_what_scikit_learn_refuses
from bitsieve.fitness.cv import make_splits
from bitsieve.fitness.taking import last_step, takes_missing, takes_weights
from bitsieve.panels.recursive import sizes_to_eliminate
from bitsieve.selectors._eliminating import Plan, Split, name_of_weights, plan_of
from bitsieve.selectors._sizes import within_one_standard_error
from bitsieve.selectors._space import Space

__all__ = ["RecursiveFeatureElimination"]


class RecursiveFeatureElimination(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
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

    Ctrl-C ends a fit and leaves the selector as it was before.

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
            coefficients, or the scorer has no value on some test part.
        TypeError
            For another name among ``fit_params``.

        Warns
        -----
        DuplicateSamplesWarning
            Where sizes are compared and samples stand twice that no group holds together.
        UserWarning
            Where scikit-learn's fits will take a minute or more.
        """
        unknown = sorted(fit_params.keys() - {"sample_weight"})
        if unknown:
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument {unknown[0]!r}"
            )
        self._check_parameters()
        table = self._check_input(X, y)
        members = None if groups is None else group_codes(groups, table.n_samples)
        weights = self._weights(fit_params.get("sample_weight"), table)
        space = Space(table, forced=self.forced_features, forbidden=self.forbidden_features)
        left = np.flatnonzero(space.forced | (space.unit_of >= 0)).astype(np.int64)
        least, largest, compared = self._range(len(left), space.n_forced)
        step = max(1, int(self.step * len(left))) if self.step < 1 else int(self.step)
        key = key_of(self.random_state)
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
        sizes = sizes_to_eliminate(len(left), least, step)
        results = None
        if compared:
            warn_of_copies(table.X, members, stacklevel=2)
            splits = self._splits(table, groups)
            plan.tell_cost(sizes, len(splits) + 1, self.n_jobs)
            results = self._compare(plan, sizes, largest, splits)
            least = int(results["n_features"][_taken(results, self.size_rule)])
            sizes = sizes_to_eliminate(len(left), least, step)
        else:
            plan.tell_cost(sizes, 1, 1)
        self._store(plan, sizes, results, key)
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

    def _check_input(self, X: Any, y: Any) -> Table:
        """Check X and y and set what scikit-learn expects about features."""
        refuse_what_scikit_learn_refuses(X)
        if y is None:
            raise needs_target(self)
        if getattr(y, "ndim", 1) == 2:
            y = column_or_1d(y, warn=True)
        table = Table(
            X,
            y,
            task="regression" if is_regressor(self.estimator) else "classification",
            missing="keep" if takes_missing(self.estimator) else "error",
        )
        validate_data(self, X, y, skip_check_array=True)
        return table

    def _weights(self, given: Any, table: Table) -> NDArray[Any] | None:
        if given is None:
            return None
        weights = np.array(given)
        if weights.shape != (table.n_samples,):
            raise ValueError(
                f"sample_weight must have one value a sample: it has shape {weights.shape}, X has "
                f"{table.n_samples} samples"
            )
        weighted = last_step(self.estimator)
        if not takes_weights(weighted):
            raise ValueError(
                f"{type(weighted).__name__} takes no sample_weight in fit; leave sample_weight "
                "out, or take an estimator that does"
            )
        return weights

    def _range(self, p: int, n_forced: int) -> tuple[int, int, bool]:
        """Return the least and the largest size that may be taken, and whether several may."""
        given = self.n_features_to_select
        name = "n_features_to_select"
        instead = "or a fraction in (0, 1], 'auto', a pair of sizes or None"
        if isinstance(given, str) and given == "auto":
            least = check_int("min_features_to_select", self.min_features_to_select, 1, p)
            return max(least, n_forced), p, True
        if isinstance(given, (tuple, list)) and len(given) == 2:
            low = check_int(f"{name}[0]", given[0], 1)
            high = check_int(f"{name}[1]", given[1], low)
            if high > p:
                raise ValueError(
                    f"{name}={high} is more than the {plural(p, 'feature')} that may be selected"
                )
            if high < n_forced:
                raise ValueError(
                    f"{name}={given!r} is less than the {plural(n_forced, 'forced feature')}"
                )
            return max(low, n_forced), high, True
        if given is None:
            size = max(1, p // 2, n_forced)
        elif is_whole(given):
            size = check_int(name, given, 1, p, instead=instead)
        else:
            share = check_number(
                name,
                given,
                0,
                1,
                closed="right",
                instead="or a whole number, 'auto', a pair of sizes or None",
            )
            size = max(1, int(share * p))
        if size < n_forced:
            raise ValueError(
                f"{name}={given!r} leaves no room for the {plural(n_forced, 'forced feature')}"
            )
        return size, size, False

    def _splits(self, table: Table, groups: Any) -> list[Split]:
        made = make_splits(
            5 if self.cv is None else self.cv,
            table.X,
            table.y,
            codes=table.codes,
            classes=table.classes,
            n_repeats=1,
            resample=False,
            groups=groups,
            random_state=0,
        )
        splits: list[Split] = made.splits(0)
        assert table.y is not None
        check_scorer(
            self.estimator,
            self.scoring,
            table.X,
            table.y,
            [test for _, test in splits],
            is_classifier=is_classifier(self.estimator),
            folds=f"cv ({made.describe()})",
        )
        for number, (train, _) in enumerate(splits):
            if table.codes is not None and len(np.unique(table.codes[train])) < 2:
                raise ValueError(
                    f"cv: the training part of split {number} has samples of one class alone; "
                    "shuffle the folds, or give fewer"
                )
        return splits

    def _compare(
        self, plan: Plan, sizes: list[int], largest: int, splits: list[Split]
    ) -> dict[str, Any]:
        scores = plan.on_folds(splits, sizes, largest, self.n_jobs)[:, ::-1]
        n_splits = len(splits)
        with np.errstate(invalid="ignore"):
            error = (
                scores.std(axis=0, ddof=1) / np.sqrt(n_splits)
                if n_splits > 1
                else np.full(scores.shape[1], np.nan)
            )
        return {
            "n_features": np.array([size for size in sizes[::-1] if size <= largest]),
            "mean_test_score": scores.mean(axis=0),
            "std_test_score": scores.std(axis=0),
            "standard_error": error,
            **{f"split{k}_test_score": scores[k].copy() for k in range(n_splits)},
        }

    def _store(
        self, plan: Plan, sizes: list[int], results: dict[str, Any] | None, key: int
    ) -> None:
        table, p = plan.table, plan.table.n_features
        found, machine = plan.on_all(sizes)
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
        self.n_declined_ = int(getattr(machine, "n_on_columns", 0))
        self.seed_ = key
        if results is not None:
            self.cv_results_ = results
            taken = results["n_features"] == self.n_features_
            self.best_score_ = float(results["mean_test_score"][taken][0])
        if table.classes is not None:
            self.classes_ = table.classes

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        support: NDArray[np.bool_] = self.support_
        return support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = False
        if hasattr(getattr(self, "estimator", None), "fit"):
            wrapped = get_tags(self.estimator)
            tags.input_tags.allow_nan = takes_missing(self.estimator)
            tags.input_tags.positive_only = wrapped.input_tags.positive_only
            tags.classifier_tags = wrapped.classifier_tags
            tags.regressor_tags = wrapped.regressor_tags
        return tags


def _taken(results: dict[str, Any], rule: str) -> int:
    """Return the row of the size that a rule takes, the smallest of equal ones."""
    scores, errors = results["mean_test_score"], results["standard_error"]
    best = int(np.argmax(scores))
    if rule == "best" or np.isnan(errors[best]):
        return best
    return within_one_standard_error(scores, errors, np.ones(len(scores), dtype=bool))
