"""A panel that predicts: selectors, sizes and classifiers compared by nested cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve._checks import check_choice, check_int, check_number, key_of
from bitsieve._errors import shorten
from bitsieve._threads import effective_n_jobs
from bitsieve.data import Table
from bitsieve.data.groups import group_codes
from bitsieve.filters.positions import positions_of_scores
from bitsieve.fitness.cv import make_splits
from bitsieve.fitness.splits import FreshFolds
from bitsieve.panels import choice, ranking
from bitsieve.panels.assembly import BESIDE, PanelMaker
from bitsieve.panels.classifiers import classifier_by_name
from bitsieve.panels.design import ALL, Design
from bitsieve.panels.fit_input import table_of_classes
from bitsieve.panels.plan import EFFORTS, Plan, make_plan
from bitsieve.panels.race import Race
from bitsieve.panels.racing import run_racing
from bitsieve.panels.rankers import ranker_by_name
from bitsieve.panels.ranking import Ranked
from bitsieve.panels.scaling import log_floor

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AutoSelector"]

#: Limits of the number of features that every fit also answers for.
LIMITS = (10, 20, 50)
#: What ``combine="auto"`` stands for.
COMBINE: Literal["best", "vote"] = "vote"
#: The ranker whose panels come again most reliably.
STABLE = ("f",)


class AutoSelector(ClassifierMixin, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Find a panel of features that predicts classes, and what predicts from it.

    Candidates (a selector, a number of features, a classifier) are scored by repeated inner
    cross-validation, the selection repeated inside each training part. The best one, or the vote
    of the best, is fitted to all samples. Its inner score is the best of many and optimistic;
    :func:`bitsieve.evaluation.nested_cross_validate` measures the error of the whole procedure.

    Parameters
    ----------
    selectors : "auto" or sequence of str, default "auto"
        Rankers to compare: "f", "relieff", "mrmr", "rfe", "lars", "aggregate", or the name of any
        filter that takes classes (``bitsieve rank --method``). "auto" is "relieff", "mrmr", "rfe".
    estimators : "auto" or sequence of str, default "auto"
        Classifiers to compare: "lda" (shrunken linear discriminant analysis), "svm" (linear),
        "ridge", "knn" (5 neighbors), "1nn", "3nn" and so on. "auto" is the first three.
    sizes : "auto" or sequence of int, default "auto"
        Numbers of features to compare, beside all of them. "auto" is 5, 10, 20, 50, 100, 200 (of
        at most 50 features 1, 2, 3, 5, 10, 20) and `max_features`.
    max_features : int or None, default None
        Different features that the panel may need to predict, all members of a vote together.
    combine : {"auto", "best", "vote"}, default "auto"
        One candidate, or the vote of up to 21 that lie within two paired standard errors of the
        best: the mean of their calibrated probabilities. "auto" is the vote.
    parsimony : float, default 0.0
        The smallest candidate within so many paired standard errors of the best is taken in its
        place. It makes panels smaller and predictions worse.
    stability : {None, "filter"}, default None
        "filter" compares panels of the F statistic alone, which come again most reliably.
    log : {"auto", "always", "never", "both"}, default "auto"
        Whether values are logged (base 2) before they are standardised. "auto" logs raw
        intensities, by a rule that looks at X alone; "both" compares the two where that rule
        would log.
    cv : int, default 5
        Inner folds: stratified, of whole groups with ``groups``.
    n_repeats : int or None, default None
        Repeats of the inner folds; None leaves them to the effort: 3, or 10 where it is thorough.
    scoring : {"accuracy", "balanced_accuracy"} or None, default None
        What candidates are compared by, and what predictions serve. None means the accuracy, and
        the balanced accuracy where the smallest class has under 0.8 of an equal share (40 % of two
        classes): a class is then predicted from its share of the samples on, not from one half on.
    effort : {"quick", "standard", "thorough"}, default "standard"
        What is compared where nothing else is said; "quick" is "f" with "lda" and "svm".
    max_time : float or None, default None
        Seconds, on two cores: the richest plan that is expected to take no longer. The plan is
        made from a table of costs, never by the clock, so the answer depends on no machine.
    n_jobs : int or None, default None
        Processes over the inner training parts; None means all cores where the work is worth it.
    random_state : int, Generator, RandomState or None, default None
        Seed of the inner folds. None draws one, ``seed_``.

    Attributes
    ----------
    support_ : bool array of shape (n_features_in_,)
        The features that are needed to predict.
    n_features_ : int
        How many those are.
    scores_ : float64 array of shape (n_features_in_,)
        Share of the members that use a feature.
    ranking_ : int64 array of shape (n_features_in_,)
        By these scores; 1 is the best, ties go to the lower index.
    classes_ : array of shape (n_classes,)
    panel_ : bitsieve.panels.Panel
        What predicts; ``panel_.save("panel.json")`` hands it to others.
    best_estimator_ : bitsieve.panels.Panel
        The same.
    best_score_ : float
        Inner cross-validation score of the panel: optimistic, since it was chosen by it.
    scoring_ : str
        What candidates were compared by.
    candidates_ : DataFrame
        Everything that was compared, best first: selector, size, estimator, log, score, its
        standard error, the smoothed score, stability over the inner training parts, chosen.
    path_ : DataFrame
        The panel's size and inner score under limits of 10, 20 and 50 features and without one.
    alternatives_ : dict of str to Panel
        What the evaluation scores beside it: panels under those limits, all features with the
        chosen and with standard classifiers, the best filter of the same size, the single best
        candidate (beside a vote, or the other way round), what there is without parsimony.
    dropped_selectors_ : tuple of str
        Selectors that cost more than all filters together and after the first inner repeat lay
        more than two paired standard errors behind the best: they were compared no further.
    plan_ : bitsieve.panels.Plan
        What was compared, decided beforehand.
    seed_ : int
    n_features_in_ : int
    feature_names_in_ : array of str

    Notes
    -----
    Features are standardised inside every training part and clipped at 20 standard deviations. In
    the end they are ranked on all samples, but for "rfe": its panel has the best mean position, on
    a log scale, in the rankings of the inner training parts.

    Scores are averaged with those of neighbors, the sizes beside it and the other classifiers of
    the same panel; ties go to the smaller panel, then to the one that comes again more reliably.

    References
    ----------
    C. Ambroise, G. McLachlan (2002), Selection bias in gene extraction on the basis of microarray
    gene-expression data, PNAS 99(10), 6562-6566.

    Examples
    --------
    >>> from bitsieve import AutoSelector
    >>> from bitsieve.datasets import make_microarray
    >>> data = make_microarray(60, 300, n_informative=10, random_state=0)
    >>> auto = AutoSelector(max_features=10, effort="quick", random_state=0).fit(data.X, data.y)
    >>> int(auto.support_.sum()) <= 10, auto.predict(data.X).shape
    (True, (60,))
    """

    def __init__(
        self,
        *,
        selectors: Literal["auto"] | Sequence[str] = "auto",
        estimators: Literal["auto"] | Sequence[str] = "auto",
        sizes: Literal["auto"] | Sequence[int] = "auto",
        max_features: int | None = None,
        combine: Literal["auto", "best", "vote"] = "auto",
        parsimony: float = 0.0,
        stability: Literal["filter"] | None = None,
        log: Literal["auto", "always", "never", "both"] = "auto",
        cv: int = 5,
        n_repeats: int | None = None,
        scoring: Literal["accuracy", "balanced_accuracy"] | None = None,
        effort: Literal["quick", "standard", "thorough"] = "standard",
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.selectors = selectors
        self.estimators = estimators
        self.sizes = sizes
        self.max_features = max_features
        self.combine = combine
        self.parsimony = parsimony
        self.stability = stability
        self.log = log
        self.cv = cv
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.effort = effort
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, groups: ArrayLike | None = None) -> Self:
        """Compare the candidates and fit the chosen ones to all samples.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Numbers without missing values; pandas and polars frames keep their names.
        y : array-like of shape (n_samples,)
            Class labels of any type.
        groups : array-like of shape (n_samples,) or None, default None
            Samples that belong together, such as those of one patient: no inner fold parts them.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where X or y are not fit for use, or a parameter is out of its range.

        Warns
        -----
        DuplicateSamplesWarning
            Where samples stand twice that no group holds together.
        """
        self._check_parameters()
        table = table_of_classes(self, X, y, groups)
        assert table.codes is not None
        assert table.classes is not None
        self.seed_ = key_of(self.random_state)
        values = np.ascontiguousarray(table.X, dtype=np.float64)
        codes, n_classes = table.codes.astype(np.int32), len(table.classes)
        logs = self._logs(values)
        plan = self.plan(table.n_samples, table.n_features, n_classes, n_logs=len(logs))
        folds = self._folds(table, codes, plan.n_repeats, groups, self.seed_)
        _refuse_lone_classes(folds, codes, table.classes)
        design = Design(
            plan.selectors,
            plan.estimators,
            plan.sizes,
            table.n_features,
            beside=BESIDE,
            logs=logs,
        )
        n_jobs = self._n_jobs(plan)
        raced, self.dropped_selectors_ = run_racing(
            values,
            codes,
            n_classes,
            design,
            folds,
            scoring=self.scoring,
            max_features=self.max_features,
            seed=self.seed_ % 2**32,
            n_jobs=n_jobs,
        )
        ranked = ranking.rank_table(
            values, codes, raced.design, raced.orders, seed=self.seed_ % 2**32, n_threads=n_jobs
        )
        self.classes_, self.plan_ = table.classes, plan
        self._choose(values, raced, ranked)
        return self

    def plan(
        self,
        n_samples: int,
        n_features: int,
        n_classes: int,
        *,
        outer_folds: int = 0,
        outer_repeats: int | None = None,
        n_logs: int = 1,
    ) -> Plan:
        """Say what ``fit`` would compare, without doing it.

        Parameters
        ----------
        n_samples, n_features, n_classes : int
            Of the table.
        outer_folds : int, default 0
            Outer folds that the whole procedure is to be repeated in.
        outer_repeats : int or None, default None
            None leaves them to the effort and the limit of time.
        n_logs : int, default 1
            2 where logged and plain values are compared.

        Returns
        -------
        bitsieve.panels.Plan
        """
        self._check_parameters()
        names = _listed("selectors", self.selectors, ranker_by_name)
        if self.stability == "filter":
            names = STABLE
        return make_plan(
            n_samples,
            n_features,
            n_classes,
            effort=self.effort,
            selectors=names,
            estimators=_listed("estimators", self.estimators, classifier_by_name),
            sizes=self._sizes(n_features),
            max_features=self.max_features,
            n_folds=self.cv,
            n_repeats=self.n_repeats,
            outer_folds=outer_folds,
            outer_repeats=outer_repeats,
            n_logs=n_logs,
            max_time=self.max_time,
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features_in_)

        Returns
        -------
        array of shape (n_samples,)
        """
        values = self._checked(X)
        return self.panel_.predict(values)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict probabilities of the classes, calibrated on the inner out-of-fold decisions.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features_in_)

        Returns
        -------
        float64 array of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        values = self._checked(X)
        return self.panel_.predict_proba(values)

    def refit(
        self, X: Any, y: Any, *, groups: ArrayLike | None = None, random_state: Any = None
    ) -> NDArray[np.bool_]:
        """Select on other samples with the settings of the chosen panel held.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_in_)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,) or None, default None
        random_state : int, Generator, RandomState or None, default None
            Seed of the inner folds; None means ``seed_``.

        Returns
        -------
        bool array of shape (n_features_in_,)
            What the members' selectors, sizes and all, keep on these samples. Rankings that are
            averaged are so over one round of inner folds, which takes a fraction of the time.
        """
        check_is_fitted(self, "panel_")
        table = Table(self._checked(X), y, task="classification")
        assert table.codes is not None
        seed = self.seed_ if random_state is None else key_of(random_state)
        support = np.zeros(table.n_features, dtype=bool)
        values = np.ascontiguousarray(table.X, dtype=np.float64)
        codes = table.codes.astype(np.int32)
        design = replace(
            self._design,
            selectors=tuple(dict.fromkeys(m.selector for m in self._members if m.selector != ALL)),
            logs=tuple(dict.fromkeys(m.log for m in self._members)),
        )
        # Nothing is predicted here: the folds only say what rankings are averaged over, so that in
        # half of a table with fewer groups than folds they may part a group, and there are no more
        # of them than the largest class has samples.
        cv = max(2, min(self.cv, int(np.bincount(codes).max())))
        if groups is not None and len(np.unique(group_codes(groups, len(codes)))) < cv:
            groups = None
        folds = self._folds(table, codes, 1, groups, seed, cv)
        parts = ranking.rank_parts(values, codes, design, folds, seed=seed % 2**32)
        ranked = ranking.rank_table(values, codes, design, parts, seed=seed % 2**32)
        for candidate in self._members:
            support[ranked.features(candidate)] = True
        return support

    def _folds(
        self,
        table: Table,
        codes: NDArray[np.int32],
        n_repeats: int,
        groups: Any,
        seed: int,
        cv: int | None = None,
    ) -> NDArray[np.int32]:
        """Return the inner test fold of each sample in each repeat."""
        splits = make_splits(
            self.cv if cv is None else cv,
            table.X,
            table.y,
            codes=codes,
            classes=table.classes,
            n_repeats=n_repeats,
            resample=True,
            groups=groups,
            random_state=0,
        )
        assert isinstance(splits, FreshFolds)
        return splits.folds(seed)

    def _choose(self, X: NDArray[np.float64], raced: Race, ranked: Ranked) -> None:
        """Set the fitted attributes from a race."""
        scores = choice.score_candidates(raced, self.scoring)
        combine = COMBINE if self.combine == "auto" else self.combine
        rule = choice.Rule(
            combine=combine,
            max_features=self.max_features,
            parsimony=float(self.parsimony),
        )
        names = getattr(self, "feature_names_in_", None)
        limits = choice.thresholds_for(raced, scores.name)
        maker = PanelMaker(X, raced, ranked, self.classes_, names, limits)
        chosen = choice.choose(raced, scores, ranked, rule)
        self.panel_ = self.best_estimator_ = maker.panel(chosen.members)
        self.scoring_ = scores.name
        self.support_ = self.panel_.support
        uses = [member.features for member in self.panel_.members]
        self.scores_ = np.bincount(np.concatenate(uses), minlength=X.shape[1]) / len(uses)
        self.ranking_ = positions_of_scores(self.scores_)
        self.n_features_ = int(self.support_.sum())
        self.best_score_ = choice.score_of_members(raced, scores, chosen.members)
        self._design, self._members = raced.design, [raced.candidates[c] for c in chosen.members]
        self.candidates_ = _candidate_table(raced, scores, chosen)
        best = raced.candidates[chosen.members[0]]
        self.alternatives_ = maker.beside(best, scores, self.n_features_)
        rows = []
        for limit in (*LIMITS, None):
            # Without sizes all features are the only panel.
            least = min(raced.design.sizes, default=X.shape[1])
            if limit is not None and (limit >= X.shape[1] or limit < least):
                continue
            mine = choice.choose(raced, scores, ranked, replace(rule, max_features=limit))
            panel = maker.panel(mine.members)
            name = "no limit" if limit is None else f"limit {limit}"
            self.alternatives_[name] = panel
            score = choice.score_of_members(raced, scores, mine.members)
            rows.append((np.nan if limit is None else limit, int(panel.support.sum()), score))
        self.path_ = _frame(rows, ("limit", "n_features", "score"))
        others = {"single best candidate": replace(rule, combine="best")}
        if combine == "best":
            others = {"vote of the best": replace(rule, combine="vote")}
        if rule.parsimony > 0:
            others["without parsimony"] = replace(rule, parsimony=0.0)
        for name, other in others.items():
            mine = choice.choose(raced, scores, ranked, other)
            self.alternatives_[name] = maker.panel(mine.members)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "panel_")
        return validate_data(self, X, reset=False, dtype=np.float64)

    def _check_parameters(self) -> None:
        check_int("cv", self.cv, 2)
        if self.n_repeats is not None:
            check_int("n_repeats", self.n_repeats, 1)
        if self.max_features is not None:
            check_int("max_features", self.max_features, 1)
        check_choice("combine", self.combine, ("auto", "best", "vote"))
        check_choice("log", self.log, ("auto", "always", "never", "both"))
        check_choice("effort", self.effort, EFFORTS)
        check_choice("stability", self.stability, (None, "filter"))
        check_choice("scoring", self.scoring, (None, "accuracy", "balanced_accuracy"))
        if self.parsimony != 0:
            check_number("parsimony", self.parsimony, 0, np.inf, closed="left")
        if self.max_time is not None:
            check_number("max_time", self.max_time, 0, np.inf)
        _listed("selectors", self.selectors, ranker_by_name)
        _listed("estimators", self.estimators, classifier_by_name)
        if self.stability == "filter" and self.selectors != "auto":
            raise ValueError(
                "stability='filter' chooses the selector itself; leave out selectors, or stability"
            )

    def _sizes(self, n_features: int) -> tuple[int, ...] | None:
        if isinstance(self.sizes, str):
            if self.sizes != "auto":
                raise ValueError(f"sizes must be 'auto' or numbers of features, got {self.sizes!r}")
            return None
        if not isinstance(self.sizes, Iterable):
            raise ValueError(
                f"sizes must be 'auto' or a list of numbers of features, got {self.sizes!r}"
            )
        given = list(self.sizes)
        for size in given:
            check_int("sizes", size, 1)
        if self.max_features is not None:
            given.append(self.max_features)
        return tuple(sorted({int(size) for size in given if size < n_features}))

    def _logs(self, X: NDArray[np.float64]) -> tuple[bool, ...]:
        if self.log in ("always", "never"):
            return (self.log == "always",)
        would = log_floor(X) is not None
        return (False, True) if would and self.log == "both" else (would,)

    def _n_jobs(self, plan: Plan) -> int:
        """Return the processes to use: starting them takes a second or two."""
        if self.n_jobs is None and plan.seconds(1) < 4.0:
            return 1
        return effective_n_jobs(self.n_jobs)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = False
        return tags


def _refuse_lone_classes(
    folds: NDArray[np.int32], codes: NDArray[np.int32], classes: NDArray[Any]
) -> None:
    """Refuse inner folds that train on samples of one class."""
    for row in folds:
        for fold in np.unique(row):
            known = np.unique(codes[row != fold])
            if len(known) < 2:
                raise ValueError(
                    f"an inner fold trains on samples of one class alone ({classes[known[0]]}): "
                    "the others have too few samples, or all stand in one group; merge classes, or "
                    "leave out the groups"
                )


def _listed(name: str, value: Any, by_name: Callable[[str], Any]) -> tuple[str, ...] | None:
    """Return names as a tuple, an alias as the name it stands for; None for "auto"."""
    if isinstance(value, str):
        if value == "auto":
            return None
        raise ValueError(f"{name} must be 'auto' or a list of names, got {value!r}")
    if not isinstance(value, Iterable):
        raise ValueError(f"{name} must be 'auto' or a list of names, got {value!r}")
    given = tuple(value)
    if not given:
        raise ValueError(f"{name} must name at least one, got an empty list")
    names = tuple(by_name(one).name for one in given)
    if len(set(names)) < len(names):
        raise ValueError(f"{name} names one twice: {shorten(given)}")
    return names


def _candidate_table(raced: Race, scores: choice.Scores, chosen: choice.Choice) -> pd.DataFrame:
    stability = choice.stabilities(raced)
    rows = [
        (
            one.selector,
            one.size,
            one.classifier,
            one.log,
            float(scores.score[number]),
            scores.standard_error(number),
            float(chosen.smoothed[number]),
            float(stability[number]),
            number in chosen.members,
        )
        for number, one in enumerate(raced.candidates)
    ]
    order = np.lexsort(([row[1] for row in rows], [-row[6] for row in rows]))
    names = (
        *("selector", "size", "estimator", "log"),
        *("score", "standard_error", "smoothed", "stability", "chosen"),
    )
    return _frame([rows[number] for number in order], names)


def _frame(rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=list(names))
