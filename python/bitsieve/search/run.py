"""The one loop: ask, score, tell, remember.

::

    random_state --> key --> Stream.search        Stream.folds        Stream.measurement
                                |                          |                  |
    search.ask() ---------> masks -----> scorer (folds, cache) -----> scores  |
        ^                                                      |              |
        +------------------ tell <-----------------------------+--> choice ---+--> finalists
                                                               +--> history        measured again
    checkpoint: search.state(), history, choice; written whole, between two iterations
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from bitsieve._checkpoint import CheckpointStore, fingerprint
from bitsieve._checks import RandomState, check_choice, check_flag, check_int, key_of
from bitsieve._checks import seed as check_seed
from bitsieve.search.choice import Choose
from bitsieve.search.final import Final
from bitsieve.search.iteration import Callback
from bitsieve.search.limits import Limits
from bitsieve.search.loop import Loop
from bitsieve.search.progress import ProgressBar
from bitsieve.search.protocol import Fitness, RecommendingSearch, Search, SeededSearch
from bitsieve.search.result import RunResult
from bitsieve.search.scoring import Folds, is_fresh
from bitsieve.search.units import name_of

__all__ = ["run"]


def run(
    search: Search,
    fitness: Fitness,
    *,
    max_evaluations: int | None = None,
    max_iter: int | None = None,
    max_time: float | None = None,
    patience: int | None = None,
    callbacks: Iterable[Callback] = (),
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = True,
    random_state: RandomState = None,
    folds: Folds = "common",
    choose: Choose = "remeasured",
    n_finalists: int = 10,
    n_final_measurements: int = 5,
    progress: bool | None = None,
) -> RunResult:
    """Drive a search over a fitness until it stops or a budget is spent.

    Parameters
    ----------
    search : Search
    fitness : Fitness
    max_evaluations : int, optional
        Masks scored at most: an ask that would go beyond is not made. Every mask of an ask counts,
        also one that was found in the cache or stands twice, so a search that stands still ends.
    max_iter : int, optional
        Asks answered at most.
    max_time : float, optional
        Seconds for everything, final measurement and earlier sessions of the same run included.
        The search ends early enough for the measurement, for which at most a quarter of the time
        is kept; where that is too short, fewer finalists are measured, and fewer times
        (``final_cut`` says so). One iteration and one measurement are always made.
    patience : int, optional
        Stop after so many iterations without a new best; under "recommended" without a
        recommendation of a higher score than all before.
    callbacks : iterable of callable
        Each is called with an :class:`Iteration` after each iteration; a true answer stops the run.
    checkpoint : str or path, optional
        A directory. The run's file in it is named by a fingerprint of the fitness, the search,
        the seed policy and the version; limits are no part of it, so a finished run goes on where
        they are raised. Where they are lower than what the file holds, the run begins anew and
        leaves the file alone, with a warning.
    resume : bool
        Go on from the checkpoint if there is one. A finished run is given back at once; one that
        a callback stopped goes on where there are no callbacks now.
    random_state : int, Generator, RandomState or None
        The key of all streams. None draws one, or takes the one in the checkpoint.
    folds : {"common", "independent"}
        Whether the masks of one ask meet the same folds. Only matters with fresh folds.
    choose : {"remeasured", "recommended"}
        Which mask is the answer: the best of those measured again, or the search's own
        (``search.recommend()`` after the last tell), which is measured and never exchanged for
        another.
    n_finalists : int
        How many of the best distinct masks are measured again, or remembered beside the
        recommended one.
    n_final_measurements : int
        Seeds each finalist is measured with, and the chosen one once more.
    progress : bool, optional
        Show a progress bar; by default only where standard error is a terminal.

    Returns
    -------
    RunResult

    Raises
    ------
    ValueError
        If an argument is out of its range, nothing would ever end the run, search and fitness
        have different numbers of features, the fitness does not say whether its folds are
        fresh (``resample``) or returns anything but one finite number a mask, no mask with a
        feature in it was ever scored, or "recommended" is chosen and the search has no
        ``recommend()`` or recommends no mask with a feature in it at the end.
    CheckpointMismatch
        If the checkpoint file of this run is damaged, changed or was written by another one.
    KeyboardInterrupt
        On Ctrl-C, after the checkpoint is written. The exception carries ``partial_result``, a
        :class:`RunResult` that was not measured again (``best_score`` is NaN), or None before the
        first iteration is whole.

    Notes
    -----
    After the search the finalists are measured again on fresh folds, on the same seeds for all;
    the best mean is chosen (ties: fewer features, then the earlier mask), and ``best_score`` is a
    second measurement, on seeds that had no part in the choice. A fitness with fixed folds is
    asked for one with fresh folds (``fitness.resampled()``); if it has none, ``best_score`` is
    the score on its fixed folds and equals ``best_observed_score``.

    Under ``choose="recommended"`` the search's own mask stands for its ask: ``history["score"]``
    and ``history["n_selected"]`` are those of the mask that it recommends after each tell (NaN and
    0 without one), ``best_observed`` is the highest of these scores so far. The score is the one
    that the search was told; a mask that it recommends from elsewhere is scored for this, on the
    folds of the iteration, and counts among ``n_final_evaluations``. The last recommendation is
    measured alone, on seeds that had no part in anything. ``finalists`` holds it first, and then
    the best of what was recommended on the way, which are not measured.

    After a second and two iterations, or one of ten seconds, the logger ``"bitsieve"`` says, at
    level INFO, how long the whole run will take at most.

    Checkpoints are written once a second at most, after the first iteration, at the end, and when
    anything interrupts the loop. If the disk refuses, one RuntimeWarning says so, the run goes on,
    and the result is returned as ever with ``checkpoint=None``: a full disk must not cost a
    search. What was on the disk before stays whole.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.search import BinarySPSASearch, run
    >>> class Toy:
    ...     n_features, resample = 6, False
    ...     def evaluate(self, masks, seeds=0):
    ...         return masks.to_bool() @ np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    >>> result = run(BinarySPSASearch(6), Toy(), max_iter=200, random_state=0)
    >>> result.support
    array([ True,  True,  True, False, False, False])

    A search that adds the best feature until it has three, and its own answer:

    >>> from bitsieve import Masks
    >>> class Forward:
    ...     n_features = 6
    ...     def __init__(self):
    ...         self.mask = np.zeros(6, dtype=bool)
    ...     def ask(self):
    ...         return Masks.neighbors(self.mask, 6, np.flatnonzero(~self.mask))
    ...     def tell(self, masks, scores):
    ...         self.mask = masks[np.argmax(scores)].to_bool()[0]
    ...     def recommend(self):
    ...         return Masks.from_bool(self.mask)
    ...     def stop(self):
    ...         return {"size": 3} if self.mask.sum() == 3 else {}
    >>> result = run(Forward(), Toy(), choose="recommended", random_state=0)
    >>> result.support, result.history["score"]
    (array([ True,  True,  True, False, False, False]), array([1., 2., 3.]))
    """
    limits = Limits(max_evaluations, max_iter, max_time, patience)
    callbacks = _as_tuple(callbacks)
    _check(search, fitness, callbacks, folds, choose, n_finalists, n_final_measurements)
    check_flag("resume", resume)
    check_flag("progress", progress, optional=True)
    if limits.is_endless and not callbacks and not getattr(search, "stops_itself", True):
        raise ValueError(
            f"{name_of(search)} never stops by itself: give max_iter, max_evaluations, "
            "max_time or patience, or a callback that stops it"
        )
    key = key_of(random_state)
    store = saved = None
    if checkpoint is not None:
        policy = "drawn" if random_state is None else str(key)
        settings: dict[str, object] = {
            "folds": folds,
            "finalists": n_finalists,
            "final": n_final_measurements,
        }
        if choose != "remeasured":
            settings["choose"] = choose
        store = CheckpointStore(
            checkpoint, _fingerprint(search, fitness, {"seed": policy, **settings})
        )
        saved = store.load() if resume else None
    final: Final | None = None
    try:
        if saved is not None:
            key = check_seed("seed", saved[0]["seed"])
        if isinstance(search, SeededSearch):
            search.set_seed(key)
        loop = Loop(
            search, fitness, key, folds, choose, limits, n_finalists, n_final_measurements, store
        )
        if saved is not None:
            final = loop.restore(*saved, has_callbacks=bool(callbacks))
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        if store is None or saved is None:
            raise
        raise store.mismatch(f"holds what no run of this kind writes ({error})") from error
    try:
        if final is None:
            with ProgressBar(progress, limits) as bar:
                loop.iterate_until_stopped(callbacks, bar)
            if not loop.choice.entries():
                raise ValueError(loop.choice.nothing(loop.n_evaluations))
            final = loop.choice.measure(fitness, key, loop.deadline)
            loop.save(final)
    except BaseException as error:
        with suppress(RuntimeWarning):  # raised where warnings are errors: the first error counts
            loop.save(None)
        if isinstance(error, KeyboardInterrupt):
            error.partial_result = loop.partial_result()  # type: ignore[attr-defined]
        raise
    return loop.result(final)


def _as_tuple(callbacks: Iterable[Callback]) -> tuple[Callback, ...]:
    if not isinstance(callbacks, Iterable):
        raise ValueError(
            f"callbacks must be a list of callables, got {callbacks!r}; write it in [ ]"
        )
    return tuple(callbacks)


def _check(
    search: Search,
    fitness: Fitness,
    callbacks: tuple[Callback, ...],
    folds: str,
    choose: str,
    n_finalists: int,
    n_final_measurements: int,
) -> None:
    if search.n_features != fitness.n_features:
        raise ValueError(
            f"the search is over {search.n_features} features, the fitness has {fitness.n_features}"
        )
    is_fresh(fitness)
    check_choice("folds", folds, ("common", "independent"))
    check_choice("choose", choose, ("remeasured", "recommended"))
    if choose == "recommended" and not isinstance(search, RecommendingSearch):
        raise ValueError(
            f"choose='recommended' needs a search with recommend(), which {name_of(search)} "
            "has not; choose='remeasured' takes the best of the masks that it asked for"
        )
    for callback in callbacks:
        if not callable(callback):
            raise ValueError(f"callbacks must be callable, got {callback!r}")
    check_int("n_finalists", n_finalists, 1)
    check_int("n_final_measurements", n_final_measurements, 1)


def _fingerprint(search: Search, fitness: Fitness, settings: Mapping[str, object]) -> str:
    describe = getattr(fitness, "fingerprint", None)
    if not callable(describe):
        raise ValueError(
            f"checkpoint needs a fitness that can say what it is: {type(fitness).__name__} has "
            "no fingerprint(); give it one, or leave checkpoint out"
        )
    kind = type(search)
    parameters = {name: value for name, value in search.state().items() if name != "seed"}
    return fingerprint(
        {
            "fitness": str(describe()),
            "search": f"{kind.__module__}.{kind.__qualname__}",
            "parameters": parameters,
            "run": dict(settings),
        }
    )
