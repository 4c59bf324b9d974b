"""Stored eliminations: struck anywhere they go on bit for bit, and do nothing twice."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bitsieve import RecursiveFeatureElimination
from bitsieve._checkpoint import CheckpointStore
from bitsieve.panels.columns import ColumnElimination
from bitsieve.panels.matrix import GramElimination
from bitsieve.selectors import _elimination_store
from bitsieve.selectors._eliminating import Plan
from bitsieve.testing._draws import normals, table

SVM = SVC(kernel="linear")
X, Y = table(40, 90)
X = X * np.exp(normals(3, 90))  # no sum is the same in another order
NUMBERS = X[:, 0] - 2.0 * X[:, 3] + normals(5, 40)


def selector(estimator: Any, folder: Path | None = None, **options: Any) -> Any:
    given = {"n_features_to_select": "auto", "cv": 3, "n_jobs": 1, "checkpoint": folder, **options}
    return RecursiveFeatureElimination(estimator, **given)


@contextmanager
def counted(strike: int | None = None) -> Iterator[list[int]]:
    """Count the fits of all eliminations, and raise Ctrl-C in one of them."""
    fits: list[int] = []

    def counting(fit: Callable[[Any], None]) -> Callable[[Any], None]:
        def counted_fit(machine: Any) -> None:
            fits.append(len(machine.left))
            if len(fits) == strike:
                raise KeyboardInterrupt
            fit(machine)

        return counted_fit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "tell_cost", lambda *_: None)  # which fits too
        for kind in (GramElimination, ColumnElimination):
            patch.setattr(kind, "fit", counting(kind.fit))
        yield fits


def struck(estimator: Any, folder: Path, y: Any, at: int, **options: Any) -> None:
    one = selector(estimator, folder, **options)
    with counted(at), pytest.raises(KeyboardInterrupt):
        one.fit(X, y)
    assert not hasattr(one, "support_")


def same(ours: Any, theirs: Any) -> None:
    """All fitted arrays and numbers, in every bit."""
    for name, value in vars(theirs).items():
        if name in ("cv_results_", "seed_") or not name.endswith("_"):
            continue
        if isinstance(value, (np.ndarray, int, float)):
            np.testing.assert_array_equal(getattr(ours, name), value, err_msg=name)
    for name, value in getattr(theirs, "cv_results_", {}).items():
        np.testing.assert_array_equal(ours.cv_results_[name], value, err_msg=name)


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (SVM, {}),
        (SVM, {"n_features_to_select": 9, "step": 1}),
        (make_pipeline(StandardScaler(), SVM), {"step": 1, "n_features_to_select": (20, 40)}),
        (RidgeClassifier(), {"forced_features": [3], "forbidden_features": [7, 60]}),
        (Ridge(1e-9), {"step": 3}),  # columns where they are few
        (LinearSVC(dual=True), {"n_features_to_select": 70}),
        (ExtraTreesClassifier(2, random_state=3), {"step": 9, "size_rule": "one_standard_error"}),
    ],
)
def test_goes_on_from_anywhere_bit_for_bit(
    estimator: Any, options: dict[str, Any], tmp_path: Path
) -> None:
    y = NUMBERS if isinstance(estimator, Ridge) else Y
    options = {"step": 2, **options}
    with counted() as fits:
        whole = selector(estimator, **options).fit(X, y)
    n_fits = len(fits)
    for at in sorted({1, 2, 3, n_fits // 4, n_fits // 2, n_fits - 1, n_fits}):
        folder = tmp_path / f"at {at}"
        struck(estimator, folder, y, at, **options)
        one = selector(estimator, folder, **options)
        with counted() as fits:
            one.fit(X, y)
        same(one, whole)
        # The one that was struck again, and those after it; a thread may have begun another fold.
        assert len(fits) <= n_fits - at + 1
        assert len(list(folder.glob("*.npz"))) == 1


def test_a_finished_one_is_read(tmp_path: Path) -> None:
    first = selector(SVM, tmp_path, step=4).fit(X, Y)
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()
    with counted() as fits:
        again = selector(SVM, tmp_path, step=4, n_jobs=2).fit(X, Y)
    same(again, first)
    assert (fits, path.read_bytes()) == ([], before)
    # Another fit finds nothing of it: other data, sizes, folds, estimators, rules.
    for options, data in (
        ({}, X + 1.0),
        ({"step": 5}, X),
        ({"cv": 4}, X),
        ({"estimator": SVC(kernel="linear", C=2.0)}, X),
        ({"size_rule": "one_standard_error"}, X),
        ({"scoring": "balanced_accuracy"}, X),
        ({"random_state": 1}, X),
        ({"forced_features": [1]}, X),
        ({"n_features_to_select": 3}, X),
    ):
        with counted() as fits:
            selector(**{"estimator": SVM, "folder": tmp_path, "step": 4, **options}).fit(data, Y)
        assert fits
    assert len(list(tmp_path.iterdir())) == 10
    with counted() as fits:
        same(selector(SVM, tmp_path, step=4, resume=False).fit(X, Y), first)
    assert fits


def test_a_drawn_seed_is_kept(tmp_path: Path) -> None:
    trees = ExtraTreesClassifier(2)
    options = {"step": 9, "n_features_to_select": 10}
    struck(trees, tmp_path, Y, 4, **options)
    found = selector(trees, tmp_path, **options).fit(X, Y)
    same(found, selector(trees, random_state=found.seed_, **options).fit(X, Y))
    again = selector(trees, tmp_path, **options).fit(X, Y)
    assert again.seed_ == found.seed_
    anew = selector(trees, tmp_path, resume=False, **options).fit(X, Y)
    assert anew.seed_ != found.seed_


@pytest.mark.parametrize("estimator", [SVM, LinearSVC(dual=True)])  # threads, and processes
def test_folds_at_once_go_on_too(estimator: Any, tmp_path: Path) -> None:
    options = {"step": 20, "n_features_to_select": (30, 90)}
    whole = selector(estimator, **options).fit(X, Y)
    struck(estimator, tmp_path, Y, 6, **options)  # one fold is finished, and one has begun
    assert len(list(tmp_path.glob("part-*.npz"))) >= 2
    found = selector(estimator, tmp_path, n_jobs=2, **options).fit(X, Y)
    same(found, whole)
    assert not list(tmp_path.glob("part-*.npz"))


def test_threads_write_how_far_they_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C reaches the main thread, which stops them; only then they write their last step."""
    monkeypatch.setattr(_elimination_store, "_SECONDS", np.inf)  # but for the first step
    from threading import Barrier

    both = Barrier(2)
    fit = GramElimination.fit

    def waits(machine: Any) -> None:
        if len(machine.left) == 50:
            both.wait(60)
            raise KeyboardInterrupt
        fit(machine)

    with monkeypatch.context() as patch:
        patch.setattr(GramElimination, "fit", waits)
        with pytest.raises(KeyboardInterrupt):
            selector(SVM, tmp_path, step=10, cv=2, n_jobs=2).fit(X, Y)
    with counted() as fits:
        selector(SVM, tmp_path, step=10, cv=2).fit(X, Y)
    assert fits[:6] == [50, 40, 30, 20, 10, 1]
    assert fits[6] == 50


def test_at_most_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write = _elimination_store.PartStore._write
    monkeypatch.setattr(
        _elimination_store.PartStore, "_write", lambda part: (written.append(1), write(part))
    )
    monkeypatch.setattr(_elimination_store, "_SECONDS", np.inf)
    selector(SVM, tmp_path, n_features_to_select=5).fit(X, Y)
    assert len(written) == 1
    monkeypatch.setattr(_elimination_store, "_SECONDS", 0.0)
    selector(SVM, tmp_path, n_features_to_select=5, resume=False).fit(X, Y)
    assert len(written) == 1 + 85


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    options = {"step": 9, "n_features_to_select": 10}
    struck(SVM, tmp_path, Y, 5, **options)
    for pattern in ("part-*", "run-*"):
        (path,) = tmp_path.glob(pattern)
        whole = path.read_bytes()
        path.write_bytes(whole[:-40])
        with pytest.raises(ValueError, match=r"damaged.*delete it, or pass resume=False"):
            selector(SVM, tmp_path, **options).fit(X, Y)
        path.write_bytes(whole)
    with pytest.raises(ValueError, match="checkpoint must name a directory"):
        selector(SVM, 3, **options).fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="resume must be True or False"):
        selector(SVM, tmp_path, resume=1, **options).fit(X, Y)


def test_what_no_run_writes_is_refused(tmp_path: Path) -> None:
    """Files that are whole, with a digest that fits, of orders and scores that cannot be."""
    options = {"step": 9}
    selector(SVM, tmp_path / "whole", **options).fit(X, Y)
    struck(SVM, tmp_path / "struck", Y, 5, **options)
    wrong: dict[str, list[Callable[[Any], Any]]] = {
        "order": [
            lambda order: order[:-1],
            lambda order: np.zeros_like(order),
            lambda order: order + 90,
            lambda order: order + 0.5,
        ],
        "scores": [lambda scores: scores[..., :-1], lambda scores: scores.astype(str)],
    }
    for path in (next((tmp_path / "whole").glob("run-*")), next(tmp_path.glob("struck/part-*"))):
        kind, _, name = path.stem.partition("-")
        store = CheckpointStore(path.parent, name, kind=kind)
        saved = store.load()
        assert saved is not None
        whole, (meta, arrays) = path.read_bytes(), saved
        meta = {k: v for k, v in meta.items() if k not in ("schema", "version", "fingerprint")}
        arrays.setdefault("scores", np.zeros((3, 11)))  # a finished file has none
        for part, changes in wrong.items():
            for change in changes:
                store.save(meta, {**arrays, part: change(arrays[part])})
                with pytest.raises(
                    ValueError, match=r"no run of this kind writes.*(order|scores) .*delete it"
                ):
                    selector(SVM, path.parent, **options).fit(X, Y)
        for number in ({"n_on_columns": -1}, {"n_steps": 99}, {"seed": -1}):
            if number.keys() <= meta.keys():
                store.save({**meta, **number}, arrays)
                with pytest.raises(ValueError, match="holds what no run of this kind writes"):
                    selector(SVM, path.parent, **options).fit(X, Y)
        path.write_bytes(whole)
        selector(SVM, path.parent, **options).fit(X, Y)


def test_a_disk_that_refuses_costs_no_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bitsieve import _checkpoint

    def full(path: Path, content: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_checkpoint, "write_atomically", full)
    with pytest.warns(RuntimeWarning, match="cannot write checkpoints in .*No space left"):
        found = selector(SVM, tmp_path, step=9).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(found, selector(SVM, step=9).fit(X, Y))
