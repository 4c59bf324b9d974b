"""Which models there are, and the pipeline of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from bitsieve.model_selection.dimensions import Choice, Dimension, Whole
from bitsieve.model_selection.estimators import ESTIMATORS, NamedEstimator
from bitsieve.model_selection.steps import LogIntensities, RankedFeatures

__all__ = ["ALL", "PREPROCESSING", "ModelSpace"]

#: Name of the selection that keeps every feature.
ALL = "all"
#: Names of what is done with values before the classifier.
PREPROCESSING = ("none", "standard", "minmax", "log")


@dataclass(frozen=True)
class ModelSpace:
    """Full models: preprocessing, selection, classifier, and the parameters of each.

    Attributes
    ----------
    preprocessing : tuple of str
        Of :data:`PREPROCESSING`; "log" is followed by standardising.
    selectors : tuple of str
        Names of rankers, and "all".
    estimators : tuple of str
        Of :data:`ESTIMATORS`.
    n_features : int
        Of the table.
    most_features : int
        Largest number of features that a ranker selects.
    most_neighbors : int
        Largest number of neighbors.
    seed : int
        For rankers that draw.

    Examples
    --------
    >>> space = ModelSpace(("none",), ("all", "f"), ("svm",), 100, most_features=50)
    >>> [dimension.name for dimension in space.dimensions]
    ['preprocessing', 'selector', 'n_features', 'estimator', 'svm__C']
    >>> space.settings_at([0.9, 0.9, 0.5, 0.5, 1.0])
    {'preprocessing': 'none', 'selector': 'f', 'n_features': 7, 'estimator': 'svm', 'svm__C': 100.0}
    """

    preprocessing: tuple[str, ...]
    selectors: tuple[str, ...]
    estimators: tuple[str, ...]
    n_features: int
    most_features: int
    most_neighbors: int = 30
    seed: int = 0

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Every dimension, those that count only with another one's choice too."""
        found: list[Dimension] = [
            Choice("preprocessing", self.preprocessing),
            Choice("selector", self.selectors),
        ]
        if self.selectors != (ALL,):
            found.append(self._sizes)
        found.append(Choice("estimator", self.estimators))
        for name in self.estimators:
            found += [self._of(ESTIMATORS[name], one) for one in ESTIMATORS[name].dimensions]
        return tuple(found)

    @property
    def _sizes(self) -> Whole:
        return Whole("n_features", 1, self.most_features)

    def _of(self, estimator: NamedEstimator, one: Dimension) -> Dimension:
        """The dimension of an estimator under its name in a space."""
        if one.name == "n_neighbors" and isinstance(one, Whole):
            one = replace(one, high=min(one.high, self.most_neighbors))
        return replace(one, name=f"{estimator.name}__{one.name}")

    def settings(self, value: Callable[[Dimension], Any]) -> dict[str, Any]:
        """Describe a model; only what counts for it is asked for.

        Parameters
        ----------
        value : callable
            ``value(dimension)`` chooses.

        Returns
        -------
        dict
        """
        found = {"preprocessing": value(Choice("preprocessing", self.preprocessing))}
        found["selector"] = value(Choice("selector", self.selectors))
        if found["selector"] != ALL:
            found["n_features"] = value(self._sizes)
        found["estimator"] = value(Choice("estimator", self.estimators))
        estimator = ESTIMATORS[found["estimator"]]
        kernel = None
        for one in estimator.dimensions:
            if one.name in estimator.kernels_of and kernel not in estimator.kernels_of[one.name]:
                continue
            named = self._of(estimator, one)
            found[named.name] = value(named)
            if one.name == "kernel":
                kernel = found[named.name]
        return found

    def settings_at(self, point: Any) -> dict[str, Any]:
        """Describe the model at a point of the unit cube, a coordinate for each dimension."""
        names = [dimension.name for dimension in self.dimensions]
        coordinates = dict(zip(names, map(float, point), strict=True))
        return self.settings(lambda dimension: dimension.at(coordinates[dimension.name]))

    def pipeline(self, settings: Mapping[str, Any], order: Any = None) -> Pipeline:
        """Return the unfitted pipeline of a model.

        Parameters
        ----------
        settings : mapping
            As :meth:`settings` gives them.
        order : int array, optional
            The ranking that selection would make, where it is known.

        Returns
        -------
        Pipeline
            Steps "log", "select", "scale" and "classify"; those that do nothing pass through.
        """
        how, selector = settings["preprocessing"], settings["selector"]
        select: Any = "passthrough"
        size = self.n_features
        if selector != ALL:
            size = settings["n_features"]
            select = RankedFeatures(
                selector,
                n_features_to_select=size,
                depth=self.most_features,
                seed=self.seed,
                order=order,
            )
        scalers = {"none": None, "minmax": MinMaxScaler()}
        scale = scalers.get(how, StandardScaler())
        name = settings["estimator"]
        given = {
            key.removeprefix(f"{name}__"): value
            for key, value in settings.items()
            if key.startswith(f"{name}__")
        }
        return Pipeline(
            [
                ("log", LogIntensities() if how == "log" else "passthrough"),
                ("select", select),
                ("scale", "passthrough" if scale is None else scale),
                ("classify", ESTIMATORS[name].make(given, size)),
            ]
        )
