"""A job of ``bitsieve select --method auto`` that has run: its page, its record and its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bitsieve.cli.folder import refuse_other_run
from bitsieve.cli.found import Measured
from bitsieve.cli.record import json_line, try_all
from bitsieve.cli.terminal import console_of_stdout, rendered
from bitsieve.report import (
    PanelOutcome,
    panel_page,
    path_info,
    plot_path,
    plot_reliability,
    write_predictions_csv,
    write_run_json,
    write_selection_csv,
)

if TYPE_CHECKING:
    from bitsieve.cli.auto import AutoJob

__all__ = ["FILES", "FinishedAuto", "files_of"]

#: What a job may write into its folder.
FILES = (
    "selection.csv", "predictions.csv", "run.json", "panel.json", "path.png", "calibration.png",
)  # fmt: skip
#: Those that need outer folds.
_OF_FOLDS = ("predictions.csv", "path.png", "calibration.png")


@dataclass(frozen=True, eq=False)
class FinishedAuto:
    """A job that has run: what it found, its record, and what stopped it early."""

    job: AutoJob
    found: Measured
    outcome: PanelOutcome
    record: dict[str, Any]
    stop: KeyboardInterrupt | None

    @property
    def files(self) -> list[str]:
        """Names of the files that the job writes."""
        return files_of(self.found)

    def write(self) -> None:
        """Write the files; those that this run has not, of an earlier one, are removed.

        Raises
        ------
        ValueError
            Where another run has written into the folder in the meantime.
        OSError
            Of the first file that cannot be written, after all of them were tried.
        """
        if not self.job.force:
            repeat, identity = self.record["repeat"], self.found.data.identity
            refuse_other_run(self.job.out, FILES, repeat=repeat, identity=identity)
        writers = {
            "run.json": self._write_record,
            "panel.json": self._write_panel,
            "selection.csv": self._write_selection,
            "predictions.csv": self._write_predictions,
            "path.png": self._write_path,
            "calibration.png": self._write_calibration,
        }
        files = self.files
        try_all(*(writers[name] for name in writers if name in files))
        for name in set(FILES) - set(files):
            (self.job.out / name).unlink(missing_ok=True)

    def _write_record(self) -> None:
        write_run_json(self.job.out / "run.json", self.record)

    def _write_panel(self) -> None:
        self.found.panel.save(self.job.out / "panel.json")

    def _write_selection(self) -> None:
        nested = self.found.nested
        write_selection_csv(
            self.job.out / "selection.csv",
            self.found.data.names,
            self.found.support,
            None if nested is None else nested.n_times_selected,
            0 if nested is None else nested.n_folds,
            statistics=self.found.statistics,
        )

    def _write_predictions(self) -> None:
        assert self.found.nested is not None
        write_predictions_csv(
            self.job.out / "predictions.csv",
            self.found.nested.predictions,
            self.found.data.table.sample_names,
        )

    def _write_path(self) -> None:
        plot_path(path_info(self.outcome), self.job.out / "path.png")

    def _write_calibration(self) -> None:
        info = self.found.reliability(self.outcome)
        assert info is not None
        plot_reliability(info, self.job.out / "calibration.png")

    def json(self) -> str:
        """Return the record as one JSON object with a final newline."""
        return json_line(self.record)

    def text(self) -> str:
        """Return the page, as wide and as coloured as stdout takes it."""
        console = console_of_stdout()
        page = panel_page(self.outcome, width=console.width)
        if self.stop is not None:
            page.append(f"Stopped by {self.found.stopped}: these are the results so far.")
        return rendered(console, "", *page)


def files_of(found: Measured) -> list[str]:
    """Return the names of the files that there is something for."""
    missing = set() if found.nested is not None else set(_OF_FOLDS)
    if found.probabilities is None:
        missing.add("calibration.png")
    return [name for name in FILES if name not in missing]
