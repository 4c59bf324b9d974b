"""From what candidates said out of fold to the ones that make the panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve.panels.calibration import Calibration, most_probable, smoothed_shares
from bitsieve.panels.classifiers import predicted_codes
from bitsieve.panels.design import ALL, Candidate
from bitsieve.panels.race import Race
from bitsieve.panels.ranking import Ranked

__all__ = [
    "Choice",
    "Rule",
    "Scores",
    "calibration_of",
    "choose",
    "codes_of",
    "score_candidates",
    "score_of_members",
    "scoring_for",
    "smooth",
    "stabilities",
    "thresholds_for",
]

#: Below this share of what equal classes would have, the smallest class asks for balanced accuracy.
SMALL_CLASS = 0.8


@dataclass(frozen=True)
class Rule:
    """How the panel is chosen.

    Attributes
    ----------
    combine : {"best", "vote"}
        One candidate, or the vote of the best.
    n_members : int
        Members of the vote at most.
    tolerance : float or None
        Members of a vote lie within so many paired standard errors of the best; None lets any in.
    max_features : int or None
        Different features that all members together may use.
    parsimony : float
        The smallest candidate within so many paired standard errors of the best; 0 takes the best.
    smoothing : float
        Weight of the neighbors (sizes beside it, other classifiers of the same panel) in the score
        that candidates are compared by, between 0 and 1.
    """

    combine: Literal["best", "vote"] = "vote"
    n_members: int = 21
    tolerance: float | None = 2.0
    max_features: int | None = None
    parsimony: float = 0.0
    smoothing: float = 0.5


@dataclass(frozen=True)
class Scores:
    """Out-of-fold scores of the candidates of a race.

    Attributes
    ----------
    name : {"accuracy", "balanced_accuracy"}
    score : float64 array of shape (n_candidates,)
        Greater is better.
    by_sample : float64 array of shape (n_candidates, n_samples)
        Its mean over the samples is the score: the share of repeats in which the sample was
        predicted rightly, weighted so that classes count alike for the balanced accuracy.
    """

    name: str
    score: NDArray[np.float64]
    by_sample: NDArray[np.float64]

    def standard_error(self, one: int, other: int | None = None) -> float:
        """Standard error of a candidate's score, or of the difference of two on the same samples.

        Parameters
        ----------
        one : int
        other : int or None, default None

        Returns
        -------
        float
        """
        values = self.by_sample[one] - (0.0 if other is None else self.by_sample[other])
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


@dataclass(frozen=True)
class Choice:
    """Candidates that make the panel, best first.

    Attributes
    ----------
    members : tuple of int
        Positions in ``race.candidates``.
    smoothed : float64 array of shape (n_candidates,)
        What they were compared by.
    """

    members: tuple[int, ...]
    smoothed: NDArray[np.float64]


def scoring_for(codes: NDArray[np.int32], n_classes: int) -> str:
    """Name of the score to choose by: balanced where a class is much smaller than its share.

    Parameters
    ----------
    codes : int32 array of shape (n_samples,)
    n_classes : int

    Returns
    -------
    {"accuracy", "balanced_accuracy"}
        The second where the smallest class has under 0.8 of an equal share: under 40 % of two.
    """
    least = np.bincount(codes, minlength=n_classes).min() / len(codes)
    return "balanced_accuracy" if least < SMALL_CLASS / n_classes else "accuracy"


def thresholds_for(race: Race, name: str) -> NDArray[np.float64] | None:
    """Thresholds of the probabilities that serve a score.

    The expected balanced accuracy is greatest where each class is predicted from its own share
    on, the accuracy where the most probable class is. The share is that of a calibration's
    smoothed targets: what it says where decisions tell nothing.

    Parameters
    ----------
    race : Race
    name : {"accuracy", "balanced_accuracy"}

    Returns
    -------
    float64 array of shape (n_classes,) or None
        With sum 1; None where all are equal.
    """
    if name == "accuracy":
        return None
    return smoothed_shares(np.tile(race.codes, race.decisions.shape[1]), race.n_classes)


def score_candidates(race: Race, name: str | None = None) -> Scores:
    """Score every candidate of a race out of fold.

    Parameters
    ----------
    race : Race
    name : {"accuracy", "balanced_accuracy"} or None, default None
        None means :func:`scoring_for`.

    Returns
    -------
    Scores
    """
    name = scoring_for(race.codes, race.n_classes) if name is None else name
    right = (codes_of(race.decisions) == race.codes).mean(axis=1)
    right = right * _weights(race, name)
    return Scores(name, right.mean(axis=1), right)


def smooth(
    candidates: Sequence[Candidate], score: NDArray[np.float64], weight: float
) -> NDArray[np.float64]:
    """Average the score of a candidate with those of its neighbors.

    Neighbors are the same selector and classifier at the next size either way, and the other
    classifiers of the same panel. A single score among hundreds is best by luck; one whose
    neighbors are good too is less so.

    Parameters
    ----------
    candidates : sequence of Candidate
    score : float64 array of shape (n_candidates,)
    weight : float
        Of the mean of the neighbors, between 0 and 1.

    Returns
    -------
    float64 array of shape (n_candidates,)
    """
    place = {candidate: number for number, candidate in enumerate(candidates)}
    sizes: dict[tuple[str, bool], list[int]] = {}
    for one in candidates:
        sizes.setdefault((one.selector, one.log), [])
        if one.size not in sizes[one.selector, one.log]:
            sizes[one.selector, one.log].append(one.size)
    everything = {one.log: one.size for one in candidates if one.selector == ALL}
    names = list(dict.fromkeys(one.classifier for one in candidates))
    out = score.copy()
    for number, one in enumerate(candidates):
        near = [one._replace(classifier=name) for name in names if name != one.classifier]
        row = sizes[one.selector, one.log]
        at = row.index(one.size)
        near += [
            one._replace(size=size) for size in row[max(at - 1, 0) : at + 2] if size != one.size
        ]
        if one.selector != ALL and one.size == row[-1] and one.log in everything:
            near.append(one._replace(selector=ALL, size=everything[one.log]))
        found = [place[other] for other in near if other in place]
        if found:
            out[number] = (1.0 - weight) * score[number] + weight * score[found].mean()
    return out


def choose(race: Race, scores: Scores, ranked: Ranked, rule: Rule) -> Choice:
    """Choose the candidates that make the panel.

    Parameters
    ----------
    race : Race
    scores : Scores
        Of the race.
    ranked : Ranked
        Rankings of all samples: they tell which features a candidate needs.
    rule : Rule

    Returns
    -------
    Choice

    Raises
    ------
    ValueError
        Where no candidate has as few features.
    """
    candidates = race.candidates
    smoothed = smooth(candidates, scores.score, rule.smoothing)
    limit = race.design.n_features if rule.max_features is None else rule.max_features
    allowed = [
        number
        for number, one in enumerate(candidates)
        if one.size <= limit and race.design.is_allowed(one)
    ]
    if not allowed:
        raise ValueError(
            f"max_features={rule.max_features} is below every size that is compared "
            f"({', '.join(map(str, race.design.sizes))}); raise it, or give smaller sizes"
        )
    size = np.array([one.size for one in candidates])
    stability = stabilities(race)
    # Ties to the smaller, then to the more stable, then to the first. Scores that differ by
    # rounding are equal.
    rounded = np.round(smoothed, 12)
    by_score = sorted(allowed, key=lambda c: (-rounded[c], size[c], -stability[c], c))
    best = by_score[0]
    if rule.parsimony > 0:
        near = [
            c
            for c in by_score
            if smoothed[best] - smoothed[c] <= rule.parsimony * scores.standard_error(best, c)
        ]
        best = min(near, key=lambda c: (size[c], -rounded[c], -stability[c], c))
    if rule.combine == "best":
        return Choice((best,), smoothed)
    order = [best, *(c for c in by_score if c != best)]
    if rule.parsimony > 0:
        order = [c for c in order if size[c] <= size[best]]
    if rule.tolerance is not None:
        order = [
            c
            for c in order
            if smoothed[best] - smoothed[c] <= rule.tolerance * scores.standard_error(best, c)
        ]
    members: list[int] = []
    used = np.zeros(race.design.n_features, dtype=bool)
    for c in order:
        if len(members) == rule.n_members:
            break
        with_it = used.copy()
        with_it[ranked.features(candidates[c])] = True
        if np.count_nonzero(with_it) <= limit:
            members.append(c)
            used = with_it
    return Choice(tuple(members), smoothed)


def stabilities(race: Race) -> NDArray[np.float64]:
    """Agreement of the panels of a candidate over the inner training parts.

    Parameters
    ----------
    race : Race

    Returns
    -------
    float64 array of shape (n_candidates,)
        Mean share of the features of one part that another one selects too, corrected for chance
        (Nogueira, Sechidis and Brown 2018, equation 4, for panels of one size); 1 for all features.
    """
    p, n_parts = race.design.n_features, len(race.orders)
    known: dict[tuple[bool, str, int], float] = {}
    out = np.ones(len(race.candidates))
    for number, one in enumerate(race.candidates):
        if one.selector == ALL or one.size >= p or n_parts < 2:
            continue
        key = (one.log, one.selector, one.size)
        if key not in known:
            counts = np.bincount(
                np.concatenate([o[one.log, one.selector][: one.size] for o in race.orders]),
                minlength=p,
            )
            share = counts / n_parts
            variance = n_parts / (n_parts - 1) * float((share * (1.0 - share)).sum()) / p
            even = one.size / p
            known[key] = 1.0 - variance / (even * (1.0 - even))
        out[number] = known[key]
    return out


def calibration_of(race: Race, number: int) -> Calibration:
    """Calibration of a candidate by what it decided out of fold.

    Parameters
    ----------
    race : Race
    number : int
        Position in ``race.candidates``.

    Returns
    -------
    Calibration
    """
    decisions = race.decisions[number]
    return Calibration.fit(
        decisions.reshape(-1, decisions.shape[-1]),
        np.tile(race.codes, len(decisions)),
        race.n_classes,
    )


def score_of_members(race: Race, scores: Scores, members: Sequence[int]) -> float:
    """Out-of-fold score of the vote of some candidates, by their mean calibrated probabilities.

    Parameters
    ----------
    race : Race
    scores : Scores
    members : sequence of int
        Positions in ``race.candidates``.

    Returns
    -------
    float
        Optimistic: members and calibrations were chosen on the same samples.
    """
    shape = (*race.decisions.shape[1:3], race.n_classes)
    total = np.zeros(shape)
    for number in members:
        decisions = race.decisions[number].reshape(-1, race.decisions.shape[-1])
        total += calibration_of(race, number).apply(decisions).reshape(shape)
    found = most_probable(total.reshape(-1, race.n_classes), thresholds_for(race, scores.name))
    right = (found.reshape(shape[:2]) == race.codes).mean(axis=0)
    return float((right * _weights(race, scores.name)).mean())


def _weights(race: Race, name: str) -> NDArray[np.float64]:
    """Return what a sample counts, with mean 1: the same, or the same for each class together."""
    if name == "accuracy":
        return np.ones(len(race.codes))
    counts = np.bincount(race.codes, minlength=race.n_classes)
    weights: NDArray[np.float64] = len(race.codes) / (np.count_nonzero(counts) * counts[race.codes])
    return weights


def codes_of(decisions: NDArray[np.float64]) -> NDArray[np.int64]:
    """Classes that decisions say.

    Parameters
    ----------
    decisions : float64 array of shape (..., n_functions)

    Returns
    -------
    int64 array of shape (...)
    """
    flat = predicted_codes(decisions.reshape(-1, decisions.shape[-1]))
    return flat.reshape(decisions.shape[:-1])
