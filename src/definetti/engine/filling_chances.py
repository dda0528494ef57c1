"""The one member of a set that would be empty, in whole numbers.

Where no candidate is plausible at a level, the most plausible is let in alone. Which that is may
depend on the uniform that breaks ties: a smoothed p-value is a line over it, and the candidates
take turns at being the highest.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.engine.pvalues import Rank

Line = tuple[Fraction, Fraction]  # a p-value where the uniform is zero, and by how much it rises


def filling_chances(
    ranks: Sequence[Rank], alphas: Sequence[Fraction], smoothing: bool
) -> list[Fraction]:
    """Return how probable it is, over the uniform, that each is let in where none is plausible.

    Parameters
    ----------
    ranks : those of all candidates of one prediction, the smaller score first where p-values are
        equal
    alphas : one minus the confidence level that each is held to
    smoothing : whether ties are broken at random

    Examples
    --------
    >>> fifth = [Fraction(1, 5)] * 2
    >>> filling_chances([Rank(0, 1, 10), Rank(0, 1, 20)], fifth, smoothing=False)
    [Fraction(1, 1), Fraction(0, 1)]
    >>> filling_chances([Rank(0, 1, 2), Rank(1, 1, 10)], fifth, smoothing=True)
    [Fraction(3, 20), Fraction(1, 4)]
    """
    lines = [_line(rank, smoothing) for rank in ranks]
    # A p-value does not fall as the uniform rises: none is above alpha up to some uniform.
    end = min(map(_crossing, lines, alphas))
    found = [Fraction(0)] * len(ranks)
    if end == 0:
        return found
    places = {Fraction(0), end}
    for (at, rise), (other, climb) in combinations(set(lines), 2):
        if rise != climb:
            places.add(min(max((other - at) / (rise - climb), Fraction(0)), end))
    for low, high in pairwise(sorted(places)):
        middle = (low + high) / 2
        values = [at + rise * middle for at, rise in lines]
        found[values.index(max(values))] += high - low
    return found


def chances_to_fill(
    ranks: Sequence[Rank],
    predictions: Iterable[tuple[int, ...]],
    alphas: Sequence[Fraction],
    smoothing: bool,
) -> FloatArray:
    """Return `filling_chances` of many predictions at once, zero for ranks that are in none.

    Parameters
    ----------
    predictions : for each the places of its candidates among the ranks, most plausible first
    alphas : one minus the confidence level that each rank is held to

    Examples
    --------
    >>> fifth = [Fraction(1, 5)] * 2
    >>> chances_to_fill([Rank(0, 1, 20), Rank(0, 1, 10)], [(1, 0)], fifth, smoothing=False)
    array([0., 1.])
    """
    found = np.zeros(len(ranks))
    seen: dict[Hashable, list[float]] = {}
    for places in predictions:
        own = tuple(ranks[place] for place in places)
        held = tuple(alphas[place] for place in places)
        if (own, held) not in seen:
            seen[own, held] = list(map(float, filling_chances(own, held, smoothing)))
        found[list(places)] = seen[own, held]
    return found


def place_candidates(
    candidates: Mapping[Any, Rank], ordered: Iterable[Hashable], begin: int
) -> tuple[int, ...]:
    """Return the places of candidates that are listed from a place on, the most plausible first.

    >>> place_candidates({"a": Rank(0, 1, 2), "b": Rank(1, 1, 2)}, ["b", "a"], 10)
    (11, 10)
    """
    places = {candidate: begin + k for k, candidate in enumerate(candidates)}
    return tuple(places[candidate] for candidate in ordered)


def _line(rank: Rank, smoothing: bool) -> Line:
    greater, equal = Fraction(rank.greater, rank.total), Fraction(rank.equal, rank.total)
    return (greater, equal) if smoothing or rank.randomised else (greater + equal, Fraction(0))


def _crossing(line: Line, alpha: Fraction) -> Fraction:
    """Return up to which uniform a p-value is not above alpha: at most one, at least zero."""
    at, rise = line
    if rise == 0:
        return Fraction(int(at <= alpha))
    return min(max((alpha - at) / rise, Fraction(0)), Fraction(1))
