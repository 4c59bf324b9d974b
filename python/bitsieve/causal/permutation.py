"""p-values by permutation, for the statistic of another test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import RandomState, check_int, key_of
from bitsieve.causal._compiled import MOST_KEPT, CompiledTest

__all__ = ["PermutationTest"]


class PermutationTest(CompiledTest):
    """The statistic of another test, its p-value by permutation.

    Of the two variables that of the lower position is put into random orders: levels within the
    samples of each stratum of what is given; of a continuous one what is left of it after the
    regression on what is given (Freedman and Lane 1983), which is exact where nothing is given.
    ``p = (1 + hits) / (1 + orders)``, hits being the orders whose statistic is as great. p is
    never less than 1 / (1 + n_permutations): ask for more than 1 / alpha of them.

    Parameters
    ----------
    base : GSquared, ChiSquared or FisherZ
        Whose statistic, dof and reliability are taken. Permutation needs no samples per cell:
        ``min_samples_per_cell=0`` there makes every test reliable.
    n_permutations : int, default 999
    stop_after_hits : int or None, default None
        Stop drawing after so many hits (Besag and Clifford 1991): large p-values cost less and are
        coarser, small ones are the same.
    random_state : int, numpy Generator or RandomState, or None, default 0
        Orders are a function of it, the pair and the set: the same question has the same answer.
    cache_size : int, default 65536
        Results that are remembered, 64 bytes each.

    Attributes
    ----------
    base : GSquared, ChiSquared or FisherZ
    n_samples, n_variables : int
    names : list of str or None
    n_tests : int
        Tests computed so far.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import GSquared
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.integers(0, 2, (2, 40))
    >>> base = GSquared(np.column_stack([x, y, x]), min_samples_per_cell=0)
    >>> test = PermutationTest(base, n_permutations=199)
    >>> test.test(0, 1).p_value > 0.05, round(test.test(0, 2).p_value, 9)
    (True, 0.005)
    """

    def __init__(
        self,
        base: CompiledTest,
        *,
        n_permutations: int = 999,
        stop_after_hits: int | None = None,
        random_state: RandomState = 0,
        cache_size: int = MOST_KEPT,
    ) -> None:
        if not isinstance(base, CompiledTest) or isinstance(base, PermutationTest):
            raise ValueError(f"base must be a GSquared, ChiSquared or FisherZ, got {base!r:.80}")
        self.base = base
        self.n_samples, self.n_variables = base.n_samples, base.n_variables
        self.names = base.names
        self.n_permutations = check_int("n_permutations", n_permutations, 1, 1 << 31)
        self.stop_after_hits = (
            None
            if stop_after_hits is None
            else check_int("stop_after_hits", stop_after_hits, 1, instead="or None")
        )
        self._seed = key_of(random_state)
        self._most_kept = check_int("cache_size", cache_size, 0, 1 << 26)
        self._n_threads = base._n_threads
        self._compiled = self._make()

    def hopeful(
        self, xs: NDArray[np.int64], y: int, given: Sequence[int] = ()
    ) -> NDArray[np.bool_]:
        """Tell of each of xs whether its test with y, given at least a set, may be reliable."""
        return self.base.hopeful(xs, y, given)

    def _make(self) -> _core.IndependenceTest:
        return _core.PermutationTest(
            self.base._compiled,
            n_permutations=self.n_permutations,
            most_hits=self.stop_after_hits or 0,
            seed=self._seed,
            most_kept=self._most_kept,
        )
