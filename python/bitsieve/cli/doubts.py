"""What a command warns of before it starts: columns that are no features, doubtful classes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from bitsieve._errors import plural
from bitsieve.cli.input import JobInput

if TYPE_CHECKING:
    import pandas as pd

    from bitsieve.evaluation import CovariateCheck

__all__ = [
    "warn_of_covariates",
    "warn_of_doubts",
    "warn_of_few_samples",
    "warn_of_small_classes",
]

_SHOWN = 3
_FEW = 20  # samples of a class that leave its sensitivity open by a third and more


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
    """Warn once, by name, of classes that are smaller than the folds; not of single samples.

    A ``cv`` of 0 stands for no inner folds.
    """
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
    if not cv:
        folds, ways = f"{outer_folds} outer folds", "--outer-folds"
    warnings.warn(
        f"{data.source}: too few samples of {said}{more} for {folds}: some test parts have none "
        f"of them; lower {ways}, or merge classes",
        stacklevel=2,
    )


def warn_of_few_samples(data: JobInput) -> None:
    """Warn of classes of under 20 samples, with how far off their sensitivity may be measured."""
    from bitsieve.evaluation import expected_half_width  # scikit-learn is slow to import

    table = data.table
    if table.classes is None or table.codes is None:
        return
    counts = np.bincount(table.codes)
    few = np.flatnonzero(counts < _FEW)
    if not len(few):
        return
    said = ", ".join(
        f"{str(table.classes[i])!r} ({plural(int(counts[i]), 'sample')}, "
        f"+-{100 * expected_half_width(int(counts[i])):.0f} points)"
        for i in few[:8]
    )
    more = f" and {len(few) - 8} more" if len(few) > 8 else ""
    whole = 100 * expected_half_width(table.n_samples)
    warnings.warn(
        f"{data.source}: under {_FEW} samples of {said}{more}: so wide will the 95 % interval of "
        f"a sensitivity be where 80 % are right, and that of the accuracy of all "
        f"{table.n_samples:,} samples +-{whole:.0f} points, whatever is selected",
        stacklevel=2,
    )


def warn_of_covariates(data: JobInput, covariates: pd.DataFrame) -> CovariateCheck:
    """Warn where covariates alone predict the classes, and return what was measured."""
    from bitsieve.evaluation import check_covariates

    found = check_covariates(covariates, data.y, groups=data.table.groups)
    if found.is_clear:
        warnings.warn(f"{data.source}: {found.text()}", stacklevel=2)
    return found
