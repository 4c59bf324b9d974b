"""A contract is a list of clauses, each a small function that raises where it does not hold."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from bitsieve._errors import closest

__all__ = ["Check", "Contract", "expect", "global_generators_untouched", "refused", "same"]

Check: TypeAlias = Callable[[], None]
Given = TypeVar("Given")


def expect(condition: object, message: str) -> None:
    """Raise an AssertionError with a message unless the condition is true."""
    if not condition:
        raise AssertionError(message)


def refused(call: Callable[[], object], what: str) -> str:
    """Return the message of the ValueError that a call must raise.

    Raises
    ------
    AssertionError
        If it raises nothing, or anything else.
    """
    try:
        call()
    except ValueError as error:
        return str(error)
    except Exception as error:
        raise AssertionError(
            f"{what} must raise ValueError, but raised {type(error).__name__}: {error}"
        ) from error
    raise AssertionError(f"{what} must raise ValueError, but was taken")


def same(a: Any, b: Any) -> bool:
    """Whether two answers have the same type and bits, NaN and the sign of zero included."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, float) and isinstance(b, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    return type(a) is type(b) and bool(a == b)


@contextmanager
def global_generators_untouched() -> Iterator[None]:
    """Fail where the body draws from, or seeds, the generators that all code shares."""
    import random

    from numpy import random as shared

    before = pickle.dumps((shared.get_state(), random.getstate()))  # noqa: NPY002
    yield
    after = pickle.dumps((shared.get_state(), random.getstate()))  # noqa: NPY002
    expect(
        before == after,
        "the global generator of numpy.random or random was used or seeded; draw from a seed of "
        "your own",
    )


class Contract(Generic[Given]):
    """The clauses of one contract, in the order in which they were written.

    Parameters
    ----------
    noun : str
        What keeps the contract.
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._clauses: dict[str, Callable[[Given], None]] = {}

    def clause(self, function: Callable[[Given], None]) -> Callable[[Given], None]:
        """Add a clause; its name is that of the function, what it says is its docstring."""
        self._clauses[function.__name__.strip("_")] = function
        return function

    def checks(
        self, given: Given, what: str, skip: Iterable[str] = ()
    ) -> Iterator[tuple[str, Check]]:
        """Yield each clause by name, as a function of no arguments.

        Raises
        ------
        ValueError
            If a name in ``skip`` is that of no clause.
        """
        left_out = {skip} if isinstance(skip, str) else set(skip)
        for name in sorted(left_out - self._clauses.keys()):
            raise ValueError(
                f"the {self._noun} contract has no clause {name!r}: {closest(name, self._clauses)}"
            )
        for name, clause in self._clauses.items():
            if name not in left_out:
                yield name, self._check(name, clause, given, what)

    def _check(self, name: str, clause: Callable[[Given], None], given: Given, what: str) -> Check:
        rule = (clause.__doc__ or "").partition("\n\n")[0]
        rule = " ".join(rule.split()).rstrip(".")

        def check() -> None:
            try:
                clause(given)
            except Exception as error:
                said = str(error)
                if not isinstance(error, AssertionError):
                    said = f"raised {type(error).__name__}: {said}"
                raise AssertionError(
                    f"{what} breaks the clause {name!r} of the {self._noun} contract ({rule}): "
                    f"{said}"
                ) from error

        check.__name__ = check.__qualname__ = name
        check.__doc__ = rule
        return check
