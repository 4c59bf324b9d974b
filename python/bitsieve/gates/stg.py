"""Stochastic gates (STG): classification and regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sklearn.base import ClassifierMixin, RegressorMixin

from bitsieve.gates._stochastic import StochasticGates
from bitsieve.gates._tasks import ClassifierTask, RegressorTask

__all__ = ["STGClassifier", "STGRegressor"]


class STGClassifier(ClassifierTask, ClassifierMixin, StochasticGates):  # type: ignore[misc]
    """A classifier behind stochastic gates, which select its features.

    Every feature is multiplied by a gate, a random number in [0, 1] that opens and closes by what
    the network behind it needs; the expected number of open gates, times lambda, is added to the
    loss. At prediction the gates that are selected have the value that they learnt, and the others
    are 0.

    Parameters
    ----------
    n_features_to_select : int or None, default None
        So many features are selected, whatever ``lam`` is: during one training lambda is led to
        where so many gates are open, and the most open ones of its last part are taken.
    lam : float or "auto", default "auto"
        Weight of the expected number of open gates, beside the mean cross-entropy. "auto" follows
        lambda from where few gates are open to less and to more, takes the size that does best
        on a validation part, and selects as many over all samples.
    size_rule : {"best", "one_standard_error"}, default "best"
        Which size "auto" takes: that of the least validation loss, or the smallest within a
        standard error of it.
    gate : {"gaussian", "hard_concrete", "l1", "none"}, default "gaussian"
        Gaussian gates are clip(mu + 1/2 + sigma * noise, 0, 1) [1]_; hard-concrete ones are those
        of [2]_; "l1" has weights in [0, 1] without noise, and "none" selects every feature.
    sigma : float, default 0.5
        Standard deviation of the noise of Gaussian gates.
    hidden_layer_sizes : tuple of int, default (64,)
        Units of the hidden layers; () is a linear model.
    activation : {"relu", "tanh", "selu", "sigmoid"}, default "relu"
    dropout : float, default 0.0
        Share of the units that are left out of a step, after each hidden layer.
    batch_norm : bool, default False
        Batch normalisation after each activation.
    body : callable or None, default None
        Takes (n_inputs, n_outputs) and returns a ``torch.nn.Module`` that maps samples (B,
        n_inputs) to outputs (B, n_outputs), in place of the hidden layers. To be pickled, the
        estimator needs one that can be.
    n_draws : int, default 1
        Draws of the gates in a step, whose losses are averaged.
    noise : {"shared", "sample"}, default "shared"
        Whether the samples of a batch share a draw, or each has its own.
    optimizer : {"adam", "sgd"}, default "adam"
    learning_rate : float, default 0.003
    gate_learning_rate : float or None, default None
        That of the gates; None is ``learning_rate``, and 3.5 times that with hard-concrete gates,
        whose parameter goes from open to closed over so many times the range.
    weight_decay : float, default 0.0001
        Of the network's weights, as L2 penalty.
    batch_size : int or None, default 128
        None takes all samples in each step.
    max_epochs : int or None, default None
        Of a training, or of a walk over lambda to a size: it leaves the last fifth to the network
        behind the selected features, and makes three epochs at least, one for each of its parts.
        ``lam="auto"`` walks twice, the first time to choose the size, and makes about 1.8 times as
        many. None makes at least 3,000 steps.
    early_stopping : bool, default False
        End where the loss of a validation part has not become less for ``patience`` epochs, and
        go back to the best epoch. In a walk this is the part behind the selected features.
    validation_fraction : float, default 0.2
        Share of the samples in the validation part, of each class.
    patience : int, default 20
    class_weight : dict, "balanced" or None, default None
        Weights of classes, as scikit-learn has them.
    standardize : bool, default True
        Take the mean off each feature and divide by the standard deviation.
    device : str, default "auto"
        "cpu", "cuda", or "auto", which takes a GPU where there is one.
    n_jobs : int or None, default None
        Threads of torch; None is one, which is the fastest for small networks.
    checkpoint : path or None, default None
        Directory of a file for each training, written about every second and at Ctrl-C.
    resume : bool, default True
        Go on from such files where they are of the same data and parameters. What is learnt is the
        same in every bit, on the processor, as without a break.
    progress : bool or None, default None
        Whether to draw a bar; None draws one in a terminal.
    random_state : int, RandomState or None, default None
        Of initial weights, noise, batches and validation part. An int makes the same model in
        every bit on the processor.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    support_ : bool array of shape (n_features,)
        The selected features.
    n_features_ : int
        How many there are.
    gates_ : float64 array of shape (n_features,)
        At prediction; 0 where a feature is not selected.
    scores_ : float64 array of shape (n_features,)
        How open; greater is better: mu + 1/2 of a Gaussian gate, averaged over the end of a walk.
    ranking_ : int array of shape (n_features,)
        1 is the best.
    history_ : dict of str to array
        An entry an epoch: ``epoch, loss, validation_loss, penalty, n_selected, weight``, the last
        being lambda.
    lam_ : float
        Lambda when the gates stopped learning.
    path_ : dict
        Where lambda was walked: a row for each number of features at which some stage of it
        ended, from many to few, as arrays ``lam, n_features, loss, validation_loss,
        validation_error, epoch`` and the Masks ``support``.
    best_validation_loss_ : float
        NaN without a validation part.
    n_iter_ : int
        Epochs.
    seed_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Where X has names.

    Raises
    ------
    ValueError
        In fit: where X or y are not fit for use, a parameter is out of its range, or the loss
        becomes NaN or infinite.
    KeyboardInterrupt
        In fit, at Ctrl-C: fitted attributes are then those of what was learnt so far.

    See Also
    --------
    STGRegressor : The same for numbers.
    STGCox : The same for times of events.
    PEFSClassifier : Masks that learn without gradients.

    References
    ----------
    .. [1] Y. Yamada, O. Lindenbaum, S. Negahban, Y. Kluger: "Feature Selection using Stochastic
       Gates", ICML 2020.
    .. [2] C. Louizos, M. Welling, D. P. Kingma: "Learning Sparse Neural Networks through L0
       Regularization", ICLR 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.gates import STGClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = np.where(X[:, 1] - X[:, 4] > 0, "up", "down")
    >>> model = STGClassifier(
    ...     lam=0.05, hidden_layer_sizes=(), learning_rate=0.05, max_epochs=60, random_state=0
    ... ).fit(X, y)
    >>> model.get_support(indices=True)
    array([1, 4])
    >>> model.score(X, y) > 0.9
    True
    >>> model.transform(X).shape
    (200, 2)
    """


class STGRegressor(RegressorTask, RegressorMixin, StochasticGates):  # type: ignore[misc]
    """A regressor behind stochastic gates, which select its features.

    Every feature is multiplied by a gate, a random number in [0, 1] that opens and closes by what
    the network behind it needs; the expected number of open gates, times lambda, is added to the
    loss. At prediction the gates that are selected have the value that they learnt, and the others
    are 0.

    Parameters
    ----------
    n_features_to_select : int or None, default None
        So many features are selected, by one walk over lambda.
    lam : float or "auto", default "auto"
        Weight of the expected number of open gates, beside the mean squared error of y, which is
        brought to mean 0 and standard deviation 1. "auto" walks over lambda and takes the size
        that does best on a validation part.
    validation_fraction : float, default 0.2
        Share of the samples in the validation part.
    size_rule, gate, sigma, hidden_layer_sizes, activation, dropout, batch_norm, body : optional
    n_draws, noise, optimizer, learning_rate, gate_learning_rate, weight_decay : optional
    batch_size, max_epochs, early_stopping, patience, standardize, device, n_jobs : optional
    checkpoint, resume, progress, random_state : optional
        As of :class:`~bitsieve.gates.STGClassifier`.

    Attributes
    ----------
    support_, n_features_, gates_, scores_, ranking_, history_, lam_, path_ : array or number
    best_validation_loss_, n_iter_, seed_, n_features_in_, feature_names_in_ : array or number
        As of :class:`~bitsieve.gates.STGClassifier`.

    Raises
    ------
    ValueError
        In fit: where X or y are not fit for use, a parameter is out of its range, or the loss
        becomes NaN or infinite.
    KeyboardInterrupt
        In fit, at Ctrl-C: fitted attributes are then those of what was learnt so far.

    See Also
    --------
    STGClassifier : The same for classes.
    STGCox : The same for times of events.
    PEFSRegressor : Masks that learn without gradients.

    References
    ----------
    .. [1] Y. Yamada, O. Lindenbaum, S. Negahban, Y. Kluger: "Feature Selection using Stochastic
       Gates", ICML 2020.
    .. [2] C. Louizos, M. Welling, D. P. Kingma: "Learning Sparse Neural Networks through L0
       Regularization", ICLR 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.gates import STGRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = 10 * X[:, 1] - 10 * X[:, 4] + 50
    >>> model = STGRegressor(
    ...     lam=0.1, hidden_layer_sizes=(), learning_rate=0.05, max_epochs=60, random_state=0
    ... ).fit(X, y)
    >>> model.get_support(indices=True)
    array([1, 4])
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        lam: float | Literal["auto"] = "auto",
        size_rule: Literal["best", "one_standard_error"] = "best",
        gate: str = "gaussian",
        sigma: float = 0.5,
        hidden_layer_sizes: tuple[int, ...] = (64,),
        activation: str = "relu",
        dropout: float = 0.0,
        batch_norm: bool = False,
        body: Callable[[int, int], Any] | None = None,
        n_draws: int = 1,
        noise: Literal["shared", "sample"] = "shared",
        optimizer: Literal["adam", "sgd"] = "adam",
        learning_rate: float = 3e-3,
        gate_learning_rate: float | None = None,
        weight_decay: float = 1e-4,
        batch_size: int | None = 128,
        max_epochs: int | None = None,
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
        del self.class_weight  # of classes alone
