"""What a table of coverages says, in a few numbers a method."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from definetti.paper.methods import PROMISED

CHANCE = 0.05  # that a method which keeps its promise is found short anywhere in a table


def mark_short(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to each row whether its coverage is short of the promise beyond Monte Carlo error.

    Notes
    -----
    By the exact binomial test, with the level shared out among the cells of a method: one that
    keeps its promise in all of them is found short in any with probability 1/20 at most.

    Examples
    --------
    >>> rows = [{"method": "a", "covered": k, "repetitions": 500} for k in (400, 340)]
    >>> [row["short"] for row in mark_short(rows)]
    [False, True]
    """
    from scipy.stats import binom

    numbers = {name: len(own) for name, own in group_by_method(rows).items()}
    for row in rows:
        chance = float(binom.cdf(row["covered"], row["repetitions"], PROMISED))
        row["short"] = chance < CHANCE / numbers[row["method"]]
    return rows


def group_by_method(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each method, in the order in which methods come up."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["method"], []).append(row)
    return found


def summarise_methods(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sum up a table, one line a method."""
    lines = []
    for name, own in group_by_method(rows).items():
        ratios = [row["size_over_oracle"] for row in own if "size_over_oracle" in row]
        lines.append({
            "method": name,
            "cells": len(own),
            "short": sum(row["short"] for row in own),
            "mean_coverage": average(row["coverage"] for row in own),
            "least_coverage": min(row["coverage"] for row in own),
            "mean_scaled_size": average(row["scaled_size"] for row in own),
            **({"mean_size_over_oracle": average(ratios)} if ratios else {}),
        })  # fmt: skip
    return lines


def average(values: Iterable[float]) -> float:
    """Return the mean of some numbers.

    >>> average([1, 2])
    1.5
    """
    listed = list(values)
    return sum(listed) / len(listed)
