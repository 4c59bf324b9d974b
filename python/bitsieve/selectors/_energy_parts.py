"""What an energy of a set of features is made of: rankings, errors and blankets of some samples.

::

    X, codes --> eight rankings ------------------------\\
             --> errors of features and of pairs --------> EnergyParts --energy(terms)--> Energy
             --> test of independence --> both blankets -/
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from bitsieve import fitness as fitness_room
from bitsieve._checks import check_int, is_whole
from bitsieve.causal import Energy, FitnessPairErrors, LocalBlanket, PairErrors, Terms
from bitsieve.causal.kept_errors import ErrorsOfPairs, KeptErrors
from bitsieve.causal.markov import markov_blanket
from bitsieve.filters.aggregation import positions_of
from bitsieve.filters.named import N_GREEDY
from bitsieve.panels import Scaling
from bitsieve.panels.elimination import SHARE, elimination_order, sizes_of_steps
from bitsieve.selectors._rankers import name_of, rank_with, resolve

__all__ = ["RANKERS", "EnergyParts", "make_splits", "svm_rfe"]

Codes = NDArray[np.int32]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def svm_rfe(X: Any, y: Any) -> NDArray[np.float64]:
    """Rank by recursive elimination with a linear support vector machine on standardised features.

    Its loss is the hinge, or with more samples than features the squared hinge.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Class codes.

    Returns
    -------
    ndarray of shape (n_features,)
        Float64, greater for features that stay longer.
    """
    Z = Scaling.fit(X, log="never").apply(X)
    order = elimination_order(Z, y) if len(Z) <= Z.shape[1] else _primal_order(Z, y)
    scores = np.empty(len(order))
    scores[order] = np.arange(len(order))[::-1]
    return scores


def _primal_order(Z: NDArray[np.float64], y: Any) -> NDArray[np.int64]:
    """Elimination where samples outnumber features and Gram matrices are no short way."""
    order = np.empty(Z.shape[1], dtype=np.int64)
    left = np.arange(Z.shape[1])
    for size in sizes_of_steps(Z.shape[1], SHARE):
        machine = LinearSVC(dual=False, random_state=0).fit(Z[:, left], y)
        ranked = np.argsort(-np.square(machine.coef_).sum(axis=0), kind="stable")
        order[size : len(left)] = left[ranked[size:]]
        left = np.sort(left[ranked[:size]])
    return order


#: Table 1 of the paper. Student's t, F and Pearson's correlation rank two classes alike.
RANKERS: tuple[Any, ...] = ("s2n", "gs", "relief", svm_rfe, "auc", "f", "t", "pearson")


def make_splits(cv: Any, X: Any, codes: Codes, key: int) -> list[Split]:
    """Return stratified folds, shuffled, or those that a splitter or a list gives.

    Raises
    ------
    ValueError
        If that is no cross-validation, or there are more folds than samples of the largest class.
    """
    if isinstance(cv, (bool, np.bool_, str, float)):
        raise ValueError(
            f"cv must be a whole number from 2 on, a splitter or a list of splits, got {cv!r}"
        )
    if is_whole(cv) or cv is None:
        n_folds = 5 if cv is None else check_int("cv", cv, 2)
        most = int(np.bincount(codes).max())
        if n_folds > most:
            raise ValueError(f"cv={n_folds} is more than the largest class has samples, {most}")
        splitter: Any = StratifiedKFold(n_folds, shuffle=True, random_state=key % 2**32)
    else:
        splitter = check_cv(cv, codes, classifier=True)
    found = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, codes)]
    if not found:
        raise ValueError("cv has no folds: an empty list, or an iterator that was used up before")
    return found


@dataclass(frozen=True)
class EnergyParts:
    """Everything that the energies of some samples share, whatever their terms.

    Attributes
    ----------
    positions : ndarray of shape (n_rankers, n_features)
    ranker_names : list of str
    errors : ErrorsOfPairs
    n_samples : int
    blanket : tuple of int
        Features in the target's blanket among all; empty where no term asks for it.
    local : LocalBlanket or None
    is_compiled : bool
        Whether errors come from a kernel, and not from scikit-learn pair by pair.
    """

    positions: NDArray[np.float64]
    ranker_names: list[str]
    errors: ErrorsOfPairs
    n_samples: int
    blanket: tuple[int, ...]
    local: LocalBlanket | None
    is_compiled: bool

    @classmethod
    def of(
        cls, X: NDArray[np.float64], codes: Codes, *, rankers: Sequence[Any], estimator: Any,
        splits: list[Split], blanket: Any, with_blankets: bool, key: int, n_jobs: int | None,
    ) -> EnergyParts:  # fmt: skip
        """Compute them.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        codes : ndarray of shape (n_samples,)
        rankers : sequence
            What :func:`bitsieve.selectors._rankers.resolve` takes.
        estimator : scikit-learn classifier
        splits : list of (train, test)
            Of the errors.
        blanket : MarkovBlanket
            Its parameters are what both blankets are searched by.
        with_blankets : bool
        key : int
            Seed of rankers.
        n_jobs : int or None
        """
        n_features = X.shape[1]
        keys = np.empty((len(rankers), n_features))
        found = [resolve(ranker) for ranker in rankers]
        for i, ranker in enumerate(found):
            keys[i] = rank_with(
                ranker, X, codes, n_features=n_features, n_greedy=min(n_features, N_GREEDY),
                n_jobs=n_jobs, key=key,
            ).keys  # fmt: skip
        keys[np.isnan(keys).all(axis=1)] = 0.0  # who ranks no feature tells none apart
        global_blanket: tuple[int, ...] = ()
        local = None
        if with_blankets:
            maker = clone(blanket)
            if maker.n_jobs is None:
                maker.set_params(n_jobs=n_jobs)
            test, options = maker._make_test(X, codes), maker._options()
            global_blanket = markov_blanket(test, n_features, n_jobs=n_jobs, **options).members
            local = LocalBlanket(test, n_features, **options)
        errors = _errors(X, codes, estimator, splits, n_jobs)
        return cls(
            positions_of(keys, given="rankings"),
            [name_of(ranker) for ranker in found],
            KeptErrors(errors),
            len(X),
            global_blanket,
            local,
            is_compiled=isinstance(errors, PairErrors) or errors.fitness.kernel is not None,
        )

    def energy(self, terms: Terms) -> Energy:
        """Return the energy with given terms."""
        return Energy(
            self.positions,
            self.errors,
            n_samples=self.n_samples,
            global_blanket=self.blanket,
            terms=terms,
        )


def _errors(
    X: NDArray[np.float64], codes: Codes, estimator: Any, splits: list[Split], n_jobs: int | None
) -> PairErrors | FitnessPairErrors:
    """Errors by the kernel of all pairs where it serves, else by any compiled or other fitness."""
    if type(estimator) is GaussianNB and estimator.priors is None and estimator.var_smoothing > 0:
        tested = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(X))
        if not (tested == 1).all():
            raise ValueError(
                "cv must test each sample once, as KFold and StratifiedKFold do: the errors of "
                "GaussianNB are counted over all samples"
            )
        return PairErrors(
            X, codes, splits=splits, var_smoothing=estimator.var_smoothing, n_jobs=n_jobs
        )
    return FitnessPairErrors(
        fitness_room.compile(
            estimator, X, codes, scoring="balanced_accuracy", cv=splits, n_jobs=n_jobs
        )
    )
