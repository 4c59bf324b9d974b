"""Outer and inner folds: the same for every method, shuffled from the seed or in the file's order.

::

    groups, 3 to 10 of them  -> one left out each (where --outer-folds is not given)
    --no-shuffle             -> scikit-learn's folds in the order of the samples
    anything else            -> drawn from the seed, stratified, of whole groups
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bitsieve.cli.input import check_folds
from bitsieve.data import Table

__all__ = ["Folds", "folds_of", "refuse_folds"]

#: Groups of which one is left out each, rather than folds of several drawn.
MOST_SITES = 10

_USUAL = 5


@dataclass(frozen=True)
class Folds:
    """The folds of a job.

    Attributes
    ----------
    outer, inner : int
        Numbers of folds; 0 for none.
    is_by_site : bool, default False
        Whether each outer fold leaves out one group.
    is_grouped : bool, default False
        Whether folds are of whole groups.
    is_shuffled : bool, default True
        Whether they are drawn from the seed, else in the order of the samples.
    """

    outer: int
    inner: int
    is_by_site: bool = False
    is_grouped: bool = False
    is_shuffled: bool = True

    @property
    def rounds(self) -> int | None:
        """How often outer folds can be drawn: as often as asked for (None), or once."""
        return None if self.is_shuffled and not self.is_by_site else 1

    def options(self, n_repeats: int = 1) -> dict[str, Any]:
        """Return what ``nested_cross_validate`` makes these outer folds of.

        Parameters
        ----------
        n_repeats : int, default 1
            Rounds of them, where they are drawn.

        Examples
        --------
        >>> Folds(5, 5).options()
        {'cv': 5, 'n_repeats': 1}
        >>> Folds(5, 5, is_shuffled=False).options()
        {'cv': 5, 'n_repeats': None}
        """
        if self.is_by_site:
            from sklearn.model_selection import LeaveOneGroupOut

            return {"cv": LeaveOneGroupOut(), "n_repeats": None}
        return {"cv": self.outer, "n_repeats": n_repeats if self.is_shuffled else None}

    def text(self, n_repeats: int = 1) -> str:
        """Say in plain words what the outer folds are.

        Examples
        --------
        >>> Folds(5, 5).text(), Folds(5, 5, is_grouped=True).text(2)
        ('shuffled stratified 5-fold', 'shuffled stratified 2 x 5-fold of whole groups')
        >>> Folds(5, 5, is_shuffled=False).text()
        'stratified 5-fold in the order of the file'
        """
        if not self.outer:
            return "none"
        if self.is_by_site:
            return f"one of {self.outer} groups left out in each outer fold"
        rounds = f"{n_repeats} x " if n_repeats > 1 else ""
        return self._worded(f"{rounds}{self.outer}-fold", is_shuffled=self.is_shuffled)

    def inner_text(self, n_repeats: int = 1, *, is_drawn: bool = False) -> str:
        """Say in plain words what the inner folds are.

        Parameters
        ----------
        n_repeats : int, default 1
        is_drawn : bool, default False
            Whether the method shuffles them whatever is asked for.

        Examples
        --------
        >>> Folds(5, 4, is_shuffled=False).inner_text(10, is_drawn=True)
        'shuffled stratified 10 x 4-fold'
        """
        if not self.inner:
            return ""
        rounds = f"{n_repeats} x " if n_repeats > 1 else ""
        return self._worded(f"{rounds}{self.inner}-fold", is_shuffled=is_drawn or self.is_shuffled)

    def record(self, n_repeats: int, inner_repeats: int, *, is_drawn: bool) -> dict[str, Any]:
        """Return what run.json holds of the folds.

        Parameters
        ----------
        n_repeats, inner_repeats : int
            Rounds of the outer and of the inner ones.
        is_drawn : bool
            As for :meth:`inner_text`.
        """
        kind = f"Stratified{'Group' if self.is_grouped else ''}KFold"
        return {
            "outer_cv": {
                "n_folds": self.outer,
                "n_repeats": n_repeats,
                "splitter": "LeaveOneGroupOut" if self.is_by_site else kind,
                "shuffled": self.is_shuffled and not self.is_by_site,
                "text": self.text(n_repeats),
            },
            "inner_cv": None
            if not self.inner
            else {
                "n_folds": self.inner,
                "n_repeats": inner_repeats,
                "splitter": kind,
                "shuffled": is_drawn or self.is_shuffled,
                "text": self.inner_text(inner_repeats, is_drawn=is_drawn),
            },
        }

    def _worded(self, number: str, *, is_shuffled: bool) -> str:
        kind = "shuffled stratified" if is_shuffled else "stratified"
        whole = " of whole groups" if self.is_grouped else ""
        return f"{kind} {number}{whole}{'' if is_shuffled else ' in the order of the file'}"


def folds_of(
    table: Table,
    *,
    outer: int | None,
    outer_repeats: int | None,
    inner: int | None,
    shuffle: bool,
    scoring: str,
) -> Folds:
    """Return the folds of a job; of few groups, such as sites, one is left out each.

    Parameters
    ----------
    table : Table
        With classes.
    outer, outer_repeats, inner : int or None
        As typed, None where they were not; no inner folds where that is 0.
    shuffle : bool
    scoring : str

    Raises
    ------
    ValueError
        Where the table cannot give such folds, or rounds of them that differ.
    """
    is_by_site = False
    if table.groups is not None and outer is None:
        n_groups = int(table.groups.max()) + 1
        if 3 <= n_groups <= MOST_SITES:
            if outer_repeats is not None and outer_repeats > 1:
                raise ValueError(
                    f"--outer-repeats {outer_repeats} repeats outer folds, which are all the same "
                    f"where one of {n_groups} groups is left out in each: leave it out, or give "
                    "--outer-folds"
                )
            outer, is_by_site = n_groups, True
            inner = min(_USUAL, n_groups - 1) if inner is None else inner
    found = Folds(
        _USUAL if outer is None else outer,
        _USUAL if inner is None else inner,
        is_by_site,
        table.groups is not None,
        shuffle,
    )
    check_folds(table, outer_folds=found.outer, cv=max(found.inner, 1), scoring=scoring)
    return found


def refuse_folds(*, outer: int | None, outer_repeats: int | None, shuffle: bool) -> None:
    """Refuse what no table could make right.

    Raises
    ------
    ValueError
        For a single outer fold, and for rounds of folds that are none or all the same.
    """
    if outer == 1:
        raise ValueError("--outer-folds must be 0 (none) or at least 2, got 1")
    if outer_repeats is None:
        return
    if outer == 0:
        raise ValueError(
            "--outer-repeats repeats outer folds, but --outer-folds 0 asks for none: leave "
            "one of them out"
        )
    if outer_repeats > 1 and not shuffle:
        raise ValueError(
            f"--outer-repeats {outer_repeats} repeats outer folds, which are all the same with "
            "--no-shuffle: leave one of them out"
        )
