"""Ranks among the past of a fixed model: sorted scores searched, or sorted and added up anew."""

from __future__ import annotations

import numpy as np
from rich.console import Console

from benchmarks.tables import format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import race
from definetti.engine.pvalues import ranks, ranks_among

LENGTHS, CANDIDATES = (10_000, 100_000, 1_000_000), 4


def run(console: Console) -> None:
    made = make_table(
        "Ranking a window's candidates among its past", "scores", "kept", "anew", "ratio"
    )
    for length in LENGTHS:
        rng = np.random.default_rng(length)
        past, candidates = np.sort(rng.normal(size=length)), rng.normal(size=CANDIDATES)
        ones = np.ones(length, dtype=np.int64)
        assert ranks_among(past, candidates) == ranks(past, ones, candidates, joins=True)
        kept, anew = race(
            lambda past=past, new=candidates: ranks_among(past, new),
            lambda past=past, ones=ones, new=candidates: ranks(past, ones, new, joins=True),
            rounds=10,
        )
        made.add_row(
            f"{length:,}", format_seconds(kept), format_seconds(anew), format_ratio(anew / kept)
        )
    show_table(console, made)
