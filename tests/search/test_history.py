"""The record of a run: rows come out as they went in, also those that wait to be taken apart."""

from __future__ import annotations

import numpy as np
from each import each

from bitsieve.search.history import History


def row(i):
    return (i, 3 * i + 3, 0.5 + i / 1000, 0.6 + i / 1000, i % 7, i % 5, 0.25 * i)


def check(history, n):
    assert len(history) == n
    arrays = history.arrays()
    for place, name in enumerate(History.COLUMNS):
        assert arrays[name].tolist() == [row(i)[place] for i in range(n)]


@each("n", [0, 1, 63, 64, 65, 128, 200])
def test_rows_come_out_as_they_went_in(n):
    history = History()
    for i in range(n):
        history.append(row(i))
        if i % 50 == 3:
            check(history, i + 1)
    check(history, n)
    if n:
        again = History()
        again.set_arrays(history.arrays())
        again.append(row(n))
        check(again, n + 1)
        assert again.arrays()["seconds"].dtype == np.float64


def test_rows_that_were_half_taken_apart_are_there_once():
    # Ctrl-C between two columns.
    history = History()
    for i in range(70):
        history.append(row(i))
    for place in range(3):
        history._columns[place].extend(row(i)[place] for i in range(64, 70))
    history._columns[3].append(row(64)[3])
    check(history, 70)
