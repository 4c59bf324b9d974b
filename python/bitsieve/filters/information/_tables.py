"""Tables of levels as the information kernels count them, dense or sparse, and their targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import check_choice, check_number
from bitsieve._threads import effective_n_jobs
from bitsieve.data import Table
from bitsieve.data.columns import is_sparse
from bitsieve.data.inputs import refuse_constant
from bitsieve.data.validation import Task, check_target
from bitsieve.discrete._levels import Missing, dense_levels, levels_of
from bitsieve.discrete._sparse import sparse_levels

__all__ = [
    "Coded",
    "Correction",
    "Discrete",
    "Discretization",
    "Missing",
    "coded_target",
    "correction_of",
    "discrete_table",
    "table_and_target",
]

Discretization = Literal["auto", "mdl", "equal_width", "equal_frequency", "mean_sd"]
Correction = Literal["miller_madow", "dirichlet"]


@dataclass(frozen=True, eq=False)
class Discrete:
    """A table of levels.

    Attributes
    ----------
    table : _core.DiscreteTable
        Counts its features against any variable.
    y : object
        The target as it came, or that of a Table.
    n_samples, n_features : int
    """

    table: _core.DiscreteTable
    y: Any

    @property
    def n_samples(self) -> int:
        """Rows."""
        return self.table.n_samples

    @property
    def n_features(self) -> int:
        """Columns."""
        return self.table.n_features


@dataclass(frozen=True, eq=False)
class Coded:
    """One variable of levels.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,)
        Int32, from 0 on.
    n_levels : int
    """

    codes: NDArray[np.int32]
    n_levels: int


def discrete_table(
    X: Any,
    y: Any,
    *,
    discretization: Discretization | None,
    n_bins: int,
    missing: str,
    discrete_features: Any,
    n_jobs: int | None,
    cut_cost: str = "samples",
) -> Discrete:
    """Turn X into levels.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or None
    discretization : {"auto", "mdl", "equal_width", "equal_frequency", "mean_sd"} or None
        ``"auto"`` takes columns of few whole numbers as they are and cuts the others as
        ``"mean_sd"`` does.
    n_bins, missing, discrete_features, n_jobs, cut_cost
        See :func:`bitsieve.filters.discretize`.

    Returns
    -------
    Discrete

    Raises
    ------
    ValueError
        As :func:`bitsieve.filters.discretize`.
    """
    known = get_args(Discretization)
    if discretization is not None:
        instead = "or None for columns that hold levels already"
        check_choice("discretization", discretization, known, instead=instead)
    n_threads = effective_n_jobs(n_jobs)
    options: dict[str, Any] = {
        "discretization": discretization,
        "n_bins": n_bins,
        "missing": missing,
        "discrete_features": discrete_features,
        "n_jobs": n_jobs,
        "cut_cost": cut_cost,
    }
    if is_sparse(X):
        return Discrete(sparse_levels(X, y, options).table(n_threads), y)
    levels, y = dense_levels(X, y, **options)
    return Discrete(_core.DiscreteTable(levels.codes, levels.n_levels, n_threads), y)


def coded_target(
    y: Any, n_samples: int, *, task: Task | None, discretization: str | None, n_bins: int
) -> Coded:
    """Codes of classes, or of a numeric target cut into levels.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    n_samples : int
    task : {"classification", "regression"} or None
    discretization : str or None
        How numbers are cut: as the features are, by mean and standard deviation where those are
        cut as ``"auto"`` says.
    n_bins : int

    Returns
    -------
    Coded

    Raises
    ------
    ValueError
        If y is unfit, or numeric where the method needs classes.
    """
    if y is None:
        raise ValueError("y is needed: the labels or numbers to score the features against")
    target = check_target(y, n_samples, task)
    if target.codes is not None and target.classes is not None:
        return Coded(target.codes, len(target.classes))
    refuse_constant(target.y)
    if discretization == "mdl":
        raise ValueError(
            "discretization='mdl' cuts features by classes, but y is numeric; use 'mean_sd' or "
            "'equal_frequency', or bin y into classes first"
        )
    method = "mean_sd" if discretization == "auto" else discretization
    column = np.asarray(target.y, dtype=np.float64)[:, None]
    levels = levels_of(column, None, method, n_bins=n_bins)
    return Coded(levels.codes[:, 0].astype(np.int32), int(levels.n_levels[0]))


def table_and_target(
    X: Any,
    y: Any,
    task: Task | None,
    discretization: Discretization | None,
    n_bins: int,
    missing: str,
    discrete_features: Any,
    n_jobs: int | None,
) -> tuple[Discrete, Coded]:
    """X and y as levels; see :func:`discrete_table` and :func:`coded_target`."""
    if y is None and isinstance(X, Table):
        y, task = X.y, task or X.task
    if y is None:
        raise ValueError("y is needed: the labels or numbers to score the features against")
    how: dict[str, Any] = {"discretization": discretization, "n_bins": n_bins}
    if discretization == "mdl":  # needs classes, and says so in words of its own
        coded_target(y, len(y), task=task, **how)
    found = discrete_table(
        X, y, missing=missing, discrete_features=discrete_features, n_jobs=n_jobs, **how
    )
    target = coded_target(found.y, found.n_samples, task=task, **how)
    return found, target


def correction_of(correction: Any, prior: Any) -> tuple[str, float]:
    """The correction as the core names it, and the weight of the prior, checked."""
    check_choice("correction", correction, (*get_args(Correction), None))
    return correction or "none", check_number(
        "prior", prior, 0, 1e12, closed="right", unit="samples"
    )
