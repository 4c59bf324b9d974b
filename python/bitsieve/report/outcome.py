"""The outcome of a selection job: its numbers, its table, and in words what each number is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.report.selection import selection_rows

if TYPE_CHECKING:
    from rich.table import Table

    from bitsieve.evaluation import NestedResult

__all__ = ["Outcome", "outcome_table", "printable"]

_ERRORS = {"accuracy": "error", "balanced_accuracy": "balanced error"}


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
    observed, remeasured : float
        Scores (greater is better): best that the search saw, and the chosen selection measured
        again on fresh folds of the same samples.
    n_evaluations, n_iterations : int
    seconds : float
        Wall-clock time of the search, in seconds.
    stop_reason : dict of str to object
    nested : NestedResult or None
        The outer folds; None where there were none.
    interrupted : bool
        Whether the job was stopped before its end.
    """

    source: str
    method: str
    estimator: str
    scoring: str
    names: Sequence[str]
    n_samples: int
    support: NDArray[np.bool_]
    observed: float
    remeasured: float
    n_evaluations: int
    n_iterations: int
    seconds: float
    stop_reason: dict[str, Any] = field(default_factory=dict)
    nested: NestedResult | None = None
    interrupted: bool = False

    @property
    def measure(self) -> str:
        """What is shown: "error" for accuracy, else the scorer's name."""
        return _ERRORS.get(self.scoring, self.scoring.replace("_", " "))

    @property
    def is_error(self) -> bool:
        """Whether scores are shown as an error, 1 minus the score, in percent."""
        return self.scoring in _ERRORS

    @property
    def selected_names(self) -> list[str]:
        """Selected features, the ones that most outer folds agreed on first."""
        times = None if self.nested is None else self.nested.n_times_selected
        return [row[0] for row in selection_rows(self.names, self.support, times) if row[2]]

    def shown(self, score: float) -> str:
        """Return a score as it is shown: 12.3 % for an error, 0.877 otherwise."""
        if np.isnan(score):
            return "not measured"
        return f"{100.0 * (1.0 - score):.1f} %" if self.is_error else f"{score:.3f}"

    def interval_text(self) -> str:
        """Return the honest interval as text, such as "95 % interval 6.0 % to 20.0 %"."""
        if self.nested is None or np.isnan(self.nested.interval.low):
            return "no interval from a single fold"
        low, high = self.nested.interval
        if self.is_error:
            low, high = high, low
        return f"{100 * self.nested.level:g} % interval {self.shown(low)} to {self.shown(high)}"

    def sentences(self) -> list[str]:
        """Say what each number is, and which of them may be published.

        Returns
        -------
        list of str
            Whole sentences, the most important ones last.
        """
        what = self.measure
        said = [
            f"The observed and the re-measured {what} come from the samples that were searched: "
            "both are optimistic, neither may be published."
        ]
        if self.nested is None:
            why = (
                "The job was stopped before the outer folds were done"
                if self.interrupted
                else "No outer folds were asked for"
            )
            said.append(f"{why}: there is no honest {what}, so no number here may be published.")
            return said
        said.append(
            f"Only the honest {what} may be published: {self.shown(self.nested.score)} "
            f"({self.interval_text()}), from {self.nested.n_folds} outer folds whose test samples "
            "neither the selection nor the estimator saw."
        )
        if self.nested.score < self.nested.full_score:
            said.append(
                f"On the same folds the full set of {_counted(len(self.names))} predicts "
                f"better than the selection does ({self.shown(self.nested.full_score)})."
            )
        if self.nested.beats_chance is False:
            chance = self.nested.chance_score
            lies = "includes" if chance in self.nested.interval else "lies beyond"
            said.append(
                f"The interval of the honest {what} {lies} the chance level "
                f"({self.shown(chance)}, a prediction that looks at no feature): this selection "
                "is not shown to predict better than chance."
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
            "remeasured_score": self.remeasured,
            "honest_score": None,
            "honest_interval": None,
            "full_set_score": None,
            "chance_score": None,
            "optimism": None,
            "better_than_chance": None,
            "n_evaluations": self.n_evaluations,
            "n_iterations": self.n_iterations,
            "stop_reason": self.stop_reason,
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
                "chance_score": nested.chance_score,
                "optimism": nested.optimism,
                "better_than_chance": nested.beats_chance,
                "fold_scores": nested.scores,
                "fold_full_set_scores": nested.full_scores,
                "fold_observed_scores": nested.observed_scores,
                "fold_remeasured_scores": nested.remeasured_scores,
                "fold_n_selected": nested.n_features,
                "consensus": [
                    str(name)
                    for name, kept in zip(self.names, nested.consensus_support, strict=True)
                    if kept
                ],
                "outer_seconds": float(nested.seconds.sum()),
            }
        if self.is_error:
            for name in ("observed", "remeasured", "honest", "full_set", "chance"):
                score = found[f"{name}_score"]
                found[f"{name}_error"] = None if score is None else 1.0 - score
            if nested is not None:
                found["honest_error_interval"] = [
                    1.0 - nested.interval.high,
                    1.0 - nested.interval.low,
                ]
        return found


def outcome_table(outcome: Outcome, *, n_names: int = 8) -> Table:
    """Return the outcome as a Rich table.

    Parameters
    ----------
    outcome : Outcome
    n_names : int, default 8
        How many names of the panel to show.

    Returns
    -------
    rich.table.Table
        Three columns: what, value, and what the value is.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.report import Outcome, outcome_table
    >>> outcome = Outcome(
    ...     source="genes.csv", method="bspsa", estimator="1nn", scoring="accuracy",
    ...     names=["tp53", "egfr"], n_samples=40, support=np.array([True, False]), observed=0.95,
    ...     remeasured=0.93, n_evaluations=30, n_iterations=10, seconds=0.1)
    >>> outcome_table(outcome).row_count
    5
    >>> outcome.sentences()[-1]
    'No outer folds were asked for: there is no honest error, so no number here may be published.'
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(
            f"{printable(outcome.source)}: {outcome.n_samples:,} samples, "
            f"{len(outcome.names):,} features; {outcome.method} with {outcome.estimator}"
        ),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_header=False,
    )
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")

    def row(what: str, value: str, note: str, style: str = "") -> None:
        table.add_row(Text(what, style), Text(value, style), Text(note, style))

    names = outcome.selected_names
    first = ", ".join(printable(name) for name in names[:n_names])
    more = f" and {len(names) - n_names:,} more" if len(names) > n_names else ""
    row("panel", f"{len(names):,} of {len(outcome.names):,}", first + more or "no feature")
    what, nested = outcome.measure, outcome.nested
    row(f"observed {what}", outcome.shown(outcome.observed), "best the search saw; optimistic")
    row(
        f"re-measured {what}",
        outcome.shown(outcome.remeasured),
        "fresh folds of the same samples; optimistic",
    )
    if nested is not None:
        row(
            f"honest {what}",
            outcome.shown(nested.score),
            f"{nested.n_folds} outer folds, {outcome.interval_text()}",
            "bold",
        )
        row(
            f"full-set {what}",
            outcome.shown(nested.full_score),
            f"{_counted(len(outcome.names))}, same outer folds",
        )
        row(
            f"chance {what}",
            outcome.shown(nested.chance_score),
            "no feature (the prior of the training part), same outer folds",
        )
    else:
        row(f"honest {what}", "not measured", "no outer folds", "bold")
    spent = outcome.seconds + (0.0 if nested is None else float(nested.seconds.sum()))
    row(
        "time",
        f"{spent:.1f} s",
        f"search {outcome.seconds:.1f} s ({outcome.n_evaluations:,} evaluations, "
        f"{outcome.n_iterations:,} iterations)"
        + ("" if nested is None else f", outer folds {float(nested.seconds.sum()):.1f} s"),
    )
    return table


def _counted(n_features: int) -> str:
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
