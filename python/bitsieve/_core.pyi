"""Types of the compiled core; tests/test_core_stub.py compares them with the module."""

from collections.abc import Callable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

matrix_samples: int

def available_isas() -> list[str]: ...
def get_isa() -> str: ...
def has_fma() -> bool: ...
def set_isa(name: str) -> None: ...
def all_finite(values: NDArray[np.float32] | NDArray[np.float64], n_threads: int = 1) -> bool: ...

class Stream(IntEnum):
    search = 1
    folds = 2
    measurement = 3
    estimators = 4
    bootstrap = 5
    rankers = 6
    outer_folds = 7
    start = 8
    tests = 9
    instances = 10
    probes = 11
    microarray = 12
    restarts = 13
    gates = 14
    batches = 15
    weights = 16
    holdout = 17
    dropout = 18
    permutations = 19

def philox(seed: int, stream: int, offset: int, n: int, lane: int = 0) -> NDArray[np.uint64]: ...
def random_uniform(key: int, stream: int, lane: int, first: int, n: int) -> NDArray[np.float64]: ...
def random_normal(key: int, stream: int, lane: int, first: int, n: int) -> NDArray[np.float64]: ...
def random_below(
    key: int, stream: int, lane: int, first: int, bound: int, n: int
) -> tuple[NDArray[np.int64], int]: ...
def random_permutation(
    key: int, stream: int, lane: int, first: int, n: int
) -> tuple[NDArray[np.int64], int]: ...
def random_choice(
    key: int, stream: int, lane: int, first: int, n: int, k: int
) -> tuple[NDArray[np.int64], int]: ...
def stratified_folds(
    codes: NDArray[np.int32], n_classes: int, n_splits: int, n_repeats: int, seed: int
) -> NDArray[np.int32]: ...
def group_folds(
    codes: NDArray[np.int32],
    n_classes: int,
    groups: NDArray[np.int32],
    n_groups: int,
    n_splits: int,
    n_repeats: int,
    seed: int,
) -> NDArray[np.int32]: ...
def shuffled_folds(n: int, n_splits: int, n_repeats: int, seed: int) -> NDArray[np.int32]: ...
def mask_pack(masks: NDArray[np.bool_]) -> NDArray[np.uint64]: ...
def mask_unpack(words: NDArray[np.uint64], n_features: int) -> NDArray[np.bool_]: ...
def mask_counts(words: NDArray[np.uint64]) -> NDArray[np.int64]: ...
def mask_find_flip(
    from_: NDArray[np.uint64], to: NDArray[np.uint64], flips: NDArray[np.int64]
) -> int: ...
def hamming_median(words: NDArray[np.uint64], anchor: NDArray[np.uint64]) -> NDArray[np.uint64]: ...
def mdl_cut_points(
    X: NDArray[np.float32] | NDArray[np.float64],
    classes: NDArray[np.int32],
    *,
    n_classes: int,
    distinct: bool,
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def mean_sd_cut_points(
    X: NDArray[np.float32] | NDArray[np.float64], *, width: float, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def level_cut_points(
    X: NDArray[np.float32] | NDArray[np.float64], *, max_levels: int, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.uint8]]: ...
def apply_cut_points(
    X: NDArray[np.float32] | NDArray[np.float64],
    cuts: NDArray[np.float64],
    begin: NDArray[np.int64],
    *,
    missing_level: bool,
    n_threads: int,
) -> NDArray[np.uint8]: ...
def relief(
    X: NDArray[np.float32] | NDArray[np.float64],
    *,
    algorithm: str,
    codes: NDArray[np.int32] | None = None,
    n_classes: int = 0,
    target: NDArray[np.float64] | None = None,
    rows: NDArray[np.int64] | None = None,
    n_neighbors: int = 1,
    rank_weights: NDArray[np.float64] | None = None,
    discrete: NDArray[np.uint8] | None = None,
    feature_weights: NDArray[np.float64] | None = None,
    precision: str = "exact",
    decide: Callable[[NDArray[np.int64]], NDArray[np.int8]] | None = None,
    n_threads: int = 1,
) -> NDArray[np.float64]: ...
def relief_neighbors(
    X: NDArray[np.float32] | NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    *,
    rows: NDArray[np.int64] | None = None,
    n_neighbors: int = 10,
    discrete: NDArray[np.uint8] | None = None,
    feature_weights: NDArray[np.float64] | None = None,
    n_threads: int = 1,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
def class_moments(
    X: NDArray[np.float32] | NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def target_moments(
    X: NDArray[np.float32] | NDArray[np.float64], y: NDArray[np.float64], n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def target_products(
    X: NDArray[np.float32] | NDArray[np.float64], y: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]: ...
def dual_svm(
    K: NDArray[np.float64],
    signs: NDArray[np.int8],
    C: float,
    tolerance: float,
    n_threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def solve_positive(
    A: NDArray[np.float64], B: NDArray[np.float64], bordered: bool = False
) -> tuple[NDArray[np.float64], float]: ...
def invert_positive(A: NDArray[np.float64], bordered: bool = False) -> NDArray[np.float64]: ...
def pair_wins(
    X: NDArray[np.float32] | NDArray[np.float64], codes: NDArray[np.int32], n_threads: int
) -> NDArray[np.float64]: ...
def rank_sums(
    X: NDArray[np.float32] | NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    y: NDArray[np.float64] | None,
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def greatest(values: NDArray[np.float64], place: float) -> int: ...
def fold_rows(
    weight: NDArray[np.float32],
    rows: NDArray[np.int32],
    gates: NDArray[np.float32] | None,
) -> NDArray[np.float32]: ...
def gate_gradients(
    weight: NDArray[np.float32], rows: NDArray[np.int32], gradient: NDArray[np.float32]
) -> NDArray[np.float32]: ...
def add_gate_gradients(
    weight: NDArray[np.float32],
    rows: NDArray[np.int32],
    gradient: NDArray[np.float32],
    slopes: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None: ...
def normal_penalty(
    mu: NDArray[np.float32], sigma: float, weight: float
) -> tuple[float, NDArray[np.float32]]: ...
def open_columns(
    gates: NDArray[np.float32],
    X: NDArray[np.float32],
    samples: NDArray[np.int64] | None,
    most: int,
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]: ...
def gate_noise(key: int, lane: int, table: NDArray[np.float32], n: int) -> NDArray[np.float32]: ...
def normal_gates(
    key: int,
    lane: int,
    table: NDArray[np.float32],
    mu: NDArray[np.float32],
    sigma: float,
    n_draws: int,
) -> NDArray[np.float32]: ...
def softmax_loss(
    outputs: NDArray[np.float32], codes: NDArray[np.int64], weight: NDArray[np.float32] | None
) -> tuple[float, NDArray[np.float32]]: ...
def gather_columns(
    X: NDArray[np.float32], samples: NDArray[np.int64], features: NDArray[np.int32]
) -> NDArray[np.float32]: ...

class RowRule:
    def __init__(
        self,
        rate: float,
        decay: float,
        betas: tuple[float, float] | None = None,
        epsilon: float = 1e-8,
    ) -> None: ...
    def advance(
        self,
        weight: NDArray[np.float32],
        mean: NDArray[np.float32] | None,
        square: NDArray[np.float32] | None,
        last: NDArray[np.int64],
        rows: NDArray[np.int32],
        step: int,
    ) -> None: ...
    def learn(
        self,
        weight: NDArray[np.float32],
        mean: NDArray[np.float32] | None,
        square: NDArray[np.float32] | None,
        last: NDArray[np.int64],
        rows: NDArray[np.int32],
        gates: NDArray[np.float32] | None,
        gradient: NDArray[np.float32],
        step: int,
    ) -> None: ...

class BinarySPSA:
    def __init__(
        self,
        start: NDArray[np.float64],
        *,
        seed: int,
        perturbation: float,
        stability: float,
        decay: float,
        gain: float,
        step_fraction: float,
        n_averaged: int,
        n_select: int,
        noise: float = 0.0,
        second_order: bool = False,
    ) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def seed(self) -> int: ...
    def set_seed(self, seed: int) -> None: ...
    def ask(self) -> NDArray[np.uint64]: ...
    def tell(self, plus: float, minus: float, second_difference: float = 0.0) -> None: ...
    def restart(self, live: NDArray[np.uint64]) -> None: ...
    def is_decided(self) -> bool: ...
    def state(self) -> tuple[NDArray[np.float64], int, float]: ...
    def set_state(
        self,
        position: NDArray[np.float64],
        iteration: int,
        mean_square: float,
        began: int = 0,
    ) -> None: ...
    def total(self) -> NDArray[np.float64]: ...
    def set_total(self, total: NDArray[np.float64]) -> None: ...
    @property
    def began(self) -> int: ...
    def live(self) -> NDArray[np.uint64]: ...
    def set_live(self, live: NDArray[np.uint64]) -> None: ...
    def curvature(self) -> NDArray[np.float64]: ...
    def set_curvature(self, mean: NDArray[np.float64]) -> None: ...

class MaskFitness:
    @property
    def n_splits(self) -> int: ...
    @property
    def n_tests(self) -> int: ...
    @property
    def n_values(self) -> int: ...
    @property
    def kind(self) -> str: ...
    def set_splits(
        self,
        train: NDArray[np.int64],
        train_begin: NDArray[np.int64],
        test: NDArray[np.int64],
        test_begin: NDArray[np.int64],
    ) -> None: ...
    def set_groups(self, groups: NDArray[np.int32], n_groups: int) -> None: ...
    def set_weights(self, weights: NDArray[np.float64]) -> None: ...
    @property
    def may_decline(self) -> bool: ...
    def evaluate(
        self,
        words: NDArray[np.uint64],
        seeds: NDArray[np.uint64],
        score: Score,
        n_threads: int,
        declined: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]: ...
    def evaluate_flips(
        self,
        base: NDArray[np.uint64],
        flips: NDArray[np.int64],
        begin: NDArray[np.int64],
        seeds: NDArray[np.uint64],
        score: Score,
        n_threads: int,
        declined: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]: ...
    def outputs(
        self,
        words: NDArray[np.uint64],
        seeds: NDArray[np.uint64],
        n_threads: int,
        declined: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int32] | None, NDArray[np.float64] | None]: ...
    def counters(self) -> dict[str, int]: ...

class GramFitness(MaskFitness):
    def matrices(
        self, words: NDArray[np.uint64], n_threads: int = ...
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.uint8],
    ]: ...

class SolverGram:
    def __init__(self, table: Table) -> None: ...
    def unit(self, n_threads: int = ...) -> float: ...
    def matrices(
        self, words: NDArray[np.uint64], n_threads: int = ...
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.uint8]]: ...
    def raw(
        self, words: NDArray[np.uint64], n_threads: int = ...
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

def training_moments(
    table: Table,
    *,
    target: NDArray[np.int32] | NDArray[np.float64],
    n_classes: int,
    weights: NDArray[np.float64],
    train: NDArray[np.int64],
    train_begin: NDArray[np.int64],
    test: NDArray[np.int64],
    test_begin: NDArray[np.int64],
    mask: NDArray[np.uint64],
    keep: bool,
    n_threads: int = ...,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
]: ...

class KnnFitness(GramFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
        n_neighbors: int,
        by_distance: bool = False,
    ) -> None: ...
    def state(
        self, mask: NDArray[np.uint64], n_threads: int = ...
    ) -> tuple[NDArray[np.int64], float]: ...

class ScalerOptions:
    def __init__(
        self,
        kind: str,
        *,
        low: float = ...,
        high: float = ...,
        center: bool = ...,
        scale: bool = ...,
        divisor: float = ...,
    ) -> None: ...

class FoldScaler:
    def __init__(self, table: Table, options: ScalerOptions) -> None: ...
    def measure(
        self,
        *,
        features: NDArray[np.int32],
        train: NDArray[np.int64],
        train_begin: NDArray[np.int64],
        test: NDArray[np.int64],
        test_begin: NDArray[np.int64],
        n_threads: int = ...,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def grams(
        self,
        *,
        features: NDArray[np.int32],
        train: NDArray[np.int64],
        train_begin: NDArray[np.int64],
        test: NDArray[np.int64],
        test_begin: NDArray[np.int64],
        shifted: bool = ...,
        n_threads: int = ...,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class ScaledKnnFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
        n_neighbors: int,
        by_distance: bool,
        scaler: ScalerOptions,
    ) -> None: ...

class CentroidFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
    ) -> None: ...

class GaussianBayesFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
        var_smoothing: float,
        priors: NDArray[np.float64] | None = ...,
        scaler: ScalerOptions = ...,
    ) -> None: ...

class BernoulliFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
        alpha: float,
        fit_prior: bool,
        log_prior: NDArray[np.float64],
        threshold: float,
        scaler: ScalerOptions = ...,
        ascending: bool = ...,
    ) -> None: ...

class MultinomialFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
        alpha: float,
        fit_prior: bool,
        log_prior: NDArray[np.float64],
        complement: bool,
        scaler: ScalerOptions = ...,
    ) -> None: ...

class CategoricalFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
        alpha: float,
        fit_prior: bool,
        log_prior: NDArray[np.float64],
        min_categories: int,
    ) -> None: ...

class RidgeFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
        kernel: str = "linear",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        least_norm: bool = False,
        balanced: bool = False,
        class_weights: NDArray[np.float64] | None = None,
        gamma: float = 0.0,
        degree: int = 3,
        coef0: float = 1.0,
        scaler: ScalerOptions = ...,
    ) -> None: ...

class LdaFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
        solver: str,
        shrinkage: float,
        tol: float,
        priors: NDArray[np.float64] | None = ...,
        decisions: bool = ...,
        scaler: ScalerOptions = ...,
    ) -> None: ...

class DiagonalFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
        priors: str,
        given: NDArray[np.float64] | None = ...,
        plain: bool = ...,
        smoothing: float = ...,
        shrink: float = ...,
        halved: bool = ...,
        decisions: bool = ...,
        scaler: ScalerOptions = ...,
    ) -> None: ...

class PriorFitness(MaskFitness):
    def __init__(
        self,
        table: Table,
        *,
        target: NDArray[np.int32] | NDArray[np.float64],
        n_classes: int,
        n_repeats: int,
        n_folds: int,
        stratified: bool,
    ) -> None: ...

class Table:
    def __init__(
        self,
        features: NDArray[np.float32],
        *,
        n_samples: int,
        X: NDArray[np.float32] | NDArray[np.float64],
        max_abs: NDArray[np.float64],
        exact: bool,
    ) -> None: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    def doubles(self, n_threads: int = ...) -> NDArray[np.float64]: ...

def encode_levels(
    X: NDArray[np.float32]
    | NDArray[np.float64]
    | NDArray[np.uint8]
    | NDArray[np.int8]
    | NDArray[np.int16]
    | NDArray[np.int32]
    | NDArray[np.int64],
    *,
    most: int,
    n_threads: int = ...,
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]: ...
def greedy_information(
    table: DiscreteTable,
    target: NDArray[np.uint8] | NDArray[np.int32],
    n_levels: int,
    *,
    criterion: str,
    n_select: int,
    beta: float = ...,
    correction: str = ...,
    prior: float = ...,
    lazy: bool = ...,
    n_threads: int = ...,
) -> tuple[NDArray[np.int64], NDArray[np.float64], int]: ...
def sparse_discrete_table(
    begin: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.uint8],
    rest: NDArray[np.uint8],
    n_levels: NDArray[np.int32],
    n_samples: int,
    n_threads: int = ...,
) -> DiscreteTable: ...
def sparse_unit_columns(
    begin: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float64],
    n_samples: int,
    *,
    ranks: bool = ...,
    codes: NDArray[np.int32] | None = ...,
    n_classes: int = ...,
    numbers: NDArray[np.float64] | None = ...,
    n_threads: int = ...,
) -> UnitColumns: ...

class UnitColumns:
    def __init__(
        self,
        X: NDArray[np.float32] | NDArray[np.float64],
        *,
        ranks: bool = ...,
        codes: NDArray[np.int32] | None = ...,
        n_classes: int = ...,
        numbers: NDArray[np.float64] | None = ...,
        n_threads: int = ...,
    ) -> None: ...
    @property
    def is_finite(self) -> bool: ...
    def f_values(self) -> NDArray[np.float64]: ...
    def select(
        self,
        relevance: NDArray[np.float64],
        *,
        n_select: int,
        quotient: bool,
        least: float = ...,
        lazy: bool = ...,
        n_threads: int = ...,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], int]: ...

class DiscreteTable:
    def __init__(
        self, codes: NDArray[np.uint8], n_levels: NDArray[np.int32], n_threads: int = ...
    ) -> None: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    def contingency(
        self,
        target: NDArray[np.uint8] | NDArray[np.int32],
        n_levels: int,
        n_codes: int,
        features: NDArray[np.int64] | None = ...,
    ) -> NDArray[np.uint32]: ...
    def entropies(self, correction: str = ..., prior: float = ...) -> NDArray[np.float64]: ...
    def mutual_information(
        self,
        target: NDArray[np.uint8] | NDArray[np.int32],
        n_levels: int,
        features: NDArray[np.int64] | None = ...,
        correction: str = ...,
        prior: float = ...,
    ) -> NDArray[np.float64]: ...
    def conditional_mutual_information(
        self,
        target: NDArray[np.uint8] | NDArray[np.int32],
        n_levels: int,
        given: NDArray[np.uint8] | NDArray[np.int32],
        n_given: int,
        features: NDArray[np.int64] | None = ...,
        correction: str = ...,
        prior: float = ...,
    ) -> NDArray[np.float64]: ...
    def joint_mutual_information(
        self,
        target: NDArray[np.uint8] | NDArray[np.int32],
        n_levels: int,
        given: NDArray[np.uint8] | NDArray[np.int32],
        n_given: int,
        features: NDArray[np.int64] | None = ...,
        correction: str = ...,
        prior: float = ...,
    ) -> NDArray[np.float64]: ...

class Score:
    def __init__(
        self,
        metric: str,
        *,
        reads: str = ...,
        sign: float = ...,
        average: str = ...,
        positive: int = ...,
        labels: NDArray[np.int32] | None = ...,
        beta: float = ...,
        zero_division: float = ...,
        one_vs_one: bool = ...,
        adjusted: bool = ...,
        normalize: bool = ...,
        scale: float = ...,
        weights: str = ...,
        costs: NDArray[np.float64] | None = ...,
        needs_trained: bool = ...,
        needs_tested: bool = ...,
    ) -> None: ...
    @property
    def metric(self) -> str: ...
    @property
    def reads(self) -> str: ...

class ScoredSplits:
    def __init__(
        self,
        target: NDArray[np.int32] | NDArray[np.float64],
        *,
        n_classes: int,
        train: NDArray[np.int64],
        train_begin: NDArray[np.int64],
        test: NDArray[np.int64],
        test_begin: NDArray[np.int64],
    ) -> None: ...
    def score_outputs(
        self,
        score: Score,
        *,
        classes: NDArray[np.int32] | None = ...,
        values: NDArray[np.float64] | None = ...,
        kind: str = ...,
        n_threads: int = ...,
    ) -> NDArray[np.float64]: ...
    def score_counts(
        self, score: Score, *, counts: NDArray[np.int32], n_threads: int = ...
    ) -> NDArray[np.float64]: ...

class IndependenceTest:
    @property
    def n_samples(self) -> int: ...
    @property
    def n_variables(self) -> int: ...
    @property
    def n_computed(self) -> int: ...
    @property
    def n_remembered(self) -> int: ...
    def test(self, x: int, y: int, given: NDArray[np.int64]) -> tuple[float, float, int, bool]: ...
    def test_many(
        self, xs: NDArray[np.int64], y: int, given: NDArray[np.int64], n_threads: int = ...
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]: ...
    def separate(
        self,
        x: int,
        y: int,
        pool: NDArray[np.int64],
        among: NDArray[np.int64],
        *,
        log_alpha: float,
        min_size: int,
        max_size: int,
    ) -> tuple[bool, tuple[float, float, int, bool], list[int], int]: ...

class DiscreteTest(IndependenceTest):
    def __init__(
        self,
        table: DiscreteTable,
        *,
        statistic: str,
        min_samples_per_cell: float,
        most_kept: int,
    ) -> None: ...

class FisherTest(IndependenceTest):
    def __init__(
        self, X: NDArray[np.float64], *, most_kept: int, most_bytes: int, n_threads: int = ...
    ) -> None: ...

class PermutationTest(IndependenceTest):
    def __init__(
        self,
        base: IndependenceTest,
        *,
        n_permutations: int,
        most_hits: int,
        seed: int,
        most_kept: int,
    ) -> None: ...

def log_chi_squared_tails(
    x: NDArray[np.float64], dof: NDArray[np.int64]
) -> NDArray[np.float64]: ...
def log_normal_tails(z: NDArray[np.float64]) -> NDArray[np.float64]: ...
