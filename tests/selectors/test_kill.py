"""kill -9 of a fit with the compiled fitness: what is resumed is what was never stopped."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import bitsieve

HERE = Path(__file__).parent
N_KILLS = 20

sys.path.insert(0, str(HERE))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL"),
]


def start(checkpoint: Path, output: Path) -> subprocess.Popen[bytes]:
    paths = [str(Path(bitsieve.__file__).parent.parent), str(HERE)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(HERE / "fit_me.py"), str(checkpoint), str(output)]
    return subprocess.Popen(command, env=environment)


def stamp(directory: Path) -> int:
    """Return when the newest checkpoint was written, 0 before the first."""
    times = [path.stat().st_mtime_ns for path in directory.glob("run-*.npz")]
    return max(times, default=0)


def test_a_killed_fit_goes_on_bit_for_bit(tmp_path: Path) -> None:
    import fit_me

    whole = fit_me.fit()
    moments = random.Random(1)
    directory, output = tmp_path / "checkpoints", tmp_path / "result.npz"
    kills = resumed = 0
    while True:
        before = stamp(directory)
        process = start(directory, output)
        if kills < N_KILLS or resumed < N_KILLS // 2:
            # Most kills fall into the search: some moments after a new checkpoint.
            deadline = time.monotonic() + 60
            while stamp(directory) == before and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.005)
            time.sleep(moments.uniform(0, 0.5))
            process.kill()
        process.wait()
        if process.returncode != 0:
            kills += 1
            resumed += before > 0
            continue
        with np.load(output) as result:
            np.testing.assert_array_equal(result["support"], whole.support_)
            assert result["best_score"] == whole.best_score_
            for name, column in whole.history_.items():
                if name != "seconds":
                    assert result[f"history_{name}"].tobytes() == column.tobytes(), name
        if kills >= N_KILLS and resumed >= N_KILLS // 2:
            break
        for path in directory.glob("run-*.npz"):
            path.unlink()
    print(f"{kills} kills, {resumed} of runs that were resumed; same history, panel and score")
