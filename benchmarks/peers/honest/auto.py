"""`bitsieve.AutoSelector` as procedures, through its public interface.

A fit knows its panels under every limit (`alternatives_`), so one serves several procedures. The
race is a function of the table and the seed, so the two ways to combine share it.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

from bitsieve import AutoSelector
from bitsieve.selectors import auto as selector_of_panels
from bitsieve.selectors.auto import COMBINE
from honest.folds import Fold
from honest.rivals import Outcome, Procedure, Run

__all__ = ["AUTO"]


def _fits(fold: Fold) -> dict[str, Any]:
    """Fitted selectors by name."""
    part, found, raced = fold.outer, {}, []
    plain = selector_of_panels.run_racing

    def once(*args: Any, **named: Any) -> Any:
        if not raced:
            raced.append(plain(*args, **named))
        return raced[0]

    with patch.object(selector_of_panels, "run_racing", once):
        for combine in ("best", "vote"):
            auto = AutoSelector(combine=combine, n_jobs=1, random_state=fold.seed)
            found[combine] = auto.fit(part.X_train, part.codes)
    stable = AutoSelector(stability="filter", n_jobs=1, random_state=fold.seed)
    found["filter"] = stable.fit(part.X_train, part.codes)
    return found


def _panel(way: str, limit: int | None) -> Run:
    def run(fold: Fold) -> Outcome:
        auto = fold.once("auto", lambda: _fits(fold))[way]
        panel = auto.alternatives_["no limit" if limit is None else f"limit {limit}"]
        features = np.flatnonzero(panel.support)
        kinds = sorted({f"{m.selector} {m.features.size} {m.classifier}" for m in panel.members})
        predicted = np.asarray(panel.predict(fold.outer.X_test))
        return Outcome(predicted, features, {"members": kinds})

    return run


AUTO = [
    Procedure(f"{name}{'' if limit is None else f' <= {limit}'}", _panel(way, limit), 2)
    for name, way in (
        ("auto", COMBINE),
        ("auto best", "best"),
        ("auto vote", "vote"),
        ("auto filter", "filter"),
    )
    for limit in (None, 50, 20, 10)
]
