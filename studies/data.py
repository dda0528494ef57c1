"""Where the public data lie that the studies are about."""

from __future__ import annotations

from pathlib import Path

from definetti.experiments import worlds

SLEEP = Path("sleep_edf", worlds.SLEEP)
WORDS = Path("ud_english_pud", worlds.WORDS)
ORIGINS = {path: worlds.ORIGINS[path.name] for path in (SLEEP, WORDS)}


def missing(folder: Path) -> str | None:
    """Say which files a data folder lacks and where they can be had; None if it has all."""
    lacking = [path for path in ORIGINS if not (folder / path).is_file()]
    if not lacking:
        return None
    lines = [f"Skipped: the data are not in {folder}. Name their folder with --data. Missing:"]
    lines += [f"  {folder / path}\n    from {ORIGINS[path]}" for path in lacking]
    return "\n".join(lines)
