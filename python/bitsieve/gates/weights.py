"""Weights of modules as arrays, and copies of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

__all__ = ["all_finite", "arrays_of", "copies_of", "put_back", "set_arrays", "tensors_of"]


def copies_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return copies of the parameters and buffers of a module, on its device."""
    return {name: tensor.detach().clone() for name, tensor in tensors_of(module).items()}


def put_back(module: torch.nn.Module, copies: Mapping[str, torch.Tensor]) -> None:
    """Set parameters and buffers to what they were, in place."""
    with torch.no_grad():
        for name, tensor in tensors_of(module).items():
            tensor.copy_(copies[name])


def arrays_of(tensors: Mapping[str, torch.Tensor]) -> dict[str, NDArray[Any]]:
    """Return copies of tensors as arrays; a type that numpy has not comes as whole numbers."""
    return {name: _plain(tensor.detach()).cpu().numpy().copy() for name, tensor in tensors.items()}


def set_arrays(tensors: Mapping[str, torch.Tensor], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Set tensors, in place, to what :func:`arrays_of` gave.

    Raises
    ------
    ValueError
        Where names, types or shapes differ.
    """
    if set(tensors) != set(arrays):
        odd = sorted(set(tensors) ^ set(arrays))
        raise ValueError(f"the weights are named otherwise: {odd[0]!r}")
    with torch.no_grad():
        for name, tensor in tensors.items():
            array = arrays[name]
            there = _plain(tensor.detach())
            expected = (there[:0] if there.dim() else there).cpu().numpy().dtype
            if array.shape != tuple(there.shape) or array.dtype != expected:
                raise ValueError(
                    f"{name} is {array.dtype} of shape {array.shape}, expected {expected} of "
                    f"shape {tuple(there.shape)}"
                )
            there.copy_(torch.from_numpy(np.array(array)))


def all_finite(tensors: Iterable[torch.Tensor]) -> bool:
    """Tell whether no number is NaN or infinite; one word with the device."""
    found = [torch.isfinite(tensor.detach()).all() for tensor in tensors]
    return not found or bool(torch.stack(found).all())


def tensors_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return parameters and buffers of a module by name, not copied."""
    state = module.state_dict()
    for name, value in state.items():
        if not isinstance(value, torch.Tensor):
            raise ValueError(
                f"{name} of the module's state_dict() is {type(value).__name__}: only tensors can "
                "be kept"
            )
    return state


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """A view whose type numpy has."""
    return tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor
