"""How well a selection predicts, measured on samples that it never saw.

::

    selector, estimator, X, y
        |   one clone a fold, seeds drawn and kept
        v
    nested.py    the whole selection repeated inside every outer training part
        |            (folds.py: outer splits that share nothing with their training part;
        |             rows.py: the samples of a fold, of arrays, frames and lists;
        |             tasks.py: what is run in processes; resume.py: finished folds on the disk)
    fold.py      one of them: select, fit, score (support.py: which input columns a fitted
        |            selector, or a pipeline of them, kept)
        |
    predictions.py  what each fold said of each sample that it tested; alternatives.py: and what
        |            the selector's other predictors said
        |
    performance.py, calibration.py  how they tell the classes apart
        |
    scored.py    which interval a score gets: interval.py has the formulas, resampling.py the
        |            bootstrap of the predictions, pairs.py nested cross-validation
        v
    result.py    NestedResult: the numbers, and in words which of them may be published;
                 comparison.py: sentences on the selection beside the others

    a fixed panel, a table from elsewhere -> external.py

    covariates.py   what is known besides the features: as a predictor of its own, and by group

    agreement.py    how much selections agree, beside chance
        ^
    repeats.py      the selection made again on disjoint halves and with other seeds

    correlated.py   features that may stand for a selected one

This room knows selectors only through scikit-learn's interface (``fit``, ``transform``,
``get_support``), so any selector can be evaluated.
"""

from __future__ import annotations

from bitsieve.evaluation.agreement import Index, Stability, stability
from bitsieve.evaluation.alternatives import Alternative
from bitsieve.evaluation.calibration import Calibration, CalibrationBin
from bitsieve.evaluation.comparison import (
    PairedDifference,
    compared,
    cost_of,
    paired_difference,
)
from bitsieve.evaluation.correlated import Substitutes, substitutes
from bitsieve.evaluation.covariates import (
    CovariateCheck,
    GroupRow,
    check_covariates,
    covariates_alone,
    covariates_alternative,
    expected_half_width,
    group_performance,
)
from bitsieve.evaluation.external import ExternalResult, external_result
from bitsieve.evaluation.interval import Interval, corrected_t_interval
from bitsieve.evaluation.nested import nested_cross_validate
from bitsieve.evaluation.performance import ClassPerformance, Measure, class_performance
from bitsieve.evaluation.predictions import Predictions
from bitsieve.evaluation.repeats import SelectionStability, selection_stability
from bitsieve.evaluation.result import NestedResult

__all__ = [
    "Alternative",
    "Calibration",
    "CalibrationBin",
    "ClassPerformance",
    "CovariateCheck",
    "ExternalResult",
    "GroupRow",
    "Index",
    "Interval",
    "Measure",
    "NestedResult",
    "PairedDifference",
    "Predictions",
    "SelectionStability",
    "Stability",
    "Substitutes",
    "check_covariates",
    "class_performance",
    "compared",
    "corrected_t_interval",
    "cost_of",
    "covariates_alone",
    "covariates_alternative",
    "expected_half_width",
    "external_result",
    "group_performance",
    "nested_cross_validate",
    "paired_difference",
    "selection_stability",
    "stability",
    "substitutes",
]
