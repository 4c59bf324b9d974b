"""Options of ``bitsieve select``: of every method, of auto, and of the searches."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from bitsieve._errors import quoted
from bitsieve.cli.methods import METHODS, SEARCHING, joined


class Scale(StrEnum):
    """What happens to the columns before the search."""

    standard = "standard"
    none = "none"


class Direction(StrEnum):
    """Whether features are added or dropped."""

    forward = "forward"
    backward = "backward"


class SizeRule(StrEnum):
    """Which size of a range is taken."""

    best = "best"
    one_standard_error = "one-standard-error"


class Gate(StrEnum):
    """What multiplies the features of a network."""

    gaussian = "gaussian"
    hard_concrete = "hard-concrete"
    l1 = "l1"


class Device(StrEnum):
    """Where a network is trained."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


class Combine(StrEnum):
    """What predicts: the best candidate, or the vote of the best ones."""

    auto = "auto"
    best = "best"
    vote = "vote"


class Stability(StrEnum):
    """What is restricted for the sake of stable panels."""

    filter = "filter"


class Log(StrEnum):
    """Whether values are logged first."""

    auto = "auto"
    always = "always"
    never = "never"
    both = "both"


_RANGE = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(s|m|min|h|)", re.IGNORECASE)


_LONGEST_SIZE = 30  # characters


#: Features that predicting may need where --max-features is not given: a panel, not a table.
MAX_FEATURES = 50


def limit_of(max_features: int | None) -> int | None:
    """Return the limit that --max-features asks for, None for none.

    Examples
    --------
    >>> limit_of(None), limit_of(20), limit_of(0)
    (50, 20, None)
    """
    return MAX_FEATURES if max_features is None else max_features or None


def seconds_of(text: str) -> float:
    """Return a length of time in seconds.

    Raises
    ------
    ValueError
        Where it is none, or not above 0.

    Examples
    --------
    >>> [seconds_of(text) for text in ("90", "90s", "5m", "1h", "1.5 min")]
    [90.0, 90.0, 300.0, 3600.0, 90.0]
    """
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2].lower()] if found else math.nan
    if not 0.0 < seconds < math.inf:
        raise ValueError(
            f"--time must be a length of time above 0, got {quoted(text)}: give seconds (90, 90s), "
            "minutes (5m) or hours (1h)"
        )
    return seconds


def size_of(text: str) -> int | tuple[int, int]:
    """Return a size, or the ends of a range of sizes.

    Raises
    ------
    ValueError
        Where it is neither.

    Examples
    --------
    >>> size_of("20"), size_of("5-30")
    (20, (5, 30))
    """
    found = _RANGE.fullmatch(text.strip())
    if found is not None and len(text) < _LONGEST_SIZE:
        least, most = int(found[1]), None if found[2] is None else int(found[2])
        if most is None and least >= 1:
            return least
        if most is not None and 1 <= least <= most:
            return least, most
    raise ValueError(
        f"--n-features must be a whole number from 1 on, or a range of them such as 5-30, got "
        f"{quoted(text)}"
    )


def lam_of(text: str) -> float | Literal["auto"]:
    """Return the weight of the penalty on open gates, or that a range of weights is walked through.

    Raises
    ------
    ValueError
        Where it is neither.

    Examples
    --------
    >>> lam_of("0.1"), lam_of("auto")
    (0.1, 'auto')
    """
    if text.strip().lower() == "auto":
        return "auto"
    try:
        lam = float(text)
    except ValueError:
        lam = math.nan
    if not 0.0 <= lam < math.inf:
        raise ValueError(f"--lam must be a number from 0 on, or auto, got {quoted(text)}")
    return lam


def hidden_of(text: str) -> tuple[int, ...]:
    """Return the sizes of hidden layers; none for a linear model.

    Raises
    ------
    ValueError
        Where they are no whole numbers.

    Examples
    --------
    >>> hidden_of("200,200,200"), hidden_of("64"), hidden_of("none")
    ((200, 200, 200), (64,), ())
    """
    if text.strip().lower() == "none":
        return ()
    words = [word.strip() for word in text.split(",")]
    if all(word.isdecimal() and len(word) < 7 and int(word) for word in words):
        return tuple(int(word) for word in words)
    raise ValueError(
        f"--hidden must be sizes of layers such as 64 or 200,200,200, or none for a linear model, "
        f"got {quoted(text)}"
    )


def words_of(texts: list[str] | None) -> tuple[str, ...] | None:
    """Return what stands between commas in one option or several; None where there are none.

    Examples
    --------
    >>> words_of(["lda, svm", "knn"]), words_of(None)
    (('lda', 'svm', 'knn'), None)
    """
    if texts is None:
        return None
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def effort_of(*, quick: bool, thorough: bool) -> Literal["quick", "standard", "thorough"]:
    """Return how much is compared.

    Raises
    ------
    ValueError
        Where both were typed.
    """
    if quick and thorough:
        raise ValueError("--quick and --thorough ask for opposite things: give one of them")
    return "quick" if quick else "thorough" if thorough else "standard"


_OF_AUTO, _OF_SEARCHES = "Method auto", "Searches, the other methods"
_OF_NETWORKS = "Networks, methods stg and pefs"


def _words_of_start() -> str:
    """Return the words of the methods that --start takes besides filters."""
    words = [f"{', '.join(method.starts)} ({method.name})" for method in METHODS if method.starts]
    return "".join(f"; {text}" for text in words)


def _default_of(option: str) -> str:
    """Return what an option of the searches is where it is not typed, in words."""
    searches = SEARCHING
    usual = searches[0].defaults[option]
    others = [
        f"{method.defaults[option]} ({method.name})"
        for method in searches
        if method.defaults[option] != usual
    ]
    return ", ".join([str(usual), *others])


def _takers(option: str) -> str:
    """Return the searches that take an option, in words, or "" where all of them do."""
    methods = METHODS[1:]
    names = [method.name for method in methods if option in method.options]
    return "" if {method.name for method in SEARCHING} <= set(names) else f" (only {joined(names)})"


ClassTarget = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", help="Column with the classes, a file with them, or file:column."
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="Column (or a file, as for --target) with what belongs together, such as the "
        "patient or the site: no feature, and no fold parts a group."
    ),
]
Method = Annotated[
    str,
    typer.Option(
        help=f"{'; '.join(f'{method.name} {method.does}' for method in METHODS)}. stg and pefs "
        "predict by their own network and need torch (pip install 'bitsieve\\[gates]'), auto "
        "compares classifiers, the others search with one."
    ),
]
Scoring = Annotated[
    str | None,
    typer.Option(
        help="Any scorer of scikit-learn (searches); accuracy, or with auto balanced_accuracy "
        "where a class is small, if not given."
    ),
]
InnerFolds = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Folds of the inner cross-validation, 5 if not given: stratified, shuffled from the "
        "seed, drawn anew for each repeat.",
    ),
]
InnerRepeats = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Repeats of those folds; by the plan (auto), 10 where a search draws fresh ones, 1 "
        "where it keeps the same, if not given.",
    ),
]
OuterFolds = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Outer folds of the nested cross-validation (honest error), 5 if not given: "
        "stratified, shuffled from the seed, the same for every method; 0 for none. With 3 to 10 "
        "groups: one group each, if not given.",
    ),
]
OuterRepeats = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="How often the outer folds are drawn, the first ones the same however often; by the "
        "plan (2; auto) or 1 (searches) if not given.",
    ),
]
NoShuffle = Annotated[
    bool,
    typer.Option(
        "--no-shuffle",
        help="Leave the outer folds, and inner ones that a search keeps, in the order of the "
        "file, as cv=5 in Python: for samples in the order of time or batch, where neighbors are "
        "alike and a shuffled error would be too good. Where batches are known, --groups is "
        "better.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, max=2**64 - 1, help="Seed; drawn and recorded if not given."),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="Folder to store finished outer folds or searches in, and to resume from."),
]

MaxFeatures = Annotated[
    int | None,
    typer.Option(
        min=0, help="Features that predicting may need, 0 for no limit; 50 if not given.",
        rich_help_panel=_OF_AUTO,
    ),
]  # fmt: skip
Selectors = Annotated[
    list[str] | None,
    typer.Option(
        help="Selectors to compare: f, relieff, mrmr, rfe, lars, aggregate, and the filters of "
        "bitsieve rank; several with commas.",
        rich_help_panel=_OF_AUTO,
    ),
]
Estimators = Annotated[
    list[str] | None,
    typer.Option(
        help="Classifiers to compare: lda, svm, ridge, knn; several with commas.",
        rich_help_panel=_OF_AUTO,
    ),
]
Combination = Annotated[
    Combine | None,
    typer.Option(
        help="What predicts: the best candidate, or the vote of the best ones.",
        rich_help_panel=_OF_AUTO,
    ),
]
Parsimony = Annotated[
    float | None,
    typer.Option(
        min=0.0, help="Take the smallest panel within so many paired standard errors of the best.",
        rich_help_panel=_OF_AUTO,
    ),
]  # fmt: skip
StabilityOption = Annotated[
    Stability | None,
    typer.Option(
        help="filter compares panels of F alone, which change least from sample to sample.",
        rich_help_panel=_OF_AUTO,
    ),
]
LogOption = Annotated[
    Log | None,
    typer.Option(
        help="Whether values are logged first; auto looks at the training samples.",
        rich_help_panel=_OF_AUTO,
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Compare little.", rich_help_panel=_OF_AUTO)]
Thorough = Annotated[
    bool,
    typer.Option("--thorough", help="Repeat the comparison more often.", rich_help_panel=_OF_AUTO),
]
PlannedTime = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="TIME",
        help="Plan a run of about that length on two cores: 90, 90s, 5m or 1h. The plan, not the "
        "clock, ends the run.",
        rich_help_panel=_OF_AUTO,
    ),
]  # fmt: skip
Restrict = Annotated[
    Path | None,
    typer.Option(
        help="File with the features to keep to, such as those that another platform measures: "
        "a list, or a table whose columns they are.",
        rich_help_panel=_OF_AUTO,
    ),
]
ExternalFile = Annotated[
    Path | None,
    typer.Option(
        help="File with other samples: opened once, after the panel is fixed, and reported apart.",
        rich_help_panel=_OF_AUTO,
    ),
]
Covariates = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns to compare with and not to select from, such as age or batch; several with "
        "commas.",
        rich_help_panel=_OF_AUTO,
    ),
]

Estimator = Annotated[
    str | None,
    typer.Option(
        help="1nn, 3nn, 5nn, knn:K, centroid, nb, bernoulli, dlda, lda, ridge, logistic, svm or "
        f"tree; {_default_of('estimator')} if not given.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
ScaleOption = Annotated[
    Scale | None,
    typer.Option(
        help="Standardise the columns (inside every outer fold; the default), or not.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
NFeatures = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Size of the panel, or a range of sizes such as 5-30 (only "
        f"{joined([method.name for method in METHODS if method.has_range])}); forced features "
        "count, a group counts as one. If not given, the method decides.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
Step = Annotated[
    float | None,
    typer.Option(
        help="Features that a step drops or adds, or a share of all of them such as 0.1; 1 if not "
        f"given{_takers('step')}. Sizes that it does not come by are not compared.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
DirectionOption = Annotated[
    Direction | None,
    typer.Option(
        help="Whether features are added to none, or dropped from all, without --n-features while "
        f"the score does not fall; forward if not given{_takers('direction')}.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
SizeRuleOption = Annotated[
    SizeRule | None,
    typer.Option(
        help="Which size of a range is taken: the best, or the smallest within one standard error "
        f"of it; best if not given{_takers('size-rule')}.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
Kicks = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="How often a search that has ended exchanges a fifth of its panel at random and goes "
        f"on from there; 0 if not given{_takers('kicks')}.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
SizePenalty = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="Score that each feature costs in the search, such as 0.001; 0 if not given"
        f"{_takers('size-penalty')}. Every number that is shown is without it.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
Forced = Annotated[
    list[str] | None,
    typer.Option(
        help="Features that every panel has: names, several with commas or again, or @FILE with a "
        "name a line.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
Forbidden = Annotated[
    list[str] | None,
    typer.Option(help="Features that no panel has, as --forced.", rich_help_panel=_OF_SEARCHES),
]
FeatureGroups = Annotated[
    Path | None,
    typer.Option(
        help="File with features that are in or out together: a group a line, its names between "
        f"tabs or commas{_takers('feature-groups')}.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
Restarts = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Searches from so many seeds, of which the best is taken; how much their panels "
        f"share is reported{_takers('restarts')}.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        help="Where the search begins: by the ranks of a filter of bitsieve rank, such as relieff"
        f"{_words_of_start()}, or from @FILE, a panel with a name a line{_takers('start')}.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
MaxIter = Annotated[
    int | None,
    typer.Option(
        min=1,
        help=f"Iterations at most{_takers('max-iter')}; if not given, those of the method (bspsa: "
        "1000 below 100 features, 3000 from there on).",
        rich_help_panel=_OF_SEARCHES,
    ),
]
MaxEvaluations = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Panels that a search measures at most, all of its restarts together.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
MaxTime = Annotated[
    float | None,
    typer.Option(
        help="Seconds for each search, measuring its finalists included; there are 1 + the "
        "outer folds of them.",
        rich_help_panel=_OF_SEARCHES,
    ),
]
Patience = Annotated[
    int | None,
    typer.Option(
        min=0,
        help=f"Iterations without a new best before it stops{_takers('patience')}; if not given, "
        "that of the method (bspsa: a quarter of those at most, but 100 at least); 0 never gives "
        "up.",
        rich_help_panel=_OF_SEARCHES,
    ),
]

Lam = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="Weight of the penalty on open gates, in units of the loss, such as 0.1, or auto: "
        "from little to much, and the size that does best on a validation part is taken. auto if "
        "not given (only stg).",
        rich_help_panel=_OF_NETWORKS,
    ),
]
Eps = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="Weight of the penalty on features, from 0 (none) to 1 (only pefs).",
        rich_help_panel=_OF_NETWORKS,
    ),
]
GateOption = Annotated[
    Gate | None,
    typer.Option(
        help="What multiplies the features: clipped normal noise, hard concrete noise, or a weight "
        "with an L1 penalty as LASSO has; gaussian if not given (only stg).",
        rich_help_panel=_OF_NETWORKS,
    ),
]
Hidden = Annotated[
    str | None,
    typer.Option(
        metavar="SIZES",
        help="Sizes of hidden layers, such as 64 or 200,200,200; none for a linear model. If not "
        "given, those of the method.",
        rich_help_panel=_OF_NETWORKS,
    ),
]
MaxEpochs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Passes over the samples (only stg; --max-iter counts steps of pefs); if not given, "
        "as many as make some thousand steps.",
        rich_help_panel=_OF_NETWORKS,
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        min=1, help="Samples a step; if not given, that of the method.",
        rich_help_panel=_OF_NETWORKS,
    ),
]  # fmt: skip
LearningRate = Annotated[
    float | None,
    typer.Option(help="Of the network; if not given, that of the method.",
                 rich_help_panel=_OF_NETWORKS),
]  # fmt: skip
DeviceOption = Annotated[
    Device | None,
    typer.Option(
        help="Where it is trained: auto takes a GPU where there is one. Only cpu gives the same "
        "bits on every machine of a kind.",
        rich_help_panel=_OF_NETWORKS,
    ),
]
