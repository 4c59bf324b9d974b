"""kill -9 at random moments, and Ctrl-C from outside: real processes, real signals."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import kill_me
import numpy as np
import pytest

import bitsieve

HERE = Path(__file__).parent
N_KILLS = 22

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


def start(checkpoint, output):
    paths = [str(Path(bitsieve.__file__).parent.parent), str(HERE)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(HERE / "kill_me.py"), str(checkpoint), str(output)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def wait_for_file(directory, process, seconds=60.0):
    end = time.monotonic() + seconds
    while not list(directory.glob("run-*.npz")):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.01)


def test_killed_at_random_moments_it_has_the_same_history(tmp_path):
    whole = kill_me.go()
    moments = random.Random(0)
    output = tmp_path / "result.npz"
    directory = tmp_path / "checkpoints"
    kills = finished = 0
    while kills < N_KILLS or not finished:
        # A run that is over before it is killed is compared, and begun anew.
        process = start(directory, output)
        try:
            # From the start of Python on at first; later ones find a file and go on from it.
            limit = moments.uniform(0.15, 0.7) if kills < N_KILLS else 120.0
            process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
            continue
        finally:
            process.stderr.close()
        assert process.returncode == 0
        finished += 1
        with np.load(output) as result:
            for name, column in whole.history.items():
                if name != "seconds":
                    assert result[name].tobytes() == column.tobytes(), name
            assert np.all(np.diff(result["seconds"]) > 0)
            np.testing.assert_array_equal(result["mask"], whole.mask.words)
            assert result["fresh"] == whole.best_score
        for path in directory.glob("run-*.npz"):
            path.unlink()
    assert kills >= 20


def test_ctrl_c_writes_a_checkpoint_and_ends_the_process(tmp_path):
    whole = kill_me.go()
    directory = tmp_path / "checkpoints"
    process = start(directory, tmp_path / "result.npz")
    wait_for_file(directory, process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (-signal.SIGINT, 130)
    assert "KeyboardInterrupt" in errors
    resumed = kill_me.go(directory)
    assert 0 < resumed.resumed_at < kill_me.N_ITERATIONS
    assert resumed.history["score"].tobytes() == whole.history["score"].tobytes()
    assert resumed.mask == whole.mask
