"""One Markov blanket, as the command line runs it: read, test, search, files.

::

    FILE or --dataset -> tests of independence -> blanket
                            -> table, blanket.csv, separators.csv, run.json, blanket.png
"""

from __future__ import annotations

import secrets
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bitsieve._errors import closest, plural
from bitsieve.causal import Blanket, Method, TestName, make_test, markov_blanket
from bitsieve.cli.doubts import warn_of_doubts
from bitsieve.cli.folder import refuse_other_run
from bitsieve.cli.input import JobInput, load_input, make_folder, refuse_file
from bitsieve.cli.record import command_of, json_line, parameters_of, record_of, try_all
from bitsieve.cli.terminal import console_of_stdout, rendered, say
from bitsieve.data.validation import Task
from bitsieve.report import (
    blanket_rows,
    blanket_table,
    plot_blanket,
    separator_rows,
    write_blanket_csv,
    write_run_json,
    write_separators_csv,
)
from bitsieve.report.outcome import counted, printable

__all__ = ["BlanketJob", "FinishedBlanket"]

_TASKS: dict[str, Task | None] = {
    "auto": None, "classes": "classification", "numbers": "regression",
}  # fmt: skip
_SAID = {"GSquared": "G-squared", "ChiSquared": "chi-squared", "FisherZ": "Fisher's z"}
_NEAREST = 5  # misses that are shown
_MANY = 100  # features among which chance is warned of
_LEAST_ALPHA = 1e-6  # for which ten million orders are drawn, with --test permutation


@dataclass(frozen=True)
class BlanketJob:
    """Everything that the command line was asked for; see ``bitsieve blanket --help``."""

    file: Path | None
    target: str | None
    dataset: str | None
    orient: Literal["auto", "samples", "features"]
    index: str | None
    drop: tuple[str, ...]
    duplicates: Literal["error", "mean", "max", "first"]
    decimal: str
    task: Literal["auto", "classes", "numbers"]
    alpha: float
    method: Method
    test: TestName
    max_conditioning: int
    min_samples_per_cell: float
    symmetric: bool
    why_not: tuple[str, ...]
    seed: int | None
    n_jobs: int | None
    out: Path
    force: bool
    progress: bool | None

    files = ("blanket.csv", "separators.csv", "run.json", "blanket.png")

    def run(self) -> FinishedBlanket:
        """Run the job.

        Returns
        -------
        FinishedBlanket

        Raises
        ------
        ValueError
            For bad input, before anything long starts.
        OSError
            Where a file cannot be read.
        KeyboardInterrupt
            Ctrl-C: there is nothing to write before the end.
        """
        if not 0 < self.alpha < 1:
            raise ValueError(f"--alpha must lie between 0 and 1, got {self.alpha:g}")
        if self.test == "permutation" and self.alpha < _LEAST_ALPHA:
            raise ValueError(
                f"--alpha {self.alpha:g} needs more orders than --test permutation can draw: "
                f"{_LEAST_ALPHA:g} or more, or another test"
            )
        refuse_file(self.out)
        data = load_input(
            self.file, self.dataset, target=self.target, orient=self.orient, index=self.index,
            task=_TASKS[self.task], needs_classes=False, categorical="ordinal", drop=self.drop,
            duplicates=self.duplicates, decimal=self.decimal,
        )  # fmt: skip
        if np.ptp(np.unique(data.y, return_inverse=True)[1]) == 0:
            raise ValueError(
                f"{data.source}: the target is constant: everything is independent of it"
            )
        for name in self.why_not:
            if name not in data.names:
                raise ValueError(
                    f"{data.source}: there is no feature {name!r} (--why-not): "
                    f"{closest(name, data.names)}"
                )
        if not self.force:
            repeat = self._repeat(self.seed)
            refuse_other_run(self.out, self.files, repeat=repeat, identity=data.identity)
        make_folder(self.out)
        if self.progress is None:
            say(data.summary())
        warn_of_doubts(data)
        is_random = self.test == "permutation"
        seed = secrets.randbits(32) if self.seed is None and is_random else self.seed
        start = time.perf_counter()
        blanket, how = self._found(data, seed or 0)
        self._warn(blanket)
        seconds = time.perf_counter() - start
        answers = [blanket.why_not(name) for name in self.why_not]
        return FinishedBlanket(self, data, blanket, how, answers, seed, seconds)

    def _found(self, data: JobInput, seed: int) -> tuple[Blanket, str]:
        """Return the blanket, and which test it asked and why."""
        # Orders enough for a p-value below alpha.
        n_orders = max(999, int(np.ceil(10 / self.alpha)) - 1)
        try:
            test = make_test(
                data.table, test=self.test, min_samples_per_cell=self.min_samples_per_cell,
                n_permutations=n_orders, random_state=seed, n_jobs=self.n_jobs,
            )  # fmt: skip
            blanket = markov_blanket(
                test, test.n_variables - 1, method=self.method, alpha=self.alpha,
                max_conditioning=self.max_conditioning, symmetric=self.symmetric,
                n_jobs=self.n_jobs,
            )  # fmt: skip
        except ValueError as error:
            raise ValueError(f"{data.source}: {error}") from error
        base = getattr(test, "base", test)
        name = _SAID.get(type(base).__name__, type(base).__name__)
        if self.test == "permutation":
            return self._named(blanket, data), f"permutation ({n_orders:,} orders)"
        return self._named(blanket, data), f"{name} ({self._why(name, data)})"

    def _named(self, blanket: Blanket, data: JobInput) -> Blanket:
        target = self.target if self.target is not None else "target"
        name = target if not Path(target).is_file() else "target"
        while name in data.names:
            name += "_"
        return replace(blanket, names=[*data.names, name])

    def _why(self, name: str, data: JobInput) -> str:
        if self.test != "auto":
            return "as asked for"
        n_classes = 0 if data.table.classes is None else len(data.table.classes)
        if name == "Fisher's z":
            what = "has two classes" if n_classes else "holds numbers"
            return f"the features are numbers and the target {what}"
        if n_classes > 2:
            return f"the target has {n_classes:,} classes"
        return (
            "features hold levels: some categories, or whole numbers of few values in half of "
            "them; other numbers are cut"
        )

    def _warn(self, blanket: Blanket) -> None:
        """Warn of tests without samples enough, and of an alpha that lets chance in."""
        out = separator_rows(blanket)
        n_features = len(blanket.log_p) - 1
        untested = sum(row[2] == "no reliable test" for row in out)
        if 10 * untested > n_features:
            warnings.warn(
                f"{untested:,} of {counted(n_features)} had no reliable test: the samples are too "
                f"few for their levels at --min-samples-per-cell {self.min_samples_per_cell:g}",
                stacklevel=2,
            )
        if not blanket.is_conditional:
            warnings.warn(
                "no test given another feature is reliable, the samples are too few for the levels "
                f"at --min-samples-per-cell {self.min_samples_per_cell:g}: these are the features "
                "that depend on the target one by one, and no blanket",
                stacklevel=2,
            )
        if n_features >= _MANY and self.alpha * n_features > 1:
            warnings.warn(
                f"--alpha {self.alpha:g} of {counted(n_features)} lets about "
                f"{self.alpha * n_features:,.0f} seem dependent by chance: take "
                f"{10 ** np.floor(-np.log10(n_features)):g} or less",
                stacklevel=2,
            )

    def _repeat(self, seed: int | None) -> str:
        """Return a command that gives the same numbers, the seed spelled out."""
        options = {
            "target": self.target,
            "dataset": self.dataset,
            "orient": self.orient,
            "index": self.index,
            "drop": self.drop,
            "duplicates": None if self.duplicates == "error" else self.duplicates,
            "decimal": None if self.decimal == "." else self.decimal,
            "task": self.task,
            "alpha": self.alpha,
            "method": self.method,
            "test": self.test,
            "max-conditioning": self.max_conditioning,
            "min-samples-per-cell": self.min_samples_per_cell,
            "seed": seed,
        }
        command = command_of("blanket", self.file, options)
        return command if self.symmetric else f"{command} --no-symmetric"


@dataclass(frozen=True, eq=False)
class FinishedBlanket:
    """A blanket job that has run: what it found, how, and answers to --why-not."""

    job: BlanketJob
    data: JobInput
    blanket: Blanket
    how: str
    answers: list[str]
    seed: int | None
    seconds: float

    def write(self) -> None:
        """Write the members, the separating sets, run.json and the picture.

        Raises
        ------
        OSError
            Of the first file that cannot be written, after all of them were tried.
        """
        out, blanket = self.job.out, self.blanket
        try_all(
            lambda: write_run_json(out / "run.json", self.record()),
            lambda: write_blanket_csv(out / "blanket.csv", blanket),
            lambda: write_separators_csv(out / "separators.csv", blanket),
            lambda: plot_blanket(blanket, out / "blanket.png"),
        )

    def record(self) -> dict[str, Any]:
        """Return what run.json holds."""
        job = self.job
        columns = ("feature", "index", "role", "through", "strength", "p_value")
        return {
            **record_of(self.data, job._repeat(self.seed)),
            "parameters": parameters_of(job) | {"seed": self.seed},
            "seed": self.seed,
            "method": job.method,
            "test": self.how,
            "results": {
                "members": [dict(zip(columns, r, strict=True)) for r in blanket_rows(self.blanket)],
                "n_out": len(separator_rows(self.blanket)),
                "n_tests": self.blanket.n_tests,
                "seconds": self.seconds,
            },
            "why_not": dict(zip(job.why_not, self.answers, strict=True)),
            "statements": self.sentences(),
            "files": [str(job.out / name) for name in job.files],
        }

    def json(self) -> str:
        """Return the record as one JSON object with a final newline."""
        return json_line(self.record())

    def text(self) -> str:
        """Return the table and the sentences, as wide and as coloured as stdout takes them."""
        blanket = self.blanket
        n_near, n_far = len(blanket.parents_children), len(blanket.spouses)
        heading = (
            f"{printable(self.data.source)}: Markov blanket of "
            f"{printable(blanket.name(blanket.target))}, {n_near:,} "
            f"{'parent or child' if n_near == 1 else 'parents or children'} and "
            f"{plural(n_far, 'spouse')}"
        )
        parts = [blanket_table(blanket)] if blanket.members else []
        said = [printable(line) for line in (*self.sentences(), *self.answers)]
        return rendered(console_of_stdout(), heading, *parts, *said)

    def sentences(self) -> list[str]:
        """Return how it was found, and who is out."""
        blanket = self.blanket
        out = separator_rows(blanket)
        known = (
            "Given these features the target is independent of all others, as far as the tests "
            "tell."
            if blanket.is_conditional
            else "These features depend on the target one by one; whether some make others "
            "redundant the samples are too few to tell."
        )
        said = [
            f"{known} Spouse: another parent of a child. Tests do not tell parents from children, "
            "nor cause from effect, and what is out may still be associated with the target.",
            f"{blanket.method}, alpha {blanket.alpha:g}, {blanket.n_tests:,} tests; "
            f"test: {self.how}.",
        ]
        n_copies = sum(row[2] == "copy" for row in out)
        n_untested = sum(row[2] == "no reliable test" for row in out)
        left = f"{counted(len(out))} out"
        if n_copies:
            left += f", {n_copies:,} of them copies"
        if n_untested:
            left += f", {n_untested:,} without a reliable test"
        nearest = [
            _told(name, given, p)
            for name, _, why, given, p in out[:_NEAREST]
            if why == "independent"
        ]
        if nearest:
            left += f"; the nearest: {'; '.join(nearest)}"
        said.append(f"{left}.")
        return said


def _told(name: str, given: list[str], p_value: float) -> str:
    known = f"given {', '.join(given)}, " if given else ""
    return f"{name} ({known}p = {p_value:.2g})"
