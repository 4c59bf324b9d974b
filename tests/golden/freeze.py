"""Record what the program answers now: ``python tests/golden/freeze.py``.

Prints what differs from the record first. A change belongs into the changelog under "Changed".
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from cases import CASES, answer
from digests import digests

RECORD = Path(__file__).with_name("digests.json")


def main() -> None:
    """Write the record; say what is new, gone or different."""
    old = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    new = {case.name: digests(answer(case)) for case in CASES}
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name, {}), new.get(name, {})
        for part in sorted(before.keys() | after.keys()):
            if before.get(part) != after.get(part):
                print(f"{name}: {part}")
    RECORD.write_text(json.dumps(new, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
