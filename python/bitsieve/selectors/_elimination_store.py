"""Recursive eliminations on the disk, so that one that was stopped goes on bit for bit.

::

    run-*.npz    the seed, then the scores of the folds, then what was found
    part-*.npz   one a fold and one of all samples, while they last: written by whatever thread or
                 process eliminates, and removed once the run's own file has what it found
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checkpoint import CheckpointStore, fingerprint
from bitsieve._checks import check_int, key_of
from bitsieve._checks import seed as check_seed
from bitsieve.panels.recursive import Eliminated, Progress

__all__ = ["EliminationStore", "PartStore"]

_SECONDS = 1.0  # between two writes of a part
_MACHINE = "machine "  # before the names of what eliminates


class EliminationStore:
    """The file of one fit, and those of its parts.

    Parameters
    ----------
    directory : str or path
    name : str
        The fingerprint of the fit.
    left : int64 array
        The features that are not forbidden, ascending.
    shape : (int, int)
        Of the scores: folds, and sizes that are scored.
    key : int or None
        Its seed; None draws one, unless the file has it.
    resume : bool
        Whether to read what there is.

    Attributes
    ----------
    key : int
    scores : float64 array of shape (n_splits, n_sizes) or None
        None where the folds are not finished.
    found : Eliminated or None
        What the elimination on all samples found, without scores.

    Raises
    ------
    ValueError
        If the directory cannot be made.
    CheckpointMismatch
        If a file is damaged.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        name: str,
        *,
        left: NDArray[np.int64],
        shape: tuple[int, int],
        key: int | None,
        resume: bool,
    ) -> None:
        self._directory, self._left, self._resume = directory, left, resume
        self._store = CheckpointStore(directory, name)
        self._parts: list[PartStore] = []
        self.scores: NDArray[np.float64] | None = None
        self.found: Eliminated | None = None
        saved = self._store.load() if resume else None
        if saved is None:
            self.key = key_of(None) if key is None else key
            self._save()
            return
        meta, arrays = saved
        try:
            self.key = check_seed("seed", meta["seed"])
            if "scores" in arrays:
                self.scores = _checked_scores(arrays["scores"], shape)
            if "order" in arrays:
                order = _checked_order(arrays["order"], left, len(left))
                self.found = Eliminated(order, np.empty(0), check_int("n", meta["n_on_columns"], 0))
        except (LookupError, TypeError, ValueError) as error:
            raise self._store.mismatch(
                f"holds what no run of this kind writes ({error})"
            ) from error

    def part(self, name: str, sizes: list[int], largest_scored: int) -> PartStore:
        """Return the file of one elimination.

        Parameters
        ----------
        name : str
            "all", or the number of a fold.
        sizes, largest_scored
            As :func:`bitsieve.panels.recursive.eliminate` takes them.
        """
        known = fingerprint(
            {
                "fit": self._store.name,
                "seed": str(self.key),
                "part": name,
                "sizes": np.array(sizes),
                "scored": largest_scored,
            }
        )
        store = CheckpointStore(self._directory, known, kind="part")
        part = PartStore(store, self._left, sizes, largest_scored, resume=self._resume)
        self._parts.append(part)
        return part

    def take_scores(self, scores: NDArray[np.float64]) -> None:
        """Keep the scores of all folds."""
        self.scores = scores
        self._save()

    def take_found(self, found: Eliminated) -> None:
        """Keep what was found on all samples."""
        self.found = found
        self._save()

    def _save(self) -> None:
        meta: dict[str, Any] = {"seed": self.key}
        arrays: dict[str, NDArray[Any]] = {}
        if self.scores is not None:
            arrays["scores"] = self.scores
        if self.found is not None:
            arrays["order"] = self.found.order
            meta["n_on_columns"] = self.found.n_on_columns
        if self._store.save(meta, arrays):
            for part in self._parts:
                part.remove()
            self._parts = []


class PartStore:
    """The file of one elimination. It travels to the process that eliminates.

    Parameters
    ----------
    store : CheckpointStore
    left : int64 array
        The features that are not forbidden, ascending.
    sizes, largest_scored
        Of the elimination.
    resume : bool
        Whether to read what there is.
    """

    def __init__(
        self,
        store: CheckpointStore,
        left: NDArray[np.int64],
        sizes: list[int],
        largest_scored: int,
        *,
        resume: bool,
    ) -> None:
        self._store, self._left, self._resume = store, left, resume
        self._sizes, self._largest = sizes, largest_scored
        self._last: Progress | None = None
        self._written = -np.inf

    def load(self) -> Progress | Eliminated | None:
        """Return how far the elimination has come, or what it found, None where it never began.

        Raises
        ------
        CheckpointMismatch
            Where the file is damaged.
        """
        saved = self._store.load() if self._resume else None
        if saved is None:
            return None
        meta, arrays = saved
        try:
            n_steps = check_int("n_steps", meta["n_steps"], 1, len(self._sizes))
            left = 0 if n_steps == len(self._sizes) else self._sizes[n_steps]
            n_scored = sum(size <= self._largest for size in self._sizes[:n_steps])
            order = _checked_order(arrays["order"], self._left, self._sizes[0] - left)
            scores = _checked_scores(arrays["scores"], (n_scored,))
            if not left:
                return Eliminated(order, scores, check_int("n", meta["n_on_columns"], 0))
        except (LookupError, TypeError, ValueError) as error:
            raise self._store.mismatch(
                f"holds what no run of this kind writes ({error})"
            ) from error
        machine = {
            name.removeprefix(_MACHINE): array
            for name, array in arrays.items()
            if name.startswith(_MACHINE)
        }
        return Progress(n_steps, order, scores, machine)

    def keep(self, progress: Progress) -> None:
        """Take the progress, and write it if the last writing is a second ago."""
        self._last = progress
        if time.monotonic() - self._written >= _SECONDS:
            self._write()

    def finish(self, found: Eliminated) -> None:
        """Write what was found."""
        meta = {"n_steps": len(self._sizes), "n_on_columns": found.n_on_columns}
        self._store.save(meta, {"order": found.order, "scores": found.scores})
        self._last = None

    @contextmanager
    def written(self) -> Iterator[None]:
        """Write the last progress where anything ends what is inside."""
        try:
            yield
        except BaseException:
            with suppress(RuntimeWarning):  # raised where warnings are errors
                self._write()
            raise

    def remove(self) -> None:
        """Remove the file: the run's own has what it held."""
        with suppress(OSError):
            self._store.path.unlink(missing_ok=True)

    def _write(self) -> None:
        progress = self._last
        if progress is None:
            return
        self._store.save(
            {"n_steps": progress.n_steps},
            {
                "order": progress.order,
                "scores": progress.scores,
                **{_MACHINE + name: array for name, array in progress.machine.items()},
            },
        )
        self._last, self._written = None, time.monotonic()


def _checked_order(order: NDArray[Any], left: NDArray[np.int64], n_gone: int) -> NDArray[np.int64]:
    """Return the features that have left, each once, and none that never was there."""
    if not (
        order.dtype.kind == "i"
        and order.shape == (n_gone,)
        and len(np.unique(order)) == n_gone
        and np.isin(order, left).all()
    ):
        raise ValueError(f"the order is none of {n_gone} of {len(left)} features")
    return order.astype(np.int64)


def _checked_scores(scores: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return scores of this shape."""
    if scores.dtype.kind != "f" or scores.shape != shape:
        raise ValueError(f"scores are {scores.dtype} of shape {scores.shape}, not {shape}")
    return scores.astype(np.float64)
