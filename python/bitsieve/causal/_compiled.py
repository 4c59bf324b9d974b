"""A test of independence that is compiled: what users pass in, what they get out."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve import _core
from bitsieve._checks import check_int, check_number, is_whole
from bitsieve.causal.independence import Independence, IndependenceTest, Separation

__all__ = ["MOST_KEPT", "CompiledTest"]

#: Results that are remembered unless the user says otherwise; 64 bytes each.
MOST_KEPT = 1 << 16

_NONE = np.empty(0, dtype=np.int64)


class CompiledTest(IndependenceTest):
    """A test that the compiled core answers. A fit of data: it never changes."""

    _compiled: _core.IndependenceTest
    _n_threads: int

    @abstractmethod
    def _make(self) -> _core.IndependenceTest:
        """Make the compiled test of what the constructor stored."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_compiled"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._compiled = self._make()

    @property
    def n_tests(self) -> int:
        """Tests computed so far, by all threads; what was remembered is no part of it."""
        return self._compiled.n_computed

    def _position(self, name: str, value: int) -> int:
        if is_whole(value) and 0 <= value < self.n_variables:
            return int(value)
        raise ValueError(
            f"{name} must be the position of a variable, from 0 to {self.n_variables - 1}, "
            f"got {value!r}"
        )

    def _positions(self, name: str, values: ArrayLike) -> NDArray[np.int64]:
        """Return a list of whole numbers; whether they are positions the core says."""
        found = np.asarray(values)
        if found.size == 0:
            return _NONE
        if found.ndim != 1 or found.dtype.kind not in "iu":
            raise ValueError(f"{name} must be a list of positions of variables, got {values!r}")
        return np.ascontiguousarray(found, dtype=np.int64)

    def _explain(self, **variables: Any) -> None:
        """Refuse what the core refused: a variable that is not there, or stands in two places."""
        for name, values in variables.items():
            for value in np.atleast_1d(values).tolist():
                if not 0 <= value < self.n_variables:
                    raise ValueError(
                        f"{name} must hold positions of variables, from 0 to "
                        f"{self.n_variables - 1}, got {value}"
                    )
        self._told_apart(**variables)

    def _told_apart(self, **variables: Any) -> None:
        """Refuse a variable that stands in two places."""
        seen: dict[int, str] = {}
        for name, values in variables.items():
            for value in np.atleast_1d(values).tolist():
                if value in seen:
                    where = f"both {seen[value]} and {name}" if seen[value] != name else name
                    told = f"twice in {name}" if seen[value] == name else f"in {where}"
                    raise ValueError(f"variable {value} stands {told}; each may stand once")
                seen[value] = name

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Independence:
        """Test x and y given a set, in any order of the three.

        Parameters
        ----------
        x, y : int
            Positions of two variables.
        given : sequence of int, default ()
            Positions of what to condition on.

        Returns
        -------
        Independence

        Raises
        ------
        ValueError
            If one of them is not there, or stands twice.
        """
        x, y = self._position("x", x), self._position("y", y)
        some = self._positions("given", given)
        try:
            return Independence(*self._compiled.test(x, y, some))
        except ValueError:
            self._explain(x=x, y=y, given=some)
            raise

    def test_arrays(
        self, xs: ArrayLike, y: int, given: Sequence[int] = ()
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
        """Test each of xs and y given one set; statistic, log p, dof and reliable as arrays."""
        many, y = self._positions("xs", xs), self._position("y", y)
        some = self._positions("given", given)
        try:
            return self._compiled.test_many(many, y, some, self._n_threads)
        except ValueError:
            for x in many.tolist():
                self._explain(xs=x, y=y, given=some)
            self._explain(y=y, given=some)
            raise

    def test_many(
        self, xs: NDArray[np.int64], y: int, given: Sequence[int] = ()
    ) -> list[Independence]:
        """Test each of xs and y given one set, in threads; ``test_arrays`` makes no objects."""
        columns = (column.tolist() for column in self.test_arrays(xs, y, given))
        return [Independence(*one) for one in zip(*columns, strict=True)]

    def separate(
        self,
        x: int,
        y: int,
        pool: Sequence[int],
        *,
        alpha: float,
        max_size: int,
        among: Sequence[int] = (),
        min_size: int = 0,
    ) -> Separation:
        """Look for a subset of a pool that makes x and y independent (p > alpha).

        Subsets go from small to large, those of a size in the lexicographic order of the pool.

        Parameters
        ----------
        x, y : int
            Positions of two variables.
        pool : sequence of int
            Positions of what subsets are made of.
        alpha : float
            In (0, 1).
        max_size, min_size : int
            Of the subsets, ``among`` included.
        among : sequence of int, default ()
            Every subset holds all of these, which are no part of pool.

        Returns
        -------
        Separation

        Raises
        ------
        ValueError
            If a variable is not there or stands twice, or a number is out of its range.
        """
        x, y = self._position("x", x), self._position("y", y)
        some, fixed = self._positions("pool", pool), self._positions("among", among)
        level = math.log(check_number("alpha", alpha, 0, 1))
        sizes = {
            "min_size": min(check_int("min_size", min_size, 0), self.n_variables),
            "max_size": min(check_int("max_size", max_size, 0), self.n_variables),
        }
        try:
            found, weakest, given, n_tests = self._compiled.separate(
                x, y, some, fixed, log_alpha=level, **sizes
            )
        except ValueError:
            self._explain(x=x, y=y, pool=some, among=fixed)
            raise
        weakest_given = tuple(given)
        test = Independence(*weakest)
        if not test.reliable:
            test = Independence(np.inf, 0.0, 0, False)
        return Separation(weakest_given if found else None, test, weakest_given, n_tests)
