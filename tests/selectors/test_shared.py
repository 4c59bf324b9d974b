"""What every selector that searches does alike: forced, forbidden and grouped features, a price
for features, and restarts; with a toy, an exhaustive search and BinarySPSA.
"""

from __future__ import annotations

import warnings
import zlib
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.base import clone
from sklearn.feature_selection import f_classif
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import BinarySPSA, Masks
from bitsieve._random import SeedWords, Stream
from bitsieve.data import Table
from bitsieve.evaluation import nested_cross_validate
from bitsieve.filters import relieff
from bitsieve.search import BinarySPSASearch, Finalist, RunResult, run
from bitsieve.selectors._base import SearchSelector
from bitsieve.selectors._restarts import Restarts, mean_overlap
from bitsieve.selectors._space import Space
from bitsieve.testing import check_selector
from bitsieve.testing._draws import table as drawn

GAINS = np.array([0.9, -0.3, 0.2, 0.05, -0.1, 0.6, 0.4, -0.8, 0.3, 0.1])


class Gains:
    """Each feature is worth something; with noise that is a function of (mask, seed)."""

    def __init__(self, noise: float = 0.0) -> None:
        self.n_features, self.noise, self.resample = len(GAINS), noise, noise > 0
        self.calls: list[tuple[int, Any]] = []

    def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
        self.calls.append((len(masks), seeds))
        seeds = np.broadcast_to(np.asarray(seeds, dtype=np.uint64), len(masks))
        noise = [np.random.default_rng([int(s), zlib.crc32(masks.key(i))]).normal()
                 for i, s in enumerate(seeds)] if self.noise else 0.0  # fmt: skip
        return masks.to_bool() @ GAINS + self.noise * np.asarray(noise)

    def fingerprint(self) -> str:
        return f"gains {self.noise}"


class Every:
    """All masks of units in one ask; the best of them is recommended."""

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.best = np.zeros((0, n_features), dtype=bool)

    def ask(self) -> Masks:
        numbers = np.arange(2**self.n_features)[:, None]
        return Masks.from_bool(numbers >> np.arange(self.n_features) & 1 == 1)

    def tell(self, masks: Masks, scores: np.ndarray) -> None:
        self.best = masks[int(np.argmax(scores))].to_bool()

    def recommend(self) -> Masks:
        return Masks.from_bool(self.best)

    def stop(self) -> dict[str, object]:
        return {"all": True} if len(self.best) else {}


class Toy(SearchSelector):
    """A search over the gains; constructor and defaults as a selector has them."""

    _FLAGS = ("resume",)

    def __init__(
        self, kind: Any = BinarySPSASearch, *, noise: float = 0.0, max_iter: int | None = 100,
        size_penalty: float = 0.0, forced_features: Any = None, forbidden_features: Any = None,
        feature_groups: Any = None, n_restarts: int = 1, max_evaluations: int | None = None,
        max_time: float | None = None, random_state: Any = 0, checkpoint: Any = None,
        resume: bool = True, callbacks: Any = None,
    ) -> None:  # fmt: skip
        self.kind, self.noise, self.max_iter, self.callbacks = kind, noise, max_iter, callbacks
        self.size_penalty, self.forced_features = size_penalty, forced_features
        self.forbidden_features, self.feature_groups = forbidden_features, feature_groups
        self.n_restarts, self.max_evaluations, self.max_time = n_restarts, max_evaluations, max_time
        self.random_state, self.checkpoint, self.resume = random_state, checkpoint, resume

    folds, progress = "common", False

    def _make_search(self, table: Table, space: Space) -> Any:
        return self.kind(space.n_units)

    def _make_fitness(self, table: Table, key: int | None, **_: Any) -> Gains:
        self.gains = Gains(self.noise)
        return self.gains

    def _limits(self, n_units: int) -> tuple[int | None, int | None]:
        return self.max_iter, None

    def _store_search(self, search: Any, space: Space) -> None:
        self.searched_ = (search, space.n_units)


class Exhaustive(Toy):
    _CHOOSE = "recommended"

    def _make_search(self, table: Table, space: Space) -> Every:
        return Every(space.n_units)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = np.random.default_rng(0).normal(size=(60, 10)), np.arange(60) % 2
    X[:, 2] += 3.0 * y
    X[:, 6] -= 3.0 * y
    return X, y


def best_of(forced: Any, forbidden: Any, groups: Any, penalty: float) -> tuple[set[int], float]:
    """The twin: all sets that keep the rules, the best less its price."""
    best: tuple[float, set[int]] = (-np.inf, set())
    for n in range(1, 11):
        for features in map(set, combinations(range(10), n)):
            if not set(forced) <= features or set(forbidden) & features:
                continue
            if any(len(features & set(g)) not in (0, len(g)) for g in groups):
                continue
            told = GAINS[sorted(features)].sum() - penalty * n
            if told > best[0] + 1e-12:
                best = (told, features)
    return best[1], float(GAINS[sorted(best[1])].sum())


@each(
    ("forced", "forbidden", "groups", "penalty"),
    [
        ([], [], [], 0.0), ([7], [], [], 0.0), ([], [0, 5], [], 0.0), ([7, 1], [0], [], 0.0),
        ([], [], [[0, 7], [1, 5]], 0.0), ([3], [2], [[6, 4], [0, 7, 8]], 0.0),
        ([1, 7], [], [[1, 7], [0, 4]], 0.0), ([], [], [], 0.25), ([9], [], [], 0.25),
        ([], [0], [[5, 3], [6, 2]], 0.28), ([4], [0, 5], [[4], [6, 8]], 0.2),
    ],
)  # fmt: skip
def test_the_best_that_keeps_the_rules_is_found(
    data: Any, forced: Any, forbidden: Any, groups: Any, penalty: float
) -> None:
    wanted, score = best_of(forced, forbidden, groups, penalty)
    options = {
        "forced_features": forced, "forbidden_features": forbidden, "feature_groups": groups,
        "size_penalty": penalty,
    }  # fmt: skip
    for selector in (Exhaustive(**options), Toy(max_iter=400, **options)):
        found = clone(selector).fit(*data)
        assert set(np.flatnonzero(found.support_)) == wanted
        assert found.best_score_ == pytest.approx(score)
        assert found.best_observed_score_ == pytest.approx(score)
        assert found.observed_score_ == pytest.approx(score)
        assert found.history_["score"].max() <= GAINS[GAINS > 0].sum() + 1e-12
        search, n_units = found.searched_
        assert (type(search) in (Every, BinarySPSASearch), n_units) == (True, found.n_units_)
        assert search.n_features == n_units


def test_every_mask_keeps_the_rules(data: Any) -> None:
    """Of those that callbacks see, the finalists, and what is scored as features."""
    seen: list[np.ndarray] = []
    found = Toy(
        noise=0.3, forced_features=[7, 1], forbidden_features=[0], feature_groups=[[2, 4, 9]],
        callbacks=[lambda at: seen.append(at.masks.to_bool())],
    ).fit(*data)  # fmt: skip
    masks = np.concatenate([*seen, *(one.mask.to_bool() for one in found.finalists_)])
    assert len(masks) > 300
    assert masks[:, [7, 1]].all()
    assert not masks[:, 0].any()
    together = masks[:, [2, 4, 9]].sum(axis=1)
    assert set(together) == {0, 3}
    others = masks[:, [3, 5, 6, 8]]
    assert (others.any(axis=0) & ~others.all(axis=0)).all()
    assert found.scores_[[7, 1]].min() > np.delete(found.scores_, [7, 1]).max()
    assert found.scores_.argmin() == 0
    assert len(set(found.scores_[[2, 4, 9]])) == 1


def _fit(data: Any, **options: Any) -> BinarySPSA:
    options = {"max_iter": 60, "n_repeats": 2, "random_state": 0, "progress": False, **options}
    return BinarySPSA(KNeighborsClassifier(1), **options).fit(*data)


def test_binary_spsa_forces_forbids_and_groups(data: Any) -> None:
    X, y = data
    frame = pd.DataFrame(X, columns=[f"g{f}" for f in range(10)])
    options: dict[str, Any] = {"n_features_to_select": 4}
    free = _fit(data, **options)
    assert free.support_[[2, 6]].all()
    rules = {
        "forced_features": ["g0", "g3"], "forbidden_features": ["g2"],
        "feature_groups": [["g3"], ["g6", "g1"]],
    }  # fmt: skip
    by_name = _fit((frame, y), **options, **rules)
    assert np.flatnonzero(by_name.support_)[:2].tolist() == [0, 1]
    assert by_name.support_[[0, 3, 1, 6]].all()
    assert not by_name.support_[2]
    assert by_name.support_.sum() == 5  # 4 units, the pair counted as one
    by_position = _fit(
        data, **options, forced_features=np.isin(np.arange(10), [0, 3]), forbidden_features=[2],
        feature_groups=[[6, 1]],
    )  # fmt: skip
    np.testing.assert_array_equal(by_position.support_, by_name.support_)


def test_restarts_are_searches_of_their_own(data: Any) -> None:
    found = Toy(noise=0.5, max_iter=20, n_restarts=4, random_state=3).fit(*data)
    keys = [3, *(SeedWords(3, Stream.restarts).one(r) for r in (1, 2, 3))]
    assert [one.seed for one in found.restarts_] == keys
    alone = [Toy(noise=0.5, max_iter=20, random_state=key).fit(*data) for key in keys]
    for one, other in zip(found.restarts_, alone, strict=True):
        np.testing.assert_array_equal(one.support, other.support_)
        assert (one.score, one.n_features) == (other.best_score_, other.n_features_)
        np.testing.assert_array_equal(other.restarts_[0].support, other.support_)
        assert other.restart_overlap_ is None
    best = int(np.argmax([one.score for one in found.restarts_]))
    np.testing.assert_array_equal(found.support_, alone[best].support_)
    np.testing.assert_array_equal(found.scores_, alone[best].scores_)
    np.testing.assert_array_equal(found.history_["score"], alone[best].history_["score"])
    assert found.n_evaluations_ == sum(one.n_evaluations_ for one in alone) == 4 * 60
    assert found.n_final_evaluations_ == sum(one.n_final_evaluations_ for one in alone) + 5
    assert found.best_observed_score_ == max(one.best_observed_score_ for one in alone)
    assert found.seed_ == 3
    # Once more, on the next words of the run's own stream of measurement.
    seeds = SeedWords(3, Stream.measurement).take(10, 5)
    mask = Masks.from_bool(found.support_)
    assert found.best_score_ == np.mean([Gains(0.5).evaluate(mask, int(s))[0] for s in seeds])
    pairs = [np.sum(a.support & b.support) / np.sum(a.support | b.support)
             for a, b in combinations(found.restarts_, 2)]  # fmt: skip
    assert found.restart_overlap_ == pytest.approx(np.mean(pairs))
    assert 0 < found.restart_overlap_ < 1


def test_the_choice_among_restarts_sees_the_penalty(data: Any) -> None:
    options: dict[str, Any] = {"noise": 0.4, "max_iter": 8, "n_restarts": 6}
    for penalty in (0.0, 0.5):
        found = Toy(size_penalty=penalty, **options).fit(*data)
        told = [one.score - penalty * one.n_features for one in found.restarts_]
        best = found.restarts_[int(np.argmax(told))]
        np.testing.assert_array_equal(found.support_, best.support)
    plain = [one.score for one in found.restarts_]
    assert np.argmax(plain) != np.argmax(told)  # so that the test tells them apart


def test_fixed_folds_are_not_measured_again(data: Any) -> None:
    found = Toy(max_iter=5, n_restarts=3).fit(*data)
    assert found.best_score_ == max(one.score for one in found.restarts_)
    assert found.n_final_evaluations_ == 0
    assert found.final_cut_ is None


def test_overlap_of_selections() -> None:
    a, b, c = (np.isin(np.arange(6), some) for some in ([0, 1], [1, 2], [3, 4, 5]))
    assert mean_overlap([a]) is None
    assert mean_overlap([a, a]) == 1.0
    assert mean_overlap([a, b]) == pytest.approx(1 / 3)
    assert mean_overlap([a, b, c]) == pytest.approx(1 / 9)


def test_limits_are_for_all_restarts(data: Any) -> None:
    found = Toy(noise=0.1, max_iter=None, max_evaluations=100, n_restarts=3).fit(*data)
    assert found.n_evaluations_ == 3 * 33
    assert found.stop_reason_ == {"max_evaluations": 33}
    slow: list[int] = []

    def wait(at: Any) -> None:
        slow.append(at.iteration)

    found = Toy(noise=0.1, max_iter=None, max_time=0.6, n_restarts=3, callbacks=[wait]).fit(*data)
    assert len(found.restarts_) == slow.count(0) == 3
    assert set(found.stop_reason_) == {"max_time"}
    assert found.stop_reason_["max_time"] == pytest.approx(0.2)
    with pytest.raises(ValueError, match="max_evaluations=2 is for all of the n_restarts=3"):
        Toy(max_evaluations=2, n_restarts=3).fit(*data)
    with pytest.raises(ValueError, match="max_evaluations=8 leaves 2 to each of n_restarts=3, whi"):
        Toy(max_evaluations=8, n_restarts=3).fit(*data)
    with pytest.raises(
        ValueError, match=r"^max_evaluations=2 is fewer than the 3 masks of one ite"
    ):
        Toy(max_evaluations=2).fit(*data)
    with pytest.raises(ValueError, match="max_time must be a number of seconds above 0 or None"):
        Toy(max_time="soon", n_restarts=3).fit(*data)  # type: ignore[arg-type]
    for n in (0, 1.5, True, None):
        with pytest.raises(ValueError, match="n_restarts must be a whole number from 1 on"):
            Toy(n_restarts=n).fit(*data)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="size_penalty must be a finite number from 0 on"):
        Toy(size_penalty=-1.0).fit(*data)


def test_a_callback_that_stops_a_restart_stops_them_all(data: Any) -> None:
    found = Toy(n_restarts=5, noise=0.1, callbacks=[lambda at: at.iteration == 3]).fit(*data)
    assert len(found.restarts_) == 1
    assert found.stop_reason_ == {"callback": True}
    assert found.n_evaluations_ == 12


def _stop_at(calls: int) -> Any:
    left = [calls]

    def stop(at: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    return stop


def test_ctrl_c_in_a_restart_keeps_the_best_so_far(data: Any) -> None:
    whole = Toy(noise=0.5, max_iter=20, n_restarts=3).fit(*data)
    for at, finished in ((10, 0), (30, 1), (50, 2)):
        selector = Toy(noise=0.5, max_iter=20, n_restarts=3, callbacks=[_stop_at(at)])
        with pytest.raises(KeyboardInterrupt):
            selector.fit(*data)
        assert selector.stop_reason_ == {"interrupted": True}
        assert selector.n_evaluations_ == 3 * at
        assert len(selector.restarts_) == max(1, finished)
        if not finished:
            assert np.isnan(selector.best_score_)
            continue
        of = whole.restarts_[:finished]
        best = of[int(np.argmax([one.score for one in of]))]
        np.testing.assert_array_equal(selector.support_, best.support)
        assert selector.best_score_ == best.score
    selector = Toy(n_restarts=3, callbacks=[_stop_at(1)])
    with pytest.raises(KeyboardInterrupt):
        selector.fit(*data)
    assert selector.support_.any()


def _same(a: Any, b: Any) -> None:
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_array_equal(a.scores_, b.scores_)
    assert a.best_score_ == b.best_score_
    assert a.n_evaluations_ == b.n_evaluations_
    assert a.n_final_evaluations_ == b.n_final_evaluations_
    assert a.restart_overlap_ == b.restart_overlap_
    assert [one.seed for one in a.restarts_] == [one.seed for one in b.restarts_]
    for name in set(a.history_) - {"seconds"}:
        np.testing.assert_array_equal(a.history_[name], b.history_[name])


@pytest.mark.parametrize("random_state", [0, None])
def test_what_was_interrupted_goes_on_bit_for_bit(
    data: Any, tmp_path: Path, random_state: int | None
) -> None:
    options: dict[str, Any] = {
        "max_iter": 20, "n_restarts": 3, "random_state": random_state, "size_penalty": 0.01,
        "forced_features": [1], "forbidden_features": [3], "feature_groups": [[0, 9]],
    }  # fmt: skip
    for at in (1, 15, 20, 27, 40, 55):
        folder = tmp_path / str(at)
        with pytest.raises(KeyboardInterrupt):
            _fit(data, checkpoint=folder, callbacks=[_stop_at(at)], **options)
        resumed = _fit(data, checkpoint=folder, **options)
        assert len(list(folder.glob("run-*.npz"))) == 3
        whole = _fit(data, **{**options, "random_state": resumed.seed_})
        _same(resumed, whole)
        again = _fit(data, checkpoint=folder, callbacks=[_stop_at(1)], **options)  # all is there
        _same(again, whole)


def test_other_units_penalties_and_restarts_are_other_checkpoints(
    data: Any, tmp_path: Path
) -> None:
    others: list[dict[str, Any]] = [
        {}, {"size_penalty": 0.01}, {"forced_features": [1]}, {"forced_features": [2]},
        {"forbidden_features": [1]}, {"feature_groups": [[1, 2]]},
    ]  # fmt: skip
    for number, options in enumerate(others):
        _fit(data, max_iter=3, checkpoint=tmp_path, **options)
        assert len(list(tmp_path.glob("run-*.npz"))) == number + 1
    _fit(data, max_iter=3, checkpoint=tmp_path, n_restarts=2)  # the first of them is there
    assert len(list(tmp_path.glob("run-*.npz"))) == len(others) + 1


def test_starts_are_mapped_to_units(data: Any) -> None:
    table = Table(*data)
    rules: dict[str, Any] = {"forced": [1], "forbidden": [9], "groups": [[0, 4], [2, 3, 7]]}
    space = Space(table, **rules)
    w = np.linspace(0.4, 0.6, 10)
    mask = np.isin(np.arange(10), [0, 1, 4, 5])
    scores = relieff(*data)

    def start(**options: Any) -> np.ndarray:
        return BinarySPSA(KNeighborsClassifier(1), **options)._make_search(table, space).w

    def wanted(**options: Any) -> np.ndarray:
        return BinarySPSASearch(space.n_units, **options).w

    assert space.n_units == 5
    for got, expected in (
        (start(), wanted()),
        (start(start=0.48), wanted(start=0.48)),
        (start(start=w), wanted(start=space.unit_scores(w))),
        (start(start=mask), wanted(start=np.array([True, False, True, False, False]))),
        (start(start=Masks.from_bool(mask)), wanted(start=space.units_of(mask))),
        (start(filter_scores=scores), wanted(filter_scores=space.unit_scores(scores))),
        (start(filter_scores="relieff"), wanted(filter_scores=space.unit_scores(scores))),
        (start(start="ReliefF"), wanted(filter_scores=space.unit_scores(scores))),
        (start(filter_scores=f_classif), start(start="f")),
    ):
        np.testing.assert_array_equal(got, expected)
    assert np.unique(start(start="f")).size > 1
    for options, said in (
        ({"start": "relief", "filter_scores": scores}, "give either start or filter_scores"),
        ({"start": "relif"}, "start='relif' is no filter: did you mean 'relief'"),
        ({"filter_scores": "relif"}, "filter_scores='relif' is no filter"),
        ({"start": w[:4]}, r"start must have shape \(10,\), got \(4,\)"),
        ({"start": mask[:4]}, "start is a mask of 4 features, X has 10"),
        ({"n_features_to_select": 1}, "n_features_to_select=1 leaves nothing to search"),
        ({"n_features_to_select": 7}, "n_features_to_select=7 is more than the 6"),
    ):
        with pytest.raises(ValueError, match=said):
            start(**options)


def test_a_filter_sees_the_training_part_alone_and_is_asked_once_a_fit(data: Any) -> None:
    sizes: list[int] = []

    def counted(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        sizes.append(len(X))
        return f_classif(X, y)[0]

    selector = BinarySPSA(
        KNeighborsClassifier(1), filter_scores=counted, n_restarts=3, max_iter=3, n_repeats=1,
        random_state=0, progress=False,
    ).fit(*data)  # fmt: skip
    assert sizes == [60]
    nested_cross_validate(selector, None, *data, cv=3, random_state=0)
    assert sizes == [60, 40, 40, 40]


def test_without_any_of_it_the_search_is_used_bare(data: Any) -> None:
    found = Toy(forced_features=[], forbidden_features=None, feature_groups=[[3], []][:1])
    found.fit(*data)
    bare = run(BinarySPSASearch(10), Gains(), max_iter=100, random_state=0)
    np.testing.assert_array_equal(found.history_["score"], bare.history["score"])
    np.testing.assert_array_equal(found.support_, bare.support)
    assert found.n_units_ == 10


def test_n_declined_is_told(data: Any) -> None:
    from sklearn.linear_model import RidgeClassifier

    X, y = data
    X = X.copy()
    X[:, 5] = X[:, 6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = BinarySPSA(
            RidgeClassifier(alpha=0.0), max_iter=3, n_repeats=1, random_state=0, n_jobs=1,
            forced_features=[5, 6], progress=False,
        ).fit(X, y)  # fmt: skip
    assert selector.kernel_ is not None
    assert selector.n_declined_ > 0
    assert _fit(data, max_iter=2).n_declined_ == 0


def test_keeps_the_contract_of_a_selector() -> None:
    X, y = drawn(60, 12)
    selector = BinarySPSA(
        KNeighborsClassifier(1), cv=2, n_repeats=1, max_iter=4, n_restarts=2, size_penalty=0.01,
        start="f",
    )  # fmt: skip
    check_selector(selector, X=X, y=np.array(["healthy", "sick"])[y])


def test_of_equally_good_restarts_that_of_fewer_features_is_taken_then_the_first():
    def result(score, *features):
        masks = Masks.from_indices([features], 5)
        return RunResult(
            mask=masks, best_score=score, best_observed_score=score, n_evaluations=1,
            n_final_evaluations=0, n_iterations=1, history={}, seed=3, stop_reason={}, seconds=0.0,
            finalists=[Finalist(masks, score, score, 1, score, len(features), 1)],
        )  # fmt: skip

    for given, taken in (
        ([(0.5, 0, 1, 2), (0.5, 3, 4), (0.5, 0)], 2),
        ([(0.5, 0, 1), (0.5, 3, 4), (0.5, 0, 1, 2)], 0),
        ([(0.5, 0), (0.6, 3, 4), (0.55, 1)], 1),
    ):
        found = Restarts(3, 0.0)
        for number, (score, *features) in enumerate(given):
            found.take(result(score, *features), number)
        assert found.search == taken
        assert found.result().mask.indices_of(0).tolist() == list(given[taken][1:])
