"""What the filters that count levels are given: a discrete table, its target, a correction."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from bitsieve._checks import check_choice, check_number
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import Inputs, refuse_constant
from bitsieve.data.validation import Task, check_target
from bitsieve.discrete import (
    DiscreteTable,
    Discretization,
    Options,
    Variable,
    check_discretization,
    inputs_for,
)

__all__ = ["Correction", "correction_of", "table_and_target", "variable_of_numbers"]

Correction = Literal["miller_madow", "dirichlet"]


def table_and_target(
    X: Any,
    y: Any,
    task: Task | None,
    discretization: Discretization | None,
    n_bins: int,
    missing: str,
    discrete_features: Any,
    n_jobs: int | None,
) -> tuple[DiscreteTable, Variable]:
    """Check X and y, and turn both into levels.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or None
        Classes, or numbers that are cut as the features are: by mean and standard deviation where
        those are cut as ``"auto"`` says.
    task : {"classification", "regression"} or None
    discretization, n_bins, missing, discrete_features, n_jobs
        See :func:`bitsieve.filters.mutual_information`.

    Returns
    -------
    table : DiscreteTable
    target : Variable

    Raises
    ------
    ValueError
        If X or y are unfit, or y is numeric where the method needs classes.
    """
    options = Options(
        method=check_discretization(discretization),
        n_bins=n_bins,
        missing=missing,
        n_threads=effective_n_jobs(n_jobs),
    )
    inputs = inputs_for(
        X, y, options, discrete_features, task=task, target=True, sparse=True, wholes=True
    )
    target = _target(inputs, options)
    return DiscreteTable.of_inputs(inputs, options), target


def _target(inputs: Inputs, options: Options) -> Variable:
    if len(inputs.classes):
        return Variable(inputs.codes, len(inputs.classes))
    return variable_of_numbers(inputs.y, options.method, options.n_bins)


def variable_of_numbers(numbers: Any, method: str | None, n_bins: int) -> Variable:
    """Cut numbers into levels as the features are.

    Raises
    ------
    ValueError
        If they are no numbers, all the same, or no levels where the method is None; if the method
        needs classes.
    """
    y = check_target(numbers, len(numbers), "regression").y
    refuse_constant(y)
    if method == "mdl":
        raise ValueError(
            "discretization='mdl' cuts features by classes, but y is numeric; use 'mean_sd' or "
            "'equal_frequency', or bin y into classes first"
        )
    column = np.asarray(y, dtype=np.float64)[:, None]
    options = Options(method="mean_sd" if method == "auto" else method, n_bins=n_bins)
    inputs = inputs_for(column, None, options, "auto", target=False)
    return DiscreteTable.of_inputs(inputs, options).variable(0)


def correction_of(correction: Any, prior: Any) -> tuple[str, float]:
    """The correction as the core names it, and the weight of the prior, checked."""
    check_choice("correction", correction, (*get_args(Correction), None))
    return correction or "none", check_number(
        "prior", prior, 0, 1e12, closed="right", unit="samples"
    )
