"""Symmetries that cut a completed sequence into blocks at visits to its last state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from definetti._system.arrays import IntArray, distinct_rows
from definetti._system.checks import RESAMPLES, checked_limit, checked_resamples
from definetti._system.compiled import kernel
from definetti.data.history import Completion, Windows, windows_at
from definetti.symmetry.base import MOST_WINDOWS, Generator, Reference, Symmetry, checked_recent
from definetti.symmetry.block_windows import Blocks, count_windows, cut_at_pair, cut_at_state


@dataclass(frozen=True)
class Spaced(Symmetry, name="spaced"):
    """Rearrange blocks of at least ``h`` steps that end with the last state; exactly valid.

    Backwards from the end, the next cut is the latest visit to the last state at least ``h``
    steps before. Each block carries one window, and all blocks but the last depend on the
    candidate through its last state alone.

    Permuting the latest `recent` blocks, while everything before them stays in place, is a
    subgroup of all permutations of blocks: the rank among their windows is exactly valid for every
    `recent` that is fixed in advance, whether the model is fixed or refitted on all counts.

    Parameters
    ----------
    recent : int or None, default 200
        Compare with at most so many windows, the latest that end in the candidate's last state;
        None for all of them.
    """

    recent: int | None = field(default=200, kw_only=True)

    exact = True
    by_last_state = True
    reads_observations = False
    examples = ({"recent": 1}, {"recent": 2})

    def __post_init__(self) -> None:
        checked_recent(self.recent)

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return (completion.last,)

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        history, most = completion.history, checked_recent(self.recent)
        visits = history.visits(completion.last)
        return Reference.past(spaced_ends(visits, len(history), completion.horizon, most))


@kernel
def spaced_ends(visits: IntArray, length: int, horizon: int, most: int = MOST_WINDOWS) -> IntArray:
    """Return the ends of the latest spaced blocks but the last, latest first."""
    ends = np.empty(min(len(visits), most), dtype=np.int64)
    listed, k = 0, len(visits) - 1
    bound = length - 1
    while True:
        while k >= 0 and visits[k] > bound:
            k -= 1
        if k < 0:
            # The earliest cut only ends the prefix: no block ends there.
            return ends[: max(listed - 1, 0)]
        if listed == most:
            return ends
        ends[listed] = visits[k]
        listed += 1
        bound = visits[k] - horizon


@kernel
def spaced_parents(tokens: IntArray, horizon: int) -> IntArray:
    """Return for each time the latest visit to the same token at least a horizon before."""
    number = tokens.max() + 1 if len(tokens) else 0
    latest = np.full(number, -1, dtype=np.int64)  # up to a horizon before the present
    parents = np.empty(len(tokens), dtype=np.int64)
    for t in range(len(tokens)):
        if t >= horizon:
            latest[tokens[t - horizon]] = t - horizon
        parents[t] = latest[tokens[t]]
    return parents


MAX_WINDOWS = 20_000


@dataclass(frozen=True)
class Arrangements(Symmetry):
    """Base class of symmetries that count orders of blocks."""

    max_windows: int = MAX_WINDOWS
    n_resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        checked_limit(self.max_windows, "max_windows")
        checked_resamples(self.n_resamples)

    def all_orders(self, blocks: Blocks, horizon: int, generator: Generator) -> Reference:
        """Compare with the windows of all orders of the blocks."""
        counted = count_windows(blocks, horizon, self.max_windows)
        if counted is not None:
            return Reference(*counted, joins=False)
        return Reference.drawn(blocks.drawn(generator(), int(self.n_resamples), horizon))


@dataclass(frozen=True)
class Returns(Arrangements, name="returns"):
    """Cut after every visit to the last state and rearrange the blocks; exactly valid.

    Observations travel with their states, so they may be anything.

    Parameters
    ----------
    max_windows : int, default 20000
        Orders are counted exactly where their distinct windows are at most so many, and drawn at
        random where they are more. Both are exactly valid.
    n_resamples : int, default 999
        How many are drawn; at most a million.
    """

    exact = True
    reads_observations = False

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        return self.all_orders(cut_at_state(completion), completion.horizon, generator)


@dataclass(frozen=True)
class Pairs(Arrangements, name="pairs"):
    """Cut at every occurrence of the last pair of state and observation; exactly valid.

    This is the method of Nettasinghe et al. (2023), with all ``d!`` permutations of the blocks. At
    horizon 1 every rearrangement ends in the same pair, so the observation that is being tested
    never varies and the sets are nearly full: `Returns` and `Full` are as valid and far smaller.

    Parameters
    ----------
    max_windows, n_resamples : int, default 20000 and 999
        As for `Returns`.
    """

    exact = True

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        return self.all_orders(cut_at_pair(completion), completion.horizon, generator)


@dataclass(frozen=True)
class Past(Symmetry):
    """Compare with every `stride`-th window of the past, whatever its states.

    Not valid for a Markov chain: these windows are neither independent nor exchangeable.
    """

    stride: int = 1

    exact = False
    reads_observations = False

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return ()

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        return Reference.past(
            strided_ends(len(completion.history), completion.horizon, self.stride)
        )


def strided_ends(length: int, horizon: int, stride: int) -> IntArray:
    """Return where windows of the past end, latest first."""
    last = length + horizon - 1 - stride
    beyond = max(last - length + 1, 0)  # steps by which it ends too late
    return np.arange(last - -(-beyond // stride) * stride, horizon - 1, -stride)


@dataclass(frozen=True)
class Shifts(Symmetry, name="shifts"):
    """Compare with the windows that end at every time; **only approximately valid**.

    After Chernozhukov, Wüthrich and Zhu (2018). Shifted windows of a Markov chain are not
    exchangeable: the coverage tends to the level as the sequence grows, if the chain mixes, but
    no finite length guarantees it. Here as a baseline.
    """

    exact = False
    reads_observations = False

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        past, horizon = completion.history, completion.horizon

        def distinct() -> tuple[Windows, IntArray]:
            ends = np.arange(horizon, len(past))
            windows = windows_at(ends, past.states, past.observations, horizon)
            first, _, count = distinct_rows(np.column_stack(windows))
            return Windows(*(part[first] for part in windows)), count

        windows, weights = past.present.recall(("shifts", horizon), "windows", distinct)
        # The last windows reach into the candidate.
        offset = max(len(past) - horizon, 0)
        states = np.concatenate([past.states[offset:], completion.states])
        observations = np.concatenate([past.observations[offset:], completion.observations])
        last = np.arange(max(horizon, len(past) - offset), len(states))
        windows = windows + windows_at(last, states, observations, horizon)
        ones = np.ones(len(last), dtype=np.int64)
        return Reference(windows, np.concatenate([weights, ones]), joins=False)


@dataclass(frozen=True)
class Published(Arrangements, name="published"):
    """The published program of Nettasinghe et al. (2023); **not valid**: it under-covers.

    It departs from the paper's theorem. The permuted windows are the end of ``h + 1`` concatenated
    blocks *without* the last pair, while the window that is tested includes it, and that window is
    not among those it is ranked with. With fewer than ``h + 1`` blocks the program tries the pair
    one step earlier, and so on, and at last tosses a coin that falls on "in" with probability
    ``1 − alpha``. Exact coverage by enumeration falls below the level (see ``definetti verify``).

    Parameters
    ----------
    max_windows, n_resamples : int, default 20000 and 999
        As for `Returns`.
    """

    exact = False

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        horizon = completion.horizon
        for step in range(-1, -horizon - 1, -1):
            blocks = cut_at_pair(completion, step)
            if blocks.number > horizon:
                break
        else:
            return Reference.alone(completion)._replace(randomised=True)  # the coin
        # One step longer, then without its last element: the blocks without the last pair.
        reference = self.all_orders(blocks, horizon + 1, generator)
        assert reference.windows is not None
        start, states, observations = reference.windows
        windows = Windows(start, states[:, :-1], observations[:, :-1])
        return Reference(windows, reference.weights, joins=False)


Permutations = Sequence[Sequence[int]]


@dataclass(frozen=True)
class BlockGroup(Symmetry):
    """Rearrange blocks by a given group of permutations; exactly valid.

    Parameters
    ----------
    permutations : list of permutations of ``0 … g − 1``, or a function from the number of blocks
        to such a list
        They act on the last ``g`` blocks and leave the others in place; with fewer than ``g``
        blocks nothing is rearranged. They must form a group: anything else is refused.
    blocks : {"returns", "pairs"}
        Where the sequence is cut.

    Examples
    --------
    >>> BlockGroup([[0, 1, 2], [1, 2, 0], [2, 0, 1]]).orders(5)
    array([[4, 3, 2, 1, 0],
           [2, 4, 3, 1, 0],
           [3, 2, 4, 1, 0]])
    >>> BlockGroup([[0, 1, 2], [1, 2, 0]])
    Traceback (most recent call last):
    ValueError: permutations are not a group: (1, 2, 0) after (1, 2, 0) is (2, 0, 1), which is ...
    """

    permutations: Permutations | Callable[[int], Permutations]
    blocks: Literal["returns", "pairs"] = "returns"

    exact = True

    def __post_init__(self) -> None:
        if self.blocks not in ("returns", "pairs"):
            raise ValueError(f"blocks must be 'returns' or 'pairs', got {self.blocks!r}")
        # A copy of the checked permutations: the user's lists may change.
        members = None if callable(self.permutations) else check_group(self.permutations)
        object.__setattr__(self, "_members", members)

    @property
    def reads_observations(self) -> bool:  # type: ignore[override]
        return self.blocks == "pairs"

    def orders(self, number: int) -> IntArray:
        """Return the order of `number` blocks under each permutation, read from the end."""
        group: list[tuple[int, ...]] | None = vars(self)["_members"]
        if group is None:
            assert callable(self.permutations)
            group = check_group(self.permutations(number))
        degree = len(group[0])
        if degree > number:
            group, degree = [()], 0
        moved = number - degree + np.array(group, dtype=np.int64).reshape(len(group), degree)
        kept = np.broadcast_to(np.arange(number - degree), (len(group), number - degree))
        return np.ascontiguousarray(np.concatenate([kept, moved], axis=1)[:, ::-1])

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        cut = cut_at_state if self.blocks == "returns" else cut_at_pair
        blocks = cut(completion)
        windows = blocks.arranged(self.orders(blocks.number), completion.horizon)
        return Reference(windows, np.ones(len(windows.start), dtype=np.int64), joins=False)


def check_group(permutations: Permutations) -> list[tuple[int, ...]]:
    """Return the members of a group of permutations; raise an error if they form none."""
    members = [tuple(int(k) for k in member) for member in permutations]
    if not members:
        raise ValueError("permutations are not a group: the list is empty; give the identity")
    identity = tuple(range(len(members[0])))
    for member in members:
        if tuple(sorted(member)) != identity:
            raise ValueError(
                f"permutations[{members.index(member)}] is {member}, not a permutation of "
                f"0 … {len(identity) - 1}"
            )
    known = set(members)
    if len(known) < len(members):
        raise ValueError("permutations are not a group: a member occurs twice; list each once")
    # Close the set under products, one generator at a time: each at least doubles the subgroup,
    # so a list of g members is checked with g log g products, not g².
    generators: list[tuple[int, ...]] = []
    closed = {identity}
    for member in members:
        if member in closed:
            continue
        generators.append(member)
        closed, fresh = {identity}, [identity]
        while fresh:
            a = fresh.pop()
            for b in generators:
                product = tuple(a[k] for k in b)
                if product not in known:
                    raise ValueError(
                        f"permutations are not a group: {a} after {b} is {product}, which is not "
                        "among them; add it and all further products"
                    )
                if product not in closed:
                    closed.add(product)
                    fresh.append(product)
    if identity not in known:
        raise ValueError("permutations are not a group: the identity is not among them; add it")
    return members
