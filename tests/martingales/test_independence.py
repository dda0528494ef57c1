"""Successive p-values are independent and uniform: all joint probabilities of a short run.

Every sequence of a small model is listed, with the ranks of all its windows. Given a sequence, the
smoothed p-values are uniform on intervals, independently; so the joint law is a sum over sequences,
constant on the boxes between all ends of intervals, and each box must have its volume.
"""

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from tests.products import some_slow

from definetti import HMM, ConformalHMM, given_hmm
from definetti.engine.step_counts import PARTS, Stream
from definetti.testing.exactness import quiet

CLOSE = 1e-12
THREE = ([0.2, 0.3, 0.5], [[0.1, 0.6, 0.3], [0.5, 0.2, 0.3], [0.2, 0.1, 0.7]], [[1.0]] * 3)
SCORES = ("path", "transition", "emission")  # the whole window, and its parts
LAWS = (
    ([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.3, 0.2], [0.2, 0.7, 0.1]]),
    ([1.0, 0.0], [[0.8, 0.2], [0.3, 0.7]], [[0.6, 0.1, 0.3], [0.2, 0.2, 0.6]]),
    ([0.3, 0.7], [[0.6, 0.4], [0.0, 1.0]], [[0.5, 0.2, 0.3], [0.1, 0.8, 0.1]]),
)


def list_runs(predictor, symbols, segments, horizon=1):
    """List all sequences of states, and the intervals of the p-values of all their windows.

    Returns states and symbols, ``(S, N)``, and for each window the ends of intervals, ``(S, 2)``.
    """
    length = sum(segments)
    places = {one: k for k, one in enumerate(symbols)}

    @cache
    def ranks(seen, past, new, begins):
        lengths = np.diff([*begins, len(past)]).tolist()
        cp = ConformalHMM(**predictor.get_params(deep=False))
        with quiet():
            return cp.fit(list(seen), list(past), lengths=lengths).predict_ranks(list(new))

    starts = np.cumsum([0, *segments]).tolist()
    windows = [
        (t, tuple(starts[: k + 1]))
        for k in range(len(segments))
        for t in range(starts[k] + 1, starts[k + 1] - horizon + 1, horizon)
    ]
    rows, ends = [], [[] for _ in windows]
    for states in product(predictor.states, repeat=length):
        for seen in product(symbols, repeat=length):
            rows.append((states, [places[one] for one in seen]))
            for k, (t, begins) in enumerate(windows):
                found = ranks(seen[:t], states[:t], seen[t : t + horizon], begins)
                rank = found[states[t : t + horizon]]
                low, high = rank.greater, rank.greater + rank.equal
                ends[k].append((low / rank.total, high / rank.total))
    x, y = (np.array(part) for part in zip(*rows, strict=True))
    return x, y, [np.array(one) for one in ends], starts[:-1]


def chance(law, x, y, starts):
    """Return the probability of each sequence; each segment begins by the first law."""
    initial, steps, seen = (np.array(part) for part in law)
    seen = seen[:, : y.max() + 1] / seen[:, : y.max() + 1].sum(axis=1, keepdims=True)
    moves = steps[x[:, :-1], x[:, 1:]]
    for begin in starts[1:]:
        moves[:, begin - 1] = initial[x[:, begin]]
    return initial[x[:, 0]] * moves.prod(axis=1) * seen[x, y].prod(axis=1)


def off_by(probabilities, ends):
    """Return how far the probability of any box is from its volume, at most; and their number."""
    shares, widths = [], []
    for low, high in (one.T for one in ends):
        edges = np.unique(np.round([*low, *high, 0.0, 1.0], 13))
        over = np.minimum(edges[1:], high[:, None]) - np.maximum(edges[:-1], low[:, None])
        shares.append(np.maximum(over, 0.0) / (high - low)[:, None])
        widths.append(np.diff(edges))
    half = len(ends) // 2
    first, second = (_together(part) for part in (shares[:half], shares[half:]))
    sides = (_together([w[None] for w in part])[0] for part in (widths[:half], widths[half:]))
    volumes = np.outer(*sides)
    joint = (first * probabilities[:, None]).T @ second
    return np.abs(joint - volumes).max(), joint.size


def _together(parts):
    """Multiply the columns of several tables, each with each, row by row."""
    found = np.ones((len(parts[0]), 1))
    for one in parts:
        found = (found[:, :, None] * one[:, None, :]).reshape(len(one), -1)
    return found


def predictor(conformity_score="path", symmetry="full", model=None, n=2):
    model = HMM() if model is None else model
    return ConformalHMM(model, conformity_score, symmetry, states=list(range(n)))


def check(cp, symbols, segments, horizon=1, laws=LAWS):
    x, y, ends, starts = list_runs(cp, symbols, segments, horizon)
    judge(x, y, ends, starts, laws)


def judge(x, y, ends, starts, laws=LAWS):
    assert len(ends) >= 2
    for law in laws:
        p = chance(law, x, y, starts)
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        off, boxes = off_by(p, ends)
        assert boxes >= 2, "nothing was compared"
        assert off <= CLOSE, (law, off)


@pytest.mark.parametrize(
    "part",
    some_slow(range(5), [PARTS.index("transitions")]),
    ids=[*PARTS, "visits to 0", "visits to 1"],
)
@pytest.mark.parametrize(
    ("symbols", "segments"),
    [((0, 1), (6,)), ((0, 1, -1), (5,)), ((0, 1), (2, 4)), ((0, 1, -1), (1, 4))],
    ids=["five p-values", "missing observations", "two segments", "both"],
)
def test_from_counts(symbols, segments, part):
    """All parts one step ahead, by the counts that a monitor keeps."""
    states, codes, ends, starts = list_streams(symbols, segments)
    judge(states, np.where(codes < 0, 2, codes), [one[:, part] for one in ends], starts)


@cache
def list_streams(symbols, segments):
    """List all sequences, and the intervals of the p-values of all steps by part: ``(S, 5, 2)``."""
    length, starts = sum(segments), np.cumsum([0, *segments]).tolist()[:-1]
    x = np.array(list(product((0, 1), repeat=length)))
    y = np.array(list(product(symbols, repeat=length)))
    x, y = np.repeat(x, len(y), axis=0), np.tile(y, (len(x), 1))
    ends = [[] for _ in range(length - len(segments))]
    for states, codes in zip(x.tolist(), y.tolist(), strict=True):
        stream, window = Stream(2, 2), 0
        for t, (state, code) in enumerate(zip(states, codes, strict=True)):
            if t in starts:
                stream.new_segment()
            else:
                ranks = (*stream.ranks(state, code), *stream.visits(state))
                ends[window].append([(r.greater / r.total, r.p_value()) for r in ranks])
                window += 1
            stream.learn(state, code)
    return x, y, [np.array(one) for one in ends], starts


@pytest.mark.parametrize("visited", range(3))
def test_visits_to_one_of_three_states(visited):
    x = np.array(list(product(range(3), repeat=6)))
    ends = [[] for _ in range(5)]
    for states in x.tolist():
        stream = Stream(3, 0)
        for t, state in enumerate(states):
            if t:
                rank = stream.visits(state)[visited]
                ends[t - 1].append((rank.greater / rank.total, rank.p_value()))
            stream.learn(state, -1)
    judge(x, np.zeros_like(x), [np.array(one) for one in ends], [0], [THREE])


def test_by_the_front_door():
    check(predictor(), "ab", (4,))


def test_windows_of_two_steps():
    check(predictor(n=3), "a", (5,), horizon=2, laws=[THREE])


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    ("symbols", "segments", "horizon"),
    [
        ("ab", (5,), 1),
        ("ab", (5,), 2),
        (("a", "b", None), (4,), 1),
        (("a", None), (5,), 2),
        (("a", None), (2, 4), 1),
        ("ab", (2, 2, 2), 1),
        ("a", (3, 5), 2),
    ],
)
def test_more_of_them(score, symbols, segments, horizon):
    x, y, ends, starts = list_runs(predictor(score), symbols, segments, horizon)
    for law in LAWS:
        assert off_by(chance(law, x, y, starts), ends)[0] <= CLOSE


@pytest.mark.slow
def test_not_so_for_all_symmetries():
    """Each p-value of "returns" is uniform, but not given the ones before; those of "full" are."""
    for symmetry in ("full", "returns"):
        x, y, ends, starts = list_runs(predictor("path", symmetry, n=3), "a", (7,), 2)
        p = chance(THREE, x, y, starts)
        for one in ends:
            assert off_by(p, [one, np.tile([0.0, 1.0], (len(one), 1))])[0] <= CLOSE
        off = off_by(p, ends)[0]
        assert off <= CLOSE if symmetry == "full" else off > 1e-5


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(None, marks=pytest.mark.slow),
        given_hmm([[0.6, 0.4], [1, 0]], [[0.7, 0.3], [0.2, 0.8]]),
    ],
)
def test_departures_stack_by_stack(model):
    """The p-values of the departures from a state, one after the other, whatever comes between.

    A state's departures are cards, drawn independently: the next state, and what is observed there.
    All cards of both states are listed; the other state always leads back.
    """
    number = 3
    cards = list(product((0, 1), (0, 1)))
    kept = {}

    def rank(states, seen, card):
        key = states, seen, card
        if key not in kept:
            cp = predictor("path", "departures", model)
            with quiet():
                kept[key] = cp.fit(list(seen), list(states)).predict_ranks([card[1]])[(card[0],)]
        return kept[key]

    rows, ends = [], [[] for _ in range(number)]
    for own in product(cards, repeat=number):
        for back in product((0, 1), repeat=number):  # what is observed on the way back
            states, seen, used = (0,), (0,), 0
            rows.append((own, back))
            for k, card in enumerate(own):
                found = rank(states, seen, card)
                ends[k].append(
                    (found.greater / found.total, (found.greater + found.equal) / found.total)
                )
                states, seen = (*states, card[0]), (*seen, card[1])
                if card[0] == 1:
                    states, seen, used = (*states, 0), (*seen, back[used]), used + 1
    for stay, emitted in [(0.6, [[0.7, 0.3], [0.2, 0.8]]), (0.2, [[0.5, 0.5], [0.9, 0.1]])]:
        p = np.array(
            [
                np.prod([(stay if s == 0 else 1 - stay) * emitted[s][o] for s, o in own])
                * np.prod([emitted[0][o] for o in back])
                for own, back in rows
            ]
        )
        off, boxes = off_by(p, [np.array(one) for one in ends])
        assert boxes > 4
        assert off <= CLOSE


def test_departures_in_the_order_of_time_are_not_uniform():
    """Which stack is next depends on the cards: so all exits together are no part of a monitor.

    The third exit of a chain of two states, ranked among those of its state by how rare it is: by
    hand, a stack of 0, 0 has come with the probability 0.8², and its third card is the rarest, and
    among the least third, if it is a 1.
    """
    stay, back = 0.8, 0.5
    moves = {(0, 0): stay, (0, 1): 1 - stay, (1, 0): back, (1, 1): 1 - back}
    low = 0.0
    for later in product((0, 1), repeat=3):
        states = (0, *later)
        exits = [b for a, b in pairwise(states) if a == states[2]]
        counts = [exits.count(card) for card in exits]
        rarer = sum(count < counts[-1] for count in counts)
        equal = sum(count == counts[-1] for count in counts)
        below = np.clip((len(exits) / 3 - rarer) / equal, 0, 1)
        low += float(np.prod([moves[step] for step in pairwise(states)])) * below
    assert low == pytest.approx(0.8**2 * (0.8 / 3 + 0.2) + (1 - 0.8**2) / 3)
    assert low > 0.41
