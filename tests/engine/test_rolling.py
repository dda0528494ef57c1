"""Ranks along chains, beside naive loops."""

from __future__ import annotations

import numpy as np
import pytest

import definetti.engine.past
from definetti.data.history import Completion, History
from definetti.engine.past import Chains, find_chains, latest_ends, rank_along_chains
from definetti.engine.pvalues import ranks
from definetti.symmetry import Departures, Spaced
from definetti.symmetry.blocks import Past


@pytest.mark.parametrize("horizon", [1, 2, 3, 5])
@pytest.mark.parametrize("recent", [None, 1, 2, 5])
@pytest.mark.parametrize("made", [Spaced, Departures])
def test_a_chain_is_the_reference_of_its_time(made, recent, horizon):
    symmetry = made(recent=recent)
    tokens = np.random.default_rng(horizon).integers(0, 3, size=60)
    chains = find_chains(symmetry, tokens, horizon)
    for length in range(1, 60):
        history = History(4)
        history.append(tokens[:length], np.zeros(length, dtype=np.int64))
        for last in range(4):
            steps = np.full(horizon, last)
            reference = symmetry.reference(Completion(history, steps, steps, 4), None).ends
            group = tokens[length - 1] if symmetry.given == "present state" else last
            node = int(latest_ends(chains.groups, np.array([[group]]), np.array([length]))[0, 0])
            ends = []
            while node >= 0:
                ends += [node] if chains.counted[node] else []
                node = int(chains.parents[node])
            assert ends[:recent] == reference.tolist()


@pytest.mark.parametrize("most", [1, 3, 10**9])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [1, 2])
def test_ranks_along_chains_are_those_of_naive_walks(width, seed, most):
    rng = np.random.default_rng(seed)
    length, windows, members = 80, 25, 6
    grid = np.array([0.0, 2.0**-30, 2.0**-29, 0.5, 7.0, np.inf, -7.0, -1e6, 1e6, 1e6 + 0.5])
    scores = rng.choice(grid, size=length)
    parents = np.array([int(rng.integers(-1, t)) if t else -1 for t in range(length)])
    counted = rng.random(length) < 0.8
    latest = rng.integers(-1, length, size=(windows, width), dtype=np.int32)
    own = rng.choice(grid, size=(windows, members))
    chains = Chains(np.zeros(length, dtype=np.int64), parents, counted, most)
    greater, equal, total = rank_along_chains(chains, scores, latest, own)
    for w in range(windows):
        for c in range(members):
            node, found = int(latest[w, c % width]), []
            while node >= 0:
                found += [scores[node]] if counted[node] else []
                node = int(parents[node])
            found = found[:most]
            weights = np.ones(len(found), dtype=np.int64)
            (one,) = ranks(np.array(found), weights, own[w, c : c + 1], joins=True)
            assert (greater[w, c], equal[w, c], total[w, c % width]) == one[:3]


@pytest.mark.parametrize("seed", range(4))
def test_ranks_along_a_chain_that_grows_are_those_in_all_windows_before(seed):
    rng = np.random.default_rng(seed)
    grid = np.array([0.0, 2.0**-30, 0.5, 7.0, np.inf, -7.0])
    past, own = rng.choice(grid, size=90), rng.choice(grid, size=(40, 5))
    chains = find_chains(Past(), np.zeros(90, dtype=np.int64), horizon=3)
    lengths = np.sort(rng.integers(1, 90, size=40))
    latest = latest_ends(chains.groups, np.zeros((1, 1), dtype=np.int64), lengths)
    greater, equal, total = rank_along_chains(chains, past, latest, own)
    for w, length in enumerate(lengths.tolist()):
        before = past[3:length]
        assert total[w, 0] == len(before) + 1
        np.testing.assert_array_equal(greater[w], [(before > one).sum() for one in own[w]])
        np.testing.assert_array_equal(equal[w], [1 + (before == one).sum() for one in own[w]])


@pytest.mark.parametrize("horizon", [1, 3])
@pytest.mark.parametrize("states", [1, 2])
@pytest.mark.parametrize("made", [Spaced, Departures])
def test_ranks_in_long_chains_are_those_of_walks(monkeypatch, made, states, horizon):
    rng = np.random.default_rng(states)
    tokens, grid = rng.integers(0, states, size=200), np.array([0.0, 2.0**-30, 0.5, np.inf, -7.0])
    past, own = rng.choice(grid, size=200), rng.choice(grid, size=(60, 4))
    chains = find_chains(made(recent=None), tokens, horizon)
    lengths = 2 + horizon * np.arange(60)
    asked = np.arange(states)[None] if made is Spaced else tokens[lengths - 1][:, None]
    latest = latest_ends(chains.groups, asked, lengths)
    found = rank_along_chains(chains, past, latest, own)
    monkeypatch.setattr(definetti.engine.past, "STEPS", 10**9)
    for one, other in zip(found, rank_along_chains(chains, past, latest, own), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("horizon", [1, 3])
@pytest.mark.parametrize("made", [Spaced, Departures])
def test_single_state_is_ranked_in_one_chain(monkeypatch, made, horizon):
    walks = []
    monkeypatch.setattr(definetti.engine.past, "_rank", lambda *arguments: walks.append(1))
    chains = find_chains(made(recent=None), np.zeros(400, dtype=np.int64), horizon)
    lengths = 1 + horizon * np.arange(100)
    latest = latest_ends(chains.groups, np.zeros((1, 1), dtype=np.int64), lengths)
    rank_along_chains(chains, np.zeros(400), latest, np.zeros((100, 1)))
    assert not walks
