"""What a run leaves behind: a picture and files.

::

    history ----> convergence.py: convergence_info (numbers) -> plot_convergence (PNG, SVG, PDF)
    supports ---> selection.py: one row a feature, selection.csv
    X, y -------> statistics.py: direction, means, p and substitutes of each feature, its columns
    predictions -> predictions.py: one row a sample and outer fold, predictions.csv
    scores -----> ranking.py: one row a feature, ranking.csv, a table; bars.py: a picture
    outcome ----> outcome.py: the table on the terminal and the sentences under it
    everything -> record.py: what is needed to repeat the run, run.json

Each file is written whole or not at all (``bitsieve/_files.py``).

matplotlib is imported only where something is drawn, and never through pyplot, so that no
backend or figure of the caller is touched.
"""

from __future__ import annotations

from bitsieve._files import write_atomically
from bitsieve.report.bars import RankingInfo, plot_ranking, ranking_info
from bitsieve.report.convergence import ConvergenceInfo, convergence_info, plot_convergence
from bitsieve.report.outcome import Outcome, printable
from bitsieve.report.predictions import prediction_rows, write_predictions_csv
from bitsieve.report.ranking import Ranking, ranking_rows, ranking_table, write_ranking_csv
from bitsieve.report.record import environment, file_identity, write_run_json
from bitsieve.report.selection import panel_table, selection_rows, write_selection_csv
from bitsieve.report.statistics import FeatureStatistics, feature_statistics
from bitsieve.report.table import STACKED_BELOW, outcome_table

__all__ = [
    "STACKED_BELOW",
    "ConvergenceInfo",
    "FeatureStatistics",
    "Outcome",
    "Ranking",
    "RankingInfo",
    "convergence_info",
    "environment",
    "feature_statistics",
    "file_identity",
    "outcome_table",
    "panel_table",
    "plot_convergence",
    "plot_ranking",
    "prediction_rows",
    "printable",
    "ranking_info",
    "ranking_rows",
    "ranking_table",
    "selection_rows",
    "write_atomically",
    "write_predictions_csv",
    "write_ranking_csv",
    "write_run_json",
    "write_selection_csv",
]
