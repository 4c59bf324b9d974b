"""One job of a search or a training, whichever ``methods.py`` names: read, run, outer folds, files.

::

    FILE or --dataset -> (scale ->) search on all samples -> outer folds -> table, files
                                       |                        |
                                     Ctrl-C: what there is so far is written, exit code 130
                                     (SIGTERM likewise, 143)
"""

from __future__ import annotations

import math
import secrets
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bitsieve._errors import DuplicateSamplesWarning, closest
from bitsieve._once import said_once
from bitsieve.cli.doubts import warn_of_doubts, warn_of_small_classes
from bitsieve.cli.features import FEATURE_OPTIONS, is_file_of_names, read_features
from bitsieve.cli.folder import refuse_other_run
from bitsieve.cli.folds import Folds, folds_of, refuse_folds
from bitsieve.cli.input import JobInput, load_input, make_folder, refuse_file
from bitsieve.cli.methods import Method, method_by_name
from bitsieve.cli.record import command_of, json_line, parameters_of, record_of, try_all
from bitsieve.cli.signals import what_stopped
from bitsieve.cli.terminal import console_of_stdout, how_long, kernel_said, rendered, say
from bitsieve.cli.told import history_of, network_of, told_by, told_by_training
from bitsieve.report import (
    STACKED_BELOW,
    FeatureStatistics,
    Outcome,
    convergence_info,
    feature_statistics,
    outcome_table,
    plot_convergence,
    plot_training,
    training_info,
    write_predictions_csv,
    write_run_json,
    write_selection_csv,
)

__all__ = ["FILES", "FinishedJob", "Job"]

#: Names of options in run.json, where they are not the option's own.
_PARAMETERS = {"repeats": "n_repeats"}

#: What a job writes into its folder; predictions.csv only where there were outer folds.
FILES = ("selection.csv", "predictions.csv", "run.json", "convergence.png")


@dataclass(frozen=True)
class Job:
    """Everything that the command line was asked for; see ``bitsieve select --help``.

    ``options`` are those of the method and of every method, as ``Method.chosen`` gives them.
    """

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
    options: Mapping[str, Any]
    cv: int | None
    outer_folds: int | None
    outer_repeats: int | None
    shuffle: bool
    seed: int | None
    n_jobs: int | None
    checkpoint: Path | None
    out: Path
    force: bool
    progress: bool | None

    def run(self) -> FinishedJob:
        """Run the job.

        Returns
        -------
        FinishedJob
            With ``stop`` where Ctrl-C or SIGTERM stopped it after the search had results.

        Raises
        ------
        ValueError
            For bad input, before anything long starts.
        OSError
            Where a file cannot be read.
        KeyboardInterrupt
            Where Ctrl-C came before there were results.
        """
        self._check_options()
        refuse_file(self.out)
        seed = secrets.randbits(32) if self.seed is None else self.seed
        model = self._model(seed, self.options.get("cv", 0))
        data = load_input(
            self.file,
            self.dataset,
            target=self.target,
            orient=self.orient,
            index=self.index,
            groups=self.groups,
            drop=self.drop,
            duplicates=self.duplicates,
            decimal=self.decimal,
            missing="keep" if _takes_missing(model) else "error",
        )
        folds = folds_of(
            data.table,
            outer=self.outer_folds,
            outer_repeats=self.outer_repeats,
            inner=0 if self._entry.predicts else self.cv,
            shuffle=self.shuffle,
            scoring=self.options["scoring"],
        )
        model = self._model(seed, folds.inner)
        features = read_features(self.options, data)
        parameters = {self._entry.options[option]: value for option, value in features.items()}
        model.named_steps["selector"].set_params(**parameters)
        if not self.force:
            repeat = self._repeat(self.seed)
            refuse_other_run(self.out, FILES, repeat=repeat, identity=data.identity)
        make_folder(self.out)
        if self.progress is None:
            say(data.summary())
        warn_of_doubts(data)
        warn_of_small_classes(data, outer_folds=folds.outer, cv=folds.inner)
        with warnings.catch_warnings():
            # Said above, once and by name; scikit-learn says it again in every fold.
            warnings.filterwarnings("ignore", message="The least populated class")
            return self._search(model, data, folds)

    @property
    def _entry(self) -> Method:
        return method_by_name(self.method)

    def _check_options(self) -> None:
        """Refuse what no data could make right."""
        chosen = self.options
        refuse_folds(outer=self.outer_folds, outer_repeats=self.outer_repeats, shuffle=self.shuffle)
        limit = chosen.get("max-time")
        if limit is not None and not 0.0 < limit < math.inf:
            raise ValueError(
                f"--max-time must be a number of seconds above 0, got {limit:g}; leave it out for "
                "no limit"
            )
        size = chosen.get("n-features")
        if isinstance(size, tuple) and not self._entry.has_range:
            raise ValueError(
                f"--n-features {size[0]}-{size[1]} is a range of sizes, which --method "
                f"{self.method} does not compare: give one size"
            )
        self._entry.check_start(chosen.get("start"))
        _check_scoring(chosen["scoring"])

    def _model(self, seed: int, cv: int) -> Any:
        """Return the unfitted selector, in a pipeline where the columns are scaled."""
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import StandardScaler

        later = {option: None for option in FEATURE_OPTIONS}  # names are not known yet
        start = self.options.get("start")
        if start is not None and is_file_of_names(start):
            later["start"] = None
        selector = self._entry.make(
            {**self.options, **later, "cv": cv},
            folds_from=seed if self.shuffle else None,
            random_state=seed,
            n_jobs=self.n_jobs,
            checkpoint=None if self.checkpoint is None else str(self.checkpoint),
            progress=self.progress,
        )
        # What has a parameter for it scales by itself.
        scales = self.options["scale"] == "standard" and not self._entry.options["scale"]
        scaler = [("scaler", StandardScaler())] if scales else []
        return Pipeline([*scaler, ("selector", selector)])

    @property
    def _repeats(self) -> int:
        """Repeats of the inner folds, where there are some."""
        return int(self.options.get("repeats") or 1)

    def _predictor(self, selector: Any) -> str:
        """Name what predicts."""
        if not self._entry.predicts:
            return str(self.options["estimator"]).lower()
        return network_of(selector)

    def _told(self, model: Any, data: JobInput) -> dict[str, Any]:
        """Return the numbers of the fitted selector, as Outcome names them."""
        selector = model.named_steps["selector"]
        if not self._entry.predicts:
            return told_by(selector)
        from sklearn.metrics import get_scorer

        return told_by_training(
            selector, get_scorer(self.options["scoring"])(model, data.X, data.y)
        )

    def _rounds(self, folds: Folds) -> int:
        """How often the outer folds are drawn."""
        return folds.rounds or self.outer_repeats or 1

    def _search(self, model: Any, data: JobInput, folds: Folds) -> FinishedJob:
        selector = model.named_steps["selector"]
        nested = stop = seconds = None
        start = time.perf_counter()
        try:
            with said_once():
                with (
                    how_long(folds.outer * self._rounds(folds)),
                    kernel_said(self.progress is None),
                ):
                    model.fit(data.X, data.y, selector__groups=data.table.groups)
                seconds = time.perf_counter() - start
                if folds.outer:
                    nested = self._outer_folds(model, data, folds)
        except KeyboardInterrupt as error:
            if not hasattr(selector, "support_"):
                raise
            stop = error
        seconds = time.perf_counter() - start if seconds is None else seconds
        outcome = Outcome(
            source=data.source,
            method=self.method,
            estimator=self._predictor(selector),
            scoring=self.options["scoring"],
            names=data.names,
            n_samples=len(data.y),
            support=np.asarray(selector.support_),
            seconds=seconds,
            nested=nested,
            folds=folds.text(self._rounds(folds)),
            inner=folds.inner_text(self._repeats, is_drawn=self._entry.is_fresh),
            interrupted=stop is not None,
            seed=selector.random_state,
            is_sized=self.options.get("n-features") is not None,
            doubts={d.names[0]: d.why for d in data.doubts if d.kind == "column"},
            copies=data.copies_text(),
            **self._told(model, data),
        )
        statistics = feature_statistics(
            data.X,
            data.y,
            outcome.support,
            folds=None if nested is None else nested.folds,
            n_jobs=self.n_jobs,
        )
        record = self._record(selector, data, outcome, folds)
        record["substitutes"] = statistics.substitutes_record(data.names)
        return FinishedJob(
            self, outcome, record, history_of(selector), stop, data.table.sample_names, statistics
        )

    def _outer_folds(self, model: Any, data: JobInput, folds: Folds) -> Any:
        from bitsieve.evaluation import nested_cross_validate

        rounds = self._rounds(folds)
        if self.progress is None and sys.stderr.isatty():
            sys.stderr.write(
                f"Repeating the selection in {folds.outer * rounds} outer folds for the honest "
                f"number ({folds.text(rounds)}).\n"
            )
        with warnings.catch_warnings():  # said of all samples by the search
            warnings.simplefilter("ignore", DuplicateSamplesWarning)
            return nested_cross_validate(
                model,
                None,
                data.X,
                data.y,
                **folds.options(rounds),
                scoring=self.options["scoring"],
                groups=data.table.groups,
                random_state=model.named_steps["selector"].random_state,
            )

    def _record(
        self, selector: Any, data: JobInput, outcome: Outcome, folds: Folds
    ) -> dict[str, Any]:
        """Return everything that run.json holds."""
        parameters = parameters_of(self)
        options = parameters.pop("options")
        parameters |= {_PARAMETERS.get(o, o.replace("-", "_")): v for o, v in options.items()}
        parameters |= {"cv": folds.inner or None, "outer_folds": folds.outer}
        parameters["seed"] = selector.random_state
        return {
            **record_of(data, self._repeat(selector.random_state), outcome.interrupted),
            "parameters": parameters,
            "selector": selector.get_params(deep=False),
            "seed": selector.random_state,
            **folds.record(self._rounds(folds), self._repeats, is_drawn=self._entry.is_fresh),
            "results": outcome.results(),
            "statements": outcome.sentences(),
            "files": [str(self.out / name) for name in _files(outcome)],
        }

    def _repeat(self, seed: int | None) -> str:
        """Return a command that gives the same numbers, the seed spelled out."""
        options = {
            "target": self.target,
            "dataset": self.dataset,
            "orient": self.orient,
            "index": self.index,
            "groups": self.groups,
            "drop": self.drop,
            "duplicates": None if self.duplicates == "error" else self.duplicates,
            "decimal": None if self.decimal == "." else self.decimal,
            "method": self.method,
            **{option: _as_typed(option, value) for option, value in self.options.items()},
            "cv": self.options.get("cv") if self.groups is None else self.cv,
            "outer-folds": 5
            if self.outer_folds is None and self.groups is None
            else self.outer_folds,
            "outer-repeats": self.outer_repeats,
            "seed": seed,
        }
        return command_of("select", self.file, options) + ("" if self.shuffle else " --no-shuffle")


@dataclass(frozen=True, eq=False)
class FinishedJob:
    """A job that has run: what it found, its record, the history, and what stopped it early.

    ``statistics`` are those of the features in selection.csv.
    """

    job: Job
    outcome: Outcome
    record: dict[str, Any]
    history: Any
    stop: KeyboardInterrupt | None
    sample_names: list[str] | None
    statistics: FeatureStatistics

    @property
    def files(self) -> list[str]:
        """Names of the files that the job writes."""
        return _files(self.outcome)

    def write(self) -> None:
        """Write run.json, selection.csv, predictions.csv and convergence.png, in this order.

        Without outer folds there is no predictions.csv, and one of an earlier run is removed.

        Raises
        ------
        OSError
            Of the first file that cannot be written, after all of them were tried.
        """
        try_all(
            self._write_record,
            self._write_selection,
            self._write_predictions,
            self._write_picture,
        )

    def _write_record(self) -> None:
        write_run_json(self.job.out / "run.json", self.record)

    def _write_selection(self) -> None:
        nested = self.outcome.nested
        write_selection_csv(
            self.job.out / "selection.csv",
            self.outcome.names,
            self.outcome.support,
            None if nested is None else nested.n_times_selected,
            0 if nested is None else nested.n_folds,
            statistics=self.statistics,
        )

    def _write_predictions(self) -> None:
        path, nested = self.job.out / "predictions.csv", self.outcome.nested
        if nested is None or nested.predictions is None:
            path.unlink(missing_ok=True)
        else:
            write_predictions_csv(path, nested.predictions, self.sample_names)

    def _write_picture(self) -> None:
        outcome, nested = self.outcome, self.outcome.nested
        title = f"{outcome.source}: {outcome.method} with {outcome.estimator}"
        if outcome.is_trained:
            plot_training(
                training_info(
                    self.history,
                    n_selected=int(outcome.support.sum()),
                    n_features=len(outcome.names),
                    title=title,
                ),
                self.job.out / "convergence.png",
            )
            return
        # The curve of the best so far ends at the panel's own, unless another one was better.
        levels = {} if outcome.best_of_another is None else {"observed": outcome.observed}
        if outcome.remeasured is not None:
            levels |= {"re-measured": outcome.remeasured}
        if nested is not None:
            levels |= {"honest": nested.score, "all features": nested.full_score}
        info = convergence_info(
            self.history,
            scoring=outcome.scoring,
            n_features=len(outcome.names),
            levels=levels,
            interval=None if nested is None else nested.interval,
            title=title,
        )
        plot_convergence(info, self.job.out / "convergence.png")

    def json(self) -> str:
        """Return the record as one JSON object with a final newline."""
        return json_line(self.record)

    def text(self) -> str:
        """Return the table and the sentences, as wide and as coloured as stdout takes them."""
        console = console_of_stdout()
        table = outcome_table(self.outcome, stacked=console.width < STACKED_BELOW)
        said = self.outcome.sentences()
        if self.stop is not None:
            what, _ = what_stopped(self.stop)
            said.append(f"Stopped by {what}: these are the results so far.")
        return rendered(console, table, *said)


def _files(outcome: Outcome) -> list[str]:
    return [name for name in FILES if name != "predictions.csv" or outcome.nested is not None]


def _check_scoring(scoring: str) -> None:
    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if scoring not in known:
        raise ValueError(f"unknown --scoring {scoring!r}: {closest(scoring, known)}")


def _takes_missing(model: Any) -> bool:
    """Tell whether a selector takes missing values; the scaler before it passes them on."""
    from sklearn.utils import get_tags

    return bool(get_tags(model.named_steps["selector"]).input_tags.allow_nan)


def _as_typed(option: str, value: Any) -> Any:
    """Return what an option was typed with: a range of sizes, or layers, as text."""
    if option == "hidden" and value is not None:
        return ",".join(str(size) for size in value) or "none"
    is_range = isinstance(value, tuple) and all(isinstance(end, int) for end in value)
    return f"{value[0]}-{value[1]}" if is_range and value else value
