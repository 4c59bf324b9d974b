"""The outcome of a selection job: its numbers, and in words what each number is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitsieve.report.measure import Measure
from bitsieve.report.selection import selection_rows

if TYPE_CHECKING:
    from bitsieve.evaluation import NestedResult

__all__ = ["Outcome", "Restarted", "counted", "printable"]


_UNSEEN = "neither the selection nor the estimator saw"


class Restarted(NamedTuple):
    """What one restart of a search selected.

    Attributes
    ----------
    support : bool array of shape (n_features,)
    score : float
        Measured again on fresh folds; NaN where it was interrupted.
    seed : int
    """

    support: NDArray[np.bool_]
    score: float
    seed: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one selection job found.

    Attributes
    ----------
    source, method, estimator, scoring : str
        Where the data came from, and the names of what was used.
    names : sequence of n_features str
    n_samples : int
    support : bool array of shape (n_features,)
        The selection from all samples.
    observed : float
        Score (greater is better) of the selection, the best that the search saw of it; of a network
        its score of the samples that it was trained on.
    remeasured : float or None
        Measured again on fresh folds of the same samples; None of an elimination, which is measured
        inside its folds alone, and of a training.
    n_evaluations, n_iterations : int
        Of the search; of a training 0, and its epochs.
    seconds : float
        Wall-clock time of the search, in seconds.
    stop_reason : dict of str to object
    nested : NestedResult or None
        The outer folds; None where there were none.
    folds, inner : str
        What those and the inner folds are, in plain words.
    interrupted : bool
        Whether the job was stopped before its end.
    best_observed : float or None
        The best that the search saw of any selection; None means ``observed``.
    n_final_evaluations, n_finalists : int
        What measuring the best again took on top of the search, and how many those were.
    seed : int or None
        Of the search and the outer folds; None where it is not known.
    max_iter : int or None
        The most iterations that the search might have taken; None where it is not known.
    is_sized : bool
        Whether the size of the panel was asked for.
    doubts : mapping of str to str
        Features that are evidently none, and why.
    stopped_early : bool
        Whether the search ended before it could have told anything.
    final_cut : str or None
        What a limit of time left out of measuring the best again.
    copies : str or None
        What to say of samples that stand twice.
    kernel : str or None
        The compiled fitness of the search; None where scikit-learn evaluated each mask.
    fallback_reason : str or None
        Why scikit-learn did.
    n_declined : int
        Masks of the search that the kernel left to scikit-learn.
    restarts : sequence of Restarted
        One for each seed that was searched from; of one seed alone nothing is told.
    restart_overlap : float or None
        Mean Jaccard index of the selections of two of them; None where there was one.
    is_trained : bool
        Whether a network that selects and predicts was trained, rather than subsets measured.
    """

    source: str
    method: str
    estimator: str
    scoring: str
    names: Sequence[str]
    n_samples: int
    support: NDArray[np.bool_]
    observed: float
    remeasured: float | None
    n_evaluations: int
    n_iterations: int
    seconds: float
    stop_reason: dict[str, Any] = field(default_factory=dict)
    nested: NestedResult | None = None
    folds: str = ""
    inner: str = ""
    interrupted: bool = False
    best_observed: float | None = None
    n_final_evaluations: int = 0
    n_finalists: int = 0
    seed: int | None = None
    max_iter: int | None = None
    is_sized: bool = False
    doubts: Mapping[str, str] = field(default_factory=dict)
    stopped_early: bool = False
    final_cut: str | None = None
    copies: str | None = None
    kernel: str | None = None
    fallback_reason: str | None = None
    n_declined: int = 0
    restarts: Sequence[Restarted] = ()
    restart_overlap: float | None = None
    is_trained: bool = False

    @property
    def did(self) -> str:
        """What was done: "search", "elimination" or "training"."""
        if self.is_trained:
            return "training"
        return "elimination" if self.remeasured is None else "search"

    @property
    def best_of_another(self) -> float | None:
        """The best score that the search saw where it is not the selection's own, else None."""
        best = self.best_observed
        return best if best is not None and best > self.observed else None

    @property
    def measure(self) -> str:
        """What is shown: "error" for accuracy, else the scorer's name."""
        return Measure(self.scoring).name

    @property
    def is_error(self) -> bool:
        """Whether scores are shown as an error, 1 minus the score, in percent."""
        return Measure(self.scoring).is_error

    @property
    def selected_names(self) -> list[str]:
        """Selected features, the ones that most outer folds agreed on first."""
        times = None if self.nested is None else self.nested.n_times_selected
        return [row[0] for row in selection_rows(self.names, self.support, times) if row[2]]

    @property
    def recurrence(self) -> tuple[int, int, int] | None:
        """How many features of the panel all, some and none of the outer folds selected again."""
        if self.nested is None:
            return None
        times = self.nested.n_times_selected[self.support]
        every, none = int((times == self.nested.n_folds).sum()), int((times == 0).sum())
        return every, len(times) - every - none, none

    @property
    def recurs_by_chance(self) -> bool | None:
        """Whether the panel recurs in the outer folds hardly more than one drawn at random would.

        Chance is granted two standard deviations of the hypergeometric count, and a tenth of the
        way from its mean to a panel that recurs in every fold. None where the folds cannot tell:
        without folds, and where every feature or none was selected.
        """
        if self.nested is None:
            return None
        n, p, sizes = int(self.support.sum()), len(self.names), self.nested.n_features
        shares = sizes / p
        spread = float((n * shares * (1 - shares)).sum()) * (p - n) / max(p - 1, 1)
        if spread <= 0.0:
            return None
        again = float(self.nested.n_times_selected[self.support].sum())
        by_chance = float((n * shares).sum())
        granted = max(2.0 * spread**0.5, 0.1 * (n * len(sizes) - by_chance))
        return bool(again <= by_chance + granted)

    def shown(self, score: float) -> str:
        """Return a score as it is shown: 12.3 % for an error, 0.877 otherwise."""
        return Measure(self.scoring).shown(score)

    def interval_text(self) -> str:
        """Return the honest interval as text, such as "95 % interval 6.0 % to 20.0 %"."""
        if self.nested is None or np.isnan(self.nested.interval.low):
            return "no interval"
        span = Measure(self.scoring).span(self.nested.interval)
        return f"{100 * self.nested.level:g} % interval {span}"

    def sentences(self) -> list[str]:
        """Say what each number is, and which of them may be published.

        Returns
        -------
        list of str
            Whole sentences, the most important ones last.
        """
        what = self.measure
        said = self._remarks()
        said.append(
            f"The apparent {what} comes from the samples that the network was trained on: it is "
            "optimistic, and may not be published."
            if self.is_trained
            else f"The observed {what} comes from the samples that were searched: it is "
            "optimistic, and may not be published."
            if self.remeasured is None
            else f"The observed and the re-measured {what} come from the samples that were "
            "searched: both are optimistic, neither may be published."
        )
        if self.nested is None:
            why = (
                "The job was stopped before the outer folds were done"
                if self.interrupted
                else "No outer folds were asked for"
            )
            said.append(f"{why}: there is no honest {what}, so no number here may be published.")
            return said + self._warning()
        honest = f"{self.shown(self.nested.score)} ({self.interval_text()})"
        if self.copies is None:
            said.append(
                f"Only the honest {what} may be published: {honest}, from {self.nested.n_folds} "
                f"outer folds{f' ({self.folds})' if self.folds else ''} whose test samples "
                f"{'the network did not see' if self.is_trained else _UNSEEN}."
            )
        else:
            said.append(
                f"The honest {what}, {honest}, may not be published either: where a copy of a test "
                "sample was trained on, that sample was seen."
            )
        if not np.isnan(self.nested.full_score):
            said.append(self._compared(self.nested))
        if self.nested.beats_chance is False:
            chance = self.nested.chance_score
            lies = "includes" if chance in self.nested.interval else "lies beyond"
            said.append(
                f"The interval of the honest {what} {lies} the chance level "
                f"({self.shown(chance)}, a prediction that looks at no feature): this selection "
                "is not shown to predict better than chance, and its features are no markers."
            )
        return said + self._warning()

    def _warning(self) -> list[str]:
        """Say that the panel holds what is no feature: then no number means anything."""
        held = [name for name in self.selected_names if name in self.doubts]
        if not held:
            return []
        more = f" and {len(held) - 1:,} more" if len(held) > 1 else ""
        return [
            f"The panel holds {printable(held[0])}{more}, evidently no feature "
            f"({self.doubts[held[0]]}): publish nothing of this run, and repeat it without."
        ]

    def _compared(self, nested: NestedResult) -> str:
        """Say whether the selection or the full set predicts better, on the same folds."""
        selection, everything = self.shown(nested.score), self.shown(nested.full_score)
        full = f"the full set of {counted(len(self.names))}"
        better = nested.full_comparison
        # What cannot be seen in the numbers as they are shown is not said.
        if better == "no difference shown" or selection == everything:
            return (
                f"On the same folds no difference is shown between the selection ({selection}) "
                f"and {full} ({everything})."
            )
        low, high = (100.0 * end if self.is_error else end for end in nested.full_interval)
        span = f"{low:.1f} to {high:.1f} points" if self.is_error else f"{low:.3f} to {high:.3f}"
        if better == "full set":
            return (
                f"On the same folds {full} predicts better than the selection does ({everything}; "
                f"{100 * nested.level:g} % interval of the selection's lead {span})."
            )
        return (
            f"On the same folds the selection predicts better than {full} does ({everything}; "
            f"{100 * nested.level:g} % interval of its lead {span})."
        )

    def _remarks(self) -> list[str]:
        """Say what to know of the search and of the panel before the numbers."""
        said = []
        n, p = int(self.support.sum()), len(self.names)
        if "max_time" in self.stop_reason and self.n_iterations != self.max_iter:
            of = "" if self.max_iter is None else f" of {self.max_iter:,}"
            plural = "" if of == "" and self.n_iterations == 1 else "s"
            said.append(f"Stopped by --max-time after {self.n_iterations:,}{of} iteration{plural}.")
        if self.stopped_early and "max_time" in self.stop_reason:
            said.append("After so few, the panel still depends on its random start.")
        elif self.stopped_early:
            why = ", ".join(self.stop_reason)
            plural = "" if self.n_iterations == 1 else "s"
            said.append(
                f"The search was stopped early, after {self.n_iterations:,} iteration{plural} "
                f"({why}): the panel still depends on its random start."
            )
        if self.final_cut is not None:
            said.append(f"--max-time cut measuring the best again short: {self.final_cut}.")
        if self.copies is not None:
            said.append(f"{self.copies}.")
        if self.nested is not None:
            said += self.nested.remarks
        if p > 100 and 4 * n > p and not self.is_sized:
            said.append(f"The panel holds {counted(n)}; --n-features 20 asks for a small one.")
            if self.nested is not None:
                said.append("Panels this large recur in many outer folds even on noise.")
        again = ""
        if self.recurs_by_chance:
            again = "The outer folds selected the panel's features hardly more often than chance."
        elif self.recurrence is not None and 2 * self.recurrence[2] > n:
            again = f"No outer fold selected {self.recurrence[2]:,} of the panel's {counted(n)}."
        if again:
            said.append(
                f"{again} Other samples would give another panel: do not read these features as "
                "markers."
            )
        return said

    def results(self) -> dict[str, Any]:
        """Return the numbers as a flat dict for JSON; errors lie between 0 and 1.

        Returns
        -------
        dict
            ``*_score`` for every number; ``*_error`` too where the scorer is an accuracy.
        """
        found: dict[str, Any] = {
            "n_selected": int(self.support.sum()),
            "selected": self.selected_names,
            "selected_indices": np.flatnonzero(self.support),
            "observed_score": self.observed,
            "best_observed_score": (
                self.observed if self.best_observed is None else self.best_observed
            ),
            "remeasured_score": self.remeasured,
            "honest_score": None,
            "honest_interval": None,
            "full_set_score": None,
            "full_set_difference": None,
            "full_set_difference_interval": None,
            "full_set_comparison": None,
            "chance_score": None,
            "optimism": None,
            "better_than_chance": None,
            "n_evaluations": self.n_evaluations,
            "n_final_evaluations": self.n_final_evaluations,
            "n_iterations": self.n_iterations,
            "stop_reason": self.stop_reason,
            "kernel": self.kernel,
            "fallback_reason": self.fallback_reason,
            "n_declined": self.n_declined,
            "restart_overlap": self.restart_overlap,
            "restarts": [
                {
                    "seed": one.seed,
                    "score": one.score,
                    "n_selected": int(one.support.sum()),
                    "selected": [self.names[int(j)] for j in np.flatnonzero(one.support)],
                    "selected_indices": np.flatnonzero(one.support),
                }
                for one in self.restarts
                if len(self.restarts) > 1
            ],
            "search_seconds": self.seconds,
            "outer_seconds": None,
        }
        nested = self.nested
        if nested is not None:
            found |= {
                "honest_score": nested.score,
                "honest_interval": [nested.interval.low, nested.interval.high],
                "honest_level": nested.level,
                "full_set_score": nested.full_score,
                "full_set_difference": nested.full_difference,
                "full_set_difference_interval": list(nested.full_interval),
                "full_set_comparison": nested.full_comparison,
                "chance_score": nested.chance_score,
                "optimism": nested.optimism,
                "better_than_chance": nested.beats_chance,
                "fold_scores": nested.scores,
                "fold_full_set_scores": nested.full_scores,
                "fold_observed_scores": nested.observed_scores,
                "fold_remeasured_scores": (
                    None if self.remeasured is None else nested.remeasured_scores
                ),
                "fold_n_selected": nested.n_features,
                "consensus": [
                    str(name)
                    for name, kept in zip(self.names, nested.consensus_support, strict=True)
                    if kept
                ],
                "outer_seconds": float(nested.seconds.sum()),
            }
        if self.is_error:
            for name in ("observed", "best_observed", "remeasured", "honest", "full_set", "chance"):
                score = found[f"{name}_score"]
                found[f"{name}_error"] = None if score is None else 1.0 - score
            if nested is not None:
                found["honest_error_interval"] = [
                    1.0 - nested.interval.high,
                    1.0 - nested.interval.low,
                ]
        return found


def counted(n_features: int) -> str:
    """Return a number of features as text, such as "1 feature" or "2,000 features"."""
    return f"{n_features:,} feature" + ("" if n_features == 1 else "s")


def printable(text: str) -> str:
    """Return text that is safe on a terminal: control characters as escapes.

    Parameters
    ----------
    text : str
        Such as a name from a file.

    Returns
    -------
    str

    Examples
    --------
    >>> from bitsieve.report import printable
    >>> printable("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii")
        for c in text
    )
