"""Cox's proportional hazards behind stochastic gates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve._checks import check_choice, check_int
from bitsieve.data import Table
from bitsieve.data.refusals import needs_target, refuse_what_scikit_learn_refuses
from bitsieve.gates._found import Interrupted
from bitsieve.gates._stochastic import StochasticGates
from bitsieve.gates.losses import TIES, CoxPartialLikelihood, Loss
from bitsieve.gates.survival import (
    Survival,
    baseline_hazard,
    check_survival,
    concordance_index,
)

__all__ = ["STGCox"]


class _SurvivalTable(Table):
    """A table whose target is times and events."""

    survival: Survival


class STGCox(StochasticGates):
    """Proportional hazards behind stochastic gates: which features tell who has the event first.

    A network whose output is the logarithm of a sample's risk, trained by Cox's partial likelihood
    behind a gate for each feature. Without a hidden layer, the default, it is Cox's linear model.

    Parameters
    ----------
    n_features_to_select : int or None, default None
        Features to select, by one walk over lambda.
    lam : float or "auto", default 0.01
        Weight of the expected number of open gates, beside the loss for each event. A feature
        without effect gains about half a unit of the whole likelihood: the more events, the
        smaller it may be. "auto" walks over lambda and takes the size whose partial likelihood on
        the validation part is best.
    ties : {"efron", "breslow"}, default "efron"
        How events at the same time are counted.
    hidden_layer_sizes : tuple of int, default ()
    learning_rate : float, default 0.05
    batch_size : int or None, default None
        None takes all samples. The samples at risk at an event are those of its batch, so that
        smaller batches minimise an approximation.
    max_epochs : int or None, default 200
        With all samples in a batch an epoch is one step.
    validation_fraction : float, default 0.2
        Of the events and of the censored samples.
    size_rule, gate, sigma, activation, dropout, batch_norm, body, n_draws, noise : optional
    optimizer, gate_learning_rate, weight_decay, early_stopping, patience, standardize : optional
    device, n_jobs, checkpoint, resume, progress, random_state : optional
        As of :class:`~bitsieve.gates.STGClassifier`.

    Attributes
    ----------
    support_, n_features_, gates_, scores_, ranking_, history_, path_, lam_, n_iter_
        As of :class:`~bitsieve.gates.STGClassifier`.
    event_times_ : ndarray of shape (n_times,)
        Distinct times of the events that it was fitted to, ascending.
    cumulative_baseline_hazard_ : ndarray of shape (n_times,)
        Breslow's estimate for a sample with :meth:`predict` 0, from each of these times on.

    See Also
    --------
    bitsieve.gates.survival.check_survival : The forms of y.
    bitsieve.gates.survival.EventKFold : Folds that share the events.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.gates import STGCox
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> time = rng.exponential(np.exp(-1.5 * X[:, 0]))
    >>> y = np.column_stack((rng.random(200) < 0.8, time))  # event, time
    >>> model = STGCox(lam=0.05, random_state=0).fit(X, y)
    >>> model.get_support(indices=True)
    array([0])
    >>> model.score(X, y) > 0.75
    True
    >>> model.predict_survival_function(X[:2], times=[0.1, 1.0]).shape
    (2, 2)
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        lam: float | Literal["auto"] = 0.01,
        size_rule: Literal["best", "one_standard_error"] = "best",
        ties: Literal["efron", "breslow"] = "efron",
        gate: str = "gaussian",
        sigma: float = 0.5,
        hidden_layer_sizes: tuple[int, ...] = (),
        activation: str = "relu",
        dropout: float = 0.0,
        batch_norm: bool = False,
        body: Callable[[int, int], Any] | None = None,
        n_draws: int = 1,
        noise: Literal["shared", "sample"] = "shared",
        optimizer: Literal["adam", "sgd"] = "adam",
        learning_rate: float = 0.05,
        gate_learning_rate: float | None = None,
        weight_decay: float = 1e-4,
        batch_size: int | None = None,
        max_epochs: int | None = 200,
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        patience: int = 20,
        standardize: bool = True,
        device: str = "auto",
        n_jobs: int | None = None,
        checkpoint: Any = None,
        resume: bool = True,
        progress: bool | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            lam=lam,
            size_rule=size_rule,
            gate=gate,
            sigma=sigma,
            hidden_layer_sizes=hidden_layer_sizes,
            activation=activation,
            dropout=dropout,
            batch_norm=batch_norm,
            body=body,
            n_draws=n_draws,
            noise=noise,
            optimizer=optimizer,
            learning_rate=learning_rate,
            gate_learning_rate=gate_learning_rate,
            weight_decay=weight_decay,
            batch_size=batch_size,
            max_epochs=max_epochs,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            patience=patience,
            standardize=standardize,
            device=device,
            n_jobs=n_jobs,
            checkpoint=checkpoint,
            resume=resume,
            progress=progress,
            random_state=random_state,
        )
        self.ties = ties

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **fit_params: Any) -> Any:
        """Train gates and network.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : structured array, DataFrame or array-like of shape (n_samples, 2)
            Event and time; see :func:`bitsieve.gates.survival.check_survival`.
        groups : array-like of shape (n_samples,) or None, default None
            Samples that belong together: the validation part holds whole groups.
        **fit_params
            ``sample_weight``, array-like of shape (n_samples,).

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where X or y are not fit for use, or a parameter is out of its range.
        KeyboardInterrupt
            At Ctrl-C: fitted attributes are then those of what was learnt so far.
        """
        weight = fit_params.get("sample_weight")
        try:
            super().fit(X, y, groups=groups, **fit_params)
        except Interrupted:
            self._learn_baseline(X, y, weight)
            raise
        self._learn_baseline(X, y, weight)
        return self

    def _learn_baseline(self, X: Any, y: Any, weight: Any) -> None:
        log_risk = self.predict(X)
        self.event_times_, self.cumulative_baseline_hazard_ = baseline_hazard(
            check_survival(y),
            log_risk,
            None if weight is None else np.broadcast_to(weight, log_risk.shape),
        )

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of each sample's risk; greater is riskier.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        float64 ndarray of shape (n_samples,)
        """
        log_risk: NDArray[np.float64] = self._outputs(X)[:, 0]
        return log_risk

    def score(self, X: Any, y: Any) -> float:
        """Return the concordance index of the predicted risks.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : structured array, DataFrame or array-like of shape (n_samples, 2)

        Returns
        -------
        float
        """
        return concordance_index(y, self.predict(X))

    def predict_cumulative_hazard_function(
        self, X: Any, times: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the cumulative hazard of each sample.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        times : array-like of shape (n_times,), optional
            ``event_times_`` by default. Before the first of those it is 0, after the last as there.

        Returns
        -------
        float64 ndarray of shape (n_samples, n_times)
        """
        check_is_fitted(self, "event_times_")
        at = self.event_times_ if times is None else np.asarray(times, dtype=np.float64)
        if at.ndim != 1 or np.isnan(at).any():
            raise ValueError("times must be a list of numbers, none of them NaN")
        steps = np.concatenate(([0.0], self.cumulative_baseline_hazard_))
        baseline = steps[np.searchsorted(self.event_times_, at, side="right")]
        hazard: NDArray[np.float64] = np.exp(self.predict(X))[:, None] * baseline
        return hazard

    def predict_survival_function(
        self, X: Any, times: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the probability that each sample has had no event by each time.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        times : array-like of shape (n_times,), optional
            ``event_times_`` by default.

        Returns
        -------
        float64 ndarray of shape (n_samples, n_times)
        """
        survival: NDArray[np.float64] = np.exp(-self.predict_cumulative_hazard_function(X, times))
        return survival

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("ties", self.ties, TIES)

    def _check_input(self, X: Any, y: Any) -> Table:
        refuse_what_scikit_learn_refuses(X)
        if y is None:
            raise needs_target(self)
        table = _SurvivalTable(X)
        validate_data(self, X, skip_check_array=True)
        table.survival = check_survival(y, table.n_samples)
        if self.n_features_to_select is not None:
            check_int("n_features_to_select", self.n_features_to_select, 1, table.n_features)
        return table

    def _make_loss(self, table: Table) -> Loss:
        return CoxPartialLikelihood(self.ties)

    def _target(self, table: Table) -> NDArray[Any]:
        assert isinstance(table, _SurvivalTable)
        return table.survival.columns()

    def _strata(self, table: Table) -> NDArray[Any]:
        assert isinstance(table, _SurvivalTable)
        return table.survival.event.astype(np.int64)
