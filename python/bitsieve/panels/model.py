"""A panel: a few features, and what turns their values into a class.

::

    X -> columns of the panel -> Member: scaling -> rule -> decisions -> calibration
                                   |
    classes <- greatest mean of the members' probabilities

A panel is all that is needed to predict new samples. ``document.py`` writes it as JSON and reads
it back, bit for bit.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import name_columns, plural, shorten
from bitsieve._version import __version__
from bitsieve.data.frames import column_names, is_frame, matrix_of_frame
from bitsieve.data.table import Table
from bitsieve.panels.calibration import most_probable
from bitsieve.panels.classifiers import predicted_codes
from bitsieve.panels.member import Member

__all__ = ["Panel", "PanelPrediction"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PanelPrediction:
    """What a panel says of samples.

    Attributes
    ----------
    codes : int64 array of shape (n_samples,)
        Positions in the panel's classes.
    predicted : array of shape (n_samples,)
        The classes themselves.
    probabilities : float64 array of shape (n_samples, n_classes)
        Mean of the members' calibrated probabilities.
    votes : float64 array of shape (n_samples, n_classes)
        Share of the members that say a class by themselves.
    distance : float64 array of shape (n_samples,)
        How many standard deviations the features lie from the centre of the samples that the
        panel was made of: the median over a member's features, the mean over members. About 0.7
        for samples like those.
    """

    codes: NDArray[np.int64]
    predicted: NDArray[Any]
    probabilities: Floats
    votes: Floats
    distance: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Panel:
    """Members that together predict a class.

    Each member gives calibrated probabilities; the class whose mean is greatest is predicted (soft
    voting), the lowest of equal ones. With thresholds it is the class whose mean is the greatest
    multiple of its threshold: the second of two where its probability is above its own. A sample's
    numbers are the same bits in whatever batch it comes.

    Attributes
    ----------
    members : tuple of Member
    classes : array of shape (n_classes,)
        Text, whole numbers, numbers or booleans.
    n_features_in : int
        Columns of the table that was fitted.
    feature_names : tuple of str or None
        Names of the features that the panel uses, in the order of `columns`.
    thresholds : tuple of n_classes float or None
        Above 0, with sum 1; None means that all are equal.
    version : str
        Of the package that made it.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.panels import Calibration, Member, Panel, Scaling, ShrunkenLDA
    >>> X = np.array([[1.0, 9.0, 2.0], [2.0, 8.0, 2.0], [8.0, 1.0, 3.0], [9.0, 3.0, 2.0]])
    >>> codes, features = np.array([0, 0, 1, 1]), np.array([1, 0])
    >>> scaling = Scaling.fit(X[:, features])
    >>> Z = scaling.apply(X[:, features])
    >>> fitted = ShrunkenLDA().fit(Z @ Z.T, codes, 2, n_features=2)
    >>> decisions = fitted.decide(Z @ Z.T, np.zeros(4))  # out of fold, in earnest
    >>> member = Member.of(
    ...     fitted, Z, features=features, scaling=scaling, classifier="lda", selector="f",
    ...     calibration=Calibration.fit(decisions, codes, 2))
    >>> panel = Panel.of([member], np.array(["sick", "well"]), 3, ["tp53", "egfr", "myc"])
    >>> panel.feature_names, panel.predict(X).tolist()
    (('tp53', 'egfr'), ['sick', 'sick', 'well', 'well'])
    >>> again = Panel.from_json(panel.to_json())
    >>> (again.predict_proba(X) == panel.predict_proba(X)).all()
    np.True_
    """

    members: tuple[Member, ...]
    classes: NDArray[Any]
    n_features_in: int
    feature_names: tuple[str, ...] | None = None
    thresholds: tuple[float, ...] | None = None
    version: str = field(default=__version__)

    @classmethod
    def of(
        cls,
        members: Sequence[Member],
        classes: NDArray[Any],
        n_features_in: int,
        feature_names: Sequence[str] | None = None,
        *,
        thresholds: Sequence[float] | None = None,
    ) -> Panel:
        """Make a panel; of the names of all columns of the table it keeps those that it uses."""
        limits = None if thresholds is None else tuple(float(limit) for limit in thresholds)
        panel = cls(tuple(members), np.asarray(classes), int(n_features_in), thresholds=limits)
        if feature_names is None:
            return panel
        return replace(
            panel, feature_names=tuple(str(feature_names[column]) for column in panel.columns)
        )

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """Columns of the table that any member uses, ascending."""
        return np.unique(np.concatenate([member.features for member in self.members]))

    @property
    def n_features(self) -> int:
        """Number of different features that are needed to predict."""
        return len(self.columns)

    @property
    def support(self) -> NDArray[np.bool_]:
        """Bool of shape (n_features_in,): which columns are needed."""
        mask = np.zeros(self.n_features_in, dtype=bool)
        mask[self.columns] = True
        return mask

    @property
    def functions(self) -> int:
        """Decisions a sample: 1 for two classes, else one a class."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def restricted(self) -> Panel:
        """Return the same panel for tables that hold nothing but its features, in their order.

        Its columns are numbered from 0 on, in the order of `columns` and `feature_names`.
        """
        columns = self.columns
        members = tuple(
            Member(
                np.searchsorted(columns, member.features).astype(np.int64),
                member.scaling,
                member.classifier,
                member.rule,
                member.calibration,
                member.selector,
            )
            for member in self.members
        )
        return Panel(
            members, self.classes, len(columns), self.feature_names, self.thresholds, self.version
        )

    def decide(self, X: Any, member: Member) -> Floats:
        """Decisions of one member.

        Parameters
        ----------
        X : array-like, DataFrame or Table of shape (n_samples, n_features_in)
            As for :meth:`predict`.
        member : Member

        Returns
        -------
        float64 array of shape (n_samples, n_functions)
        """
        return _decided(self._scaled(self._values(X, None), member, None), member)

    def predict(self, X: Any) -> NDArray[Any]:
        """Classes of samples.

        Parameters
        ----------
        X : array-like, DataFrame or Table of shape (n_samples, n_features_in)
            The columns of the table that was fitted. Of one with names, columns are taken by
            name where the panel knows names, and others may be there. Columns that the panel does
            not use are not looked at.

        Returns
        -------
        array of shape (n_samples,)

        Raises
        ------
        ValueError
            If columns are missing, or a value that is needed is no finite number.
        """
        return self.outcome(X).predicted

    def predict_proba(self, X: Any) -> Floats:
        """Mean of the members' calibrated probabilities, float64 of (n_samples, n_classes).

        Parameters and errors are those of :meth:`predict`.
        """
        return self.outcome(X).probabilities

    def votes(self, X: Any) -> Floats:
        """Share of the members that say each class, float64 of shape (n_samples, n_classes).

        Parameters and errors are those of :meth:`predict`.
        """
        return self.outcome(X).votes

    def outcome(self, X: Any, *, missing: NDArray[np.bool_] | None = None) -> PanelPrediction:
        """Predict classes, probabilities and votes at once.

        Parameters
        ----------
        X : array-like, DataFrame or Table of shape (n_samples, n_features_in)
            As for :meth:`predict`.
        missing : bool array of shape (n_features_in,) or None, default None
            Columns that were not measured: they are not looked at, and stand at their centre in
            each member, where they speak for no class more than on average.

        Returns
        -------
        PanelPrediction

        Raises
        ------
        ValueError
            As for :meth:`predict`.
        """
        columns = self.columns
        absent = None if missing is None else np.asarray(missing, dtype=bool)[columns]
        values = self._values(X, absent)
        count = len(self.members)
        votes = np.zeros((len(values), len(self.classes)))
        total, distance = np.zeros_like(votes), np.zeros(len(values))
        rows = np.arange(len(values))
        for member in self.members:
            Z = self._scaled(values, member, absent)
            distance += np.median(np.abs(Z), axis=1)
            decisions = _decided(Z, member)
            said = predicted_codes(decisions)
            votes[rows, said] += 1.0
            total += member.calibration.apply(decisions)
        probabilities = total / count
        limits = None if self.thresholds is None else np.asarray(self.thresholds)
        codes = most_probable(probabilities, limits)
        return PanelPrediction(
            codes, self.classes[codes], probabilities, votes / count, distance / count
        )

    def to_json(self) -> str:
        """Return the panel as a JSON object; every number is read back to the bit."""
        from bitsieve.panels.document import written

        return written(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Panel:
        """Read a panel from JSON.

        Raises
        ------
        ValueError
            If it is no panel, or one of another schema; one line that names the field.
        """
        from bitsieve.panels.document import read

        return read(text)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the JSON to a file, whole or not at all."""
        from bitsieve._files import write_atomically

        return write_atomically(path, self.to_json().encode("utf-8"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Panel:
        """Read a panel from a file.

        Raises
        ------
        ValueError
            As :meth:`from_json`, with the path in front.
        OSError
            If the file cannot be read.
        """
        content = Path(path).read_bytes()
        try:
            return cls.from_json(content)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def __repr__(self) -> str:
        return (
            f"Panel({plural(len(self.members), 'member')}, {self.n_features} of "
            f"{plural(self.n_features_in, 'feature')}, classes {shorten(self.classes.tolist())})"
        )

    def _values(self, X: Any, absent: NDArray[np.bool_] | None) -> Floats:
        """Columns of the panel as float64, (n_samples, n_features); absent ones are 0."""
        columns = self.columns
        names = _names_of(X)
        where = columns
        if names is not None and self.feature_names is not None:
            known = {name: place for place, name in enumerate(names)}
            lost = [
                name
                for place, name in enumerate(self.feature_names)
                if name not in known and (absent is None or not absent[place])
            ]
            if lost:
                raise ValueError(
                    f"X lacks {plural(len(lost), 'feature')} of the panel: {shorten(lost)}"
                )
            twice = Counter(names)
            unclear = [name for name in self.feature_names if twice[name] > 1]
            if unclear:
                raise ValueError(
                    f"X has {plural(len(unclear), 'feature')} of the panel more than once: "
                    f"{shorten(unclear)}; leave all but one of each out"
                )
            where = np.array([known.get(name, 0) for name in self.feature_names], dtype=np.int64)
        array = _array_of(X)
        if where is columns and array.shape[1] != self.n_features_in:
            raise ValueError(
                f"X must have the {plural(self.n_features_in, 'feature')} that the panel was "
                f"fitted to, got {array.shape[1]}"
            )
        values = np.ascontiguousarray(array[:, where], dtype=np.float64)
        if absent is not None:
            values[:, absent] = 0.0
        bad = np.flatnonzero(~np.isfinite(values).all(axis=0))
        if len(bad):
            places = (bad if self.feature_names is not None else columns[bad]).tolist()
            said = name_columns(places, self.feature_names)
            raise ValueError(
                f"X must hold finite numbers where the panel looks, but {said} "
                f"{'hold' if len(bad) > 1 else 'holds'} missing or infinite values: leave those "
                "samples out, or fill the values in"
            )
        return values

    def _scaled(self, values: Floats, member: Member, absent: NDArray[np.bool_] | None) -> Floats:
        place = np.searchsorted(self.columns, member.features)
        # What is farther from its centre than floats reach is cut like anything far.
        with np.errstate(over="ignore"):
            Z = member.scaling.apply(values[:, place])
        if absent is not None:
            Z[:, absent[place]] = 0.0
        return Z


def _decided(Z: Floats, member: Member) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        decisions = member.rule.decide(Z)
    if not np.isfinite(decisions).all():
        raise ValueError("the panel's coefficients are too large to decide with")
    return decisions


def _names_of(X: Any) -> list[str] | None:
    if isinstance(X, Table):
        return X.names
    return column_names(X) if is_frame(X) else None


def _array_of(X: Any) -> NDArray[Any]:
    array = X.X if isinstance(X, Table) else matrix_of_frame(X) if is_frame(X) else np.asarray(X)
    if array.dtype == object:  # numbers in it are taken, as scikit-learn takes them
        with suppress(TypeError, ValueError):  # said below
            array = array.astype(np.float64)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"X must be a table of numbers, (n_samples, n_features), got {array.dtype} of shape "
            f"{array.shape}"
        )
    return array
