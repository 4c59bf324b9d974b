"""What a job that made a panel found: plain numbers, and in words what each number is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from bitsieve.report.measure import Measure
from bitsieve.report.outcome import counted, printable

__all__ = [
    "ClassRow",
    "Compared",
    "External",
    "PanelFeature",
    "PanelOutcome",
    "Site",
]

_NONE = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Compared:
    """One way to predict, measured on the outer folds.

    Attributes
    ----------
    key, label : str
        A short name, and what it is in plain words.
    score : float
        Mean over the outer folds, greater is better.
    interval : (float, float)
        Confidence interval of it; NaN without one.
    n_features : (int, int) or None
        Least and most features that it needs in an outer fold.
    lead, lead_interval : float and (float, float)
        Mean score of the panel's own procedure minus this one, on the same folds.
    cost, cost_error : float
        Mean score without a limit minus this one, and its paired standard error; NaN where it is
        no limit.
    inner : float
        Inner score of the winner under this limit, on the samples that chose it.
    """

    key: str
    label: str
    score: float
    interval: tuple[float, float] = _NONE
    n_features: tuple[int, int] | None = None
    lead: float = float("nan")
    lead_interval: tuple[float, float] = _NONE
    cost: float = float("nan")
    cost_error: float = float("nan")
    inner: float = float("nan")

    @property
    def short_label(self) -> str:
        """The label where there is little room: a panel's own without the word "features"."""
        own = self.label.startswith("this panel, ")
        return self.label.removesuffix(" features") if own else self.label

    @property
    def is_costly(self) -> bool:
        """Whether a limit costs more than one paired standard error."""
        return bool(self.cost > self.cost_error) and self.cost > 1e-9


@dataclass(frozen=True)
class PanelFeature:
    """A feature of the panel: where it is higher, how often it was selected, what replaces it.

    Attributes
    ----------
    name : str
    direction : str
        The class that it is higher in.
    n_folds : int or None
        Outer folds that selected it.
    substitutes : tuple of str
        Features outside the panel that correlate with it, with their correlations.
    """

    name: str
    direction: str = ""
    n_folds: int | None = None
    substitutes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassRow:
    """What the outer folds predicted of the samples of one class.

    Attributes
    ----------
    name : str
    n_samples : int
    predicted : tuple of float
        How many were predicted to be of each class, a sample once: the mean over repeats.
    sensitivity, specificity : float
    sensitivity_interval, specificity_interval : (float, float)
    """

    name: str
    n_samples: int
    predicted: tuple[float, ...]
    sensitivity: float
    sensitivity_interval: tuple[float, float]
    specificity: float
    specificity_interval: tuple[float, float]


@dataclass(frozen=True)
class Site:
    """The score of the samples of one group, each predicted by a panel made without the group.

    Attributes
    ----------
    name : str
    n_samples : int
    score : float
        Greater is better.
    """

    name: str
    n_samples: int
    score: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class External:
    """A file that was opened once, after the panel was fixed.

    Attributes
    ----------
    source : str
    n_samples : int
    score : float
        Of the panel on it, greater is better.
    interval : (float, float)
    note : str
    """

    source: str
    n_samples: int
    score: float
    interval: tuple[float, float]
    note: str = ""


@dataclass(frozen=True)
class PanelOutcome:
    """What one job found that chose a selector, a size and a classifier.

    Attributes
    ----------
    source : str
        Where the data came from.
    scoring : str
    n_samples, n_features_in : int
    made_by : str
        Selector, size and classifier of the panel, in plain words.
    features : tuple of PanelFeature
        All features that are needed to predict, those that most outer folds agreed on first.
    n_members : int
        How many classifiers vote.
    n_candidates : int
        How many combinations were compared by inner cross-validation.
    inner : float
        The winner's inner score: optimistic.
    honest : Compared or None
        The whole procedure on the outer folds; None where there were none.
    level : float
    n_folds, n_repeats : int
        Outer folds, and how often they were drawn.
    folds : str
        What the outer folds are, in plain words.
    chance : float
        Score of a prediction that looks at no feature.
    beats_chance : bool or None
    rivals, limits : tuple of Compared
        What stands beside the panel: other ways to predict, and the procedure with a limit.
    classes : tuple of ClassRow
    balanced, auc : (float, (float, float)) or None
        Balanced accuracy and area under the ROC curve, with intervals.
    calibration : str
        One line on the probabilities.
    stability : tuple of str
        Sentences on how alike the panels of the outer folds are.
    sites : tuple of Site
    external : External or None
    plan, remarks : tuple of str
        What was done, and what to know before the numbers are read.
    doubts : mapping of str to str
        Features that are evidently none, and why.
    copies : str or None
        What to say of samples that stand twice.
    stopped : str or None
        What stopped the job before its end.
    seed : int
    seconds : float
        Wall-clock time of the whole job.
    """

    source: str
    scoring: str
    n_samples: int
    n_features_in: int
    made_by: str
    features: tuple[PanelFeature, ...]
    inner: float
    n_members: int = 1
    n_candidates: int = 0
    honest: Compared | None = None
    level: float = 0.95
    n_folds: int = 0
    n_repeats: int = 1
    folds: str = ""
    chance: float = float("nan")
    beats_chance: bool | None = None
    rivals: tuple[Compared, ...] = ()
    limits: tuple[Compared, ...] = ()
    classes: tuple[ClassRow, ...] = ()
    balanced: tuple[float, tuple[float, float]] | None = None
    auc: tuple[float, tuple[float, float]] | None = None
    calibration: str = ""
    stability: tuple[str, ...] = ()
    sites: tuple[Site, ...] = ()
    external: External | None = None
    plan: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)
    copies: str | None = None
    stopped: str | None = None
    seed: int = 0
    seconds: float = float("nan")

    @cached_property
    def measure(self) -> Measure:
        """How scores are shown."""
        return Measure(self.scoring)

    @property
    def n_selected(self) -> int:
        """How many features are needed to predict."""
        return len(self.features)

    @property
    def panel_text(self) -> str:
        """The size of the panel and what made it, as one sentence."""
        return (
            f"{self.n_selected:,} of {counted(self.n_features_in)} are needed to predict: "
            f"{printable(self.made_by)}."
        )

    def headline(self) -> str:
        """Return the number to quote with its interval, or that there is none."""
        what = f"honest {self.measure.name}".upper()
        if self.honest is None:
            return f"{what}: not measured"
        span = self.measure.span(self.honest.interval)
        interval = f"{100 * self.level:g} % interval {span}" if span else "no interval"
        return f"{what} {self.measure.shown(self.honest.score)} ({interval})"

    def to_quote(self) -> str:
        """Say what may be quoted, or why nothing may."""
        what = self.measure.name
        if self.honest is None:
            why = (
                "The job was stopped before the outer folds were done"
                if self.stopped is not None
                else "No outer folds were asked for"
            )
            return f"{why}: there is no honest {what}, so no number here may be quoted."
        held = [one.name for one in self.features if one.name in self.doubts]
        if held:
            more = f" and {len(held) - 1:,} more" if len(held) > 1 else ""
            return (
                f"Quote nothing of this run: the panel holds {printable(held[0])}{more}, evidently "
                f"no feature ({self.doubts[held[0]]}). Repeat it without."
            )
        if self.copies is not None:
            return (
                f"This {what} may not be quoted: {self.copies}, and where a copy of a test sample "
                "was trained on, that sample was seen."
            )
        n_parts = self.n_folds * self.n_repeats
        return (
            f"This is the number to quote: nested cross-validation, {self.folds}; scaling, "
            f"selection and classifier were made anew in each of the {n_parts} training parts, "
            "and none of it saw the samples that it was tested on."
        )

    def not_to_quote(self) -> str:
        """Say what the winner's inner score is."""
        what = self.measure.name
        among = f" among {self.n_candidates:,} candidates" if self.n_candidates else ""
        return (
            f"Not to be quoted: the panel's inner {what} of {self.measure.shown(self.inner)}, "
            f"optimistic, since it was chosen{among} on the very samples that it is measured on."
        )

    def comparison(self) -> list[str]:
        """Say whether the panel predicts, whether selecting helped, and what a limit costs."""
        said = []
        what = self.measure.name
        if self.honest is not None and self.beats_chance is False:
            said.append(
                f"The interval reaches chance ({self.measure.shown(self.chance)}): this panel is "
                "not shown to predict better than a guess, and its features are no markers."
            )
        full = next((one for one in self.rivals if one.key == "all features: chosen"), None)
        if full is not None:
            said.append(self._helped(full))
        own = [] if self.honest is None else [self.honest]
        costly = [one for one in (*self.limits, *own) if one.is_costly]
        if costly:
            each = ", ".join(
                f"{one.label.removeprefix('this panel, ')} costs {self.measure.size(one.cost)} "
                f"(standard error {self.measure.size(one.cost_error)})"
                for one in costly
            )
            said.append(
                f"A limit on the size costs {what} here, more than one standard error of the "
                f"paired difference: {each}."
            )
        elif self.limits:
            least = self.limits[0].label
            said.append(
                f"No limit on the size costs more than one standard error of the paired "
                f"difference, not even {least}."
            )
        return said

    def _helped(self, full: Compared) -> str:
        low, high = full.lead_interval
        if self.n_selected == self.n_features_in and self.n_members == 1:
            return "Nothing was left out: the classifier on all features did best inside."
        if self.n_selected == self.n_features_in:
            return (
                f"Nothing was left out: the classifiers that vote need all "
                f"{counted(self.n_features_in)} together. --max-features N makes a smaller panel."
            )
        if low > 0.0 and full.lead > 1e-9:
            verdict = "Selecting helped"
        elif high < 0.0 and full.lead < -1e-9:
            verdict = "Selecting cost"
        else:
            verdict = "Selecting neither helped nor hurt, as far as these folds can tell"
        span = self.measure.lead_span(full.lead_interval)
        interval = f" ({100 * self.level:g} % interval of the difference {span})" if span else ""
        return (
            f"{verdict}: the panel's {self.measure.name} is {self._against(full.lead)} that of all "
            f"{counted(self.n_features_in)} with the same classifier{interval}."
        )

    def _against(self, lead: float) -> str:
        """Return a difference in words, such as "1.1 points lower than"."""
        size = self.measure.size(lead)
        if not size.removesuffix(self.measure.unit).strip("0."):
            return "the same as"
        is_lower = (lead > 0.0) == self.measure.is_error
        return f"{size} {'lower' if is_lower else 'higher'} than"

    def results(self) -> dict[str, Any]:
        """Return every number for JSON; scores are greater-is-better, errors 1 minus the score."""
        found = {
            key: value
            for key, value in asdict(self).items()
            if key not in ("source", "plan", "remarks", "doubts", "seed", "features")
        }
        found["n_selected"] = self.n_selected
        found["selected"] = [one.name for one in self.features]
        found["panel"] = [asdict(one) for one in self.features]
        found["honest_score"] = found["honest_interval"] = None
        if self.honest is not None:
            found["honest_score"] = self.honest.score
            found["honest_interval"] = list(self.honest.interval)
        if self.measure.is_error:
            found["inner_error"] = 1.0 - self.inner
            found["honest_error"] = found["honest_error_interval"] = None
            if self.honest is not None:
                low, high = self.honest.interval
                found["honest_error"] = 1.0 - self.honest.score
                found["honest_error_interval"] = [1.0 - high, 1.0 - low]
        return found

    def statements(self) -> list[str]:
        """Return the sentences of the page, for the record."""
        said = [self.headline(), self.to_quote(), self.not_to_quote(), self.panel_text]
        return [*said, *self.comparison(), *self.stability, *self.remarks]
