"""scikit-learn's processes are shared by the threads of a process, one caller after the other."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from bitsieve.fitness import compile


@pytest.mark.slow
def test_callers_with_other_numbers_of_jobs_do_not_meet():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.integers(2, size=40)
    fitnesses = [
        compile(DecisionTreeClassifier(random_state=0), X, y, cv=3, n_jobs=n) for n in (2, 3)
    ]
    masks = np.tril(np.ones((4, 6), dtype=bool))
    expected = compile(DecisionTreeClassifier(random_state=0), X, y, cv=3, n_jobs=1).evaluate(masks)

    def ask(k):
        return [fitnesses[k].evaluate(masks) for _ in range(3)]

    with warnings.catch_warnings():
        # joblib's own word of what may end in a deadlock.
        warnings.filterwarnings("error", message="Trying to resize an executor with running jobs")
        with ThreadPoolExecutor(2) as pool:
            for answers in pool.map(ask, range(2)):
                for answer in answers:
                    np.testing.assert_array_equal(answer, expected)
