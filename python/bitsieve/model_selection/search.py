"""Full model selection as a scikit-learn search."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.naive_bayes import GaussianNB

from bitsieve._checkpoint import CheckpointStore, fingerprint
from bitsieve._checks import check_choice, check_int, check_number, key_of
from bitsieve._errors import plural
from bitsieve._scorers import check_scorer
from bitsieve._threads import effective_n_jobs
from bitsieve.filters.positions import positions_of_scores
from bitsieve.model_selection.best_model import BestModel
from bitsieve.model_selection.evaluation import Evaluations, inner_splits
from bitsieve.model_selection.options import (
    check_estimators,
    check_preprocessing,
    check_selectors,
    make_space,
)
from bitsieve.model_selection.results import results_of
from bitsieve.model_selection.searches import SEARCHES, make_search
from bitsieve.model_selection.space import ModelSpace
from bitsieve.model_selection.swarm import check_inertia
from bitsieve.panels.fit_input import table_of_classes

__all__ = ["ModelSearchCV"]

_logger = logging.getLogger("bitsieve")


class ModelSearchCV(BestModel, ClassifierMixin, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Search for a full model: preprocessing, selection of features, classifier and parameters.

    With a particle swarm this is the particle swarm model selection (PSMS) of Escalante, Montes and
    Sucar. Models are scored by cross-validation inside the data given, their selection made
    anew in each training part; the best one is fitted to all samples. Its score is the best of
    hundreds on the samples that chose it, and **optimistic**: measure the whole procedure by
    :func:`bitsieve.evaluation.nested_cross_validate` or ``cross_val_score``.

    Parameters
    ----------
    search : {"particle_swarm", "optuna", "random"}, default "particle_swarm"
        What proposes models. "optuna" is its tree-structured Parzen estimator, an extra
        (``pip install "bitsieve[optuna]"``). All get as many proposals.
    preprocessing : "auto" or sequence of str, default "auto"
        Of "none", "standard", "minmax" and "log" (base 2, then standardised). "auto" is the
        first three, and "log" where the values look like raw intensities.
    selectors : "auto" or sequence of str, default "auto"
        Rankers by name, as in :class:`bitsieve.AutoSelector`, and "all", no selection. ``["all"]``
        keeps the features that are given. "auto" is "all", "f", "relieff", "mrmr" and "rfe".
    estimators : "auto" or sequence of str, default "auto"
        Of "lda" (shrunken), "svm" (linear), "ridge", "kridge" (kernel ridge), "nb" (Gaussian naive
        Bayes), "dlda" (diagonal discriminant analysis) and "knn"; "auto" is all of them.
    max_features : int or None, default None
        Most features that a model may use. None means 200 for rankers, and no limit for "all".
    n_iter : int, default 25
        Moves of the swarm: ``n_iter + 1`` times ``n_particles`` models are proposed.
    n_particles : int, default 10
    inertia : pair of float, default (1.2, 0.4)
        How much of its velocity a particle keeps, in the first and in the last move.
    cognitive, social : float, default 2.0
        How much its own best model draws a particle, and that of the swarm.
    cv : int, splitter or iterable of (train, test), default 5
        Inner folds, as in scikit-learn: a number means stratified folds, unshuffled.
    scoring : str or callable, default "balanced_accuracy"
        A scorer of scikit-learn, such as "roc_auc". A model that it cannot score, since it has no
        probabilities for example, counts as the worst.
    checkpoint : str or path, optional
        A directory for scores: a call with the same data, folds and scoring takes those
        that are there, whichever search it makes.
    n_jobs : int or None, default None
        Processes; None means one.
    random_state : int, Generator, RandomState or None, default None
        Seed of the search; ``seed_``.

    Attributes
    ----------
    best_estimator_ : Pipeline
        Of steps "log", "select", "scale" and "classify", fitted to all samples.
    best_params_ : dict
        What the model is: "preprocessing", "selector", "n_features", "estimator", and parameters
        such as "svm__C".
    best_score_ : float
        Mean over the inner folds: optimistic, since the model was chosen by it. Of equal ones the
        model that was found first is chosen.
    best_index_ : int
        Its place in ``cv_results_``.
    cv_results_ : dict of arrays
        Of each different model, in the order in which they were proposed: "params",
        "param_..." (masked where it does not count), "split0_test_score" and so on,
        "mean_test_score", "std_test_score", "rank_test_score", and "iteration".
    history_ : float64 array of shape (n_iter_ + 1,)
        Best score after each turn.
    n_iter_ : int
        Moves made.
    n_evaluations_ : int
        Different models that were scored.
    stopped_early_ : bool
        Whether Ctrl-C ended the search; the best model until then was kept.
    support_ : bool array of shape (n_features_in_,)
    n_features_ : int
    scores_ : float64 array of shape (n_features_in_,)
        One over the position in the model's ranking, 0 for what it does not rank; 1 without one.
    ranking_ : int64 array of shape (n_features_in_,)
    classes_ : array of shape (n_classes,)
    n_splits_ : int
    seed_ : int
    n_features_in_ : int
    feature_names_in_ : array of str

    Notes
    -----
    A position of the swarm has a coordinate in [0, 1] for each choice and each parameter; a choice
    is the interval that the coordinate lies in, a number lies on a logarithmic scale. All
    particles of a turn are scored before any moves, so that the answer is the same for any
    ``n_jobs``. No model is scored twice, and models share the rankings of training parts.

    References
    ----------
    H. J. Escalante, M. Montes and L. E. Sucar (2009). Particle swarm model selection. Journal of
    Machine Learning Research 10, 405-440.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bitsieve import ModelSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = ModelSearchCV(
    ...     selectors=["all", "f"], estimators=["lda", "nb"], n_iter=3, n_particles=4, cv=3,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> search.best_params_["estimator"], search.best_score_ > 0.9
    ('lda', True)
    """

    def __init__(
        self,
        *,
        search: Literal["particle_swarm", "optuna", "random"] = "particle_swarm",
        preprocessing: Literal["auto"] | Sequence[str] = "auto",
        selectors: Literal["auto"] | Sequence[str] = "auto",
        estimators: Literal["auto"] | Sequence[str] = "auto",
        max_features: int | None = None,
        n_iter: int = 25,
        n_particles: int = 10,
        inertia: tuple[float, float] = (1.2, 0.4),
        cognitive: float = 2.0,
        social: float = 2.0,
        cv: Any = 5,
        scoring: str | Callable[..., float] = "balanced_accuracy",
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.search = search
        self.preprocessing = preprocessing
        self.selectors = selectors
        self.estimators = estimators
        self.max_features = max_features
        self.n_iter = n_iter
        self.n_particles = n_particles
        self.inertia = inertia
        self.cognitive = cognitive
        self.social = social
        self.cv = cv
        self.scoring = scoring
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, groups: ArrayLike | None = None) -> Self:
        """Search, and fit the best model to all samples.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Numbers without missing values.
        y : array-like of shape (n_samples,)
            Class labels of any type.
        groups : array-like of shape (n_samples,) or None, default None
            Samples that belong together: no inner fold parts them.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where X or y are not fit for use, a parameter is out of its range, or no model can be
            fitted and scored.
        ImportError
            If ``search="optuna"`` and there is no Optuna.

        Warns
        -----
        DuplicateSamplesWarning
            Where samples stand twice that no group holds together.
        UserWarning
            Where models could not be fitted or scored: how many, and what one of them said.
        """
        self._check_parameters()
        table = table_of_classes(self, X, y, groups)
        assert table.codes is not None
        assert table.classes is not None
        self.seed_ = key_of(self.random_state)
        values = np.ascontiguousarray(table.X, dtype=np.float64)
        target = table.classes[table.codes]
        splits = inner_splits(self.cv, table, groups, self.seed_)
        space = make_space(
            values,
            preprocessing=self.preprocessing,
            selectors=self.selectors,
            estimators=self.estimators,
            max_features=self.max_features,
            least_train=min(len(train) for train, _ in splits),
            seed=self.seed_ % 2**32,
        )
        check_scorer(
            GaussianNB(),
            self.scoring,
            values,
            target,
            [test for _, test in splits],
            is_classifier=True,
            folds="the inner folds",
        )
        evaluations = Evaluations(
            space,
            values,
            target,
            splits,
            check_scoring(GaussianNB(), scoring=self.scoring),
            n_jobs=1 if self.n_jobs is None else effective_n_jobs(self.n_jobs),
            store=self._store(values, target, splits, space),
        )
        turns = self._run(space, evaluations)
        self._finish(space, evaluations, turns, values, target, table.classes)
        return self

    def _run(self, space: ModelSpace, evaluations: Evaluations) -> list[list[int]]:
        """Make the search; the places of what each turn proposed."""
        search = make_search(
            self.search,
            space,
            n_models=self.n_particles,
            n_iter=self.n_iter,
            inertia=self.inertia,
            cognitive=self.cognitive,
            social=self.social,
            key=self.seed_,
        )
        turns: list[list[int]] = []
        self.stopped_early_ = False
        try:
            for turn in range(self.n_iter + 1):
                places = evaluations.score(search.ask())
                scores = [float(evaluations.scores[place].mean()) for place in places]
                if turn == 0 and np.isnan(scores).all():
                    said = next(iter(evaluations.errors.values()))
                    raise ValueError(
                        f"none of the first {plural(len(scores), 'model')} can be fitted and "
                        f"scored; one says: {said}"
                    )
                search.tell(scores)
                turns.append(places)
                best = max(float(score.mean()) for score in evaluations.scores)
                _logger.info("turn %d of %d: best score %.4g", turn, self.n_iter, best)
        except KeyboardInterrupt:
            if not turns:
                raise
            self.stopped_early_ = True
        return turns

    def _finish(
        self,
        space: ModelSpace,
        evaluations: Evaluations,
        turns: list[list[int]],
        X: NDArray[np.float64],
        y: NDArray[Any],
        classes: NDArray[Any],
    ) -> None:
        """Set the fitted attributes."""
        means = np.array([scores.mean() for scores in evaluations.scores])
        told = np.where(np.isnan(means), -np.inf, means)
        n_failed = int(np.isnan(means).sum())
        if n_failed:
            said = next(iter(evaluations.errors.values()))
            warnings.warn(
                f"{n_failed} of {plural(len(means), 'model')} cannot be fitted or scored, and "
                f"count as the worst; one says: {said}",
                UserWarning,
                stacklevel=3,
            )
        self.best_index_ = int(np.argmax(told))
        self.best_score_ = float(means[self.best_index_])
        self.best_params_ = dict(evaluations.models[self.best_index_])
        self.cv_results_ = results_of(evaluations, turns, told)
        self.history_ = np.maximum.accumulate([told[places].max() for places in turns])
        self.n_iter_, self.n_evaluations_ = len(turns) - 1, len(means)
        self.n_splits_ = len(evaluations.scores[0])
        self.classes_ = classes
        self.best_estimator_ = space.pipeline(self.best_params_).fit(X, y)
        select = self.best_estimator_["select"]
        if isinstance(select, str):
            self.support_, self.scores_ = np.ones(X.shape[1], dtype=bool), np.ones(X.shape[1])
        else:
            self.support_, self.scores_ = select.support_.copy(), np.zeros(X.shape[1])
            self.scores_[select.order_] = 1.0 / np.arange(1, len(select.order_) + 1)
        self.ranking_ = positions_of_scores(self.scores_)
        self.n_features_ = int(self.support_.sum())

    def _check_parameters(self) -> None:
        check_choice("search", self.search, SEARCHES)
        check_int("n_iter", self.n_iter, 0)
        check_int("n_particles", self.n_particles, 1)
        check_inertia(self.inertia)
        check_number("cognitive", self.cognitive, 0, closed="left")
        check_number("social", self.social, 0, closed="left")
        if self.max_features is not None:
            check_int("max_features", self.max_features, 1)
        if not (isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(
                f"scoring must be the name of a scorer or a callable, got {self.scoring!r}"
            )
        if self.checkpoint is not None and not isinstance(self.scoring, str):
            raise ValueError(
                "checkpoint needs scoring by name: nothing tells two callables apart; leave out "
                "checkpoint, or name a scorer such as 'roc_auc'"
            )
        check_preprocessing(self.preprocessing)
        check_selectors(self.selectors)
        check_estimators(self.estimators)

    def _store(
        self,
        X: NDArray[np.float64],
        y: NDArray[Any],
        splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
        space: ModelSpace,
    ) -> CheckpointStore | None:
        """Return what keeps scores; its name is what a score depends on besides its model."""
        if self.checkpoint is None:
            return None
        parts: dict[str, object] = {
            "X": X,
            "y": np.unique(y, return_inverse=True)[1],
            "classes": "|".join(map(repr, np.unique(y).tolist())),
            "scoring": self.scoring,
            "depth": space.most_features,
            "seed": space.seed,
        }
        for number, (train, test) in enumerate(splits):
            parts |= {f"train{number}": train, f"test{number}": test}
        return CheckpointStore(
            self.checkpoint, fingerprint(parts), kind="models", instead=", or name another folder"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = False
        return tags
