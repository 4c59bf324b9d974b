"""From a fitted selector and its outer folds to the plain numbers of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.cli.folds import Folds
from bitsieve.cli.input import JobInput
from bitsieve.evaluation import group_performance
from bitsieve.evaluation.interval import binomial_interval, corrected_standard_error
from bitsieve.report import (
    ClassRow,
    Compared,
    FeatureStatistics,
    PanelFeature,
    PanelOutcome,
    ReliabilityInfo,
    Site,
    feature_statistics,
    reliability_info,
)

__all__ = ["Measured", "panel_outcome"]

#: Groups of which each has a line.
MOST_LINES = 12
#: Features of a panel up to which substitutes are looked for: of more nobody asks.
MOST_WITH_SUBSTITUTES = 1000

_NAMES = {
    "all features: chosen": "all features, same classifier",
    "all features: lda": "all features, shrunken LDA",
    "all features: svm": "all features, linear SVM",
    "filter of the same size": "best filter of the same size",
    "single best candidate": "the single best candidate",
    "covariates": "covariates alone, no feature",
}


@dataclass(eq=False)
class Measured:
    """What a job has found so far; None for what it has not."""

    data: JobInput
    selector: Any
    plan: Any
    folds: Folds
    covariates: Any = None
    covariate_check: Any = None
    panel: Any = None
    nested: Any = None
    stability: Any = None
    external: Any = None
    notes: tuple[str, ...] = ()
    stopped: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @cached_property
    def X(self) -> Any:
        """The features as a frame, whose names the panel keeps."""
        return self.data.table.to_frame()

    @property
    def support(self) -> NDArray[np.bool_]:
        """The features that are needed to predict."""
        return np.asarray(self.panel.support, dtype=bool)

    @cached_property
    def statistics(self) -> FeatureStatistics:
        """Direction, means and substitutes of each feature."""
        floors = {member.scaling.floor for member in self.panel.members}
        support = self.support
        if support.sum() > MOST_WITH_SUBSTITUTES:
            support = np.zeros_like(support)
        return feature_statistics(
            self.data.X,
            self.data.y,
            support,
            floor=floors.pop() if len(floors) == 1 else None,
            folds=None if self.nested is None else self.nested.folds,
        )

    @property
    def probabilities(self) -> NDArray[np.float64] | None:
        """Probabilities of the test samples of the outer folds, a column a class."""
        if self.nested is None or self.nested.predictions is None:
            return None
        found = self.nested.predictions
        if found.outputs is None or set(found.responses) != {"predict_proba"}:
            return None
        return np.asarray(found.outputs, dtype=np.float64)

    def reliability(self, outcome: PanelOutcome) -> ReliabilityInfo | None:
        """Return what the picture of the calibration shows; None without probabilities."""
        values = self.probabilities
        if values is None:
            return None
        found = self.nested.predictions
        return reliability_info(
            values,
            found.truth,
            found.classes,
            n_repeats=self.nested.n_repeats,
            level=self.nested.level,
            title=f"{outcome.source}: probabilities of the outer folds' test samples",
        )


def panel_outcome(found: Measured) -> PanelOutcome:
    """Return the numbers of the page.

    Parameters
    ----------
    found : Measured
        With a panel.

    Returns
    -------
    PanelOutcome
    """
    data, selector, nested, panel = found.data, found.selector, found.nested, found.panel
    inner = {_limit(row.limit): float(row.score) for row in selector.path_.itertuples()}
    outcome: dict[str, Any] = {
        "source": data.source,
        "scoring": selector.scoring,
        "n_samples": data.table.n_samples,
        "n_features_in": data.table.n_features,
        "made_by": made_by(panel),
        "n_members": len(panel.members),
        "features": _features(found),
        "inner": float(selector.best_score_),
        "n_candidates": selector.plan_.n_candidates,
        "plan": (found.plan.text(),),
        "doubts": {d.names[0]: d.why for d in data.doubts if d.kind == "column"},
        "copies": data.copies_text(),
        "stopped": found.stopped,
        "seed": int(selector.random_state),
        "seconds": sum(found.seconds.values()),
        "external": None if found.external is None else found.external.row(),
    }
    if nested is not None:
        n_repeats = nested.n_repeats
        n_folds = nested.n_folds // n_repeats
        sizes = nested.n_features
        outcome |= {
            "honest": Compared(
                "panel",
                _own_label(selector.max_features, data.table.n_features),
                float(nested.score),
                tuple(nested.interval),
                (int(sizes.min()), int(sizes.max())),
                inner=float(selector.best_score_),
                **_cost(nested, nested.scores),
            ),
            "level": nested.level,
            "n_folds": n_folds,
            "n_repeats": n_repeats,
            "folds": found.folds.text(n_repeats),
            "sites": _sites(found),
            "chance": nested.chance_score,
            "beats_chance": nested.beats_chance,
            "limits": _limits(nested, inner, selector.max_features),
            "rivals": _rivals(nested),
            "remarks": tuple(nested.remarks),
            **_told_apart(nested.performance()),
        }
    if found.stability is not None:
        outcome["stability"] = (*_stability(found.stability), *found.notes)
    return PanelOutcome(**outcome)


def made_by(panel: Any) -> str:
    """Say in plain words what a panel is made of.

    Parameters
    ----------
    panel : bitsieve.panels.Panel

    Returns
    -------
    str
    """
    from bitsieve.panels import classifier_by_name, ranker_by_name

    members = panel.members
    logs = {member.log for member in members}
    logged = {1: " on log2 values" if True in logs else "", 2: ", partly on log2 values"}[len(logs)]
    if len(members) == 1:
        (one,) = members
        classifier = classifier_by_name(one.classifier).label
        if one.selector == "all":
            return f"{classifier} on all features{logged}"
        ranker = ranker_by_name(one.selector).label
        return f"{classifier} on the {one.size:,} first by {ranker}{logged}"
    selectors = [
        "all features" if name == "all" else ranker_by_name(name).label
        for name in dict.fromkeys(one.selector for one in members)
    ]
    classifiers = [
        classifier_by_name(name).label for name in dict.fromkeys(m.classifier for m in members)
    ]
    sizes = [one.size for one in members]
    each = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
    return (
        f"the vote of {len(members)} classifiers ({', '.join(classifiers)}) on {each} features "
        f"each, selected by {'; '.join(selectors)}{logged}"
    )


def _limit(limit: float) -> str:
    return "no limit" if limit != limit else f"limit {limit:.0f}"


def _features(found: Measured) -> tuple[PanelFeature, ...]:
    statistics, names = found.statistics, found.data.names
    times = None if found.nested is None else found.nested.n_times_selected
    members = np.flatnonzero(found.support)
    if times is not None:
        members = members[np.lexsort((statistics.f_rank[members], -times[members]))]
    rows = []
    for feature in members.tolist():
        direction = int(statistics.direction[feature])
        others = statistics.substitutes.get(feature)
        rows.append(
            PanelFeature(
                names[feature],
                statistics.classes[direction] if direction >= 0 else "",
                None if times is None else int(times[feature]),
                ()
                if others is None
                else tuple(
                    f"{names[other]} ({r:.2f})"
                    for other, r in zip(others.features, others.correlations, strict=True)
                ),
            )
        )
    return tuple(rows)


def _sites(found: Measured) -> tuple[Site, ...]:
    """Return a line a group where they are few, as sites are and patients are not."""
    table = found.data.table
    if table.groups is None or table.group_names is None or len(table.group_names) > MOST_LINES:
        return ()
    names = np.array(table.group_names)[table.groups]
    return tuple(
        Site(
            str(row.name), row.n, 1.0 - row.error, (1.0 - row.interval.high, 1.0 - row.interval.low)
        )
        for row in group_performance(found.nested.predictions, names, level=found.nested.level)
    )


def _compared(nested: Any, key: str, label: str, **options: Any) -> Compared:
    one = nested.alternatives[key]
    return Compared(
        key,
        label,
        float(one.score),
        tuple(one.own_interval),
        (int(one.n_features.min()), int(one.n_features.max())),
        float(one.difference),
        tuple(one.interval),
        **options,
    )


def _limits(nested: Any, inner: dict[str, float], limit: int | None) -> tuple[Compared, ...]:
    """Return the panel under each limit, and without one where it has one itself."""
    free = nested.alternatives.get("no limit")
    rows = []
    for key in nested.alternatives:
        if not key.startswith("limit ") or key == f"limit {limit}":  # the panel's own
            continue
        of = {
            "inner": inner.get(key, float("nan")),
            **_cost(nested, nested.alternatives[key].scores),
        }
        rows.append(_compared(nested, key, f"at most {key.removeprefix('limit ')} features", **of))
    if free is not None and limit is not None:
        rows.append(_compared(nested, "no limit", "no limit", inner=inner.get("no limit", np.nan)))
    return tuple(rows)


def _own_label(limit: int | None, n_features: int) -> str:
    if limit is None or limit >= n_features:
        return "this panel's procedure"
    return f"this panel, at most {limit} features"


def _cost(nested: Any, scores: NDArray[np.float64]) -> dict[str, Any]:
    """Return what a limit costs beside no limit, and the standard error of that."""
    free = nested.alternatives.get("no limit")
    if free is None:
        return {}
    apart = free.scores - scores
    sizes = [len(test) for _, test in nested.folds], [len(train) for train, _ in nested.folds]
    error = corrected_standard_error(apart, *sizes)
    return {"cost": float(apart.mean()), "cost_error": error}


def _rivals(nested: Any) -> tuple[Compared, ...]:
    rows = []
    for key in nested.alternatives:
        if key.startswith("limit ") or key == "no limit":
            continue
        rows.append(_compared(nested, key, _NAMES.get(key, key)))
    order = list(_NAMES)
    rows.sort(key=lambda one: order.index(one.key) if one.key in order else len(order))
    apart = float((nested.scores - nested.chance_scores).mean())
    chance = Compared("chance", "chance, no feature", nested.chance_score, lead=apart)
    return (*rows, chance)


def _told_apart(found: Any) -> dict[str, Any]:
    """Return confusion matrix, balanced accuracy, AUC and calibration."""
    totals = found.confusion.sum(axis=1)
    rows = []
    for c, name in enumerate(found.classes):
        recall = found.recalls[c]
        if len(found.classes) == 2:
            other = found.recalls[1 - c]
            specificity, interval = other.value, other.interval
        else:
            others = float(totals.sum() - totals[c])
            spared = others - float(found.confusion[:, c].sum() - found.confusion[c, c])
            specificity = spared / others
            interval = binomial_interval(spared, others, level=found.level)
        rows.append(
            ClassRow(
                str(name), round(float(totals[c])), tuple(found.confusion[c].tolist()),
                recall.value, tuple(recall.interval), specificity, tuple(interval),
            )
        )  # fmt: skip
    auc = found.auc
    return {
        "classes": tuple(rows),
        "balanced": (found.balanced_accuracy.value, tuple(found.balanced_accuracy.interval)),
        "auc": None if auc is None else (auc.value, tuple(auc.interval)),
        "calibration": _calibration(found),
    }


def _calibration(found: Any) -> str:
    """Say in one line whether the probabilities can be taken at their word."""
    if not found.calibrations:
        return ""
    brier = f"Brier score {found.brier:.3f} ({found.brier_chance:.3f} by chance)"
    slopes = [one.slope for one in found.calibrations if not np.isnan(one.slope)]
    if not slopes:
        return f"Calibration: {brier}; the probabilities separate the classes, or are all the same."
    if len(found.calibrations) == 1:
        (one,) = found.calibrations
        low, high = one.slope_interval
        intercept = round(one.intercept, 2) + 0.0  # without the sign of -0.0
        said = (
            f"intercept {intercept:.2f} (0 is right), slope {one.slope:.2f} (1 is right; "
            f"{low:.2f} to {high:.2f})"
        )
    else:
        low, high = min(slopes), max(slopes)
        said = f"slopes {low:.2f} to {high:.2f}, a class each (1 is right)"
    verdict = "spread about as they should"
    if high < 1.0:
        verdict = "are too sure of themselves"
    elif low > 1.0:
        verdict = "are too cautious"
    return f"Calibration: {said}, {brier}: the probabilities {verdict}."


def _stability(found: Any) -> tuple[str, ...]:
    """Say how alike panels are, each number beside its value by chance."""
    said = []
    for one, what in (
        (found.folds, "panels of two outer folds"),
        (found.halves, f"panels of two halves without a common sample ({_span(found.half_sizes)} "
         "samples each)"),
        (found.seeds, "panels of two seeds"),
    ):  # fmt: skip
        if one is None:
            continue
        share, chance = one.jaccard
        if np.isnan(one.nogueira.value):
            said.append(f"{what} are the same, as all features are kept".capitalize() + ".")
            continue
        said.append(
            f"{what[0].upper()}{what[1:]} share {100 * share:.0f} % of their features "
            f"({100 * chance:.1f} % by chance); Nogueira's index {one.nogueira.value:.2f} (0 by "
            f"chance, 1 for the same panel{_uneven(one.sizes)})."
        )
    return tuple(said)


def _uneven(sizes: NDArray[np.int64]) -> str:
    """Say that sizes differ so much that the index says more of them than of the features."""
    least, most = int(sizes.min()), int(sizes.max())
    return f"; low where sizes differ, here {least:,} to {most:,}" if most > 4 * least else ""


def _span(sizes: tuple[int, ...]) -> str:
    return " or ".join(f"{size:,}" for size in dict.fromkeys(sizes))
