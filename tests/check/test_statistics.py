"""Each statistic is that of a few lines of Python, on rearrangements drawn at random."""

from collections import Counter
from itertools import groupby, pairwise
from math import log

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from definetti.check import (
    Autocorrelation,
    Draws,
    Drift,
    Durations,
    OneChain,
    OneEmission,
    Order,
    Transitions,
    likelihood,
)
from definetti.check.rearrangements import drawer_of
from definetti.check.sample import read_sample

LENGTHS = [25, 1, 34]


def entropy(counts):
    return sum(n * log(n) for n in Counter(counts).values())


@pytest.fixture(params=["symbols", "numbers"])
def drawn(request):
    """A sample with gaps, rearrangements of it, and these as segments of pairs."""
    rng = np.random.default_rng(3)
    states = rng.choice(list("abc"), 60, p=[0.5, 0.3, 0.2]).tolist()
    values = rng.choice(["x", "y", "z"], 60) if request.param == "symbols" else rng.normal(size=60)
    observations = [None if k % 13 == 5 else y for k, y in enumerate(values.tolist())]
    sample = read_sample(observations, states, LENGTHS, 1)
    draws = Draws(*drawer_of(sample, across=True)(rng, 5))
    rows = []
    for tokens, times in zip(draws.tokens, draws.times, strict=True):
        steps = [(sample.labels[v], observations[t]) for v, t in zip(tokens, times, strict=True)]
        rows.append([steps[b:e] for b, e in pairwise(sample.begins)])
    return sample, draws, rows


def scores_of(sample, rows):
    """Write numbers as normal deviates of their ranks in their state."""
    every = [pair for one in rows for pair in one if pair[1] is not None]
    found = {}
    for state in sample.labels:
        own = [y for x, y in every if x == state]
        places = norm.ppf((rankdata(own) - 0.5) / len(own))
        found |= {(state, y): score for y, score in zip(own, places, strict=True)}
    return found


def agree(found, expected, tolerance=1e-6):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_order(drawn):
    sample, draws, rows = drawn
    moves = Counter(pair for one in rows[0] for pair in pairwise(x for x, _ in one))
    known = 2 * sum(n * log(n) for n in moves.values())
    leaves = Counter()
    for (x, _), n in moves.items():
        leaves[x] += n
    known -= sum(n * log(n) for n in leaves.values())
    for row, value in zip(rows, Order().measure(sample, draws)[:, 0], strict=True):
        paths = [[x for x, _ in one] for one in row]
        triples = [triple for x in paths for triple in zip(x, x[1:], x[2:], strict=False)]
        agree(value, 2 * (entropy(triples) - known))


def best_split(segment, ratio):
    edge = len(segment) // 20
    return max(
        [0.0, *(ratio(segment[:t], segment[t:]) for t in range(edge, len(segment) - edge + 1))]
    )


def shares(cells):
    """Log-likelihood of cells given their groups; a cell begins with its group."""
    return entropy(cells) - entropy([cell[0] for cell in cells])


def test_transitions(drawn):
    sample, draws, rows = drawn
    for row, value in zip(rows, Transitions().measure(sample, draws)[:, 0], strict=True):
        total = 0.0
        for one in row:
            steps = [*pairwise(x for x, _ in one), None]  # the last step leads nowhere

            def ratio(left, right, steps=steps):
                cells = [[step for step in side if step] for side in (left, right, steps)]
                return shares(cells[0]) + shares(cells[1]) - shares(cells[2])

            total += best_split(steps, ratio)
        agree(value, 2 * total)


def test_durations(drawn):
    sample, draws, rows = drawn
    found = Durations().measure(sample, draws)
    assert Durations().parts(sample)[0] == "more"
    for row, value in zip(rows, found, strict=True):
        runs = [(k, len(list(g))) for one in row for k, g in groupby(x for x, _ in one)]
        each = [sum(n * n for k, n in runs if k == state) for state in sample.labels]
        logs = np.log([sum(each), *each])
        agree(value, [*logs, *-logs])


def test_autocorrelation(drawn):
    sample, draws, rows = drawn
    for row, value in zip(rows, Autocorrelation().measure(sample, draws)[:, 0], strict=True):
        near = [
            pair for one in row for pair in pairwise(one) if None not in (pair[0][1], pair[1][1])
        ]
        if sample.columns[0].symbols is None:
            scores = scores_of(sample, row)
            pairs = np.array([[scores[a], scores[b]] for a, b in near])
            agree(value, abs(2 * (pairs[:, 0] * pairs[:, 1]).sum() / (pairs**2).sum()), 1e-3)
        else:
            told = entropy([(a[1], *b) for a, b in near]) - entropy([(a[1], b[0]) for a, b in near])
            agree(value, 2 * told)


def test_drift(drawn):
    sample, draws, rows = drawn
    for row, value in zip(rows, Drift().measure(sample, draws)[:, 0], strict=True):
        total = 0.0
        scores = {} if sample.columns[0].symbols is not None else scores_of(sample, row)
        for one in row:

            def known(side):
                return [pair for pair in side if pair[1] is not None]

            def by_shares(left, right, one=one):
                return 2 * (shares(known(left)) + shares(known(right)) - shares(known(one)))

            def by_means(left, right, scores=scores):
                found = 0.0
                for state in sample.labels:
                    parts = [[scores[p] for p in known(s) if p[0] == state] for s in (left, right)]
                    if all(parts):
                        middle = np.mean([*parts[0], *parts[1]])
                        found += sum(len(p) * (np.mean(p) - middle) ** 2 for p in parts)
                return found

            total += best_split(one, by_means if scores else by_shares)
        agree(value, total, 1e-3 if scores else 1e-6)


def test_one_law(drawn):
    sample, draws, rows = drawn
    chain = OneChain().measure(sample, draws)[:, 0]
    emission = OneEmission().measure(sample, draws)[:, 0]
    for row, moved, shown in zip(rows, chain, emission, strict=True):
        paths = [list(pairwise(x for x, _ in one)) for one in row]
        agree(
            moved, 2 * (sum(map(shares, paths)) - shares([step for one in paths for step in one]))
        )
        if sample.columns[0].symbols is None:
            scores, expected = scores_of(sample, row), 0.0
            for one in row:
                for state in sample.labels:
                    own = [scores[p] for p in one if p[0] == state and p[1] is not None]
                    expected += sum(own) ** 2 / max(len(own), 1)
            agree(shown, expected, 1e-3)
        else:
            seen = [[pair for pair in one if pair[1] is not None] for one in row]
            agree(shown, 2 * sum(map(shares, seen)))


@pytest.mark.slow_cases("numbers", "symbols")
def test_many_cells_are_sorted_and_come_to_the_same(drawn, monkeypatch):
    sample, draws, _ = drawn
    tabled = [
        one().measure(sample, draws) for one in (Order, Autocorrelation, OneChain, OneEmission)
    ]
    monkeypatch.setattr(likelihood, "ROOM", 0)
    for one, values in zip((Order, Autocorrelation, OneChain, OneEmission), tabled, strict=True):
        assert (one().measure(sample, draws) == values).all()
