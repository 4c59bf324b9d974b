"""Coefficients that are looked at only where need be: the least are always among them."""

from __future__ import annotations

import numpy as np

from bitsieve.panels.known import KnownCoefficients
from bitsieve.testing._draws import normals, uniforms


def test_the_least_are_always_among_the_candidates() -> None:
    looked = 0
    for seed, (p, n, functions, count, moves) in enumerate(
        [(300, 12, 1, 1, 0.001), (300, 12, 3, 1, 0.01), (257, 9, 1, 4, 0.003), (90, 7, 2, 2, 1.0)]
    ):
        scales = np.exp(3 * normals(50 + seed, p))[:, None]
        table = normals(60 + seed, p, n) * scales
        dual = normals(70 + seed, n, functions)
        known = KnownCoefficients(table)
        left = np.arange(p)
        for step in range(40):
            known.move(dual)
            lengths = np.square(table[left] @ dual).sum(axis=1)
            least = left[np.argsort(lengths, kind="stable")[:count]]
            some = known.candidates(table, left, count)
            assert np.isin(least, some).all()
            np.testing.assert_allclose(
                known.exact(table, some), np.square(table[some] @ dual).sum(axis=1), rtol=1e-9
            )
            looked += len(some) if step and moves < 0.1 else 0
            left = np.setdiff1d(left, least)
            dual = dual + moves * normals(100 * seed + step, n, functions)
    assert looked < 0.2 * 3 * 40 * 280  # few of them


def test_rows_that_are_kept_keep_what_is_known() -> None:
    table = normals(3, 40, 6)
    known, rows = KnownCoefficients(table), np.arange(40)
    known.move(normals(4, 6, 1))
    known.exact(table, rows)
    before = known.candidates(table, rows, 1)
    assert len(before) == 1
    kept = np.flatnonzero(uniforms(5, 40) < 0.5)
    kept = np.union1d(kept, before)
    known.keep(kept)
    again = known.candidates(table[kept], np.arange(len(kept)), 1)
    assert kept[again].tolist() == before.tolist()


def test_another_number_of_functions_forgets_all() -> None:
    table = normals(3, 40, 6)
    known, rows = KnownCoefficients(table), np.arange(40)
    known.move(normals(4, 6, 1))
    known.exact(table, rows)
    known.move(normals(4, 6, 2))
    assert len(known.candidates(table, rows, 1)) == 40
