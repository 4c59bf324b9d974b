"""CFS, cut points and levels beside fast-select and scikit-learn, in one run.

    pip install '.[bench]'
    python benchmarks/peers/cfs.py             # half a minute
    python benchmarks/peers/cfs.py --slow      # and the rival at 100 x 5,000: a minute more

CFS cuts columns in ten bins of one width here, which is all that the rival can; both end at a set
of the same merit. Our own default, cuts by minimum description length, is a row of its own. Times
are the least of the rounds, of public functions from arrays to the set, checks of the input
included; the rival has compiled before.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def made(n: int, p: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return a table whose first fortieth of the features tells three classes apart."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, p))
    told = p // 40
    X[:, :told] += 0.8 * y[:, None] * rng.random(told)
    return X, y


def least(call: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the least time of a call, and what it gave."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return min(times), found


def cfs(shape: tuple[int, int], rounds: int, beside: bool) -> None:
    """One table: the set in bins of one width, beside the rival where there is time, and by MDL."""
    from bitsieve import CFS

    X, y = made(*shape)
    equal = CFS(discretization="equal_width", locally_predictive=False)
    ours, found = least(lambda: equal.fit(X, y), rounds)
    by_mdl, _ = least(lambda: CFS().fit(X, y), rounds)
    text = (
        f"CFS {shape[0]} x {shape[1]}: bitsieve {ours * 1e3:.0f} ms, by MDL {by_mdl * 1e3:.0f} ms"
    )
    if beside:
        import fast_select

        rival = fast_select.CFS(n_bins=10, backend="cpu")
        rival.fit(X[:, :20], y)  # compiles
        theirs, chosen = least(lambda: rival.fit(X, y), 1)
        # A set counts as better from 1e-5 on here, from 1e-12 on there.
        assert abs(found.merit_ - chosen.merit_) < 5e-5, (found.merit_, chosen.merit_)
        text += f"; fast-select {theirs * 1e3:.0f} ms, ratio {theirs / ours:.0f}"
    print(text, flush=True)


def cuts(shape: tuple[int, int], rounds: int) -> None:
    """Levels of one table by each method, beside scikit-learn where it has the method."""
    from sklearn.preprocessing import KBinsDiscretizer

    from bitsieve import filters

    X, y = made(*shape)
    names = {"equal_width": "uniform", "equal_frequency": "quantile", "mdl": "", "mean_sd": ""}
    for method, strategy in names.items():
        ours, (codes, _) = least(lambda m=method: filters.discretize(X, y, method=m), rounds)
        text = f"{method} {shape[0]} x {shape[1]}: bitsieve {ours * 1e3:.0f} ms"
        if strategy:
            options = {"quantile_method": "linear"} if strategy == "quantile" else {}
            rival = KBinsDiscretizer(10, encode="ordinal", strategy=strategy, **options)
            theirs, found = least(lambda r=rival: r.fit_transform(X), 1)
            if method == "equal_width":
                assert np.array_equal(codes, found)
            text += f"; scikit-learn {theirs * 1e3:.0f} ms, ratio {theirs / ours:.0f}"
        print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow", action="store_true")
    arguments = parser.parse_args()
    cfs((100, 1000), arguments.rounds, True)
    cfs((1000, 2000), arguments.rounds, True)
    cfs((100, 5000), arguments.rounds, arguments.slow)
    cfs((100, 20_000), arguments.rounds, False)
    cuts((100, 20_000), arguments.rounds)
    cuts((5000, 1000), arguments.rounds)


if __name__ == "__main__":
    main()
