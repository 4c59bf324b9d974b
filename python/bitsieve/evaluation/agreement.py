"""How much selections agree: three indices, each beside its value by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from bitsieve._checks import check_choice, check_number
from bitsieve.evaluation.interval import NO_INTERVAL, Interval

__all__ = ["Index", "Sampling", "Stability", "stability"]

Floats = NDArray[np.float64]
Sampling = Literal["overlapping", "independent", "halves", "seeds"]

# Why there is no interval, or what the one that there is speaks of.
_SAID = {
    "overlapping": "No interval: the selections share samples, and so agree in part even on noise.",
    "seeds": "No interval: the samples are the same each time, so it would speak of seeds alone.",
    "independent": "The interval speaks of more subsamples of these samples, not of other samples.",
    "halves": "The interval speaks of more splits of these samples, not of other samples.",
}
_SAME = "No interval: nothing differs between the selections."
_FEW = "No interval: it needs at least two splits."
_UNDEFINED = (
    "All selections are empty or all hold every feature: what is corrected for chance is undefined."
)


class Index(NamedTuple):
    """An index of agreement and what it is expected to be by chance.

    Attributes
    ----------
    value : float
        1 where all selections are the same (less for Lustgarten's); NaN where it is undefined.
    chance : float
        Its expectation where every selection is drawn uniformly and independently of the others,
        with the number of features that it has.
    """

    value: float
    chance: float


@dataclass(frozen=True, repr=False, eq=False)
class Stability:
    """How much selections agree.

    Attributes
    ----------
    nogueira, jaccard, kuncheva : Index
        Each a value and its value by chance.
    interval : Interval
        Confidence interval of Nogueira's index; NaN where there is none, and :attr:`remark` says
        why.
    level : float
        Its level of confidence.
    remark : str
        Why there is no interval, or what it speaks of.
    sampling : {"overlapping", "independent", "halves", "seeds"}
        How the selections came about.
    is_lustgarten : bool
        Whether :attr:`kuncheva` is Lustgarten's form of it, for selections of different sizes.
    frequency : float64 array of shape (n_features,)
        Share of the selections that hold each feature.
    sizes : int64 array of shape (n_selections,)
        Number of features of each selection.
    """

    nogueira: Index
    jaccard: Index
    kuncheva: Index
    interval: Interval
    level: float
    remark: str
    sampling: Sampling
    is_lustgarten: bool
    frequency: Floats = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)

    @property
    def n_selections(self) -> int:
        """Number of selections."""
        return len(self.sizes)

    @property
    def n_features(self) -> int:
        """Number of features that were selected from."""
        return len(self.frequency)

    def line(self) -> str:
        """Return the three indices as one line.

        Returns
        -------
        str
        """
        low, high = self.interval
        span = f"; {100 * self.level:g} % interval {low:.3f} to {high:.3f}"
        kuncheva = "Lustgarten" if self.is_lustgarten else "Kuncheva"
        return (
            f"Nogueira {_shown(self.nogueira, '' if math.isnan(low) else span)}, "
            f"Jaccard {_shown(self.jaccard)}, {kuncheva} {_shown(self.kuncheva)}"
        )

    def text(self) -> str:
        """Return the indices and what is to be known of them.

        Returns
        -------
        str
            Three lines, without a final newline.
        """
        least, most = int(self.sizes.min()), int(self.sizes.max())
        size = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        what = "pairs of halves" if self.sampling == "halves" else "selections"
        number = self.n_selections // 2 if self.sampling == "halves" else self.n_selections
        lines = [f"{number:,} {what}, {size} of {self.n_features:,} features: {self.line()}."]
        if self.is_lustgarten:
            lines.append("The sizes differ: Lustgarten's index stands in Kuncheva's place.")
        return "\n".join([*lines, self.remark])

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by name, as a record holds them.

        Returns
        -------
        dict
        """
        return {
            "sampling": self.sampling,
            "n_selections": self.n_selections,
            "sizes": self.sizes.tolist(),
            "nogueira": self.nogueira._asdict(),
            "nogueira_interval": list(self.interval),
            "level": self.level,
            "jaccard": self.jaccard._asdict(),
            "lustgarten" if self.is_lustgarten else "kuncheva": self.kuncheva._asdict(),
            "remark": self.remark,
        }

    def __repr__(self) -> str:
        return self.text()


def stability(
    supports: ArrayLike, *, sampling: Sampling = "overlapping", level: float = 0.95
) -> Stability:
    """Measure how much selections from the same features agree.

    Nogueira's index is one minus the mean variance of a feature's selection, relative to that of
    selections at random [1]_; with selections of one size it is Kuncheva's [2]_. That one is the
    mean over the pairs of ``(r - k^2 / p) / (k - k^2 / p)`` for two selections of k of p features
    with r in common. Where sizes differ it is undefined, and Lustgarten's form is taken for all
    pairs [3]_: ``(r - k_i k_j / p) / (min(k_i, k_j) - max(0, k_i + k_j - p))``, which stays below 1
    for selections that are the same. Jaccard's is the mean of r over the size of the union.

    Each stands beside its expectation for independent uniform draws of the same sizes, which is
    exact: 0 for Kuncheva's and Lustgarten's, a sum over the hypergeometric distribution of r for
    Jaccard's, and for Nogueira's 0 or, with sizes that differ, slightly less.

    Parameters
    ----------
    supports : bool array-like of shape (n_selections, n_features)
        A row a selection, such as ``NestedResult.supports``.
    sampling : {"overlapping", "independent", "halves", "seeds"}, default "overlapping"
        How the selections came about, which decides about the interval of Nogueira's index.
        "overlapping": of samples that overlap by plan, as the training parts of outer folds do;
        such selections are not independent, and there is no interval. "independent": each of a
        subsample or bootstrap sample that was drawn independently of the others; the interval is
        that of [1]_ (theorem 7 and the corollary after it). "halves": rows 2i and 2i + 1 are of the
        two disjoint halves of split i, and splits were drawn independently; indices are means over
        the splits of the agreement of the two, with a t-interval over the splits. "seeds": of the
        same samples with other seeds; there is no interval.
    level : float, default 0.95
        Level of confidence.

    Returns
    -------
    Stability
        ``.text()`` says it in words. The intervals speak of the samples at hand: of more subsamples
        or splits of them, not of other samples.

    Raises
    ------
    ValueError
        Where supports is no matrix of zeros and ones with at least two rows and a column, a row
        of halves has no partner, or an option is none of those above.

    Notes
    -----
    Two empty selections have a Jaccard index of 1. In Kuncheva's and Lustgarten's index a pair of
    which one selection is empty or holds all features counts as 0 [2]_. Where all selections are
    empty, or all hold every feature, both and Nogueira's are NaN.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis, G. Brown, "On the stability of feature selection algorithms",
       Journal of Machine Learning Research 18(174), 2018.
    .. [2] L. I. Kuncheva, "A stability index for feature selection", Proceedings of the 25th IASTED
       International Multi-Conference on Artificial Intelligence and Applications, 2007.
    .. [3] J. L. Lustgarten, V. Gopalakrishnan, S. Visweswaran, "Measuring stability of feature
       selection in biomedical datasets", AMIA Annual Symposium Proceedings, 2009.

    Examples
    --------
    >>> from bitsieve.evaluation import stability
    >>> found = stability([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0]])
    >>> print(found.text())
    3 selections, 2 of 5 features: Nogueira 0.444 (by chance 0.000),
    Jaccard 0.556 (by chance 0.300), Kuncheva 0.444 (by chance 0.000).
    No interval: the selections share samples, and so agree in part even on noise.
    """
    check_choice("sampling", sampling, get_args(Sampling))
    check_number("level", level, 0, 1, hint="0.95 asks for a 95 % interval")
    chosen = _checked(supports)
    n, p = chosen.shape
    if sampling == "halves" and n % 2:
        raise ValueError(
            f"sampling='halves' takes the two halves of a split in rows 2i and 2i + 1, but "
            f"supports has {n} rows: an even number is expected"
        )
    sizes = chosen.sum(axis=1)
    if sampling == "halves":
        first, second = np.arange(0, n, 2), np.arange(1, n, 2)
    else:
        first, second = np.triu_indices(n, 1)
    a, b = sizes[first], sizes[second]
    # Counts below 2^53 are exact in float64, whatever the order of the sums.
    real = chosen.astype(np.float64)
    common = (real @ real.T)[first, second]
    differs = bool((a != b).any())
    interval, remark = NO_INTERVAL, _SAID[sampling]
    if sampling == "halves":
        nogueira, values = _of_halves(common, a, b, p)
        if len(values) < 2:
            remark = _FEW
        elif np.ptp(values) == 0.0:
            remark = _SAME
        else:
            half = special.stdtrit(len(values) - 1, 0.5 + level / 2.0)
            interval = _around(nogueira.value, half * stats.sem(values), -1.0)
    else:
        nogueira, variance = _nogueira(real)
        if sampling == "independent":
            if (chosen == chosen[0]).all():
                remark = _SAME
            else:
                half = special.ndtri(0.5 + level / 2.0) * math.sqrt(variance)
                interval = _around(nogueira.value, half, -1.0 / (n - 1))
    if math.isnan(nogueira.value):
        interval, remark = NO_INTERVAL, _UNDEFINED
    return Stability(
        nogueira=nogueira,
        jaccard=_jaccard(common, a, b, p),
        kuncheva=_kuncheva(common, a, b, p, differs=differs),
        interval=interval,
        level=level,
        remark=remark,
        sampling=sampling,
        is_lustgarten=differs,
        frequency=chosen.mean(axis=0),
        sizes=sizes,
    )


def _checked(supports: ArrayLike) -> NDArray[np.bool_]:
    given = np.asarray(supports)
    if given.ndim != 2 or given.shape[0] < 2 or given.shape[1] < 1:
        raise ValueError(
            "supports must have a row for each of at least two selections and a column a feature, "
            f"but its shape is {given.shape}"
        )
    if given.dtype != bool:
        if given.dtype.kind not in "iuf" or not np.isin(given, (0, 1)).all():
            raise ValueError(
                "supports must hold True and False, or 1 and 0, for selected and not; lists of "
                "positions become such rows by Masks.from_indices(...).to_bool()"
            )
        given = given.astype(bool)
    out: NDArray[np.bool_] = given
    return out


def _nogueira(z: Floats) -> tuple[Index, float]:
    """Return the index and the variance of it, by definition 4 and theorem 7 of the paper."""
    m, d = z.shape
    frequency, sizes = z.mean(axis=0), z.sum(axis=1)
    share = float(sizes.mean()) / d
    scale = share * (1.0 - share)
    if scale == 0.0:
        return Index(math.nan, math.nan), math.nan
    value = 1.0 - m / (m - 1) * float(np.mean(frequency * (1.0 - frequency))) / scale
    # Draws of k_i features each: E[s_f^2] = share (1 - share) + Var(k_i / d) / m.
    chance = -float(np.var(sizes / d, ddof=1)) / (m * scale)
    each = z @ frequency / d - sizes * share / d
    each += value / 2.0 * (2.0 * sizes * share / d - sizes / d - share + 1.0)
    each /= scale
    variance = 4.0 / m**2 * float(np.sum((each - each.mean()) ** 2))
    return Index(value, chance + 0.0), variance


def _of_halves(common: Floats, a: Any, b: Any, p: int) -> tuple[Index, Floats]:
    """Return the mean of the index over pairs of selections, and that of each pair."""
    share = (a + b) / (2.0 * p)
    scale = share * (1.0 - share)
    kept = scale > 0
    if not kept.any():
        return Index(math.nan, math.nan), np.empty(0)
    values = 1.0 - (a + b - 2.0 * common)[kept] / (2.0 * p) / scale[kept]
    chance = -(((a - b) / p) ** 2 / 4.0)[kept] / scale[kept]
    return Index(float(values.mean()), float(chance.mean()) + 0.0), values


def _jaccard(common: Floats, a: Any, b: Any, p: int) -> Index:
    union = a + b - common
    values = np.divide(common, union, out=np.ones(len(common)), where=union > 0)
    pairs, counts = np.unique(np.sort(np.stack([a, b]), axis=0), axis=1, return_counts=True)
    expected = [_jaccard_by_chance(int(i), int(j), p) for i, j in pairs.T]
    return Index(float(values.mean()), float(np.average(expected, weights=counts)))


def _jaccard_by_chance(a: int, b: int, p: int) -> float:
    """Return E[r / (a + b - r)] where r is the overlap of draws of a and of b of p features."""
    if a == 0 and b == 0:
        return 1.0
    mean = a * b / p
    # By Bernstein's inequality less than 1e-30 of the distribution lies farther out.
    reach = 60.0 + 12.0 * math.sqrt(mean * (p - a) * (p - b) / (p * max(p - 1, 1)))
    low, high = max(0, a + b - p, math.floor(mean - reach)), min(a, b, math.ceil(mean + reach))
    r = np.arange(low, high + 1)
    return float(np.sum(stats.hypergeom.pmf(r, p, a, b) * r / (a + b - r)))


def _kuncheva(common: Floats, a: Any, b: Any, p: int, *, differs: bool) -> Index:
    proper = (a > 0) & (a < p) & (b > 0) & (b < p)
    if not proper.any() and not differs:
        return Index(math.nan, math.nan)
    least = np.maximum(0, a + b - p) if differs else a * b / p
    values = np.zeros(len(common))
    np.divide(common - a * b / p, np.minimum(a, b) - least, out=values, where=proper)
    return Index(float(values.mean()), 0.0)


def _around(value: float, half: float, least: float) -> Interval:
    return Interval(float(max(value - half, least)), float(min(value + half, 1.0)))


def _shown(index: Index, span: str = "") -> str:
    if math.isnan(index.value):
        return "undefined"
    chance = round(index.chance, 4) + 0.0  # no minus before a zero
    digits = 4 if 0.0 < abs(chance) < 0.1 else 3
    return f"{index.value:.3f} (by chance {chance:.{digits}f}{span})"
