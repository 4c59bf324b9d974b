"""A panel as JSON, and back: every field is checked, every number is the same bits.

The fields are described in ``docs/panel-file.md``. What is read may be anything: one line says
which field is wrong, what was expected and what came.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import plural, quoted
from bitsieve.panels.calibration import Calibration
from bitsieve.panels.classifiers import classifier_by_name
from bitsieve.panels.member import Member
from bitsieve.panels.rules import LinearRule, NeighborsRule
from bitsieve.panels.scaling import Scaling

if TYPE_CHECKING:
    from bitsieve.panels.model import Panel

__all__ = ["FORMAT", "SCHEMA", "read", "written"]

#: What the first two fields say.
FORMAT, SCHEMA = "bitsieve panel", 1

#: Columns of a table at most.
_WIDEST = 2**31 - 1

_PANEL = (
    "format", "schema", "version", "classes", "thresholds", "n_features_in", "columns",
    "feature_names", "members",
)  # fmt: skip
_MEMBER = ("selector", "classifier", "features", "log_floor", "center", "scale")
_LINEAR = ("coefficients", "intercept")
_NEIGHBORS = ("n_neighbors", "samples", "sample_classes")
_CALIBRATION = ("slope", "offset")

Floats = NDArray[np.float64]
T = TypeVar("T")


def written(panel: Panel) -> str:
    """Return a panel as JSON: a line a field, a block a member.

    Raises
    ------
    ValueError
        If classes are of no type that JSON knows, or a number is not finite.
    """
    names = panel.feature_names
    fields: dict[str, Any] = {
        "format": FORMAT,
        "schema": SCHEMA,
        "version": panel.version,
        "classes": _classes_written(panel.classes),
        "thresholds": None if panel.thresholds is None else list(panel.thresholds),
        "n_features_in": panel.n_features_in,
        "columns": panel.columns.tolist(),
        "feature_names": None if names is None else list(names),
    }
    lines = [f" {_json(name)}: {_json(value)}" for name, value in fields.items()]
    blocks = []
    for member in panel.members:
        inner = [f"   {_json(name)}: {_json(value)}" for name, value in _member(member).items()]
        blocks.append("  {\n" + ",\n".join(inner) + "\n  }")
    lines.append(' "members": [\n' + ",\n".join(blocks) + "\n ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(text: str | bytes) -> Panel:
    """Return the panel that JSON tells of.

    Raises
    ------
    ValueError
        One line of at most 200 characters.
    """
    from bitsieve.panels.model import Panel

    top = _fields(_parsed(text), "the panel", _PANEL)
    if top["format"] != FORMAT:
        raise _wrong("format", f"must be {FORMAT!r}", top["format"])
    if top["schema"] != SCHEMA or isinstance(top["schema"], bool):
        raise _wrong("schema", f"must be {SCHEMA} for this version of bitsieve", top["schema"])
    version = _text(top["version"], "version")
    classes = _classes(top["classes"])
    thresholds = _thresholds(top["thresholds"], len(classes))
    n_features_in = _whole(top["n_features_in"], "n_features_in", 1, _WIDEST)
    columns = _wholes(top["columns"], "columns", 0, n_features_in - 1)
    if not len(columns) or (np.diff(columns) <= 0).any():
        raise ValueError("columns must be ascending, each once, and at least one")
    names = _names(top["feature_names"], len(columns))
    found = top["members"]
    if not isinstance(found, list) or not found:
        raise _wrong("members", "must be a list of at least one", found)
    members = tuple(
        _read_member(member, f"members[{place}]", len(classes), n_features_in)
        for place, member in enumerate(found)
    )
    panel = Panel(members, classes, n_features_in, names, thresholds, version)
    if not np.array_equal(panel.columns, columns):
        raise ValueError("columns must be those of the members' features, and no others")
    return panel


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _member(member: Member) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "selector": member.selector,
        "classifier": member.classifier,
        "features": member.features.tolist(),
        "log_floor": member.scaling.floor,
        "center": member.scaling.center.tolist(),
        "scale": member.scaling.scale.tolist(),
    }
    rule = member.rule
    if isinstance(rule, LinearRule):
        fields["coefficients"] = rule.coefficients.tolist()
        fields["intercept"] = rule.intercept.tolist()
    else:
        fields["n_neighbors"] = rule.n_neighbors
        fields["samples"] = rule.samples.tolist()
        fields["sample_classes"] = rule.codes.tolist()
    fields["calibration"] = {
        "slope": member.calibration.slope,
        "offset": member.calibration.offset.tolist(),
    }
    return fields


def _classes_written(classes: NDArray[Any]) -> list[Any]:
    values = classes.tolist()
    if len({type(value) for value in values}) != 1 or not isinstance(
        values[0], (str, bool, int, float)
    ):
        raise ValueError(
            "classes must be all text, all whole numbers, all numbers or all booleans to be "
            f"written as JSON, got {_came(values)}"
        )
    return list(values)


# -- reading ---------------------------------------------------------------------------------------


def _parsed(text: str | bytes) -> Any:
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("no panel: the JSON is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"no panel: not UTF-8 from byte {error.start} on") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"no panel: not JSON ({error.msg.lower()}, line {error.lineno}, column {error.colno})"
        ) from None
    except _Refusal:
        raise
    except ValueError as error:  # whole numbers of thousands of digits
        raise ValueError(f"no panel: {quoted(str(error))}") from None


class _Refusal(ValueError):
    """Said while JSON is parsed."""


def _refuse_constant(name: str) -> Any:
    raise _Refusal(f"numbers must be finite, got {name}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refusal(f"field {quoted(twice)} stands more than once")
    return found


def _came(value: object) -> str:
    """What came, in a few characters."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int) and abs(value) > 10**30:
        return "a whole number of many digits"
    return repr(value)


def _wrong(where: str, expected: str, value: object) -> ValueError:
    return ValueError(f"{where} {expected}, got {_came(value)}")


def _fields(value: object, where: str, wanted: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(where, "must be a JSON object", value)
    lost = [name for name in wanted if name not in value]
    if lost:
        raise ValueError(f"{where} must have the field {lost[0]!r}")
    other = [name for name in value if name not in wanted]
    if other:
        raise ValueError(f"{where} has the field {quoted(other[0])}, which is unknown")
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(where, "must be text", value)
    return _sound(value, where)


def _sound(value: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{where} holds lone surrogates, which are no text") from None
    return value


def _whole(value: object, where: str, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _wrong(where, f"must be a whole number from {least} to {most}", value)
    return value


def _number(value: object, where: str, above: float = -math.inf) -> float:
    expected = "a finite number" + ("" if above == -math.inf else f" above {above:g}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            raise _wrong(where, f"must be {expected}", value) from None
        if math.isfinite(number) and number > above:
            return number
    raise _wrong(where, f"must be {expected}", value)


def _list(value: object, where: str, length: int | None, one: Callable[[Any, str], T]) -> list[T]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        expected = "a list" if length is None else f"a list of {length}"
        raise _wrong(where, f"must be {expected}", value)
    return [one(item, f"{where}[{place}]") for place, item in enumerate(value)]


def _wholes(
    value: object, where: str, least: int, most: int, length: int | None = None
) -> NDArray[np.int64]:
    found = _list(value, where, length, lambda item, at: _whole(item, at, least, most))
    return np.array(found, dtype=np.int64)


def _numbers(value: object, where: str, length: int, above: float = -math.inf) -> Floats:
    found = _list(value, where, length, lambda item, at: _number(item, at, above))
    return np.array(found, dtype=np.float64)


def _rows(value: object, where: str, n_rows: int | None, n_columns: int) -> Floats:
    found = _list(value, where, n_rows, lambda item, at: _numbers(item, at, n_columns))
    return np.array(found, dtype=np.float64).reshape(len(found), n_columns)


def _classes(value: object) -> NDArray[Any]:
    if not isinstance(value, list) or len(value) < 2:
        raise _wrong("classes", "must be a list of at least two", value)
    kinds = {type(item) for item in value}
    if len(kinds) != 1 or not kinds <= {str, bool, int, float}:
        raise ValueError("classes must be all text, all whole numbers, all numbers or all booleans")
    if len(set(value)) < len(value):
        raise ValueError("classes must be distinct")
    if kinds == {str}:
        return np.array([_sound(item, "classes") for item in value])
    if kinds == {float}:
        return _numbers(value, "classes", len(value))
    if kinds == {int}:
        if min(value) >= 0 and max(value) >= 2**63:  # unsigned
            return np.array([_whole(one, "classes", 0, 2**64 - 1) for one in value], np.uint64)
        return _wholes(value, "classes", -(2**63), 2**63 - 1)
    return np.array(value, dtype=bool)


def _thresholds(value: object, length: int) -> tuple[float, ...] | None:
    if value is None:
        return None
    found = _numbers(value, "thresholds", length, 1e-9)
    if abs(float(found.sum()) - 1.0) > 1e-9:
        raise ValueError(f"thresholds must have the sum 1, got {float(found.sum()):g}")
    return tuple(found.tolist())


def _name(value: object, where: str) -> str:
    # A column of a table may have the empty name.
    return "" if value == "" else _text(value, where)


def _names(value: object, length: int) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(_list(value, "feature_names", length, _name))
    if len(set(names)) < length:
        raise ValueError("feature_names must be distinct")
    return names


def _read_member(value: object, where: str, n_classes: int, n_features_in: int) -> Member:
    name = value.get("classifier") if isinstance(value, dict) else None
    try:
        model = classifier_by_name(name) if isinstance(name, str) else None
    except ValueError as error:
        raise ValueError(f"{where}.classifier: {error}") from None
    own = _NEIGHBORS if model is not None and not model.is_linear else _LINEAR
    fields = _fields(value, where, (*_MEMBER, *own, "calibration"))
    classifier = _text(fields["classifier"], f"{where}.classifier")
    features = _wholes(fields["features"], f"{where}.features", 0, n_features_in - 1)
    size, n_functions = len(features), 1 if n_classes == 2 else n_classes
    if not size or len(np.unique(features)) < size:
        raise ValueError(f"{where}.features must be distinct, and at least one")
    floor = fields["log_floor"]
    scaling = Scaling(
        None if floor is None else _number(floor, f"{where}.log_floor", 0.0),
        _numbers(fields["center"], f"{where}.center", size),
        _numbers(fields["scale"], f"{where}.scale", size, 0.0),
    )
    rule: LinearRule | NeighborsRule
    if own is _LINEAR:
        rule = LinearRule(
            _rows(fields["coefficients"], f"{where}.coefficients", n_functions, size),
            _numbers(fields["intercept"], f"{where}.intercept", n_functions),
        )
    else:
        samples = _rows(fields["samples"], f"{where}.samples", None, size)
        n = len(samples)
        codes = _wholes(fields["sample_classes"], f"{where}.sample_classes", 0, n_classes - 1, n)
        count = _whole(fields["n_neighbors"], f"{where}.n_neighbors", 1, max(1, n))
        if not n:
            raise ValueError(f"{where}.samples must be {plural(count, 'row')} or more")
        rule = NeighborsRule(samples, codes, n_classes, count)
    inner = _fields(fields["calibration"], f"{where}.calibration", _CALIBRATION)
    slope = _number(inner["slope"], f"{where}.calibration.slope")
    if slope < 0.0:
        raise _wrong(f"{where}.calibration.slope", "must be a number from 0 on", inner["slope"])
    calibration = Calibration(
        slope, _numbers(inner["offset"], f"{where}.calibration.offset", n_functions)
    )
    selector = _text(fields["selector"], f"{where}.selector")
    return Member(features, scaling, classifier, rule, calibration, selector)
