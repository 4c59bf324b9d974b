"""From a fitted selector and its outer folds to the plain numbers of the page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.cli.input import JobInput
from bitsieve.report import (
    Compared,
    External,
    FeatureStatistics,
    PanelFeature,
    PanelOutcome,
    ReliabilityInfo,
    feature_statistics,
    reliability_info,
)

__all__ = ["Measured", "panel_outcome"]

_NAMES = {
    "all features: chosen": "all features, same classifier",
    "all features: lda": "all features, shrunken LDA",
    "all features: svm": "all features, linear SVM",
    "filter of the same size": "best filter of the same size",
    "covariates": "covariates alone, no feature",
}


@dataclass(eq=False)
class Measured:
    """What a job has found so far; None for what it has not."""

    data: JobInput
    selector: Any
    plan: Any
    panel: Any = None
    nested: Any = None
    stability: Any = None
    external: External | None = None
    stopped: str | None = None
    seconds: float = float("nan")

    @property
    def support(self) -> NDArray[np.bool_]:
        """The features that are needed to predict."""
        return np.asarray(self.panel.support, dtype=bool)

    @cached_property
    def statistics(self) -> FeatureStatistics:
        """Direction, means and substitutes of each feature."""
        floors = {member.scaling.floor for member in self.panel.members}
        return feature_statistics(
            self.data.X,
            self.data.y,
            self.support,
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
        "n_candidates": len(selector.candidates_),
        "plan": (found.plan.text(),),
        "doubts": {d.names[0]: d.why for d in data.doubts if d.kind == "column"},
        "copies": data.copies_text(),
        "stopped": found.stopped,
        "seed": int(selector.random_state),
        "seconds": found.seconds,
        "external": found.external,
    }
    if nested is not None:
        n_repeats = nested.n_repeats
        n_folds = nested.n_folds // n_repeats
        sizes = nested.n_features
        outcome |= {
            "honest": Compared(
                "panel",
                "this panel's procedure",
                float(nested.score),
                tuple(nested.interval),
                (int(sizes.min()), int(sizes.max())),
                inner=float(selector.best_score_),
            ),
            "level": nested.level,
            "n_folds": n_folds,
            "n_repeats": n_repeats,
            "folds": _folds(n_folds, n_repeats, data),
            "chance": nested.chance_score,
            "beats_chance": nested.beats_chance,
            "limits": _limits(nested, inner, selector.max_features),
            "rivals": _rivals(nested, data.table.n_features),
            "remarks": tuple(nested.remarks),
        }
    if found.stability is not None:
        outcome["stability"] = _stability(found.stability)
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
    logged = " on log2 values" if members[0].scaling.floor is not None else ""
    if len(members) == 1:
        (one,) = members
        classifier = classifier_by_name(one.classifier).label
        if one.selector == "all":
            return f"{classifier} on all features{logged}"
        return f"{classifier} on the {one.size:,} first by {ranker_by_name(one.selector).label}{logged}"
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
        f"the vote of {len(members)} classifiers ({', '.join(classifiers)}) of {each} features each, "
        f"selected by {', '.join(selectors)}{logged}"
    )


def _limit(limit: float) -> str:
    return "no limit" if limit != limit else f"limit {limit:.0f}"


def _features(found: Measured) -> tuple[PanelFeature, ...]:
    statistics, names = found.statistics, found.data.names
    times = None if found.nested is None else found.nested.n_times_selected
    members = np.flatnonzero(found.support)
    if times is not None:
        members = members[np.lexsort((members, -times[members]))]
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


def _folds(n_folds: int, n_repeats: int, data: JobInput) -> str:
    whole = "" if data.table.groups is None else " of whole groups"
    if n_repeats == 1:
        return f"{n_folds} outer folds{whole}"
    return f"{n_repeats} x {n_folds} outer folds{whole}"


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
        if not key.startswith("limit "):
            continue
        of = {"inner": inner.get(key, float("nan"))}
        if free is not None:
            apart = free.scores - nested.alternatives[key].scores
            of |= {"cost": float(apart.mean()), "cost_error": _standard_error(apart, nested)}
        rows.append(_compared(nested, key, f"at most {key.removeprefix('limit ')} features", **of))
    if free is not None and limit is not None:
        rows.append(_compared(nested, "no limit", "no limit", inner=inner.get("no limit", np.nan)))
    return tuple(rows)


def _standard_error(differences: NDArray[np.float64], nested: Any) -> float:
    """Corrected resampled standard error of a mean over the outer folds."""
    n = len(differences)
    if n < 2:
        return float("nan")
    ratio = float(np.mean([len(test) / len(train) for train, test in nested.folds]))
    return float(np.sqrt(differences.var(ddof=1) * (1.0 / n + ratio)))


def _rivals(nested: Any, n_features: int) -> tuple[Compared, ...]:
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


def _stability(found: Any) -> tuple[str, ...]:
    return (found.text(),)
