"""No number of a checkpoint is taken on trust: a file that was changed is refused by name."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from test_checkpoint import the_file, toy
from test_run import spsa_run

from bitsieve import _checkpoint as checkpoint
from bitsieve._errors import CheckpointMismatch
from bitsieve.search import BinarySPSASearch

Arrays = dict[str, np.ndarray]


def shorten(part: str) -> Callable[[dict[str, Any], Arrays], None]:
    def change(meta: dict[str, Any], arrays: Arrays) -> None:
        for name in arrays:
            if name.startswith(part):
                arrays[name] = arrays[name][1:]

    return change


def put(name: str, value: Any, *, where: int = 0) -> Callable[[dict[str, Any], Arrays], None]:
    def change(meta: dict[str, Any], arrays: Arrays) -> None:
        if name in arrays:
            arrays[name][where] = value
        elif name.startswith("search."):
            meta["search"][name.removeprefix("search.")] = value
        else:
            assert name in meta
            meta[name] = value

    return change


def drop(name: str) -> Callable[[dict[str, Any], Arrays], None]:
    return lambda meta, arrays: (arrays if name in arrays else meta).pop(name)


def without_last_finalist(meta: dict[str, Any], arrays: Arrays) -> None:
    place = len(arrays["final/order"]) - 1
    keep = arrays["final/order"] != place
    for name in ("final/order", "final/measured"):
        arrays[name] = arrays[name][keep]


# What a writer who knows the digest could have written: a run with fewer masks, one not ended.
FORGED = [shorten("archive/"), drop("limits")]
CHANGES = [
    *FORGED,
    *(shorten(part) for part in ("history/", "archive/words", "search/w", "final/")),
    *(drop(name) for name in ("archive/best", "history/seconds", "search/w", "search")),
    *(drop(name) for name in ("seed", "n_evaluations", "best_iteration", "seconds")),
    *(put("search/w", value) for value in (1e308, -1e308, np.nan, np.inf)),
    *(put("search.iteration", value) for value in (-1, 2**53, 2**63, 0.5, None, "3")),
    *(put("search.mean_square", value) for value in (-1.0, float("nan"), float("inf"), 1e308, "")),
    *(put("search.seed", value) for value in (-1, 2**64, None)),
    *(put("seed", value) for value in (-1, 2**64, "x", None)),
    *(put("archive/best", value) for value in (np.nan, np.inf, 1e9)),
    *(put("archive/total", value) for value in (np.nan, np.inf)),
    *(put("archive/count", value) for value in (0, -1)),
    *(put("archive/iteration", value) for value in (-1, 10**6)),
    *(put("archive/n_selected", value) for value in (-1, 0, 10**6)),
    *(put("archive/words", value) for value in (0, 2**64 - 1)),
    put("archive/words", 2**64 - 1, where=-1),
    *(put("history/score", value) for value in (np.inf,)),
    *(put("history/best_observed", value, where=-1) for value in (np.nan, np.inf, -1e9)),
    put("history/best_observed", -1e9, where=-2),
    *(put("history/n_evaluations", value) for value in (-1, 0, 10**9)),
    *(put("history/iteration", value) for value in (-1, 5)),
    *(put("history/seconds", value) for value in (-1.0, np.nan, 1e9)),
    *(put("history/n_selected", value) for value in (-1,)),
    *(put("n_evaluations", value) for value in (-1, 0, 10**9, 1.5, None)),
    *(put("best_iteration", value) for value in (-2, 10**9, None)),
    *(put("seconds", value) for value in (-1.0, float("nan"), float("inf"), "soon")),
    *(put("final/order", value) for value in (-1, 5, 10**6)),
    without_last_finalist,
    put("final_cut", 3),
    *(put("final/measured", value) for value in (np.nan, np.inf)),
    *(put("best_score", value) for value in (float("nan"), float("inf"), None)),
    *(put("n_final_evaluations", value) for value in (-1, 0.5)),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    spsa_run(toy(), checkpoint=folder)
    return the_file(folder)


def rewrite(path: Path, change: Callable[[dict[str, Any], Arrays], None], sign: bool) -> None:
    with np.load(path) as archive:
        arrays = {name: archive[name].copy() for name in archive.files if name != "meta.json"}
    with zipfile.ZipFile(path) as archive:
        meta = json.loads(archive.read("meta.json"))
    digest = meta.pop("digest")
    assert digest == checkpoint._digest(meta, arrays)
    change(meta, arrays)
    meta["digest"] = checkpoint._digest(meta, arrays) if sign else digest
    np.savez(path, **arrays)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("meta.json", json.dumps(meta))


def test_changed_files_are_refused(file: Path) -> None:
    whole = file.read_bytes()
    expected = spsa_run(toy(), checkpoint=file.parent)
    for number, change in enumerate(CHANGES):
        for sign in (False, True):  # as a damaged file, and as one whose writer knew the digest
            if sign and change in FORGED:
                continue
            rewrite(file, change, sign)
            fault = "holds what no run" if sign else "was changed after it was written"
            message = (
                rf"^checkpoint {re.escape(str(file))} {fault}[^\n]*resume=False to start anew$"
            )
            print(f"change {number}, signed: {sign}")  # which one, if it is not noticed
            with pytest.raises(CheckpointMismatch, match=message):
                spsa_run(toy(), checkpoint=file.parent)
            file.write_bytes(whole)
    assert spsa_run(toy(), checkpoint=file.parent).mask == expected.mask


@each(
    ("name", "value", "message"),
    [
        ("w", np.full(4, 1e308), "w must be finite, and 1e150 at most"),
        ("w", np.full(4, np.nan), "w must be finite; component 0 is nan"),
        ("w", np.full(3, 0.5), r"w must have shape \(4,\), got \(3,\)"),
        ("w", np.full((1, 4), 0.5), r"w must have shape \(4,\), got \(1, 4\)"),
        ("w", ["a"] * 4, "w must be numbers"),
        ("iteration", -1, "iteration must be a whole number from 0 on, got -1"),
        ("iteration", 2**53, r"iteration must lie in \[0, 2\*\*53\)"),
        ("iteration", 1.5, "iteration must be a whole number"),
        ("mean_square", np.nan, "mean_square must be a finite number from 0 on, got nan"),
        ("mean_square", np.inf, "mean_square"),
        ("mean_square", -1.0, "mean_square must be a finite number from 0 on, got -1.0"),
        ("seed", 2**64, "seed must"),
    ],
)
def test_states_that_no_search_gets_to(name: str, value: Any, message: str) -> None:
    for options in ({}, {"n_features_to_select": 2}):
        search = BinarySPSASearch(4, **options)
        before = search.state()
        with pytest.raises(ValueError, match=message):
            search.set_state(before | {name: value})
        assert np.array_equal(search.w, before["w"])  # nothing of it was taken
        assert search.state()["seed"] == before["seed"]


def test_the_farthest_state_still_moves() -> None:
    search = BinarySPSASearch(100, n_features_to_select=7)
    w = np.where(np.arange(100) % 2, 1e150, -1e150)
    search.set_state(search.state() | {"w": w, "iteration": 2**53 - 2, "mean_square": 1e299})
    for _ in range(2):
        masks = search.ask()
        assert masks.counts().tolist() == [7, 7, 7]
        search.tell(masks, np.array([0.0, 1.0, 0.0]))
