"""What a command warns of before it starts: columns that are no features, doubtful classes."""

from __future__ import annotations

import warnings

import numpy as np

from bitsieve._errors import plural
from bitsieve.cli.input import JobInput

__all__ = ["warn_of_doubts", "warn_of_small_classes"]

_SHOWN = 3


def warn_of_doubts(data: JobInput) -> None:
    """Warn once of all columns that are evidently no features, and of doubtful classes."""
    columns = [doubt for doubt in data.doubts if doubt.kind == "column"]
    if columns:
        said = "; ".join(f"{doubt.names[0]!r} {doubt.why}" for doubt in columns[:_SHOWN])
        more = f"; and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
        evidently = "evidently no feature" + ("s" if len(columns) > 1 else "")
        kept = ""
        if any("groups" in doubt.why for doubt in columns):
            kept = ", or say --groups NAME for what keeps samples together (select)"
        warnings.warn(
            f"{data.source}: {evidently}: {said}{more}; leave such columns out with --drop NAME"
            f"{kept}",
            stacklevel=2,
        )
    for doubt in data.doubts:
        if doubt.kind == "classes":
            warnings.warn(f"{data.source}: {doubt.why}", stacklevel=2)


def warn_of_small_classes(data: JobInput, *, outer_folds: int, cv: int) -> None:
    """Warn once, by name, of classes that are smaller than the folds; not of single samples."""
    table = data.table
    if table.classes is None or table.codes is None:
        return
    counts = np.bincount(table.codes)
    left = counts - -(-counts // outer_folds) if outer_folds else counts
    small = np.flatnonzero((counts > 1) & ((counts < outer_folds) | (left < cv)))
    if not len(small):
        return
    said = ", ".join(
        f"{str(table.classes[i])!r} ({plural(int(counts[i]), 'sample')})" for i in small[:8]
    )
    more = f" and {len(small) - 8} more" if len(small) > 8 else ""
    folds = f"{cv} folds" if not outer_folds else f"{outer_folds} outer and {cv} inner folds"
    ways = "--cv" if not outer_folds else "--outer-folds or --cv"
    warnings.warn(
        f"{data.source}: too few samples of {said}{more} for {folds}: some test parts have none "
        f"of them; lower {ways}, or merge classes",
        stacklevel=2,
    )
