"""Checkpoints of a training: weights, gates, optimiser, counters and history in one file."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from bitsieve._checkpoint import CheckpointStore, fingerprint

if TYPE_CHECKING:
    from bitsieve.gates.training import Training

__all__ = ["TrainingStore"]

_PERIOD = 1.0  # seconds between two writings
_SHARE = 10.0  # and at least so many times as long as the last writing took

_BESIDE = "beside/"


class TrainingStore:
    """The file of one training in a directory of checkpoints.

    Parameters
    ----------
    directory : str or path
        Made if it is missing.
    parts : mapping
        What the run is: data, parameters that change what is learnt, the seed's policy. See
        :func:`bitsieve._checkpoint.fingerprint`, which adds the version. Limits are no part of it:
        raised ones go on.
    resume : bool, default True
        Whether to go on from what is there.

    Attributes
    ----------
    beside : dict of str to array
        What the caller has to know besides, such as where on a path it is: stored with the
        training, and what was stored after :meth:`restore`.

    Raises
    ------
    ValueError
        If the directory cannot be made.
    CheckpointMismatch
        If the file is damaged.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        parts: Mapping[str, object],
        *,
        resume: bool = True,
    ) -> None:
        self._store: CheckpointStore = CheckpointStore(
            directory, fingerprint(parts), kind="training"
        )
        self._saved = self._store.load() if resume else None
        self._next = 0.0
        self._is_left_alone = False
        self.beside: dict[str, NDArray[Any]] = {}

    @property
    def path(self) -> str | None:
        """Where the file is; None where the disk refused it or it is left alone."""
        if self._is_left_alone or self._store.failed:
            return None
        return str(self._store.path)

    @property
    def stored_key(self) -> int | None:
        """The key of what is stored, for a run whose seed was drawn; None without a file."""
        if self._saved is None:
            return None
        try:
            return int(self._saved[1]["key"])
        except (LookupError, TypeError, ValueError) as error:
            raise self._store.mismatch(f"holds what no such training writes ({error})") from error

    def restore(
        self,
        training: Training,
        *,
        max_epochs: int | None = None,
        max_steps: int | None = None,
    ) -> bool:
        """Let a fresh training go on from the file, and tell whether there was one.

        A file that went beyond the limits is left alone: the training begins anew, with a warning,
        and writes nothing.

        Raises
        ------
        CheckpointMismatch
            If the file holds what this training could not have written.
        """
        if self._saved is None:
            return False
        arrays, self._saved = self._saved[1], None
        state = {k: v for k, v in arrays.items() if not k.startswith(_BESIDE)}
        try:
            epoch, step = int(state["epoch"]), int(state["step"])
            is_beyond = (max_epochs is not None and epoch > max_epochs) or (
                max_steps is not None and step > max_steps
            )
            if not is_beyond:
                training.set_state(state)
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise self._store.mismatch(f"holds what no such training writes ({error})") from error
        if is_beyond:
            warnings.warn(
                f"checkpoint {self._store.path} holds {epoch} epochs ({step} steps), more than "
                "these limits allow; this training begins anew and leaves the file alone",
                RuntimeWarning,
                stacklevel=2,
            )
            self._is_left_alone = True
            return False
        self.beside = {k[len(_BESIDE) :]: v for k, v in arrays.items() if k.startswith(_BESIDE)}
        self._next = time.perf_counter() + _PERIOD
        return True

    def is_due(self) -> bool:
        """Whether it is time to write: after a second, or ten times what writing takes."""
        return not self._is_left_alone and time.perf_counter() >= self._next

    def save(self, training: Training) -> None:
        """Write the file whole; one warning where the disk refuses, and the training goes on."""
        if self._is_left_alone:
            return
        began = time.perf_counter()
        arrays = dict(training.state())
        arrays.update((f"{_BESIDE}{name}", array) for name, array in self.beside.items())
        self._store.save({}, arrays)
        ended = time.perf_counter()
        self._next = ended + max(_PERIOD, _SHARE * (ended - began))
