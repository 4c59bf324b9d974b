"""What is to be compared, decided beforehand from a table of costs and never by the clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from bitsieve._errors import plural
from bitsieve.panels.rankers import ranker_by_name

__all__ = [
    "EFFORTS",
    "ESTIMATORS",
    "REFERENCE_CORES",
    "SELECTORS",
    "Plan",
    "make_plan",
    "sizes_for",
]

Effort = Literal["quick", "standard", "thorough"]
EFFORTS: tuple[Effort, ...] = ("quick", "standard", "thorough")

#: Compared where nothing else is asked for.
SELECTORS = ("relieff", "mrmr", "rfe")
ESTIMATORS = ("lda", "svm", "ridge")

#: A unit of work takes a millisecond on one core of the machine that the costs were measured on.
SECONDS_PER_UNIT = 1e-3
#: Cores that a limit of time is planned for, so that a plan does not depend on where it runs.
REFERENCE_CORES = 2

#: What measuring the stability adds to the work of the outer folds, and what starting processes
#: costs on each core, in units.
_STABILITY, _PROCESSES = 1.2, 5_000.0

_SIZES = (5, 10, 20, 50, 100, 200)
_SMALL_SIZES = (1, 2, 3, 5, 10, 20)


@dataclass(frozen=True)
class Plan:
    """What is compared and how often, with the work that it takes.

    Attributes
    ----------
    selectors, estimators : tuple of str
    sizes : tuple of int
        Numbers of features; all of them are compared too.
    n_folds, n_repeats : int
        Inner folds, in which every selection is repeated.
    outer_folds, outer_repeats : int
        Folds that measure the error of the whole procedure; 0 for none.
    units : float
        Work, in milliseconds of one core of the reference machine.
    shortened : tuple of str
        What a limit of time took away.
    n_logs : int
        2 where logged and plain values are compared.
    """

    selectors: tuple[str, ...]
    estimators: tuple[str, ...]
    sizes: tuple[int, ...]
    n_folds: int
    n_repeats: int
    outer_folds: int
    outer_repeats: int
    units: float
    shortened: tuple[str, ...] = ()
    n_logs: int = 1

    @property
    def n_candidates(self) -> int:
        """Number of candidates, all features included."""
        n_panels = len(self.selectors) * len(self.sizes) + 1
        return self.n_logs * n_panels * len(self.estimators)

    def seconds(self, n_jobs: int = REFERENCE_CORES) -> float:
        """Time to expect, in seconds.

        Parameters
        ----------
        n_jobs : int, default 2
            Cores.

        Returns
        -------
        float
        """
        return self.units * SECONDS_PER_UNIT / max(n_jobs, 1)

    def text(self, n_jobs: int = REFERENCE_CORES) -> str:
        """The plan as one or two sentences.

        Parameters
        ----------
        n_jobs : int, default 2

        Returns
        -------
        str
        """
        sizes = ", ".join(map(str, self.sizes)) + (" and all" if self.sizes else "all")
        said = (
            f"{plural(self.n_candidates, 'candidate')}: {plural(len(self.selectors), 'selector')} "
            f"({', '.join(self.selectors)}) x sizes {sizes} features x "
            f"{plural(len(self.estimators), 'classifier')} ({', '.join(self.estimators)})"
            f"{' x logged or not' if self.n_logs > 1 else ''}, each by "
            f"{self.n_repeats} x {self.n_folds} inner folds with its selection repeated in each"
        )
        if self.outer_folds:
            said += f"; all of it repeated in {self.outer_repeats} x {self.outer_folds} outer folds"
        said += f". About {_duration(self.seconds(n_jobs))} on {plural(n_jobs, 'core')}."
        if self.shortened:
            said += f" The limit of time took away {' and '.join(self.shortened)}."
        return said

    def as_dict(self) -> dict[str, Any]:
        """The plan as a dict for JSON.

        Returns
        -------
        dict
        """
        return {**asdict(self), "n_candidates": self.n_candidates, "seconds": self.seconds()}


def sizes_for(n_features: int, max_features: int | None = None) -> tuple[int, ...]:
    """Sizes to compare where none are given.

    Parameters
    ----------
    n_features : int
        Of the table.
    max_features : int or None, default None
        Is one of the sizes itself.

    Returns
    -------
    tuple of int
        Ascending, each below ``n_features``.

    Examples
    --------
    >>> from bitsieve.panels.plan import sizes_for
    >>> sizes_for(2000), sizes_for(30), sizes_for(2000, max_features=15)
    ((5, 10, 20, 50, 100, 200), (1, 2, 3, 5, 10, 20), (5, 10, 15, 20, 50, 100, 200))
    """
    found = set(_SIZES if n_features > 50 else _SMALL_SIZES)
    if max_features is not None:
        found.add(max_features)
        if max_features < min(found - {max_features}):
            found |= {size for size in _SMALL_SIZES if size < max_features}
    return tuple(sorted(size for size in found if size < n_features))


def make_plan(
    n_samples: int,
    n_features: int,
    n_classes: int,
    *,
    effort: Effort = "standard",
    selectors: Sequence[str] | None = None,
    estimators: Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
    max_features: int | None = None,
    n_folds: int = 5,
    n_repeats: int | None = None,
    outer_folds: int = 0,
    outer_repeats: int | None = None,
    n_logs: int = 1,
    max_time: float | None = None,
) -> Plan:
    """Plan a comparison of candidates.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        Of the table.
    effort : {"quick", "standard", "thorough"}, default "standard"
    selectors, estimators : sequences of str or None, default None
        None leaves them to the effort.
    sizes : sequence of int or None, default None
    max_features : int or None, default None
    n_folds : int, default 5
    n_repeats, outer_repeats : int or None, default None
        None leaves them to the effort and the limit of time.
    outer_folds : int, default 0
    n_logs : int, default 1
        2 where logged and plain values are compared.
    max_time : float or None, default None
        Seconds, on two cores of the reference machine. The richest plan that is expected to take
        no longer; where none is, the poorest.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from bitsieve.panels.plan import make_plan
    >>> plan = make_plan(100, 12_600, 2, outer_folds=5)
    >>> (plan.n_repeats, plan.n_folds), (plan.outer_repeats, plan.outer_folds)
    ((3, 5), (2, 5))
    >>> make_plan(100, 12_600, 2, outer_folds=5, max_time=5.0).outer_repeats
    1
    """
    row = tuple(sizes_for(n_features, max_features) if sizes is None else sizes)
    plans: list[Plan] = []
    for number, (names, models, inner, outer) in enumerate(_rungs(effort)):
        ours = tuple(names if selectors is None else selectors)
        theirs = tuple(models if estimators is None else estimators)
        repeats = inner if n_repeats is None else n_repeats
        rounds = (outer if outer_repeats is None else outer_repeats) if outer_folds else 0
        units = _units(
            n_samples, n_features, n_classes, ours, theirs, row, n_folds, repeats, n_logs
        )
        share = 1.0 - 1.0 / outer_folds if outer_folds else 0.0
        # An outer training part is smaller, and so is its work, about in proportion.
        units *= 1.0 + share * outer_folds * rounds
        if rounds:
            units = _STABILITY * units + _PROCESSES
        plan = Plan(ours, theirs, row, n_folds, repeats, outer_folds, rounds, units, n_logs=n_logs)
        if number:
            plan = _with_losses(plan, plans[0])
        plans.append(plan)
        if max_time is None or plan.seconds() <= max_time:
            return plan
    return plans[-1]


def _rungs(effort: Effort) -> list[tuple[tuple[str, ...], tuple[str, ...], int, int]]:
    """Return selectors, estimators, inner and outer repeats, from what is asked for downwards."""
    everything = SELECTORS, ESTIMATORS, 10, 4
    quick = ("f",), ESTIMATORS[:2], 3, 1
    rungs = [everything, (SELECTORS, ESTIMATORS, 3, 2), (SELECTORS, ESTIMATORS, 3, 1), quick]
    return rungs[{"thorough": 0, "standard": 1, "quick": 3}[effort] :]


def _with_losses(plan: Plan, wanted: Plan) -> Plan:
    """Return a plan that says what it lacks of the one that was wanted."""
    lost = []
    if len(plan.selectors) < len(wanted.selectors):
        gone = [name for name in wanted.selectors if name not in plan.selectors]
        lost.append(f"the selectors {', '.join(gone)}")
    if len(plan.estimators) < len(wanted.estimators):
        gone = [name for name in wanted.estimators if name not in plan.estimators]
        lost.append(f"the classifiers {', '.join(gone)}")
    if plan.n_repeats < wanted.n_repeats:
        lost.append(f"{wanted.n_repeats - plan.n_repeats} inner repeats")
    if plan.outer_repeats < wanted.outer_repeats:
        lost.append(plural(wanted.outer_repeats - plan.outer_repeats, "outer repeat"))
    return replace(plan, shortened=tuple(lost))


def _units(
    n: int,
    p: int,
    n_classes: int,
    selectors: Sequence[str],
    estimators: Sequence[str],
    sizes: Sequence[int],
    n_folds: int,
    n_repeats: int,
    n_logs: int,
) -> float:
    """Return the work of one race and of fitting what it chose."""
    train = n * (n_folds - 1) // n_folds
    most = sizes[-1] if sizes else 0
    ranking = sum(ranker_by_name(name).cost(train, p, n_classes, most) for name in selectors)
    of_panels = [
        _fitting(name, train, size, n_classes) for name in estimators for size in (*sizes, p)
    ]
    # A panel of each selector and size, and one of all features.
    fitting = sum(of_panels) * max(len(selectors), 1)
    # Scaling, the Gram matrix of all features, and what each part costs however small it is.
    tables = 2e-5 * n * p + 2e-8 * n * n * p + 3.0
    return (n_folds * n_repeats + 1) * n_logs * (ranking * bool(sizes) + fitting + tables)


def _fitting(name: str, n: int, n_features: int, n_classes: int) -> float:
    """Return the work of fitting a classifier to a Gram matrix and deciding by it.

    Fitted to ``benchmarks/panels/classifiers.py``.
    """
    functions = 1 if n_classes == 2 else n_classes
    square = (n / 100) ** 2
    if name == "lda":
        return 0.1 + 0.1 * square
    if name == "svm":
        return 0.05 + 0.07 * functions * square
    if name == "ridge":
        return 0.25 + 0.28 * (n / 100) * float((min(n, n_features) / 50) ** 1.3)
    return 0.05 + 0.03 * square


def _duration(seconds: float) -> str:
    if seconds < 90:
        return plural(max(round(seconds), 1), "second")
    return f"{round(seconds / 60)} minutes"
