"""What a fitness is asked for, and the whole of what one is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from bitsieve.data import Table
from bitsieve.fitness.describe import describe
from bitsieve.fitness.pipelines import Parts, parts_of
from bitsieve.fitness.splits import FixedSplits, FreshFolds

__all__ = ["FitnessOptions", "Problem"]


@dataclass(frozen=True, eq=False)
class FitnessOptions:
    """Options of :func:`bitsieve.fitness.compile` that are not of the data or the splits.

    Attributes
    ----------
    estimator : scikit-learn estimator
        A clone of the user's, never fitted itself.
    scoring : str, callable or None
    sample_weight : ndarray of shape (n_samples,) or None
    n_jobs : int or None
        As the user gave it; the answer does not depend on it.
    """

    estimator: Any
    scoring: Any = None
    sample_weight: NDArray[Any] | None = None
    n_jobs: int | None = None

    def descriptions(self) -> tuple[str, ...]:
        """Return as text, the same in every process, what the answer depends on.

        Raises
        ------
        ValueError
            If all that is known of an option is its address in memory.
        """
        return tuple(
            describe(option) for option in (self.estimator, self.sample_weight, self.scoring)
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """What a mask is scored on: options, table and splits. A kernel serves it or says why not.

    Attributes
    ----------
    options : FitnessOptions
    table : Table
        With a target; finite unless the estimator takes missing values.
    splits : FreshFolds or FixedSplits
    model : scikit-learn estimator
        The estimator, or of a pipeline of a scaler and a model the model.
    scaler : scikit-learn transformer or None
        That scaler, to be fitted to each training part.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.fitness import compile
    >>> problem = compile(KNeighborsClassifier(1), *load_iris(return_X_y=True), cv=5).problem
    >>> problem.table.n_samples, problem.splits.describe(), problem.options.scoring
    (150, '5-fold', None)
    """

    options: FitnessOptions
    table: Table
    splits: FreshFolds | FixedSplits

    @cached_property
    def parts(self) -> Parts:
        """The estimator taken apart."""
        return parts_of(self.options.estimator)

    @property
    def model(self) -> Any:
        return self.parts.model

    @property
    def scaler(self) -> Any:
        return self.parts.scaler
