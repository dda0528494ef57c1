"""Ranks one step ahead from counts alone: the very ones of `full` and of `spaced`."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from studies.p_value_streams import stream_p_values
from tests.products import covering

from definetti import HMM, ConformalHMM
from definetti.engine.pvalues import Rank
from definetti.engine.step_counts import ALONE, Stream, Trees
from definetti.exceptions import GapWarning
from definetti.symmetry import Spaced, Symmetry, find_symmetry
from definetti.symmetry.full import trails, trees

PRIORS = (0.5, 0.5)


def draw(seed: int, length: int, n: int = 3, m: int = 3) -> tuple[list[int], list[int]]:
    """Draw a sequence of a random model, with rare moves and rare symbols."""
    rng = np.random.default_rng(seed)
    transition, emission = rng.dirichlet(np.full(n, 0.5), n), rng.dirichlet(np.full(m, 0.7), n)
    states = [int(rng.integers(n))]
    for _ in range(length - 1):
        states.append(int(rng.choice(n, p=transition[states[-1]])))
    return states, [int(rng.choice(m, p=emission[state])) for state in states]


def same(one: Rank, other: Rank) -> bool:
    """Tell whether two ranks are the same numbers but for a common factor."""
    return [Fraction(k, one.total) for k in one[:2]] == [
        Fraction(k, other.total) for k in other[:2]
    ]


@pytest.mark.parametrize("seed", range(20))
def test_trees_are_those_of_the_determinant(seed: int) -> None:
    states, _ = draw(seed, 4 + 2 * seed, n=1 + seed % 5)
    n = 1 + seed % 5
    found, counts = Trees(states[0], n), np.zeros((n, n), dtype=np.int64)
    for earlier, later in pairwise(states):
        found.follow(earlier, later)
        counts[earlier, later] += 1
    assert found.number == trees(counts.T.tolist(), states[0])
    again = Trees.of(states[0], counts)
    assert (again.number, again.cofactors) == (found.number, found.cofactors)
    last = states[-1]
    for state in set(states):
        completed = counts.copy()
        completed[last, state] += 1
        naive = {t.states[1]: t.weight for t in trails(completed.T.tolist(), states[0], state, 1)}
        weights = found.ends(completed[:, state].tolist(), last, state)
        assert {u for u, weight in enumerate(weights) if weight} == set(naive)
        assert all(naive[u] * weights[last] == naive[last] * weights[u] for u in naive)


@pytest.mark.parametrize(
    ("symmetry", "estimate"),
    covering(
        ["full", "spaced", "returns", Spaced(recent=1), Spaced(recent=3)],
        [(0.5, "path"), (0.0, "filter"), (2.0, "smoother")],
    ),
)
def test_ranks_are_those_of_a_prediction(
    symmetry: str | Symmetry, estimate: tuple[float, str]
) -> None:
    prior, score = estimate
    recent = find_symmetry(symmetry).recent
    states, seen = draw(3, 40, n=4)
    observed = [None if t % 11 == 7 else y for t, y in enumerate(seen)]
    cp = ConformalHMM(HMM(prior), score, symmetry, states=range(4), random_state=0)
    cp = cp.fit(observed[:9], states[:9])
    surprise = score == "path"
    stream = Stream.of(cp._data.history, len(cp._data.table), (prior, prior), surprise, recent)
    for t in range(9, len(states)):
        new = observed[t : t + 1]
        table = cp._data.table.extended(new)
        code = -1 if observed[t] is None else table.codes[observed[t]]
        stream.grow(4, len(table))
        asked = cp.predict_ranks(new)
        found = stream.past_ranks(code)
        mine, scores = found.ranks(), found.scores[0]
        if symmetry == "full":
            found = stream.class_ranks(code)
            mine, scores = found.ranks(), found.scores[0]
            assert mine == [stream.ranks(state, code)[2] for state in range(4)]
        assert np.isfinite(scores).all()
        for state, rank in enumerate(mine):
            assert same(rank, asked[(state,)])
            assert rank.p_value(0.371) == asked[(state,)].p_value(0.371)
        stream.learn(states[t], code)
        cp.partial_fit(new, states[t : t + 1])
        again = Stream.of(cp._data.history, len(cp._data.table), recent=recent)
        for name in ("transitions", "pooled", "emissions", "steps", "entered", "first", "last"):
            assert np.array_equal(getattr(again, name), getattr(stream, name))


@pytest.mark.parametrize("symmetry", ["full", Spaced(recent=None), Spaced(recent=2)])
def test_after_a_gap_states_stay_within_their_segment(symmetry: str | Symmetry) -> None:
    states, seen = draw(5, 30)
    stream = Stream(3, 3, recent=find_symmetry(symmetry).recent)
    for t, (state, code) in enumerate(zip(states, seen, strict=True)):
        if t == 12:
            stream.new_segment()
        stream.learn(state, code)
    cp = ConformalHMM(HMM(), symmetry=symmetry, states=range(3), random_state=0)
    cp.fit(seen, states, lengths=[12, 18])
    code = {y: k for k, y in enumerate(cp._data.table.labels)}  # in the order they were met
    for y in range(3):
        if y in code:
            for state, rank in enumerate(
                stream.past_ranks(y).ranks()
                if isinstance(symmetry, Spaced)
                else [stream.ranks(i, y)[2] for i in range(3)]
            ):
                assert same(rank, cp.predict_ranks([y])[(state,)])


def test_a_segment_without_a_state_has_nothing_to_follow() -> None:
    with pytest.raises(ValueError, match="no state yet"):
        Stream(2, 2).ranks(0, 0)


def test_a_state_met_nowhere_else_is_never_strange() -> None:
    stream = Stream(3, 2)
    stream.learn(0, 0)
    assert stream.ranks(2, 1) == (ALONE,) * 3


def test_compiled_p_values_are_those_of_whole_numbers() -> None:
    states, codes = draw(8, 150, n=4)
    codes = [-1 if t % 13 == 5 else code for t, code in enumerate(codes)]
    uniforms = np.random.default_rng(1).random((150, 3))
    found = stream_p_values(np.array(states), np.array(codes), 4, 3, uniforms, PRIORS)
    assert np.isnan(found[0]).all()
    stream = Stream(4, 3)
    for t, (state, code) in enumerate(zip(states, codes, strict=True)):
        if t:
            exact = [
                r.p_value(u) for r, u in zip(stream.ranks(state, code), uniforms[t], strict=True)
            ]
            np.testing.assert_allclose(found[t], exact, atol=1e-12)
        stream.learn(state, code)


@pytest.mark.slow
def test_p_values_of_each_part_are_independent_and_uniform() -> None:
    """Enumerate all sequences of five steps: every joint probability is the product."""
    start, length = (0.3, 0.7), 5
    transition, emission = ((0.8, 0.2), (0.35, 0.65)), ((0.7, 0.1, 0.2), (0.25, 0.6, 0.15))
    levels = np.array([0.15, 0.4, 0.75, 1.0])
    total = np.zeros((3, *[len(levels)] * 3))
    warm = 1  # steps before the first p-value; symbols are 0, 1 and missing

    def walk(stream: tuple[tuple[int, int], ...], chance: float, laws: list[np.ndarray]) -> None:
        if len(stream) == length:
            for part in range(3):
                joint = chance
                for law in laws:
                    joint = np.multiply.outer(joint, law[part])
                total[part] += joint
            return
        for state, code in product(range(2), range(-1, 2)):
            move = transition[stream[-1][0]][state] if stream else start[state]
            more = laws
            if len(stream) > warm:
                counts = Stream(2, 2)
                for one in stream:
                    counts.learn(*one)
                below = [_below(rank, levels) for rank in counts.ranks(state, code)]
                more = [*laws, np.array(below)]
            walk((*stream, (state, code)), chance * move * emission[state][code], more)

    walk((), 1.0, [])
    product_law = levels
    for _ in range(2):
        product_law = np.multiply.outer(product_law, levels)
    for part in range(3):
        np.testing.assert_allclose(total[part], product_law, atol=1e-12)


def _below(rank: Rank, levels: np.ndarray) -> np.ndarray:
    """Return how probable it is, over the uniform, that the smoothed p-value is at most a level."""
    return np.clip((levels - rank.greater / rank.total) * rank.total / rank.equal, 0.0, 1.0)


def test_gaps_among_observations_need_no_warning_here() -> None:
    """A missing observation is a symbol of its own among those that are rearranged."""
    cp = ConformalHMM(HMM(), symmetry="full", random_state=0).fit([0, 1, 0, 1, 1], [0, 1, 0, 0, 1])
    with pytest.warns(GapWarning):
        asked = cp.predict_ranks([None])
    stream = Stream.of(cp._data.history, 2)
    for label, rank in asked.items():
        assert same(stream.ranks(cp.states_.index(label[0]), -1)[2], rank)
