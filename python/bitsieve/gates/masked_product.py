"""The product of a batch with gated weights, of open features alone.

::

    gates (K, p) -> pieces: features that are open together, and in which draws
    x (n, p) -> the batch's rows, the pieces' columns -> one product a piece -> (B, K, H)

Where gates are numbers there is one piece, the features that are open in any draw: gates multiply
its weights, so that one product serves all draws. Where they are 0 or 1 and learn otherwise than by
gradients (masks), features that are open in all draws are one piece, whose product all draws share,
forward and backward: two masks that agree cost what one does. Closed features are never touched.
There is no gradient by x.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.gates.rows import LazyRows

__all__ = ["gated_product", "open_columns"]

# Share of open features from which leaving out the others saves less than it costs.
_WHOLE = 0.95


class _Piece(NamedTuple):
    features: NDArray[np.int32]  # ascending
    gates: NDArray[np.float32] | None  # (K, n): None is 1
    draw: int | None  # None is all of them


def gated_product(
    rows: LazyRows,
    bias: torch.Tensor,
    x: torch.Tensor,
    batch: torch.Tensor | None,
    z: torch.Tensor,
) -> torch.Tensor:
    """Return x[batch] @ (z_k[:, None] * weight) + bias for each draw k.

    Parameters
    ----------
    rows : LazyRows
        The weights. Their gradient goes there.
    bias : tensor of shape (H,)
    x : float32 tensor of shape (n, p)
    batch : int64 tensor of shape (B,) or None
        Rows of x; None is all.
    z : float32 tensor of shape (K, p)

    Returns
    -------
    tensor of shape (B, K, H)
    """
    found: torch.Tensor = _Product.apply(z, rows.parameter, bias, rows, x, batch)  # type: ignore[no-untyped-call]
    return found


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        z: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        rows: LazyRows,
        x: torch.Tensor,
        batch: torch.Tensor | None,
    ) -> torch.Tensor:
        n_draws, n_units = len(z), weight.shape[1]
        pieces = _pieces(z.numpy(), rows, is_mask=not ctx.needs_input_grad[0])
        columns = _columns(x, batch, [piece.features for piece in pieces])
        h = bias.expand(columns.shape[0], n_draws, n_units).contiguous()
        flat = h.view(len(h), -1)
        begin = 0
        for piece in pieces:
            part = columns[:, begin : begin + len(piece.features)]
            begin += len(piece.features)
            rows.advance(piece.features)
            if piece.gates is None and len(piece.features) == len(weight):
                w = weight
            else:
                w = torch.from_numpy(rows.fold(piece.features, piece.gates))
            if piece.draw is not None:
                h[:, piece.draw].addmm_(part, w)
            elif piece.gates is not None or n_draws == 1:
                flat.addmm_(part, w)
            else:
                h += (part @ w)[:, None]
        ctx.rows, ctx.pieces, ctx.columns, ctx.shape = rows, pieces, columns, z.shape
        return h

    @staticmethod
    def backward(ctx: Any, d: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        rows: LazyRows = ctx.rows
        n_draws, n_units = d.shape[1:]
        d = d.contiguous()
        flat = d.view(len(d), -1)
        of_gates = torch.zeros(ctx.shape) if ctx.needs_input_grad[0] else None
        begin = 0
        for piece in ctx.pieces:
            n = len(piece.features)
            part = ctx.columns[:, begin : begin + n].T
            begin += n
            if piece.draw is not None:
                gradient = part @ d[:, piece.draw]
            elif piece.gates is not None or n_draws == 1:
                gradient = part @ flat
            else:
                gradient = part @ d.sum(dim=1)
            g = gradient.view(n, -1, n_units).numpy()
            rows.take(piece.features, piece.gates, g)
            if of_gates is not None:
                of_gates.numpy()[:, piece.features] = rows.gate_gradients(piece.features, g)
        return of_gates, None, d.sum(dim=(0, 1)), None, None, None


def open_columns(
    x: torch.Tensor, batch: torch.Tensor | None, gates: torch.Tensor
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
    """Return open features, their gates (1, n_open), and their columns of the batch's rows.

    Gates are those of one draw, (p,). Where nearly all are open, all are taken.
    """
    most = max(1, math.ceil(_WHOLE * len(gates)))
    samples = None if batch is None else batch.numpy()
    return _core.open_columns(gates.numpy(), x.numpy(), samples, most)


def _pieces(gates: NDArray[np.float32], rows: LazyRows, *, is_mask: bool) -> list[_Piece]:
    n_draws, p = gates.shape
    if is_mask and bool(((gates == 0) | (gates == 1)).all()):
        return _pieces_of_masks(gates != 0, rows)
    is_open = gates[0] != 0 if n_draws == 1 else (gates != 0).any(axis=0)
    n_open = int(np.count_nonzero(is_open))
    if n_open >= _WHOLE * p:
        return [_Piece(rows.all, np.ascontiguousarray(gates), None)]
    features = _indices(is_open)
    return [_Piece(features, gates.take(features, axis=1), None)] if n_open else []


def _pieces_of_masks(masks: NDArray[np.bool_], rows: LazyRows) -> list[_Piece]:
    shared: NDArray[np.bool_] = np.logical_and.reduce(masks)
    if shared.all():
        return [_Piece(rows.all, None, None)]
    pieces = [_Piece(_indices(shared), None, None)]
    if len(masks) == 2:
        pieces += [_Piece(_indices(mask & ~shared), None, k) for k, mask in enumerate(masks)]
    elif len(masks) > 2:
        others = _indices(np.logical_or.reduce(masks) & ~shared)
        gates = masks.take(others, axis=1).astype(np.float32)
        pieces.append(_Piece(others, gates, None))
    return [piece for piece in pieces if len(piece.features)]


def _indices(mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    return np.flatnonzero(mask).astype(np.int32)


def _columns(
    x: torch.Tensor, batch: torch.Tensor | None, features: list[NDArray[np.int32]]
) -> torch.Tensor:
    """Return the batch's rows and the features' columns of x."""
    if len(features) == 1 and len(features[0]) == x.shape[1]:
        return x if batch is None else x.index_select(0, batch)
    names = (
        features[0] if len(features) == 1 else np.concatenate([np.empty(0, np.int32), *features])
    )
    samples = np.arange(len(x)) if batch is None else batch.numpy()
    return torch.from_numpy(_core.gather_columns(x.numpy(), samples, names))
