"""``python -m bitsieve``: the command line."""

from __future__ import annotations

from bitsieve.cli import main

if __name__ == "__main__":
    main()
