"""The command line: ``bitsieve select``, ``predict``, ``rank``, ``blanket`` and
``datasets``.

::

    __init__.py  the commands
    options.py   options that several commands take; select_options.py: those of select
    errors.py    errors as one line, exit codes
    methods.py   the methods of select, a table, and which options belong to which
    features.py  features that options name, and files of them
    auto.py      one job of --method auto: comparison, outer folds; found.py: its numbers
    finished.py  the page and the files of such a job; elsewhere.py: its external test
    job.py       one job of any other method: search, outer folds, table and files
    predict.py   the command bitsieve predict; prediction.py its job: a panel on new samples
    rank.py      one ranking job: scores of all features, table and files
    blanket.py   one Markov blanket: tests, table, files and picture
    doubts.py    what is warned of before a job starts
    input.py     what a job reads and where it may write; everything that is refused early
    folds.py     outer and inner folds, the same for every method
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
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from bitsieve._errors import ManyClassesWarning
from bitsieve._version import __version__
from bitsieve.cli import select_options as of
from bitsieve.cli.errors import one_line_errors, show
from bitsieve.cli.options import (
    Aggregate,
    AsJson,
    BlanketMethod,
    Dataset,
    Decimal,
    Drop,
    DuplicateNames,
    Duplicates,
    File,
    Force,
    Independence,
    Index,
    Jobs,
    Missing,
    Orient,
    Orientation,
    Out,
    Quiet,
    Task,
)
from bitsieve.cli.predict import predict
from bitsieve.cli.signals import Stopped, signals_held, signals_stop, what_stopped
from bitsieve.cli.terminal import plain_warnings

if TYPE_CHECKING:
    from bitsieve.cli.blanket import FinishedBlanket
    from bitsieve.cli.finished import FinishedAuto
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
    target: of.ClassTarget = None,
    dataset: Dataset = None,
    orient: Orientation = Orient.auto,
    index: Index = None,
    groups: of.Groups = None,
    drop: Drop = None,
    duplicates: DuplicateNames = Duplicates.error,
    decimal: Decimal = ".",
    method: of.Method = "auto",
    max_features: of.MaxFeatures = None,
    selectors: of.Selectors = None,
    estimators: of.Estimators = None,
    combine: of.Combination = None,
    parsimony: of.Parsimony = None,
    stability: of.StabilityOption = None,
    log: of.LogOption = None,
    quick: of.Quick = False,
    thorough: of.Thorough = False,
    planned_time: of.PlannedTime = None,
    restrict: of.Restrict = None,
    external: of.ExternalFile = None,
    covariates: of.Covariates = None,
    estimator: of.Estimator = None,
    scale: of.ScaleOption = None,
    n_features: of.NFeatures = None,
    direction: of.DirectionOption = None,
    step: of.Step = None,
    size_rule: of.SizeRuleOption = None,
    size_penalty: of.SizePenalty = None,
    forced: of.Forced = None,
    forbidden: of.Forbidden = None,
    feature_groups: of.FeatureGroups = None,
    start: of.Start = None,
    restarts: of.Restarts = None,
    kicks: of.Kicks = None,
    max_iter: of.MaxIter = None,
    max_evaluations: of.MaxEvaluations = None,
    max_time: of.MaxTime = None,
    patience: of.Patience = None,
    lam: of.Lam = None,
    eps: of.Eps = None,
    gate: of.GateOption = None,
    hidden: of.Hidden = None,
    max_epochs: of.MaxEpochs = None,
    batch_size: of.BatchSize = None,
    learning_rate: of.LearningRate = None,
    device: of.DeviceOption = None,
    scoring: of.Scoring = None,
    cv: of.InnerFolds = None,
    repeats: of.InnerRepeats = None,
    outer_folds: of.OuterFolds = None,
    outer_repeats: of.OuterRepeats = None,
    no_shuffle: of.NoShuffle = False,
    seed: of.Seed = None,
    jobs: Jobs = None,
    checkpoint: of.Checkpoint = None,
    out: Out = _OUT / "select",
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make a panel of features that predicts, and measure its honest error.

    The honest error is that of nested cross-validation: the whole choice is
    repeated in every outer fold. --method auto compares selectors, sizes and
    classifiers by inner cross-validation with the selection inside; stg and
    pefs train a network that selects and predicts; the other methods search
    with one classifier. Writes selection.csv, predictions.csv,
    run.json and, by auto, panel.json, path.png and calibration.png, by the
    others convergence.png, into the --out folder, and overwrites no other run.
    """
    with one_line_errors(), plain_warnings():
        from bitsieve.cli.methods import method_by_name

        entry = method_by_name(method)
        typed: dict[str, Any] = {
            "max-features": max_features, "selectors": selectors, "estimators": estimators,
            "combine": combine, "parsimony": parsimony, "stability": stability, "log": log,
            "quick": quick, "thorough": thorough, "time": planned_time,
            "restrict": restrict, "external": external, "covariates": covariates,
            "estimator": estimator, "scale": None if scale is None else scale.value,
            "n-features": None if n_features is None else of.size_of(n_features),
            "direction": None if direction is None else direction.value, "step": step,
            "size-rule": None if size_rule is None else size_rule.value,
            "size-penalty": size_penalty,
            "forced": None if forced is None else tuple(forced),
            "forbidden": None if forbidden is None else tuple(forbidden),
            "feature-groups": feature_groups, "start": start, "restarts": restarts,
            "kicks": kicks, "max-iter": max_iter, "max-evaluations": max_evaluations,
            "max-time": max_time, "patience": patience,
            "lam": None if lam is None else of.lam_of(lam), "eps": eps,
            "gate": None if gate is None else gate.value,
            "hidden": None if hidden is None else of.hidden_of(hidden),
            "max-epochs": max_epochs, "batch-size": batch_size, "learning-rate": learning_rate,
            "device": None if device is None else device.value,
            "scoring": scoring, "cv": cv, "repeats": repeats,
        }  # fmt: skip
        entry.refuse_others(typed)
        common: dict[str, Any] = {
            "file": file, "target": target, "dataset": dataset, "orient": orient.value,
            "index": index, "groups": groups, "drop": tuple(drop or ()),
            "duplicates": duplicates.value, "decimal": decimal, "method": entry.name, "seed": seed,
            "cv": cv, "outer_folds": outer_folds, "outer_repeats": outer_repeats,
            "shuffle": not no_shuffle,
            "n_jobs": jobs, "checkpoint": checkpoint, "out": out, "force": force,
            "progress": False if quiet or as_json else None,
        }  # fmt: skip
        done: FinishedJob | FinishedAuto
        if entry.selector is None:
            from bitsieve.cli.auto import AutoJob

            done = AutoJob(
                **common,
                scoring=scoring,
                n_repeats=repeats,
                max_features=of.limit_of(max_features),
                selectors=of.words_of(selectors),
                estimators=of.words_of(estimators),
                combine="auto" if combine is None else combine.value,
                parsimony=0.0 if parsimony is None else parsimony,
                stability=None if stability is None else stability.value,
                log="auto" if log is None else log.value,
                effort=of.effort_of(quick=quick, thorough=thorough),
                planned_time=None if planned_time is None else of.seconds_of(planned_time),
                restrict=restrict,
                external=external,
                covariates=of.words_of(covariates),
            ).run()
        else:
            from bitsieve.cli.job import Job

            done = Job(
                **common,
                options=entry.chosen(typed, shuffle=not no_shuffle),
            ).run()
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
def blanket(
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
    alpha: Annotated[
        float,
        typer.Option(help="Independent is a p-value above it; 0.001 for hundreds of features."),
    ] = 0.01,
    method: Annotated[
        BlanketMethod, typer.Option("--method", "-m", help="How the blanket is searched for.")
    ] = BlanketMethod.hiton_mb,
    test: Annotated[
        Independence, typer.Option(help="Test of independence; auto looks at the data.")
    ] = Independence.auto,
    max_conditioning: Annotated[
        int, typer.Option(min=0, help="Most features of a separating set.")
    ] = 3,
    min_samples_per_cell: Annotated[
        float, typer.Option(min=0, help="A test of levels with fewer samples a cell is skipped.")
    ] = 5.0,
    no_symmetric: Annotated[
        bool,
        typer.Option("--no-symmetric", help="Keep those too that do not find each other."),
    ] = False,
    why_not: Annotated[
        list[str] | None, typer.Option(help="Say why this feature is in or out; again for more.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**32 - 1, help="Seed of --test permutation; drawn and recorded."),
    ] = None,
    jobs: Jobs = None,
    out: Out = _OUT / "blanket",
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Find the Markov blanket of the target: parents, children and spouses.

    Given these the target is independent of all other features. Writes
    blanket.csv, separators.csv (what separates each other feature), run.json
    and blanket.png into the --out folder, and overwrites no other run.
    """
    with one_line_errors(), plain_warnings(ignore=ManyClassesWarning):
        from bitsieve.cli.blanket import BlanketJob

        job = BlanketJob(
            file=file,
            target=target,
            dataset=dataset,
            orient=orient.value,
            index=index,
            drop=tuple(drop or ()),
            duplicates=duplicates.value,
            decimal=decimal,
            task=task.value,
            alpha=alpha,
            method=method.value,
            test=test.value,
            max_conditioning=max_conditioning,
            min_samples_per_cell=min_samples_per_cell,
            symmetric=not no_symmetric,
            why_not=tuple(why_not or ()),
            seed=seed,
            n_jobs=jobs,
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
    done: FinishedJob | FinishedAuto | FinishedRanking | FinishedBlanket,
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
