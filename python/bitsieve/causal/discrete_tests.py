"""G-squared and Pearson's chi-squared test of discrete variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import check_int, check_number
from bitsieve._threads import effective_n_jobs
from bitsieve.causal._compiled import MOST_KEPT, CompiledTest
from bitsieve.discrete import MAX_LEVELS, DiscreteTable

__all__ = ["ChiSquared", "GSquared"]


class _DiscreteTest(CompiledTest):
    _STATISTIC: ClassVar[str]

    def __init__(
        self,
        codes: Any,
        *,
        min_samples_per_cell: float = 5.0,
        cache_size: int = MOST_KEPT,
        n_jobs: int | None = None,
    ) -> None:
        if not isinstance(codes, DiscreteTable):
            codes = DiscreteTable.of(codes, discretization=None, max_levels=MAX_LEVELS)
        self.table = codes
        self.n_samples, self.n_variables = codes.n_samples, codes.n_features
        self.names = codes.names
        self.min_samples_per_cell = check_number(
            "min_samples_per_cell", min_samples_per_cell, 0, closed="left"
        )
        self._most_kept = check_int("cache_size", cache_size, 0, 1 << 26)
        self._n_threads = effective_n_jobs(n_jobs)
        self._compiled = self._make()

    def _make(self) -> _core.IndependenceTest:
        return _core.DiscreteTest(
            self.table.core,
            statistic=self._STATISTIC,
            min_samples_per_cell=self.min_samples_per_cell,
            most_kept=self._most_kept,
        )

    def hopeful(
        self, xs: NDArray[np.int64], y: int, given: Sequence[int] = ()
    ) -> NDArray[np.bool_]:
        """Tell of each of xs whether its test with y, given at least a set, may be reliable."""
        levels = self.table.n_levels
        cells = levels[xs].astype(np.float64)
        for z in (y, *given):
            cells *= float(levels[z])
        return np.asarray(self.n_samples >= self.min_samples_per_cell * cells)


class GSquared(_DiscreteTest):
    """G-squared, the likelihood ratio test, of discrete variables.

    Twice the samples times their conditional mutual information in nats. Degrees of freedom are
    (rows - 1) (columns - 1) of each stratum (combination of levels of what is given), where rows
    and columns without samples in it do not count.

    Parameters
    ----------
    codes : DiscreteTable, or array-like or DataFrame of shape (n_samples, n_variables)
        Levels, up to 255 a variable: whole numbers; in a data frame also text and categories.
    min_samples_per_cell : float, default 5.0
        A test of fewer samples than this times the cells of its table (the product of all
        levels, those of what is given too) is not reliable (Tsamardinos et al. 2003).
    cache_size : int, default 65536
        Results that are remembered, 64 bytes each.
    n_jobs : int or None, default None
        Threads of ``test_many``.

    Attributes
    ----------
    table : DiscreteTable
    n_samples, n_variables : int
    names : list of str or None
    n_tests : int
        Tests computed so far.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.integers(0, 2, 1000)
    >>> noise = rng.integers(0, 10, (2, 1000)) == 0
    >>> test = GSquared(np.column_stack([cause, cause ^ noise[0], cause ^ noise[1]]))
    >>> test.test(1, 2).p_value < 1e-9, test.test(1, 2, [0]).p_value > 0.05
    (True, True)
    >>> test.separate(1, 2, pool=[0], alpha=0.01, max_size=3).separator
    (0,)
    """

    _STATISTIC = "g_squared"


class ChiSquared(_DiscreteTest):
    """Pearson's chi-squared test of discrete variables.

    The sum of (count - expected)^2 / expected over the cells of each stratum. Degrees of freedom
    and what is reliable are those of :class:`GSquared`.

    Parameters
    ----------
    codes : DiscreteTable, or array-like or DataFrame of shape (n_samples, n_variables)
        Levels, up to 255 a variable: whole numbers; in a data frame also text and categories.
    min_samples_per_cell : float, default 5.0
        A test of fewer samples than this times the cells of its table is not reliable.
    cache_size : int, default 65536
        Results that are remembered, 64 bytes each.
    n_jobs : int or None, default None
        Threads of ``test_many``.

    Attributes
    ----------
    table : DiscreteTable
    n_samples, n_variables : int
    names : list of str or None
    n_tests : int
        Tests computed so far.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat([0, 0, 1, 1], [30, 10, 10, 30])
    >>> y = np.repeat([0, 1, 0, 1], [30, 10, 10, 30])
    >>> ChiSquared(np.column_stack([x, y])).test(0, 1).statistic
    20.0
    """

    _STATISTIC = "chi_squared"
