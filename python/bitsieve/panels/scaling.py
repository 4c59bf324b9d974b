"""Values as rankers and classifiers take them: logged where they are intensities, standardised.

What is learnt here (the floor, the centres, the scales) is learnt on training samples and applied
to any. Applying computes each number by itself: a sample has the same bits in whatever batch it
comes, a feature whichever others stand beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_choice

__all__ = ["Log", "Scaling", "log_floor"]

Floats = NDArray[np.float64]
Log = Literal["auto", "always", "never"]

#: Values that quantiles are taken from: every so-manyth feature, all samples.
_ENOUGH = 1 << 18
#: Features from which a table is taken to have one unit.
_WIDE = 1000


def log_floor(X: ArrayLike) -> float | None:
    """Tell whether a table holds raw intensities or counts, and the floor of their logarithms.

    With q the 99th percentile of all values, it does where q is above 100 and above 8 times the
    median, the greatest value is well above q (pixels end at 255), less than half of the values
    are negative, and the features share a unit: there are 1,000 or more, or 85 % of them reach the
    floor. Measurements of microarrays and sequencers before any logarithm pass; logged ones,
    ratios, pictures, levels and tables with a unit a column do not.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training samples alone; finite.

    Returns
    -------
    float or None
        The floor, q / 100: what is below it is noise, and is raised to it before the logarithm.
        None: take values as they are.

    Examples
    --------
    >>> import numpy as np
    >>> raw = np.random.default_rng(0).lognormal(5, 2, size=(20, 1000))
    >>> round(log_floor(raw))
    151
    >>> log_floor(np.log2(raw)) is None
    True
    """
    values = _some(np.asarray(X, dtype=np.float64))
    if values.size == 0:
        return None
    median, high = _quantiles(values)
    floor = high / 100
    if not (high > 100.0 and high > 8.0 * max(median, 1.0)):
        return None
    tops = values.max(axis=0)
    if tops.max() <= 1.25 * high or (values < 0.0).mean() >= 0.5:
        return None
    one_unit = np.shape(X)[1] >= _WIDE or (tops > floor).mean() >= 0.85
    return floor if one_unit else None


@dataclass(frozen=True, eq=False)
class Scaling:
    """Logarithm or not, then centre and scale of each feature.

    A value x becomes ``(v - center) / scale`` with v = x, or ``log2(max(x, floor))``, and is cut
    at 20 on either side, so that one wild value rules no sum of squares.

    Attributes
    ----------
    floor : float or None
        From where on logarithms are taken; None: values are taken as they are.
    center, scale : ndarray of shape (n_features,)
        Float64: mean and standard deviation (with n) of the training samples. A feature that is
        constant there has its value as centre and the scale 1.

    Examples
    --------
    >>> scaling = Scaling.fit([[1.0, 5.0], [3.0, 5.0]])
    >>> scaling.apply([[2.0, 5.0], [5.0, 7.0]])
    array([[0., 0.],
           [3., 2.]])
    """

    floor: float | None
    center: Floats
    scale: Floats

    CLIP: ClassVar[float] = 20.0

    @classmethod
    def fit(cls, X: ArrayLike, *, log: Log = "auto") -> Scaling:
        """Learn a scaling from training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        log : {"auto", "always", "never"}, default "auto"
            Whether to take logarithms; by default :func:`log_floor` decides.

        Returns
        -------
        Scaling

        Raises
        ------
        ValueError
            If `log` is another word, or is "always" where the values are mostly not positive.
        """
        return cls.fit_apply(X, log=log)[0]

    @classmethod
    def fit_apply(cls, X: ArrayLike, *, log: Log = "auto") -> tuple[Scaling, Floats]:
        """Learn a scaling and apply it to the same samples, at little more than the cost of one.

        Parameters and errors are those of :meth:`fit`.

        Returns
        -------
        scaling : Scaling
        Z : ndarray of shape (n_samples, n_features)
            What ``scaling.apply(X)`` returns, in every bit.
        """
        check_choice("log", log, get_args(Log))
        table = np.asarray(X, dtype=np.float64)
        floor = _floor(table, log)
        values = _logged(table, floor)
        n = len(values)
        center = values.mean(axis=0)
        values -= center
        variance = np.einsum("ij,ij->j", values, values) / n
        # Rounding alone makes so much of a constant, as scikit-learn's StandardScaler has it.
        eps = np.finfo(np.float64).eps
        still = variance <= n * eps * variance + (n * center * eps) ** 2
        scale = np.sqrt(variance)
        scale[still] = 1.0
        if still.any():
            center[still] = _logged(table[:1, still], floor)[0]
            values[:, still] = _logged(table[:, still], floor) - center[still]
        scaling = cls(floor, center, scale)
        return scaling, scaling._finished(values)

    def apply(self, X: ArrayLike) -> Floats:
        """Scale samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Float64, C-ordered.

        Raises
        ------
        ValueError
            If X has another number of features.
        """
        table = np.asarray(X, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != len(self.center):
            raise ValueError(
                f"X must have the {len(self.center)} features that the scaling was learnt on, got "
                f"an array of shape {table.shape}"
            )
        values = _logged(table, self.floor)
        values -= self.center
        return self._finished(values)

    def restricted(self, features: ArrayLike) -> Scaling:
        """Return the scaling of some of the features, in the order given.

        Parameters
        ----------
        features : array-like of int
            Positions.

        Returns
        -------
        Scaling
        """
        chosen = np.asarray(features, dtype=np.int64)
        return Scaling(self.floor, self.center[chosen], self.scale[chosen])

    def _finished(self, centred: Floats) -> Floats:
        centred /= self.scale
        return np.clip(centred, -self.CLIP, self.CLIP, out=centred)


def _floor(table: Floats, log: str) -> float | None:
    if log == "never":
        return None
    if log == "auto":
        return log_floor(table)
    high = _quantiles(_some(table))[1]
    if not high > 0.0:
        raise ValueError(
            f"log='always' needs positive values, but 99 % of those of X are at most {high:.6g}; "
            "pass log='never'"
        )
    return float(high / 100)


def _logged(table: Floats, floor: float | None) -> Floats:
    """Return a new array in C order: elements of one in another order may be rounded otherwise."""
    if floor is None:
        return np.array(table, dtype=np.float64, order="C")
    values = np.maximum(table, floor, order="C")
    return np.log2(values, out=values)


def _some(table: Floats) -> Floats:
    return table[:, :: max(1, table.size // _ENOUGH)]


def _quantiles(values: Floats) -> tuple[float, float]:
    """Return the median and the 99th percentile, each a value that occurs."""
    flat = values.ravel()
    at = (flat.size // 2, min(flat.size - 1, (flat.size * 99) // 100))
    ordered = np.partition(flat, at)
    return float(ordered[at[0]]), float(ordered[at[1]])
