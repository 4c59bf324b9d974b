"""Clauses of the filter contract."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve.testing._contract import (
    Contract,
    expect,
    global_generators_untouched,
    refused,
    same,
)
from bitsieve.testing._draws import normals, order, table

__all__ = ["CONTRACT", "Given", "Target"]

Array = NDArray[Any]
Target = Literal["classes", "numbers", "either", "none"]
_N_SAMPLES, _N_FEATURES = 90, 14
_RTOL, _ATOL = 1e-9, 1e-11


@dataclass(frozen=True, eq=False)
class Given:
    function: Callable[..., Any]
    target: Target
    n_classes: int
    greedy: bool
    p_values: bool
    positive: bool
    missing: bool
    categories: bool
    sparse: bool

    def cases(self) -> Iterator[tuple[str, Array, Any]]:
        """Tables with each kind of target that is taken: what it is, X, y."""
        X, codes = table(_N_SAMPLES, _N_FEATURES, self.n_classes)
        X = np.exp(X).astype(np.float32).astype(np.float64) if self.positive else X
        if self.target in ("classes", "either"):
            yield f"{self.n_classes} classes", X, codes
        if self.target in ("numbers", "either"):
            yield "numbers", X, 2.0 * X[:, 0] - X[:, 3] + normals(8, _N_SAMPLES)
        if self.target == "none":
            yield "no target", X, None

    def takes(self, option: str) -> bool:
        return option in inspect.signature(self.function).parameters

    def answer(self, X: Any, y: Any, **options: Any) -> Array:
        """Scores of all features; of a greedy filter the step of each, greater for earlier ones."""
        found = self.function(X, y, **options)
        if not self.greedy:
            return np.asarray(found)
        n_features = X.n_features if hasattr(X, "n_features") else np.shape(X)[1]
        steps = np.zeros(n_features)
        steps[np.asarray(found)] = np.arange(len(found), 0, -1.0)
        return steps


CONTRACT: Contract[Given] = Contract("filter")


# -- what the clauses share ------------------------------------------------------------------------


def _close(got: Array, wanted: Array, when: str) -> None:
    expect(got.shape == wanted.shape, f"{when} there are {got.shape} scores, not {wanted.shape}")
    off = np.flatnonzero(~np.isclose(got, wanted, equal_nan=True, rtol=_RTOL, atol=_ATOL))
    if off.size:
        f = int(off[0])
        raise AssertionError(
            f"{when} feature {f} has the score {got[f]!r}, not {wanted[f]!r} ({off.size} differ)"
        )


def _same_up_to_ties(given: Given, X: Array, y: Any, shuffled: Array, when: str) -> None:
    """A greedy filter takes the same features up to a step where two are worth the same."""
    wanted, values = given.function(X, y, return_scores=True)
    found, other_values = given.function(X[:, shuffled], y, return_scores=True)
    found = shuffled[found]
    parted = np.flatnonzero(found != wanted) if len(found) == len(wanted) else [0]
    for step in parted[:1]:
        expect(
            np.isclose(values[step], other_values[step], rtol=_RTOL, atol=_ATOL),
            f"{when} step {step} takes {found[step]}, worth {other_values[step]!r}, and not "
            f"{wanted[step]}, worth {values[step]!r}",
        )


def _same_bits(got: Array, wanted: Array, when: str) -> None:
    if not same(got, wanted):
        _close(got, wanted, when)
        raise AssertionError(f"{when} scores differ in their last bits")


# -- clauses ---------------------------------------------------------------------------------------


@CONTRACT.clause
def _one_score_a_feature(given: Given) -> None:
    """the answer is one finite float64 a feature; a greedy one's an order without repeats"""
    for kind, X, y in given.cases():
        for columns in (slice(None), slice(0, 1)):
            part = X[:, columns]
            p = part.shape[1]
            found = given.function(part, y)
            when = f"{p} features with {kind} gave {found!r:.80},"
            expect(isinstance(found, np.ndarray), f"{when} no array")
            if given.greedy:
                expect(found.ndim == 1 and found.dtype == np.int64, f"{when} no int64 order")
                inside = np.all((found >= 0) & (found < p))
                expect(
                    inside and len(set(found.tolist())) == len(found), f"{when} no distinct ones"
                )
                taken, values = given.function(part, y, return_scores=True)
                expect(same(taken, found), f"{when} but with return_scores {taken!r}")
                fits = values.dtype == np.float64 and values.shape == taken.shape
                expect(fits and np.isfinite(values).all(), f"{when} but scores {values!r:.80}")
            else:
                fits = found.dtype == np.float64 and found.shape == (p,)
                expect(fits and np.isfinite(found).all(), f"{when} not float64 and finite")


@CONTRACT.clause
def _same_every_time(given: Given) -> None:
    """the same input gives the same bits"""
    for kind, X, y in given.cases():
        first = given.answer(X, y)
        given.answer(X[::-1], None if y is None else y[::-1])
        _same_bits(given.answer(X, y), first, f"asked again with {kind},")


@CONTRACT.clause
def _greater_is_better(given: Given) -> None:
    """a feature that is the target scores at least as high as noise"""
    for kind, X, y in given.cases():
        if y is None:
            continue
        noise = normals(9, len(X), 8)
        if given.positive:
            noise = 1.0 / (1.0 + np.exp(noise))  # in the unit of the classes
        scores = given.answer(np.insert(noise, 3, y, axis=1), y)
        expect(
            scores[3] == np.max(scores) and not np.isnan(scores).any(),
            f"with {kind} the target itself scores {scores[3]}, noise up to "
            f"{np.delete(scores, 3).max()}",
        )


@CONTRACT.clause
def _constant_features_are_last(given: Given) -> None:
    """a constant feature gets the least score or 0; a greedy filter does not take it first"""
    for kind, X, y in given.cases():
        for value in (0.0, 3.5):
            scores = given.answer(np.insert(X, 4, value, axis=1), y)
            others = np.delete(scores, 4)
            if given.greedy:
                expect(scores[4] < scores.max(), f"with {kind} a constant feature is taken first")
                continue
            expect(
                scores[4] <= others.min() or scores[4] == 0.0,
                f"with {kind} a feature that is {value} throughout scores {scores[4]}, the least "
                f"of the others {others.min()}",
            )


@CONTRACT.clause
def _threads(given: Given) -> None:
    """the number of threads does not show in any bit"""
    if not given.takes("n_jobs"):
        return
    for kind, X, y in given.cases():
        first = given.answer(X, y, n_jobs=1)
        for n_jobs in (2, 3):
            _same_bits(given.answer(X, y, n_jobs=n_jobs), first, f"{kind}, n_jobs={n_jobs}:")


@CONTRACT.clause
def _instruction_sets(given: Given) -> None:
    """every instruction set gives the same bits"""
    from bitsieve._isa import available_isas, get_isa, set_isa

    before = get_isa()
    try:
        for kind, X, y in given.cases():
            set_isa(before)
            first = given.answer(X, y)
            for name in available_isas():
                set_isa(name)
                _same_bits(given.answer(X, y), first, f"on {name}, with {kind},")
    finally:
        set_isa(before)


@CONTRACT.clause
def _features_in_any_order(given: Given) -> None:
    """features in another order have their scores in that order, to rounding; ties aside"""
    for kind, X, y in given.cases():
        shuffled = order(12, X.shape[1])
        when = f"with {kind}, features in the order {shuffled.tolist()}:"
        if given.greedy:
            _same_up_to_ties(given, X, y, shuffled, when)
        else:
            _close(given.answer(X[:, shuffled], y), given.answer(X, y)[shuffled], when)


@CONTRACT.clause
def _samples_in_any_order(given: Given) -> None:
    """samples in another order give the same scores, to rounding"""
    for kind, X, y in given.cases():
        shuffled = order(13, len(X))
        found = given.answer(X[shuffled], None if y is None else y[shuffled])
        _close(found, given.answer(X, y), f"with {kind}, samples in another order:")


@CONTRACT.clause
def _classes_by_any_name(given: Given) -> None:
    """other names of the classes, in another order, give the same scores, to rounding"""
    if given.target not in ("classes", "either"):
        return
    _, X, y = next(given.cases())
    names = np.array([f"class {c}" for c in range(given.n_classes)])
    wanted = given.answer(X, names[y])
    forms = [names[::-1][y], names[::-1].astype(object)[y]]
    if given.target == "classes":  # where numbers are taken too, whole ones are such
        forms += [y, 10 - 3 * y]
    for renamed in forms:
        found = given.answer(X, renamed)
        _close(found, wanted, f"classes called {np.unique(renamed).tolist()}:")


@CONTRACT.clause
def _any_form_of_table(given: Given) -> None:
    """lists, layouts, float32, data frames and Tables are taken alike"""
    import pandas as pd

    from bitsieve.data import Table

    for kind, X, y in given.cases():
        wanted = given.answer(X, y)
        names = [f"gene{f}" for f in range(X.shape[1])]
        forms: dict[str, Any] = {
            "a list": X.tolist(),
            "in Fortran order": np.asfortranarray(X),
            "float32": X.astype(np.float32),
            "a strided view": np.repeat(X, 2, axis=1)[:, ::2],
            "a data frame": pd.DataFrame(X, columns=names),
        }
        for form, given_X in forms.items():
            _close(given.answer(given_X, y), wanted, f"X as {form}, with {kind}:")
        if y is not None:
            for form, given_y in (("a list", y.tolist()), ("a series", pd.Series(y))):
                _close(given.answer(X, given_y), wanted, f"y as {form}, with {kind}:")
        brings_target = Table(X, y, names=names)
        _close(given.answer(brings_target, None), wanted, f"X as a Table, with {kind}:")


@CONTRACT.clause
def _input_stays(given: Given) -> None:
    """X and y are not written to, and may be read-only"""
    for kind, X, y in given.cases():
        before = X.copy(), None if y is None else y.copy()
        given.answer(X, y)
        expect(same(X, before[0]), f"with {kind} it wrote into X")
        expect(y is None or same(y, before[1]), f"with {kind} it wrote into y")
        for array in (X, y):
            if array is not None:
                array.setflags(write=False)
        given.answer(X, y)


@CONTRACT.clause
def _p_values(given: Given) -> None:
    """p-values lie in [0, 1], one a feature, beside the same scores; small for the target itself"""
    if not given.p_values:
        return
    for kind, X, y in given.cases():
        scores, chances = given.function(X, y, p_values=True)
        _same_bits(scores, given.answer(X, y), f"with p-values of {kind},")
        expect(
            chances.shape == scores.shape and bool(np.all((chances >= 0.0) & (chances <= 1.0))),
            f"with {kind} the p-values are {chances!r:.120}",
        )
        if y is not None:
            X = X.copy()
            X[:, 0] = y
            chances = given.function(X, y, p_values=True)[1]
            expect(
                chances[0] <= np.median(chances),
                f"with {kind} the target itself has the p-value {chances[0]}, of the median "
                f"{np.median(chances)}",
            )


@CONTRACT.clause
def _refuses_what_it_cannot_take(given: Given) -> None:
    """other input raises a ValueError of one line that tells what came"""
    for kind, X, y in given.cases():
        bad: dict[str, tuple[Any, Any]] = {
            "an infinite value": (_with(X, np.inf), y),
            "one dimension": (X[:, 0], y),
            "three dimensions": (X[:, :, None], y),
            "no samples": (X[:0], None if y is None else y[:0]),
            "no features": (X[:, :0], y),
            "one sample": (X[:1], None if y is None else y[:1]),
            "complex numbers": (X * 1j, y),
            "rows of two lengths": ([*X.tolist()[:-1], [1.0]], y),
        }
        if not given.missing:
            bad["NaN"] = (_with(X, np.nan), y)
        if not given.categories:
            bad["text"] = (np.where(np.arange(X.shape[1]) == 1, "x", X.astype(object)), y)
        if not given.sparse:
            from scipy.sparse import csr_array

            bad["a sparse matrix"] = (csr_array(X), y)
        if y is not None:
            bad["no target"] = (X, None)
            bad["a target too short"] = (X, y[:-1])
            bad["a target of two columns"] = (X, np.column_stack([y, y]))
            bad["a target with NaN"] = (X, _with(y.astype(np.float64), np.nan))
        if given.target == "classes":
            bad["one class"] = (X, np.zeros_like(y))
            bad["numbers for classes"] = (X, y + normals(14, len(y)))
        if given.target == "numbers":
            bad["text for numbers"] = (X, np.where(y > 0, "high", "low"))
        for what, (bad_X, bad_y) in bad.items():
            said = refused(
                lambda bad_X=bad_X, bad_y=bad_y: given.function(bad_X, bad_y),  # type: ignore[misc]
                f"{what} (in place of {kind})",
            )
            expect(said and "\n" not in said, f"{what} was refused in several lines or none")


def _with(array: Array, value: float) -> Array:
    changed = array.copy()
    changed[3, ...].flat[-1] = value
    if changed.ndim == 1:
        changed[3] = value
    return changed


@CONTRACT.clause
def _leaves_global_generators(given: Given) -> None:
    """it neither draws from nor seeds the generators that all code shares"""
    with global_generators_untouched():
        for _, X, y in given.cases():
            given.answer(X, y)
