"""What the estimators of this room share: input, training, and what a selector and predictor has.

A subclass stores its parameters in its constructor and has these hooks::

    X, y --> _check_input --> Table --> _target, _make_loss, _strata, _class_weight
                                |
                                v
        _make_gates, _settings --> Problem --> _train --> Found --> _store

``_train`` is one training at a fixed weight of the penalty here; that of STG may walk a path.
"""

from __future__ import annotations

import hashlib
import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from bitsieve._checks import check_choice, check_flag, check_int, check_number, key_of
from bitsieve.data import Table
from bitsieve.data.groups import group_codes
from bitsieve.data.refusals import needs_target, refuse_what_scikit_learn_refuses
from bitsieve.filters.positions import positions_of_scores
from bitsieve.gates._found import Found, Interrupted
from bitsieve.gates._prediction import NetworkPrediction
from bitsieve.gates.contract import FeatureGates
from bitsieve.gates.device import check_device, n_threads
from bitsieve.gates.holdout import holdout
from bitsieve.gates.losses import Loss
from bitsieve.gates.network import ACTIVATIONS
from bitsieve.gates.problem import Architecture, Problem, Running, Scale
from bitsieve.gates.training import Settings, Training

__all__ = ["Found", "GatedEstimator"]

_STEPS = 3000  # of a training whose max_epochs is None, at least


class GatedEstimator(NetworkPrediction, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A network behind gates, fitted and asked as a scikit-learn estimator.

    Expects the parameters ``hidden_layer_sizes, activation, dropout, batch_norm, max_epochs,
    random_state`` on the instance; ``body, early_stopping, validation_fraction, class_weight,
    standardize, device, n_jobs, checkpoint, resume, progress`` where the constructor has them.
    """

    hidden_layer_sizes: Any
    activation: str
    dropout: float
    batch_norm: bool
    max_epochs: int | None
    random_state: Any

    # What stands for a parameter that a subclass does not have.
    body: Callable[[int, int], torch.nn.Module] | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.2
    class_weight: Any = None
    standardize: bool = True
    device: str = "auto"
    n_jobs: int | None = None
    patience: int = 20
    checkpoint: Any = None
    resume: bool = True
    progress: bool | None = None

    #: What y is: None lets the table decide.
    _TASK: Any = None
    #: The first of the trainings of a fit.
    _FIRST = "training"
    #: Parameters that end a training and change nothing before: a stored one goes on beyond.
    _LIMITS: tuple[str, ...] = ()
    #: Whether what predicts may keep the weights of the selected features alone.
    _NARROW = True

    # -- hooks -------------------------------------------------------------------------------------

    @abstractmethod
    def _make_gates(self, n_features: int) -> FeatureGates:
        """Return untrained gates."""

    @abstractmethod
    def _make_loss(self, table: Table) -> Loss:
        """Return what is minimised."""

    @abstractmethod
    def _target(self, table: Table) -> NDArray[Any]:
        """Return the target as the loss takes it."""

    @abstractmethod
    def _settings(self) -> Settings:
        """Return how to train."""

    def _strata(self, table: Table) -> NDArray[Any] | None:
        """Return what the validation part shares out evenly: the classes, where there are some."""
        return table.codes

    def _prior(self, problem: Problem) -> NDArray[np.float64]:
        """Return the outputs, of shape (n_outputs,), where no feature is selected."""
        return np.zeros(problem.loss.n_outputs)

    def _holds_out(self) -> bool:
        """Tell whether there is a validation part."""
        return bool(self.early_stopping)

    def _penalty_weight(self) -> float:
        """Return the weight of the gates' penalty in a training at one weight."""
        return 0.0

    def _check_parameters(self) -> None:
        """Refuse parameters before the data are looked at."""
        sizes = np.atleast_1d(np.asarray(self.hidden_layer_sizes, dtype=object))
        for size in sizes:
            check_int("hidden_layer_sizes", size, 1, instead="each")
        check_choice("activation", self.activation, ACTIVATIONS)
        check_number("dropout", self.dropout, 0.0, 1.0, closed="left")
        if self.body is not None and not callable(self.body):
            raise ValueError(
                "body must be None or take (n_inputs, n_outputs) and return a torch module, got "
                f"{self.body!r}"
            )
        for name in ("batch_norm", "early_stopping", "standardize"):
            check_flag(name, getattr(self, name))
        if self.max_epochs is not None:
            check_int("max_epochs", self.max_epochs, 1, instead="or None")
        check_number("validation_fraction", self.validation_fraction, 0.0, 1.0)
        check_device(self.device)
        check_flag("resume", self.resume)
        check_flag("progress", self.progress, optional=True)

    def _check_input(self, X: Any, y: Any) -> Table:
        """Check X and y and set what scikit-learn expects about features."""
        refuse_what_scikit_learn_refuses(X)
        if y is None:
            raise needs_target(self)
        if getattr(y, "ndim", 1) == 2:
            y = column_or_1d(y, warn=True)
        table = Table(X, y, task=self._TASK)
        validate_data(self, X, y, skip_check_array=True)
        if table.classes is not None:
            self.classes_ = table.classes
        return table

    def _train(self, problem: Problem) -> Found:
        """Train gates and network."""
        return self._train_at(problem, self._penalty_weight())

    # -- fitting -----------------------------------------------------------------------------------

    # See SearchSelector: weights of samples that are drawn in batches are none of whole copies.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **fit_params: Any) -> Any:
        """Train gates and network.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Numbers; frames keep their names. Missing values and sparse input are refused.
        y : array-like of shape (n_samples,)
            Class labels of any type, or numbers for a regressor.
        groups : array-like of shape (n_samples,) or None, default None
            Samples that belong together: the validation part holds whole groups.
        **fit_params
            ``sample_weight``, array-like of shape (n_samples,): of the loss, in training and
            validation part.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where X or y are not fit for use, a parameter is out of its range, or the loss is no
            number.
        KeyboardInterrupt
            At Ctrl-C: fitted attributes are then those of what was learnt so far.

        Warns
        -----
        UserWarning
            Where no feature is selected.
        """
        unknown = sorted(fit_params.keys() - {"sample_weight"})
        if unknown:
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument {unknown[0]!r}"
            )
        self._check_parameters()
        table = self._check_input(X, y)
        weight = self._weights(table, fit_params.get("sample_weight"))
        codes = None if groups is None else group_codes(groups, table.n_samples)
        problem = self._problem(table, weight, codes)
        try:
            found = self._train(problem)
        except Interrupted as stop:
            self._store(stop.found, problem)
            raise
        self._store(found, problem)
        if not self.support_.any():
            warnings.warn(
                "no feature is selected, and what is predicted is the same for all samples: "
                "every gate closed; let the penalty weigh less",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _weights(self, table: Table, sample_weight: Any) -> NDArray[np.float64] | None:
        """Return the weight of each sample, 1 on average; None where all are the same."""
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(
                sample_weight, table.X, dtype=np.float64, ensure_non_negative=True
            )
            if not weight.sum() > 0:
                raise ValueError("sample_weight is 0 for every sample")
        if self.class_weight is not None and table.codes is not None:
            from sklearn.utils import compute_sample_weight

            assert table.y is not None
            of_class = compute_sample_weight(self.class_weight, table.y)
            weight = of_class if weight is None else weight * of_class
        return None if weight is None else weight / weight.mean()

    def _problem(
        self, table: Table, weight: NDArray[Any] | None, groups: NDArray[Any] | None
    ) -> Problem:
        target = self._target(table)
        running = self._running(table, target, weight, groups)
        held_out = None
        if self._holds_out():
            held_out = holdout(
                table.n_samples,
                float(self.validation_fraction),
                self.seed_,
                strata=self._strata(table),
                groups=groups,
            )
        self._scale = Scale.none(table.n_features)
        if self.standardize:
            self._scale = Scale.learn(table.X, weight)
        settings = self._settings()
        loss = self._make_loss(table)
        n_steps = -(-table.n_samples // min(table.n_samples, settings.batch_size or 2**62))
        return Problem(
            self._scale.apply(table.X),
            target,
            weight,
            loss=loss,
            architecture=self._architecture(loss.n_outputs),
            settings=settings,
            make_gates=self._make_gates,
            key=self.seed_,
            held_out=held_out,
            max_epochs=-(-_STEPS // n_steps) if self.max_epochs is None else self.max_epochs,
            patience=self.patience,
            running=running,
        )

    def _running(self, table: Table, *arrays: NDArray[Any] | None) -> Running:
        """Return how trainings run, and set the seed: that of a stored fit where it was drawn."""
        parts: dict[str, object] | None = None
        if self.checkpoint is not None:
            digest = hashlib.sha256(table.fingerprint().encode())
            for array in arrays:
                digest.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
            beside = ("checkpoint", "resume", "progress", "n_jobs", "random_state", *self._LIMITS)
            told = {k: v for k, v in self.get_params(deep=False).items() if k not in beside}
            parts = {
                "estimator": type(self).__name__,
                "data": digest.hexdigest(),
                "parameters": repr(sorted(told.items())),
            }
        key = None if self.random_state is None else key_of(self.random_state)
        if parts is not None:
            parts["seed"] = "drawn" if key is None else key
        running = Running(
            check_device(self.device),
            n_threads(self.n_jobs),
            self.checkpoint,
            parts,
            self.resume,
            self.progress,
        )
        if key is None:
            store = running.store(self._FIRST)
            key = None if store is None else store.stored_key
        self.seed_ = key_of(None) if key is None else key
        return running

    def _architecture(self, n_outputs: int) -> Architecture:
        return Architecture(
            n_outputs,
            tuple(int(size) for size in np.atleast_1d(self.hidden_layer_sizes)),
            self.activation,
            self.batch_norm,
            self.dropout,
            self.body,
        )

    def _train_at(self, problem: Problem, lam: float) -> Found:
        """Train at one weight of the penalty, over all samples or with early stopping."""
        training = problem.training(lam=lam, hold_out=self._holds_out(), stops_early=True)
        try:
            problem.run(training, self._FIRST, problem.max_epochs)
        except KeyboardInterrupt as stop:
            raise Interrupted(self._found(problem, training, lam)) from stop
        return self._found(problem, training, lam)

    def _found(self, problem: Problem, training: Training, lam: float) -> Found:
        """Return what gates and network of a training are at prediction."""
        gates = training.gates
        with torch.no_grad():
            support = gates.support()
            value = np.where(support, gates.value().cpu().numpy(), np.float32(0.0))
            scores = gates.position().double().cpu().numpy()
        state = None
        if self._NARROW:
            state = problem.architecture.narrowed(training.network, support)
        narrow = state is not None
        if state is None:
            state = training.network.state_dict()
        losses = training.history["validation_loss"] if training.validation is not None else []
        return Found(
            support,
            value,
            scores,
            state,
            narrow,
            training.history,
            training.epoch,
            lam,
            min(losses) if losses else float("nan"),
        )

    def _store(self, found: Found, problem: Problem) -> None:
        """Set the fitted attributes, arrays and numbers alone."""
        self.support_ = found.support
        self.n_features_ = int(found.support.sum())
        self.gates_ = found.gates.astype(np.float64)
        self.scores_ = found.scores
        self.ranking_ = positions_of_scores(found.scores)
        self.history_ = {name: np.array(column) for name, column in found.history.items()}
        self.n_iter_ = found.n_epochs
        self.lam_ = found.lam
        self.best_validation_loss_ = found.validation_loss
        if found.path is not None:
            self.path_ = found.path
        self._narrow = found.narrow
        self._constant = None if found.support.any() else self._prior(problem)
        self._n_outputs = problem.loss.n_outputs
        self._state = (
            {}
            if self._constant is not None
            else {name: value.detach().cpu().numpy() for name, value in found.state.items()}
        )

    # -- asking ------------------------------------------------------------------------------------

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        support: NDArray[np.bool_] = self.support_
        return support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = False
        return tags
