"""From chosen candidates to panels, and to what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.panels.choice import Scores, calibration_of
from bitsieve.panels.design import ALL, Candidate
from bitsieve.panels.fitting import fit_candidates
from bitsieve.panels.member import Member
from bitsieve.panels.model import Panel
from bitsieve.panels.race import Race
from bitsieve.panels.rankers import ranker_by_name
from bitsieve.panels.ranking import Ranked

__all__ = ["BESIDE", "PanelMaker"]

#: Classifiers that see all features beside the panel.
BESIDE = ("lda", "svm")


class PanelMaker:
    """Fits members to all samples, each once, and puts them together.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features)
    raced : Race
        It calibrates the members.
    ranked : Ranked
    classes : array of shape (n_classes,)
    names : sequence of str or None
        Of the features.
    thresholds : float64 array of shape (n_classes,) or None
    """

    def __init__(
        self,
        X: NDArray[np.float64],
        raced: Race,
        ranked: Ranked,
        classes: NDArray[Any],
        names: NDArray[Any] | None,
        thresholds: NDArray[np.float64] | None,
    ) -> None:
        self._X, self._race, self._ranked = X, raced, ranked
        self._thresholds = None if thresholds is None else thresholds.tolist()
        self._classes = classes
        self._names = None if names is None else [str(name) for name in names]
        self._place = {one: number for number, one in enumerate(raced.candidates)}
        self._known: dict[Candidate, Member] = {}

    def panel(self, members: Sequence[int]) -> Panel:
        """Return the panel of some candidates of the race."""
        return self.panel_of([self._race.candidates[number] for number in members])

    def panel_of(self, candidates: Sequence[Candidate]) -> Panel:
        """Return the panel of some candidates, which need not have been raced."""
        new = [one for one in candidates if one not in self._known]
        fitted = fit_candidates(self._X, self._race.codes, self._race.n_classes, self._ranked, new)
        for one in fitted:
            way = one.candidate
            self._known[way] = Member.of(
                one.fitted,
                one.Z,
                features=one.features,
                scaling=self._ranked.scalings[way.log].restricted(one.features),
                classifier=way.classifier,
                calibration=calibration_of(self._race, self._place[way]),
                selector=way.selector,
            )
        members = [self._known[one] for one in candidates]
        return Panel.of(
            members,
            self._classes,
            self._X.shape[1],
            self._names,
            thresholds=self._thresholds,
        )

    def beside(self, best: Candidate, scores: Scores, size: int) -> dict[str, Panel]:
        """Return what is always scored beside the panel."""
        p = self._X.shape[1]
        found = {
            f"all features: {key}": self.panel_of([Candidate(ALL, p, name, best.log)])
            for key, name in (("chosen", best.classifier), *((name, name) for name in BESIDE))
        }
        filters = [
            number
            for number, one in enumerate(self._race.candidates)
            if one.selector != ALL and ranker_by_name(one.selector).is_filter
        ]
        if filters:
            near = min(self._race.design.sizes, key=lambda one: (abs(one - size), one))
            mine = [c for c in filters if self._race.candidates[c].size == near]
            number = max(mine, key=lambda c: (round(float(scores.score[c]), 12), -c))
            found["filter of the same size"] = self.panel([number])
        return found
