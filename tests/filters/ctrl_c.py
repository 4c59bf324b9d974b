"""A script of its own that gets Ctrl-C in the middle of its work."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import threading
import time

#: Seconds after which a script that did not end is killed; far more than a loaded machine needs.
_DEADLINE = 120.0


def lines_after_ctrl_c(script: str, *arguments: str, pause: float) -> list[str]:
    """Run a script, interrupt it `pause` seconds after its first line, and return all its lines.

    All lines are read by one reader, and messages go to a file: two lines that come at once are
    not lost, and no pipe fills up.
    """
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        deadline = threading.Timer(_DEADLINE, process.kill)
        deadline.start()
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                if not lines:
                    time.sleep(pause)
                    process.send_signal(signal.SIGINT)
                lines.append(line.strip())
            process.wait()
        finally:
            deadline.cancel()
            process.kill()
            process.wait()
        errors.seek(0)
        assert process.returncode == 0, (process.returncode, lines, errors.read())
    return lines
