"""Values as text that is the same in every process, for fingerprints.

``repr`` is not: functions and random states show where they lie in memory, and two lambdas of one
scope look alike.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import types
from typing import Any

import numpy as np


def describe(value: Any) -> str:
    """Return a text that tells values apart and does not change from process to process.

    Parameters
    ----------
    value : object
        An estimator, a scorer, a parameter, an array, or a container of these.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If all that is known of the value is its address in memory.
    """
    if isinstance(value, functools.partial):
        return (
            f"partial({describe(value.func)}, {describe(value.args)}, {describe(value.keywords)})"
        )
    if isinstance(value, types.MethodType):
        return f"method({describe(value.__self__)}, {describe(value.__func__)})"
    if isinstance(value, types.FunctionType):
        return _describe_function(value)
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params"):
        parameters = sorted(value.get_params(deep=False).items())
        inside = ", ".join(f"{name}={describe(each)}" for name, each in parameters)
        return f"{describe(type(value))}({inside})"
    if hasattr(value, "_score_func"):  # a scorer of make_scorer
        parts = (value._score_func, value._sign, value._kwargs)
        return f"{describe(type(value))}{describe(parts)}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array({value.shape}, {value.dtype}, {content})"
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return f"{type(value).__name__}({hashlib.sha256(pickle.dumps(value)).hexdigest()})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{describe(k)}: {describe(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(describe(each) for each in value) + "]"
    if isinstance(value, (set, frozenset)):  # whose order is another in each process
        return "{" + ", ".join(sorted(describe(each) for each in value)) + "}"
    text = repr(value)
    if " at 0x" in text:
        raise ValueError(
            f"a checkpoint must recognise {text} in another process, and it shows its address "
            f"only; give it a __repr__ that says what it is, or run without a checkpoint"
        )
    return text


def _describe_function(function: types.FunctionType) -> str:
    """Name, code, defaults and what a closure holds: lambdas of one scope differ in these."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    parts = (function.__defaults__, function.__kwdefaults__, cells)
    code = _describe_code(function.__code__)
    return f"{function.__module__}.{function.__qualname__}({code}, {describe(parts)})"


def _describe_code(code: types.CodeType) -> str:
    digest = hashlib.sha256(code.co_code)
    digest.update(repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            text = _describe_code(constant)
        else:  # a set of constants has no order of its own
            text = describe(constant) if isinstance(constant, frozenset) else repr(constant)
        digest.update(text.encode())
    return digest.hexdigest()
