"""The command line: ``bitsieve select``, ``bitsieve datasets``.

Exit codes: 0 done, 2 bad input (one line on stderr), 130 stopped by Ctrl-C after the results so
far were written, 1 anything else. Everything heavy is imported inside the commands, so that
``bitsieve --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from bitsieve._version import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="bitsieve",
    help="Select features from wide data, and say honestly how well the selection predicts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Scale(str, Enum):
    """What happens to the columns before the search."""

    standard = "standard"
    none = "none"


class Orient(str, Enum):
    """What the rows of a file are."""

    auto = "auto"
    samples = "samples"
    features = "features"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bitsieve {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Select features from wide data, and say honestly how well the selection predicts."""


@app.command()
def select(
    file: Annotated[
        Path | None, typer.Argument(help="CSV, TSV (also .gz) or NPZ with the data.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column with the classes, or a file with them."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="A bundled data set instead of FILE; see bitsieve datasets.")
    ] = None,
    orient: Annotated[
        Orient, typer.Option(help="What a row of the file is: a sample or a feature.")
    ] = Orient.auto,
    index: Annotated[
        str | None, typer.Option(help="Column with the row names, which is no feature.")
    ] = None,
    method: Annotated[str, typer.Option(help="Search method.")] = "bspsa",
    estimator: Annotated[
        str, typer.Option(help="1nn, 3nn, 5nn, knn:K, nb, lda, logistic, svm or tree.")
    ] = "1nn",
    scoring: Annotated[str, typer.Option(help="Any scorer of scikit-learn.")] = "accuracy",
    scale: Annotated[
        Scale, typer.Option(help="Standardise the columns (inside every outer fold), or not.")
    ] = Scale.standard,
    cv: Annotated[int, typer.Option(min=2, help="Folds inside the search.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="Repeats of those folds.")] = 10,
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Size of the panel; free if not given.")
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(min=1, help="Iterations; if not given, the preset's number.")
    ] = None,
    max_time: Annotated[
        float | None, typer.Option(min=0.0, help="Seconds for each search.")
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(min=0, help="Iterations without a new best; 0 never gives up."),
    ] = None,
    outer_folds: Annotated[
        int, typer.Option(min=0, help="Outer folds for the honest error; 0 for none.")
    ] = 5,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed; drawn and recorded if not given.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores if not given.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder to store the searches in, and to resume from.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("bitsieve-out"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no table.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
) -> None:
    """Search for a panel of features and measure its honest error in outer folds.

    Writes selection.csv, run.json and convergence.png into the --out folder.
    """
    from bitsieve._job import Job

    with _one_line_errors():
        job = Job(
            file=file,
            target=target,
            dataset=dataset,
            orient=orient.value,
            index=index,
            method=method,
            estimator=estimator,
            scoring=scoring,
            scale=scale.value,
            cv=cv,
            n_repeats=repeats,
            n_features=n_features,
            max_iter=max_iter,
            max_time=max_time,
            patience=patience,
            outer_folds=outer_folds,
            seed=seed,
            n_jobs=jobs,
            checkpoint=checkpoint,
            out=out,
            progress=False if quiet or as_json else None,
        )
        done = job.run()
        if as_json:
            sys.stdout.write(done.json())
        elif not quiet:
            done.print()
        sys.stdout.flush()
    if done.outcome.interrupted:
        raise typer.Exit(130)
