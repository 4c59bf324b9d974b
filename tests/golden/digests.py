"""Digests of answers: one of every bit, one of nine significant digits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

#: Below this a number is taken for a rounded zero.
_ZERO = 1e-12
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")


def _rounded(value: float) -> str:
    if np.isnan(value):
        return "nan"
    return "0" if abs(value) < _ZERO else f"{value:.8e}"


def _exact_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    array = np.ascontiguousarray(value)
    if array.dtype.kind == "f":
        # One NaN, one zero: the sign of either is no answer.
        array = np.where(np.isnan(array), np.nan, array) + 0.0
    return f"{array.dtype} {array.shape}".encode() + array.tobytes()


def _rounded_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return _NUMBER.sub(lambda found: _rounded(float(found[0])), value).encode()
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return _exact_bytes(value)
    text = " ".join(_rounded(v) for v in array.ravel().tolist())
    return f"{array.shape} {text}".encode()


def digests(found: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return for every array or text its digest of all bits and of rounded numbers."""
    return {
        name: {
            "bits": hashlib.sha256(_exact_bytes(value)).hexdigest()[:16],
            "digits": hashlib.sha256(_rounded_bytes(value)).hexdigest()[:16],
        }
        for name, value in found.items()
    }
