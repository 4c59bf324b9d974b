"""The progress bar of a training."""

from __future__ import annotations

import math

from bitsieve._progress import TerminalBar

__all__ = ["TrainingBar"]


class TrainingBar(TerminalBar):
    """Epoch, loss, validation loss and features selected on standard error.

    Parameters
    ----------
    show : bool or None, default None
        See :class:`~bitsieve._progress.TerminalBar`.
    total : float or None, default None
        Epochs, or steps where those are limited.
    in_steps : bool, default False
        Whether the total is one of steps.
    name : str, default "training"
        What stands before the bar.

    Examples
    --------
    >>> with TrainingBar(False) as bar:
    ...     bar.is_due(0.0)
    False
    """

    def __init__(
        self,
        show: bool | None = None,
        total: float | None = None,
        *,
        in_steps: bool = False,
        name: str = "training",
    ) -> None:
        super().__init__(show, name, total)
        self._in_steps = in_steps

    def __enter__(self) -> TrainingBar:
        super().__enter__()
        return self

    def draw(
        self, *, epoch: int, step: int, loss: float, validation_loss: float, n_selected: int
    ) -> None:
        """Draw the last finished epoch; the validation loss is NaN where there is none."""
        text = f"epoch {epoch:,}  "
        if self._in_steps:
            text = f"step {step:,}  "
        text += f"loss {loss:.4f}  "
        if not math.isnan(validation_loss):
            text += f"validation loss {validation_loss:.4f}  "
        self.show(step if self._in_steps else epoch, f"{text}{n_selected:,} features")
