"""``bitsieve predict``: a panel on new samples; the command itself, light to import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bitsieve.cli.errors import one_line_errors, show
from bitsieve.cli.options import (
    AsJson,
    Decimal,
    Drop,
    DuplicateNames,
    Duplicates,
    Index,
    Orient,
    Orientation,
    Quiet,
)
from bitsieve.cli.signals import signals_held
from bitsieve.cli.terminal import plain_warnings

__all__ = ["predict"]


def predict(
    panel: Annotated[Path, typer.Argument(help="panel.json, as bitsieve select writes it.")],
    file: Annotated[
        Path, typer.Argument(help="CSV, TSV (also .gz, .bz2, .xz) or NPZ with the samples.")
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="Column with the classes, a file with them, or file:column, where they are known: "
            "the error on these samples is then an external test.",
        ),
    ] = None,
    max_missing: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Greatest share of the panel's features that the file may lack; they stand at "
            "their centre.",
        ),
    ] = 0.1,
    orient: Orientation = Orient.auto,
    index: Index = None,
    drop: Drop = None,
    duplicates: DuplicateNames = Duplicates.error,
    decimal: Decimal = ".",
    out: Annotated[
        Path | None, typer.Option(help="CSV file for the predictions, such as predictions.csv.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the file that --out names.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Predict the classes of new samples by a panel.

    The panel's features are found by name; columns that it does not use are
    not looked at. A sample's class, probabilities and votes are the same
    numbers, to the last bit, that the run that made the panel would give.
    """
    with one_line_errors(), plain_warnings():
        from bitsieve.cli.prediction import PredictJob

        done = PredictJob(
            panel=panel,
            file=file,
            target=target,
            max_missing=max_missing,
            orient=orient.value,
            index=index,
            drop=tuple(drop or ()),
            duplicates=duplicates.value,
            decimal=decimal,
            out=out,
            force=force,
        ).run()
        # A full disk must not cost what is shown, nor a full pipe what is written.
        try:
            if as_json:
                show(done.json())
            elif not quiet:
                show(done.text())
        finally:
            with signals_held():
                done.write()
