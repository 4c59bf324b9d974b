"""Tables out of the rows: what each procedure's error is, and how sure that is."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from honest.rows import Rows
from honest.sets import CHOOSE, CONFIRM, N_REPEATS, N_SPLITS, load

__all__ = ["Results"]

BALANCED_BELOW = 0.4
N_RESAMPLED = 20_000


class Results:
    """Percent error of every procedure in every outer fold of every set.

    Attributes
    ----------
    errors, balanced : DataFrame
        Percent errors; a row an outer fold (set, repeat, fold), a column a procedure. Balanced
        errors are of pooled predictions of a repeat, a row a repeat (set, repeat).
    features : DataFrame
        Features needed, like `errors`.
    """

    def __init__(self, folder: Path, sets: list[str]) -> None:
        rows = {row.key: row for row in Rows.read(folder) if row.set in sets}
        self.rows = rows
        self.sets = [name for name in sets if any(row.set == name for row in rows.values())]
        errors, features, seconds = [], [], []
        for row in rows.values():
            truth = load(row.set).codes[row.samples]
            place = (row.set, row.repeat, row.fold, row.procedure)
            errors.append((*place, 100 * float(np.mean(truth != row.predicted))))
            features.append((*place, row.n_features))
            seconds.append((*place, row.seconds))
        self.errors, self.features = _wide(errors), _wide(features)
        self.seconds = _wide(seconds)

    def complete(self, sets: list[str]) -> list[str]:
        """Procedures with every outer fold of these sets."""
        part = self.errors.loc[self.errors.index.get_level_values("set").isin(sets)]
        full = part.notna().sum() == len(sets) * N_REPEATS * N_SPLITS
        return list(part.columns[full])

    def means(self) -> pd.DataFrame:
        """Percent error, a row a set, a column a procedure; gaps where folds are missing."""
        groups = self.errors.groupby(level="set", sort=False)
        counts = groups.count()
        return groups.mean().where(counts == N_REPEATS * N_SPLITS).reindex(self.sets)

    def standard_errors(self) -> pd.DataFrame:
        """Of a set's mean, by the corrected resampled variance of Nadeau and Bengio (2003)."""
        share = 1 / (N_SPLITS - 1)
        groups = self.errors.groupby(level="set", sort=False)
        variance = groups.var(ddof=1).where(groups.count() == N_REPEATS * N_SPLITS)
        return np.sqrt(variance * (1 / (N_REPEATS * N_SPLITS) + share)).reindex(self.sets)

    def seed_errors(self) -> pd.DataFrame:
        """Spread of a set's mean over repeats alone: what another seed of the folds would move."""
        repeats = self.errors.groupby(level=["set", "repeat"], sort=False).mean()
        return repeats.groupby(level="set", sort=False).std(ddof=1).reindex(self.sets)

    def balanced(self) -> pd.DataFrame:
        """Balanced percent error of the pooled predictions of a repeat, mean over repeats."""
        found = []
        groups = itertools.groupby(
            sorted(self.rows.values(), key=lambda r: (r.set, r.procedure, r.repeat)),
            key=lambda r: (r.set, r.procedure, r.repeat),
        )
        for (name, procedure, repeat), rows in groups:
            pairs = [(r.samples, r.predicted) for r in rows]
            if len(pairs) < N_SPLITS:
                continue
            truth = load(name).codes[np.concatenate([a for a, _ in pairs])]
            wrong = truth != np.concatenate([b for _, b in pairs])
            each = [wrong[truth == c].mean() for c in np.unique(truth)]
            found.append((name, procedure, repeat, 100 * float(np.mean(each))))
        table = pd.DataFrame(found, columns=["set", "procedure", "repeat", "error"])
        wide = table.groupby(["set", "procedure"])["error"].mean().unstack("procedure")
        return wide.reindex(self.sets)[list(self.errors.columns)]

    def nogueira(self) -> pd.DataFrame:
        """Stability of the panels over all outer folds (Nogueira et al., 2018, Definition 4)."""
        found: dict[tuple[str, str], list[list[int]]] = {}
        for row in self.rows.values():
            if row.features is not None:
                found.setdefault((row.set, row.procedure), []).append(row.features)
        values = {
            key: nogueira(panels, load(key[0]).X.shape[1])
            for key, panels in found.items()
            if len(panels) == N_REPEATS * N_SPLITS
        }
        return pd.Series(values).unstack().reindex(self.sets) if values else pd.DataFrame()


def _wide(values: list[tuple[str, int, int, str, float]]) -> pd.DataFrame:
    names = ["set", "repeat", "fold", "procedure", "value"]
    table = pd.DataFrame(values, columns=names).set_index(names[:4])["value"]
    order = pd.unique(table.index.get_level_values("procedure"))
    return table.unstack("procedure")[order]


def nogueira(panels: list[list[int]], n_features: int) -> float:
    """1 for the same panel each time, 0 on average for panels drawn at random."""
    frequency = np.bincount(np.concatenate(panels), minlength=n_features) / len(panels)
    size = frequency.sum()
    if size in (0, n_features):
        return float("nan")
    unbiased = frequency * (1 - frequency) * len(panels) / (len(panels) - 1)
    return float(1 - unbiased.sum() / (size * (1 - size / n_features)))


def resampled(difference: NDArray[np.float64]) -> tuple[float, float]:
    """95 % interval of a mean difference over sets, by drawing sets with replacement."""
    draws = np.random.default_rng(0).integers(0, difference.size, (N_RESAMPLED, difference.size))
    low, high = np.quantile(difference[draws].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def comparison(results: Results, reference: str, sets: list[str]) -> pd.DataFrame:
    """Reference minus each rival: mean over sets, interval, worst with one set left out."""
    means = results.means().loc[sets]
    lines = []
    for rival in results.complete(sets):
        if rival == reference:
            continue
        d = (means[reference] - means[rival]).to_numpy()
        low, high = resampled(d)
        without = (d.sum() - d) / (d.size - 1)
        worst = int(without.argmax())
        lines.append(
            {
                "rival": rival,
                "its error": means[rival].mean(),
                "difference": d.mean(),
                "from": low,
                "to": high,
                "worst, one set out": without[worst],
                "set left out": sets[worst],
                "better on": int(np.sum(d < -1e-9)),
                "worse on": int(np.sum(d > 1e-9)),
            }
        )
    return pd.DataFrame(lines).set_index("rival").sort_values("its error")


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
    """All tables, as Markdown."""
    results = Results(folder, sets)
    sets = results.sets
    means = results.means()
    full = results.complete(sets)
    parts = [*_errors(results, means, full, sets)]
    for reference in references:
        if reference in full:
            halves = [
                ("all sets", sets),
                ("choose", _in(CHOOSE, sets)),
                ("confirm", _in(CONFIRM, sets)),
            ]
            for label, some in halves:
                if some:
                    parts += [
                        f"### {reference} minus each rival, {label} ({len(some)} sets)",
                        markdown(comparison(results, reference, some), 2),
                    ]
    return "\n\n".join(parts)


def _in(half: tuple[str, ...], sets: list[str]) -> list[str]:
    return [name for name in sets if name in half]


def _errors(results: Results, means: pd.DataFrame, full: list[str], sets: list[str]) -> list[str]:
    order = [c for c in means[full].mean().sort_values(kind="stable").index]
    order += [c for c in means.columns if c not in full]

    def by_procedure(table: pd.DataFrame) -> pd.DataFrame:
        turned = table[[c for c in order if c in table.columns]].T
        turned.index.name = "procedure"
        return turned

    def with_mean(table: pd.DataFrame) -> pd.DataFrame:
        table.insert(0, "mean", table.mean(axis=1, skipna=False))
        return table

    errors, spread = by_procedure(means), by_procedure(results.standard_errors())
    own = list(errors.columns)
    columns = {"mean": errors[own].mean(axis=1, skipna=False)}
    columns["+-"] = np.sqrt((spread**2).sum(axis=1, skipna=False)) / len(sets)
    for label, half in (("choose", CHOOSE), ("confirm", CONFIRM)):
        if _in(half, sets):
            columns[label] = errors[_in(half, sets)].mean(axis=1, skipna=False)
    counts = {name: np.bincount(load(name).codes) for name in sets}
    small = [name for name in sets if counts[name].min() < BALANCED_BELOW * counts[name].sum()]
    needed = results.features.groupby(level="set", sort=False).median().reindex(sets)
    seconds = results.seconds.groupby(level="set", sort=False).mean().reindex(sets)
    parts = {
        "Error, percent": markdown(errors.assign(**columns)[[*columns, *own]]),
        "Standard error of a set's mean": markdown(spread),
        "Standard deviation of a set's mean over repeats": markdown(
            by_procedure(results.seed_errors())
        ),
        "Balanced error, percent, sets with a class below 40 %": markdown(
            with_mean(by_procedure(results.balanced().loc[small]))
        ),
        "Features needed, median over outer folds": markdown(by_procedure(needed), 0),
        "Stability over outer folds (Nogueira)": markdown(
            with_mean(by_procedure(results.nogueira())), 2
        ),
        "Seconds an outer fold; a ranking that several use is charged to the first": markdown(
            by_procedure(seconds), 2
        ),
    }
    return [text for title, table in parts.items() for text in (f"### {title}", table)]
