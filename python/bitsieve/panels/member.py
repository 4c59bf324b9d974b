"""One predictor of a panel: features, their scaling, a rule and its calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitsieve.panels.calibration import Calibration
from bitsieve.panels.gram import LinearFitted
from bitsieve.panels.neighbors import NeighborsFitted
from bitsieve.panels.rules import LinearRule, NeighborsRule, rule_of
from bitsieve.panels.scaling import Scaling

__all__ = ["Member"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Member:
    """One predictor of a panel.

    Attributes
    ----------
    features : int64 array of shape (n_features,)
        Columns of the table that was fitted, best first.
    scaling : Scaling
        Of these features, in this order.
    classifier : str
        Its name.
    rule : LinearRule or NeighborsRule
    calibration : Calibration
    selector : str
        What chose the features.
    """

    features: NDArray[np.int64]
    scaling: Scaling
    classifier: str
    rule: LinearRule | NeighborsRule
    calibration: Calibration
    selector: str

    @classmethod
    def of(
        cls,
        fitted: LinearFitted | NeighborsFitted,
        Z: Floats,
        *,
        features: NDArray[np.int64],
        scaling: Scaling,
        classifier: str,
        calibration: Calibration,
        selector: str,
    ) -> Member:
        """Make a member of a classifier that was fitted to the Gram matrix of Z.

        Parameters
        ----------
        fitted : LinearFitted or NeighborsFitted
        Z : float64 array of shape (n_samples, n_features)
            The training samples, scaled; columns in the order of `features`.
        features, classifier, calibration, selector
            As the attributes.
        scaling : Scaling
            Of these features.
        """
        return cls(
            np.array(features, dtype=np.int64),
            scaling,
            classifier,
            rule_of(fitted, Z),
            calibration,
            selector,
        )

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.features)

    @property
    def log(self) -> bool:
        """Whether it takes logarithms."""
        return self.scaling.floor is not None
