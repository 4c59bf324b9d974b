"""One ranking job, as the command line runs it: read, score, combine, files.

::

    FILE or --dataset -> one ranking a --method -> (combined where there are several)
                                                        -> table, ranking.csv, run.json, ranking.png
"""

from __future__ import annotations

import secrets
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import TextColumns, caused_by
from bitsieve.cli.doubts import warn_of_doubts
from bitsieve.cli.folder import refuse_other_run
from bitsieve.cli.input import JobInput, load_input, make_folder, refuse_file
from bitsieve.cli.methods import METHODS
from bitsieve.cli.record import command_of, json_line, parameters_of, record_of, try_all
from bitsieve.cli.terminal import console_of_stdout, rendered, say
from bitsieve.filters import rank_aggregation
from bitsieve.filters.aggregation import lacking_of, positions_of
from bitsieve.filters.named import FILTERS, N_GREEDY, NamedFilter, Ranked, filter_by_name
from bitsieve.filters.positions import best_first
from bitsieve.report import (
    Ranking,
    plot_ranking,
    ranking_info,
    ranking_table,
    write_ranking_csv,
    write_run_json,
)

__all__ = ["FinishedRanking", "RankJob"]

_TASKS: dict[str, Literal["classification", "regression"] | None] = {
    "auto": None,
    "classes": "classification",
    "numbers": "regression",
}

#: Whole numbers of so many values may well be classes.
_MANY_CLASSES = 20


@dataclass(frozen=True)
class RankJob:
    """Everything that the command line was asked for; see ``bitsieve rank --help``."""

    file: Path | None
    target: str | None
    dataset: str | None
    orient: Literal["auto", "samples", "features"]
    index: str | None
    drop: tuple[str, ...]
    duplicates: Literal["error", "mean", "max", "first"]
    decimal: str
    task: Literal["auto", "classes", "numbers"]
    methods: tuple[str, ...]
    aggregate: Literal["mean", "borda", "median", "rra"] | None
    top: int
    n_neighbors: int | None
    n_instances: int | None
    missing: Literal["own", "level"]
    seed: int | None
    n_jobs: int | None
    plot: bool
    out: Path
    force: bool
    progress: bool | None

    @property
    def files(self) -> tuple[str, ...]:
        """What the job writes into its folder."""
        return ("ranking.csv", "run.json", *(("ranking.png",) if self.plot else ()))

    def run(self) -> FinishedRanking:
        """Run the job.

        Returns
        -------
        FinishedRanking

        Raises
        ------
        ValueError
            For bad input, before anything long starts.
        OSError
            Where a file cannot be read.
        KeyboardInterrupt
            Ctrl-C: there is nothing to write before the end.
        """
        refuse_file(self.out)
        filters = self._filters()
        data = self._data(filters)
        _check_target(filters, data)
        self._check_missing(filters, data)
        if not self.force:
            repeat = self._repeat(self.seed)
            refuse_other_run(self.out, self.files, repeat=repeat, identity=data.identity)
        make_folder(self.out)
        if self.progress is None:
            say(data.summary())
        warn_of_doubts(data)
        # A seed is drawn only where something is drawn with it.
        is_random = any(method.takes("random_state") for method in filters)
        seed = secrets.randbits(32) if self.seed is None and is_random else self.seed
        start = time.perf_counter()
        self._doubt_classes(data)
        n_greedy = self.top if len(filters) == 1 else max(self.top, N_GREEDY)
        found = [self._ranked(method, data, seed, n_greedy) for method in filters]
        ranking = self._ranking(filters, found, data, time.perf_counter() - start)
        return FinishedRanking(self, ranking, self._record(ranking, data, seed), _label(filters))

    def _filters(self) -> list[NamedFilter]:
        """Return the methods, or say which option does not fit them."""
        for name in self.methods:
            if any(name.lower() in method.names for method in METHODS):
                raise ValueError(
                    f"--method {name} makes a panel: use bitsieve select --method {name}"
                )
        filters = [filter_by_name(name) for name in self.methods]
        names = [method.name for method in filters]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"--method {twice[0]} was given twice: name each method once")
        if self.aggregate is not None and len(filters) == 1:
            raise ValueError(
                f"--aggregate {self.aggregate} combines several rankings, but there is one "
                f"--method ({names[0]}): name another, or leave --aggregate out"
            )
        for option, value in self._of_some().items():
            if value is not None and not any(m.takes(option) for m in filters):
                able = ", ".join(name for name, m in FILTERS.items() if m.takes(option))
                raise ValueError(
                    f"--{option.replace('_', '-')} has no meaning for {', '.join(names)}; it is "
                    f"for {able}"
                )
        if self.missing == "level" and not any(m.counts_levels for m in filters):
            raise ValueError(
                f"--missing level has no meaning for {', '.join(names)}; it is for "
                f"{_able('counts_levels')}"
            )
        return filters

    def _of_some(self) -> dict[str, int | None]:
        """Return the options that only some methods know."""
        return {"n_neighbors": self.n_neighbors, "n_instances": self.n_instances}

    def _data(self, filters: list[NamedFilter]) -> JobInput:
        """Read the table, columns of text as categories where all methods take them."""
        unfit = [method.name for method in filters if not method.takes_categories]
        try:
            return load_input(
                self.file, self.dataset, target=self.target, orient=self.orient, index=self.index,
                task=_TASKS[self.task], needs_classes=False,
                needs_target=any(method.target != "none" for method in filters),
                categorical="error" if unfit else "ordinal", missing="keep",
                drop=self.drop, duplicates=self.duplicates, decimal=self.decimal,
            )  # fmt: skip
        except ValueError as error:
            if not unfit or not caused_by(error, TextColumns):
                raise
            raise ValueError(
                f"{error}, or use methods that take categories in place of {', '.join(unfit)}: "
                f"{_able('takes_categories')}"
            ) from error

    def _check_missing(self, filters: list[NamedFilter], data: JobInput) -> None:
        """Refuse missing values where a method takes none."""
        unfit = [m for m in filters if not (m.takes_nan or self._as_level(m, data))]
        if not unfit or not data.table.has_missing:
            return
        ways = [f"use methods that take them: {_able('takes_nan')}"]
        if all(method.counts_levels for method in unfit):
            ways.append("count them as a level of their own with --missing level")
        names = ", ".join(method.name for method in unfit)
        try:
            data.table.refuse_missing()
        except ValueError as error:
            raise ValueError(
                f"{data.source}: {names} {'take' if len(unfit) > 1 else 'takes'} no missing "
                f"values. {error}; or {'; or '.join(ways)}"
            ) from None

    def _as_level(self, method: NamedFilter, data: JobInput) -> bool:
        """Tell whether missing values become a level of their own."""
        return self.missing == "level" and method.counts_levels and data.table.has_missing

    def _doubt_classes(self, data: JobInput) -> None:
        """Warn where whole numbers are taken as classes that are hardly meant as such."""
        table = data.table
        if self.task != "auto" or table.classes is None or table.classes.dtype.kind not in "iuf":
            return
        n_classes = len(table.classes)
        if n_classes > max(_MANY_CLASSES, table.n_samples // 4):
            warnings.warn(
                f"the {n_classes:,} different numbers of the target are taken as classes; give "
                "--task numbers to take them as numbers",
                stacklevel=2,
            )

    def _ranked(
        self, method: NamedFilter, data: JobInput, seed: int | None, n_greedy: int
    ) -> Ranked:
        try:
            return method.rank(
                data.table, None,
                n_features=min(n_greedy, len(data.names)), n_jobs=self.n_jobs,
                random_state=seed, missing="level" if self._as_level(method, data) else None,
                **self._of_some(),
            )  # fmt: skip
        except ValueError as error:
            raise ValueError(f"{data.source}: {method.name}: {error}") from error

    def _ranking(
        self, filters: list[NamedFilter], found: list[Ranked], data: JobInput, seconds: float
    ) -> Ranking:
        common: dict[str, Any] = {
            "source": data.source,
            "names": data.names,
            "n_samples": data.table.n_samples,
            "seconds": seconds,
        }
        if len(found) == 1:
            one = found[0]
            return Ranking(
                method=filters[0].name,
                scores=one.scores,
                order=best_first(-one.keys),
                p_values=one.p_values,
                q_values=_adjusted(one.p_values),
                greedy=filters[0].greedy,
                **common,
            )
        how = self.aggregate or "mean"
        keys: NDArray[np.float64] = np.array([one.keys for one in found])
        scores = rank_aggregation(keys, method=how, given="rankings")
        positions = positions_of(keys, given="rankings", lacking=lacking_of(how))
        names = [method.name for method in filters]
        return Ranking(
            method=f"{', '.join(names)} combined by {how}",
            scores=scores,
            order=best_first(scores),
            positions=dict(zip(names, positions, strict=True)),
            **common,
        )

    def _record(self, ranking: Ranking, data: JobInput, seed: int | None) -> dict[str, Any]:
        parameters = parameters_of(self)
        record = record_of(data, self._repeat(seed))
        record["data"] |= {"n_missing": data.table.n_missing, "categories": data.categories}
        return {
            **record,
            "parameters": parameters | {"seed": seed},
            "seed": seed,
            "method": ranking.method,
            "results": ranking.results(self.top),
            "statements": ranking.sentences(),
            "files": [str(self.out / name) for name in self.files],
        }

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
            "method": self.methods,
            "aggregate": self.aggregate,
            "top": self.top,
            "n-neighbors": self.n_neighbors,
            "n-instances": self.n_instances,
            "missing": None if self.missing == "own" else self.missing,
            "seed": seed,
        }
        return command_of("rank", self.file, options)


@dataclass(frozen=True, eq=False)
class FinishedRanking:
    """A ranking job that has run: what it found, its record, and what a score is."""

    job: RankJob
    ranking: Ranking
    record: dict[str, Any]
    label: str

    def write(self) -> None:
        """Write run.json, ranking.csv and the picture where one is asked for.

        Raises
        ------
        OSError
            Of the first file that cannot be written, after all of them were tried.
        """
        picture = (self._write_picture,) if self.job.plot else ()
        try_all(self._write_record, self._write_ranking, *picture)

    def _write_record(self) -> None:
        write_run_json(self.job.out / "run.json", self.record)

    def _write_ranking(self) -> None:
        write_ranking_csv(self.job.out / "ranking.csv", self.ranking)

    def _write_picture(self) -> None:
        info = ranking_info(self.ranking, top=self.job.top, label=self.label)
        plot_ranking(info, self.job.out / "ranking.png")

    def json(self) -> str:
        """Return the record as one JSON object with a final newline."""
        return json_line(self.record)

    def text(self) -> str:
        """Return the table and the sentences, as wide and as coloured as stdout takes them."""
        ranking, top = self.ranking, self.job.top
        table = ranking_table(ranking, top=top)
        return rendered(console_of_stdout(), ranking.heading(top), table, *ranking.sentences())


def _adjusted(p_values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    if p_values is None:
        return None
    from bitsieve.filters import benjamini_hochberg

    return np.asarray(benjamini_hochberg(p_values))


def _able(what: Literal["takes_nan", "takes_categories", "counts_levels"]) -> str:
    """Return the names of the methods that can do something."""
    return ", ".join(name for name, method in FILTERS.items() if getattr(method, what))


def _label(filters: list[NamedFilter]) -> str:
    if len(filters) > 1:
        return "combined score"
    return f"{'score when taken' if filters[0].greedy else 'score'} ({filters[0].about})"


def _check_target(filters: list[NamedFilter], data: JobInput) -> None:
    """Refuse methods for classes where the target holds numbers."""
    if data.table.task != "regression":
        return
    unfit = [method.name for method in filters if method.target == "classes"]
    if unfit:
        able = ", ".join(n for n, m in FILTERS.items() if m.target in ("numbers", "either"))
        ranks = "rank" if len(unfit) > 1 else "ranks"
        raise ValueError(
            f"{data.source}: {', '.join(unfit)} {ranks} for classes, but the target holds numbers "
            f"(from {data.y.min():g} to {data.y.max():g}); methods for numbers are {able}"
        )
