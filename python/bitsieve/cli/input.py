"""What a job reads, and where it may write: everything that is refused early."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import name_columns, plural
from bitsieve._scorers import value_needs_every_class
from bitsieve.data import Table, datasets, read_measured_features, read_table
from bitsieve.data.copies import find_copies
from bitsieve.data.doubts import Doubt
from bitsieve.data.labels import label_source
from bitsieve.data.missing import Missing
from bitsieve.data.validation import Task
from bitsieve.report import file_identity
from bitsieve.report.outcome import counted, printable

__all__ = ["JobInput", "check_folds", "dataset_rows", "load_input", "make_folder", "refuse_file"]


@dataclass(frozen=True, eq=False)
class JobInput:
    """A table, where it came from, and what identifies the files and what was read of them."""

    table: Table
    names: list[str]
    source: str
    identity: dict[str, Any]
    restriction: str | None = None

    def summary(self) -> str:
        """Return samples, classes, features and how labels met samples, as one line."""
        said = f"{self.table.n_samples:,} samples{self._target()}, {counted(len(self.names))}"
        if self.table.groups is not None:
            said += f" in {self.table.groups.max() + 1:,} groups"
        if self.table.has_missing:
            said += f"; {self.table.n_missing:,} missing values"
        if self.categories:
            said += f"; {name_columns(self.table.discrete_columns, self.names)} of categories"
        if self.matching is not None:
            said += f"; labels {self.matching}"
        if self.restriction is not None:
            said += f"; {self.restriction}"
        return printable(said)

    @property
    def matching(self) -> str | None:
        """How the labels of a file of their own met the samples."""
        match = self.table.label_match
        return {"in order": "taken in order", "by name": "matched by name", None: None}[match]

    @property
    def categories(self) -> list[str]:
        """Names of the columns that hold categories."""
        return [self.names[j] for j in self.table.discrete_columns]

    @cached_property
    def doubts(self) -> list[Doubt]:
        """Columns that are evidently no features, and classes that are hardly meant."""
        return self.table.doubts()

    def described(self) -> dict[str, Any]:
        """Return numbers of samples and features, and what the target holds, for a record."""
        found: dict[str, Any] = {
            "n_samples": self.table.n_samples,
            "n_features": len(self.names),
        }
        if self.table.groups is not None:
            found["n_groups"] = int(self.table.groups.max()) + 1
        if self.table.task == "classification":
            classes, counts = np.unique(self.y, return_counts=True)
            found["classes"] = {str(c): int(n) for c, n in zip(classes, counts, strict=True)}
        elif self.table.task == "regression":
            found["target"] = {"least": float(self.y.min()), "greatest": float(self.y.max())}
        return found

    def restricted(self, path: Path) -> JobInput:
        """Return the input with the features alone that a file names.

        Raises
        ------
        ValueError
            Where the file cannot be read, or names no feature.
        """
        found = read_measured_features(path, self.names)
        notes = f"{path.name}: {found.text()}"
        identity = {**self.identity, "restrict": {**file_identity(path), "said": notes}}
        names = [name for name, kept in zip(self.names, found.keep, strict=True) if kept]
        return JobInput(self.table.of_features(found.keep), names, self.source, identity, notes)

    def copies_text(self) -> str | None:
        """Return what to say of samples that stand twice, None without."""
        copies = find_copies(self.table.X, self.table.groups)
        return None if copies is None else printable(copies.text(self.table.sample_names))

    def _target(self) -> str:
        if self.table.task is None:
            return ""
        if self.table.task == "regression":
            return f" (target from {self.y.min():g} to {self.y.max():g})"
        classes, counts = np.unique(self.y, return_counts=True)
        shown = [f"{c} {n:,}" for c, n in zip(classes[:8], counts[:8], strict=True)]
        if len(classes) > 8:
            shown.append(f"{len(classes) - 8:,} more")
        return f" ({', '.join(shown)})"

    @property
    def X(self) -> NDArray[Any]:
        """Features, shape (n_samples, n_features)."""
        return self.table.X

    @property
    def y(self) -> NDArray[Any]:
        """Labels, shape (n_samples,)."""
        assert self.table.y is not None
        return self.table.y


def load_input(
    file: Path | None,
    dataset: str | None,
    *,
    target: str | None,
    orient: Literal["auto", "samples", "features"],
    index: str | None,
    groups: str | None = None,
    task: Task | None = None,
    needs_target: bool = True,
    needs_classes: bool = True,
    categorical: Literal["error", "ordinal"] = "error",
    missing: Missing = "error",
    drop: Sequence[str] = (),
    duplicates: Literal["error", "mean", "max", "first"] = "error",
    decimal: str = ".",
) -> JobInput:
    """Read the file or the bundled data set.

    Parameters
    ----------
    file : Path or None
    dataset : str or None
        Either of the two.
    target, orient, index, groups
        As in :func:`bitsieve.data.read_table`.
    task : {"classification", "regression"} or None, default None
        What the target of a file is; None decides from its values.
    needs_target, needs_classes : bool, default True
        Whether the job can do without a target, and with one of numbers.
    categorical, missing, drop, duplicates, decimal
        As in :func:`bitsieve.data.read_table`.

    Returns
    -------
    JobInput

    Raises
    ------
    ValueError
        Where neither or both were named, or the data are not fit for the job.
    """
    if (file is None) == (dataset is None):
        raise ValueError(
            "name either a FILE with --target, or --dataset with a bundled data set "
            "(bitsieve datasets lists them)"
        )
    if file is None:
        of_file = {"--target": target, "--groups": groups, "--index": index, "--drop": drop or None}
        given = [option for option, value in of_file.items() if value is not None]
        if given:
            raise ValueError(
                f"{given[0]} names a column of a FILE, but --dataset {dataset} is a bundled data "
                "set, which is taken as it is: leave it out"
            )
        source = str(dataset)
        table = _bundled(source)
        identity: dict[str, Any] = {"dataset": source}
    else:
        named = target is not None or file.name.lower().endswith(".npz")
        if needs_target and not named and file.is_file():
            raise ValueError(
                f"{file}: --target is needed: the column to predict, or a file with labels"
            )
        table = read_table(
            file, target=target, orient=orient, index=index or "auto", task=task,
            categorical=categorical, missing=missing, drop=drop, duplicates=duplicates,
            decimal=decimal, groups=groups,
        )  # fmt: skip
        source, identity = file.name, file_identity(file)
        labels = label_source(target)
        if labels is not None and table.label_match is not None:
            identity["target"] = file_identity(labels[0])
        members = label_source(groups)
        if members is not None:
            identity["groups"] = file_identity(members[0])
    if table.y is None and needs_target:
        raise ValueError(f"{source}: --target is needed, the name of what to predict")
    if table.task == "regression" and needs_classes:
        assert table.y is not None
        raise ValueError(
            f"{source}: the target{_quoted(target)} holds numbers that are no classes (from "
            f"{table.y.min():g} to "
            f"{table.y.max():g}); bitsieve select predicts classes; for numbers use BinarySPSA "
            "from Python"
        )
    names = table.names or [f"x{i}" for i in range(table.n_features)]
    data = JobInput(table, list(names), source, identity)
    if data.matching is not None:
        identity["labels"] = data.matching
    if table.notes:
        identity["notes"] = list(table.notes)
    return data


def _quoted(target: str | None) -> str:
    return "" if target is None else f" {target!r}"


def check_folds(table: Table, *, outer_folds: int, cv: int, scoring: str) -> None:
    """Refuse folds that the outer training parts cannot give, or that a scorer has no value on.

    A ``cv`` of 1 stands for no inner folds.

    Raises
    ------
    ValueError
        Where every class is smaller than the folds, groups are fewer, or a class is too small for
        a scorer that needs each one in every test part.
    """
    assert table.codes is not None
    if not outer_folds:
        _check_inner_folds(table, cv)
        return
    if table.groups is not None:
        n_groups = int(table.groups.max()) + 1
        left = n_groups - -(-n_groups // outer_folds)
        needs = "needs" if cv == 1 else "need"
        if n_groups < outer_folds or left < cv:
            raise ValueError(
                f"--outer-folds {outer_folds}{_and_cv(cv)} {needs} more than "
                f"{plural(n_groups, 'group')}: {_folds_instead(n_groups, outer_folds, cv)}"
            )
    _check_classes(table, outer_folds=outer_folds, cv=cv, scoring=scoring)
    largest = int(np.bincount(table.codes).max())
    if largest < outer_folds:
        raise ValueError(
            f"--outer-folds {outer_folds} is more than the largest class has samples "
            f"({largest}): lower it, or give 0 for none"
        )
    left = largest - -(-largest // outer_folds)
    if left < cv:
        raise ValueError(
            f"--cv {cv} is more than an outer training part has samples of the largest class "
            f"({left} of {largest}): lower it, or give --outer-folds 0"
        )


def _and_cv(cv: int) -> str:
    return f" and --cv {cv}" if cv > 1 else ""


def _folds_instead(n_groups: int, outer_folds: int, cv: int) -> str:
    """Say which folds so few groups can give."""
    if n_groups == 1:
        return "leave --groups out"
    if cv == 1:
        return "lower it"
    if n_groups == 2:
        return "take --outer-folds 0 and --cv 2, or leave --groups out"
    outer = min(outer_folds, n_groups)
    left = n_groups - -(-n_groups // outer)
    if left < 2:
        return f"take --outer-folds {n_groups} and --cv 2"
    return f"lower them, such as to --outer-folds {outer} and --cv {min(cv, left)}"


def _check_inner_folds(table: Table, cv: int) -> None:
    """Refuse inner folds that all samples cannot give."""
    assert table.codes is not None
    if table.groups is not None and int(table.groups.max()) + 1 < cv:
        n_groups = int(table.groups.max()) + 1
        raise ValueError(
            f"--cv {cv} is more than there are groups ({n_groups}): "
            f"{'lower it' if n_groups > 1 else 'leave --groups out'}"
        )
    largest = int(np.bincount(table.codes).max())
    if largest < cv:
        raise ValueError(
            f"--cv {cv} is more than the largest class has samples ({largest}): lower it"
        )


def _check_classes(table: Table, *, outer_folds: int, cv: int, scoring: str) -> None:
    """Refuse a class that a test part would lack where the scorer then has no value."""
    from sklearn.metrics import get_scorer

    assert table.codes is not None and table.classes is not None
    counts = np.bincount(table.codes)
    least = int(counts.argmin())
    count = int(counts[least])
    left = count - -(-count // outer_folds)
    if count >= outer_folds and left >= cv:
        return
    reason = value_needs_every_class(get_scorer(scoring), table.codes)
    if reason is not None:
        option = "--outer-folds" if count < outer_folds else "--cv"
        raise ValueError(
            f"--scoring {scoring} has no value where a test part lacks a class ({reason}), and "
            f"class {str(table.classes[least])!r} has {plural(count, 'sample')}, too few for "
            f"--outer-folds {outer_folds}{_and_cv(cv)}: lower {option}, or take --scoring "
            "balanced_accuracy"
        )


def refuse_file(out: Path) -> None:
    """Refuse an --out that is no folder."""
    try:
        is_other = out.exists() and not out.is_dir()
    except OSError as error:  # too long a name
        raise _unwritable(out, error) from error
    if is_other:
        raise ValueError(f"--out must be a folder, but {out} is a file: give another name")


def make_folder(out: Path) -> None:
    """Make the folder for the results and try to write in it, before anything long starts."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise _unwritable(out, error) from error


def _unwritable(out: Path, error: OSError) -> ValueError:
    return ValueError(f"--out {out} cannot be written ({error.strerror}): give another folder")


def dataset_rows() -> list[dict[str, Any]]:
    """Return name, samples, features, task and classes of every bundled data set."""
    bundles = [datasets.load(name) for name in datasets.names()]
    return [
        {
            "name": bundle.name,
            "samples": bundle.X.shape[0],
            "features": bundle.X.shape[1],
            "task": bundle.task,
            "classes": ", ".join(bundle.target_names),
        }
        for bundle in bundles
    ]


def _bundled(name: str) -> Table:
    bundle = datasets.load(name)
    y = np.array(bundle.target_names)[bundle.y] if bundle.target_names else bundle.y
    return Table(bundle.X, y, names=bundle.names, task=bundle.task)
