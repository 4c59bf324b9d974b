"""Selectors by scores of single features, and by forward orthogonalisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_number
from bitsieve.data.inputs import width_of
from bitsieve.data.validation import Task
from bitsieve.filters import benjamini_hochberg, gram_schmidt
from bitsieve.filters.named import FILTERS, NamedFilter, filter_by_name
from bitsieve.selectors._ranked import RankSelector, Scored, Taken

__all__ = ["GramSchmidt", "UnivariateSelector"]

#: Names of :mod:`bitsieve.filters.named` whose functions look at one feature at a time.
_UNIVARIATE = (
    *("s2n", "t", "welch", "f", "pearson", "spearman", "auc", "kruskal", "chi2", "fisher"),
    *("gini", "infogain", "gainratio", "su", "mi", "variance", "laplacian"),
)


class UnivariateSelector(RankSelector):
    """Keep the features with the best scores, each looked at by itself.

    Parameters
    ----------
    scorer : str, default "t_test"
        A function of :mod:`bitsieve.filters`, or its short name: ``signal_to_noise`` (s2n),
        ``t_test`` (t), ``welch``, ``f_test`` (f), ``pearson``, ``spearman``, ``auc``,
        ``kruskal_wallis``, ``chi2``, ``fisher_score``, ``gini``, ``information_gain``,
        ``gain_ratio``, ``symmetrical_uncertainty`` (su), ``mutual_information`` (mi),
        ``variance``, ``laplacian_score``.
    n_features_to_select : int, float or None, default None
        How many features to keep: a number, or a fraction in (0, 1). None keeps 10 (all where
        there are fewer), unless ``threshold`` or ``fdr`` is given.
    threshold : float, optional
        Keep features with a score above it. All rules that are given must hold.
    fdr : float in (0, 1), optional
        Keep features whose p-value, adjusted by Benjamini and Hochberg, is at most this: of those
        kept, so large a share is expected to be there by chance.
    scorer_options : mapping, optional
        More keyword arguments of the function, such as ``{"multiclass": "largest"}``.
    n_jobs : int, optional
        Threads; all cores by default. The scores do not depend on them.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Greater is better.
    pvalues_ : ndarray of shape (n_features,)
        Not adjusted; only of scores that have p-values.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of bool of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bitsieve import UnivariateSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = UnivariateSelector("auc", n_features_to_select=3).fit(X, y)
    >>> selector.get_support(indices=True)
    array([20, 22, 23])
    """

    def __init__(
        self,
        scorer: str = "t_test",
        *,
        n_features_to_select: int | float | None = None,
        threshold: float | None = None,
        fdr: float | None = None,
        scorer_options: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.scorer = scorer
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.fdr = fdr
        self.scorer_options = scorer_options
        self.n_jobs = n_jobs

    @property
    def _decides_size(self) -> bool:  # type: ignore[override]
        return self.fdr is not None

    @property
    def _needs_target(self) -> bool:
        known = self._known()
        return known is None or known.target != "none"

    @property
    def _allows_nan(self) -> bool:
        known = self._known()
        as_level = dict(self.scorer_options or {}).get("missing") == "level"
        return known is not None and known.counts_levels and as_level

    @property
    def _allows_sparse(self) -> bool:
        known = self._known()
        return known is not None and known.takes_sparse

    @property
    def _positive_only(self) -> bool:
        known = self._known()
        return known is not None and known.name == "chi2"

    def _known(self) -> NamedFilter | None:
        """Return the method, or None for one that is none: tags are asked for anyhow."""
        try:
            return filter_by_name(self.scorer)
        except (ValueError, TypeError, AttributeError):
            return None

    def _method(self) -> NamedFilter:
        if not isinstance(self.scorer, str):
            raise ValueError(f"scorer must be a name, got {self.scorer!r}")
        method = filter_by_name(self.scorer)
        if method.name not in _UNIVARIATE:
            raise ValueError(
                f"scorer {self.scorer!r} does not look at one feature at a time; those that do are "
                f"{', '.join(_UNIVARIATE)}"
            )
        return method

    def _score(self, X: Any, y: Any) -> Scored:
        method = self._method()
        if self.fdr is not None:
            if not method.has_p_values:
                with_some = ", ".join(n for n in _UNIVARIATE if FILTERS[n].has_p_values)
                raise ValueError(
                    f"fdr needs p-values, and {self.scorer!r} has none; those with some are "
                    f"{with_some}"
                )
            check_number("fdr", self.fdr, 0, 1, instead="or None")
        if self.scorer_options is not None and not isinstance(self.scorer_options, Mapping):
            raise ValueError(
                "scorer_options must be a mapping of names to values, such as "
                f"{{'equal_var': False}}, or None, got {self.scorer_options!r}"
            )
        options = dict(self.scorer_options or {})
        for fixed in ("p_values", "signed", "n_jobs"):
            if fixed in options:
                raise ValueError(f"scorer_options cannot hold {fixed!r}: the selector sets it")
        unknown = [name for name in options if not method.takes(name)]
        if unknown:
            raise ValueError(f"{self.scorer!r} has no option {unknown[0]!r}")
        ranked = method.rank(X, y, n_jobs=self.n_jobs, **options)
        return ranked.scores if ranked.p_values is None else (ranked.scores, ranked.p_values)

    def _keep(self, scores: NDArray[np.float64], ranking: NDArray[np.int64]) -> NDArray[np.bool_]:
        kept = super()._keep(scores, ranking)
        if self.fdr is not None:
            kept &= benjamini_hochberg(self.pvalues_) <= self.fdr
        return kept


class GramSchmidt(RankSelector):
    """Keep the features that Gram-Schmidt forward orthogonalisation takes.

    See :func:`bitsieve.filters.gram_schmidt` for the method and its sources.

    Parameters
    ----------
    n_features_to_select : int, float or None, default None
        How many features to take at most: a number, or a fraction in (0, 1). None takes 10 (all
        where there are fewer), or as many as ``probe_risk`` allows.
    threshold : float, optional
        Keep features whose squared cosine was above it; the others of ``order_`` stay there.
    probe_risk : float in (0, 1), optional
        Stop before the risk that a random feature would have been taken exceeds this.
    n_probes : int, default 10_000
        Probes drawn a step with more than two classes.
    task : {"classification", "regression"}, optional
        What y holds; by default decided from it.
    random_state : int, numpy Generator or RandomState, or None, default None
        For the probes that are drawn alone; None draws a seed.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on them.

    Attributes
    ----------
    order_ : ndarray of shape (n_taken,)
        Features taken, best first.
    scores_ : ndarray of shape (n_features,)
        Squared cosine with the target that was left when the feature was taken; NaN for others.
    ranking_ : ndarray of shape (n_features,)
        1 is the first taken; n_taken + 1 for features never taken.
    support_ : ndarray of bool of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bitsieve import GramSchmidt
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> GramSchmidt(n_features_to_select=3).fit(X, y).order_
    array([27, 20, 21])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        probe_risk: float | None = None,
        n_probes: int = 10_000,
        task: Task | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.probe_risk = probe_risk
        self.n_probes = n_probes
        self.task = task
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _decides_size(self) -> bool:  # type: ignore[override]
        return self.probe_risk is not None

    def _order(self, X: Any, y: Any) -> Taken:
        return gram_schmidt(
            X,
            y,
            self._n_wanted(width_of(X)),
            probe_risk=self.probe_risk,
            n_probes=self.n_probes,
            task=self.task,
            return_scores=True,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
