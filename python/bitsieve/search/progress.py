"""The progress bar of a run."""

from __future__ import annotations

from bitsieve._progress import TerminalBar
from bitsieve.search.limits import Limits

__all__ = ["ProgressBar"]


class ProgressBar(TerminalBar):
    """Iterations, best score, features and speed on standard error; ten times a second at most.

    Parameters
    ----------
    show : bool or None
        See :class:`~bitsieve._progress.TerminalBar`.
    limits : Limits
        What the bar is a part of: iterations, else evaluations, else time.
    """

    def __init__(self, show: bool | None, limits: Limits) -> None:
        total = limits.max_iter or limits.max_evaluations or limits.max_time
        super().__init__(show, "search", total)
        self._limits = limits

    def __enter__(self) -> ProgressBar:
        super().__enter__()
        return self

    def draw(
        self,
        *,
        iterations: int,
        evaluations: int,
        seconds: float,
        best: float,
        n_selected: int,
        speed: float,
    ) -> None:
        """Draw the state of the run; ``speed`` is evaluations a second."""
        limits = self._limits
        done: float = iterations
        if not limits.max_iter:
            done = evaluations if limits.max_evaluations else seconds
        self.show(
            done,
            f"iteration {iterations:,}  best score {best:.4f}  {n_selected:,} features  "
            f"{speed:,.0f} evaluations/s",
        )
