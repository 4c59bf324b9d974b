"""What a run leaves behind: a picture and two files.

::

    history ----> convergence.py: convergence_info (numbers) -> plot_convergence (PNG, SVG, PDF)
    supports ---> selection.py: one row a feature, selection.csv
    outcome ----> outcome.py: the table on the terminal and the sentences under it
    everything -> record.py: what is needed to repeat the run, run.json
                       |
                  files.py: each file is written whole or not at all

matplotlib is imported only where something is drawn, and never through pyplot, so that no
backend or figure of the caller is touched.
"""

from __future__ import annotations

from .convergence import ConvergenceInfo, convergence_info, plot_convergence
from .files import write_atomically
from .outcome import Outcome, outcome_table, printable
from .record import environment, file_identity, write_run_json
from .selection import selection_rows, write_selection_csv

__all__ = [
    "ConvergenceInfo",
    "Outcome",
    "convergence_info",
    "environment",
    "file_identity",
    "outcome_table",
    "plot_convergence",
    "printable",
    "selection_rows",
    "write_atomically",
    "write_run_json",
    "write_selection_csv",
]
