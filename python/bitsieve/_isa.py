"""Which instruction set the compiled loops use."""

from __future__ import annotations

from bitsieve import _core


def available_isas() -> list[str]:
    """Return the instruction sets of this build that the processor has, lowest first.

    Returns
    -------
    list of str
        Some of ``"baseline"``, ``"avx2"``, ``"avx512"``.

    Examples
    --------
    >>> import bitsieve
    >>> bitsieve.available_isas()[0]
    'baseline'
    """
    return _core.available_isas()


def get_isa() -> str:
    """Return the instruction set in use: the best there is, unless chosen otherwise.

    Returns
    -------
    str
        One of :func:`available_isas`.

    Examples
    --------
    >>> import bitsieve
    >>> bitsieve.get_isa() in bitsieve.available_isas()
    True
    """
    return _core.get_isa()


def set_isa(name: str) -> None:
    """Choose the instruction set of the compiled loops, for tests and comparisons.

    Results are the same on every one of them. The environment variable ``BITSIEVE_ISA`` chooses
    at start-up.

    Parameters
    ----------
    name : str
        One of :func:`available_isas`.

    Raises
    ------
    ValueError
        If this processor or build does not have it.

    Examples
    --------
    >>> import bitsieve
    >>> before = bitsieve.get_isa()
    >>> bitsieve.set_isa("baseline")
    >>> bitsieve.set_isa(before)
    """
    if not isinstance(name, str):
        raise ValueError(
            f"name must be one of {', '.join(map(repr, available_isas()))}, got {name!r}"
        )
    _core.set_isa(name)
