"""The page on the terminal that tells of a panel: the number to quote first, then what bears on it.

::

    headline      honest error with its interval, and what it is
    panel         features, direction, how often selected again, substitutes
    same folds    other ways to predict, limits on the size, chance
    classes       confusion matrix, sensitivity, specificity, AUC, calibration
    stability, sites, external file, seed and time
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bitsieve.report.measure import Measure
from bitsieve.report.outcome import printable
from bitsieve.report.panel import Compared, PanelOutcome
from bitsieve.report.table import STACKED_BELOW

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["panel_page"]

_MOST_CLASSES = 8  # whose confusion matrix fits


def panel_page(outcome: PanelOutcome, *, width: int = 100, n_names: int = 8) -> list[Any]:
    """Return what to print of a panel, as Rich renderables.

    Parameters
    ----------
    outcome : PanelOutcome
    width : int, default 100
        Columns of the terminal; below :data:`bitsieve.report.STACKED_BELOW` tables become lists.
    n_names : int, default 8
        How many features of the panel to show.

    Returns
    -------
    list of str, rich.text.Text and rich.table.Table

    Examples
    --------
    >>> from bitsieve.report import PanelFeature, PanelOutcome, panel_page
    >>> outcome = PanelOutcome(
    ...     source="genes.csv", scoring="accuracy", n_samples=40, n_features_in=2000,
    ...     made_by="F test, linear SVM", features=(PanelFeature("tp53", "case"),), inner=0.99)
    >>> print(panel_page(outcome)[0])
    HONEST ERROR: not measured
    """
    return list(_sections(outcome, width, n_names))


def _sections(outcome: PanelOutcome, width: int, n_names: int) -> Iterator[Any]:
    yield _heading(outcome.headline())
    yield outcome.to_quote()
    if outcome.honest is not None:
        yield outcome.not_to_quote()
    yield from outcome.remarks
    yield ""
    yield _heading("PANEL ") + outcome.panel_text
    yield from _panel(outcome, width, n_names)
    if outcome.rivals or outcome.limits:
        yield ""
        yield from _beside(outcome, width)
        yield from outcome.comparison()
    if outcome.classes:
        yield ""
        yield from _classes(outcome, width)
    if outcome.stability:
        yield ""
        yield _heading("STABILITY ") + " ".join(outcome.stability)
    if outcome.sites:
        yield ""
        yield from _sites(outcome, width)
    if outcome.external is not None:
        yield ""
        yield _external(outcome)
    yield ""
    yield _last(outcome)


def _heading(text: str) -> Any:
    from rich.text import Text

    return Text(printable(text), "bold")


def _panel(outcome: PanelOutcome, width: int, n_names: int) -> Iterator[Any]:
    if outcome.n_selected == outcome.n_features_in > n_names:
        return  # a list of all would say nothing
    again = any(one.n_folds is not None for one in outcome.features)
    n_parts = outcome.n_folds * outcome.n_repeats
    header = ["feature", "higher in"]
    header += [f"selected again, of {n_parts}"] if again else []
    header.append("could be replaced by")
    rows = []
    for one in outcome.features[:n_names]:
        more = len(one.substitutes) - 3
        others = ", ".join(one.substitutes[:3]) + (f" and {more} more" if more > 0 else "")
        row = [one.name, one.direction]
        row += [str(one.n_folds)] if again else []
        rows.append([*row, others])
    yield from _table(header, rows, width, right=(2,) if again else ())
    if len(outcome.features) > n_names:
        yield f"and {len(outcome.features) - n_names:,} more in selection.csv"


def _beside(outcome: PanelOutcome, width: int) -> Iterator[Any]:
    measure = outcome.measure
    header = [
        "SAME FOLDS", measure.name, f"{100 * outcome.level:g} % interval", "features",
        f"panel better by{',' if measure.unit else ''}{measure.unit}",
    ]  # fmt: skip
    rows = []
    if outcome.honest is not None:
        rows.append([*_measured(outcome, outcome.honest), ""])
    for one in (*outcome.limits, *outcome.rivals):
        lead, span = measure.lead(one.lead), measure.lead_span(one.lead_interval)
        lead = lead.removesuffix(measure.unit)
        rows.append([*_measured(outcome, one), f"{lead} ({span})" if span else lead])
    yield from _table(header, rows, width, right=(1, 2, 3, 4), bold=(0,))


def _measured(outcome: PanelOutcome, one: Compared) -> list[str]:
    measure, size = outcome.measure, ""
    if one.n_features is not None:
        least, most = one.n_features
        size = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    span = measure.span(one.interval).replace(" % to", " to")
    return [one.short_label, measure.shown(one.score), span, size]


def _classes(outcome: PanelOutcome, width: int) -> Iterator[Any]:
    shown = len(outcome.classes) <= _MOST_CLASSES
    header = ["CLASS", "samples"]
    header += [f"called {one.name}" for one in outcome.classes] if shown else []
    header += ["sensitivity", "specificity"]
    rows = []
    for one in outcome.classes:
        row = [one.name, f"{one.n_samples:,}"]
        row += [_count(count) for count in one.predicted] if shown else []
        row += [_share(one.sensitivity, one.sensitivity_interval)]
        row += [_share(one.specificity, one.specificity_interval)]
        rows.append(row)
    yield from _table(header, rows, width, right=range(1, len(header)))
    said = []
    if outcome.balanced is not None:
        said.append(f"balanced accuracy {_share(*outcome.balanced)}")
    if outcome.auc is not None:
        value, (low, high) = outcome.auc
        said.append(f"AUC {value:.3f} ({low:.3f} to {high:.3f})")
    if said:
        line = ", ".join(said)
        yield f"{line[0].upper()}{line[1:]}. {outcome.calibration}".rstrip()
    elif outcome.calibration:
        yield outcome.calibration


def _count(samples: float) -> str:
    """Return a mean over repeats with a digit where it is not whole."""
    return f"{samples:,.1f}".removesuffix(".0")


def _share(value: float, interval: Sequence[float]) -> str:
    low, high = interval
    if low != low:  # no interval
        return f"{100 * value:.0f} %"
    return f"{100 * value:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def _sites(outcome: PanelOutcome, width: int) -> Iterator[Any]:
    measure = Measure("accuracy")  # a site may lack a class
    rows = [
        [one.name, f"{one.n_samples:,}", measure.shown(one.score), measure.span(one.interval)]
        for one in outcome.sites
    ]
    header = ["LEFT OUT", "samples", measure.name, f"{100 * outcome.level:g} % interval"]
    yield from _table(header, rows, width, right=(1, 2, 3))


def _external(outcome: PanelOutcome) -> Any:
    one, measure = outcome.external, outcome.measure
    assert one is not None
    span = measure.span(one.interval)
    interval = f" ({100 * outcome.level:g} % interval {span})" if span else ""
    note = f" {one.note}" if one.note else ""
    return _heading(f"EXTERNAL {measure.name.upper()} {measure.shown(one.score)}{interval} ") + (
        printable(
            f"on the {one.n_samples:,} samples of {one.source}, opened once, after the panel was "
            f"fixed.{note}"
        )
    )


def _last(outcome: PanelOutcome) -> str:
    folds = "draws other folds" if outcome.honest is not None else "draws other inner folds"
    return (
        f"Seed {outcome.seed} (another seed {folds}: choose it before you look); "
        f"{outcome.seconds:.0f} s in all."
    )


def _table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    right: Sequence[int] = (),
    bold: Sequence[int] = (),
) -> Iterator[Any]:
    """Yield a table, or on a narrow terminal a list: the first cell, the others below it."""
    from rich.padding import Padding
    from rich.text import Text

    header = [printable(cell) for cell in header]
    if width < STACKED_BELOW:
        for i, row in enumerate(rows):
            style = "bold" if i in bold else ""
            yield Text(printable(row[0]), style)
            pairs = [
                f"{name}: {printable(cell)}"
                for name, cell in zip(header[1:], row[1:], strict=True)
                if cell
            ]
            yield Padding(Text("; ".join(pairs), style), (0, 0, 0, 2))
        return
    table = _empty_table()
    for i, name in enumerate(header):
        table.add_column(
            Text(name, "bold"), justify="right" if i in right else "left", overflow="fold"
        )
    for i, row in enumerate(rows):
        style = "bold" if i in bold else ""
        table.add_row(*(Text(printable(cell), style) for cell in row))
    yield table


def _empty_table() -> Table:
    from rich.table import Table

    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
