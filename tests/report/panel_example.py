"""A panel as a job might find it, for the page and the pictures."""

from __future__ import annotations

from typing import Any

from bitsieve.report import ClassRow, Compared, External, PanelFeature, PanelOutcome, Site

HONEST = Compared("panel", "this panel's procedure", 0.941, (0.876, 0.978), (20, 100), inner=0.985)
LIMITS = (
    Compared("limit 10", "at most 10 features", 0.9, (0.82, 0.95), (10, 10), 0.041, (-0.01, 0.09),
             cost=0.04, cost_error=0.02, inner=0.95),
    Compared("limit 50", "at most 50 features", 0.941, (0.85, 0.97), (20, 50), 0.0, (-0.03, 0.03),
             cost=0.0, cost_error=0.01, inner=0.97),
)  # fmt: skip
FULL = Compared(
    "all features: chosen", "all features, same classifier", 0.93, (0.85, 0.97), (12600, 12600),
    0.011, (-0.03, 0.05),
)  # fmt: skip
CHANCE = Compared("chance", "chance, no feature", 0.51, lead=0.431)
CLASSES = (
    ClassRow("Normal", 50, (47, 3), 0.94, (0.83, 0.99), 0.94, (0.84, 0.99)),
    ClassRow("Tumor", 252, (3.5, 248.5), 0.93, (0.83, 0.99), 0.95, (0.84, 0.99)),
)


def outcome(**options: Any) -> PanelOutcome:
    """Return the whole of it, with some of it replaced."""
    found: dict[str, Any] = {
        "source": "singh.npz",
        "scoring": "accuracy",
        "n_samples": 102,
        "n_features_in": 12600,
        "made_by": "linear SVM on the 50 first by the F test",
        "features": tuple(
            PanelFeature(f"g{i}", "Tumor" if i % 2 else "Normal", 10 - i // 5, ("h1 (0.91)",) * i)
            for i in range(20)
        ),
        "inner": 0.985,
        "n_candidates": 345,
        "honest": HONEST,
        "n_folds": 5,
        "n_repeats": 2,
        "folds": "2 x 5 outer folds",
        "chance": 0.51,
        "beats_chance": True,
        "limits": LIMITS,
        "rivals": (FULL, CHANCE),
        "classes": CLASSES,
        "balanced": (0.94, (0.87, 0.98)),
        "auc": (0.975, (0.93, 0.99)),
        "calibration": "Calibration: intercept 0.05, slope 0.84, Brier score 0.061.",
        "stability": ("Two outer folds share 41 % of their features.",),
        "sites": (Site("Boston", 40, 0.9, (0.76, 0.97)), Site("Oslo", 62, 0.95, (0.86, 0.99))),
        "external": External("new.csv", 30, 0.9, (0.73, 0.98)),
        "seed": 7,
        "seconds": 101.0,
    }
    return PanelOutcome(**(found | options))


def without_folds(**options: Any) -> PanelOutcome:
    """Return what is known of it before the outer folds."""
    gone: dict[str, Any] = {
        "honest": None, "limits": (), "rivals": (), "classes": (), "balanced": None, "auc": None,
        "calibration": "", "stability": (), "sites": (), "external": None,
        "features": (PanelFeature("g0", "Tumor"),),
    }  # fmt: skip
    return outcome(**(gone | options))
