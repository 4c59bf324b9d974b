"""``python -m bitsieve``: the command line."""

from __future__ import annotations

from bitsieve.cli import main

main()
