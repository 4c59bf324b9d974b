"""The best masks a search has seen, and what it saw of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.masks import Masks

__all__ = ["Archive", "Entry"]

_RANK = attrgetter("rank")  # a max or a sort by it is most of what a new mask costs


@dataclass(slots=True)
class Entry:
    """One mask: its best and its summed score, how many, and when it came."""

    key: bytes
    best: float
    total: float
    count: int
    n_selected: int
    iteration: int
    evaluation: int
    rank: tuple[float, int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.raise_to(self.best)

    def raise_to(self, score: float) -> None:
        """Set the best score, and the sort key: the higher, then fewer features, the earlier."""
        self.best = score
        self.rank = (-score, self.n_selected, self.evaluation)


class Archive:
    """The ``capacity`` best distinct masks by their best score, and the best so far.

    The best so far is the first mask with the highest score: only a strictly higher one takes its
    place. A mask's measurements are counted while it is in the archive.

    Parameters
    ----------
    capacity : int
    n_features : int
    """

    _INTEGERS = ("count", "n_selected", "iteration", "evaluation")

    def __init__(self, capacity: int, n_features: int) -> None:
        self.capacity = capacity
        self.n_features = n_features
        self.best: Entry | None = None
        self._entries: dict[bytes, Entry] = {}
        self._worst: Entry | None = None  # known only while the archive is full

    def __len__(self) -> int:
        return len(self._entries)

    def add(
        self, key: bytes, score: float, n_selected: int, iteration: int, evaluation: int
    ) -> bool:
        """Take one measurement; True if it is a new best."""
        entry = self._entries.get(key)
        if entry is not None:
            entry.total += score
            entry.count += 1
            if score > entry.best:
                entry.raise_to(score)
                self._worst = None
        else:
            entry = Entry(key, score, score, 1, n_selected, iteration, evaluation)
            self._insert(entry)
        if self.best is None or score > self.best.best:
            self.best = Entry(key, score, score, 1, n_selected, iteration, evaluation)
            return True
        return False

    def _insert(self, entry: Entry) -> None:
        if len(self._entries) < self.capacity:
            self._entries[entry.key] = entry
            return
        if self._worst is None:
            self._worst = max(self._entries.values(), key=_RANK)
        if entry.rank < self._worst.rank:
            del self._entries[self._worst.key]
            self._entries[entry.key] = entry
            self._worst = None

    def ranked(self, n: int) -> list[Entry]:
        """The ``n`` best, best first."""
        return sorted(self._entries.values(), key=_RANK)[:n]

    def masks(self, entries: list[Entry]) -> Masks:
        """The masks of some entries, in their order."""
        words = np.frombuffer(b"".join(e.key for e in entries), np.uint64)
        return Masks.from_words(words.reshape(len(entries), -1), self.n_features)

    def state(self) -> dict[str, NDArray[Any]]:
        """All entries as arrays, the best so far as the last one."""
        entries = [*self._entries.values(), *([self.best] if self.best else [])]
        words = np.frombuffer(b"".join(e.key for e in entries), np.uint64)
        n_words = (self.n_features + 63) // 64
        arrays: dict[str, NDArray[Any]] = {"words": words.reshape(len(entries), n_words)}
        for name in ("best", "total"):
            arrays[name] = np.array([getattr(e, name) for e in entries], np.float64)
        for name in self._INTEGERS:
            arrays[name] = np.array([getattr(e, name) for e in entries], np.int64)
        return arrays

    def set_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take what :meth:`state` gave.

        Raises
        ------
        ValueError
            If an array is missing, of another length or type, or holds what no run writes.
        """
        self._check(arrays)
        entries = [
            Entry(
                np.ascontiguousarray(arrays["words"][i]).tobytes(),
                float(arrays["best"][i]),
                float(arrays["total"][i]),
                *(int(arrays[name][i]) for name in self._INTEGERS),
            )
            for i in range(len(arrays["best"]))
        ]
        self.best = entries.pop() if entries else None
        self._entries = {entry.key: entry for entry in entries}
        if len(self._entries) < len(entries):
            raise ValueError("the archive holds a mask twice")
        self._worst = None

    def _check(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        kinds = {"best": "f", "words": "u", "total": "f"} | dict.fromkeys(self._INTEGERS, "i")
        for name, kind in kinds.items():
            array = arrays.get(name)
            if array is None or array.dtype.kind != kind or array.ndim != 1 + (name == "words"):
                raise ValueError(f"the archive has no {name}, or not of numbers")
            if len(array) != len(arrays["best"]):
                raise ValueError(f"the archive is not whole: {len(array)} rows of {name}")
        n = len(arrays["best"])
        if n == 1 or n > self.capacity + 1:  # the best so far comes on top
            raise ValueError(f"the archive holds {n} rows, of {self.capacity + 1} at most")
        masks = Masks.from_words(arrays["words"], self.n_features)
        if not (
            np.all(np.isfinite(arrays["best"]))
            and np.all(np.isfinite(arrays["total"]))
            and np.all(arrays["count"] >= 1)
            and np.all(arrays["iteration"] >= 0)
            and np.all(arrays["evaluation"] >= arrays["iteration"])
            and np.all(arrays["n_selected"] >= 1)
            and np.array_equal(masks.counts(), arrays["n_selected"])
            and np.all(arrays["best"][-1:] >= arrays["best"])
        ):
            raise ValueError("the archive holds numbers that no run writes")
