"""Tables out of the rows, as Markdown."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from honest.results import Results
from honest.sets import CHOOSE, CONFIRM, load

__all__ = ["page", "report"]

N_RESAMPLED = 20_000
SMALL_CLASS = 0.4

TEMPLATE = Path(__file__).parent / "page.md"


def resampled(difference: NDArray[np.float64]) -> tuple[float, float]:
    """95 % interval of a mean difference over sets, by drawing sets with replacement."""
    draws = np.random.default_rng(0).integers(0, difference.size, (N_RESAMPLED, difference.size))
    low, high = np.quantile(difference[draws].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def comparison(results: Results, reference: str, *, balanced: bool = False) -> pd.DataFrame:
    """Reference minus each rival, in points: below 0 where the reference errs less."""
    means, lines = results.balanced() if balanced else results.means(), {}
    for rival in results.complete():
        d = means[reference] - means[rival]
        if rival == reference:
            continue
        low, high = resampled(d.to_numpy())
        without = (d.sum() - d) / (d.size - 1)
        confirm = d[_in(CONFIRM, results.sets)]
        without_confirm = (confirm.sum() - confirm) / max(confirm.size - 1, 1)
        lines[rival] = {
            "its error": means[rival].mean(),
            "difference": d.mean(),
            "95 % over sets": f"{low:.1f} to {high:.1f}",
            "highest without a set": f"{without.max():.2f} ({without.idxmax()})",
            "choose": d[_in(CHOOSE, results.sets)].mean(),
            "confirm": confirm.mean(),
            "confirm, highest without a set": without_confirm.max(),
            "better, worse on": f"{np.sum(d < -1e-9)}, {np.sum(d > 1e-9)}",
        }
    table = pd.DataFrame.from_dict(lines, orient="index").sort_values("its error")
    table.index.name = f"{reference} minus"
    return table


def markdown(table: pd.DataFrame, digits: int = 1) -> str:
    """A table in Markdown, numbers with so many digits after the point."""

    def cell(value: object) -> str:
        if isinstance(value, float | np.floating):
            return "-" if np.isnan(value) else f"{value:.{digits}f}"
        return str(value)

    head = [str(table.index.name or ""), *map(str, table.columns)]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for name, values in zip(table.index, table.itertuples(index=False), strict=True):
        lines.append("| " + " | ".join([str(name), *map(cell, values)]) + " |")
    return "\n".join(lines)


def report(folder: Path, sets: list[str], references: list[str]) -> str:
    """All tables."""
    results = Results(folder, sets)
    means = results.means()
    order = _order(results)
    counts = {name: np.bincount(load(name).codes) for name in results.sets}
    small = [name for name, n in counts.items() if n.min() < SMALL_CLASS * n.sum()]

    def rows(table: pd.DataFrame, mean: bool = False) -> pd.DataFrame:
        turned = table[[c for c in order if c in table.columns]].T
        turned.index.name = "procedure"
        if mean:
            turned.insert(0, "mean", turned.mean(axis=1, skipna=False))
        return turned

    def over_folds(table: pd.DataFrame, how: str) -> pd.DataFrame:
        return table.groupby(level="set", sort=False).agg(how).reindex(results.sets)

    parts = {
        "Error, percent": markdown(_errors(results, order)),
        "Three sets, with procedures that take minutes": markdown(_three(results)),
        "Standard error of a set's mean": markdown(rows(results.standard_errors())),
        "Standard deviation of a set's mean over repeats": markdown(rows(results.seed_errors())),
        "Balanced error, percent, sets with a class below 40 %": markdown(
            rows(results.balanced().loc[small], mean=True)
        ),
        "Features needed, median over outer folds": markdown(
            rows(over_folds(results.features, "median")), 0
        ),
        "Stability over outer folds (Nogueira)": markdown(rows(results.nogueira(), mean=True), 2),
        "Seconds an outer fold; a ranking that several use is charged to the first": markdown(
            rows(over_folds(results.seconds, "mean")), 2
        ),
    }
    for reference in references:
        if reference in results.complete():
            parts[f"{reference} beside the others"] = markdown(comparison(results, reference), 2)
            parts[f"{reference} beside the others, balanced error"] = markdown(
                comparison(results, reference, balanced=True), 2
            )
    missing = [c for c in means.columns if c not in order]
    parts["Not complete, left out"] = ", ".join(missing) or "none"
    return "\n\n".join(f"### {title}\n\n{table}" for title, table in parts.items())


def page(folder: Path, sets: list[str], references: list[str]) -> str:
    """The tables that the documentation shows."""
    results = Results(folder, sets)
    order = _order(results)
    needed = results.features.groupby(level="set").median()
    own = pd.DataFrame(
        {
            "features needed": needed[order].mean(),
            "stability": results.nogueira().mean(skipna=False).reindex(order),
        }
    )
    own.index.name = "procedure"
    compared = []
    for reference in (r for r in references if r in order):
        table = comparison(results, reference)
        if "<=" in reference:
            table = table[[_is_limited(name) for name in table.index]]
        compared.append(markdown(table, 2))
    text = TEMPLATE.read_text()
    for key, value in {
        "PROCESSOR": _processor(),
        "ERRORS": markdown(_errors(results, order)),
        "DIFFERENCES": "\n\n".join(compared),
        "FEATURES": markdown(own, 2),
        "THREE": markdown(_three(results)),
    }.items():
        text = text.replace(key, value)
    return text.rstrip()


def _is_limited(procedure: str) -> bool:
    return "<=" in procedure or " 20 " in procedure


def _in(half: tuple[str, ...], sets: list[str]) -> list[str]:
    return [name for name in sets if name in half]


def _order(results: Results) -> list[str]:
    """Procedures that are complete, the lowest mean error first."""
    means = results.means()[results.complete()]
    return list(means.mean().sort_values(kind="stable").index)


def _errors(results: Results, order: list[str]) -> pd.DataFrame:
    errors, spread = results.means()[order].T, results.standard_errors()[order].T
    columns = {
        "mean": errors.mean(axis=1),
        "+-": np.sqrt((spread**2).sum(axis=1)) / len(results.sets),
        "choose": errors[_in(CHOOSE, results.sets)].mean(axis=1),
        "confirm": errors[_in(CONFIRM, results.sets)].mean(axis=1),
    }
    balanced = results.balanced()[order].T
    columns["balanced"] = balanced.mean(axis=1)
    columns["its choose"] = balanced[_in(CHOOSE, results.sets)].mean(axis=1)
    columns["its confirm"] = balanced[_in(CONFIRM, results.sets)].mean(axis=1)
    table = errors.assign(**columns)[[*columns, *errors.columns]]
    table.index.name = "procedure"
    return table


def _three(results: Results) -> pd.DataFrame:
    """Means over the outer folds that the costly procedures have done."""
    from honest.costly import NAMES, SETS

    costly = [name for name in NAMES if name in results.errors.columns]
    some = results.errors.loc[results.errors.index.get_level_values("set").isin(SETS)]
    some = some.dropna(subset=costly).dropna(axis=1)
    table = some.groupby(level="set", sort=False).mean().reindex(_in(SETS, results.sets)).T
    for name, values in (("features", results.features), ("seconds", results.seconds)):
        table[name] = values.loc[some.index, some.columns].mean()
    table.insert(0, "mean", table[_in(SETS, results.sets)].mean(axis=1))
    table.index.name = f"procedure ({len(some)} folds)"
    return table.sort_values("mean", kind="stable")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
