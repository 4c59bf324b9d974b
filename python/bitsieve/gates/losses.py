"""Losses of a batch, one number for each draw of the gates."""

from __future__ import annotations

from abc import abstractmethod

import torch

from bitsieve import _core
from bitsieve._checks import check_choice

__all__ = ["TIES", "CoxPartialLikelihood", "CrossEntropy", "Loss", "SquaredError"]

#: What may become of samples whose events come at the same time.
TIES = ("efron", "breslow")


class Loss:
    """What is minimised.

    Attributes
    ----------
    n_outputs : int
        Numbers that the network gives for a sample.
    """

    n_outputs: int

    @abstractmethod
    def of_draws(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        """Return the loss of each draw.

        Parameters
        ----------
        outputs : float32 tensor of shape (n_draws, n_samples, n_outputs)
        target : tensor of shape (n_samples, ...)
        weight : float32 tensor of shape (n_samples,) or None
            From 0 on; a sample of weight 0 counts as little as one that is not there.

        Returns
        -------
        tensor of shape (n_draws,)
            Means over the samples, weighted where there are weights; 0 where nothing counts.
        """

    def gradient(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> tuple[float, torch.Tensor]:
        """Return the loss of outputs (n_samples, n_outputs), and its gradient by them.

        All of it on the processor.
        """
        raise NotImplementedError(f"{type(self).__name__} leaves its gradient to autograd")


class CrossEntropy(Loss):
    """Softmax cross-entropy; the target is int64 codes of classes.

    Parameters
    ----------
    n_classes : int
    class_weight : float tensor of shape (n_classes,) or None, default None
        Weight of the samples of each class, times their own.
    """

    def __init__(self, n_classes: int, class_weight: torch.Tensor | None = None) -> None:
        self.n_outputs = n_classes
        self.class_weight = class_weight

    def of_draws(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        """See :class:`Loss`."""
        log = torch.log_softmax(outputs, dim=-1)
        each = -log.gather(-1, target.expand(outputs.shape[:-1])[..., None])[..., 0]
        return _mean(each, self._weight(each, target, weight))

    def _weight(
        self, each: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor | None:
        if self.class_weight is None:
            return weight
        of_class = self.class_weight.to(each)[target]
        return of_class if weight is None else weight * of_class

    def gradient(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> tuple[float, torch.Tensor]:
        """See :class:`Loss`: by the softmax, less 1 at the class."""
        weight = self._weight(outputs, target, weight)
        loss, gradient = _core.softmax_loss(
            outputs.numpy(), target.numpy(), None if weight is None else weight.numpy()
        )
        return loss, torch.from_numpy(gradient)


class SquaredError(Loss):
    """Squared error; the target is float32."""

    n_outputs = 1

    def of_draws(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        """See :class:`Loss`."""
        return _mean((outputs[..., 0] - target).square(), weight)

    def gradient(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> tuple[float, torch.Tensor]:
        """See :class:`Loss`."""
        off = outputs - target[:, None]
        if weight is None:
            return float(off.square().mean()), off.mul_(2.0 / len(off))
        total = weight.sum()
        share = (weight / torch.where(total > 0, total, torch.ones_like(total)))[:, None]
        return float((off.square() * share).sum()), off.mul_(2.0 * share)


class CoxPartialLikelihood(Loss):
    """Minus the logarithm of Cox's partial likelihood, for each event of the batch.

    The output is the logarithm of a sample's risk; the target is float64 of shape (n_samples, 2),
    event (1, or 0 for censored) and time. At each event the samples at risk are those *of the
    batch* whose time is not shorter: a batch that is not all of the samples gives another loss
    than its share of the whole, so that Cox models are best trained on all samples at once.

    Parameters
    ----------
    ties : {"efron", "breslow"}, default "efron"
        How events at the same time are counted. Weights enter as in R's ``survival``: Efron's
        terms have the mean weight of the tied events.

    Notes
    -----
    It is summed in float64, from logarithms of sums alone: no output that is finite overflows. A
    batch without an event has loss 0 and no gradient.
    """

    n_outputs = 1

    def __init__(self, ties: str = "efron") -> None:
        self.ties = check_choice("ties", ties, TIES)

    def of_draws(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        """See :class:`Loss`."""
        log_risk = outputs[..., 0].double()
        order = torch.argsort(target[:, 1], descending=True, stable=True)
        if weight is not None:
            order = order[weight[order] > 0]
        log_risk, event, time = log_risk[:, order], target[order, 0] > 0, target[order, 1]
        if not bool(event.any()):
            return (log_risk.sum(dim=1) * 0.0).to(outputs.dtype)
        weight = torch.ones_like(time) if weight is None else weight[order].double()
        scaled = log_risk + weight.log()
        # Whoever stands before the end of its tied times is at risk.
        _, tied, counts = torch.unique_consecutive(time, return_inverse=True, return_counts=True)
        ends = counts.cumsum(0) - 1
        dead = torch.nonzero(event)[:, 0]
        log_at_risk = torch.logcumsumexp(scaled, dim=1)[:, ends[tied[dead]]]
        w = weight[dead]
        if self.ties == "efron":
            log_at_risk, w = _efron(log_at_risk, scaled[:, dead], w, tied[dead])
        total = (log_risk[:, dead] * weight[dead] - log_at_risk * w).sum(dim=1)
        return (-total / weight[dead].sum()).to(outputs.dtype)


def _efron(
    log_at_risk: torch.Tensor, scaled: torch.Tensor, weight: torch.Tensor, tied: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Take l/d of the d tied events off the l-th of them; each has their mean weight then."""
    _, group, counts = torch.unique_consecutive(tied, return_inverse=True, return_counts=True)
    if len(counts) == len(group):
        return log_at_risk, weight
    size = counts[group]
    rank = torch.arange(len(group), device=group.device) - (counts.cumsum(0) - counts)[group]
    index = group.expand_as(scaled)
    top = scaled.new_full((len(scaled), len(counts)), -torch.inf)
    top = top.scatter_reduce(1, index, scaled.detach(), "amax")
    sums = torch.zeros_like(top).scatter_add(1, index, (scaled - top[:, group]).exp())
    log_tied = (top + sums.log())[:, group]
    off = (rank / size.double()) * (log_tied - log_at_risk).exp()
    mean = torch.zeros_like(counts, dtype=weight.dtype).scatter_add(0, group, weight) / counts
    return log_at_risk + torch.log1p(-off), mean[group]


def _mean(each: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
    if weight is None:
        return each.mean(dim=-1)
    total = weight.sum()
    return (each * weight).sum(dim=-1) / torch.where(total > 0, total, torch.ones_like(total))
