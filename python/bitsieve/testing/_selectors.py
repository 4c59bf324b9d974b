"""Clauses of the selector contract."""

from __future__ import annotations

import inspect
import pickle
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.testing._contract import (
    Contract,
    expect,
    global_generators_untouched,
    refused,
    same,
)
from bitsieve.testing._draws import normals, order

__all__ = ["CONTRACT", "Given"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Given:
    selector: Any
    X: Array
    y: Any

    def new(self, **parameters: Any) -> Any:
        """An unfitted copy; what it draws comes from one seed."""
        from sklearn.base import clone

        copy = clone(self.selector)
        if "random_state" in copy.get_params(deep=False):
            copy.set_params(random_state=0)
        return copy.set_params(**parameters)

    def fit(self, X: Any = None, y: Any = None, **parameters: Any) -> Any:
        X, y = (self.X if X is None else X), (self.y if y is None else y)
        return _quietly(self.new(**parameters), X, y)

    def has(self, parameter: str) -> bool:
        return parameter in self.selector.get_params(deep=False)

    @property
    def names(self) -> list[str]:
        return [f"gene{f}" for f in range(self.X.shape[1])]


CONTRACT: Contract[Given] = Contract("selector")


# -- what the clauses share ------------------------------------------------------------------------


def _quietly(selector: Any, X: Any, y: Any, **options: Any) -> Any:
    """Fit, and leave it to others to say that a table is small or nothing was selected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, y, **options)


def _fitted(selector: Any) -> dict[str, Any]:
    """The arrays and numbers that fit set."""
    return {
        name: value
        for name, value in vars(selector).items()
        if name.endswith("_")
        and not name.startswith("_")
        and isinstance(value, (np.ndarray, int, float, str, np.generic))
    }


def _same_fit(got: Any, wanted: Any, when: str) -> None:
    a, b = _fitted(got), _fitted(wanted)
    expect(a.keys() == b.keys(), f"{when} fit set {sorted(a.keys() ^ b.keys())} or not")
    for name in a:
        alike = same(a[name], b[name])
        if isinstance(a[name], np.ndarray) and a[name].dtype == object:
            alike = a[name].tolist() == b[name].tolist()
        expect(alike, f"{when} {name} is {a[name]!r:.80}, not {b[name]!r:.80}")


# -- clauses ---------------------------------------------------------------------------------------


@CONTRACT.clause
def _constructor_only_stores(given: Given) -> None:
    """the constructor stores what it is given, and fit changes no parameter"""
    selector = given.new()
    parameters = selector.get_params(deep=False)
    for name, value in parameters.items():
        expect(getattr(selector, name) is value, f"{name} is not what it was given")
    odd = sorted(vars(selector).keys() - parameters.keys() - {"_sklearn_output_config"})
    odd = [name for name in odd if not name.startswith("_")]
    expect(not odd, f"before fit it has {', '.join(odd)}")
    before = {name: repr(value) for name, value in parameters.items()}
    fitted = _quietly(selector, given.X, given.y)
    expect(fitted is selector, "fit did not return the selector itself")
    for name, value in selector.get_params(deep=False).items():
        expect(value is parameters[name], f"fit put another object in place of {name}")
        expect(repr(value) == before[name], f"fit changed {name} from {before[name]} to {value!r}")


@CONTRACT.clause
def _not_fitted(given: Given) -> None:
    """before fit, transform and get_support raise NotFittedError"""
    from sklearn.exceptions import NotFittedError

    selector = given.new()
    for what, arguments in (("transform", (given.X,)), ("get_support", ())):
        try:
            getattr(selector, what)(*arguments)
        except NotFittedError:
            continue
        expect(False, f"{what} raised nothing")


@CONTRACT.clause
def _transform_keeps_the_support(given: Given) -> None:
    """transform returns the columns of the support, inverse_transform puts them back"""
    selector = given.fit()
    support = selector.get_support()
    shape = (given.X.shape[1],)
    expect(
        support.dtype == np.bool_ and support.shape == shape,
        f"get_support() is {support.dtype} of shape {support.shape}, not bool of {shape}",
    )
    indices = selector.get_support(indices=True)
    expect(np.array_equal(indices, np.flatnonzero(support)), f"indices are {indices}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = selector.transform(given.X)
        expect(np.array_equal(columns, given.X[:, support]), "transform gave other columns")
        back = selector.inverse_transform(columns)
    expect(np.array_equal(back, np.where(support, given.X, 0.0)), "inverse_transform lost values")
    expect(selector.n_features_in_ == shape[0], f"n_features_in_ is {selector.n_features_in_}")


@CONTRACT.clause
def _scores_ranking_and_support_agree(given: Given) -> None:
    """scores_ has a float64 a feature, ranking_ 1 for the best, support_ bools, n_features_ their
    number; a step of an elimination shares its rank"""
    selector = given.fit()
    p = given.X.shape[1]
    for name, dtype in (("scores_", np.float64), ("ranking_", np.int64), ("support_", np.bool_)):
        value = getattr(selector, name, None)
        expect(
            isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == (p,),
            f"{name} is {value!r:.80}, not {np.dtype(dtype)} of shape ({p},)",
        )
    scores, ranking, support = selector.scores_, selector.ranking_, selector.support_
    expect(same(support, selector.get_support()), "support_ is not get_support()")
    expect(selector.n_features_ == support.sum(), f"n_features_ is {selector.n_features_}")
    expect(ranking.min() == 1 and ranking.max() <= p, f"ranking_ is {ranking}")
    if hasattr(selector, "order_"):
        taken = selector.order_
        expect(
            np.array_equal(ranking[taken], np.arange(1, len(taken) + 1)),
            f"order_ is {taken}, but ranking_ {ranking}",
        )
        expect(not support[np.isnan(scores)].any(), "features without a score were kept")
        return
    if hasattr(selector, "elimination_order_"):
        left = selector.elimination_order_
        expect(
            bool((np.diff(scores[left]) > 0).all() and (np.diff(ranking[left]) <= 0).all())
            and same(support, ranking == 1),
            f"elimination_order_ is {left}, but ranking_ {ranking} and scores_ {scores}",
        )
        return
    best = np.lexsort((np.arange(p), -scores))
    expect(
        np.array_equal(ranking[best], np.arange(1, p + 1)),
        f"ranking_ {ranking} is not the order of scores_ {scores}, ties to the lowest index",
    )


@CONTRACT.clause
def _number_of_features(given: Given) -> None:
    """n_features_to_select, where there is one, is honored, and refused where it makes no sense"""
    if not given.has("n_features_to_select"):
        return
    p = given.X.shape[1]
    for wanted in (1, 2, p):
        selector = given.fit(n_features_to_select=wanted)
        most = min(wanted, len(getattr(selector, "order_", range(p))))  # a greedy one may end early
        found = int(selector.get_support().sum())
        fewer = getattr(selector, "threshold", None) is not None and found < most
        expect(found == most or fewer, f"n_features_to_select={wanted} kept {found}")
    for wanted in (0, -1, p + 1, "all", float("nan"), True):
        what = f"n_features_to_select={wanted!r}"
        said = refused(lambda wanted=wanted: given.fit(n_features_to_select=wanted), what)  # type: ignore[misc]
        expect("n_features_to_select" in said, f"{what} was refused without its name: {said}")


@CONTRACT.clause
def _same_every_time(given: Given) -> None:
    """same data and random_state, same bits, whatever the threads and what was fitted before"""
    first = given.fit()
    _same_fit(given.fit(), first, "fitted once more,")
    used = given.new()
    shuffled = order(5, len(given.X))
    _quietly(used, given.X[shuffled][:, ::-1][:, 1:], np.asarray(given.y)[shuffled])
    _same_fit(_quietly(used, given.X, given.y), first, "fitted to other data before,")
    if given.has("n_jobs"):
        for n_jobs in (1, 2):
            _same_fit(given.fit(n_jobs=n_jobs), first, f"with n_jobs={n_jobs}")
    if given.has("random_state"):
        _same_fit(given.fit(random_state=np.int64(0)), first, "with a seed of numpy's")


@CONTRACT.clause
def _input_stays(given: Given) -> None:
    """X and y are not written to, and may be read-only, Fortran-ordered and float32"""
    X, y = given.X.copy(), np.array(given.y)
    for array in (X, y):
        array.setflags(write=False)
    first = given.fit(X, y)
    expect(same(X, given.X) and np.array_equal(y, np.asarray(given.y)), "fit wrote into X or y")
    _same_fit(first, given.fit(), "read-only,")
    for form, other in (("Fortran-ordered", np.asfortranarray(X)), ("float32", X.astype("f4"))):
        support = given.fit(other, y).get_support()
        expect(same(support, first.get_support()), f"{form}, other features were kept")


@CONTRACT.clause
def _pickles(given: Given) -> None:
    """a fitted selector pickles, without the table"""
    selector = given.fit()
    stored = pickle.dumps(selector)
    again = pickle.loads(stored)
    _same_fit(again, selector, "unpickled,")
    wide = np.hstack([given.X, np.abs(normals(6, len(given.X), 1500))])
    size = len(pickle.dumps(given.fit(wide)))
    expect(size < wide.nbytes / 4, f"of a table of {wide.nbytes} bytes it pickles {size}")


@CONTRACT.clause
def _clones(given: Given) -> None:
    """a clone of a fitted selector is unfitted and has the same parameters"""
    from sklearn.base import clone

    selector = given.fit()
    copy = clone(selector)
    expect(repr(copy) == repr(given.new()), f"a clone is {copy!r}, not {given.new()!r}")
    expect(not hasattr(copy, "support_"), "a clone is fitted")


@CONTRACT.clause
def _frames_keep_their_names(given: Given) -> None:
    """data frames go in and, with set_output, come out with their names"""
    import pandas as pd

    frame = pd.DataFrame(given.X, columns=given.names, index=range(100, 100 + len(given.X)))
    selector = given.new().set_output(transform="pandas")
    _quietly(selector, frame, pd.Series(np.asarray(given.y), index=frame.index))
    names = [name for name, kept in zip(given.names, selector.get_support(), strict=True) if kept]
    expect(list(selector.get_feature_names_out()) == names, "get_feature_names_out() has others")
    expect(list(selector.feature_names_in_) == given.names, "feature_names_in_ has others")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pd.testing.assert_frame_equal(selector.transform(frame), frame[names], check_dtype=False)
    support = given.fit().get_support()
    expect(same(selector.get_support(), support), "of a frame other features were kept")
    refused(lambda: selector.transform(frame[frame.columns[::-1]]), "columns in another order")


@CONTRACT.clause
def _works_in_a_pipeline(given: Given) -> None:
    """as a step of a pipeline it fits, passes names on and hands over its columns"""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    pipeline = make_pipeline(MinMaxScaler(), given.new())
    scaled = MinMaxScaler().fit_transform(given.X)
    direct = given.fit(scaled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = pipeline.fit_transform(given.X, given.y)
        expect(same(columns, direct.transform(scaled)), "it handed over other columns")
        expect(same(pipeline.transform(given.X), columns), "transform gives other columns than fit")
    expect(same(pipeline[-1].get_support(), direct.get_support()), "it kept other features")


@CONTRACT.clause
def _classes_by_any_name(given: Given) -> None:
    """labels may be text, numbers or bools, or a column in place of a vector"""
    if np.asarray(given.y).dtype.kind == "f":
        return
    classes, codes = np.unique(given.y, return_inverse=True)
    support = given.fit().get_support()
    forms: list[Any] = [codes, np.array([f"class {c}" for c in codes]), codes[:, None]]
    if len(classes) == 2:
        forms.append(codes == 1)
    for y in forms:
        found = given.fit(None, y).get_support()
        expect(same(found, support), f"with labels such as {y[0]!r} other features were kept")


@CONTRACT.clause
def _takes_groups(given: Given) -> None:
    """groups in fit, where there are some, have one entry a sample"""
    if "groups" not in inspect.signature(given.selector.fit).parameters:
        return
    groups = np.arange(len(given.X)) // 2
    selector = _quietly(given.new(), given.X, given.y, groups=groups)
    expect(selector.get_support().any(), "nothing was kept")
    named = _quietly(given.new(), given.X, given.y, groups=np.array([f"p{g:02}" for g in groups]))
    expect(same(named.get_support(), selector.get_support()), "groups by name gave other features")
    refused(lambda: _quietly(given.new(), given.X, given.y, groups=groups[1:]), "groups too short")


@CONTRACT.clause
def _leaves_global_generators(given: Given) -> None:
    """it neither draws from nor seeds the generators that all code shares"""
    with global_generators_untouched():
        given.fit()


@CONTRACT.clause
def _scikit_learn(given: Given) -> None:
    """scikit-learn's check_estimator passes"""
    from sklearn.base import clone
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(clone(given.selector), on_skip=None)
