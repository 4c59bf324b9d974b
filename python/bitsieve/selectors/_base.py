"""What every selector that searches has in common.

A subclass stores its parameters in its constructor and adds :meth:`SearchSelector._make_search`;
the parameters named under :class:`SearchSelector` must be among them. One that searches another
fitness than that of an estimator also overrides :meth:`SearchSelector._make_fitness`.

::

    X, y --> Table --> Space   which features move, and which of them together
               |         |
               |         '--> _make_search (over the units) --> UnitSearch, unless all are free
               '------------> _make_fitness --> SizePenalized, if features cost
                                                   |
    key --> one key a restart ------------------> run --> Restarts --> support_, restarts_, ...
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

import numpy as np

from bitsieve import fitness as fitness_room
from bitsieve._checks import check_flag, check_number, key_of
from bitsieve._errors import TooFewEvaluations
from bitsieve._random import seeded
from bitsieve._scorers import check_scorer
from bitsieve.data import Table
from bitsieve.data.copies import warn_of_copies
from bitsieve.data.groups import group_codes
from bitsieve.filters.positions import positions_of_scores
from bitsieve.search import UnitSearch, run
from bitsieve.selectors._finalists import weighted_frequency
from bitsieve.selectors._limits import refuse_endless, share_of_limits
from bitsieve.selectors._penalty import SizePenalized
from bitsieve.selectors._restarts import Restarts
from bitsieve.selectors._space import Space
from bitsieve.selectors._wrapping import WrappingSelector

__all__ = ["SearchSelector"]

_SEEDS_TRIED = 3


class SearchSelector(WrappingSelector):
    """A feature selector that drives a search over masks with a compiled fitness.

    Expects the parameters ``max_evaluations, max_time, random_state, folds, checkpoint, resume,
    callbacks, progress`` on the instance, and for the fitness ``estimator, cv, n_repeats, scoring,
    resample, n_jobs, dtype, device``; see :class:`bitsieve.BinarySPSA` for what they mean. A
    subclass with a fitness of its own, and maybe without an estimator, needs only the first.

    ``forced_features, forbidden_features, feature_groups, size_penalty, n_restarts`` are looked at
    here alone, and a subclass need not have them: its search is over the units of a
    :class:`Space` and knows of none of this.
    """

    estimator: Any
    cv: Any
    n_repeats: int
    scoring: Any
    resample: bool
    folds: Literal["common", "independent"]
    max_evaluations: int | None
    max_time: float | None
    random_state: Any
    n_jobs: int | None
    checkpoint: Any
    resume: bool
    dtype: Any
    device: str
    callbacks: Any
    progress: bool | None

    #: Parameters that are True or False; a subclass adds its own.
    _FLAGS: tuple[str, ...] = ("resample", "resume")

    #: Whose mask is selected; a subclass whose search has its own answer says "recommended".
    _CHOOSE: Literal["remeasured", "recommended"] = "remeasured"

    @abstractmethod
    def _make_search(self, table: Table, space: Space) -> Any:
        """Return a search over ``space.n_units`` units, unseeded: the loop gives it its seed.

        It is asked for one for every restart. What takes long and is the same for all of them, such
        as the scores of a filter, is got from the space, which keeps it.
        """

    def _make_fitness(
        self, table: Table, key: int | None, *, groups: Any, sample_weight: Any
    ) -> Any:
        """Return the fitness that masks are searched by, here that of the estimator.

        Parameters
        ----------
        table : Table
        key : int or None
            The seed of the run; None where a stored run is to draw it.
        groups, sample_weight : array-like or None
            As ``fit`` got them.

        Returns
        -------
        bitsieve.search.Fitness
            One that offers ``fingerprint()`` too where runs are to be stored.

        Raises
        ------
        ValueError
            Where a parameter is out of its range or the scorer has no value on some test part.
        """
        compiled = fitness_room.compile(
            self.estimator if key is None else seeded(self.estimator, key),
            table,
            None,
            scoring=self.scoring,
            cv=self.cv,
            n_repeats=self.n_repeats,
            resample=self.resample,
            groups=groups,
            sample_weight=sample_weight,
            # Seeds of fresh folds come from the loop. Fixed ones are the same for every seed, so
            # that a run with a drawn one is resumed on them, and repeated by ``seed_``.
            random_state=0,
            n_jobs=self.n_jobs,
            dtype=self.dtype,
            device=self.device,
            copy=False,  # fit is over before anyone can change them
        )
        assert table.y is not None
        # Fresh folds are tried on a few seeds: how many of a class a fold gets hardly depends.
        seeds = range(_SEEDS_TRIED if compiled.resample else 1)
        check_scorer(
            self.estimator,
            self.scoring,
            table.X,
            table.y,
            [test for seed in seeds for _, test in compiled.splits(seed)],
            is_classifier=table.codes is not None,
            folds=f"cv ({compiled.splits_text})",
        )
        return compiled

    @abstractmethod
    def _limits(self, n_units: int) -> tuple[int | None, int | None]:
        """Return ``max_iter`` and ``patience`` of each restart for a number of units."""

    def _store_search(self, search: Any, space: Space) -> None:
        """Set what only the search knows, after everything else was set.

        Parameters
        ----------
        search : Search
            That of the chosen restart, as :meth:`_make_search` returned it.
        space : Space
        """

    # Named here and not in the signature: the weights of a search are those of its estimator, and
    # scikit-learn's checks of weighted estimators do not hold for one that splits samples.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012

    def fit(
        self, X: Any, y: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> SearchSelector:
        """Search for the features that let the estimator predict y best.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Numbers, and missing values where the estimator takes them; pandas and polars frames
            keep their names. Sparse input is refused.
        y : array-like of shape (n_samples,)
            Class labels of any type, or numbers for a regressor.
        groups : array-like of shape (n_samples,) or None, default None
            Samples that belong together, such as those of one patient: every fold holds whole
            groups, fresh ones too. A splitter ``cv`` of its own is given them.
        **fit_params
            ``sample_weight``, array-like of shape (n_samples,), goes to every fit of the estimator
            (by name, or by scikit-learn's metadata routing); scores are not weighted. An estimator
            that takes none, such as nearest neighbors, is refused by name.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where X or y are not fit for use, a parameter is out of its range, or the scorer has no
            value on some test part.
        TypeError
            For another name among ``fit_params``.
        KeyboardInterrupt
            Ctrl-C: raised again after the fitted attributes were set from what there is.

        Warns
        -----
        DuplicateSamplesWarning
            Where samples stand twice that no group holds together.
        UserWarning
            Where one evaluation alone will take long, and as scikit-learn where classes are small.
        """
        unknown = sorted(fit_params.keys() - {"sample_weight"})
        if unknown:
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument {unknown[0]!r}"
            )
        self._check_parameters()
        table = self._check_input(X, y)
        warn_of_copies(
            table.X, None if groups is None else group_codes(groups, table.n_samples), stacklevel=2
        )
        space = Space(
            table,
            forced=getattr(self, "forced_features", None),
            forbidden=getattr(self, "forbidden_features", None),
            groups=getattr(self, "feature_groups", None),
        )
        key = None if self.random_state is None else key_of(self.random_state)
        if key is None and self.checkpoint is None:
            key = key_of(None)  # a stored run has a drawn key of its own
        fitness = self._make_fitness(
            table, key, groups=groups, sample_weight=fit_params.get("sample_weight")
        )
        self._search(table, space, fitness, key)
        return self

    def _search(self, table: Table, space: Space, fitness: Any, key: int | None) -> None:
        """Run the search from each of its seeds, and set the fitted attributes."""
        penalty = check_number("size_penalty", getattr(self, "size_penalty", 0.0), 0, closed="left")
        told = SizePenalized(fitness, penalty) if penalty else fitness
        found = Restarts(getattr(self, "n_restarts", 1), penalty)
        max_iter, patience = self._limits(space.n_units)
        max_evaluations, max_time = share_of_limits(
            found.n_restarts, self.max_evaluations, self.max_time
        )
        wide: Any = None
        try:
            for number in range(found.n_restarts):
                wide = space.widened(self._make_search(table, space))
                refuse_endless(self, wide, max_iter, max_evaluations, max_time, patience)
                result = run(
                    wide,
                    told,
                    max_evaluations=max_evaluations,
                    max_time=max_time,
                    callbacks=() if self.callbacks is None else self.callbacks,
                    checkpoint=self.checkpoint,
                    resume=self.resume,
                    random_state=found.key(number, key),
                    folds=self.folds,
                    choose=self._CHOOSE,
                    progress=self.progress,
                    max_iter=max_iter,
                    patience=patience,
                )
                found.take(result, wide)
                if "callback" in result.stop_reason:
                    break  # it asked for an end, not for the next restart
            found.measure_again(told, self.max_time)
        except TooFewEvaluations as error:
            if found.n_restarts == 1:
                raise
            raise TooFewEvaluations(
                f"max_evaluations={self.max_evaluations} leaves {max_evaluations} to each of "
                f"n_restarts={found.n_restarts}, which",
                error.n_masks,
            ) from error
        except KeyboardInterrupt as stop:
            found.interrupt(getattr(stop, "partial_result", None), wide)
            self._store_all(found, table, fitness, space)
            raise
        self._store_all(found, table, fitness, space)

    def _store_all(self, found: Restarts, table: Table, fitness: Any, space: Space) -> None:
        """Set the fitted attributes, where there is something to set."""
        result = found.result()
        if result is None:
            return
        self.n_units_ = space.n_units
        self._store(result, table, fitness, found.search)
        self.restarts_ = found.entries
        self.restart_overlap_ = found.overlap
        inner = found.search.inner if isinstance(found.search, UnitSearch) else found.search
        self._store_search(inner, space)

    def _check_parameters(self) -> None:
        """Refuse what the search is not to begin with, before the data are looked at.

        Raises
        ------
        ValueError
            Naming the parameter.
        """
        estimator = getattr(self, "estimator", None)
        if isinstance(estimator, type):
            raise ValueError(
                f"estimator must be an instance, got the class {estimator.__name__}; "
                f"write {estimator.__name__}()"
            )
        if hasattr(self, "estimator") and not hasattr(self.estimator, "fit"):
            raise ValueError(
                "estimator must be a scikit-learn estimator, such as KNeighborsClassifier(1), "
                f"got {self.estimator!r}"
            )
        try:
            np.dtype(getattr(self, "dtype", None))
        except TypeError as error:
            raise ValueError(
                f"dtype must be None, numpy.float32 or numpy.float64, got {self.dtype!r}"
            ) from error
        for name in self._FLAGS:  # not what is merely true or false
            check_flag(name, getattr(self, name))
        check_flag("progress", self.progress, optional=True)

    def _stopped_early(self, result: Any) -> bool:
        """Tell whether a search ended before it could have told anything; a subclass knows."""
        return False

    def _store(self, result: Any, table: Table, fitness: Any, search: Any) -> None:
        """Set the fitted attributes; neither table nor fitness is kept."""
        self.support_ = np.array(result.support, dtype=bool)
        self.n_features_ = int(self.support_.sum())
        weigh = getattr(search, "feature_scores", None)
        self.scores_ = np.array(
            weighted_frequency(result.finalists) if weigh is None else weigh(), dtype=np.float64
        )
        self.ranking_ = positions_of_scores(self.scores_)
        self.best_score_ = float(result.best_score)
        self.best_observed_score_ = float(result.best_observed_score)
        self.observed_score_ = float(result.observed_score)
        self.n_evaluations_ = int(result.n_evaluations)
        self.n_final_evaluations_ = int(result.n_final_evaluations)
        self.n_iter_ = int(result.n_iterations)
        self.history_ = result.history
        self.finalists_ = result.finalists
        self.seed_ = int(result.seed)
        self.stop_reason_ = dict(result.stop_reason)
        self.stopped_early_ = self._stopped_early(result)
        self.final_cut_ = result.final_cut
        self.kernel_ = getattr(fitness, "kernel", None)
        self.fallback_reason_ = getattr(fitness, "fallback_reason", None)
        self.n_declined_ = int(getattr(fitness, "n_declined", 0))
        if table.classes is not None:
            self.classes_ = table.classes
