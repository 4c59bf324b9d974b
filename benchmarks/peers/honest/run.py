"""Run what is missing, a row at a time: the cheap procedures of all sets first."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

from honest.folds import Fold, Part
from honest.rivals import Procedure
from honest.rows import Row, Rows
from honest.sets import N_REPEATS, N_SPLITS, load, outer_folds

__all__ = ["run"]


def fold_of(name: str, index: int) -> tuple[Fold, np.ndarray]:
    """What procedures see of an outer fold, and its test samples."""
    table = load(name)
    train, test = outer_folds(name)[index]
    part = Part(table.X[train], table.codes[train], table.X[test], table.n_classes)
    return Fold(part, seed=1000 + index), test


def run(
    folder: Path, procedures: list[Procedure], sets: list[str], repeats: int = N_REPEATS
) -> None:
    """Append the rows that the folder lacks, tier by tier, repeat by repeat, set by set."""
    rows = Rows(folder)
    start = time.perf_counter()
    tiers = sorted({procedure.tier for procedure in procedures})
    places = [(t, r, s) for t in tiers for r in range(repeats) for s in sets]
    for tier, repeat, name in places:
        chosen = [p for p in procedures if p.tier == tier and (p.sets is None or name in p.sets)]
        for k in range(N_SPLITS):
            missing = [p for p in chosen if (name, repeat, k, p.name) not in rows.known]
            if missing:
                rows.append(_rows(name, repeat, k, missing))
        if chosen:
            print(f"{time.perf_counter() - start:7.0f} s  {tier} {repeat} {name}", flush=True)


def _rows(name: str, repeat: int, k: int, procedures: list[Procedure]) -> list[Row]:
    fold, test = fold_of(name, N_SPLITS * repeat + k)
    done = []
    for procedure in procedures:
        start = time.perf_counter()
        with (
            warnings.catch_warnings(),
            threadpool_limits(1),
            sklearn.config_context(assume_finite=True, skip_parameter_validation=True),
        ):
            warnings.simplefilter("ignore")
            outcome = procedure.run(fold)
        # Rankings that two procedures share are charged to the first.
        seconds = time.perf_counter() - start
        features = None if outcome.features is None else np.sort(outcome.features).tolist()
        done.append(
            Row(
                set=name,
                repeat=repeat,
                fold=k,
                procedure=procedure.name,
                samples=test.tolist(),
                predicted=outcome.predicted.tolist(),
                features=features,
                n_features=load(name).X.shape[1] if features is None else len(features),
                chosen=outcome.chosen,
                seconds=round(seconds, 4),
            )
        )
    return done
