"""The least and the greatest size of the subsets that a search asks for."""

from __future__ import annotations

from bitsieve._checks import check_int

__all__ = ["size_range"]


def size_range(n_features: int, min_size: int, max_size: int | None) -> tuple[int, int]:
    """Return the least and the greatest size, None for the greatest meaning all features.

    Raises
    ------
    ValueError
        If they are no range of sizes from 1 on.

    Examples
    --------
    >>> size_range(5, 2, None), size_range(5, 2, 3)
    ((2, 5), (2, 3))
    """
    most = n_features if max_size is None else check_int("max_size", max_size, 1)
    least = check_int("min_size", min_size, 1)
    if not least <= most <= n_features:
        raise ValueError(
            f"sizes must be 1 <= min_size <= max_size <= {n_features} features, got "
            f"min_size={least} and max_size={most}"
        )
    return least, most
