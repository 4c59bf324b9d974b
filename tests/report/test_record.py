"""run.json holds JSON proper and says on what the numbers were made."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import sklearn

from bitsieve.report import environment, file_identity, write_run_json
from bitsieve.report.record import jsonable


def test_environment_names_the_versions() -> None:
    found = environment()
    assert found["packages"]["numpy"] == np.__version__
    assert found["packages"]["scikit-learn"] == sklearn.__version__
    assert found["isa"] in ("baseline", "avx2", "avx512", "neon")


def test_file_identity_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(b"x" * 100_000)
    found = file_identity(path)
    assert found["bytes"] == 100_000
    assert found["sha256"] == hashlib.sha256(b"x" * 100_000).hexdigest()
    assert found["path"] == str(path.resolve())


def test_values_become_json(tmp_path: Path) -> None:
    record = {
        "nan": float("nan"),
        "inf": np.float64("inf"),
        "array": np.arange(2),
        "bool": np.bool_(True),
        "path": tmp_path,
        "nested": {"a": (1, np.float32(0.5))},
        "other": slice(1),
        3: "β",
    }
    assert jsonable(record) == {
        "nan": None,
        "inf": None,
        "array": [0, 1],
        "bool": True,
        "path": str(tmp_path),
        "nested": {"a": [1, 0.5]},
        "other": "slice(None, 1, None)",
        "3": "β",
    }
    path = write_run_json(tmp_path / "run.json", record)
    read = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda s: 1 / 0)
    assert read["schema"] == 1
    assert read["environment"]["packages"]["numpy"] == np.__version__
    assert read["3"] == "β"
