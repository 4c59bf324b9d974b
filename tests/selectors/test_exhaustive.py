"""Every subset, and subsets at random: beside loops over scikit-learn, and what they hold to."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import BinarySPSA, ExhaustiveSearch, RandomSearch
from bitsieve.testing._draws import table

X_, CODES = table(60, 7)


def _optimum(subsets: list[tuple[int, ...]], price: float = 0.0) -> tuple[int, ...]:
    """The best by scikit-learn; ties to the first, so the smaller ones come first."""
    scores = [
        cross_val_score(GaussianNB(), X_[:, list(subset)], CODES, cv=4).mean() for subset in subsets
    ]
    return subsets[int(np.argmax(np.round(np.array(scores) - price * _sizes(subsets), 12)))]


def _sizes(subsets: list[tuple[int, ...]]) -> Any:
    return np.array([len(subset) for subset in subsets])


def _all(least: int, most: int, among: range = range(7)) -> list[tuple[int, ...]]:
    return [s for n in range(least, most + 1) for s in combinations(among, n)]


def _search(**options: Any) -> ExhaustiveSearch:
    search: ExhaustiveSearch = ExhaustiveSearch(
        GaussianNB(), cv=4, random_state=0, n_jobs=1, **options
    ).fit(X_, CODES)
    return search


def test_it_selects_the_optimum() -> None:
    free = _search()
    assert tuple(np.flatnonzero(free.support_)) == _optimum(_all(1, 7))
    assert (free.n_evaluations_, free.stop_reason_) == (127, {"subsets": 127})
    assert free.observed_score_ == free.best_observed_score_
    sized = _search(n_features_to_select=(2, 3))
    assert tuple(np.flatnonzero(sized.support_)) == _optimum(_all(2, 3))
    assert sized.n_evaluations_ == 21 + 35
    assert _search(n_features_to_select=3).n_evaluations_ == 35
    paid = _search(size_penalty=0.06)
    assert tuple(np.flatnonzero(paid.support_)) == _optimum(_all(1, 7), 0.06)
    assert paid.n_features_ < free.n_features_
    expected = cross_val_score(GaussianNB(), X_[:, paid.support_], CODES, cv=4).mean()
    assert paid.observed_score_ == pytest.approx(expected, abs=1e-12)


def test_forced_forbidden_and_grouped() -> None:
    found = _search(
        forced_features=[5], forbidden_features=[0], feature_groups=[[1, 4]],
        n_features_to_select=(2, 3),
    )  # fmt: skip
    units = [(1, 4), (2,), (3,), (6,)]
    subsets = [
        tuple(sorted(sum((units[u] for u in chosen), (5,)))) for chosen in _all(1, 2, range(4))
    ]
    assert found.n_evaluations_ == len(subsets) == 10
    scores = [
        cross_val_score(GaussianNB(), X_[:, list(s)], CODES, cv=4).mean() for s in subsets
    ]  # fmt: skip
    assert found.observed_score_ == pytest.approx(max(scores), abs=1e-12)
    assert tuple(np.flatnonzero(found.support_)) in [
        s for s, score in zip(subsets, scores, strict=True) if score > max(scores) - 1e-12
    ]


def test_no_search_beats_it_on_its_folds() -> None:
    options: dict[str, Any] = {"cv": 4, "n_repeats": 1, "resample": False, "random_state": 0}
    best = _search().observed_score_
    walk = BinarySPSA(GaussianNB(), max_iter=40, **options).fit(X_, CODES)
    drawn = RandomSearch(GaussianNB(), max_evaluations=96, **options).fit(X_, CODES)
    assert max(walk.best_observed_score_, drawn.best_observed_score_) <= best


def test_too_many_subsets_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(30, 26))
    every = (
        "^subsets of 1 to 26 of 26 features are too many for an exhaustive search, which takes "
        r"33,554,432 at most \(all of 25 features\): give n_features_to_select=\(1, 12\) or "
        "smaller sizes, leave features out by forbidden_features, or search with another method$"
    )
    some = r"^n_features_to_select=\(2, 26\): .* give n_features_to_select=\(2, 12\) or"
    for options, said in (({}, every), ({"n_features_to_select": (2, 26)}, some)):
        with pytest.raises(ValueError, match=said):
            ExhaustiveSearch(GaussianNB(), **options).fit(X, CODES[:30])
    wide = np.random.default_rng(0).normal(size=(30, 80))
    for options, said in (
        # What is forced counts, as the user counts it: 1 to 5 of 79 are 24,122,255 subsets.
        ({"forced_features": [3]}, r"give n_features_to_select=\(2, 6\) or smaller sizes, leave"),
        ({"n_features_to_select": 9}, "^n_features_to_select=9: .*: leave features out by forb"),
    ):
        with pytest.raises(ValueError, match=said):
            ExhaustiveSearch(GaussianNB(), **options).fit(wide, CODES[:30])
    assert (
        ExhaustiveSearch(GaussianNB(), n_features_to_select=1).fit(X, CODES[:30]).n_features_ == 1
    )


@pytest.mark.parametrize("kind", [ExhaustiveSearch, RandomSearch])
def test_sizes_that_cannot_be(kind: Any) -> None:
    for size, message in (
        (8, "n_features_to_select=8 is more than the 7 features"),
        ((2, 9), "n_features_to_select=9 is more than the 7 features"),
        ((3, 2), r"must be a size, \(least, greatest\) or None, got \(3, 2\)"),
        ((1, 2, 3), r"must be a size, \(least, greatest\) or None, got \(1, 2, 3\)"),
        ((0.5, 2), r"must be a size, \(least, greatest\) or None, got \(0.5, 2\)"),
        (0, "n_features_to_select must be a whole number"),
        ("all", "n_features_to_select must be a whole number"),
    ):
        with pytest.raises(ValueError, match=message):
            kind(GaussianNB(), n_features_to_select=size).fit(X_, CODES)


def test_a_limit_cuts_the_batch() -> None:
    """Less than a batch may be asked for, and Gray-code order then shows what was measured."""
    found = _search(max_evaluations=3)
    assert (found.n_evaluations_, found.stop_reason_) == (3, {"max_evaluations": 3})
    assert tuple(np.flatnonzero(found.support_)) == _optimum([(0,), (1,), (0, 1)])
    drawn = RandomSearch(GaussianNB(), cv=4, max_evaluations=5, random_state=0).fit(X_, CODES)
    assert drawn.n_evaluations_ == 5


# -- at random ---------------------------------------------------------------------------------


def test_random_subsets_have_the_sizes_asked_for() -> None:
    seen: list[int] = []
    found = RandomSearch(
        KNeighborsClassifier(1), cv=2, n_repeats=1, n_features_to_select=(3, 5), random_state=1,
        max_evaluations=960, forced_features=[2], n_jobs=1,
        callbacks=[lambda step: seen.extend(step.masks.counts().tolist())],
    ).fit(X_, CODES)  # fmt: skip
    counts = np.bincount(seen, minlength=8)
    assert counts.sum() == found.n_evaluations_ == 960
    assert counts[[0, 1, 2, 6, 7]].sum() == 0
    assert (np.abs(counts[3:6] - 320) < 5 * np.sqrt(320)).all()
    assert found.support_[2]
    assert 3 <= found.n_features_ <= 5


def test_another_seed_is_another_search() -> None:
    options: dict[str, Any] = {"cv": 2, "n_repeats": 1, "max_evaluations": 64, "n_jobs": 1}
    first, again, other = (
        RandomSearch(KNeighborsClassifier(1), random_state=seed, **options).fit(X_, CODES)
        for seed in (0, 0, 1)
    )
    for name in ("score", "n_selected"):
        assert (first.history_[name] == again.history_[name]).all()
    assert (first.history_["n_selected"] != other.history_["n_selected"]).any()


def test_without_a_limit_it_is_refused() -> None:
    with pytest.raises(ValueError, match="RandomSearch never stops by itself: give max_evaluation"):
        RandomSearch(GaussianNB(), max_evaluations=None).fit(X_, CODES)
    stopped = RandomSearch(
        GaussianNB(), cv=2, n_repeats=1, max_evaluations=None, callbacks=[lambda _: True]
    ).fit(X_, CODES)
    assert (stopped.n_iter_, stopped.n_evaluations_) == (1, 32)
