"""From many features to few: one warm walk over the weight of the gates' penalty.

Every gate starts open and is held so until the network has learnt behind it. The weight, lambda,
starts where almost nothing is too small to be worth its gate, and grows until no feature is worth
it: gates close one after the other, and the network goes on learning behind those that are open. A
*row* of the path is the end of a stage of one lambda; its size is always smaller than that of the
row before. What was open longest is selected, so that any number of features can be had of one
walk.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from bitsieve.gates._found import Found, Interrupted
from bitsieve.gates.checkpoint import TrainingStore
from bitsieve.gates.gate import FeatureGates
from bitsieve.gates.problem import Problem
from bitsieve.gates.training import Training
from bitsieve.masks import Masks

__all__ = ["FixedGates", "Walk", "follow"]

#: Lambda as a share of the loss of a model that knows nothing: a feature that saves less than the
#: first is never worth its gate, and none saves more than the last.
FIRST, LAST = 1e-3, 10.0
#: Shares of the epochs: before lambda grows, and after the last gate closed.
WARM, TUNED = 0.2, 0.2
STAGES = 60


class FixedGates(FeatureGates):
    """Gates that stay as they are.

    Parameters
    ----------
    values : float32 tensor of shape (n_features,)
        A feature is selected where it is greater than 0.

    Examples
    --------
    >>> FixedGates(torch.tensor([0.0, 0.7])).support().tolist()
    [False, True]
    """

    threshold = 0.0
    values: torch.Tensor

    def __init__(self, values: torch.Tensor) -> None:
        super().__init__(len(values))
        self.register_buffer("values", values)

    def sample(self, key: int, step: int, n_draws: int, n_rows: int | None = None) -> torch.Tensor:
        """See :class:`~bitsieve.gates.gate.FeatureGates`."""
        shape = (n_draws,) if n_rows is None else (n_draws, n_rows)
        return self.values.expand(*shape, self.n_features)

    def value(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.gate.FeatureGates`."""
        return self.values

    def position(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.gate.FeatureGates`."""
        return self.values


@dataclass(frozen=True, eq=False)
class Schedule:
    """Lambda by epochs: the least one for a while, then stages of growing ones.

    Attributes
    ----------
    n_warm : int
        Epochs before lambda grows.
    ends : int array of shape (n_stages,)
        Epochs after which each stage ends; the first is ``n_warm``.
    lams : float array of shape (n_stages,)
    """

    n_warm: int
    ends: NDArray[np.int64]
    lams: NDArray[np.float64]

    @classmethod
    def of(cls, problem: Problem) -> Schedule:
        """Return that of a problem, from its epochs and from the loss of knowing nothing."""
        n_warm = max(1, round(WARM * problem.max_epochs))
        n_walked = max(1, round((1.0 - WARM - TUNED) * problem.max_epochs))
        n_stages = min(STAGES, n_walked)
        ends = n_warm + np.round(np.linspace(0, n_walked, n_stages + 1)).astype(np.int64)
        unit = max(problem.loss_of_nothing(), 1e-12)
        lams = unit * np.geomspace(FIRST, LAST, n_stages + 1)
        return cls(n_warm, ends, lams)

    @property
    def n_epochs(self) -> int:
        """Epochs of the whole walk."""
        return int(self.ends[-1])

    def lam(self, epoch: int) -> float:
        """Return lambda after so many epochs."""
        stage = int(np.searchsorted(self.ends, epoch, "right"))
        return float(self.lams[min(stage, len(self.lams) - 1)])

    def ends_stage(self, epoch: int) -> bool:
        """Tell whether a stage ends after so many epochs."""
        return bool(np.isin(epoch, self.ends))


class Walk:
    """One walk from small to large lambda.

    Parameters
    ----------
    problem : Problem
    size : int or None
        It ends where so many features are open at most; None walks on until none is.
    hold_out : bool
        Leave the validation part out, and measure each row on it.
    phase : str, default "path"
        What it is called beside other trainings of the fit.

    Attributes
    ----------
    training : Training
    scores : float64 array of shape (n_features,)
        How long each gate was open, as a share of the walk, with its position among ties.
    """

    def __init__(
        self, problem: Problem, size: int | None, *, hold_out: bool, phase: str = "path"
    ) -> None:
        self.problem, self.size, self._phase = problem, size, phase
        self.training = problem.training(lam=0.0, hold_out=hold_out)
        self._schedule = Schedule.of(problem)
        _move(self.training.gates, open_all=True)
        self._last_open = np.zeros(problem.n_features, np.int64)
        self._rows: list[tuple[float, int, float, float, float, int]] = []
        self._supports: list[NDArray[np.bool_]] = []
        self._store: TrainingStore | None = None

    def run(self, *, narrow: bool) -> Walk:
        """Walk to the end; ``narrow`` is of what Ctrl-C leaves."""
        training, phase = self.training, self._phase
        training.weight = self._schedule.lam(0)
        self._store = self.problem.running.store(phase)
        if self._store is not None and self._store.restore(
            training, max_epochs=self._schedule.n_epochs
        ):
            self._set_state(self._store.beside)
        self._hold_gates(training.epoch)
        try:
            self.problem.run(training, phase, self._schedule.n_epochs, self._look, self._store)
        except KeyboardInterrupt as stop:
            raise Interrupted(self.found(narrow=narrow)) from stop
        return self

    def _set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        if not state:  # it was stored before the first epoch ended
            return
        self._last_open = np.array(state["last_open"])
        self._rows = [(a, int(b), c, d, e, int(f)) for a, b, c, d, e, f in state["rows"].tolist()]
        p = self.problem.n_features
        packed = state["supports"]
        self._supports = [np.unpackbits(row, count=p).astype(bool) for row in packed]

    def _look(self, training: Training) -> bool:
        """Note what is open after an epoch, and set the next lambda; True ends the walk."""
        epoch = training.epoch
        self._hold_gates(epoch)
        # Far out neither the loss nor the penalty would move them any more.
        _move(training.gates, open_all=False)
        is_open = training.gates.support()
        self._last_open[is_open] = epoch
        n_open = int(is_open.sum())
        is_over = epoch >= self._schedule.n_warm and n_open <= (self.size or 0)
        if self._schedule.ends_stage(epoch) or is_over:
            self._row(is_open, n_open)
        if not is_over:
            training.weight = self._schedule.lam(epoch)
        if self._store is not None:
            n_bytes = -(-self.problem.n_features // 8)
            packed = [np.packbits(support) for support in self._supports]
            self._store.beside = {
                "last_open": self._last_open.copy(),
                "rows": np.array(self._rows, np.float64).reshape(-1, 6),
                "supports": np.array(packed, np.uint8).reshape(-1, n_bytes),
            }
        return is_over

    def _hold_gates(self, epoch: int) -> None:
        """Let gates learn when the network has: before, its weights' signs are those of chance."""
        for parameter in self.training.gates.parameters():
            parameter.requires_grad_(epoch >= self._schedule.n_warm)

    def _row(self, is_open: NDArray[np.bool_], n_open: int) -> None:
        training = self.training
        if self._rows and (n_open > self._rows[-1][1] or training.epoch == self._rows[-1][5]):
            return
        if self._rows and n_open == self._rows[-1][1]:
            self._rows.pop()
            self._supports.pop()
        loss, error = self.problem.loss_and_error(training)
        self._rows.append(
            (training.weight, n_open, training.history["loss"][-1], loss, error, training.epoch)
        )
        self._supports.append(is_open)

    @property
    def scores(self) -> NDArray[np.float64]:
        """See the class."""
        with torch.no_grad():
            position = self.training.gates.position().double().cpu().numpy()
        among = (1.0 + position / (1.0 + np.abs(position))) / 2.0  # in (0, 1)
        scores: NDArray[np.float64] = (self._last_open + among) / (self.training.epoch + 1)
        return scores

    def table(self) -> dict[str, Any]:
        """Return the rows as columns: ``lam, n_features, loss, validation_loss, ...``."""
        columns = [np.array(column) for column in zip(*self._rows, strict=True)]
        names = ("lam", "n_features", "loss", "validation_loss", "validation_error", "epoch")
        return {
            **dict(zip(names, columns, strict=True)),
            "support": Masks.from_bool(np.array(self._supports)),
        }

    def best_row(self, rule: str) -> int:
        """Return the row to stop at: the best by the validation part, with one feature at least."""
        table = self.table()
        losses = table["validation_loss"]
        if np.isnan(losses).all():
            losses = table["loss"]
        rows = np.flatnonzero(table["n_features"] > 0)
        if not len(rows):
            return 0
        best = rows[int(np.argmin(losses[rows]))]
        if rule == "best":
            return int(best)
        allowed = losses[best] + np.nan_to_num(table["validation_error"][best])
        return int(rows[losses[rows] <= allowed][-1])

    def found(self, size: int | None = None, *, narrow: bool) -> Found:
        """Return the network behind the features that were open longest, learnt on.

        Without a number of features it is that behind the features that are open, as it is.
        """
        problem, walked = self.problem, self.training
        walked.settle()  # weights of features that closed are asked for too
        scores = self.scores
        support = np.zeros(problem.n_features, dtype=bool)
        n_open = int(walked.gates.support().sum())
        n_selected = n_open if size is None else size
        if n_open > n_selected:
            warnings.warn(
                f"{n_open} gates are open at the end of the walk, more than the {n_selected} to "
                "select: the most open ones were taken, though the gates had not yet told them "
                "apart; give a greater max_epochs or gate_learning_rate",
                ConvergenceWarning,
                stacklevel=2,
            )
        support[np.argsort(-scores, kind="stable")[:n_selected]] = True
        with torch.no_grad():
            value = walked.gates.value().cpu().numpy()
        # What closed in the last epoch, and is needed, has hardly less than a half.
        gates = np.where(support, np.maximum(value, 0.5), 0.0).astype(np.float32)
        lam = walked.weight
        state = problem.architecture.narrowed(walked.network, support) if narrow else None
        is_narrow = state is not None
        kept = support if is_narrow else np.ones(problem.n_features, dtype=bool)
        tuned = problem.fixed_training(
            FixedGates(torch.from_numpy(gates[kept])),
            walked.network.state_dict() if state is None else state,
            kept,
            walked.validation is not None,
        )
        stopped: KeyboardInterrupt | None = None
        if size is not None:
            n_epochs = max(1, round(TUNED * problem.max_epochs))
            try:
                problem.run(tuned, f"{self._phase}, {size} features", n_epochs)
            except KeyboardInterrupt as stop:
                stopped = stop
        history = {name: walked.history[name] + tuned.history[name] for name in walked.history}
        losses = tuned.history["validation_loss"] if tuned.validation is not None else []
        found = Found(
            support,
            gates,
            scores,
            tuned.network.state_dict(),
            is_narrow,
            history,
            walked.epoch + tuned.epoch,
            lam,
            min(losses) if losses else float("nan"),
            self.table() if self._rows else None,
        )
        if stopped is not None:
            raise Interrupted(found) from stopped
        return found


def _move(gates: FeatureGates, *, open_all: bool) -> None:
    """Let every gate be as open as one can be that is still moved; or those that are more."""
    for name, most in (("mu", 0.5), ("log_alpha", 2.0), ("w", 1.0)):
        parameter = getattr(gates, name, None)
        if parameter is not None:
            with torch.no_grad():
                parameter.fill_(most) if open_all else parameter.clamp_(max=most)


def follow(
    problem: Problem, size: int | None, *, size_rule: str = "best", narrow: bool = True
) -> Found:
    """Find the gates by walking over lambda.

    Parameters
    ----------
    problem : Problem
    size : int or None
        Features to select; None takes the size that does best on the validation part, and walks
        once more over all samples to that size.
    size_rule : {"best", "one_standard_error"}, default "best"
        The second takes the smallest size within a standard error of the best.
    narrow : bool, default True
        Keep what predicts to the selected features where that is possible.

    Returns
    -------
    Found
    """
    if size is not None:
        hold_out = problem.held_out is not None
        walk = Walk(problem, size, hold_out=hold_out).run(narrow=narrow)
        return walk.found(size, narrow=narrow)
    first = Walk(problem, None, hold_out=True).run(narrow=narrow)
    row = first.best_row(size_rule)
    path = first.table()
    chosen = max(1, int(path["n_features"][row]))
    found = (
        Walk(problem, chosen, hold_out=False, phase="path over all samples")
        .run(narrow=narrow)
        .found(chosen, narrow=narrow)
    )
    found.path = path
    found.validation_loss = float(path["validation_loss"][row])
    return found
