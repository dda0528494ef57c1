"""Ranks along chains, smoothed p-values of many, and uniforms of many: beside naive loops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from definetti._system.seeding import first_uniforms
from definetti.data.history import Completion, History
from definetti.ranks._prefixes import add_at, count_below, no_prefixes
from definetti.ranks.growing import latest_ends, rank_growing, sort_by_root
from definetti.ranks.many import exceed, p_values_of
from definetti.ranks.pvalue import Rank, ranks
from definetti.symmetry import Departures, Spaced


@pytest.mark.parametrize("horizon", [1, 2, 3, 5])
@pytest.mark.parametrize("symmetry", [Spaced(), Departures()])
def test_a_chain_is_the_reference_of_its_time(symmetry, horizon):
    tokens = np.random.default_rng(horizon).integers(0, 3, size=60)
    chains = symmetry.chains(tokens, horizon)
    for length in range(1, 60):
        history = History(4)
        history.append(tokens[:length], np.zeros(length, dtype=np.int64))
        for last in range(4):
            steps = np.full(horizon, last)
            reference = symmetry.reference(Completion(history, steps, steps, 4), 0, None).ends
            group = tokens[length - 1] if symmetry.given == "present state" else last
            node = int(latest_ends(chains.groups, np.array([[group]]), np.array([length]))[0, 0])
            ends = []
            while node >= 0:
                ends += [node] if chains.counted[node] else []
                node = int(chains.parents[node])
            assert ends == reference.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_ranks_along_a_forest_are_those_of_each_chain(seed):
    rng = np.random.default_rng(seed)
    length, windows, width, members = 80, 25, 2, 6
    grid = np.array([0.0, 2.0**-30, 2.0**-29, 0.5, 7.0, np.inf, -7.0, -1e6, 1e6, 1e6 + 0.5])
    scores = rng.choice(grid, size=length)
    parents = np.array([int(rng.integers(-1, t)) if t else -1 for t in range(length)])
    counted = rng.random(length) < 0.8
    latest = rng.integers(-1, length, size=(windows, width), dtype=np.int32)
    own = rng.choice(grid, size=(windows, members))
    ends = np.flatnonzero(counted)
    grown = sort_by_root(parents, ends, scores[ends])
    greater, equal, total = rank_growing(parents, counted, *grown, latest, own)
    for w in range(windows):
        for c in range(members):
            node, found = int(latest[w, c % width]), []
            while node >= 0:
                found += [scores[node]] if counted[node] else []
                node = int(parents[node])
            weights = np.ones(len(found), dtype=np.int64)
            (one,) = ranks(np.array(found), weights, own[w, c : c + 1], joins=True)
            assert (greater[w, c], equal[w, c], total[w, c % width]) == one[:3]


@pytest.mark.parametrize("places", [1, 255, 256, 257, 70_000, 140_000])
def test_what_lies_below_a_place(places):
    rng = np.random.default_rng(places)
    prefixes, number = no_prefixes(places), np.zeros(places, dtype=np.int64)
    edges = [0, places - 1, *(place for place in (255, 256, 65_535, 65_536) if place < places)]
    for place in [*edges, *rng.integers(0, places, size=40).tolist()]:
        change = -1 if number[place] and rng.random() < 0.5 else 1
        number[place] += change
        add_at(prefixes, place, change)
    there = np.flatnonzero(number).repeat(number[number > 0])
    for place in [*edges, places, *rng.integers(0, places, size=40).tolist()]:
        assert count_below(prefixes, place) == (there < place).sum()


@pytest.mark.parametrize("most", [1, 2, 10, 1_000, 2**31 - 1])
def test_smoothed_p_values_are_rounded_once(most):
    rng = np.random.default_rng(most)
    total = rng.integers(1, most + 1, size=(30, 4))
    greater = rng.integers(0, total)
    equal = rng.integers(1, total - greater + 1)
    uniforms = np.append(rng.random(27), [0.0, 2.0**-53, 1 - 2.0**-53])
    found = p_values_of(greater, equal, total, uniforms)
    alphas = np.array([Fraction(1, 5), Fraction(1, 2), Fraction(1, 10), Fraction(1, 3)])
    inside = exceed(greater, equal, total, found, alphas[None], uniforms)
    plain = exceed(greater, equal, total, p_values_of(greater, equal, total), alphas[None])
    for b, c in np.ndindex(found.shape):
        one = Rank(int(greater[b, c]), int(equal[b, c]), int(total[b, c]))
        assert found[b, c] == one.p_value(float(uniforms[b]))
        assert inside[b, c] == one.exceeds(alphas[c], float(uniforms[b]))
        assert plain[b, c] == one.exceeds(alphas[c])


@pytest.mark.parametrize("entropy", [0, 5, 2**40 + 3, 2**127 + 12345, 2**150 + 7])
def test_uniforms_are_those_of_numpy(entropy):
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**63, size=(40, 5), dtype=np.uint64)
    keys[:20, :3] %= 1000
    keys[0], keys[1] = 0, 2**32 - 1
    keys[2] = 2**32
    for found, key in zip(first_uniforms(entropy, keys), keys.tolist(), strict=True):
        seed = np.random.SeedSequence(entropy, spawn_key=tuple(key))
        assert found == np.random.default_rng(seed).random()
