"""What nested cross-validation found, and which of its numbers may be published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve.evaluation.alternatives import Alternative
from bitsieve.evaluation.interval import NO_INTERVAL, Interval
from bitsieve.evaluation.performance import ClassPerformance, class_performance
from bitsieve.evaluation.predictions import Predictions

__all__ = ["NestedResult"]


@dataclass(frozen=True, repr=False, eq=False)
class NestedResult:
    """Scores of a selection that was repeated in every outer fold.

    Only :attr:`score` is honest: it comes from samples that neither the selection nor the
    estimator saw. ``observed`` and ``re-measured`` scores come from the searched samples and are
    optimistic, however often they are measured.

    Attributes
    ----------
    score : float
        Mean of :attr:`scores`, the number that may be published, with :attr:`interval`.
    interval : Interval
        Confidence interval (low, high) of the expected score of the folds' rules on new samples:
        the union of the corrected resampled t-interval and one that has width where the folds
        agree (accuracy: exact binomial; balanced accuracy: the classes' exact intervals; ROC AUC
        of two classes: Newcombe's method 5; others: a bootstrap of the predictions), clipped to
        the range of the scorer. NaN where a fold's score is not finite, and for a scorer of one's
        own that needs more than predictions, where there is a single fold or it gives the same
        number for everything.
    level : float
        Its level of confidence.
    scores : float64 array of shape (n_folds,)
        Score of the selected features on each outer test part; greater is better.
    full_scores : float64 array of shape (n_folds,)
        The same estimator with all features, same folds. For a selector that predicts itself, its
        alternative of all features, or itself without selection; NaN where it has neither.
    chance_scores : float64 array of shape (n_folds,)
        ``DummyClassifier("prior")`` or ``DummyRegressor()``, same folds.
    observed_scores, remeasured_scores : float64 arrays of shape (n_folds,)
        What the search claimed inside each fold (``best_observed_score_``, ``best_score_``); NaN
        where the selector has no such attribute. The ``best_score_`` of one that predicts itself,
        or has no ``best_observed_score_`` beside it, is what it chose by: observed, not measured
        again.
    optimism, remeasured_optimism : float
        Mean claimed score minus mean honest score. The claim is the best that the search saw,
        maybe of another selection than the one it returned. NaN where nothing was claimed, or
        where the search used another scorer or another estimator.
    supports : bool array of shape (n_folds, n_features)
        The features that each fold selected.
    consensus_support : bool array of shape (n_features,)
        Selected in more than half the folds. This set itself was not scored.
    n_features : int64 array of shape (n_folds,)
        Number of selected features a fold.
    seeds : int64 array of shape (n_folds,)
        Seed given to every ``random_state=None`` of a fold.
    random_state : int
        The seed those were drawn from; pass it to repeat the evaluation.
    seconds : float64 array of shape (n_folds,)
        Wall-clock time of each fold, in seconds.
    scoring : str
        Name of the scorer.
    folds : list of (train, test) int64 arrays
        The outer splits.
    feature_names : list of str or None
        Column names, where the input had them.
    full_interval : Interval
        Confidence interval of :attr:`full_difference`: the union of the corrected resampled
        t-interval of the folds' differences and, for accuracies, of the interval of paired
        proportions.
    predictions : Predictions or None
        What each outer fold predicted of each sample that it tested.
    remarks : tuple of str
        What to know of the searches before the numbers are read, such as that they were stopped
        early.
    copies : str or None
        What to say of samples that stand twice; None without.
    groups : int32 array of shape (n_samples,) or None
        Numbers of the groups of samples, where there were some.
    repeats : int64 array of shape (n_folds,)
        Which round of the outer folds each fold belongs to, from 0; a round tests every sample
        once. All 0 where the folds are no rounds.
    alternatives : dict of str to Alternative
        The other predictors that the selector made inside every fold (its ``alternatives_``),
        scored on the same test parts.
    """

    score: float
    interval: Interval
    level: float
    scores: NDArray[np.float64]
    full_scores: NDArray[np.float64]
    chance_scores: NDArray[np.float64]
    observed_scores: NDArray[np.float64]
    remeasured_scores: NDArray[np.float64]
    optimism: float
    remeasured_optimism: float
    supports: NDArray[np.bool_]
    seeds: NDArray[np.int64]
    random_state: int
    seconds: NDArray[np.float64]
    scoring: str
    folds: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)
    feature_names: list[str] | None = None
    full_interval: Interval = NO_INTERVAL
    predictions: Predictions | None = None
    remarks: tuple[str, ...] = ()
    copies: str | None = None
    groups: NDArray[np.int32] | None = None
    repeats: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    alternatives: Mapping[str, Alternative] = field(default_factory=dict)

    def performance(self, name: str | None = None, *, positive: object = None) -> ClassPerformance:
        """Return how the out-of-fold predictions tell the classes apart.

        Parameters
        ----------
        name : str, optional
            Of an alternative; None for the selection itself.
        positive : object, optional
            One of two classes: what is looked for. The second of the sorted ones by default.

        Returns
        -------
        ClassPerformance

        Raises
        ------
        ValueError
            For a regressor, and a positive class that is not one of two.
        """
        predictions = self.predictions if name is None else self.alternatives[name].predictions
        if predictions is None:
            raise ValueError("class performance needs predictions, and this result has none")
        return class_performance(
            predictions, self.folds, positive=positive, groups=self.groups, level=self.level
        )

    @property
    def n_repeats(self) -> int:
        """Number of rounds of the outer folds."""
        return int(self.repeats.max()) + 1 if len(self.repeats) else 1

    @property
    def n_folds(self) -> int:
        """Number of outer folds."""
        return len(self.scores)

    @property
    def n_features(self) -> NDArray[np.int64]:
        """Number of selected features in each fold."""
        return np.asarray(self.supports.sum(axis=1), dtype=np.int64)

    @property
    def n_times_selected(self) -> NDArray[np.int64]:
        """In how many folds each feature was selected, shape (n_features,)."""
        return np.asarray(self.supports.sum(axis=0), dtype=np.int64)

    @property
    def consensus_support(self) -> NDArray[np.bool_]:
        """Features that more than half the folds selected."""
        support: NDArray[np.bool_] = 2 * self.n_times_selected > self.n_folds
        return support

    @property
    def full_score(self) -> float:
        """Mean score with all features."""
        return float(self.full_scores.mean())

    @property
    def full_difference(self) -> float:
        """Mean score of the selection minus mean score with all features, on the same folds."""
        return float((self.scores - self.full_scores).mean())

    @property
    def full_comparison(self) -> Literal["selection", "full set", "no difference shown"]:
        """Which of the two predicts better, where :attr:`full_interval` lies on one side of 0.

        A difference within rounding (1e-9) is none.
        """
        low, high = self.full_interval
        if low > 0.0 and self.full_difference > 1e-9:
            return "selection"
        if high < 0.0 and self.full_difference < -1e-9:
            return "full set"
        return "no difference shown"

    @property
    def chance_score(self) -> float:
        """Mean score of a prediction that looks at no feature."""
        return float(self.chance_scores.mean())

    @property
    def beats_chance(self) -> bool | None:
        """Whether the whole interval lies above the chance level; None without an interval."""
        if np.isnan(self.interval.low):
            return None
        return self.interval.low > self.chance_score

    def summary(self) -> str:
        """Return the result as a short text that says which number may be published.

        Returns
        -------
        str
            Several lines, without a final newline.
        """
        low, high = self.interval
        span = (
            "no interval"
            if np.isnan(low)
            else f"{100 * self.level:g} % interval {low:.4f} to {high:.4f}"
        )
        better = self.full_comparison
        compared = better if better == "no difference shown" else f"the {better} predicts better"
        sizes = self.n_features
        size = str(sizes.min()) if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
        use = (
            "this number may be published"
            if self.copies is None
            else "not for publication: copies of test samples may have been trained on"
        )
        folds = f"{self.n_folds} outer folds"
        if self.n_repeats > 1:
            folds = f"{self.n_repeats} x {self.n_folds // self.n_repeats} outer folds"
        lines = [
            f"Nested cross-validation: {folds}, {self.scoring}, greater is better.",
            f"  honest        {self.score:8.4f}  nested cross-validation; {span}; {use}",
        ]
        if not np.isnan(self.full_score):
            lines.append(
                f"  all features  {self.full_score:8.4f}  same estimator and folds; {compared}"
            )
        lines.append(f"  chance        {self.chance_score:8.4f}  no-information rate, same folds")
        for name, scores, why in (
            ("observed", self.observed_scores, "apparent: best that the searches saw"),
            ("re-measured", self.remeasured_scores, "inner cross-validation on fresh folds"),
        ):
            if not np.all(np.isnan(scores)):
                lines.append(
                    f"  {name:<12}  {np.nanmean(scores):8.4f}  {why}; optimistic, "
                    "not for publication"
                )
        if not np.isnan(self.optimism):
            lines.append(f"  optimism      {self.optimism:8.4f}  observed minus honest")
        lines.append(
            f"  {size} of {self.supports.shape[1]} features a fold; "
            f"{int(self.consensus_support.sum())} in more than half the folds."
        )
        if self.beats_chance is False:
            lines.append(
                "The honest interval reaches the chance level: the selection is not shown to "
                "predict better than chance."
            )
        lines += self.remarks
        if self.copies is not None:
            lines.append(f"{self.copies}.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()
