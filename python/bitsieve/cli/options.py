"""Options of the commands: what several take, and the choices of an option."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Orient(StrEnum):
    """What the rows of a file are."""

    auto = "auto"
    samples = "samples"
    features = "features"


class Task(StrEnum):
    """What the target holds."""

    auto = "auto"
    classes = "classes"
    numbers = "numbers"


class Missing(StrEnum):
    """What becomes of missing values."""

    own = "own"
    level = "level"


class Duplicates(StrEnum):
    """What becomes of features of one name."""

    error = "error"
    mean = "mean"
    max = "max"
    first = "first"


class BlanketMethod(StrEnum):
    """How a Markov blanket is searched for."""

    hiton_mb = "hiton-mb"
    mmmb = "mmmb"
    pcmb = "pcmb"
    iamb = "iamb"
    inter_iamb = "inter-iamb"
    fast_iamb = "fast-iamb"
    gs = "gs"


class Independence(StrEnum):
    """What tests independence."""

    auto = "auto"
    g2 = "g2"
    chi2 = "chi2"
    fisher_z = "fisher-z"
    permutation = "permutation"


class Aggregate(StrEnum):
    """How several rankings become one."""

    mean = "mean"
    borda = "borda"
    median = "median"
    rra = "rra"


File = Annotated[
    Path | None, typer.Argument(help="CSV, TSV (also .gz, .bz2, .xz) or NPZ with the data.")
]
Dataset = Annotated[
    str | None, typer.Option(help="A bundled data set instead of FILE; see bitsieve datasets.")
]
Orientation = Annotated[
    Orient, typer.Option(help="What a row of the file is: a sample or a feature.")
]
Index = Annotated[str | None, typer.Option(help="Column with the row names, which is no feature.")]
Drop = Annotated[
    list[str] | None,
    typer.Option(help="Columns that are no features; several with commas, or again."),
]
DuplicateNames = Annotated[
    Duplicates,
    typer.Option(
        help="Features of one name: refused, their mean, the one of highest mean, the first."
    ),
]
Decimal = Annotated[str, typer.Option(help="Decimal mark of a text file.")]
Jobs = Annotated[int | None, typer.Option(help="Threads; all cores if not given.")]
Out = Annotated[Path, typer.Option(help="Folder for the results.")]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite the results of another run in that folder.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no table.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
