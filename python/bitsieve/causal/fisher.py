"""Fisher's z of partial correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitsieve import _core
from bitsieve._threads import effective_n_jobs
from bitsieve.causal._compiled import CompiledTest
from bitsieve.data.inputs import check_input

__all__ = ["FisherZ"]

_MOST_BYTES = 1 << 28


class FisherZ(CompiledTest):
    """Fisher's z of partial correlations, two-sided, of continuous variables.

    The statistic is ``sqrt(n - n_given - 3) |atanh(r)|`` with r the correlation of what is left of
    x and y after a regression on what is given; n - n_given - 3 stands for ``dof`` and must be at
    least 1, else the test is not reliable. Where the given explain x or y (but for 1e-10 of its
    variance), nothing is left and p is 1: so it is of duplicates, of deterministic relations and
    of constant variables. A given variable that the others explain changes the dof alone.

    Correlations are computed when a test needs them, in float64, never a matrix of all variables.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_variables)
        Finite numbers.
    n_jobs : int or None, default None
        Threads of ``test_many``.

    Attributes
    ----------
    n_samples, n_variables : int
    names : list of str or None
    n_tests : int
        Tests computed so far.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> cause, *noise = rng.normal(size=(3, 500))
    >>> test = FisherZ(np.column_stack([cause, cause + noise[0], cause + noise[1]]))
    >>> test.test(1, 2).p_value < 1e-9, test.test(1, 2, [0]).p_value > 0.05
    (True, True)
    >>> test.separate(1, 2, pool=[0], alpha=0.01, max_size=3).separator
    (0,)
    """

    def __init__(self, X: Any, *, n_jobs: int | None = None) -> None:
        inputs = check_input(X, target=False)
        self.X = np.ascontiguousarray(inputs.X, dtype=np.float64)
        self.n_samples, self.n_variables = self.X.shape
        self.names = inputs.names
        self._n_threads = effective_n_jobs(n_jobs)
        self._compiled = self._make()

    def _make(self) -> _core.IndependenceTest:
        return _core.FisherTest(
            self.X, most_kept=0, most_bytes=_MOST_BYTES, n_threads=self._n_threads
        )
