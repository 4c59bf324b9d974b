"""What every picture needs: text that is drawn as it stands, and a file written whole."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from bitsieve._files import write_atomically
from bitsieve.report.outcome import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["drawn", "save_figure"]


def drawn(text: str) -> str:
    r"""Return text to draw: control characters but line breaks as escapes, no formula.

    Examples
    --------
    >>> drawn("$x$\x1b")
    '\\$x\\$\\x1b'
    """
    return "\n".join(map(printable, text.split("\n"))).replace("$", r"\$")


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: int) -> Path:
    """Write a figure atomically; the suffix says how.

    Raises
    ------
    OSError
        Where the file cannot be written.
    """
    picture = io.BytesIO()
    kind = Path(path).suffix.lstrip(".") or "png"
    with warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes; the CSV file has it whole.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        figure.savefig(picture, format=kind, dpi=dpi)
    return write_atomically(path, picture.getvalue())
