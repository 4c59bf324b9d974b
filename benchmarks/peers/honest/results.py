"""What the rows say of each procedure: errors, their spread, features, stability."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd

from honest.rows import Rows
from honest.sets import N_REPEATS, N_SPLITS, load

__all__ = ["Results", "nogueira"]


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

    def complete(self) -> list[str]:
        """Procedures with every outer fold of every set."""
        whole = len(self.sets) * N_REPEATS * N_SPLITS
        return list(self.errors.columns[self.errors.notna().sum() == whole])

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
            features = range(row.n_features) if row.features is None else row.features
            found.setdefault((row.set, row.procedure), []).append(list(features))
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
    frequency = np.bincount(np.concatenate(panels).astype(np.int64), minlength=n_features) / len(
        panels
    )
    size = frequency.sum()
    if size in (0, n_features):
        return float("nan")
    unbiased = frequency * (1 - frequency) * len(panels) / (len(panels) - 1)
    return float(1 - unbiased.sum() / (size * (1 - size / n_features)))
