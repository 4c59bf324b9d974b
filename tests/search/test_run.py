"""The loop: budgets, seeds, folds, cache, the best so far, history, callbacks, the final choice."""

from __future__ import annotations

import time

import numpy as np
import pytest
from each import each
from toys import Planted, Resampleable, Scripted, planted

from bitsieve._random import SeedWords, Stream
from bitsieve.masks import Masks
from bitsieve.search import (
    BinarySPSASearch,
    ExhaustiveMaskSearch,
    SequentialSearch,
    UnitSearch,
    final,
    loop,
    run,
)
from bitsieve.search.scoring import Scorer


def same_but_for_seconds(a, b):
    assert a.keys() == b.keys()
    for name in a.keys() - {"seconds"}:
        assert a[name].tobytes() == b[name].tobytes(), name


def spsa_run(toy, **options):
    options = {"max_iter": 50, "random_state": 0, "progress": False, **options}
    return run(BinarySPSASearch(toy.n_features), toy, **options)


# -- budgets ---------------------------------------------------------------------------------------


@each("limit", [3, 4, 5, 6, 30, 31])
def test_max_evaluations_is_never_passed(limit):
    toy = Planted(planted(20))
    result = spsa_run(toy, max_iter=None, max_evaluations=limit)
    assert result.n_evaluations == limit // 3 * 3
    assert result.stop_reason == {"max_evaluations": limit}
    assert toy.n_evaluations == result.n_evaluations + result.n_final_evaluations


def test_max_iter_is_exact():
    result = spsa_run(Planted(planted(20)), max_iter=17)
    assert (result.n_iterations, result.n_evaluations) == (17, 51)
    assert result.stop_reason == {"max_iter": 17}
    assert all(len(column) == 17 for column in result.history.values())


class Clock:
    """Stands for the time module: it goes on only while masks are scored."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        for module in (loop, final):
            monkeypatch.setattr(module, "time", self)

    def perf_counter(self):
        return self.now


class Timed(Planted):
    """A second (or ``cost``) for each mask; ``later`` times as much for measuring finalists."""

    def __init__(self, clock, *args, cost=1.0, later=1.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.clock, self.cost, self.later = clock, cost, later
        self.measuring = set(SeedWords(0, Stream.measurement).take(0, 10).tolist())

    def evaluate(self, masks, seeds=0):
        factor = self.later if int(np.ravel(seeds)[0]) in self.measuring else 1.0
        self.clock.now += self.cost * factor * len(masks)
        return super().evaluate(masks, seeds)


def timed_run(monkeypatch, max_time, **costs):
    clock = Clock(monkeypatch)
    result = spsa_run(
        Timed(clock, planted(20), noise=0.3, **costs), max_iter=10_000, max_time=max_time
    )
    return result, clock.now - 100.0


def test_max_time_counts_the_final_measurement_too(monkeypatch):
    result, taken = timed_run(monkeypatch, 10.0, cost=0.01)
    assert 9.9 < taken <= 10.0
    assert result.n_final_evaluations == 55
    assert result.final_cut is None
    assert result.stop_reason == {"max_time": 10.0}


def test_what_there_is_no_time_for_is_cut_and_said(monkeypatch):
    result, taken = timed_run(monkeypatch, 10.0, cost=0.1)
    assert 9.0 < taken <= 10.0
    assert result.final_cut == (
        "10 of 10 finalists were measured again, 2 + 2 times instead of 5 + 5"
    )
    assert result.n_final_evaluations == 22
    assert not np.isnan(result.best_score)
    # One iteration fills more than half of it: a single mask, of which nothing is chosen.
    result, taken = timed_run(monkeypatch, 5.0)
    assert (result.n_iterations, taken) == (1, 5.0)
    assert result.final_cut == "1 of 1 finalists were measured again, 0 + 2 times instead of 5 + 5"
    assert result.finalists[0].measured_score == result.best_score
    # The same seeds as ever: those of the second measurement.
    toy = Planted(planted(20), noise=0.3)
    seeds = SeedWords(0, Stream.measurement).take(5, 2)
    again = np.mean([toy.evaluate(result.mask, int(seed))[0] for seed in seeds])
    assert result.best_score == pytest.approx(again, rel=1e-12)


def test_measurements_that_cost_more_than_the_search_end_in_time(monkeypatch):
    result, taken = timed_run(monkeypatch, 10.0, cost=0.01, later=8.0)
    assert taken <= 11.0  # one pass over the finalists at most
    assert result.final_cut.startswith("10 of 10 finalists were measured again, ")


@each(
    ("count", "kept"),
    [(0, (1, 1)), (2, (1, 2)), (3, (2, 1)), (7, (6, 1)), (10, (9, 1)), (11, (10, 1)),
     (21, (10, 1)), (22, (10, 2)), (54, (10, 4)), (55, (10, 5))],
)  # fmt: skip
def test_what_is_left_is_never_overspent(monkeypatch, count, kept):
    """Ten finalists five times and the choice as often: 55 evaluations, or as many as there are."""
    clock = Clock(monkeypatch)
    assert final.Deadline(clock.now + count + 0.5, 1.0).affordable(10, 5) == kept


def test_a_run_whose_measurement_was_cut_is_read_again(monkeypatch, tmp_path):
    def go(clock):
        toy = Timed(clock, planted(20), noise=0.3)
        search = BinarySPSASearch(20, admit_perturbed=True)
        return run(search, toy, max_time=40.0, n_finalists=20, checkpoint=tmp_path, random_state=0)

    first = go(Clock(monkeypatch))
    assert first.final_cut.startswith("12 of 20 finalists were measured again, ")
    clock = Clock(monkeypatch)
    again = go(clock)
    assert clock.now == 100.0
    assert again.final_cut == first.final_cut
    assert [vars(f) for f in again.finalists] == [vars(f) for f in first.finalists]
    assert again.best_score == first.best_score


def test_a_run_without_time_limit_is_measured_in_full(monkeypatch):
    clock = Clock(monkeypatch)
    result = spsa_run(Timed(clock, planted(20)), max_iter=3)
    assert result.final_cut is None


def test_one_iteration_and_one_measurement_are_always_made(monkeypatch):
    result, taken = timed_run(monkeypatch, 1e-6)
    assert (result.n_iterations, result.n_final_evaluations, taken) == (1, 1, 4.0)
    assert not np.isnan(result.best_score)


def test_how_long_it_will_take_is_said_once(monkeypatch, caplog):
    clock = Clock(monkeypatch)
    with caplog.at_level("INFO", logger="bitsieve"):
        spsa_run(Timed(clock, planted(20), cost=0.2), max_iter=50)
    assert [r.getMessage() for r in caplog.records] == ["at most about 41 s for this search"]
    assert caplog.records[0].search_seconds == pytest.approx(0.2 * (150 + 55))
    caplog.clear()
    with caplog.at_level("INFO", logger="bitsieve"):
        spsa_run(Timed(clock, planted(20)), max_iter=10**6, patience=5, max_time=100.0)
    assert [r.getMessage() for r in caplog.records] == ["at most about 2 min for this search"]
    caplog.clear()
    with caplog.at_level("INFO", logger="bitsieve"):
        spsa_run(Timed(clock, planted(20), cost=1e-4), max_iter=50)
        spsa_run(Timed(clock, planted(20)), max_iter=None, callbacks=[lambda at: at.iteration > 3])
    assert not caplog.records  # over at once, or nobody knows when


def test_a_search_that_ends_itself_says_how_long(monkeypatch, caplog):
    """20 single features, 19 and 18 more; floating may take more of them, a limit fewer."""
    clock = Clock(monkeypatch)

    def said(search, **limits):
        caplog.clear()
        toy = Timed(clock, planted(20))
        with caplog.at_level("INFO", logger="bitsieve"):
            result = run(search, toy, choose="recommended", random_state=0, **limits)
        (record,) = caplog.records
        assert record.getMessage().endswith(" for this search")
        # A second each; the answer is measured five times more.
        return record.search_bound, record.search_seconds - 5.0, result.n_evaluations

    bound, seconds, n = said(SequentialSearch(20, size=3))
    assert (bound, seconds, n) == ("about", 57.0, 57)
    bound, seconds, n = said(SequentialSearch(20, size=17, direction="backward"))
    assert (bound, seconds, n) == ("about", 58.0, 58)
    bound, seconds, n = said(SequentialSearch(20, size=(1, 3), patience=9))
    assert (bound, seconds) == ("at most", 57.0)
    bound, seconds, n = said(SequentialSearch(20, size=3, floating=True))
    assert (bound, seconds) == ("at least", 57.0)
    assert n >= 57
    bound, seconds, n = said(SequentialSearch(20, size=3, floating=True), max_evaluations=45)
    assert (bound, seconds, n) == ("at most", 45.0, 41)
    bound, seconds, n = said(SequentialSearch(20, size=3, plus_l_minus_r=(2, 1)))
    assert (bound, seconds) == ("about", float(n))
    bound, seconds, n = said(ExhaustiveMaskSearch(20, max_size=2, n_asked=50))
    assert (bound, seconds, n) == ("at most", 210.0, 210)
    units = UnitSearch(SequentialSearch(10, size=3), np.arange(20) // 2)
    assert said(units) == ("about", 27.0, 27)


def test_what_the_first_iteration_starts_is_not_counted_on(monkeypatch, caplog):
    class Starting(Timed):
        def evaluate(self, masks, seeds=0):
            clock.now += 5.0 if not self.calls else 0.0  # processes that start
            return super().evaluate(masks, seeds)

    clock = Clock(monkeypatch)
    with caplog.at_level("INFO", logger="bitsieve"):
        spsa_run(Starting(clock, planted(20), cost=0.01), max_iter=1000)
    assert caplog.records[0].search_seconds == pytest.approx(5.0 + 0.01 * (3 * 1000 + 55), rel=0.01)


def test_patience_counts_iterations_without_a_new_best():
    p = 4
    masks = [[[1, 0, 0, 0]], [[1, 1, 0, 0]], *[[[1, 0, 0, 0]]] * 9]
    toy = Planted(np.ones(p, bool), resample=False)
    result = run(Scripted(masks), toy, patience=3, progress=False)
    # New best at iteration 1; 2, 3 and 4 bring none.
    assert result.n_iterations == 5
    assert result.stop_reason == {"patience": 3}


def test_an_equal_score_is_no_new_best():
    masks = [[[1, 0, 0, 0]], [[0, 1, 0, 0]], [[0, 0, 1, 0]], [[0, 0, 0, 1]]]
    toy = Planted(np.ones(4, bool), resample=False)
    result = run(Scripted(masks), toy, patience=2, progress=False)
    assert result.n_iterations == 3
    assert result.support.tolist() == [True, False, False, False]


@each("limits", [{}, {"callbacks": ()}])
def test_a_run_that_would_never_end_is_refused(limits):
    with pytest.raises(
        ValueError, match=r"never stops by itself: give max_iter, max_evaluations, max_time"
    ):
        spsa_run(Planted(planted(8)), max_iter=None, **limits)


def test_a_callback_or_the_search_may_end_a_run():
    limits = {"max_iter": None, "callbacks": [lambda at: at.iteration == 9]}
    assert spsa_run(Planted(planted(8)), **limits).n_iterations == 10
    search = BinarySPSASearch(8, stop_when_decided=True)
    result = run(search, Planted(planted(8)), random_state=0, progress=False)
    assert result.stop_reason == {"decided": True}


def test_a_fitness_that_does_not_say_whether_its_folds_are_fresh_is_refused():
    toy = Planted(planted(20), resample=None)
    message = r"^Planted\.resample must be True \(.*\) or False \(a mask .*\), got None$"
    with pytest.raises(ValueError, match=message):
        spsa_run(toy)
    del toy.resample
    with pytest.raises(ValueError, match=message):
        spsa_run(toy)
    assert toy.calls == []


def test_the_search_stops_itself():
    result = run(Scripted([[[1, 0]], [[1, 1]]]), Planted([1, 1]), progress=False)
    assert result.stop_reason == {"script": 2}
    assert result.support.tolist() == [True, True]


@each(
    ("options", "message"),
    [
        ({"max_iter": 0}, "max_iter must be a whole number from 1 on or None, got 0"),
        ({"max_iter": 1.5}, "max_iter must be"),
        ({"patience": True}, "patience must be"),
        ({"max_time": 0}, "max_time must be a number of seconds above 0 or None, got 0"),
        ({"max_time": float("nan")}, "max_time must be"),
        ({"max_time": "1h"}, "max_time must be"),
        ({"max_evaluations": 2}, "max_evaluations=2 is fewer than the 3 masks of one iteration"),
        ({"folds": "shared"}, "folds must be 'common' or 'independent', got 'shared'"),
        ({"n_finalists": 0}, "n_finalists must be a whole number from 1 on, got 0"),
        ({"n_final_measurements": 0}, "n_final_measurements must be"),
        ({"callbacks": [3]}, "callbacks must be callable, got 3"),
        ({"random_state": -1}, r"random_state must lie in \[0, 2\*\*64\), got -1"),
        ({"random_state": "a"}, "random_state must be a whole number in"),
        ({"random_state": True}, "random_state must be a whole number in"),
        ({"max_iter": float("inf")}, "max_iter must be .* got inf"),
        ({"max_iter": float("nan")}, "max_iter must be .* got nan"),
        ({"callbacks": print}, "callbacks must be a list of callables, got <built-in function pr"),
        ({"resume": None}, "resume must be True or False, got None"),
        ({"progress": "x"}, "progress must be True, False or None, got 'x'"),
        ({"checkpoint": 3}, "checkpoint must name a directory, got int 3"),
        ({"checkpoint": ""}, "checkpoint must name a directory, got ''"),
        ({"checkpoint": "a\0b"}, r"checkpoint must name a directory, got 'a\\x00b'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        spsa_run(Planted(planted(8)), **options)


def test_other_number_of_features():
    with pytest.raises(ValueError, match="the search is over 7 features, the fitness has 8"):
        run(BinarySPSASearch(7), Planted(planted(8)), max_iter=1)


@each("bad", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_refused(bad):
    class Broken(Planted):
        def evaluate(self, masks, seeds=0):
            scores = super().evaluate(masks, seeds)
            scores[1] = bad
            return scores

    with pytest.raises(ValueError, match=rf"returned {bad} for mask 1 of 3 \(with \d of 8 feat"):
        spsa_run(Broken(planted(8)))


def test_scores_of_another_shape_are_refused():
    class Broken(Planted):
        def evaluate(self, masks, seeds=0):
            return np.zeros((len(masks), 2))

    with pytest.raises(ValueError, match=r"one score a mask, shape \(3,\), got shape \(3, 2\)"):
        spsa_run(Broken(planted(8)))


# -- seeds and folds -------------------------------------------------------------------------------


def test_same_seed_same_result():
    a, b = (spsa_run(Planted(planted(70), noise=0.1), random_state=5) for _ in range(2))
    same_but_for_seconds(a.history, b.history)
    assert (a.mask, a.best_score, a.seed) == (b.mask, b.best_score, 5)
    assert [f.measured_score for f in a.finalists] == [f.measured_score for f in b.finalists]
    other = spsa_run(Planted(planted(70), noise=0.1), random_state=6)
    assert other.history["score"].tolist() != a.history["score"].tolist()


def test_results_are_compared_by_identity():
    a, b = (spsa_run(Planted(planted(20)), max_iter=3) for _ in range(2))
    assert a != b
    assert len({a, b}) == 2


def test_common_folds_are_one_word_an_iteration():
    toy = Planted(planted(20))
    spsa_run(toy, max_iter=5, random_state=7)
    assert [seeds for _, seeds in toy.calls[:5]] == SeedWords(7, Stream.folds).take(0, 5).tolist()


def test_independent_folds_are_one_word_an_evaluation():
    toy = Planted(planted(20))
    spsa_run(toy, max_iter=5, random_state=7, folds="independent")
    words = SeedWords(7, Stream.folds).take(0, 15)
    np.testing.assert_array_equal(np.concatenate([s for _, s in toy.calls[:5]]), words)
    assert len(set(words.tolist())) == 15


def test_final_seeds_are_words_of_their_own_stream():
    toy = Planted(planted(20))
    spsa_run(toy, max_iter=5, random_state=7, n_final_measurements=4)
    seeds = [seeds for _, seeds in toy.calls[5:]]
    assert seeds == SeedWords(7, Stream.measurement).take(0, 8).tolist()
    assert not set(seeds) & set(SeedWords(7, Stream.folds).take(0, 15).tolist())


def test_random_states():
    a = spsa_run(Planted(planted(20)), random_state=np.random.default_rng(1)).seed
    b = spsa_run(Planted(planted(20)), random_state=np.random.default_rng(1)).seed
    c = spsa_run(Planted(planted(20)), random_state=np.random.RandomState(1)).seed
    d = spsa_run(Planted(planted(20)), random_state=np.random.RandomState(1)).seed
    assert a == b
    assert c == d
    assert a != c
    drawn = spsa_run(Planted(planted(20)), random_state=None)
    again = spsa_run(Planted(planted(20)), random_state=drawn.seed)
    same_but_for_seconds(drawn.history, again.history)
    assert spsa_run(Planted(planted(20)), random_state=np.uint64(2**64 - 1)).seed == 2**64 - 1


def test_seed_words_do_not_depend_on_how_they_are_taken():
    words = SeedWords(3, Stream.folds).take(0, 5000)
    other = SeedWords(3, Stream.folds)
    for i in (4999, 0, 1023, 1024, 1025, 3, 2047):
        assert other.one(i) == words[i]
    np.testing.assert_array_equal(other.take(1021, 2000), words[1021:3021])


# -- cache -----------------------------------------------------------------------------------------


def test_fixed_folds_score_a_mask_once():
    a, b, c = [1, 0, 0], [0, 1, 0], [1, 1, 0]
    toy = Planted([1, 1, 1], resample=False, noise=0.3)
    search = Scripted([[a, b, a], [b, c], [c, a]])
    result = run(search, toy, progress=False)
    assert [n for n, _ in toy.calls] == [2, 1]
    assert result.n_evaluations == 7  # what the cache knew counts
    direct = Planted([1, 1, 1], resample=False, noise=0.3)
    for told, ask in zip(search.told, search.asks, strict=True):
        np.testing.assert_array_equal(told, direct.evaluate(Masks.from_bool(ask)))


def test_a_mask_that_stands_twice_on_the_same_folds_is_measured_once():
    p = 130
    base = Masks.from_bool(planted(p))
    near = Masks.neighbors(base.words, p, [3, 7, 3])
    # Those before the last have the same exclusive or of their words, the last has the first word
    # of another, and they are not the same.
    words = [[1, 2, 0], [2, 1, 0], [3, 0, 0], [1, 2, 0], [1, 4, 0]]
    rows = Masks.from_words(np.array(words, np.uint64), p)
    for resample in (True, False):
        for batch, common in ((near, 3), (rows, 4), (Masks.concatenate([base] * 4), 1)):
            for folds, n_measured in (("common", common), ("independent", len(batch))):
                if not resample:
                    n_measured = common
                toy = Planted(planted(p, 1), noise=0.3, resample=resample)
                got = Scorer(toy, 5, folds).score(batch, 2, 40)
                drawn = SeedWords(5, Stream.folds)
                seeds = drawn.take(40, len(batch)) if folds == "independent" else drawn.one(2)
                assert toy.n_evaluations == n_measured
                np.testing.assert_array_equal(got, toy.evaluate(batch, seeds))


def test_fresh_folds_score_a_mask_each_time():
    a = [1, 0, 0]
    toy = Planted([1, 1, 1], noise=0.3)
    search = Scripted([[a], [a], [a]])
    result = run(search, toy, progress=False, random_state=0, n_finalists=1, n_final_measurements=1)
    assert len({float(told[0]) for told in search.told}) == 3
    finalist = result.finalists[0]
    assert finalist.n_measurements == 3
    assert finalist.mean_score == pytest.approx(np.mean(search.told))
    assert finalist.observed_score == result.best_observed_score == np.max(search.told)


def test_cache_is_bounded():
    toy = Planted(planted(12), resample=False)
    scorer = Scorer(toy, 0, "common", max_cached=4)
    every = Masks.from_bool(np.array([[i >> f & 1 for f in range(12)] for i in range(40)], bool))
    first = scorer.score(every, 0, 0)
    np.testing.assert_array_equal(scorer.score(every, 1, 40), first)
    assert len(scorer._cache) == 4


def test_asks_of_one_mask_share_the_cache_and_its_bound():
    toy = Planted(planted(12), resample=False)
    scorer = Scorer(toy, 0, "common", max_cached=4)
    every = Masks.from_bool(np.array([[i >> f & 1 for f in range(12)] for i in range(6)], bool))
    together = Planted(planted(12), resample=False).evaluate(every)
    for i in (0, 1, 0, 2, 3, 3, 1):
        np.testing.assert_array_equal(scorer.score(every[i], i, i), together[[i]])
    assert toy.n_evaluations == 4
    np.testing.assert_array_equal(scorer.score(every[[3, 0]], 7, 7), together[[3, 0]])
    assert toy.n_evaluations == 4
    for i in (4, 5, 1):  # the oldest went
        scorer.score(every[i], 8, 9)
    assert toy.n_evaluations == 7
    assert len(scorer._cache) == 4


# -- the best so far and history -------------------------------------------------------------------


def test_history_says_what_happened():
    toy = Planted(planted(50), noise=0.05)
    iterations = []
    result = spsa_run(toy, max_iter=30, callbacks=[iterations.append])
    history = result.history
    assert list(history) == [
        "iteration",
        "n_evaluations",
        "score",
        "best_observed",
        "n_selected",
        "n_selected_best",
        "seconds",
    ]
    np.testing.assert_array_equal(history["iteration"], np.arange(30))
    np.testing.assert_array_equal(history["n_evaluations"], 3 * np.arange(1, 31))
    # The iterate alone counts, not the perturbed masks.
    np.testing.assert_array_equal(history["score"], [at.scores[0] for at in iterations])
    np.testing.assert_array_equal(history["best_observed"], np.maximum.accumulate(history["score"]))
    np.testing.assert_array_equal(history["n_selected"], [t.masks.counts()[0] for t in iterations])
    best = int(np.argmax(history["score"]))
    assert result.best_observed_score == history["score"][best]
    assert iterations[-1].best_mask == iterations[best].masks[0]
    assert history["n_selected_best"][-1] == history["n_selected"][best]


def test_perturbed_masks_count_when_admitted():
    toy = Planted(planted(50), noise=0.3)
    iterations = []
    search = BinarySPSASearch(50, admit_perturbed=True)
    callbacks = [iterations.append]
    result = run(search, toy, max_iter=40, random_state=1, callbacks=callbacks, progress=False)
    np.testing.assert_array_equal(result.history["score"], [t.scores.max() for t in iterations])


def test_only_eligible_masks_become_the_best():
    search = Scripted([[[1, 1, 1], [1, 0, 0]]], eligible=[False, True])
    result = run(search, Planted([1, 1, 1], resample=False), progress=False)
    assert result.support.tolist() == [True, False, False]


def test_empty_masks_are_scored_but_never_the_best():
    class LikesNothing(Planted):
        def evaluate(self, masks, seeds=0):
            return -masks.counts().astype(float)

    search = Scripted([[[0, 0, 0]], [[1, 1, 0]], [[0, 0, 0]], [[0, 1, 0]]])
    result = run(search, LikesNothing([1, 1, 1], resample=False), progress=False)
    assert result.support.tolist() == [False, True, False]
    np.testing.assert_array_equal(result.history["score"], [0, -2, 0, -1])
    np.testing.assert_array_equal(result.history["best_observed"], [np.nan, -2, -2, -1])


def test_only_empty_masks():
    search = Scripted([[[0, 0, 0]], [[0, 0, 0]]])
    with pytest.raises(ValueError, match="scored 2 masks and all of them were empty"):
        run(search, Planted([1, 1, 1]), progress=False)


def test_compact_neighborhoods_are_never_expanded(monkeypatch):
    p = 2000
    base = planted(p)

    class Forward(Scripted):
        def ask(self):
            return Masks.neighbors(base, p)

        def eligible(self):
            return np.ones(p, bool)

    class Flat(Planted):
        def evaluate(self, masks, seeds=0):
            assert masks.is_compact or len(masks) <= 10
            return np.arange(len(masks), dtype=float)

    expanded = []
    plain = Masks.words.fget
    monkeypatch.setattr(
        Masks, "words", property(lambda self: (expanded.append(len(self)), plain(self))[1])
    )
    search = Forward([np.ones((1, p), bool)])
    result = run(search, Flat(base, resample=False), progress=False)
    assert max(expanded) <= 40
    best = base.copy()
    best[p - 1] ^= True
    np.testing.assert_array_equal(result.support, best)


# -- callbacks -------------------------------------------------------------------------------------


def test_callbacks_stop_the_run_and_all_are_called():
    seen = []

    def stop(at):
        return at.iteration == 3

    result = spsa_run(Planted(planted(20)), callbacks=[stop, seen.append])
    assert result.n_iterations == 4
    assert [at.iteration for at in seen] == [0, 1, 2, 3]
    assert result.stop_reason == {"callback": True}
    result = spsa_run(Planted(planted(20)), callbacks=[lambda at: "enough"])
    assert result.stop_reason == {"callback": "enough"}


# -- final measurement -----------------------------------------------------------------------------


def test_finalists_are_the_best_distinct_masks_measured_on_the_same_seeds():
    toy = Planted(planted(30), noise=0.3)
    iterations = []
    result = spsa_run(toy, max_iter=200, callbacks=[iterations.append], n_final_measurements=6)
    by_mask = {}
    for at in iterations:
        by_mask.setdefault(at.masks.key(0), []).append(float(at.scores[0]))
    best = sorted((max(scores) for scores in by_mask.values()), reverse=True)[:10]
    assert sorted((f.observed_score for f in result.finalists), reverse=True) == best
    seeds = SeedWords(0, Stream.measurement).take(0, 12)
    for finalist in result.finalists:
        scores = [toy.evaluate(finalist.mask, int(seed))[0] for seed in seeds[:6]]
        assert finalist.measured_score == pytest.approx(np.mean(scores), rel=1e-12)
    measured = [f.measured_score for f in result.finalists]
    assert measured == sorted(measured, reverse=True)
    assert result.mask == result.finalists[0].mask
    second = [toy.evaluate(result.mask, int(seed))[0] for seed in seeds[6:]]
    assert result.best_score == pytest.approx(np.mean(second), rel=1e-12)
    assert result.n_final_evaluations == 11 * 6


def test_the_best_of_many_noisy_scores_is_too_good():
    # Pure noise: the observed maximum is high, both fresh measurements are near the truth.
    class Noise(Planted):
        def evaluate(self, masks, seeds=0):
            return super().evaluate(masks, seeds) - (masks.to_bool() == self.truth).mean(axis=1)

    toy = Noise(planted(200), noise=0.5)
    result = spsa_run(toy, max_iter=400, n_final_measurements=20)
    assert result.best_observed_score > 0.48
    assert abs(result.best_score) < 4 * 0.5 / np.sqrt(3 * 20)


def test_ties_go_to_fewer_features_then_to_the_earlier():
    class Flat(Planted):
        def evaluate(self, masks, seeds=0):
            return np.ones(len(masks))

    asks = [[[1, 1, 1]], [[0, 1, 1]], [[0, 0, 1]], [[0, 1, 0]]]
    result = run(Scripted(asks), Flat([1, 1, 1]), progress=False, random_state=0)
    assert result.support.tolist() == [False, False, True]
    assert [f.iteration for f in result.finalists] == [2, 3, 1, 0]


def test_fixed_folds_without_fresh_ones_keep_their_score():
    toy = Planted(planted(30), noise=0.3, resample=False)
    result = spsa_run(toy, max_iter=100)
    assert result.best_score == result.best_observed_score
    assert result.n_final_evaluations == 0
    assert result.finalists[0].measured_score == result.best_observed_score


def test_fixed_folds_that_offer_fresh_ones_are_measured_on_those():
    toy = Resampleable(planted(30), noise=0.3, resample=False)
    result = spsa_run(toy, max_iter=100)
    fresh = Planted(planted(30), noise=0.3)
    seeds = SeedWords(0, Stream.measurement).take(5, 5)
    scores = [fresh.evaluate(result.mask, int(seed))[0] for seed in seeds]
    assert result.best_score == pytest.approx(np.mean(scores), rel=1e-12)
    assert result.best_score != result.best_observed_score


def test_resampled_may_decline():
    class Declines(Planted):
        def resampled(self):
            return None

    result = spsa_run(Declines(planted(30), resample=False), max_iter=10)
    assert result.best_score == result.best_observed_score


# -- Ctrl-C ----------------------------------------------------------------------------------------


class Interrupted(Planted):
    """Raises KeyboardInterrupt in the given call."""

    def __init__(self, *args, at, **kwargs):
        super().__init__(*args, **kwargs)
        self.at = at

    def evaluate(self, masks, seeds=0):
        if len(self.calls) == self.at:
            raise KeyboardInterrupt
        return super().evaluate(masks, seeds)


def test_ctrl_c_carries_the_partial_result():
    whole = spsa_run(Planted(planted(30), noise=0.1))
    with pytest.raises(KeyboardInterrupt) as caught:
        spsa_run(Interrupted(planted(30), noise=0.1, at=20))
    partial = caught.value.partial_result
    assert partial.n_iterations == 20
    assert partial.stop_reason == {"interrupted": True}
    assert np.isnan(partial.best_score)
    assert partial.best_observed_score == whole.history["best_observed"][19]
    np.testing.assert_array_equal(partial.history["score"], whole.history["score"][:20])
    assert partial.support.any()
    assert partial.mask == partial.finalists[0].mask


def test_ctrl_c_before_the_first_iteration():
    with pytest.raises(KeyboardInterrupt) as caught:
        spsa_run(Interrupted(planted(30), at=0))
    assert caught.value.partial_result is None


def test_ctrl_c_in_the_final_measurement():
    with pytest.raises(KeyboardInterrupt) as caught:
        spsa_run(Interrupted(planted(30), at=52))
    assert caught.value.partial_result.n_iterations == 50


# -- speed -----------------------------------------------------------------------------------------


def test_overhead_of_an_iteration():
    # Measured: 12 us for 60 features, 20 us and the core's own work for 22,283. Ten times that
    # only fails where something is done per feature in Python.
    class Free:
        n_features, resample = 60, True

        def evaluate(self, masks, seeds=0):
            return np.zeros(len(masks))

    began = time.perf_counter()
    result = run(BinarySPSASearch(60), Free(), max_iter=2000, random_state=0, progress=False)
    assert (time.perf_counter() - began) / result.n_iterations < 200e-6


def test_the_observed_score_is_that_of_the_chosen_mask():
    result = spsa_run(Planted(planted(60), noise=0.3), max_iter=100, random_state=1)
    assert result.observed_score == result.finalists[0].observed_score
    assert result.observed_score < result.best_observed_score
    best = max(finalist.observed_score for finalist in result.finalists)
    assert best == result.best_observed_score


def test_whatever_the_time_every_finalist_that_is_kept_is_measured():
    for n_finalists in (1, 2, 10):
        for n_measurements in (1, 2, 5):
            most = (n_finalists + 1) * n_measurements
            for count in range(most + 2):
                ends = time.perf_counter() + 1000.0 * (count + 0.5)
                kept, passes = final.Deadline(ends, 1000.0).affordable(n_finalists, n_measurements)
                assert 1 <= kept <= n_finalists
                assert 1 <= passes <= n_measurements
                if count >= most:
                    assert (kept, passes) == (n_finalists, n_measurements)
