"""The outcome of a selection job as a table for the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bitsieve.report.outcome import Outcome, counted, printable

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["STACKED_BELOW", "outcome_table"]

#: Columns of a terminal below which the table is stacked.
STACKED_BELOW = 60


def outcome_table(outcome: Outcome, *, n_names: int = 8, stacked: bool = False) -> Table:
    """Return the outcome as a Rich table.

    Parameters
    ----------
    outcome : Outcome
    n_names : int, default 8
        How many names of the panel to show.
    stacked : bool, default False
        What a value is on a line of its own below it, for terminals narrower than
        :data:`STACKED_BELOW`.

    Returns
    -------
    rich.table.Table
        Three columns: what, value, and what the value is; one column where stacked.

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
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(
            f"{printable(outcome.source)}: {outcome.n_samples:,} samples, "
            f"{len(outcome.names):,} features; {outcome.method} with {outcome.estimator}"
        ),
        title_justify="left",
        box=None if stacked else box.SIMPLE_HEAD,
        show_header=False,
    )
    if stacked:
        table.add_column(overflow="fold")
        for what, value, note in _rows(outcome, n_names):
            style = "bold" if what.startswith("honest") else ""
            table.add_row(Text(f"{what}: {value}", style))
            table.add_row(Padding(Text(note, style), (0, 0, 0, 2)))
        return table
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for row in _rows(outcome, n_names):
        style = "bold" if row[0].startswith("honest") else ""
        table.add_row(*(Text(cell, style) for cell in row))
    return table


def _restarts(outcome: Outcome) -> tuple[str, str, str]:
    """Return the row of the restarts: how many, how alike their panels are, how good."""
    scores = sorted(one.score for one in outcome.restarts if not math.isnan(one.score))
    spread = ""
    if scores:
        ends = [outcome.shown(score) for score in (scores[0], scores[-1])]
        least, most = ends[::-1] if outcome.is_error else ends
        spread = f"; re-measured {outcome.measure} {least} to {most}, the best was taken"
    return (
        "restarts",
        f"{len(outcome.restarts)}",
        f"searches from other seeds: two of their panels overlap by {outcome.restart_overlap:.2f} "
        f"on average (Jaccard index){spread}",
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _rows(outcome: Outcome, n_names: int) -> list[tuple[str, str, str]]:
    """Return what, value, and what the value is, of each row of the table."""
    names, what, nested = outcome.selected_names, outcome.measure, outcome.nested
    first = ", ".join(printable(name) for name in names[:n_names])
    more = f" and {len(names) - n_names:,} more" if len(names) > n_names else ""
    another = outcome.best_of_another
    beside = "" if another is None else f" ({outcome.shown(another)} of another panel)"
    all_of_them = f"all {counted(len(outcome.names))}" if len(outcome.names) > 1 else "the feature"
    inner = f" ({outcome.inner})" if outcome.inner else ""
    where = (
        "resubstitution: the samples that the network was trained on; optimistic"
        if outcome.is_trained
        else f"inner cross-validation{inner}, the elimination repeated in each fold, at the best "
        "size; optimistic"
        if outcome.remeasured is None
        else f"apparent {what}: best inner cross-validation{inner} of it{beside}; optimistic"
    )
    apparent = "apparent" if outcome.is_trained else "observed"
    rows = [
        ("panel", f"{len(names):,} of {len(outcome.names):,}", first + more or "no feature"),
        (f"{apparent} {what}", outcome.shown(outcome.observed), where),
    ]
    if outcome.remeasured is not None:
        rows.append(
            (
                f"re-measured {what}",
                outcome.shown(outcome.remeasured),
                "inner cross-validation on fresh folds of the same samples; optimistic",
            )
        )
    if nested is None:
        rows.append((f"honest {what}", "not measured", "no outer folds"))
    else:
        rows.append(
            (
                f"honest {what}",
                outcome.shown(nested.score),
                f"nested cross-validation: {outcome.folds or f'{nested.n_folds} outer folds'}, "
                f"{outcome.interval_text()}",
            )
        )
        if not math.isnan(nested.full_score):
            rows.append(
                (
                    f"full-set {what}",
                    outcome.shown(nested.full_score),
                    f"{all_of_them} with the same estimator, same outer folds",
                )
            )
        rows.append(
            (
                f"chance {what}",
                outcome.shown(nested.chance_score),
                "no-information rate: no feature, the prior of the training part, same outer folds",
            )
        )
    if nested is not None and outcome.recurrence is not None:
        every, some, none = outcome.recurrence
        rows.append(
            (
                "stability",
                f"{every:,} of {len(names):,}",
                "features of the panel that all outer folds selected again "
                f"(all {nested.n_folds}: {every:,}, some: {some:,}, none: {none:,})",
            )
        )
    if outcome.restart_overlap is not None:
        rows.append(_restarts(outcome))
    if outcome.seed is not None:
        rows.append(
            (
                "seed",
                f"{outcome.seed}",
                "another seed gives another panel and another "
                f"{'honest ' if nested else ''}{what}: choose it before you look",
            )
        )
    outer = 0.0 if nested is None else float(nested.seconds.sum())
    again = ""
    if outcome.n_final_evaluations:
        best = "one" if outcome.n_finalists == 1 else f"{outcome.n_finalists}"
        again = f" + {outcome.n_final_evaluations:,} to measure the best {best} again"
    by = "" if outcome.fallback_reason is None else " by scikit-learn, without a kernel"
    if outcome.is_trained:
        work = _counted(outcome.n_iterations, "epoch")
    elif outcome.did == "elimination":
        work = f"{_counted(outcome.n_evaluations, 'size')} compared, "
        work += _counted(outcome.n_iterations, "step")
    else:
        work = f"{_counted(outcome.n_evaluations, 'evaluation')}, "
        work += _counted(outcome.n_iterations, "iteration")
    spent = f"{outcome.did} {outcome.seconds:.1f} s{by} ({work}{again})"
    rows.append(
        (
            "time",
            f"{outcome.seconds + outer:.1f} s",
            spent if nested is None else f"{spent}, outer folds {outer:.1f} s",
        )
    )
    return rows
