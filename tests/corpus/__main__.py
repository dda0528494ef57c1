"""Record what the package answers, or compare with what was recorded."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from tests.corpus.documents import RECORD, differences, read_record, write_record
from tests.corpus.setting import Setting
from tests.corpus.settings import settings

SHOWN = 40  # differences that are printed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("what", choices=["record", "compare", "list"])
    parser.add_argument(
        "part", nargs="?", default="", help="of the names of settings; all if left out"
    )
    asked = parser.parse_args()
    known = settings()
    chosen = {name: one for name, one in known.items() if asked.part in name}
    if asked.what == "list":
        print(*chosen, sep="\n")
        return 0
    found = {name: one.document() for name, one in _watched(chosen)}
    if asked.what == "record":
        kept = {name: one for name, one in read_record().items() if name in known and asked.part}
        write_record({**kept, **found})
        print(f"{len(found)} settings of {len(known)}, {RECORD.stat().st_size:,} bytes: {RECORD}")
        return 0
    old = {name: one for name, one in read_record().items() if asked.part in name}
    apart = [one for name in old.keys() | found.keys()
             for one in differences(name, old.get(name, "—"), found.get(name, "—"))]  # fmt: skip
    apart.sort(key=lambda one: (one.setting, one.place))
    print(*apart[:SHOWN], sep="\n")
    if len(apart) > SHOWN:
        print(f"… {len(apart) - SHOWN:,} more")
    print(f"{len(chosen)} settings, {len({one.setting for one in apart})} of them differ")
    return int(bool(apart))


def _watched(chosen: dict[str, Setting]) -> Iterator[tuple[str, Setting]]:
    """Go through settings, and tell a person at a terminal which it is."""
    for k, item in enumerate(chosen.items(), 1):
        if sys.stderr.isatty():
            print(f"\r{k} of {len(chosen)}: {item[0]:<70.70}", end="", file=sys.stderr)
        yield item
    if sys.stderr.isatty():
        print(file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
