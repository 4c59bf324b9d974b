"""The external test of a job: a file that is opened once, after the panel is fixed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bitsieve._errors import plural
from bitsieve.cli.prediction import PredictJob
from bitsieve.data import Table
from bitsieve.evaluation import ExternalResult, external_result
from bitsieve.panels import TablePrediction
from bitsieve.report import External, file_identity

if TYPE_CHECKING:
    from bitsieve.cli.auto import AutoJob
    from bitsieve.cli.found import Measured

__all__ = ["FoundElsewhere", "external_of"]


@dataclass(frozen=True, eq=False)
class FoundElsewhere:
    """What a panel did on a file that had no part in making it."""

    path: Path
    result: ExternalResult
    notes: tuple[str, ...]

    def row(self) -> External:
        """Return the numbers of the page."""
        return External(
            self.path.name,
            self.result.n_samples,
            self.result.score,
            self.result.interval,
            " ".join(self.notes),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for the record."""
        return {
            "input": file_identity(self.path),
            **self.result.as_dict(),
            "statements": [*self.result.sentences(), *self.notes],
        }


def external_of(job: AutoJob, found: Measured) -> FoundElsewhere:
    """Read the file, predict its samples by the panel and compare.

    Parameters
    ----------
    job : AutoJob
        With ``external``; its columns are named as in the file that the panel was made from.
    found : Measured
        With a panel.

    Returns
    -------
    FoundElsewhere

    Raises
    ------
    ValueError
        Where the file is not fit for it.
    """
    assert job.external is not None
    reader = PredictJob(
        panel=job.external,  # not read: the panel is at hand
        file=job.external,
        target=job.target,
        max_missing=0.1,
        orient="auto",
        index=job.index,
        drop=(),
        duplicates=job.duplicates,
        decimal=job.decimal,
        out=None,
        force=False,
    )
    try:
        table = reader.samples(found.panel)
        result = external_result(found.panel, table, scoring=found.selector.scoring)
    except ValueError as error:
        said = str(error).replace(" (--max-missing)", "")  # an option of bitsieve predict
        where = "" if said.startswith(str(job.external)) else f"{job.external}: "
        raise ValueError(f"--external {where}{said}") from error
    notes = []
    if result.missing:
        notes.append(
            f"It lacks {len(result.missing):,} of the panel's {found.panel.n_features:,} features, "
            "which stand at their centre."
        )
    doubt = TablePrediction(result.prediction, result.missing, found.panel.n_features).doubt()
    if doubt is not None:
        notes.append(f"{doubt[0].upper()}{doubt[1:]}.")
    copies = _copies(found, table)
    if copies:
        notes.append(
            f"{plural(copies, 'sample')} of it stood in the table that the panel was made from: "
            "this is no external test."
        )
    return FoundElsewhere(job.external, result, tuple(notes))


def _copies(found: Measured, table: Table) -> int:
    """Count the samples of a table that are equal to one that the panel was made from."""
    names = found.data.table.names
    if names is None or table.names is None:
        return 0
    places = {name: j for j, name in enumerate(table.names)}
    both = [(j, places[name]) for j, name in enumerate(names) if name in places]
    if not both:
        return 0
    ours, theirs = (np.array(column) for column in zip(*both, strict=True))
    known = {row.tobytes() for row in _plain(found.data.X[:, ours])}
    return sum(row.tobytes() in known for row in _plain(table.X[:, theirs]))


def _plain(X: Any) -> Any:
    return np.ascontiguousarray(X, dtype=np.float64) + 0.0  # of -0.0 and 0.0 one
