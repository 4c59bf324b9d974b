"""panel.json as hostile input: a ValueError of one short line that names the field, and no more."""

from __future__ import annotations

import copy
import json
import random

import numpy as np
import pytest
from small_panels import NAMES, made

from bitsieve.panels import Panel

PANEL, X = made(3, n=12)
WHOLE = json.loads(PANEL.to_json())
BAD = [
    None, True, False, -1, 0, 1, 3, 2**31, 2**70, -(2**70), 0.5, -0.0, 1e308, -1e308, 5e-324, "",
    "x", "lda", "knn", "1e999", "\ud800", "a" * 5000, [], {}, [0], [[0]], [[]], ["a", "a"], [None],
]  # fmt: skip


def refused(text) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        Panel.from_json(text)
    said = str(caught.value)
    assert len(said.splitlines()) == 1, said
    assert len(said) <= 200, said
    return said


def places(node, path=()):
    """Every place in the document, as keys to follow."""
    yield path
    pairs = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in pairs:
        yield from places(value, (*path, key))


def changed(rng: random.Random):
    """The document with one thing replaced, taken out, doubled or put in."""
    found = copy.deepcopy(WHOLE)
    # One place of each depth is as likely as another: most are numbers of a list.
    path = rng.choice(PLACES[rng.choice(list(PLACES))])
    node = found
    for key in path[:-1]:
        node = node[key]
    what = rng.randrange(4)
    if what < 2:
        node[path[-1]] = copy.deepcopy(rng.choice(BAD))
    elif what == 2:
        del node[path[-1]]
    elif isinstance(node, list):
        node.insert(path[-1], copy.deepcopy(rng.choice([node[path[-1]], *BAD])))
    else:
        node[f"{path[-1]}_"] = node[path[-1]]
    return found


PLACES: dict[int, list[tuple]] = {}
for one in places(WHOLE):
    if one:
        PLACES.setdefault(len(one), []).append(one)


def test_changed_documents():
    rng = random.Random(0)
    expected = Panel.from_json(json.dumps(WHOLE)).predict(X)
    count = 0
    for _ in range(300):
        text = json.dumps(changed(rng))
        try:
            panel = Panel.from_json(text)
        except ValueError:
            refused(text)
            count += 1
            continue
        # What is taken is a panel: it can be written, and predicts or says why not.
        assert Panel.from_json(panel.to_json()).to_json() == panel.to_json()
        if panel.n_features_in == X.shape[1]:
            try:
                found = panel.outcome(X)
            except ValueError:
                with pytest.raises(ValueError, match="too large to decide"):
                    panel.outcome(X)
                continue
            assert np.isfinite(found.probabilities).all()
            assert found.codes.shape == expected.shape
    assert 180 < count < 300


def test_damaged_text():
    rng = random.Random(1)
    data = json.dumps(WHOLE).encode()
    pieces = [b"", b"\0", b"\xff", b"\n", b'"', b",", b"[" * 3000, b"9" * 5000, b"NaN", b"{", b"}",
              b"Infinity", b"-", b"1e999", b"null", b"]"]  # fmt: skip
    count = 0
    for _ in range(150):
        out = bytearray(data)
        at = rng.randrange(len(out))
        piece = rng.choice(pieces)
        if rng.random() < 0.3:
            del out[at:]
        out[at : at + rng.choice([0, 1, 4, len(piece)])] = piece
        try:
            Panel.from_json(bytes(out))
        except ValueError:
            refused(bytes(out))
            count += 1
    assert count > 120


def edited(**fields):
    return json.dumps(WHOLE | fields)


def member(**fields):
    return edited(members=[WHOLE["members"][0] | fields, *WHOLE["members"][1:]])


def test_messages():
    last = len(WHOLE["members"]) - 1
    one, near = WHOLE["members"][0], WHOLE["members"][last]
    calibration = one["calibration"]
    said = {
        "": "no panel: not JSON (expecting value, line 1, column 1)",
        b"\xff": "no panel: not UTF-8 from byte 0 on",
        "[" * 100_000: "no panel: the JSON is nested too deeply",
        "[1]": "the panel must be a JSON object, got a list of 1",
        "{}": "the panel must have the field 'format'",
        '{"a": 1, "a": 2}': "field 'a' stands more than once",
        '{"a": NaN}': "numbers must be finite, got NaN",
        edited(format="x"): "format must be 'bitsieve panel', got 'x'",
        edited(schema=2): "schema must be 1 for this version of bitsieve, got 2",
        edited(extra=1): "the panel has the field 'extra', which is unknown",
        edited(version=3): "version must be text, got 3",
        edited(classes=["a"]): "classes must be a list of at least two, got a list of 1",
        edited(classes=["a", 1, "c"]): "classes must be all text, all whole numbers, all numbers",
        edited(classes=["a", "a", "b"]): "classes must be distinct",
        edited(n_features_in=0): "n_features_in must be a whole number from 1 to 2147483647, got",
        edited(columns=[1, 0]): "columns must be ascending, each once",
        edited(columns=[0, 1], feature_names=None): "columns must be those of the members'",
        edited(feature_names=["a"]): "feature_names must be a list of 35, got a list of 1",
        edited(feature_names=["a"] * 35): "feature_names must be distinct",
        edited(members=[]): "members must be a list of at least one, got a list of 0",
        edited(members=[3]): "members[0] must be a JSON object, got 3",
        member(classifier="lad"): "members[0].classifier: there is no classifier 'lad'; did you",
        member(classifier=7): "members[0].classifier must be text, got 7",
        member(classifier="knn"): "members[0] must have the field 'n_neighbors'",
        member(features=[0]): "members[0].center must be a list of 1, got a list of 7",
        member(features=[40] * 7): "members[0].features[0] must be a whole number from 0 to 39",
        member(features=[3] * 7): "members[0].features must be distinct, and at least one",
        member(log_floor=0): "members[0].log_floor must be a finite number above 0, got 0",
        member(scale=[1, 1, 0, 1, 1, 1, 1]): "members[0].scale[2] must be a finite number above 0",
        member(center=[2**2000] * 7): "members[0].center[0] must be a finite number, got a whole",
        member(coefficients=[[1.0] * 7]): "members[0].coefficients must be a list of 3, got a list",
        member(coefficients=[[1.0]] * 3): "members[0].coefficients[0] must be a list of 7, got a",
        member(intercept=["1", 2, 3]): "members[0].intercept[0] must be a finite number, got '1'",
        member(calibration=calibration | {"slope": -1}): "members[0].calibration.slope must be a "
        "number from 0 on, got -1",
        member(calibration=calibration | {"offset": [0]}): "members[0].calibration.offset must be "
        "a list of 3, got a list of 1",
        edited(members=[near | {"n_neighbors": 99}]): "members[0].n_neighbors must be a whole "
        "number from 1 to 12, got 99",
        edited(members=[near | {"sample_classes": [3] * 12}]): "members[0].sample_classes[0] must "
        "be a whole number from 0 to 2, got 3",
        edited(members=[near | {"samples": [], "sample_classes": []}]): "members[0]",
    }  # fmt: skip
    for text, expected in said.items():
        assert refused(text).startswith(expected), (refused(text), expected)


def test_empty_names_and_unsigned_classes_come_back():
    panel, X = made(classes=np.array([0, 2**63 + 5], dtype=np.uint64), names=["", *NAMES[1:]])
    again = Panel.from_json(panel.to_json())
    assert again.feature_names == panel.feature_names
    assert "" in again.feature_names
    assert again.predict(X).dtype == np.uint64
    assert (again.predict(X) == panel.predict(X)).all()


def test_numbers_in_an_array_of_objects_are_predicted_from():
    panel, X = made()
    assert panel.predict_proba(X.astype(object)).tobytes() == panel.predict_proba(X).tobytes()
    text = X.astype(object)
    text[0, 0] = "high"
    with pytest.raises(ValueError, match="X must be a table of numbers"):
        panel.predict(text)
