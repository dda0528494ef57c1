"""Every symmetry against a list of all its rearrangements, weight by weight."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from tests.making import drawing

from definetti.data.history import Completion, History, windows_at
from definetti.symmetry import BlockGroup, Full, Pairs, Published, Returns, Shifts, Spaced

Window = tuple[int, tuple[int, ...], tuple[int, ...]]


def window(sequence, horizon) -> Window:
    end = sequence[len(sequence) - horizon :]
    return sequence[-horizon - 1][0], tuple(x for x, _ in end), tuple(y for _, y in end)


def shares(windows) -> dict[Window, Fraction]:
    counts = Counter(windows)
    return {w: Fraction(c, counts.total()) for w, c in counts.items()}


def members(sequence):
    """All sequences with the same first state, transitions and observations of each state."""
    states = [x for x, _ in sequence]
    own = {i: [y for x, y in sequence if x == i] for i in set(states)}
    orders = [set(permutations(ys)) for ys in own.values()]

    def paths(path, left):
        if not left:
            yield path
        for move in [move for move in left if move[0] == path[-1]]:
            yield from paths([*path, move[1]], left - Counter([move]))

    for path in paths(states[:1], Counter(pairwise(states))):
        for chosen in product(*orders):
            left = {i: iter(ys) for i, ys in zip(own, chosen, strict=True)}
            yield [(x, next(left[x])) for x in path]


def arranged(sequence, ends, orders=permutations):
    """All sequences with the blocks up to the given ends in another order."""
    blocks = [sequence[a + 1 : b + 1] for a, b in pairwise(ends)]
    for order in orders(range(len(blocks))):
        yield sequence[: ends[0] + 1] + [e for k in order for e in blocks[k]]


def state_ends(sequence):
    return [t for t, (x, _) in enumerate(sequence) if x == sequence[-1][0]]


def pair_ends(sequence):
    return [t for t, pair in enumerate(sequence) if pair == sequence[-1]]


def spaced_ends(sequence, horizon):
    ends = [len(sequence) - 1]
    while True:
        earlier = [t for t in range(ends[0] - horizon + 1) if sequence[t][0] == sequence[-1][0]]
        if not earlier:
            return ends
        ends.insert(0, earlier[-1])


def problems(number, seed, longest=8):
    """Random sequences with 1–3 states, 1–2 symbols and gaps, and a horizon."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        horizon = int(rng.integers(1, 4))
        length = int(rng.integers(1, longest - horizon + 1))
        x = rng.integers(0, rng.integers(1, 4), length + horizon).tolist()
        y = rng.integers(-1, rng.integers(1, 3), length + horizon).tolist()
        yield list(zip(x, y, strict=True)), horizon


def completed(sequence, horizon) -> Completion:
    x, y = np.array(sequence).T
    history = History(int(x.max()) + 1)
    history.append(x[:-horizon], y[:-horizon])
    return Completion(history, x[-horizon:], y[-horizon:], history.n_states)


def weights(symmetry, sequence, horizon, draws=0, seed=0) -> dict[Window, Fraction]:
    completion = completed(sequence, horizon)
    symmetry = drawing(symmetry, draws) if draws else symmetry
    reference = symmetry.reference(completion, lambda: np.random.default_rng(seed))
    assert reference.joins == (draws > 0 or reference.ends is not None)
    total: Counter[Window] = Counter()
    found = reference.windows
    if reference.ends is not None:
        total[window(sequence, horizon)] = 1
        past = completion.history
        found = windows_at(reference.ends, past.states, past.observations, horizon)
    rows = zip(*(part.tolist() for part in found), strict=True)
    for (start, x, y), weight in zip(rows, reference.weights.tolist(), strict=True):
        total[start, tuple(x), tuple(y)] += weight
    return {w: Fraction(c, total.total()) for w, c in total.items() if c}


def seen_elsewhere(sequence):
    return len(state_ends(sequence)) > 1


def test_full_counts_the_whole_class():
    tried = 0
    for sequence, horizon in problems(700, seed=1):
        if seen_elsewhere(sequence):
            expected = shares(window(z, horizon) for z in members(sequence))
            assert weights(Full(10**9), sequence, horizon) == expected
            tried += 1
    assert tried >= 500


def test_full_leaves_a_last_state_never_seen_alone():
    sequence = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 0), (2, 0)]
    for horizon in (1, 2, 3):
        assert weights(Full(), sequence, horizon) == {window(sequence, horizon): 1}


@pytest.mark.slow
def test_returns_and_pairs_count_all_orders():
    for sequence, horizon in problems(500, seed=2):
        expected = shares(window(z, horizon) for z in arranged(sequence, state_ends(sequence)))
        assert weights(Returns(), sequence, horizon) == expected
        expected = shares(window(z, horizon) for z in arranged(sequence, pair_ends(sequence)))
        assert weights(Pairs(), sequence, horizon) == expected


def test_pairs_are_the_blocks_of_the_paper():
    """Blocks that begin with the last pair, the last pair itself staying in place."""
    for sequence, horizon in problems(200, seed=3):
        cuts = pair_ends(sequence)
        blocks = [sequence[a:b] for a, b in pairwise(cuts)]
        rearranged = (
            sequence[: cuts[0]] + [e for k in order for e in blocks[k]] + sequence[-1:]
            for order in permutations(range(len(blocks)))
        )
        expected = shares(window(z, horizon) for z in rearranged)
        assert weights(Pairs(), sequence, horizon) == expected


def test_spaced_blocks_in_all_orders():
    """The average over all orders of the blocks is the average over the blocks' own windows."""
    for sequence, horizon in problems(300, seed=4, longest=9):
        ends = spaced_ends(sequence, horizon)
        rearranged = list(arranged(sequence, ends))
        for z in rearranged:  # the cuts are a function of the blocks, not of their order
            cut = spaced_ends(z, horizon)
            blocks = lambda s, e: sorted(s[a + 1 : b + 1] for a, b in pairwise(e))  # noqa: E731
            assert blocks(z, cut) == blocks(sequence, ends)
        expected = shares(window(z, horizon) for z in rearranged)
        assert weights(Spaced(), sequence, horizon) == expected


@pytest.mark.parametrize("blocks", ["returns", "pairs"])
def test_own_group(blocks):
    rotations = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    cut = state_ends if blocks == "returns" else pair_ends

    def orders(numbers):
        k = len(numbers) - 3
        return [[*range(k), *(k + j for j in g)] for g in rotations] if k >= 0 else [list(numbers)]

    moved = 0
    for sequence, horizon in problems(300, seed=5, longest=12):
        expected = shares(window(z, horizon) for z in arranged(sequence, cut(sequence), orders))
        assert weights(BlockGroup(rotations, blocks), sequence, horizon) == expected
        moved += len(expected) > 1
    assert moved > 20


def test_own_group_by_number_of_blocks_gives_all_orders():
    everything = BlockGroup(lambda d: list(permutations(range(d))), "returns")
    for sequence, horizon in problems(100, seed=6):
        assert weights(everything, sequence, horizon) == weights(Returns(), sequence, horizon)


@pytest.mark.parametrize(
    ("permutations", "message"),
    [
        ([], "empty"),
        ([[1, 0]], "not a group"),
        ([[0, 1, 2], [1, 2, 0]], "not a group"),
        ([[0, 1], [0, 1]], "twice"),
        ([[0, 2]], "not a permutation"),
        ([[0, 1], [0, 1, 2]], "not a permutation"),
    ],
)
def test_what_is_no_group_is_refused(permutations, message):
    with pytest.raises(ValueError, match=message):
        BlockGroup(permutations)


def test_shifts_are_the_windows_of_every_time():
    for sequence, horizon in problems(200, seed=7):
        starts = range(horizon + 1, len(sequence) + 1)
        expected = shares(window(sequence[:end], horizon) for end in starts)
        assert weights(Shifts(), sequence, horizon) == expected


def test_published_takes_blocks_without_the_last_pair():
    compared = 0
    for sequence, horizon in problems(400, seed=8, longest=12):
        horizon = min(horizon, 2)
        for step in range(1, horizon + 1):
            cuts = [t for t, pair in enumerate(sequence) if pair == sequence[-step]]
            if len(cuts) - 1 > horizon:
                break
        else:
            reference = Published().reference(completed(sequence, horizon), None)
            assert reference.randomised
            continue
        blocks = [sequence[a:b] for a, b in pairwise(cuts)]
        some = permutations(blocks, horizon + 1)
        expected = shares(
            window([e for b in some_blocks for e in b], horizon) for some_blocks in some
        )
        assert weights(Published(), sequence, horizon) == expected
        compared += 1
    assert compared > 50


@pytest.mark.slow_cases("symmetry0", "symmetry1", "symmetry2")
@pytest.mark.parametrize("symmetry", [Full(max_windows=0), Returns(0), Pairs(0)])
def test_draws_follow_the_counts(symmetry):
    """Pearson's statistic over all problems; the bound is passed with probability below 1e-5."""
    draws, statistic, freedom = 4000, 0.0, 0
    for k, (sequence, horizon) in enumerate(problems(150, seed=9, longest=10)):
        if not seen_elsewhere(sequence):
            continue
        counted = type(symmetry)(10**6)
        expected = weights(counted, sequence, horizon)
        found = weights(symmetry, sequence, horizon, draws, seed=k)
        assert set(found) <= set(expected)
        statistic += sum(
            draws * float((found.get(w, Fraction(0)) - p) ** 2 / p) for w, p in expected.items()
        )
        freedom += len(expected) - 1
    assert freedom > 40
    assert abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)


@pytest.mark.slow
def test_draws_do_not_depend_on_the_length_of_the_past():
    """A long sticky chain: the windows of the class are close to those of the chain itself."""
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.random(20_000) < 0.1) % 2
    sequence = list(zip(x.tolist(), (x ^ (rng.random(20_000) < 0.2)).tolist(), strict=True))
    found = weights(Full(max_windows=0), sequence, 2, draws=20_000)
    counted = weights(Full(), sequence, 2)
    assert max(abs(float(found.get(w, 0) - p)) for w, p in counted.items()) < 0.02
