"""The loop that trains gates and network: steps, epochs, early stopping, history, state.

A step is whole or it never was: signals wait while weights, optimiser, gates and counters change.
Every random number is a function of the key and of the number of the step or epoch, so that no
generator is part of the state.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import torch

from bitsieve._random import Random, Stream
from bitsieve.gates.best import BestEpoch
from bitsieve.gates.checkpoint import TrainingStore
from bitsieve.gates.contract import FeatureGates
from bitsieve.gates.device import torch_for
from bitsieve.gates.history import History
from bitsieve.gates.interrupts import whole
from bitsieve.gates.learner import Learner
from bitsieve.gates.losses import Loss
from bitsieve.gates.progress import TrainingBar
from bitsieve.gates.samples import Samples, batch_bounds
from bitsieve.gates.settings import Diverged, Settings
from bitsieve.gates.state import TrainingState
from bitsieve.gates.weights import all_finite

__all__ = ["Callback", "Diverged", "Samples", "Settings", "Training"]

#: Called after each epoch; an answer that is true ends the training.
Callback = Callable[["Training"], object]

_LOOK = 64  # steps, or epochs, after which a device is asked whether numbers are finite
_WEIGHTS_LOOK = 16  # epochs after which the weights are


class Training(TrainingState):
    """Gates and a network that learn together.

    Parameters
    ----------
    gates : FeatureGates
    network : torch.nn.Module
        Takes (x, z), as :class:`~bitsieve.gates.network.GatedMLP` does.
    loss : Loss
    samples : Samples
    settings : Settings
    key : int
    validation : Samples or None, default None
        What early stopping looks at.
    weight : float, default 0
        Of the penalty of the gates; may be set between epochs. A new one makes the best epoch so
        far forgotten, since losses are no more of one problem.
    device : torch.device, default that of the processor
        Where gates, network and samples are moved to, once.
    n_threads : int, default 1
        Of torch, during runs and predictions.

    Attributes
    ----------
    epoch, step : int
        How many there were; of epochs, those finished.
    seconds : float
        Of all runs, also of those before it was resumed.
    stop_reason : dict of str to object
        Why the last run ended: limits by name, ``patience`` or ``callback``.
    """

    def __init__(
        self,
        gates: FeatureGates,
        network: torch.nn.Module,
        loss: Loss,
        samples: Samples,
        settings: Settings,
        key: int,
        *,
        validation: Samples | None = None,
        weight: float = 0.0,
        device: torch.device | None = None,
        n_threads: int = 1,
    ) -> None:
        if settings.patience is not None and validation is None:
            raise ValueError("patience needs a validation part")
        self.device = torch.device("cpu") if device is None else device
        self._looks = self.device.type == "cpu"  # at every step: elsewhere it would wait for it
        self._n_threads = n_threads
        self.gates, self.network = gates.to(self.device), network.to(self.device)
        self.loss, self.settings, self.key = loss, settings, key
        self.samples = samples.to(self.device)
        self.validation = None if validation is None else validation.to(self.device)
        self.epoch = self.step = 0
        self.seconds = 0.0
        self.stop_reason: dict[str, object] = {}
        self._weight = weight
        self._bounds = batch_bounds(len(self.samples), settings.batch_size)
        self._sizes = torch.tensor(
            [end - first for first, end in self._bounds], dtype=torch.float64, device=self.device
        )
        self._order: torch.Tensor | None = None
        self._losses: list[torch.Tensor] = []  # of the steps of this epoch: loss, penalty
        self._rows: list[tuple[torch.Tensor, int, int, float]] = []  # of epochs not yet read
        self._history = History()
        self._best = BestEpoch({"gates": self.gates, "network": self.network})
        self._is_whole = True  # False within a step
        self._answered = 0  # the last epoch that callbacks were asked about
        self._is_stopped = False  # by a callback, until another run
        self._learner = Learner(self.gates, self.network, self.loss, self.samples, settings, key)
        self._optimizer = self._learner.optimizer

    @property
    def weight(self) -> float:
        """Weight of the penalty."""
        return self._weight

    @weight.setter
    def weight(self, weight: float) -> None:
        if weight != self._weight:
            self._best.forget(self.epoch)
        self._weight = weight

    @property
    def history(self) -> dict[str, list[float]]:
        """Columns of :class:`~bitsieve.gates.history.History`, a row an epoch."""
        self._read_rows()
        return self._history.columns

    @property
    def best_epoch(self) -> int:
        """The epoch of the least validation loss; 0 without early stopping."""
        return self._best.epoch

    # -- runs ----------------------------------------------------------------------------------

    def run(
        self,
        n_epochs: int | None = None,
        after_epoch: Callback | None = None,
        *,
        max_epochs: int | None = None,
        max_steps: int | None = None,
        max_time: float | None = None,
        callbacks: Iterable[Callback] = (),
        store: TrainingStore | None = None,
        save_at_end: bool = True,
        bar: TrainingBar | None = None,
    ) -> Training:
        """Train until a limit is met, early stopping ends it, or a callback answers True.

        Parameters
        ----------
        n_epochs : int or None, default None
            So many epochs more.
        after_epoch : callable or None, default None
            The caller's own callback; it is short, and no signal comes in its midst.
        max_epochs, max_steps : int or None, default None
            Limits of all runs together, so that a resumed training ends where it would have. Steps
            may end within an epoch, which then has no row in the history.
        max_time : float or None, default None
            Seconds of all runs together; looked at after each step.
        callbacks : iterable of callables, default ()
            The user's: called with the training after each epoch, once, and what ended a stored
            training ends it at once when gone on with. One that Ctrl-C struck is called again.
        store : TrainingStore or None, default None
            Where to write about every second, and where anything interrupts the run.
        save_at_end : bool, default True
            Whether to write at the end of this run too, if it is not time.
        bar : TrainingBar or None, default None

        Raises
        ------
        ValueError
            If nothing would end the run, or a loss or a weight is NaN or infinite: at which step,
            and what to try.
        KeyboardInterrupt
            Ctrl-C, after what there is was stored. The training is as after its last whole step,
            or its best epoch with early stopping.
        """
        if n_epochs is not None:
            most = self.epoch + n_epochs
            max_epochs = most if max_epochs is None else min(most, max_epochs)
        asked = tuple(callbacks)
        limited = (max_epochs, max_steps, max_time, self.settings.patience, after_epoch)
        if all(limit is None for limit in limited) and not asked:
            raise ValueError("nothing ends this training: give max_epochs, max_steps or max_time")
        limits = {"max_epochs": max_epochs, "max_steps": max_steps, "max_time": max_time}
        before, began = self.seconds, time.perf_counter()
        self.stop_reason = {}
        try:
            with torch_for(self.device, self._n_threads):
                while True:
                    self.seconds = before + time.perf_counter() - began
                    if self._ends(limits, asked, after_epoch):
                        break
                    if store is not None and store.is_due():
                        store.save(self)
                    if len(self._losses) < len(self._bounds):
                        self._step()
                    if len(self._losses) == len(self._bounds):
                        self._finish_epoch()
                    if bar is not None and bar.is_due(time.perf_counter()):
                        self._draw(bar)
                self._read_rows()
                self._check_weights()
                if store is not None and (save_at_end or store.is_due()):
                    store.save(self)
                self._is_stopped = False
                self._end()
        except BaseException as error:
            if store is not None and self._is_whole and not isinstance(error, Diverged):
                with suppress(RuntimeWarning):  # raised where warnings are errors
                    store.save(self)
            if isinstance(error, KeyboardInterrupt):
                self.stop_reason = {"interrupted": True}
                self._end()
            raise
        return self

    def _ends(
        self,
        limits: Mapping[str, float | None],
        callbacks: tuple[Callback, ...],
        after_epoch: Callback | None,
    ) -> bool:
        """Tell whether this run is over, and note why."""
        reasons: dict[str, object] = {}
        there = {"max_epochs": self.epoch, "max_steps": self.step, "max_time": self.seconds}
        for name, limit in limits.items():
            # However short the time, an epoch there is: without one there is nothing to tell.
            if limit is not None and there[name] >= limit and (name != "max_time" or self.epoch):
                reasons[name] = limit
        patience = self.settings.patience
        if patience is not None and not self._losses and self._best.stalled(self.epoch) >= patience:
            reasons["patience"] = patience
        answers: list[object] = []
        if not self._losses and self.epoch > self._answered:
            # All of them are called: none may miss an epoch because another one ends it.
            answers = [answer for answer in [callback(self) for callback in callbacks] if answer]
            with whole():  # the caller's own may change what is stored
                if after_epoch is not None and (answer := after_epoch(self)):
                    answers.append(answer)
                self._answered, self._is_stopped = self.epoch, bool(answers)
        if self._is_stopped and (callbacks or after_epoch is not None):
            reasons["callback"] = next((a for a in answers if isinstance(a, str)), True)
        self.stop_reason = reasons
        return bool(reasons)

    def catch_up(self) -> None:
        """Bring every weight up to date: those of closed features may owe steps."""
        with whole():
            self._optimizer.catch_up_all()

    def _end(self) -> None:
        """Leave the weights whole, and the best where there is one."""
        with whole():
            if self._best.epoch:
                self._optimizer.catch_up_all()  # put back weights owe no steps
                self._best.put_back()
            else:
                self._optimizer.catch_up()

    def _draw(self, bar: TrainingBar) -> None:
        self._read_rows()
        last = self._history.last()
        if last:
            bar.draw(
                epoch=self.epoch,
                step=self.step,
                loss=last["loss"],
                validation_loss=last["validation_loss"],
                n_selected=int(last["n_selected"]),
            )

    # -- steps and epochs ----------------------------------------------------------------------

    def _batch(self) -> torch.Tensor | None:
        """Return the rows of the next step's samples; None is all of them."""
        if len(self._bounds) == 1:
            return None  # their order changes nothing
        number = len(self._losses)
        if self._order is None or not number:
            drawn = Random(self.key, Stream.batches, lane=self.epoch)
            order = torch.from_numpy(drawn.permutation(len(self.samples)))
            self._order = order.to(self.device)
        first, end = self._bounds[number]
        return self._order[first:end]

    def _step(self) -> None:
        """Take a step, whole: batch normalisation learns before the weights do."""
        if not self.network.training:
            self.network.train()
        with whole():
            self._is_whole = False
            told = self._learner.gradients(self._batch(), self.step, self._weight)
            if self._looks and not math.isfinite(value := sum(told.tolist())):
                raise self._diverged("loss", value, self.step + 1)
            self._learner.move()
            self._losses.append(told)
            self.step += 1
            self._is_whole = True
        if not self._looks and len(self._losses) % _LOOK == 0:
            self._check_losses(torch.stack(self._losses))

    def _finish_epoch(self) -> None:
        """Take the epoch's row, and the weights where they are the best so far."""
        losses = torch.stack(self._losses).double()
        sizes = self._sizes
        parts = [(losses[:, 0] * sizes).sum() / sizes.sum(), losses[:, 1].mean()]
        parts.append(self.gates.selected().sum())
        bad = ~losses.isfinite().all(dim=1)
        parts.append(torch.where(bad.any(), bad.int().argmax(), -1))
        parts.append(
            losses.new_tensor(float("nan"))
            if self.validation is None
            else self._loss_of(self.validation)
        )
        row = torch.stack([part.double() for part in parts])
        if (self.epoch + 1) % _WEIGHTS_LOOK == 0:
            self._check_weights()
        validation_loss = float(row[-1]) if self.settings.patience is not None else math.nan
        with whole():
            if validation_loss < self._best.loss:
                self._optimizer.catch_up_all()
                self._best.keep(validation_loss, self.epoch + 1)
            first = self.step - len(self._losses)
            self.epoch += 1
            self._losses = []
            self._rows.append((row, self.epoch, first, self._weight))
        if self._looks or len(self._rows) >= _LOOK:
            self._read_rows()

    def _read_rows(self) -> None:
        """Bring the rows of epochs to the history; one word with the device for all of them."""
        if not self._rows:
            return
        values = torch.stack([row for row, *_ in self._rows]).tolist()
        found = []
        for told, (_, epoch, first, weight) in zip(values, self._rows, strict=True):
            loss, penalty, n_selected, bad, validation = told
            if bad >= 0:
                raise self._diverged("loss", loss, first + int(bad) + 1)
            if self.validation is not None and not math.isfinite(validation):
                raise self._diverged("validation loss", validation, first + len(self._bounds))
            found.append(
                {
                    "epoch": epoch,
                    "loss": loss,
                    "validation_loss": validation,
                    "penalty": penalty,
                    "n_selected": int(n_selected),
                    "weight": weight,
                }
            )
        with whole():
            for row in found:
                self._history.append(row)
            self._rows = []

    def _check_losses(self, losses: torch.Tensor) -> None:
        bad = (~losses.isfinite().all(dim=1)).nonzero()
        if len(bad):
            number = int(bad[0])
            step = self.step - len(losses) + number + 1
            raise self._diverged("loss", float(losses[number].sum()), step)

    def _check_weights(self) -> None:
        modules = (self.network, self.gates)
        if not all_finite(tensor for module in modules for tensor in module.parameters()):
            raise self._diverged("weights", math.nan, self.step)

    def _diverged(self, what: str, value: float, step: int) -> Diverged:
        return Diverged(what, step, len(self._bounds), self.settings.learning_rate, value)

    # -- prediction ----------------------------------------------------------------------------

    def outputs(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs at prediction, of shape (n, C): gates that are not selected are 0."""
        with torch_for(self.device, self._n_threads):
            return self._outputs(x.to(self.device))

    def _outputs(self, x: torch.Tensor) -> torch.Tensor:
        self._optimizer.catch_up()
        self.network.eval()
        with torch.no_grad():
            outputs: torch.Tensor = self.network(x, self.gates.at_prediction()[None])[0]
        return outputs

    def loss_of(self, samples: Samples) -> float:
        """Return the loss of samples at prediction."""
        with torch_for(self.device, self._n_threads):
            return float(self._loss_of(samples.to(self.device)))

    def _loss_of(self, samples: Samples) -> torch.Tensor:
        outputs = self._outputs(samples.x)
        return self.loss.of_draws(outputs[None], samples.target, samples.weight)[0]
