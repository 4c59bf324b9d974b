"""Clauses of the search contract."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.masks import Masks
from bitsieve.search.choice import Choose
from bitsieve.search.protocol import RecommendingSearch, Scores, Search, SeededSearch
from bitsieve.search.result import RunResult
from bitsieve.search.run import run
from bitsieve.testing._contract import (
    Contract,
    expect,
    global_generators_untouched,
    refused,
    same,
)
from bitsieve.testing._draws import normals

__all__ = ["CONTRACT", "Given", "MakeSearch"]

MakeSearch = Callable[[int], Search]
_SEED, _OTHER_SEED = 7, 2**63 + 11


@dataclass(frozen=True)
class Given:
    make: MakeSearch
    n_features: int
    n_iterations: int
    sizes: tuple[int, ...]
    variants: tuple[MakeSearch, ...]

    def new(self, seed: int = _SEED, n_features: int | None = None) -> Search:
        """A search that was given its seed, as the loop does before the first ask."""
        search = self.make(self.n_features if n_features is None else n_features)
        if isinstance(search, SeededSearch):
            search.set_seed(seed)
        return search


CONTRACT: Contract[Given] = Contract("search")


# -- what the clauses share ------------------------------------------------------------------------


def _score(masks: Masks) -> Scores:
    """Other masks, other scores; about half of the features do good."""
    scores: Scores = masks.to_bool() @ normals(3, masks.n_features)
    return scores


def _walk(search: Search, n_iterations: int) -> list[bytes]:
    """Drive a search and return what it asked, until it stops."""
    asked = []
    for _ in range(n_iterations):
        if search.stop():
            break
        masks = search.ask()
        asked.append(masks.words.tobytes())
        search.tell(masks, _score(masks))
    return asked


def _same_walk(got: list[bytes], expected: list[bytes], when: str) -> None:
    expect(len(got) == len(expected), f"{when} it asked {len(got)} times, not {len(expected)}")
    for k, (a, b) in enumerate(zip(got, expected, strict=True)):
        expect(a == b, f"{when} it proposed other masks from ask number {k} on")


def _copied(state: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in state.items()}


def _differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    return sorted(
        k for k in a.keys() | b.keys() if k not in a or k not in b or not same(a[k], b[k])
    )


def _parameters(search: Search) -> dict[str, Any]:
    return {name: value for name, value in search.state().items() if name != "seed"}


class _Toy:
    """A fitness for the loop; it may be struck at an evaluation, as by Ctrl-C."""

    resample = False

    def __init__(self, n_features: int, strike_at: int | None = None) -> None:
        self.n_features = n_features
        self.calls = 0
        self.strike_at = strike_at

    def evaluate(self, masks: Masks, seeds: int | NDArray[np.uint64] = 0) -> Scores:
        self.calls += 1
        if self.calls == self.strike_at:
            raise KeyboardInterrupt
        return _score(masks)

    def fingerprint(self) -> str:
        return f"toy of {self.n_features}"


def _run(given: Given, toy: _Toy, choose: Choose, folder: str | None = None) -> RunResult:
    return run(
        given.make(given.n_features),
        toy,
        choose=choose,
        max_iter=given.n_iterations,
        random_state=_SEED,
        checkpoint=folder,
        progress=False,
    )


# -- clauses ---------------------------------------------------------------------------------------


@CONTRACT.clause
def _asks_masks(given: Given) -> None:
    """every ask is one mask or more over the features that the search was made for"""
    for p in (given.n_features, *given.sizes):
        search = given.new(n_features=p)
        expect(search.n_features == p, f"made for {p} features it says {search.n_features}")
        for k in range(given.n_iterations):
            if search.stop():
                break
            masks = search.ask()
            expect(isinstance(masks, Masks), f"ask returned {type(masks).__name__}, not Masks")
            expect(
                masks.n_features == p,
                f"made for {p} features, ask number {k} has masks of {masks.n_features}",
            )
            expect(len(masks) > 0, f"ask number {k} has no mask")
            search.tell(masks, _score(masks))


@CONTRACT.clause
def _eligible_masks(given: Given) -> None:
    """eligible() has one bool for each mask of the last ask"""
    search = given.new()
    for k in range(given.n_iterations):
        if search.stop():
            break
        masks = search.ask()
        flags = np.asarray(search.eligible())
        expect(
            flags.dtype == np.bool_ and flags.shape == (len(masks),),
            f"ask number {k} has {len(masks)} masks, eligible() returned {flags.dtype} of shape "
            f"{flags.shape}",
        )
        search.tell(masks, _score(masks))


@CONTRACT.clause
def _ask_again(given: Given) -> None:
    """an ask that was not answered is no part of the state: the next ask repeats its masks"""
    search = given.new()
    for k in range(given.n_iterations):
        if search.stop():
            break
        before = _copied(search.state())
        masks = search.ask()
        changed = _differing(before, search.state())
        expect(not changed, f"ask number {k} changed the state's {', '.join(changed)}")
        words = masks.words.tobytes()
        again = search.ask()
        expect(again == masks, f"ask number {k}, repeated before tell, gave other masks")
        expect(masks.words.tobytes() == words, f"ask number {k}, repeated, changed the first masks")
        search.tell(again, _score(again))


@CONTRACT.clause
def _takes_scores_in_order(given: Given) -> None:
    """tell takes one score a mask, in order, and refuses any other number of them"""
    search = given.new()
    masks = search.ask()
    for scores in (np.zeros(len(masks) + 1), np.zeros(0)):
        told = _copied(search.state())
        refused(
            lambda scores=scores: search.tell(masks, scores),  # type: ignore[misc]
            f"tell of {len(scores)} scores for {len(masks)} masks",
        )
        changed = _differing(told, search.state())
        expect(not changed, f"a refused tell changed the state's {', '.join(changed)}")
    search.tell(masks, _score(masks))
    # An equal batch in other memory is the same batch.
    search, expected = given.new(), _walk(given.new(), given.n_iterations)
    got = []
    for _ in range(len(expected)):
        masks = search.ask()
        got.append(masks.words.tobytes())
        copy = Masks.from_bool(masks.to_bool())
        search.tell(copy, _score(copy))
    _same_walk(got, expected, "told equal masks in other memory,")


@CONTRACT.clause
def _state_is_plain(given: Given) -> None:
    """a state holds arrays, integers, floats and strings alone, by name"""
    search = given.new()
    for _ in range(3):
        for name, value in search.state().items():
            expect(isinstance(name, str), f"{name!r} is a name in the state, but no string")
            plain = isinstance(value, (int, float, str, np.integer, np.floating)) or (
                isinstance(value, np.ndarray) and not value.dtype.hasobject
            )
            expect(plain, f"the state's {name!r} is {type(value).__name__} {value!r:.60}")
        _walk(search, 1)


@CONTRACT.clause
def _state_repeats(given: Given) -> None:
    """a search that was set to a state goes on as the one that gave it"""
    search, states, asked = given.new(), [], []
    for k in range(given.n_iterations):
        if search.stop():
            break
        states.append(_copied(search.state()))
        masks = search.ask()
        if k % 2:  # a question in the air is no part of the state
            states[-1] = _copied(search.state())
        asked.append(masks.words.tobytes())
        search.tell(masks, _score(masks))
    last = search.state()
    used = given.new(_OTHER_SEED)
    _walk(used, 2)
    for k, state in enumerate(states):
        for other in (given.new(_OTHER_SEED), used):
            other.set_state(state)
            changed = _differing(state, other.state())
            expect(not changed, f"after set_state the state's {', '.join(changed)} differ")
            got = _walk(other, len(asked) - k)
            _same_walk(got, asked[k:], f"set to the state after {k} tells,")
            changed = _differing(last, other.state())
            expect(
                not changed,
                f"set to the state after {k} tells, it ended with other {', '.join(changed)}",
            )


@CONTRACT.clause
def _keeps_nothing_of_the_caller(given: Given) -> None:
    """tell and set_state change nothing that they are given, and do not look at it later"""
    expected = _walk(given.new(), given.n_iterations)
    search, got = given.new(), []
    for k in range(len(expected)):
        masks = search.ask()
        words, scores = masks.words.tobytes(), _score(masks)
        got.append(words)
        before = scores.copy()
        search.tell(masks, scores)
        expect(same(scores, before), f"tell number {k} changed the scores it was given")
        expect(masks.words.tobytes() == words, f"tell number {k} changed the masks")
        scores[:] = 1e6
        state = _copied(search.state())
        given_state = _copied(state)
        search.set_state(given_state)
        changed = _differing(given_state, state)
        expect(not changed, f"set_state changed {', '.join(changed)} of the state it was given")
        for value in (*given_state.values(), *search.state().values()):
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value.fill(1)
    _same_walk(got, expected, "after its caller wrote into what it had given and got,")


@CONTRACT.clause
def _state_names_parameters(given: Given) -> None:
    """the state before the first ask names every parameter, and nothing that differs by itself"""
    own = _parameters(given.make(given.n_features))
    again = _differing(own, _parameters(given.make(given.n_features)))
    expect(not again, f"two searches made alike begin with different {', '.join(again)}")
    for number, make in enumerate(given.variants):
        other = _parameters(make(given.n_features))
        expect(
            _differing(own, other),
            f"variant number {number} begins with the same state, so that its runs would take up "
            "the checkpoints of this one",
        )


@CONTRACT.clause
def _same_seed_same_path(given: Given) -> None:
    """what is asked is a function of parameters, seed and scores; other seeds, other masks"""
    expected = _walk(given.new(), given.n_iterations)
    _same_walk(_walk(given.new(), given.n_iterations), expected, "with the same seed")
    if isinstance(given.make(given.n_features), SeededSearch):
        others = [_walk(given.new(seed), given.n_iterations) for seed in (0, 1, _OTHER_SEED)]
        expect(any(walk != expected for walk in others), "four seeds gave the same masks")


@CONTRACT.clause
def _leaves_global_generators(given: Given) -> None:
    """it neither draws from nor seeds the generators that all code shares"""
    with global_generators_untouched():
        _walk(given.new(), given.n_iterations)


@CONTRACT.clause
def _stop_gives_reasons(given: Given) -> None:
    """stop() is a mapping of reasons by name, empty to go on, and asking for it changes nothing"""
    search = given.new()
    endless = getattr(search, "stops_itself", True)
    expect(isinstance(endless, (bool, np.bool_)), f"stops_itself is {endless!r}, no bool")
    expect(not search.stop(), f"before the first ask it stops: {search.stop()!r}")
    for _ in range(given.n_iterations):
        before = _copied(search.state())
        reasons = search.stop()
        expect(isinstance(reasons, Mapping), f"stop() returned {type(reasons).__name__}")
        expect(all(isinstance(name, str) for name in reasons), f"stop() returned {reasons!r}")
        changed = _differing(before, search.state())
        expect(not changed, f"stop() changed the state's {', '.join(changed)}")
        if reasons:
            expect(bool(endless), f"stops_itself is False, but it stops: {reasons!r}")
            expect(search.stop() == reasons, "asked twice, stop() gave different reasons")
            break
        _walk(search, 1)


@CONTRACT.clause
def _keeps_to_evaluations_left(given: Given) -> None:
    """evaluations_left() is a number and "at most", "about" or "at least", to which it keeps"""
    search = given.new()
    if not callable(getattr(search, "evaluations_left", None)):
        return
    most, least, n_asked = math.inf, 0, 0
    for _ in range(given.n_iterations):
        before = _copied(search.state())
        n, bound = search.evaluations_left()  # type: ignore[attr-defined]
        changed = _differing(before, search.state())
        expect(not changed, f"evaluations_left() changed the state's {', '.join(changed)}")
        expect(isinstance(n, int) and n >= 0, f"evaluations_left() says {n!r} masks")
        expect(bound in ("at most", "about", "at least"), f"evaluations_left() says {bound!r}")
        if bound == "at most":
            most = min(most, n_asked + n)
        elif bound == "at least":
            least = max(least, n_asked + n)
        if search.stop():
            expect(n_asked >= least, f"it asked for {n_asked} masks in all, and said {least}")
            break
        masks = search.ask()
        n_asked += len(masks)
        search.tell(masks, _score(masks))
        expect(n_asked <= most, f"it asked for {n_asked} masks, and said {most} at most")


@CONTRACT.clause
def _takes_any_finite_scores(given: Given) -> None:
    """scores may be equal, negative and of any size, and the search goes on"""
    for values in ((0.0,), (-1e9, -1e9 + 1.0), (1e-12, 0.0), (1e9, -1e9)):
        search = given.new()
        for k in range(given.n_iterations):
            if search.stop():
                break
            masks = search.ask()
            search.tell(masks, np.resize(np.array(values), len(masks) + k)[k:])
        for name, value in search.state().items():
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                expect(not np.isnan(value).any(), f"scores {values} made the state's {name!r} NaN")


@CONTRACT.clause
def _feature_scores_are_of_the_state(given: Given) -> None:
    """feature_scores(), where there is one, is a finite float64 a feature, of the state alone"""
    search = given.new()
    if not hasattr(search, "feature_scores"):
        return
    for k in range(given.n_iterations):
        scores = search.feature_scores()
        expect(
            isinstance(scores, np.ndarray)
            and scores.dtype == np.float64
            and scores.shape == (given.n_features,),
            f"after {k} tells it is {scores!r:.80}, not float64 of shape ({given.n_features},)",
        )
        expect(np.isfinite(scores).all(), f"after {k} tells it is not finite")
        other: Any = given.new(_OTHER_SEED)
        other.set_state(_copied(search.state()))
        expect(same(other.feature_scores(), scores), f"after {k} tells its state gives another one")
        if scores.flags.writeable:
            scores.fill(0.0)
        expect(
            same(search.feature_scores(), other.feature_scores()),
            "writing into what it returned changed the search",
        )
        if not _walk(search, 1):
            break


@CONTRACT.clause
def _recommends_one_mask(given: Given) -> None:
    """recommend(), where there is one, is a batch of at most one mask, of the state alone"""
    search = given.new()
    if not hasattr(search, "recommend"):
        return
    for k in range(given.n_iterations + 1):
        before = _copied(search.state())
        found = search.recommend()
        expect(
            isinstance(found, Masks) and len(found) <= 1,
            f"after {k} tells it is {found!r:.80}, not a batch of at most one mask",
        )
        expect(
            found.n_features == given.n_features,
            f"after {k} tells it has {found.n_features} features",
        )
        changed = _differing(before, search.state())
        expect(not changed, f"recommend() changed the state's {', '.join(changed)}")
        other: Any = given.new(_OTHER_SEED)
        other.set_state(before)
        expect(other.recommend() == found, f"after {k} tells its state gives another one")
        if not _walk(search, 1):
            break


@CONTRACT.clause
def _resumes_from_a_checkpoint(given: Given) -> None:
    """a run that was struck at any evaluation goes on from its checkpoint bit for bit"""
    choices: list[Choose] = ["remeasured"]
    if isinstance(given.make(given.n_features), RecommendingSearch):
        choices.append("recommended")
    for choose in choices:
        whole = _run(given, _Toy(given.n_features), choose)
        for at in sorted({2, 3, max(2, given.n_iterations // 2), given.n_iterations}):
            with tempfile.TemporaryDirectory() as folder:
                with suppress(KeyboardInterrupt):
                    _run(given, _Toy(given.n_features, at), choose, folder)
                result = _run(given, _Toy(given.n_features), choose, folder)
            _same_run(result, whole, f"struck at evaluation {at} and resumed, choose={choose!r},")


def _same_run(got: RunResult, wanted: RunResult, when: str) -> None:
    changed = set(_differing(wanted.history, got.history)) - {"seconds"}
    expect(not changed, f"{when} the history's {', '.join(sorted(changed))} differ")
    expect(got.mask == wanted.mask, f"{when} another mask was chosen")
    for name in ("best_score", "stop_reason", "n_evaluations", "n_iterations"):
        a, b = getattr(got, name), getattr(wanted, name)
        expect(same(a, b), f"{when} {name} is {a!r}, not {b!r}")
