"""The table of settings: `estimating` and `others` have its parts."""

from __future__ import annotations

from tests.corpus import estimating, others
from tests.corpus.setting import Setting

TABLES = (
    estimating.data_and_models,
    estimating.symmetries_and_scores,
    estimating.horizons,
    estimating.rolls,
    estimating.filled,
    others.sequences,
    others.methods,
    others.figures,
    others.shown,
)


def settings() -> dict[str, Setting]:
    """Return all settings by their names, no two alike."""
    found = [one for table in TABLES for one in table()]
    by_name = {one.name: one for one in found}
    if len(by_name) < len(found):
        raise ValueError("two settings have one name")
    return by_name
