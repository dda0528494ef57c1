"""Where the public data are that the studies use, and which part of a history they predict."""

from __future__ import annotations

from pathlib import Path

from definetti.experiments import worlds

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
SLEEP = Path("sleep_edf", worlds.SLEEP)
WORDS = Path("ud_english_pud", worlds.WORDS)
ENTITIES = Path("conllpp", "conllpp_test.txt.gz")
PAPER = Path("paper")
ORIGINS = {path: worlds.ORIGINS[path.name] for path in (SLEEP, WORDS)}

TRAINED, LABELLED = 0.5, 0.75  # shares of a history: trained on, labelled before the first window


def missing(folder: Path) -> str | None:
    """Say which files a data folder lacks and where they can be had; None if it has all."""
    lacking = [path for path in ORIGINS if not (folder / path).is_file()]
    if not lacking:
        return None
    lines = [f"Skipped: the data are not in {folder}. Name their folder with --data. Missing:"]
    lines += [f"  {folder / path}\n    from {ORIGINS[path]}" for path in lacking]
    return "\n".join(lines)
