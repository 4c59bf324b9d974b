"""What a run leaves behind: a picture and files.

::

    history ----> convergence.py: convergence_info (numbers) -> plot_convergence (PNG, SVG, PDF)
    history ----> training.py: the same of a network behind gates
    supports ---> selection.py: one row a feature, selection.csv
    X, y -------> statistics.py: direction, means, p and substitutes of each feature, its columns
    predictions -> predictions.py: one row a sample and outer fold, predictions.csv
    scores -----> ranking.py: one row a feature, ranking.csv, a table; bars.py: a picture
    blanket ----> blanket.py: blanket.csv, separators.csv, a table; neighborhood.py: a picture
    subsets ----> nested.py: subsets of ascending size (numbers -> a picture)
    outcome ----> outcome.py: the numbers of a search and their sentences; table.py: the table
    panel ------> panel.py: the numbers of a panel and their sentences; page.py: the page
    limits -----> path.py: error against the size of the panel (numbers -> path.png)
    outputs ----> reliability.py: probabilities against what came true (numbers -> calibration.png)
    everything -> record.py: what is needed to repeat the run, run.json

Each file is written whole or not at all (``bitsieve/_files.py``).

matplotlib is imported only where something is drawn, and never through pyplot, so that no
backend or figure of the caller is touched.
"""

from __future__ import annotations

from bitsieve._files import write_atomically
from bitsieve.report.bars import RankingInfo, plot_ranking, ranking_info
from bitsieve.report.blanket import (
    blanket_rows,
    blanket_table,
    separator_rows,
    write_blanket_csv,
    write_separators_csv,
)
from bitsieve.report.convergence import ConvergenceInfo, convergence_info, plot_convergence
from bitsieve.report.neighborhood import place_blanket, plot_blanket
from bitsieve.report.nested import NestedInfo, nested_info, plot_nested
from bitsieve.report.outcome import Outcome, Restarted, printable
from bitsieve.report.page import panel_page
from bitsieve.report.panel import (
    ClassRow,
    Compared,
    External,
    PanelFeature,
    PanelOutcome,
    Site,
)
from bitsieve.report.path import PathInfo, PathPoint, path_info, plot_path
from bitsieve.report.predictions import prediction_rows, write_predictions_csv
from bitsieve.report.ranking import Ranking, ranking_rows, ranking_table, write_ranking_csv
from bitsieve.report.record import environment, file_identity, write_run_json
from bitsieve.report.reliability import ReliabilityInfo, plot_reliability, reliability_info
from bitsieve.report.selection import panel_table, selection_rows, write_selection_csv
from bitsieve.report.statistics import FeatureStatistics, feature_statistics
from bitsieve.report.table import STACKED_BELOW, outcome_table
from bitsieve.report.training import TrainingInfo, plot_training, training_info

__all__ = [
    "STACKED_BELOW",
    "ClassRow",
    "Compared",
    "ConvergenceInfo",
    "External",
    "FeatureStatistics",
    "NestedInfo",
    "Outcome",
    "PanelFeature",
    "PanelOutcome",
    "PathInfo",
    "PathPoint",
    "Ranking",
    "RankingInfo",
    "ReliabilityInfo",
    "Restarted",
    "Site",
    "TrainingInfo",
    "blanket_rows",
    "blanket_table",
    "convergence_info",
    "environment",
    "feature_statistics",
    "file_identity",
    "nested_info",
    "outcome_table",
    "panel_page",
    "panel_table",
    "path_info",
    "place_blanket",
    "plot_blanket",
    "plot_convergence",
    "plot_nested",
    "plot_path",
    "plot_ranking",
    "plot_reliability",
    "plot_training",
    "prediction_rows",
    "printable",
    "ranking_info",
    "ranking_rows",
    "ranking_table",
    "reliability_info",
    "selection_rows",
    "separator_rows",
    "training_info",
    "write_atomically",
    "write_blanket_csv",
    "write_predictions_csv",
    "write_ranking_csv",
    "write_run_json",
    "write_selection_csv",
    "write_separators_csv",
]
