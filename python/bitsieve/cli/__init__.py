"""The command line: ``bitsieve select``, ``predict``, ``rank`` and ``datasets``.

::

    __init__.py  the commands
    options.py   options that several commands take
    errors.py    errors as one line, exit codes
    job.py       one selection job: search, outer folds, table and files
    predict.py   the command bitsieve predict; prediction.py its job: a panel on new samples
    rank.py      one ranking job: scores of all features, table and files
    doubts.py    what is warned of before a job starts
    input.py     what a job reads and where it may write; everything that is refused early
    folder.py    nothing of another run is overwritten
    record.py    what every job writes into run.json
    terminal.py  what a job says: tables, sentences, warnings
    signals.py   SIGTERM and SIGHUP as Ctrl-C

Exit codes: 0 done, 2 bad input (one line on stderr), 130 stopped by Ctrl-C (143 by SIGTERM, 129 by
SIGHUP) after the results so far were written, 1 anything else. Everything heavy is imported inside
the commands, so that ``bitsieve --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from bitsieve._errors import ManyClassesWarning
from bitsieve._version import __version__
from bitsieve.cli.errors import one_line_errors, show
from bitsieve.cli.options import (
    Aggregate,
    AsJson,
    Dataset,
    Decimal,
    Drop,
    DuplicateNames,
    Duplicates,
    File,
    Force,
    Index,
    Jobs,
    Missing,
    Orient,
    Orientation,
    Out,
    Quiet,
    Scale,
    Task,
)
from bitsieve.cli.predict import predict
from bitsieve.cli.signals import Stopped, signals_held, signals_stop, what_stopped
from bitsieve.cli.terminal import plain_warnings

if TYPE_CHECKING:
    from bitsieve.cli.job import FinishedJob
    from bitsieve.cli.rank import FinishedRanking

__all__ = ["app", "main"]

app = typer.Typer(
    name="bitsieve",
    help="Select features from wide data, and say honestly how well the selection predicts.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


_OUT = Path("bitsieve-out")


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
    file: File = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="Column with the classes, a file with them, or file:column.",
        ),
    ] = None,
    dataset: Dataset = None,
    orient: Orientation = Orient.auto,
    index: Index = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column (or a file, as for --target) with what belongs together, such as the "
            "patient: no feature, and no fold parts a group."
        ),
    ] = None,
    drop: Drop = None,
    duplicates: DuplicateNames = Duplicates.error,
    decimal: Decimal = ".",
    method: Annotated[
        str,
        typer.Option(
            help="Search method; known: bspsa, binary simultaneous perturbation stochastic "
            "approximation."
        ),
    ] = "bspsa",
    estimator: Annotated[
        str, typer.Option(help="1nn, 3nn, 5nn, knn:K, nb, lda, logistic, svm or tree.")
    ] = "1nn",
    scoring: Annotated[str, typer.Option(help="Any scorer of scikit-learn.")] = "accuracy",
    scale: Annotated[
        Scale, typer.Option(help="Standardise the columns (inside every outer fold), or not.")
    ] = Scale.standard,
    cv: Annotated[
        int,
        typer.Option(
            min=2,
            help="Folds of the inner cross-validation: stratified, shuffled anew for each "
            "iteration.",
        ),
    ] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="Repeats of those folds.")] = 10,
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Size of the panel; free if not given.")
    ] = None,
    max_iter: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Iterations at most; if not given, 1000 below 100 features, 3000 from there on.",
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(
            help="Seconds for each search, measuring its finalists included; there are 1 + the "
            "outer folds of them."
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Iterations without a new best before it stops; if not given, a quarter of those "
            "at most, but 100 at least; 0 never gives up.",
        ),
    ] = None,
    outer_folds: Annotated[
        int,
        typer.Option(
            min=0,
            help="Outer folds of the nested cross-validation (honest error): stratified, in the "
            "order of the samples, as cv=5 in Python; 0 for none.",
        ),
    ] = 5,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**64 - 1, help="Seed; drawn and recorded if not given."),
    ] = None,
    jobs: Jobs = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder to store the searches in, and to resume from.")
    ] = None,
    out: Out = _OUT / "select",
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Search for a panel of features and measure its honest error in outer folds.

    The honest error is that of nested cross-validation: the whole selection
    is repeated in every outer fold. The search is binary SPSA, simultaneous
    perturbation stochastic approximation (Spall 1992; Aksakalli and
    Malekipirbazari 2016). Writes selection.csv, predictions.csv, run.json and
    convergence.png into the --out folder, and overwrites no other run.
    """
    with one_line_errors(), plain_warnings():
        from bitsieve.cli.job import Job

        job = Job(
            file=file,
            target=target,
            dataset=dataset,
            orient=orient.value,
            index=index,
            groups=groups,
            drop=tuple(drop or ()),
            duplicates=duplicates.value,
            decimal=decimal,
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
            force=force,
            progress=False if quiet or as_json else None,
        )
        done = job.run()
        _deliver(done, done.files, out, quiet=quiet, as_json=as_json)
    if done.stop is not None:
        raise typer.Exit(what_stopped(done.stop)[1])


@app.command()
def rank(
    file: File = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="Column with classes or numbers, a file with them, or file:column.",
        ),
    ] = None,
    dataset: Dataset = None,
    orient: Orientation = Orient.auto,
    index: Index = None,
    drop: Drop = None,
    duplicates: DuplicateNames = Duplicates.error,
    decimal: Decimal = ".",
    task: Annotated[
        Task, typer.Option(help="What the target of a file holds; its values decide by default.")
    ] = Task.auto,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            help="relieff (default), multisurf, rrelieff, mrmr, jmi, cmim, t, welch, f, auc, s2n, "
            "pearson, spearman, kruskal, chi2, infogain, su, fcbf, gs and more; several "
            "(with commas, or again) are combined into one ranking.",
        ),
    ] = None,
    aggregate: Annotated[
        Aggregate | None, typer.Option(help="How several rankings become one; mean by default.")
    ] = None,
    top: Annotated[
        int,
        typer.Option(
            min=1,
            help="Features to show; greedy methods take as many, or 100 where rankings combine.",
        ),
    ] = 20,
    n_neighbors: Annotated[
        int | None, typer.Option(min=1, help="Neighbors of ReliefF and its kin.")
    ] = None,
    n_instances: Annotated[
        int | None,
        typer.Option(
            min=1, help="Samples, drawn at random, whose neighbors ReliefF and its kin look at."
        ),
    ] = None,
    missing: Annotated[
        Missing,
        typer.Option(
            help="Missing values: own, as the method does (Relief and kin; others refuse them); "
            "level, one level more for methods that count levels (infogain, mrmr, jmi, ...)."
        ),
    ] = Missing.own,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=2**32 - 1, help="Seed; drawn and recorded where a method needs one."
        ),
    ] = None,
    jobs: Jobs = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw ranking.png too.")] = False,
    out: Out = _OUT / "rank",
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Score every feature on all samples and list the best.

    Columns of text are categories where the method takes them. Writes
    ranking.csv (all features) and run.json into the --out folder, and
    overwrites no other run. A ranking is no error estimate.
    """
    # That many classes are doubtful is said in the options' own words.
    with one_line_errors(), plain_warnings(ignore=ManyClassesWarning):
        from bitsieve.cli.rank import RankJob

        job = RankJob(
            file=file,
            target=target,
            dataset=dataset,
            orient=orient.value,
            index=index,
            drop=tuple(drop or ()),
            duplicates=duplicates.value,
            decimal=decimal,
            task=task.value,
            methods=tuple(
                name.strip() for text in method or ["relieff"] for name in text.split(",")
            ),
            aggregate=None if aggregate is None else aggregate.value,
            top=top,
            n_neighbors=n_neighbors,
            n_instances=n_instances,
            missing=missing.value,
            seed=seed,
            n_jobs=jobs,
            plot=plot,
            out=out,
            force=force,
            progress=False if quiet or as_json else None,
        )
        _deliver(job.run(), job.files, out, quiet=quiet, as_json=as_json)


@app.command()
def datasets(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the bundled data sets."""
    from bitsieve.cli.input import dataset_rows

    with one_line_errors():
        rows = dataset_rows()
        if as_json:
            import json

            show(json.dumps({"datasets": rows}, indent=2) + "\n")
        else:
            from rich import box
            from rich.console import Console
            from rich.table import Table

            table = Table(box=box.SIMPLE_HEAD)
            for name in ("name", "samples", "features", "task", "classes"):
                number = name in ("samples", "features")
                table.add_column(name, justify="right" if number else "left")
            for row in rows:
                if row["task"] == "regression":
                    row["task"] = "regression (rank)"
                table.add_row(*(str(row[key]) for key in row))
            console = Console(markup=False, highlight=False)
            if not console.is_terminal:
                console.width = max(console.width, 120)
            with console.capture() as captured:
                console.print(table)
            show(captured.get())


app.command()(predict)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code.

    Parameters
    ----------
    arguments : sequence of str or None, default None
        Without the program's name; None means those of the process.

    Raises
    ------
    SystemExit
        Always; 0 done, 2 bad input, 130 stopped by Ctrl-C, 143 by SIGTERM, 1 anything else.
    """
    # Closed by whoever started the program, such as a service: what is printed goes nowhere.
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal cannot show is shown as an escape, never as a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with one_line_errors(), signals_stop() as came:
            given = list(sys.argv[1:] if arguments is None else arguments)
            code = app(given or ["--help"], standalone_mode=False)
            if came and code == 130:  # typer takes all for Ctrl-C while it reads the command line
                raise Stopped(came[-1])
    except typer.Exit as stop:
        code = stop.exit_code
    code = code if isinstance(code, int) else 0
    sys.exit(code)


def _deliver(
    done: FinishedJob | FinishedRanking,
    files: Sequence[str],
    out: Path,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Show what a job found, and write its files."""
    from bitsieve.report.outcome import printable

    # A full disk must not cost what is shown, nor a full pipe what is written.
    try:
        if as_json:
            show(done.json())
        elif not quiet:
            show(done.text())
    except KeyboardInterrupt as stop:
        raise typer.Exit(what_stopped(stop)[1]) from None
    finally:
        with signals_held():
            done.write()
    if not (as_json or quiet):
        show(f"\nWritten to {printable(str(out))}: {', '.join(files)}\n")
