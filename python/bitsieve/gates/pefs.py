"""PEFS: a Bernoulli distribution over masks, trained with a network."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import torch
from sklearn.base import ClassifierMixin, RegressorMixin

from bitsieve.gates._masked import MaskedEstimator
from bitsieve.gates._tasks import ClassifierTask, RegressorTask

__all__ = ["PEFSClassifier", "PEFSRegressor"]


class PEFSClassifier(ClassifierTask, ClassifierMixin, MaskedEstimator):  # type: ignore[misc]
    """A classifier behind masks of features, whose distribution learns with it (PEFS).

    A Bernoulli variable of parameter theta for each feature says whether it is used. Each step
    draws a few masks, trains the network behind all of them on the same samples, ranks them by
    their losses, and moves theta towards the better ones, less ``eps`` theta (1 - theta) [1]_.
    Features of theta >= 1/2 are selected.

    Parameters
    ----------
    n_features_to_select : int or None, default None
        How many to select, in place of ``eps``: theta is led to that size, and the features of
        greatest theta are selected.
    eps : float, default 0.1
        Weight of the number of features, from 0 to 1 whatever the data: a feature goes that wins
        by less than this. See :class:`~bitsieve.gates.bernoulli.BernoulliMasks`.
    prior : float or array of shape (n_features,), or None, default None
        Probability of a feature before the data are seen. The penalty is then -log p(mask | prior),
        and ``eps`` has no say.
    structure : {"fixed", "dynamic"}, default "fixed"
        ``"dynamic"`` also learns which units, and which layers of as many units as the one before,
        are used, by the same distribution [2]_. What predicts is pruned to those.
    structure_eps : float, default 0
        Weight of the number of units and layers.
    predict_by : {"mask", "average"}, default "mask"
        ``"average"`` averages what ``n_prediction_draws`` masks drawn from theta predict: more
        accurate while theta is far from its ends, but features that are not selected are read.
    n_prediction_draws : int, default 32
    hidden_layer_sizes : tuple of int, default (200, 200, 200)
    activation : {"relu", "tanh", "selu", "sigmoid"}, default "relu"
    dropout : float, default 0
        After each hidden layer.
    batch_norm : bool, default True
        After each activation, with statistics of each mask by itself. At the end they are
        estimated anew, over all training samples behind the masks that predict.
    body : callable or None, default None
        Takes the numbers of inputs and outputs and returns a torch module, in place of the layers.
    n_draws : int, default 2
        Masks of a step.
    optimizer : {"adam", "sgd"}, default "adam"
    learning_rate : float, default 1e-3
    gate_learning_rate : float or None, default None
        Of theta; None is one divided by the number of variables (features, and with
        ``structure="dynamic"`` units and layers), at least 0.0015.
    weight_decay : float, default 1e-4
    batch_size : int or None, default 128
        Samples of a step, the same ones behind each mask; None takes all.
    max_iter : int or None, default None
        Steps; None is 30 times the number of variables, from 3,000 to 20,000. The theta of a
        useless feature takes log(n_features) / (rate eps) steps to its end, with all defaults more
        than there are from some tens of features on: raise ``gate_learning_rate`` or ``max_iter``
        where many of ``theta_`` are far from 0 and 1 at the end. The paper takes 100,000.
    early_stopping, validation_fraction, patience : bool, float, int, default False, 0.2, 20
        Stop after so many epochs without a better loss of a validation part, and go back to the
        best.
    class_weight : dict, "balanced" or None, default None
    standardize : bool, default True
    device : {"auto", "cpu", "cuda"}, default "auto"
    n_jobs : int or None, default None
        Threads of torch; None is one.
    checkpoint : path or None, default None
        Folder where the training is stored about every second.
    resume : bool, default True
        Whether to go on from what is stored there.
    progress : bool or None, default None
        Whether to draw a bar; None draws one on a terminal.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
    n_features_ : int
        Number of selected features.
    theta_, scores_ : float64 array of shape (n_features,)
        Probability of each feature.
    ranking_ : int array of shape (n_features,)
        1 for the greatest theta.
    gates_ : float64 array of shape (n_features,)
        1 for selected features, 0 for others.
    history_ : dict of str to array
        A row an epoch.
    n_iter_ : int
        Steps.
    hidden_layer_sizes_, theta_structure_ : tuple of int, float64 array
        With ``structure="dynamic"``: units of the layers that predict, and theta of units, layer
        after layer, and of layers.
    classes_ : array of shape (n_classes,)

    Notes
    -----
    The running averages of batch normalisation belong to masks that were drawn. With them the one
    mask that predicts had an error of 55 % on held-out digits of usps after 400 steps, with
    statistics of its own 19 % (``predict_by="average"``: 6 %). Where no feature is selected, the
    prediction is the same for all samples, also with ``predict_by="average"``.

    References
    ----------
    .. [1] Saito, Shirakawa, Akimoto, "Embedded feature selection using probabilistic model-based
       optimization", GECCO 2018 Companion.
    .. [2] Shirakawa, Iwata, Akimoto, "Dynamic optimization of neural network structures using
       probabilistic modeling", AAAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.gates import PEFSClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> y = (X[:, 0] > X[:, 1]).astype(int)
    >>> model = PEFSClassifier(
    ...     eps=0.3, hidden_layer_sizes=(16,), learning_rate=0.01, max_iter=200, random_state=0
    ... )
    >>> model.fit(X, y).support_.nonzero()[0].tolist()
    [0, 1]
    """

    def _mean_outputs(self, outputs: torch.Tensor) -> torch.Tensor:
        """Probabilities are averaged; what is returned are their logarithms."""
        return torch.logsumexp(torch.log_softmax(outputs, dim=-1), dim=0) - math.log(len(outputs))


class PEFSRegressor(RegressorTask, RegressorMixin, MaskedEstimator):  # type: ignore[misc]
    """A regressor behind masks of features, whose distribution learns with it (PEFS).

    Parameters and attributes are those of :class:`PEFSClassifier`, without ``class_weight`` and
    ``classes_``. The target is standardised for the training, and what is minimised is the squared
    error.

    Parameters
    ----------
    n_features_to_select, eps, prior, structure, structure_eps, predict_by, n_prediction_draws, \
hidden_layer_sizes, activation, dropout, batch_norm, body, n_draws, optimizer, learning_rate, \
gate_learning_rate, weight_decay, batch_size, max_iter, early_stopping, validation_fraction, \
patience, standardize, device, n_jobs, checkpoint, resume, progress, random_state
        See :class:`PEFSClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.gates import PEFSRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> y = X[:, 0] - X[:, 1]
    >>> model = PEFSRegressor(
    ...     2, hidden_layer_sizes=(16,), learning_rate=0.01, max_iter=200, random_state=0
    ... )
    >>> model.fit(X, y).support_.nonzero()[0].tolist()
    [0, 1]
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        eps: float = 0.1,
        prior: Any = None,
        structure: Literal["fixed", "dynamic"] = "fixed",
        structure_eps: float = 0.0,
        predict_by: Literal["mask", "average"] = "mask",
        n_prediction_draws: int = 32,
        hidden_layer_sizes: tuple[int, ...] = (200, 200, 200),
        activation: str = "relu",
        dropout: float = 0.0,
        batch_norm: bool = True,
        body: Callable[[int, int], Any] | None = None,
        n_draws: int = 2,
        optimizer: Literal["adam", "sgd"] = "adam",
        learning_rate: float = 1e-3,
        gate_learning_rate: float | None = None,
        weight_decay: float = 1e-4,
        batch_size: int | None = 128,
        max_iter: int | None = None,
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
            eps=eps,
            prior=prior,
            structure=structure,
            structure_eps=structure_eps,
            predict_by=predict_by,
            n_prediction_draws=n_prediction_draws,
            hidden_layer_sizes=hidden_layer_sizes,
            activation=activation,
            dropout=dropout,
            batch_norm=batch_norm,
            body=body,
            n_draws=n_draws,
            optimizer=optimizer,
            learning_rate=learning_rate,
            gate_learning_rate=gate_learning_rate,
            weight_decay=weight_decay,
            batch_size=batch_size,
            max_iter=max_iter,
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
        del self.class_weight  # of classes alone
