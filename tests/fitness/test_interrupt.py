"""Ctrl-C while the kernel works: prompt, and the fitness answers rightly afterwards."""

from __future__ import annotations

import os

import pytest
from interrupted import interrupt

from bitsieve import _core

SETUP = """
    from sklearn.neighbors import KNeighborsClassifier
    from bitsieve import Masks
    from bitsieve.fitness import compile

    form, n_jobs = {form!r}, {n_jobs}
    rng = np.random.default_rng(0)
    large = {{"streaming": (4000, 2000, 3), "neighbors": (3000, 2000, 1)}}
    n, p, k = large.get(form, (200, 3000, 3))
    X, y = rng.normal(size=(n, p)).astype(np.float32), np.arange(n) % 2
    options = {{"scoring": "f1_macro"}} if form == "scorer" else {{}}
    fitness = compile(KNeighborsClassifier(k), X, y, cv=5, n_jobs=n_jobs, **options)
    some = rng.random((1 if n > 1000 else 5, p)) < (0.02 if n > 1000 else 0.5)
    if form == "compact":
        batch = Masks.neighbors(some[0], p, np.arange(400_000) % p)
    elif form == "neighbors":
        batch = Masks.neighbors(some[0], p)
    else:
        batch = np.repeat(rng.random((200, p)) < 0.5, 200, axis=0)

    def few():
        near = fitness.evaluate(Masks.neighbors(some[0], p, [5, 9]))
        assert np.array_equal(near, fitness.evaluate(some[[0, 0]] ^ np.eye(p, dtype=bool)[[5, 9]]))
        return fitness.evaluate(some)

    def long():
        fitness.evaluate(batch)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
@pytest.mark.parametrize(
    ("form", "n_jobs"),
    [
        ("packed", 1),
        ("packed", 2),
        ("compact", 2),
        ("streaming", 2),
        ("neighbors", 1),
        ("scorer", 1),
    ],
)
def test_interrupt(form: str, n_jobs: int) -> None:
    interrupt(SETUP.format(form=form, n_jobs=n_jobs))


SOLVE = """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import RidgeClassifier
    from bitsieve.fitness import compile

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 1700)), np.arange(1500) % 2
    model = {model}
    fitness = compile(model, X, y, cv=20, n_jobs=1)
    some, large = rng.random((1, 1700)) < 0.02, np.arange(1700)[None] < {size}

    def few():
        return fitness.evaluate(some)

    def long():
        fitness.evaluate(large)
"""


@pytest.mark.skipif(not _core.has_fma(), reason="needs a fused multiply-add")
@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
def test_interrupt_within_a_mask() -> None:
    lda = "LinearDiscriminantAnalysis(solver='lsqr', shrinkage=0.1)"
    ridge = "RidgeClassifier(class_weight='balanced')"
    cases = [(lda, 1400), (ridge, 1700)]
    interrupt(*(SOLVE.format(model=model, size=k) for model, k in cases), most=1.5)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
@pytest.mark.parametrize("kind", ["shuffled", "stratified", "group"])
def test_interrupt_folds(kind: str) -> None:
    setup = f"""
    from bitsieve import _core

    codes, groups = np.zeros(20_000, np.int32), np.arange(20_000, dtype=np.int32)
    first = {{
        "shuffled": (20_000,), "stratified": (codes, 1), "group": (codes, 1, groups, 20_000)
    }}["{kind}"]
    few = lambda: _core.{kind}_folds(*first, 200, 2, 0)
    long = lambda: _core.{kind}_folds(*first, 200, 2_000, 0)
    """
    interrupt(setup, most=2.0)
