"""Every function of the compiled core, called with arguments that nobody should pass.

Run as a program by ``test_core_hostile.py``, so that a crash is a failed test. Each of ``CALLS``
is right; then one argument after the other is replaced. An answer is fine where the argument is
none the worse for it; where it is, or where something else than an error of values is raised, the
program prints a line ``function: argument: replacement``. Standard error has a line for each call.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bitsieve import _core
from bitsieve.data.feature_major import make_feature_major

N, P = 12, 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, P))
CODES = np.arange(N, dtype=np.int32) % 2
GROUPS = np.arange(N, dtype=np.int32) % 4
SIGNS = np.where([CODES > 0, GROUPS > 0], 1, -1).astype(np.int8)
WHOLES = RNG.integers(0, 3, (N, P)).astype(np.uint8)
LEVELS = np.full(P, 3, np.int32)
BEGIN = np.arange(P + 1, dtype=np.int64)
ROWS = np.arange(P, dtype=np.int32)
WORDS = np.array([[5], [3]], np.uint64)
SEEDS = np.zeros(2, np.uint64)
TEST = np.arange(N)
SPLITS = {
    "train": np.array([i for s in range(2) for i in TEST if i % 2 != s], np.int64),
    "train_begin": np.array([0, N // 2, N], np.int64),
    "test": np.array([i for s in range(2) for i in TEST if i % 2 == s], np.int64),
    "test_begin": np.array([0, N // 2, N], np.int64),
}


def table(**changes: Any) -> dict[str, Any]:
    copy = make_feature_major(X)
    arguments: dict[str, Any] = {
        "features": copy.features,
        "n_samples": N,
        "X": X,
        "max_abs": copy.max_abs,
        "exact": False,
    }
    return arguments | changes


def knn(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "table": _core.Table(**table()),
        "target": CODES,
        "n_classes": 2,
        "n_neighbors": 1,
        "by_distance": False,
        "n_repeats": 0,
        "n_folds": 0,
        "stratified": True,
    }
    return arguments | changes


OF_KNN = ("n_neighbors", "by_distance")


def bayes(**changes: Any) -> dict[str, Any]:
    arguments = {k: v for k, v in knn(n_repeats=2, n_folds=3).items() if k not in OF_KNN}
    return arguments | {"alpha": 0.5, "fit_prior": True, "log_prior": np.zeros(2)} | changes


OF_RIDGE = {k: v for k, v in knn(n_repeats=2, n_folds=3).items() if k not in OF_KNN} | {
    "kernel": "linear",
    "alpha": 1.0,
    "fit_intercept": True,
    "least_norm": False,
    "balanced": False,
    "gamma": 0.0,
    "degree": 3,
    "coef0": 1.0,
}


def fixed() -> Any:
    fitness = _core.KnnFitness(**knn())
    fitness.set_splits(**SPLITS)
    return fitness


def fresh(**changes: Any) -> Any:
    return _core.KnnFitness(**knn(n_repeats=2, n_folds=3, **changes))


def fold_scaler(kind: str = "standard", **changes: Any) -> Any:
    return _core.FoldScaler(_core.Table(**table()), _core.ScalerOptions(kind, **changes))


def scaled(arguments: dict[str, Any]) -> None:
    """Make options of a scaler and measure with them."""
    scaler = _core.FoldScaler(_core.Table(**table()), _core.ScalerOptions(**arguments))
    scaler.measure(features=ROWS, **SPLITS)


SPSA = {
    "start": np.full(P, 0.5),
    "seed": 1,
    "perturbation": 0.05,
    "stability": 100.0,
    "decay": 0.6,
    "gain": 1.0,
    "step_fraction": 0.05,
    "n_averaged": 20,
    "n_select": 2,
    "noise": 0.1,
    "second_order": True,
}


def asked(**changes: Any) -> Any:
    search = _core.BinarySPSA(**(SPSA | changes))
    search.ask()
    return search


def copied(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call a function that writes to its arrays with copies of them."""
    return lambda **k: function(
        **{name: v.copy() if isinstance(v, np.ndarray) else v for name, v in k.items()}
    )


GATED = {"weight": np.ones((P, 3), np.float32)}
ROW_STATE = GATED | {
    "mean": np.zeros((P, 3), np.float32),
    "square": np.zeros((P, 3), np.float32),
    "last": np.full(P, 2, np.int64),
    "rows": ROWS,
}
ROW_GATES = {"gates": np.ones((2, P), np.float32), "gradient": np.ones((P, 2, 3), np.float32)}
ROW_RULE = _core.RowRule(0.01, 0.1, betas=(0.9, 0.999))

TABLE = _core.DiscreteTable(WHOLES, LEVELS)
UNIT = _core.UnitColumns(X)
NAME = {"target": CODES, "n_levels": 2}
GIVEN = {"given": CODES, "n_given": 2}
LISTED = {"features": np.arange(P, dtype=np.int64)}
CORRECTED = {"correction": "dirichlet", "prior": 1.0}
NOMINAL = np.rint(np.abs(X))
RELIEF = {"rows": np.arange(4, dtype=np.int64), "discrete": np.zeros(P, np.uint8)}
WEIGHTS = {"feature_weights": np.ones(P)}
PLACE = {"key": 1, "stream": 1, "lane": 0, "first": 3}

# Every sample is tested once: twelve rows of outputs a mask.
SCORED = {"target": CODES, "n_classes": 2, **SPLITS}
PREDICTED = np.zeros((3, N), np.int32)
SHARES = np.full((3, N, 2), 0.5)


def scores(arguments: dict[str, Any]) -> None:
    """Make a score and ask for it, of classes or of probabilities."""
    score = _core.Score(**arguments)
    splits = _core.ScoredSplits(**SCORED)
    splits.score_outputs(score, classes=PREDICTED, values=SHARES, kind="probabilities")
    splits.score_counts(score, counts=np.array([[[3, 0], [0, 3]]], np.int32))


# Tests of independence, and what each of their methods is asked.
DISCRETE = _core.DiscreteTable(WHOLES, LEVELS)
COUNTED = _core.DiscreteTest(DISCRETE, statistic="g_squared", min_samples_per_cell=0, most_kept=16)
FISHER = _core.FisherTest(X, most_kept=0, most_bytes=1 << 20)
PERMUTED = _core.PermutationTest(COUNTED, n_permutations=9, most_hits=0, seed=1, most_kept=16)
PLACES = np.array([2, 4], np.int64)
INDEPENDENCE: dict[str, dict[str, Any]] = {
    "test": {"x": 0, "y": 1, "given": PLACES},
    "test_many": {"xs": PLACES, "y": 1, "given": np.array([0, 3], np.int64), "n_threads": 1},
    "separate": {
        "x": 0,
        "y": 1,
        "pool": PLACES,
        "among": np.array([3], np.int64),
        "log_alpha": -3.0,
        "min_size": 0,
        "max_size": 2,
    },
}


# The address sanitizer needs all addresses that there are, and ends a program that asks for more
# memory than there is.
IS_SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")

# name -> (function, right arguments)
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "all_finite": (_core.all_finite, {"values": X, "n_threads": 1}),
    "philox": (_core.philox, {"seed": 1, "stream": 1, "offset": 0, "n": 5, "lane": 0}),
    "Stream": (_core.Stream, {"value": 1}),
    "random_uniform": (_core.random_uniform, {**PLACE, "n": 5}),
    "random_normal": (_core.random_normal, {**PLACE, "n": 5}),
    "random_below": (_core.random_below, {**PLACE, "bound": 3, "n": 5}),
    "random_permutation": (_core.random_permutation, {**PLACE, "n": 5}),
    "random_choice": (_core.random_choice, {**PLACE, "n": 9, "k": 3}),
    "stratified_folds": (
        _core.stratified_folds,
        {"codes": CODES, "n_classes": 2, "n_splits": 3, "n_repeats": 2, "seed": 1},
    ),
    "group_folds": (
        _core.group_folds,
        {
            "codes": CODES,
            "n_classes": 2,
            "groups": GROUPS,
            "n_groups": 4,
            "n_splits": 3,
            "n_repeats": 2,
            "seed": 1,
        },
    ),
    "shuffled_folds": (_core.shuffled_folds, {"n": 9, "n_splits": 3, "n_repeats": 2, "seed": 1}),
    "mask_pack": (_core.mask_pack, {"masks": X > 0}),
    "mask_unpack": (_core.mask_unpack, {"words": WORDS, "n_features": P}),
    "mask_counts": (_core.mask_counts, {"words": WORDS}),
    "mask_find_flip": (
        _core.mask_find_flip,
        {"from_": WORDS[0].copy(), "to": WORDS[1].copy(), "flips": np.array([3, 0, 3])},
    ),
    "greatest": (_core.greatest, {"values": X[:, 0].copy(), "place": 0.5}),
    "hamming_median": (_core.hamming_median, {"words": WORDS, "anchor": WORDS[0].copy()}),
    "mdl_cut_points": (
        _core.mdl_cut_points,
        {"X": X, "classes": CODES, "n_classes": 2, "distinct": True, "n_threads": 1},
    ),
    "mean_sd_cut_points": (_core.mean_sd_cut_points, {"X": X, "width": 0.5, "n_threads": 1}),
    "level_cut_points": (_core.level_cut_points, {"X": X, "max_levels": 3, "n_threads": 1}),
    "apply_cut_points": (
        _core.apply_cut_points,
        {"X": X, "cuts": np.zeros(P), "begin": BEGIN, "missing_level": False, "n_threads": 1},
    ),
    "relief": (
        _core.relief,
        {
            "X": NOMINAL,
            "algorithm": "relieff",
            "codes": CODES,
            "n_classes": 2,
            "n_neighbors": 2,
            "rank_weights": np.ones(2),
            **RELIEF,
            **WEIGHTS,
            "precision": "exact",
            "n_threads": 1,
        },
    ),
    "relief numeric": (
        _core.relief,
        {"X": X, "algorithm": "rrelieff", "target": X[:, 0].copy(), "n_neighbors": 2},
    ),
    "relief_neighbors": (
        _core.relief_neighbors,
        {
            "X": NOMINAL,
            "codes": CODES,
            "n_classes": 2,
            "n_neighbors": 2,
            **RELIEF,
            **WEIGHTS,
            "n_threads": 1,
        },
    ),
    "class_moments": (
        _core.class_moments,
        {"X": X, "codes": CODES, "n_classes": 2, "n_threads": 1},
    ),
    "target_moments": (_core.target_moments, {"X": X, "y": X[:, 0].copy(), "n_threads": 1}),
    "target_products": (_core.target_products, {"X": X, "y": X[:, 0].copy(), "n_threads": 1}),
    "pair_wins": (_core.pair_wins, {"X": X, "codes": CODES, "n_threads": 1}),
    "rank_sums": (
        _core.rank_sums,
        {"X": X, "codes": CODES, "n_classes": 2, "y": X[:, 0].copy(), "n_threads": 1},
    ),
    "dual_svm": (
        _core.dual_svm,
        {"K": X @ X.T, "signs": SIGNS, "C": 1.0, "tolerance": 1e-5, "n_threads": 1},
    ),
    "solve_positive": (
        _core.solve_positive,
        {"A": X.T @ X, "B": X.T.copy(), "bordered": True},
    ),
    "invert_positive": (_core.invert_positive, {"A": X.T @ X, "bordered": True}),
    "fold_rows": (_core.fold_rows, GATED | {"rows": ROWS, "gates": ROW_GATES["gates"]}),
    "gate_gradients": (
        _core.gate_gradients,
        GATED | {"rows": ROWS, "gradient": ROW_GATES["gradient"]},
    ),
    "add_gate_gradients": (
        copied(_core.add_gate_gradients),
        GATED
        | {
            "rows": ROWS,
            "gradient": np.ones((P, 1, 3), np.float32),
            "slopes": np.ones(P, np.float32),
            "out": np.zeros(P, np.float32),
        },
    ),
    "normal_penalty": (
        _core.normal_penalty,
        {"mu": np.zeros(P, np.float32), "sigma": 0.5, "weight": 0.1},
    ),
    "open_columns": (
        _core.open_columns,
        {
            "gates": np.linspace(0, 1, P, dtype=np.float32),
            "X": X.astype(np.float32),
            "samples": TEST,
            "most": P,
        },
    ),
    "gate_noise": (
        _core.gate_noise,
        {"key": 1, "lane": 2, "table": np.zeros(2**16, np.float32), "n": 9},
    ),
    "normal_gates": (
        _core.normal_gates,
        {
            "key": 1,
            "lane": 2,
            "table": np.zeros(2**16, np.float32),
            "mu": np.zeros(P, np.float32),
            "sigma": 0.5,
            "n_draws": 2,
        },
    ),
    "softmax_loss": (
        _core.softmax_loss,
        {
            "outputs": np.zeros((5, 3), np.float32),
            "codes": np.arange(5) % 3,
            "weight": np.ones(5, np.float32),
        },
    ),
    "gather_columns": (
        _core.gather_columns,
        {"X": X.astype(np.float32), "samples": TEST, "features": ROWS},
    ),
    "RowRule": (_core.RowRule, {"rate": 0.01, "decay": 0.1, "epsilon": 1e-8}),
    "RowRule.advance": (copied(ROW_RULE.advance), ROW_STATE | {"step": 5}),
    "RowRule.learn": (copied(ROW_RULE.learn), ROW_STATE | ROW_GATES | {"step": 3}),
    "BinarySPSA": (_core.BinarySPSA, SPSA),
    "BinarySPSA.set_seed": (asked().set_seed, {"seed": 1}),
    "BinarySPSA.tell": (
        lambda **k: asked().tell(**k),
        {"plus": 0.5, "minus": 0.25, "second_difference": 0.125},
    ),
    "BinarySPSA.restart": (lambda **k: _restart(**k), {"live": WORDS[0].copy()}),
    "BinarySPSA.set_live": (lambda **k: asked(n_select=0).set_live(**k), {"live": WORDS[0].copy()}),
    "BinarySPSA.set_curvature": (
        lambda **k: asked().set_curvature(**k),
        {"mean": np.linspace(-1.0, 1.0, P * P)},
    ),
    "BinarySPSA.set_total": (
        lambda **k: _with_total(asked(), **k),
        {"total": np.linspace(-1.0, 1.0, P)},
    ),
    "BinarySPSA.set_state": (
        lambda **k: _go_on(asked(), k),
        {"position": np.full(P, 0.5), "iteration": 3, "mean_square": 0.5, "began": 1},
    ),
    "BinarySPSA.set_state free": (
        lambda **k: _go_on(asked(n_select=0), k),
        {"position": np.full(P, 0.5), "iteration": 3, "mean_square": 0.5, "began": 1},
    ),
    "Table": (lambda **k: _evaluate(fresh(table=_core.Table(**k))), table()),
    "Table.doubles": (_core.Table(**table()).doubles, {"n_threads": 1}),
    "KnnFitness": (lambda **k: _evaluate(_core.KnnFitness(**k)), knn(n_repeats=2, n_folds=3)),
    "ScaledKnnFitness": (
        lambda **k: _evaluate(_core.ScaledKnnFitness(**k)),
        knn(n_repeats=2, n_folds=3, scaler=_core.ScalerOptions("standard")),
    ),
    "CentroidFitness": (
        lambda **k: _evaluate(_core.CentroidFitness(**k)),
        {k: v for k, v in knn(n_repeats=2, n_folds=3).items() if k not in OF_KNN},
    ),
    "ScalerOptions": (
        lambda **k: scaled(k),
        {"kind": "robust", "low": 0.25, "high": 0.75, "center": True, "divisor": 1.3},
    ),
    "FoldScaler": (
        lambda **k: _core.FoldScaler(**k).measure(features=ROWS, **SPLITS),
        {"table": _core.Table(**table()), "options": _core.ScalerOptions("min_max")},
    ),
    "FoldScaler.measure": (
        fold_scaler().measure,
        {"features": ROWS, "n_threads": 1, **SPLITS},
    ),
    "RidgeFitness": (
        lambda **k: _evaluate(_core.RidgeFitness(**k)),
        OF_RIDGE | {"class_weights": np.array([1.0, 2.0])},
    ),
    "RidgeFitness of numbers": (
        lambda **k: _core.RidgeFitness(**k),
        OF_RIDGE | {"target": X[:, 0].copy(), "n_classes": 0, "stratified": False},
    ),
    "GaussianBayesFitness": (
        lambda **k: _evaluate(_core.GaussianBayesFitness(**k)),
        {k: v for k, v in knn(n_repeats=2, n_folds=3).items() if k not in OF_KNN}
        | {
            "var_smoothing": 1e-9,
            "priors": np.array([0.25, 0.75]),
            "scaler": _core.ScalerOptions("standard"),
        },
    ),
    "FoldScaler.grams": (
        fold_scaler().grams,
        {"features": ROWS, "shifted": True, "n_threads": 1, **SPLITS},
    ),
    "BernoulliFitness": (
        lambda **k: _evaluate(_core.BernoulliFitness(**k)),
        bayes(threshold=0.5, scaler=_core.ScalerOptions("standard"), ascending=False),
    ),
    "MultinomialFitness": (
        lambda **k: _evaluate(_core.MultinomialFitness(**k)),
        bayes(complement=True, scaler=_core.ScalerOptions("min_max")),
    ),
    "CategoricalFitness": (
        lambda **k: _evaluate(_core.CategoricalFitness(**k)),
        bayes(min_categories=3),
    ),
    "DiagonalFitness": (
        lambda **k: _evaluate(_core.DiagonalFitness(**k)),
        {k: v for k, v in knn(n_repeats=2, n_folds=3).items() if k not in OF_KNN}
        | {
            "priors": "given",
            "given": np.array([0.25, 0.75]),
            "plain": True,
            "smoothing": 0.0,
            "shrink": 0.5,
            "halved": False,
            "decisions": True,
            "scaler": _core.ScalerOptions("standard"),
        },
    ),
    "LdaFitness": (
        lambda **k: _evaluate(_core.LdaFitness(**k)),
        {k: v for k, v in knn(n_repeats=2, n_folds=3).items() if k not in OF_KNN}
        | {
            "solver": "lsqr",
            "shrinkage": 0.5,
            "tol": 1e-4,
            "priors": np.array([0.25, 0.75]),
            "decisions": True,
            "scaler": _core.ScalerOptions("standard"),
        },
    ),
    "PriorFitness": (
        lambda **k: _evaluate(_core.PriorFitness(**k)),
        {k: v for k, v in knn(n_repeats=2, n_folds=3).items() if k not in OF_KNN},
    ),
    "MaskFitness.set_splits": (
        lambda **k: _evaluate(_core.KnnFitness(**knn()), k),
        SPLITS,
    ),
    "MaskFitness.set_groups": (
        lambda **k: _evaluate(fresh(), groups=k),
        {"groups": GROUPS, "n_groups": 4},
    ),
    "MaskFitness.set_weights": (
        lambda **k: _evaluate(fresh(), weights=k),
        {"weights": np.linspace(0.0, 1.0, len(GROUPS))},
    ),
    "MaskFitness.evaluate": (
        fixed().evaluate,
        {
            "words": WORDS,
            "seeds": SEEDS,
            "score": _core.Score("roc_auc", reads="probabilities"),
            "n_threads": 1,
            "declined": np.zeros(2, bool),
        },
    ),
    "MaskFitness.evaluate fresh": (
        fresh().evaluate,
        {"words": WORDS, "seeds": SEEDS, "score": _core.Score("f_score"), "n_threads": 1},
    ),
    "MaskFitness.evaluate_flips": (
        fixed().evaluate_flips,
        {
            "base": WORDS[0].copy(),
            "flips": np.array([0, 1], np.int64),
            "begin": np.array([0, 1, 2], np.int64),
            "seeds": SEEDS,
            "score": _core.Score("accuracy"),
            "n_threads": 1,
            "declined": np.zeros(2, bool),
        },
    ),
    "MaskFitness.outputs": (
        fixed().outputs,
        {"words": WORDS, "seeds": SEEDS, "n_threads": 1, "declined": np.zeros(2, bool)},
    ),
    "GramFitness.matrices": (fixed().matrices, {"words": WORDS, "n_threads": 1}),
    "SolverGram": (lambda **k: _core.SolverGram(**k), {"table": _core.Table(**table())}),
    "SolverGram.unit": (_core.SolverGram(_core.Table(**table())).unit, {"n_threads": 1}),
    "SolverGram.matrices": (
        _core.SolverGram(_core.Table(**table())).matrices,
        {"words": WORDS, "n_threads": 1},
    ),
    "SolverGram.raw": (
        _core.SolverGram(_core.Table(**table())).raw,
        {"words": WORDS, "n_threads": 1},
    ),
    "training_moments": (
        lambda **k: _core.training_moments(_core.Table(**table()), **k),
        SPLITS
        | {"target": CODES, "n_classes": 2, "weights": np.ones(N), "mask": WORDS[0].copy()}
        | {"keep": True, "n_threads": 1},
    ),
    "KnnFitness.state": (fixed().state, {"mask": WORDS[0].copy(), "n_threads": 1}),
    "Score": (
        lambda **k: scores(k),
        {
            "metric": "f_score",
            "reads": "classes",
            "sign": 1.0,
            "average": "binary",
            "positive": 1,
            "beta": 1.0,
            "zero_division": 0.0,
        },
    ),
    "Score kappa": (
        lambda **k: scores(k),
        {"metric": "kappa", "weights": "linear", "labels": np.array([1, 0], np.int32)},
    ),
    "Score cost": (lambda **k: scores(k), {"metric": "cost", "costs": np.ones((2, 2))}),
    "Score brier": (
        lambda **k: scores(k),
        {"metric": "brier", "reads": "probabilities", "positive": 0, "scale": 1.0},
    ),
    "ScoredSplits": (_core.ScoredSplits, SCORED),
    "ScoredSplits numbers": (
        _core.ScoredSplits,
        SCORED | {"target": X[:, 0].copy(), "n_classes": 0},
    ),
    "ScoredSplits.score_outputs": (
        _core.ScoredSplits(**SCORED).score_outputs,
        {
            "score": _core.Score("roc_auc", reads="probabilities"),
            "classes": PREDICTED,
            "values": SHARES,
            "kind": "probabilities",
            "n_threads": 1,
        },
    ),
    "ScoredSplits.score_counts": (
        _core.ScoredSplits(**SCORED).score_counts,
        {
            "score": _core.Score("matthews"),
            "counts": np.zeros((3, 2, 2), np.int32),
            "n_threads": 1,
        },
    ),
    "encode_levels": (_core.encode_levels, {"X": WHOLES, "most": 4, "n_threads": 1}),
    "DiscreteTable": (
        _core.DiscreteTable,
        {"codes": WHOLES, "n_levels": LEVELS, "n_threads": 1},
    ),
    "sparse_discrete_table": (
        _core.sparse_discrete_table,
        {
            "begin": BEGIN,
            "rows": ROWS,
            "values": np.ones(P, np.uint8),
            "rest": np.zeros(P, np.uint8),
            "n_levels": LEVELS,
            "n_samples": N,
            "n_threads": 1,
        },
    ),
    "contingency": (TABLE.contingency, NAME | LISTED | {"n_codes": 3}),
    "entropies": (TABLE.entropies, CORRECTED),
    "mutual_information": (TABLE.mutual_information, NAME | LISTED | CORRECTED),
    "conditional_mutual_information": (
        TABLE.conditional_mutual_information,
        NAME | GIVEN | LISTED | CORRECTED,
    ),
    "joint_mutual_information": (
        TABLE.joint_mutual_information,
        NAME | GIVEN | LISTED | CORRECTED,
    ),
    "greedy_information": (
        _core.greedy_information,
        NAME
        | CORRECTED
        | {"table": TABLE, "criterion": "mim", "n_select": 3, "beta": 1.0, "n_threads": 1},
    ),
    "UnitColumns": (
        _core.UnitColumns,
        {"X": X, "ranks": False, "codes": CODES, "n_classes": 2, "n_threads": 1},
    ),
    "UnitColumns numbers": (_core.UnitColumns, {"X": X, "numbers": X[:, 0].copy()}),
    "sparse_unit_columns": (
        _core.sparse_unit_columns,
        {
            "begin": BEGIN,
            "rows": ROWS,
            "values": np.ones(P),
            "n_samples": N,
            "codes": CODES,
            "n_classes": 2,
            "n_threads": 1,
        },
    ),
    "UnitColumns.select": (
        UNIT.select,
        {
            "relevance": np.ones(P),
            "n_select": 3,
            "quotient": True,
            "least": 0.001,
            "n_threads": 1,
        },
    ),
    "set_isa": (_core.set_isa, {"name": _core.get_isa()}),
    "DiscreteTest": (
        _core.DiscreteTest,
        {
            "table": DISCRETE,
            "statistic": "g_squared",
            "min_samples_per_cell": 0.0,
            "most_kept": 16,
        },
    ),
    "FisherTest": (
        _core.FisherTest,
        {"X": X, "most_kept": 0, "most_bytes": 1 << 20, "n_threads": 1},
    ),
    "PermutationTest": (
        _core.PermutationTest,
        {"base": FISHER, "n_permutations": 9, "most_hits": 0, "seed": 1, "most_kept": 16},
    ),
    **{
        f"IndependenceTest.{method} {name}": (getattr(test, method), arguments)
        for name, test in (("discrete", COUNTED), ("fisher", FISHER), ("permuted", PERMUTED))
        for method, arguments in INDEPENDENCE.items()
    },
    "log_chi_squared_tails": (
        _core.log_chi_squared_tails,
        {"x": np.array([1.0, 5.0]), "dof": np.array([1, 3], np.int64)},
    ),
    "log_normal_tails": (_core.log_normal_tails, {"z": np.array([1.0, 5.0])}),
}


def _restart(live: Any) -> None:
    search = asked(n_select=0)
    search.restart(live)
    _go_on(search, {"position": np.full(P, 0.5), "iteration": 3, "mean_square": 0.5})


def _with_total(search: Any, total: Any) -> Any:
    search.set_total(total)
    search.tell(0.5, 0.25, 0.125)
    return search.total()


def _go_on(search: Any, state: dict[str, Any]) -> None:
    search.set_state(**state)
    for _ in range(3):
        search.ask()
        search.tell(1.0, 0.5)
        search.is_decided()


def _evaluate(
    fitness: Any,
    splits: dict[str, Any] | None = None,
    groups: dict[str, Any] | None = None,
    weights: dict[str, Any] | None = None,
) -> None:
    if splits is not None:
        fitness.set_splits(**splits)
    if groups is not None:
        fitness.set_groups(**groups)
    if weights is not None:
        fitness.set_weights(**weights)
    score = _core.Score("balanced_accuracy")
    fitness.evaluate(WORDS, SEEDS, score, 2)
    fitness.outputs(WORDS, SEEDS, 1)
    flips = np.array([0, 1], np.int64)
    fitness.evaluate_flips(WORDS[0], flips, np.array([0, 1, 2], np.int64), SEEDS, score, 1)


def arrays(array: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Arrays of another shape, type or content, by name."""
    yield "none of it", array[:0].copy()
    yield "one less", array[:-1].copy()
    yield "one more", np.concatenate([array, array[-1:]])
    yield "another dimension", array[None]
    yield "a number", array.ravel()[:1].reshape(())
    yield "strided", np.repeat(array, 2, axis=0)[::2]
    yield "complex", array.astype(np.complex128)
    yield "objects", array.astype(object)
    yield "half", array.astype(np.float16)
    yield "swapped bytes", array.astype(array.dtype.newbyteorder())
    yield "a list", array.tolist()
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324):
            with np.errstate(over="ignore"):  # float32 has no 1e308
                everywhere = np.full_like(array, value)
            yield f"all {value}", everywhere
            some = array.copy()
            some.flat[-1:] = everywhere.flat[-1:]
            yield f"last {value}", some
    elif array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        for value in (-1, 1 << 7, 1 << 30, 1 << 62, limits.min, limits.max):
            if limits.min <= value <= limits.max:
                yield f"all {value}", np.full_like(array, value)
                some = array.copy()
                some.flat[-1] = value
                yield f"last {value}", some
        yield "reversed", array[::-1].copy()


def replacements(value: Any) -> Iterator[tuple[str, Any]]:
    yield "object", object()
    if isinstance(value, np.ndarray):
        yield from arrays(value)
        return
    if isinstance(value, bool):
        return
    if isinstance(value, str):
        yield from ((text or "nothing", text) for text in ("", "nonsense", "\0", "x" * 10_000))
        return
    if isinstance(value, int):
        sizes = () if IS_SANITIZED else (1 << 31, 1 << 40, (1 << 63) - 1)
        for number in (-1, 0, *sizes, 1 << 64):
            yield str(number), number
        yield "a fraction", 0.5
    elif isinstance(value, float):
        for number in (float("nan"), float("inf"), float("-inf"), -1.0, 0.0, 1e308, 5e-324):
            yield str(number), number


# What an index, a code or a bound may never be; what a number may never be.
INDICES = (
    {"codes", "classes", "rows", "given", "features", "flips", "begin", "n_levels"}
    | set(SPLITS)
    | {"labels", "counts"}
)
NUMBERS = {
    "A",
    "B",
    "K",
    "C",
    "tolerance",
    "y",
    "target",
    "numbers",
    "coefficients",
    "rank_weights",
    "feature_weights",
} | {
    "position",
    "start",
    "relevance",
    "max_abs",
    "costs",
    "prior",
    "beta",
    "width",
    "least",
    "plus",
    "minus",
    "mean_square",
    "perturbation",
    "stability",
    "decay",
    "step_fraction",
}
SHAPES_AND_TYPES = (
    "object",
    "another dimension",
    "a number",
    "complex",
    "objects",
    "half",
    "a list",
)
OUTSIDE = ("all -1", "last -1", "all 1073741824", "last 1073741824")
NOT_FINITE = tuple(f"{much}{value}" for much in ("", "all ", "last ") for value in ("nan", "-inf"))
# A list of any shape has a bit for all its numbers.
ALLOWED = {"all_finite: values: another dimension", "all_finite: values: a number"}


def must_be_refused(argument: str, value: Any, replacement: str) -> bool:
    """Whether no function may answer."""
    if isinstance(value, str) or replacement in SHAPES_AND_TYPES:
        return True
    if isinstance(value, int) and replacement in ("-1", str(1 << 64), "a fraction"):
        return True
    if argument == "n_threads" and replacement == "0":
        return True
    if replacement == "swapped bytes":
        return value.dtype.itemsize > 1
    if replacement in OUTSIDE:
        is_code = argument == "target" and value.dtype.kind in "iu"
        return argument in INDICES or is_code
    return argument in NUMBERS and replacement in NOT_FINITE


def main() -> None:
    faulthandler.enable()
    if os.name == "posix" and not IS_SANITIZED:
        import resource

        # Sizes of terabytes are refused by the system, not granted and then taken back.
        resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))
    for name, (function, right) in CALLS.items():
        function(**right)
        for argument, value in right.items():
            # A copy of features is not aligned; declined is written to.
            if isinstance(value, np.ndarray) and argument not in ("features", "declined"):
                frozen = value.copy()
                frozen.setflags(write=False)
                function(**(right | {argument: frozen}))
            for replacement, wrong in replacements(value):
                call = f"{name}: {argument}: {replacement[:40]}"
                print(call, file=sys.stderr, flush=True)  # the last line tells where it crashed
                try:
                    function(**(right | {argument: wrong}))
                except (ValueError, TypeError, MemoryError, OverflowError):
                    continue
                except Exception as error:
                    print(f"{call}: {type(error).__name__}: {error}")
                else:
                    if must_be_refused(argument, value, replacement) and call not in ALLOWED:
                        print(f"{call}: answered")
    print("end")


if __name__ == "__main__":
    main()
