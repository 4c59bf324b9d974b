"""A search that recommends: its mask is the answer, measured and never exchanged for another."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from test_checkpoint import assert_same_run, the_file
from test_checkpoint_numbers import put, rewrite, shorten
from test_run import Clock, Interrupted, Timed
from toys import Planted, Recommending, Resampleable, Scripted, Sequential, planted

from bitsieve import _checkpoint as checkpoint
from bitsieve._errors import CheckpointMismatch
from bitsieve._random import SeedWords, Stream
from bitsieve.fitness import compile
from bitsieve.masks import Masks
from bitsieve.search import BinarySPSASearch, run

NONE = None


def go(search, toy, **options):
    options = {"choose": "recommended", "random_state": 0, "progress": False, **options}
    return run(search, toy, **options)


def tables():
    """Small tables with a jitter that breaks ties between distances."""
    rng = np.random.default_rng(0)
    for X, y in (load_iris(return_X_y=True), load_wine(return_X_y=True)):
        rows = rng.permutation(len(y))[:60]
        X = X[rows, :6]
        yield X + 1e-6 * rng.normal(size=X.shape), y[rows]
    X, y = rng.normal(size=(50, 6)), rng.integers(0, 2, 50)
    X[:, 2] += y
    yield X, y


def test_sequential_search_selects_what_scikit_learn_selects():
    n_exchanged = 0
    for k, (X, y) in enumerate(tables()):
        p = X.shape[1]
        estimator = KNeighborsClassifier(1 + 2 * (k % 2))
        fitness = compile(estimator, X, y, cv=3, n_jobs=1)
        for backward, size in ((False, 3), (True, p - 2)):
            direction = "backward" if backward else "forward"
            theirs = SequentialFeatureSelector(
                estimator, n_features_to_select=size, direction=direction, cv=3
            ).fit(X, y)
            result = go(Sequential(p, size, backward=backward), fitness)
            np.testing.assert_array_equal(result.support, theirs.support_)
            assert result.stop_reason == {"size": size}
            path = range(1, size + 1) if not backward else range(p - 1, size - 1, -1)
            assert result.history["n_selected"].tolist() == list(path)
            score = cross_val_score(estimator, X[:, theirs.support_], y, cv=3).mean()
            assert result.history["score"][-1] == pytest.approx(score, abs=1e-12)
            search = Sequential(p, size, backward=backward)
            other = go(search, fitness, choose="remeasured")
            np.testing.assert_array_equal(search.mask, theirs.support_)  # it walked the same path
            n_exchanged += not np.array_equal(other.support, theirs.support_)
    assert n_exchanged >= 2  # of 6: the best measured mask is not where the path ends


def test_history_is_that_of_the_recommended_mask():
    a, b, c, d, none = [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]
    asks = [[a, d], [a, b], [c, d], [a, b], [c, d], [b, d], [none, a]]
    #       none   asked  asked   kept   other  elsewhere  an empty one
    recommended = [NONE, a, c, c, d, a, none]
    toy = Planted(np.ones(4), resample=False)  # the score is the share of features
    seen = []
    with pytest.raises(ValueError, match="recommends an empty mask after 14 evaluations: start"):
        go(Recommending(asks, recommended), toy, callbacks=[seen.append])
    columns = {
        "score": [np.nan, 0.25, 0.75, 0.75, 1.0, 0.25, 0.0],
        "best_observed": [np.nan, 0.25, 0.75, 0.75, 1.0, 1.0, 1.0],
        "n_selected": [0, 1, 3, 3, 4, 1, 0],
        "n_selected_best": [0, 1, 3, 3, 4, 4, 4],
    }
    for name, column in columns.items():
        np.testing.assert_array_equal([getattr(at, name) for at in seen], column, name)
    for at, mask in zip(seen, recommended, strict=True):
        if mask is None:
            assert at.recommended is None
        else:
            assert at.recommended.to_bool()[0].tolist() == [bool(f) for f in mask]
    # All of an ask but the recommended mask is passed over, however good.
    result = go(Recommending(asks[:6], recommended[:6]), toy)
    assert result.support.tolist() == [True, False, False, False]
    assert (result.best_score, result.observed_score) == (0.25, 0.25)
    assert result.best_observed_score == 1.0
    for name, column in columns.items():
        np.testing.assert_array_equal(result.history[name], column[:6], name)
    # The answer first, then what was recommended on the way, the best first.
    assert [f.observed_score for f in result.finalists] == [0.25, 1.0, 0.75]
    assert [f.iteration for f in result.finalists] == [1, 4, 2]
    # Once it was told nothing of the mask, in iteration 5: this and no other was scored beside.
    assert (result.n_evaluations, result.n_final_evaluations) == (12, 1)


def test_a_recommendation_that_is_asked_for_again_has_its_new_score():
    a, b = [1, 0, 0, 0], [1, 1, 0, 0]
    search = Recommending([[a, b], [b, a], [b, b], [a, b]], [a, a, a, a])
    result = go(search, Planted(np.ones(4), noise=0.3))
    told = [search.told[0][0], search.told[1][1], search.told[1][1], search.told[3][0]]
    np.testing.assert_array_equal(result.history["score"], told)
    assert len(set(told)) == 3
    first = result.finalists[0]
    assert (first.n_measurements, first.observed_score) == (3, max(told))
    assert first.mean_score == pytest.approx(np.mean([told[0], told[1], told[3]]), rel=1e-12)


def test_none_at_the_end_and_what_is_no_recommendation():
    asks = [[[1, 0, 0]], [[1, 1, 0]]]
    with pytest.raises(ValueError, match="recommends no mask after 2 evaluations: start"):
        go(Recommending(asks, [[1, 0, 0], NONE]), Planted([1, 1, 1]))
    for answer, message in (
        (np.ones(3, bool), r"Odd\.recommend\(\) must return Masks, .* got array"),
        (Masks.from_indices([[0], [1]], 3), r"a batch of one or of none, got <Masks: 2 of 3"),
        (Masks.full(4), r"Odd\.recommend\(\) must return a mask of 3 features, got 4"),
    ):

        class Odd(Scripted):
            def recommend(self, answer=answer):
                return answer

        with pytest.raises(ValueError, match=message):
            go(Odd(asks), Planted([1, 1, 1]))
    toy = Planted(planted(8))
    with pytest.raises(ValueError, match=r"needs a search with recommend\(\), which BinarySPSAS"):
        go(BinarySPSASearch(8), toy, max_iter=2)
    with pytest.raises(ValueError, match="choose must be 'remeasured' or 'recommended', got 'best"):
        go(BinarySPSASearch(8), toy, max_iter=2, choose="best")


def test_patience_counts_iterations_without_a_better_recommendation():
    masks = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], bool)
    toy = Planted(np.ones(4), resample=False)
    # The asks get better all the time, the recommendations until iteration 2.
    asks = [[masks[min(k, 3)], masks[3]] for k in range(9)]
    recommended = [masks[0], NONE, masks[1], masks[0], masks[1], *[masks[0]] * 4]
    result = go(Recommending(asks, recommended), toy, patience=3)
    assert (result.n_iterations, result.stop_reason) == (6, {"patience": 3})
    assert result.support.tolist() == masks[0].tolist()


def test_it_is_measured_on_seeds_that_had_no_part_in_anything():
    p = 9
    fresh = Planted(planted(p), noise=0.3)
    expected = SeedWords(4, Stream.measurement).take(5, 5)
    for toy in (fresh, Resampleable(planted(p), noise=0.3, resample=False)):
        for folds in ("common", "independent"):
            toy.calls.clear()
            result = go(Sequential(p, 5), toy, random_state=4, folds=folds)
            scores = [fresh.evaluate(result.mask, int(seed))[0] for seed in expected]
            assert result.best_score == pytest.approx(np.mean(scores), rel=1e-12)
            assert result.n_final_evaluations == 5
            assert result.finalists[0].measured_score == result.best_score
            assert result.finalists[0].mask == result.mask
            assert np.isnan([f.measured_score for f in result.finalists[1:]]).all()
            assert [f.n_selected for f in result.finalists[1:]] != []
    assert len(go(Sequential(p, 5), fresh, n_finalists=2).finalists) == 2


def test_a_recommendation_that_the_archive_forgot_is_still_the_answer():
    """Backward elimination of useful features: each is worse than all before."""
    p = 30
    toy = Planted(np.ones(p), resample=False)
    result = go(Sequential(p, 2, backward=True), toy, n_finalists=1)
    assert result.mask.counts().tolist() == [2]
    assert result.observed_score == pytest.approx(2 / p)
    assert result.best_observed_score == pytest.approx(29 / p)


def scripted(n_iterations, p=70):
    """Asks of three random masks; recommended is one of them, the last again, or any."""
    rng = np.random.default_rng(1)
    asks = rng.random((n_iterations, 3, p)) < 0.5
    recommended = [NONE]
    for k in range(1, n_iterations):
        kind = rng.integers(0, 8)
        mask = asks[k, 1] if kind < 4 else recommended[-1] if kind < 6 else rng.random(p) < 0.5
        recommended.append(NONE if kind == 7 and k + 1 < n_iterations else mask)
    return lambda: Recommending(asks, recommended)


def test_interrupted_anywhere_it_ends_the_same(tmp_path):
    for folds, resample in (("common", True), ("independent", True), ("common", False)):
        directory = tmp_path / f"{folds} {resample}"
        interrupt(directory, folds, resample)


def interrupt(directory, folds, resample):
    new = scripted(60)
    truth = planted(70)

    def once(fitness, **options):
        return go(new(), fitness, folds=folds, n_finalists=3, random_state=3, **options)

    toy = Planted(truth, noise=0.1, resample=resample)
    whole = once(toy)
    rng = np.random.default_rng(0)
    n_stops = 0
    while True:
        fitness = Interrupted(truth, noise=0.1, resample=resample, at=int(rng.integers(2, 15)))
        try:
            once(fitness, checkpoint=directory)
        except KeyboardInterrupt as stop:
            n_stops += 1
            partial = stop.partial_result
            k = partial.n_iterations if partial else 0
            if partial is None or k == 60:
                continue
            np.testing.assert_array_equal(partial.history["score"], whole.history["score"][:k])
            # What was recommended then, and not the best so far.
            assert partial.mask.counts()[0] == whole.history["n_selected"][k - 1]
            assert np.isnan(partial.best_score)
        else:
            break
    assert n_stops > 4
    calls = len(toy.calls)
    result = once(toy, checkpoint=directory)
    assert len(toy.calls) == calls  # given back
    assert_same_run(result, whole)
    assert result.n_final_evaluations == whole.n_final_evaluations > 3
    # Stopped where the search recommends something, and gone on where limits are raised.
    stop = int(np.flatnonzero(whole.history["n_selected"])[20]) + 1
    short = once(toy, checkpoint=directory / "short", max_iter=stop)
    assert short.mask.counts()[0] == whole.history["n_selected"][stop - 1]
    longer = once(toy, checkpoint=directory / "short")
    assert longer.resumed_at == stop
    assert_same_run(longer, whole)


def test_other_choices_are_other_files_and_the_default_is_as_it_was(tmp_path, monkeypatch):
    named = []
    monkeypatch.setattr(
        sys.modules["bitsieve.search.run"],
        "fingerprint",
        lambda parts: (named.append(parts["run"]), checkpoint.fingerprint(parts))[1],
    )
    toy = Planted(planted(9), noise=0.1)
    for n, options in enumerate(({"choose": "remeasured"}, {"choose": "recommended"}), start=1):
        go(Sequential(9, 3), toy, checkpoint=tmp_path, **options)
        assert len(list(tmp_path.iterdir())) == n
    run(Sequential(9, 3), toy, checkpoint=tmp_path, random_state=0, progress=False)
    assert len(list(tmp_path.iterdir())) == 2
    assert named[2] == {"seed": "0", "folds": "common", "finalists": 10, "final": 5}


def test_changed_files_are_refused(tmp_path):
    toy = Planted(planted(9), noise=0.1)
    whole = go(Sequential(9, 3), toy, checkpoint=tmp_path)
    path = the_file(tmp_path)
    content = path.read_bytes()
    changes = [
        shorten("recommended/"),
        shorten("n_scored"),
        put("n_scored", -1),
        put("recommended/words", 1),
        put("recommended/best", -1.0),
        put("recommended/n_selected", 7),
        put("history/score", np.nan, where=-1),
        put("history/score", 2.0, where=-1),
        put("final/measured", np.nan),
        put("final/measured", np.inf, where=-1),
        put("final/order", 1),
        shorten("final/measured"),
    ]
    for number, change in enumerate(changes):
        rewrite(path, change, sign=True)
        print(f"change {number}")  # which one, if it is not noticed
        with pytest.raises(CheckpointMismatch, match="holds what no run of this kind writes"):
            go(Sequential(9, 3), toy, checkpoint=tmp_path)
        path.write_bytes(content)
    assert_same_run(go(Sequential(9, 3), toy, checkpoint=tmp_path), whole)


def test_time_for_it_is_kept_and_what_is_cut_is_said(monkeypatch, tmp_path):
    def once():
        clock = Clock(monkeypatch)
        toy = Timed(clock, planted(12), noise=0.3)
        return go(Sequential(12, 12), toy, max_time=30.0, checkpoint=tmp_path), clock.now - 100.0

    result, taken = once()
    # Two asks of 12 and 11 masks; a third of 10 would leave no time.
    assert (result.n_iterations, result.stop_reason) == (2, {"max_time": 30.0})
    assert (result.n_final_evaluations, result.final_cut, taken) == (5, None, 28.0)
    again, taken = once()
    assert taken == 0.0
    assert_same_run(again, result)
    clock = Clock(monkeypatch)
    result = go(Sequential(12, 12), Timed(clock, planted(12), noise=0.3), max_time=14.5)
    assert result.final_cut == "the recommended mask was measured 2 times instead of 5"
    assert (result.n_final_evaluations, clock.now) == (2, 114.0)
    seeds = SeedWords(0, Stream.measurement).take(5, 2)
    toy = Planted(planted(12), noise=0.3)
    again = np.mean([toy.evaluate(result.mask, int(seed))[0] for seed in seeds])
    assert result.best_score == pytest.approx(again, rel=1e-12)
