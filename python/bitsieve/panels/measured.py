"""A panel on a table that was measured elsewhere: features found by name, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_number
from bitsieve._errors import closest, plural, shorten
from bitsieve.data.table import Table
from bitsieve.panels.model import Panel, PanelPrediction

__all__ = ["TablePrediction", "missing_features", "predict_table"]

#: Standard deviations from the centre, in the median, that no like samples reach.
_FAR = 3.0


@dataclass(frozen=True, eq=False)
class TablePrediction:
    """What a panel says of the samples of a table.

    Attributes
    ----------
    prediction : PanelPrediction
    missing : tuple of str
        Features of the panel that the table does not hold; they stood at their centre.
    n_features : int
        Of the panel.
    """

    prediction: PanelPrediction
    missing: tuple[str, ...]
    n_features: int

    def remark(self) -> str | None:
        """Say what was missing, None where nothing was.

        Examples
        --------
        >>> import numpy as np
        >>> nothing = PanelPrediction(*[np.zeros(0)] * 5)
        >>> TablePrediction(nothing, ("tp53",), 20).remark()
        "1 of the panel's 20 features is missing and stands at its centre: 'tp53'"
        """
        count = len(self.missing)
        if not count:
            return None
        verb, whose = ("is", "its") if count == 1 else ("are", "their")
        return (
            f"{count} of the panel's {plural(self.n_features, 'feature')} {verb} missing and "
            f"{'stands' if count == 1 else 'stand'} at {whose} centre: {shorten(self.missing)}"
        )

    def doubt(self) -> str | None:
        """Say so where the values are evidently not like those that the panel was made of.

        Examples
        --------
        >>> import numpy as np
        >>> far = PanelPrediction(*[np.zeros(0)] * 4, np.array([7.0, 8.0, 9.0]))
        >>> TablePrediction(far, (), 20).doubt()
        "the panel's features lie 8.0 standard deviations from their centre, where about 0.7 is ...
        """
        distance = float(np.median(self.prediction.distance))
        if distance <= _FAR:
            return None
        return (
            f"the panel's features lie {distance:.1f} standard deviations from their centre, where "
            "about 0.7 is usual: if the values are of another unit, normalisation or platform than "
            "those that the panel was made of, its predictions mean nothing"
        )


def missing_features(
    panel: Panel, table: Table, *, max_missing: float = 0.1
) -> NDArray[np.bool_] | None:
    """Tell which features of a panel a table lacks, and refuse one that lacks too many.

    Parameters
    ----------
    panel : Panel
    table : Table
    max_missing : float, default 0.1
        Greatest share of the panel's features that may be missing.

    Returns
    -------
    bool array of shape (panel.n_features_in,) or None
        None where features have no names, so that columns are taken by their place.

    Raises
    ------
    ValueError
        If more are missing, or the panel or the table has no names and their widths differ.

    Examples
    --------
    >>> from bitsieve.panels import Calibration, LinearRule, Member, Panel, Scaling
    >>> rule = LinearRule(np.array([[1.5, -0.5]]), np.array([0.25]))
    >>> member = Member(
    ...     np.array([0, 2]), Scaling(None, np.zeros(2), np.ones(2)), "lda", rule,
    ...     Calibration(1.0, np.zeros(1)), "f")
    >>> panel = Panel.of([member], np.array(["sick", "well"]), 3, ["tp53", "egfr", "myc"])
    >>> table = Table([[1.0, 2.0], [2.0, 1.0]], names=["tp53", "kras"])
    >>> missing_features(panel, table, max_missing=0.5).tolist()
    [False, False, True]
    """
    check_number("max_missing", max_missing, 0, 1, closed="both")
    names = panel.feature_names
    if names is None or table.names is None:
        if table.n_features != panel.n_features_in:
            which = "panel" if names is None else "table"
            raise ValueError(
                f"the {which} has no feature names, so columns are taken by their place: "
                f"{panel.n_features_in} are expected, got {table.n_features}"
            )
        return None
    known = set(table.names)
    lost = [name for name in names if name not in known]
    if len(lost) == len(names):
        raise ValueError(
            f"none of the panel's {plural(len(names), 'feature')} is in the table, such as "
            f"{shorten(names[:2])}; {closest(names[0], table.names)}; if its rows are features, "
            "say so (orient='features', --orient features)"
        )
    if len(lost) > max_missing * len(names):
        raise ValueError(
            f"the table lacks {len(lost)} of the panel's {plural(len(names), 'feature')}, "
            f"{100 * len(lost) / len(names):.0f} %, where at most {100 * max_missing:g} % may be "
            f"missing (--max-missing): {shorten(lost)}; {closest(lost[0], table.names)}"
        )
    missing = np.zeros(panel.n_features_in, dtype=bool)
    missing[panel.columns] = [name not in known for name in names]
    return missing


def predict_table(panel: Panel, table: Table, *, max_missing: float = 0.1) -> TablePrediction:
    """Predict the samples of a table, its features found by name.

    Parameters
    ----------
    panel : Panel
    table : Table
        Other features may be there; values of the panel's features must be known.
    max_missing : float, default 0.1
        Greatest share of the panel's features that may be missing. They stand at their centre.

    Returns
    -------
    TablePrediction

    Raises
    ------
    ValueError
        As :func:`missing_features` says; or if a value that is needed is not known.

    Examples
    --------
    >>> from bitsieve.panels import Panel, predict_table
    >>> panel = Panel.from_json('''{
    ...   "format": "bitsieve panel", "schema": 1, "version": "0.1.0",
    ...   "classes": ["sick", "well"], "thresholds": null, "n_features_in": 9, "columns": [4, 7],
    ...   "feature_names": ["tp53", "egfr"],
    ...   "members": [{
    ...     "selector": "f", "classifier": "lda", "features": [7, 4], "log_floor": null,
    ...     "center": [5.0, 2.0], "scale": [2.0, 1.0],
    ...     "coefficients": [[1.5, -0.5]], "intercept": [0.25],
    ...     "calibration": {"slope": 1.0, "offset": [0.0]}}]}''')
    >>> table = Table([[9.0, 3.0], [2.0, 2.0]], names=["egfr", "tp53"])
    >>> found = predict_table(panel, table)
    >>> found.prediction.predicted.tolist(), found.missing
    (['well', 'sick'], ())
    """
    missing = missing_features(panel, table, max_missing=max_missing)
    lost: tuple[str, ...] = ()
    if missing is not None and panel.feature_names is not None:
        flags = missing[panel.columns]
        lost = tuple(n for n, gone in zip(panel.feature_names, flags, strict=True) if gone)
    return TablePrediction(panel.outcome(table, missing=missing), lost, panel.n_features)
