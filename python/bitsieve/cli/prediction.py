"""One prediction job, as the command line runs it: a panel and a table in, classes out.

::

    panel.json, FILE -> features by name -> classes, probabilities, votes -> table, --out FILE
                                                     |
                                         --target: error with interval
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bitsieve._errors import TextColumns, caused_by, plural
from bitsieve._version import __version__
from bitsieve.cli.record import json_line
from bitsieve.cli.terminal import console_of_stdout, rendered
from bitsieve.data import Table, read_measured_features, read_table
from bitsieve.data.request import Orient
from bitsieve.evaluation import ExternalResult, external_result
from bitsieve.panels import Panel, TablePrediction, predict_table
from bitsieve.report import file_identity
from bitsieve.report.cells import write_csv
from bitsieve.report.outcome import printable

__all__ = ["FinishedPrediction", "PredictJob"]

#: Samples and classes that the terminal shows.
_SHOWN, _COLUMNS = 20, 6


@dataclass(frozen=True)
class PredictJob:
    """Everything that the command line was asked for; see ``bitsieve predict --help``."""

    panel: Path
    file: Path
    target: str | None
    max_missing: float
    orient: Literal["auto", "samples", "features"]
    index: str | None
    drop: tuple[str, ...]
    duplicates: Literal["error", "mean", "max", "first"]
    decimal: str
    out: Path | None
    force: bool

    def run(self) -> FinishedPrediction:
        """Run the job.

        Returns
        -------
        FinishedPrediction

        Raises
        ------
        ValueError
            For bad input.
        OSError
            Where a file cannot be read.
        """
        self._refuse_out()
        if self.panel.is_dir():
            raise ValueError(f"{self.panel} is a folder: give the panel.json in it")
        panel = Panel.load(self.panel)
        table = self.samples(panel)
        external = None
        try:
            if self.target is None:  # an archive may hold one all the same
                found = predict_table(panel, table, max_missing=self.max_missing)
            else:
                external = external_result(panel, table, max_missing=self.max_missing)
                found = TablePrediction(external.prediction, external.missing, panel.n_features)
        except ValueError as error:
            raise ValueError(f"{self.file}: {error}") from error
        for remark in (found.remark(), found.doubt()):
            if remark is not None:
                warnings.warn(f"{self.file.name}: {remark}", stacklevel=2)
        return FinishedPrediction(self, panel, table, found, external)

    def _refuse_out(self) -> None:
        out = self.out
        if out is not None and out.is_dir():
            raise ValueError(f"--out {out} is a folder: give the name of a file")
        if out is not None and out.exists() and not self.force:
            raise ValueError(f"--out {out} is there already: give another name, or --force")
        if out is not None and any(up.exists() and not up.is_dir() for up in out.parents):
            raise ValueError(f"--out {out} cannot be written: a folder of it is a file")

    def samples(self, panel: Panel) -> Table:
        """Read the table; columns of text that the panel does not use are left out."""
        orient = self._orientation(panel)
        try:
            return self._read(orient, self.drop)
        except ValueError as error:
            if not caused_by(error, TextColumns) or panel.feature_names is None:
                raise
            wanted = set(panel.feature_names)
            coded = self._read(orient, self.drop, categorical="ordinal")
            text = [coded.names[j] for j in coded.discrete_columns] if coded.names else []
            others = [name for name in text if name not in wanted]
            if not others:
                raise
            return self._read(orient, (*self.drop, *others))

    def _orientation(self, panel: Panel) -> Orient:
        """Rows are features where the first column, not the header, holds those of the panel."""
        if self.orient != "auto" or panel.feature_names is None:
            return self.orient
        try:
            where = read_measured_features(self.file, panel.feature_names).where
        except ValueError:
            return "auto"  # reading the table says what is wrong
        orients: dict[str, Orient] = {"header": "samples", "first column": "features"}
        return orients.get(where, "auto")

    def _read(
        self,
        orient: Orient,
        drop: tuple[str, ...],
        categorical: Literal["error", "ordinal"] = "error",
    ) -> Table:
        return read_table(
            self.file, target=self.target, orient=orient, index=self.index or "auto", drop=drop,
            duplicates=self.duplicates, decimal=self.decimal, categorical=categorical,
            task=None if self.target is None else "classification", missing="keep",
            to_predict=True,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class FinishedPrediction:
    """A prediction job that has run."""

    job: PredictJob
    panel: Panel
    table: Table
    found: TablePrediction
    external: ExternalResult | None

    def write(self) -> None:
        """Write the predictions, where a file is named for them.

        Raises
        ------
        OSError
            Where the file cannot be written.
        """
        if self.job.out is not None:
            header, rows = self._header(), self._rows()
            write_csv(self.job.out, header, rows)

    def json(self) -> str:
        """Return everything as one JSON object with a final newline."""
        prediction, labels = self.found.prediction, [str(one) for one in self.panel.classes]
        samples = []
        for i, label in enumerate(prediction.predicted.tolist()):
            sample: dict[str, Any] = {"sample": i}
            if self.table.sample_names is not None:
                sample["name"] = self.table.sample_names[i]
            if self.external is not None:
                sample["truth"] = self.panel.classes[self.external.truth[i]].item()
            sample["predicted"] = label
            for name in ("probabilities", "votes"):
                values = getattr(prediction, name)[i].tolist()
                sample[name] = dict(zip(labels, values, strict=True))
            samples.append(sample)
        return json_line(
            {
                "bitsieve": __version__,
                "panel": {
                    **file_identity(self.job.panel),
                    "made_by": self.panel.version,
                    "n_features": self.panel.n_features,
                    "n_members": len(self.panel.members),
                    "classes": self.panel.classes.tolist(),
                },
                "input": file_identity(self.job.file),
                "missing": list(self.found.missing),
                "samples": samples,
                "external": None if self.external is None else self.external.as_dict(),
                "statements": list(self._statements()),
            }
        )

    def text(self) -> str:
        """Return the table and the sentences, as wide and as coloured as stdout takes them."""
        parts: list[Any] = [self._heading(), self._shown()]
        more = self.table.n_samples - _SHOWN
        if more > 0:
            way = "" if self.job.out is not None else "; --out FILE writes all of them"
            parts.append(f"and {plural(more, 'sample')} more{way}")
        parts += self._statements()
        if self.job.out is not None:
            parts.append(f"\nWritten to {printable(str(self.job.out))}")
        return rendered(console_of_stdout(), *parts)

    def _heading(self) -> str:
        panel, count = self.panel, len(self.panel.members)
        counts = np.bincount(self.found.prediction.codes, minlength=len(panel.classes))
        said = ", ".join(f"{n:,} {c}" for c, n in zip(panel.classes, counts, strict=True) if n)
        votes = "" if count == 1 else f", vote of {count} classifiers"
        return printable(
            f"{plural(self.table.n_samples, 'sample')} of {self.job.file.name}: {said} (panel of "
            f"{plural(panel.n_features, 'feature')}{votes})"
        )

    def _statements(self) -> Iterator[str]:
        if self.external is not None:
            for sentence in self.external.sentences():
                yield printable(sentence)
            yield "This is an external test only if none of the samples helped to make the panel."

    def _shown(self) -> Any:
        from rich import box
        from rich.table import Table as RichTable

        prediction, panel = self.found.prediction, self.panel
        shown = RichTable(box=box.SIMPLE_HEAD)
        shown.add_column("sample")
        if self.external is not None:
            shown.add_column("class")
        shown.add_column("predicted")
        classes = range(min(len(panel.classes), _COLUMNS))
        for c in classes:
            shown.add_column(printable(f"P({panel.classes[c]})"), justify="right")
        is_vote = len(panel.members) > 1
        if is_vote:
            shown.add_column("votes", justify="right")
        for i in range(min(self.table.n_samples, _SHOWN)):
            name = str(i) if self.table.sample_names is None else self.table.sample_names[i]
            row = [name, str(prediction.predicted[i])]
            if self.external is not None:
                row.insert(1, str(panel.classes[self.external.truth[i]]))
            row += [f"{prediction.probabilities[i, c]:.3f}" for c in classes]
            if is_vote:
                row.append(f"{100 * prediction.votes[i, prediction.codes[i]]:.0f} %")
            shown.add_row(*map(printable, row))
        return shown

    def _header(self) -> list[str]:
        header = ["sample", *([] if self.table.sample_names is None else ["name"])]
        header += ["truth"] if self.external is not None else []
        header.append("predicted")
        for what in ("probability", "votes"):
            header += [f"{what}_{label}" for label in self.panel.classes]
        return header

    def _rows(self) -> Iterator[list[object]]:
        prediction = self.found.prediction
        for i, label in enumerate(prediction.predicted.tolist()):
            row: list[object] = [i]
            if self.table.sample_names is not None:
                row.append(self.table.sample_names[i])
            if self.external is not None:
                row.append(self.panel.classes[self.external.truth[i]].item())
            yield [
                *row,
                label,
                *prediction.probabilities[i].tolist(),
                *prediction.votes[i].tolist(),
            ]
