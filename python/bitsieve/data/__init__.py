"""From a file to a table.

::

    file ---- io.read_table ----> Table ---- .X         the user's numbers, the exact re-check
              (a registry:         |   \\---- .features  the feature-major copy, centred
               text, npz, ...)     |
    arrays, DataFrames ------------/    every check on the way in: validation
"""

from __future__ import annotations

from bitsieve.data.covariates import read_covariates
from bitsieve.data.feature_major import FeatureMajor, make_feature_major
from bitsieve.data.io import ReadRequest, formats, read_table, register_format
from bitsieve.data.measured import MeasuredFeatures, read_measured_features
from bitsieve.data.table import Table

__all__ = [
    "FeatureMajor",
    "MeasuredFeatures",
    "ReadRequest",
    "Table",
    "formats",
    "make_feature_major",
    "read_covariates",
    "read_measured_features",
    "read_table",
    "register_format",
]
