"""Draws of whole sequences are uniform on their class, which is listed by looking through all."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2
from tests.check.classes import as_sample, columns_signature, members_of, signature
from tests.products import covering

from definetti.check import check
from definetti.check.rearrangements import LONG, _shuffle_long, drawer_of, shuffle
from definetti.check.sample import read_sample
from definetti.memory import Age

RATE = 1e-6  # of false alarms, for each class
HISTORIES = {
    "two states": ("abbabab", None),
    "three states": ("abcabbc", None),
    "three states that come back": ("abacabcba", None),
    "a state that is left for good": ("aabbabcc", None),
    "no state is met again": ("abcd", None),
    "the first state is the last": ("abbaacba", None),
    "self-loops only": ("aaaaa", None),
    "self-loops, with symbols": ("aaaaa", "00101"),
    "one state, two steps": ("aa", "01"),
    "states that cannot be reached again": ("abbcbcdd", None),
    "no way back, with symbols": ("aabbc", "01101"),
    "two steps": ("ab", "01"),
    "one step": ("a", "0"),
    "two states with symbols": ("abbaba", "010110"),
    "three states with symbols": ("abcab", "01011"),
}


def drawn(sample, pairs, across, size=20_000, seed=0):
    """Count draws, as sequences of pairs."""
    tokens, _, times = drawer_of(sample, across)(np.random.default_rng(seed), size)
    labels = np.array(sample.labels, dtype=object)[sample.heads]
    return Counter(
        tuple((labels[v], pairs[t][1]) for v, t in zip(path, order, strict=True))
        for path, order in zip(tokens.tolist(), times.tolist(), strict=True)
    )


def assert_uniform(found, members):
    assert set(found) <= set(members)
    size = sum(found.values())
    counts = np.array([found[member] for member in members])
    off = ((counts - size / len(members)) ** 2).sum() / (size / len(members))
    assert off <= chi2.isf(RATE, max(len(members) - 1, 1))


def pair(states, symbols):
    return tuple(zip(states, symbols or [None] * len(states), strict=True))


@pytest.mark.slow_cases(
    "self-loops, with symbols",
    "states that cannot be reached again",
    "three states that come back",
    "three states with symbols",
)
@pytest.mark.parametrize("name", HISTORIES)
def test_draws_are_uniform(name):
    pairs = pair(*HISTORIES[name])
    members = members_of(pairs, [len(pairs)])
    assert pairs in members
    assert_uniform(drawn(as_sample(pairs), pairs, across=False), members)


@pytest.mark.slow_cases("lengths1", "lengths2")
@pytest.mark.parametrize("lengths", [[3, 4], [1, 6], [5, 2]])
def test_segments_are_rearranged_each_by_itself(lengths):
    pairs = pair("abbabab", "0101101"[::-1])
    members = members_of(pairs, lengths)
    assert_uniform(drawn(as_sample(pairs, lengths), pairs, across=False), members)


@pytest.mark.slow_cases("lengths3-010011")
@pytest.mark.parametrize(
    ("lengths", "symbols"),
    covering([[3, 3], [4, 2], [2, 1, 3], [2, 2, 2]], [None, "010011"], fast=3),
)
def test_steps_move_from_one_sequence_to_another(lengths, symbols):
    pairs = pair("abbaab", symbols)
    members = members_of(pairs, lengths, columns_signature)
    assert_uniform(drawn(as_sample(pairs, lengths), pairs, across=True), members)


def of_order_two(pairs):
    """Tokens of two states in the place of states."""
    before = [None, *(x for x, _ in pairs[:-1])]
    return tuple(((x, str(b)), y) for b, (x, y) in zip(before, pairs, strict=True))


def with_observation(pairs):
    """States with what is observed in them."""
    return tuple(((x, y), y) for x, y in pairs)


def with_age(pairs):
    """States with how long they have lasted, and whether since the beginning."""
    rows, age, first = [], 0, True
    for k, (x, y) in enumerate(pairs):
        lasts = k > 0 and pairs[k - 1][0] == x
        age, first = (age + 1 if lasts else 1), first and (lasts or k == 0)
        rows.append(((x, age, first), y))
    return tuple(rows)


def up_to_two(pairs):
    """The same, no older than two steps."""
    return tuple(((x, min(age, 2), first), y) for (x, age, first), y in with_age(pairs))


@pytest.mark.parametrize(
    ("memory", "tokens", "states"),
    [
        (2, of_order_two, "aababbabaab"),
        ("age", with_age, "abbaabaabb"),
        (Age(2), up_to_two, "abbaaabbab"),
    ],
)
def test_tokens_take_the_place_of_states(memory, tokens, states):
    pairs = pair(states, None)
    members = members_of(pairs, [len(pairs)], signature, tokens)
    assert len(members) > 1
    assert_uniform(drawn(as_sample(pairs, memory=memory), pairs, across=False), members)


def test_edges_are_those_of_the_path():
    pairs = pair("abcabbcaab", None)
    sample = as_sample(pairs, [4, 6])
    for across in (False, True):
        tokens, edges, _ = drawer_of(sample, across)(np.random.default_rng(0), 50)
        inside = sample.edges >= 0
        assert (edges[:, ~inside] == -1).all()
        steps = np.flatnonzero(inside)
        assert (sample.sources[edges[:, steps]] == tokens[:, steps]).all()
        assert (sample.targets[edges[:, steps]] == tokens[:, steps + 1]).all()


def test_a_wrong_draw_is_found():
    """The chi-square test has teeth: a class of which one member comes half as often again."""
    members = members_of(pair("abacabcba", None), [9])
    each = 20_000 // len(members)
    found = Counter(dict.fromkeys(members, each))
    found[members[0]] += each // 2
    with pytest.raises(AssertionError):
        assert_uniform(found, members)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_long_shuffle_is_uniform(size):
    """On lists that are short enough for all orders to be counted."""
    rng, number = np.random.default_rng(size), 20_000
    found = Counter()
    for _ in range(number):
        cards = np.arange(size, dtype=np.int32)
        _shuffle_long(rng, cards)
        found[tuple(cards.tolist())] += 1
    assert_uniform(found, list(permutations(range(size))))


def test_long_shuffle_puts_every_card_anywhere():
    rng, size, number = np.random.default_rng(0), 2 * LONG, 400
    sums = np.zeros(size)
    for _ in range(number):
        cards = np.arange(size, dtype=np.int32)
        shuffle(rng, cards, 0, size)
        assert np.array_equal(np.sort(cards), np.arange(size))
        sums += cards
    variance = number * (size**2 - 1) / 12
    off = ((sums - number * (size - 1) / 2) ** 2).sum() / variance * (size - 1) / size
    assert chi2.isf(1 - RATE, size - 1) < off < chi2.isf(RATE, size - 1)


def test_draws_of_long_histories_keep_transitions_and_observations():
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.random(30_000) < 0.3) % 3
    symbols = rng.integers(0, 4, len(states))
    sample = read_sample(symbols.tolist(), states.tolist(), [20_000, 10_000], 1)
    draw = drawer_of(sample, across=False)
    [tokens], [edges], [times] = draw(rng, 1)
    assert not np.array_equal(tokens, sample.tokens)
    for part in (slice(0, 20_000), slice(20_000, None)):
        for new, old in ((tokens, sample.tokens), (edges, sample.edges)):
            assert np.array_equal(np.sort(new[part]), np.sort(old[part]))
        assert tokens[part][0] == sample.tokens[part][0]
    assert np.array_equal(np.sort(times), np.arange(len(times)))
    assert np.array_equal(sample.tokens[times], tokens)
    pairs = edges >= 0
    assert np.array_equal(sample.targets[edges[pairs]], tokens[1:][pairs[:-1]])


def test_work_on_a_draw_does_not_grow_with_calls_of_the_generator():
    """To ask it for each card took half of the time of a check of a million rows."""
    rng, asked = np.random.default_rng(0), np.random.default_rng(0)
    shuffle(rng, np.arange(100_000, dtype=np.int32), 0, 100_000)
    numbers = asked.random(1000)
    assert rng.random() in numbers  # the seed, and a few replaced words


def test_symbols_are_dealt_as_times_are():
    """A column of symbols that is dealt by itself comes out as it does by way of times."""
    rng = np.random.default_rng(3)
    states, seen = rng.choice(list("abc"), 20_000), rng.choice(list("xyz"), 20_000)
    named = {name: name for name in ("drift", "autocorrelation")}
    by_time = {**named, "own": lambda states, seen: 0.0}  # a function takes whole observations
    ours, theirs = (
        check(seen, states, tests=one, n_resamples=9, random_state=0, pictures=False, horizon=None)
        for one in (named, by_time)
    )
    for name in named:
        np.testing.assert_array_equal(ours.tests[name].drawn, theirs.tests[name].drawn)
