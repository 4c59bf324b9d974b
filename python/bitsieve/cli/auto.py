"""One job of ``bitsieve select --method auto``: read, plan, compare, outer folds, page, files.

::

    FILE or --dataset -> plan (said beforehand) -> panel from all samples -> outer folds
                                                        |                        |
                                        --external, opened now and once      stability
                                                        |                        |
                       Ctrl-C: what there is so far is written, exit code 130
                       (SIGTERM likewise, 143)
"""

from __future__ import annotations

import secrets
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bitsieve._errors import DuplicateSamplesWarning, ManyClassesWarning, plural, quoted
from bitsieve._once import said_once
from bitsieve._threads import effective_n_jobs
from bitsieve.cli.doubts import (
    warn_of_covariates,
    warn_of_doubts,
    warn_of_few_samples,
    warn_of_small_classes,
)
from bitsieve.cli.elsewhere import external_of
from bitsieve.cli.errors import in_options
from bitsieve.cli.finished import FILES, FinishedAuto, files_of
from bitsieve.cli.folder import refuse_other_run
from bitsieve.cli.folds import Folds, folds_of, refuse_folds
from bitsieve.cli.found import Measured, panel_outcome
from bitsieve.cli.input import JobInput, load_input, make_folder, refuse_file
from bitsieve.cli.record import command_of, parameters_of, record_of
from bitsieve.cli.signals import what_stopped
from bitsieve.cli.terminal import console_of_stdout, rendered, say
from bitsieve.data import Table, read_covariates
from bitsieve.data.doubts import refused_target
from bitsieve.report import PanelOutcome

__all__ = ["AutoJob"]

#: Threads and processes at most.
MOST_JOBS = 1024

#: Repeats of folds, far beyond what narrows an interval: more is a slip of the keyboard.
MOST_REPEATS = 1000

#: Seconds of work that are not worth a process.
_SMALL = 10.0


@dataclass(frozen=True)
class AutoJob:
    """Everything that the command line was asked for; see ``bitsieve select --help``."""

    file: Path | None
    target: str | None
    dataset: str | None
    orient: Literal["auto", "samples", "features"]
    index: str | None
    groups: str | None
    drop: tuple[str, ...]
    duplicates: Literal["error", "mean", "max", "first"]
    decimal: str
    method: str
    seed: int | None
    n_jobs: int | None
    checkpoint: Path | None
    out: Path
    force: bool
    progress: bool | None
    cv: int | None
    outer_folds: int | None
    shuffle: bool
    scoring: str | None
    n_repeats: int | None
    max_features: int | None
    selectors: tuple[str, ...] | None
    estimators: tuple[str, ...] | None
    combine: str
    parsimony: float
    stability: str | None
    log: str
    effort: Literal["quick", "standard", "thorough"]
    planned_time: float | None
    outer_repeats: int | None
    restrict: Path | None
    external: Path | None
    covariates: tuple[str, ...] | None

    def run(self) -> FinishedAuto:
        """Run the job.

        Returns
        -------
        FinishedAuto
            With ``stop`` where Ctrl-C or SIGTERM stopped it after there was a panel.

        Raises
        ------
        ValueError
            For bad input, before anything long starts.
        OSError
            Where a file cannot be read.
        KeyboardInterrupt
            Where Ctrl-C came before there was a panel.
        """
        start = time.perf_counter()
        self._check_options()
        refuse_file(self.out)
        covariates = self._covariates()
        data = self._load()
        folds = self._folds(data)
        if not self.force:
            repeat = self._repeat(self.seed)
            refuse_other_run(self.out, FILES, repeat=repeat, identity=data.identity)
        seed = secrets.randbits(32) if self.seed is None else self.seed
        selector, plan = self._selector(data, folds, seed)
        make_folder(self.out)
        if self.progress is None:
            say(data.summary())
            said = f"Plan: {plan.text(effective_n_jobs(self.n_jobs))}"
            say(rendered(console_of_stdout(), said).rstrip("\n"))
        warn_of_doubts(data)
        warn_of_small_classes(data, outer_folds=folds.outer, cv=folds.inner)
        warn_of_few_samples(data)
        with warnings.catch_warnings():
            # Said above, once and by name; scikit-learn says it again in every fold.
            warnings.filterwarnings("ignore", message="The least populated class")
            found = Measured(data=data, selector=selector, plan=plan, folds=folds)
            if covariates is not None:
                found.covariates = covariates
                found.covariate_check = warn_of_covariates(data, covariates)
            return self._measure(found, start)

    def _check_options(self) -> None:
        """Refuse what no data could make right."""
        repeats = {"repeats": self.n_repeats, "outer-repeats": self.outer_repeats}
        for option, count in repeats.items():
            if count is not None and count > MOST_REPEATS:
                raise ValueError(f"--{option} must be at most {MOST_REPEATS}")
        for option in ("selectors", "estimators", "covariates"):
            if getattr(self, option) == ():
                raise ValueError(f"--{option} must name at least one, got none")
        if effective_n_jobs(self.n_jobs) > MOST_JOBS:
            raise ValueError(f"--jobs must be at most {MOST_JOBS}")
        refuse_folds(outer=self.outer_folds, outer_repeats=self.outer_repeats, shuffle=self.shuffle)
        if self.scoring not in (None, "accuracy", "balanced_accuracy"):
            raise ValueError(
                f"--scoring {self.scoring} cannot choose a panel: --method auto takes accuracy or "
                "balanced_accuracy; the other methods take any scorer"
            )
        if self.covariates is not None and self.dataset is not None:
            raise ValueError(
                f"--covariates names columns of a FILE, but --dataset {self.dataset} is a bundled "
                "data set, which is taken as it is: leave it out"
            )
        for option in ("restrict", "external"):
            path = getattr(self, option)
            if path is not None and not path.is_file():
                raise ValueError(f"--{option} {path}: no such file")

    def _load(self) -> JobInput:
        with warnings.catch_warnings():
            # Such targets are refused below, or doubted in the options' own words.
            warnings.simplefilter("ignore", ManyClassesWarning)
            data = load_input(
                self.file,
                self.dataset,
                target=self.target,
                orient=self.orient,
                index=self.index,
                groups=self.groups,
                drop=(*self.drop, *(self.covariates or ())),
                duplicates=self.duplicates,
                decimal=self.decimal,
            )
        refused = refused_target(data.table)
        if refused is not None:
            raise ValueError(f"{data.source}: {refused}")
        if self.restrict is not None:
            data = data.restricted(self.restrict)
        return data

    def _covariates(self) -> Any:
        """Read the columns that are compared with and not selected from, None without."""
        if self.covariates is None or self.file is None:
            return None
        return read_covariates(
            self.file,
            self.covariates,
            target=self.target,
            orient=self.orient,
            index=self.index or "auto",
            duplicates=self.duplicates,
            decimal=self.decimal,
        )

    def _folds(self, data: JobInput) -> Folds:
        found = folds_of(
            data.table,
            outer=self.outer_folds,
            outer_repeats=self.outer_repeats,
            inner=self.cv,
            shuffle=self.shuffle,
            scoring=self.scoring or "accuracy",
        )
        _refuse_one_class(data.table, found)
        return found

    def _selector(self, data: JobInput, folds: Folds, seed: int) -> tuple[Any, Any]:
        """Return the unfitted selector, and the plan that it follows."""
        from bitsieve import AutoSelector
        from bitsieve.panels import log_floor
        from bitsieve.panels.choice import scoring_for

        table = data.table
        assert table.codes is not None
        assert table.classes is not None
        n_classes = len(table.classes)
        settings: dict[str, Any] = {
            "combine": self.combine,
            "stability": self.stability,
            "log": self.log,
            "scoring": self.scoring or scoring_for(table.codes, n_classes),
        }
        selector = AutoSelector(
            **settings,
            selectors="auto" if self.selectors is None else self.selectors,
            estimators="auto" if self.estimators is None else self.estimators,
            max_features=self.max_features,
            parsimony=self.parsimony,
            cv=folds.inner,
            n_repeats=self.n_repeats,
            effort=self.effort,
            max_time=self.planned_time,
            n_jobs=self.n_jobs,
            random_state=seed,
        )
        plan = selector.plan(
            table.n_samples,
            table.n_features,
            n_classes,
            outer_folds=folds.outer,
            outer_repeats=folds.rounds or self.outer_repeats,
            n_logs=2 if self.log == "both" and log_floor(table.X) is not None else 1,
        )
        if self.planned_time is not None:
            # The time was that of the whole job: what it left is now said name by name.
            selector.set_params(estimators=plan.estimators, n_repeats=plan.n_repeats, max_time=None)
            if self.stability is None:
                selector.set_params(selectors=plan.selectors)
        return selector, plan

    def _measure(self, found: Measured, start: float) -> FinishedAuto:
        """Make the panel, then measure it; what a signal cuts short is left out."""
        stop, selector, data = None, found.selector, found.data
        try:
            with said_once():
                with _timed(found, "panel", start):
                    selector.fit(found.X, data.y, groups=data.table.groups)
                    found.panel = selector.panel_
                if self.external is not None:
                    found.external = external_of(self, found)
                with warnings.catch_warnings():  # said of all samples by the fit
                    warnings.simplefilter("ignore", DuplicateSamplesWarning)
                    if found.folds.outer:
                        with _timed(found, "outer folds"):
                            found.nested = self._outer_folds(found)
                    with _timed(found, "stability"):
                        found.stability = self._stability(found)
        except KeyboardInterrupt as error:
            if found.panel is None:
                raise
            stop = error
        found.stopped = None if stop is None else what_stopped(stop)[0]
        with _timed(found, "statistics"):
            found.statistics  # noqa: B018  # made here, and kept
        outcome = panel_outcome(found)
        return FinishedAuto(self, found, outcome, self._record(found, outcome), stop)

    def _outer_folds(self, found: Measured) -> Any:
        from sklearn.base import clone

        from bitsieve.evaluation import covariates_alternative, nested_cross_validate

        selector, plan, data = found.selector, found.plan, found.data
        if self.progress is None and sys.stderr.isatty():
            n_parts = plan.outer_folds * plan.outer_repeats
            sys.stderr.write(
                f"Repeating all of it in {n_parts} outer folds for the honest number "
                f"({found.folds.text(plan.outer_repeats)}).\n"
            )
        result = nested_cross_validate(
            clone(selector).set_params(n_jobs=1),  # a process a fold is faster
            None,
            found.X,
            data.y,
            **found.folds.options(plan.outer_repeats),
            scoring=selector.scoring,
            groups=data.table.groups,
            n_jobs=self._processes(plan),
            random_state=selector.random_state,
            checkpoint=None if self.checkpoint is None else str(self.checkpoint),
        )
        if found.covariates is None:
            return result
        alone = covariates_alternative(result, found.covariates, data.y)
        return replace(result, alternatives={**result.alternatives, alone.name: alone})

    def _processes(self, plan: Any) -> int:
        """Return the processes to use: starting them takes longer than a small job."""
        if self.n_jobs is None and plan.seconds(1) < _SMALL:
            return 1
        return effective_n_jobs(self.n_jobs)

    def _stability(self, found: Measured) -> Any:
        from bitsieve.evaluation import selection_stability

        data = found.data
        halves, seeds = (5, 3) if self.effort == "quick" else (20, 5)
        options: dict[str, Any] = {
            "folds": None if found.nested is None else found.nested.supports,
            "groups": data.table.groups,
            "n_jobs": self._processes(found.plan),
            "random_state": found.selector.random_state,
        }
        try:
            return selection_stability(
                found.selector, found.X, data.y, halves=halves, seeds=seeds, **options
            )
        except ValueError as error:  # such as halves of too few groups for the inner folds
            found.notes = (f"Halves of the samples were not compared: {in_options(str(error))}.",)
            return selection_stability(
                found.selector, found.X, data.y, halves=0, seeds=0, **options
            )

    def _record(self, found: Measured, outcome: PanelOutcome) -> dict[str, Any]:
        """Return everything that run.json holds."""
        seed = found.selector.random_state
        parameters = parameters_of(self)
        parameters["seed"] = seed
        stability = found.stability
        return {
            **record_of(found.data, self._repeat(seed), found.stopped is not None),
            "parameters": parameters,
            "selector": found.selector.get_params(deep=False),
            "seed": seed,
            "plan": {**found.plan.as_dict(), "text": found.plan.text()},
            **found.folds.record(found.plan.outer_repeats, found.plan.n_repeats, is_drawn=True),
            "results": outcome.results(),
            "seconds": found.seconds,
            "stability": None if stability is None else stability.as_dict(),
            "covariates": None
            if found.covariate_check is None
            else {"names": self.covariates, "text": found.covariate_check.text()},
            "external": None if found.external is None else found.external.as_dict(),
            "substitutes": found.statistics.substitutes_record(found.data.names),
            "candidates": found.selector.candidates_.to_dict("records"),
            "path": found.selector.path_.to_dict("records"),
            "statements": outcome.statements(),
            "files": [str(self.out / name) for name in files_of(found)],
        }

    def _repeat(self, seed: int | None) -> str:
        """Return a command that gives the same numbers, the seed spelled out."""
        options = {
            "target": self.target,
            "dataset": self.dataset,
            "orient": None if self.orient == "auto" else self.orient,
            "index": self.index,
            "groups": self.groups,
            "drop": self.drop,
            "duplicates": None if self.duplicates == "error" else self.duplicates,
            "decimal": None if self.decimal == "." else self.decimal,
            "method": self.method,
            "max-features": 0 if self.max_features is None else self.max_features,
            "selectors": _joined(self.selectors),
            "estimators": _joined(self.estimators),
            "combine": None if self.combine == "auto" else self.combine,
            "parsimony": self.parsimony or None,
            "stability": self.stability,
            "log": None if self.log == "auto" else self.log,
            "time": None if self.planned_time is None else f"{self.planned_time:g}s",
            "scoring": self.scoring,
            "cv": self.cv,
            "repeats": self.n_repeats,
            "outer-folds": self.outer_folds,
            "outer-repeats": self.outer_repeats,
            "restrict": self.restrict,
            "external": self.external,
            "covariates": _joined(self.covariates),
            "seed": seed,
        }
        flags = "" if self.effort == "standard" else f" --{self.effort}"
        flags += "" if self.shuffle else " --no-shuffle"
        return command_of("select", self.file, options) + flags


def _refuse_one_class(table: Table, folds: Folds) -> None:
    """Refuse classes so small that an inner training part may hold one class alone."""
    assert table.codes is not None
    assert table.classes is not None
    counts = np.bincount(table.codes)
    left = counts - -(-counts // folds.outer) if folds.outer else counts
    if (left > 1).sum() > 1:
        return
    least = int(np.argsort(left, kind="stable")[-2])
    part = "in a smallest outer training part" if folds.outer else "at all"
    raise ValueError(
        f"class {quoted(str(table.classes[least]))} has {plural(int(left[least]), 'sample')} "
        f"{part}, and two classes of at least 2 are needed to compare panels by inner folds: "
        "merge classes, or give more samples"
        + (f", or another --outer-folds than {folds.outer}" if folds.outer else "")
    )


@contextmanager
def _timed(found: Measured, what: str, start: float | None = None) -> Iterator[None]:
    """Keep how many seconds something took, also where it was cut short."""
    start = time.perf_counter() if start is None else start
    try:
        yield
    finally:
        found.seconds[what] = time.perf_counter() - start


def _joined(words: tuple[str, ...] | None) -> str | None:
    return None if words is None else ",".join(words)
