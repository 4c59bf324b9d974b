"""Contract suites: does a search, fitness, filter or selector of your own keep the contract?

::

    check_search(make_search)       search_checks(make_search)        what run asks of a search
    check_fitness(make_fitness)     fitness_checks(make_fitness)      a score of (mask, seed) alone
    check_filter(function)          filter_checks(function)           one score a feature
    check_selector(selector)        selector_checks(selector)         a scikit-learn selector

``check_...`` runs every clause and raises an AssertionError that says which one does not hold, and
for what input. ``..._checks`` yields the same clauses as ``(name, check)``, so that a test runner
lists them one by one::

    @pytest.mark.parametrize(("clause", "check"), list(search_checks(MySearch)))
    def test_my_search(clause, check):
        check()

The clauses are those of ``docs/contracts.md``. No test runner is needed. A clause about what is
optional (``feature_scores``, ``resampled``, ...) holds where there is no such thing.
"""

from __future__ import annotations

from bitsieve.testing.filters import check_filter, filter_checks
from bitsieve.testing.fitness import check_fitness, fitness_checks
from bitsieve.testing.search import check_search, search_checks
from bitsieve.testing.selectors import check_selector, selector_checks

__all__ = [
    "check_filter",
    "check_fitness",
    "check_search",
    "check_selector",
    "filter_checks",
    "fitness_checks",
    "search_checks",
    "selector_checks",
]
