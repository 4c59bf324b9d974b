"""Kernels: who serves an estimator, and why nobody does.

::

    Problem (options, table, splits)
       |   kernels(), those registered last first
       v
    kernel.refusal(problem) --None--> kernel.make(problem)      the first that serves
       |  "metric 'manhattan' ..."
       v
    GeneralFitness, with a fallback_reason

A kernel of the package is a module with a ``KERNEL``, named in ``_BUILT_IN``; it is imported when
kernels are first asked for. Others join by :func:`register_kernel`.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Protocol

from bitsieve.fitness.base import Fitness
from bitsieve.fitness.general import GeneralFitness
from bitsieve.fitness.options import Problem

__all__ = ["Kernel", "kernels", "register_kernel", "serve"]

_BUILT_IN = (
    "bitsieve.fitness.knn",
    "bitsieve.fitness.centroid",
    "bitsieve.fitness.gaussian_bayes",
    "bitsieve.fitness.discrete_bayes",
    "bitsieve.fitness.diagonal_lda",
    "bitsieve.fitness.lda",
    "bitsieve.fitness.ridge",
    # The last one runs scikit-learn's own solvers: whoever has a kernel of its own is asked before.
    "bitsieve.fitness.factor",
)
_SHOWN = 8  # estimators in a message

_lock = threading.Lock()
_registered: tuple[Kernel, ...] = ()


class Kernel(Protocol):
    """What may serve an estimator in scikit-learn's place.

    Attributes
    ----------
    name : str
        Unique; the fitness that it makes has it as its ``kernel``.
    estimators : sequence of str or type
        Classes that it serves under some of their parameters, as dotted names such as
        ``"sklearn.neighbors.KNeighborsClassifier"`` (then it imports nothing) or as classes. A
        subclass may answer otherwise, so it is another estimator.
    takes_scaler : bool, optional
        Whether it also serves a pipeline of a scaler and one of its estimators. It then reads the
        parameters of ``problem.model`` and honours ``problem.scaler``.
    """

    @property
    def name(self) -> str: ...

    @property
    def estimators(self) -> Sequence[str | type]: ...

    def refusal(self, problem: Problem) -> str | None:
        """Return why it cannot serve the problem, or None if it can.

        Parameters
        ----------
        problem : Problem
            Its ``model`` is of one of ``estimators``.

        Returns
        -------
        str or None
            What a user understands and can change, such as ``"metric 'manhattan' has no
            kernel"``. *Every* parameter of the estimator is looked at, and the scorer, the table
            and the splits: what is not honoured is refused.
        """

    def make(self, problem: Problem) -> Fitness:
        """Return the fitness of a problem that was not refused.

        Raises
        ------
        ValueError
            If no estimator could answer, such as more neighbors than training samples.
        """


def kernels() -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they are asked.

    Returns
    -------
    tuple of Kernel
        Those of :func:`register_kernel`, the last one first, then those of the package.

    Examples
    --------
    >>> from bitsieve.fitness import kernels
    >>> [kernel.name for kernel in kernels()][:2]
    ['knn', 'centroid']
    """
    return _registered + tuple(importlib.import_module(name).KERNEL for name in _BUILT_IN)


def register_kernel(kernel: Kernel) -> ExitStack:
    """Have :func:`compile` ask a kernel of your own, before all others.

    Parameters
    ----------
    kernel : Kernel
        Registered in this process; a fitness that it made travels to others by pickle.

    Returns
    -------
    context manager
        Used in a ``with`` statement it takes the kernel back at the end, and so does its
        ``close()``; otherwise the kernel stays.

    Raises
    ------
    ValueError
        If it lacks one of the attributes of :class:`Kernel`, if its estimators are not as told
        there, or if its name is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from bitsieve.fitness import Fitness, compile, register_kernel
    >>> class ZeroFitness(Fitness):
    ...     kernel = "zero"
    ...
    ...     def _evaluate(self, masks, seeds):
    ...         y = self.table.y
    ...         shares = [np.mean(y[test] == 0) for _, test in self.splits(int(seeds[0]))]
    ...         return np.tile(shares, (len(masks), 1))
    >>> class ZeroKernel:
    ...     name = "zero"
    ...     estimators = (DummyClassifier,)
    ...     make = ZeroFitness
    ...
    ...     def refusal(self, problem):
    ...         estimator, is_fresh = problem.options.estimator, problem.splits.resample
    ...         if (estimator.strategy, estimator.constant) != ("constant", 0) or is_fresh:
    ...             return "only strategy='constant' with constant=0 on fixed folds has a kernel"
    ...         return None
    >>> X, y = np.eye(6), np.array([0, 0, 0, 0, 1, 1])
    >>> with register_kernel(ZeroKernel()):
    ...     served = compile(DummyClassifier(strategy="constant", constant=0), X, y, cv=2)
    ...     refused = compile(DummyClassifier(), X, y, cv=2)
    >>> served.kernel, served.evaluate(X[:1] > 0).round(3).tolist()
    ('zero', [0.667])
    >>> refused.fallback_reason
    "DummyClassifier: only strategy='constant' with constant=0 on fixed folds has a kernel"
    """
    global _registered
    for attribute in ("name", "estimators", "refusal", "make"):
        if not hasattr(kernel, attribute):
            raise ValueError(
                f"a kernel must have name, estimators, refusal and make; "
                f"{type(kernel).__name__} has no {attribute}"
            )
    estimators = kernel.estimators
    is_list = isinstance(estimators, Sequence) and not isinstance(estimators, str)
    if not is_list or not all(
        isinstance(each, type) or (isinstance(each, str) and "." in each) for each in estimators
    ):
        raise ValueError(
            "estimators of a kernel must be a sequence of classes or of dotted names such as "
            f"'sklearn.svm.SVC', got {estimators!r}"
        )
    with _lock:
        if kernel.name in [other.name for other in kernels()]:
            raise ValueError(
                f"a kernel named {kernel.name!r} is registered already; give yours another name"
            )
        _registered = (kernel, *_registered)
    registered = ExitStack()
    registered.callback(_forget, kernel)
    return registered


def _forget(kernel: Kernel) -> None:
    global _registered
    with _lock:
        _registered = tuple(other for other in _registered if other is not kernel)


def serve(problem: Problem) -> Fitness:
    """Return the fitness of the first kernel that serves a problem, else scikit-learn's.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Fitness
        Where no kernel serves, its ``fallback_reason`` is a line that says why.
    """
    estimator = problem.options.estimator
    known, reasons = kernels(), []
    parts = problem.parts
    for kernel in known:
        if not _knows(kernel, estimator):
            if parts.model is estimator or not _knows(kernel, parts.model):
                continue
            if not getattr(kernel, "takes_scaler", False):
                before = "a pipeline of" if parts.scaler is None else "a scaler before"
                reasons.append(f"{before} {_name(parts.model)} has no kernel")
                continue
        reason = kernel.refusal(problem)
        if reason is None:
            return kernel.make(problem)
        reasons.append(" ".join(reason.split()))
    if parts.reason is not None:
        reasons.append(parts.reason)
    if reasons:
        told = f"{_name(estimator)}: {'; '.join(dict.fromkeys(reasons))}"
    else:
        served = dict.fromkeys(_class_name(each) for kernel in known for each in kernel.estimators)
        listed = ", ".join([*served][:_SHOWN])
        more = f" and {len(served) - _SHOWN} more" if len(served) > _SHOWN else ""
        told = f"no compiled kernel for {_name(estimator)}; there is one for {listed}{more}"
    return GeneralFitness(problem, told)


def _knows(kernel: Kernel, estimator: Any) -> bool:
    """Tell whether an estimator is of a class that a kernel serves."""
    for each in kernel.estimators:
        if isinstance(each, str):
            # Where the module is not loaded there is no instance of its classes either.
            module, _, name = each.rpartition(".")
            if type(estimator) is getattr(sys.modules.get(module), name, None):
                return True
        elif type(estimator) is each:
            return True
    return False


def _class_name(each: str | type) -> str:
    return each.rpartition(".")[2] if isinstance(each, str) else each.__name__


def _name(estimator: Any) -> str:
    """Return the class of an estimator, of a pipeline those of its steps."""
    steps = getattr(estimator, "steps", None)
    if not steps:
        return type(estimator).__name__
    return f"{type(estimator).__name__} of {', '.join(_name(step) for _, step in steps)}"
