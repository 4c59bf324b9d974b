"""How many features: lambda, the weight of the gates' penalty, is moved while the network learns.

A training first *settles* at a lambda at which only features that matter on their own open: what
hardly helps closes, and what helps opens again, since noise keeps trying the gates that are
closed. From there lambda goes on, warm::

    settle --+--> seek: up while more gates are open than are asked for, down while fewer are
             |
             +--> fewer: up, until no gate is open  --+--> path: a row for each number of
             '--> more: down, from the same state   --'    features, with its loss

To begin with so few and let others in is what makes it work on wide data: where thousands are open
a network that knows all samples by heart needs none of them, and cannot tell which to keep.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from bitsieve.gates._found import Found, Interrupted
from bitsieve.gates.checkpoint import TrainingStore
from bitsieve.gates.noiseless import FixedGates
from bitsieve.gates.path_rows import Rows
from bitsieve.gates.problem import Problem
from bitsieve.gates.training import Training

__all__ = ["Walk", "follow"]

#: Lambda where a training settles, and where a path ends on either side, as shares of the loss of
#: a model that knows nothing.
FIRST, LEAST, MOST = 1e-2, 1e-4, 10.0
#: Shares of the epochs: to settle, to walk, and to train behind the features that were selected.
SETTLED, WALKED, TUNED = 0.2, 0.6, 0.2
#: While it settles the gates' learning rate is so many times as great, up to a rate, where features
#: outnumber samples: all close at once then, and those that are missed have to open again in time.
RATE_FACTOR, MOST_RATE = 3.0, 1e-2
#: What lambda can grow or fall by while it seeks a size.
REACH = 1e3
#: Rows of a path, at most, and epochs that the position of a gate is averaged over, as a share.
STAGES, RECENT = 60, 0.1
#: Features that are taken where a path opened none.
USUAL = 10
#: Between the most and the least open gate, where anything was learnt.
TOLD_APART = 0.1

#: From lambda and the number of open gates to the next lambda.
Rule = Callable[[float, int], float]


def _epochs(problem: Problem, share: float) -> int:
    return max(1, round(share * problem.max_epochs))


def seek(size: int, n_epochs: int) -> Rule:
    """Return the rule that leads to a number of open gates within so many epochs."""
    most = math.log(REACH) / n_epochs

    def rule(lam: float, n_open: int) -> float:
        error = math.log(max(n_open, 0.5) / size)
        return lam * math.exp(most * min(max(error, -1.0), 1.0))

    return rule


def steady(factor: float, n_epochs: int) -> Rule:
    """Return the rule that multiplies lambda by a factor over so many epochs."""
    step = factor ** (1.0 / n_epochs)
    return lambda lam, n_open: lam * step


class Walk:
    """A stretch of training over which lambda follows a rule.

    Parameters
    ----------
    problem : Problem
    phase : str
        What it is called beside other trainings of the fit.
    n_epochs : int
    hold_out : bool
        Leave the validation part out, and measure each row on it.
    rule : callable or None, default None
        None keeps lambda.
    begin : Walk or None, default None
        One at whose end it begins.
    falls : bool or None, default None
        Whether the sizes of its rows only fall, or only rise.

    Attributes
    ----------
    training : Training
    rows : Rows
    scores : float64 array of shape (n_features,)
        Positions of the gates, averaged over the last epochs.
    """

    def __init__(
        self,
        problem: Problem,
        phase: str,
        n_epochs: int,
        *,
        hold_out: bool,
        rule: Rule | None = None,
        begin: Walk | None = None,
        falls: bool | None = None,
    ) -> None:
        self.problem, self._phase, self._rule, self._falls = problem, phase, rule, falls
        lam = FIRST * max(problem.loss_of_nothing(), 1e-12)
        factor = 1.0
        if rule is None and problem.n_features > len(problem.all):
            factor = min(RATE_FACTOR, max(1.0, MOST_RATE / problem.settings.gate_learning_rate))
        self.training = problem.training(lam=lam, hold_out=hold_out, gate_rate_factor=factor)
        self.scores = self._positions()
        if begin is not None:
            self.training.set_state(begin.training.state())
            self.scores = begin.scores
        self._first = self.training.epoch
        self._end = self._first + n_epochs
        self._stage = max(1, n_epochs // STAGES)
        self.rows = Rows(problem.n_features, falls)
        self._store: TrainingStore | None = None

    def run(self, *, narrow: bool) -> Walk:
        """Walk to the end; ``narrow`` is of what Ctrl-C leaves."""
        self._store = self.problem.running.store(self._phase)
        if self._store is not None and self._store.restore(self.training, max_epochs=self._end):
            state = self._store.beside
            if state:  # none was stored before the first epoch ended
                self.rows.set_state(state)
                self.scores = np.array(state["scores"])
        try:
            self.problem.run(self.training, self._phase, self._end, self._look, self._store)
        except KeyboardInterrupt as stop:
            raise Interrupted(self.found(narrow=narrow)) from stop
        return self

    def _positions(self) -> NDArray[np.float64]:
        with torch.no_grad():
            found: NDArray[np.float64] = self.training.gates.position().double().cpu().numpy()
        return found

    def _look(self, training: Training) -> bool:
        """Note what is open after an epoch, and set the next lambda; True ends the walk."""
        epoch = training.epoch - self._first
        training.gates.hold()
        share = 1.0 / max(1, round(RECENT * self.problem.max_epochs))
        self.scores = self.scores + share * (self._positions() - self.scores)
        n_open = int(training.gates.selected().sum())
        is_over = self._falls is True and n_open == 0
        if self._rule is not None:
            if epoch % self._stage == 0 or training.epoch == self._end or is_over:
                self.rows.add(training, self.problem)
            training.weight = self._rule(training.weight, n_open)
        if self._store is not None:
            self._store.beside = {"scores": self.scores, **self.rows.state()}
        return is_over

    def _most_open(self, size: int) -> NDArray[np.bool_]:
        """Return the most open features; warn where the walk was too short to tell which."""
        support = np.zeros(self.problem.n_features, dtype=bool)
        support[np.argsort(-self.scores, kind="stable")[:size]] = True
        n_open = int(self.training.gates.support().sum())
        if n_open > 2 * size + 1 or (size < len(support) and np.ptp(self.scores) < TOLD_APART):
            warnings.warn(
                f"the walk was too short to tell the gates apart: {n_open} are open at its end "
                f"and {size} to select; the most open ones were taken; give a greater "
                "max_epochs or gate_learning_rate",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif 2 * n_open < size:
            warnings.warn(
                f"of {size} features to select only {n_open} had open gates at the end of the "
                "walk: the others are those that closed last, which tells little of them; select "
                "fewer",
                ConvergenceWarning,
                stacklevel=3,
            )
        return support

    def found(self, size: int | None = None, *, narrow: bool) -> Found:
        """Return the network behind the most open features, learnt on.

        Without a number of features it is that behind the features that are open, as it is.
        """
        problem, walked = self.problem, self.training
        walked.catch_up()  # weights of features that closed are asked for too
        support = walked.gates.support() if size is None else self._most_open(size)
        with torch.no_grad():
            value = walked.gates.value().cpu().numpy()
        # What is selected and closed just now, and is needed, has hardly less than a half.
        gates = np.where(support, np.maximum(value, 0.5), 0.0).astype(np.float32)
        lam = walked.weight
        state = problem.architecture.narrowed(walked.network, support) if narrow else None
        is_narrow = state is not None
        kept = support if is_narrow else np.ones(problem.n_features, dtype=bool)
        tuned = problem.fixed_training(
            FixedGates(torch.from_numpy(gates[kept])),
            walked.network.state_dict() if state is None else state,
            kept,
            walked.validation is not None,
        )
        stopped: KeyboardInterrupt | None = None
        if size is not None:
            try:
                problem.run(tuned, f"{self._phase}, {size} features", _epochs(problem, TUNED))
            except KeyboardInterrupt as stop:
                stopped = stop
        history = {name: walked.history[name] + tuned.history[name] for name in walked.history}
        losses = tuned.history["validation_loss"] if tuned.validation is not None else []
        found = Found(
            support=support,
            gates=gates,
            scores=self.scores,
            state=tuned.network.state_dict(),
            narrow=is_narrow,
            history=history,
            n_epochs=walked.epoch + tuned.epoch,
            lam=lam,
            validation_loss=min(losses) if losses else float("nan"),
            path=self.rows.table(),
        )
        if stopped is not None:
            raise Interrupted(found) from stopped
        return found


def follow(
    problem: Problem, size: int | None, *, size_rule: str = "best", narrow: bool = True
) -> Found:
    """Find the gates by walking over lambda.

    Parameters
    ----------
    problem : Problem
    size : int or None
        Features to select; None takes the size that does best on the validation part, and walks
        once more over all samples to that size.
    size_rule : {"best", "one_standard_error"}, default "best"
        The second takes the smallest size within a standard error of the best.
    narrow : bool, default True
        Keep what predicts to the selected features where that is possible.

    Returns
    -------
    Found
    """
    settled, walked, tuned = (_epochs(problem, share) for share in (SETTLED, WALKED, TUNED))
    walked = max(1, min(walked, problem.max_epochs - settled - tuned))  # rounding adds no epoch

    def to_size(m: int, phase: str, hold_out: bool) -> Found:
        begin = Walk(problem, phase, settled, hold_out=hold_out).run(narrow=narrow)
        rule = seek(m, walked)
        walk = Walk(problem, f"{phase} to {m}", walked, hold_out=hold_out, rule=rule, begin=begin)
        return walk.run(narrow=narrow).found(m, narrow=narrow)

    if size is not None:
        return to_size(size, "path", problem.held_out is not None)
    begin = Walk(problem, "path", settled, hold_out=True).run(narrow=narrow)
    half = max(1, walked // 2)
    parts = [
        Walk(
            problem,
            f"path, {name}",
            half,
            hold_out=True,
            rule=steady(end / FIRST, half),
            begin=begin,
            falls=falls,
        )
        .run(narrow=narrow)
        .rows
        for name, end, falls in (("more", LEAST, False), ("fewer", MOST, True))
    ]
    rows = parts[0].merged(parts[1])
    chosen = rows.best(size_rule)
    if not chosen:
        chosen = min(USUAL, problem.n_features)
        warnings.warn(
            "no gate opened on the path over lambda, which tells nothing of the size then: "
            f"{chosen} features are selected; give n_features_to_select or a greater max_epochs",
            ConvergenceWarning,
            stacklevel=2,
        )
    found = to_size(chosen, "path over all samples", False)
    found.path = rows.table()
    if chosen in rows.rows:
        found.validation_loss = float(rows.rows[chosen][3])
    return found
