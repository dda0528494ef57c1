"""Tokens: traced as they follow each other, coded alike, refused where they mean nothing."""

import numpy as np
import pytest
from tests.products import some_slow

from definetti import HMM, ConformalHMM, LatticeSet, StepSets
from definetti.data.history import Completion, History
from definetti.emissions import Gaussian
from definetti.exceptions import GapWarning
from definetti.memory import Age, Memory, Order, resolve_memory
from definetti.memory.base import MOST, Tokens
from definetti.simulate import weather
from definetti.symmetry import Full, Remembering, Symmetry, remember

MEMORIES = [*[made() for made in Memory.named.values()], Order(2), Order(3), Age(2)]
EXACT = [name for name, made in Symmetry.named.items() if made().exact]


def drawn(length, seed=0, n=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, length), rng.integers(0, 2, length)


@pytest.mark.parametrize("memory", MEMORIES, ids=repr)
def test_tokens_are_traced_as_they_follow_each_other(memory):
    for seed in range(20):
        states, seen = drawn(30, seed, n=2 + seed % 2)
        naive = Memory.trace(memory, states, seen)
        assert np.array_equal(memory.trace(states, seen), naive)
        assert np.array_equal(naive[:, 0], states)
        later = memory.trace(states[11:], seen[11:], naive[10])
        assert np.array_equal(later, naive[11:])


@pytest.mark.parametrize("memory", MEMORIES, ids=repr)
def test_tokens_of_a_history_do_not_depend_on_how_it_came(memory):
    states, seen = drawn(60)
    whole, grown = History(3), History(3)
    whole.append(states, seen)
    tokens = Tokens(memory)
    for begin in range(0, 60, 7):
        grown.append(states[begin : begin + 7], seen[begin : begin + 7])
        tokens.follow(grown)
    at_once = Tokens(memory)
    at_once.follow(whole)
    assert np.array_equal(tokens.rows, at_once.rows)
    assert np.array_equal(tokens.history.states, at_once.history.states)
    assert np.array_equal(tokens.history.transitions, at_once.history.transitions)


@pytest.mark.parametrize("memory", MEMORIES, ids=repr)
def test_a_candidate_is_coded_as_if_it_had_happened(memory):
    states, seen = drawn(20)
    history = History(3)
    history.append(states[:17], seen[:17])
    coded = Tokens(memory).code(Completion(history, states[17:], seen[17:], 3))
    rows = coded.rows[np.concatenate([coded.completion.history.states, coded.completion.states])]
    assert np.array_equal(rows, memory.trace(states, seen))
    assert coded.completion.n_states == len(coded.rows)


@pytest.mark.parametrize("symmetry", EXACT)
@pytest.mark.parametrize("memory", [2, "age", "observation"])
@pytest.mark.parametrize("split", [None, 0.4])
def test_rolling_is_fitting_anew(symmetry, memory, split):
    y, x = weather(60, random_state=1)
    settings = {
        "symmetry": symmetry,
        "memory": memory,
        "random_state": 0,
        "states": ["sun", "rain"],
    }
    train = None if split is None else 20
    rolled = ConformalHMM(train_size=train, **settings).fit(y[:50], x[:50])
    for end in (51, 54):
        rolled.predict_ranks(y[end : end + 2])
        rolled.partial_fit(y[rolled.n_steps_ + (train or 0) : end],
                           x[rolled.n_steps_ + (train or 0) : end])  # fmt: skip
        fresh = ConformalHMM(train_size=train, **settings).fit(y[:end], x[:end])
        assert rolled.predict_ranks(y[end : end + 2]) == fresh.predict_ranks(y[end : end + 2])


def test_who_else_is_asked_about_makes_no_difference():
    y, x = weather(80, random_state=2)
    symmetry = Full(max_windows=0, n_resamples=19)  # always draws
    cp = ConformalHMM(symmetry=symmetry, memory=3, random_state=0).fit(y, x)
    new = ["umbrella", "hat"]
    everything = cp.predict_p(new)
    for sequence in everything:
        assert cp.p_value(new, sequence) == everything.p_value(sequence)


def test_a_memory_of_one_state_is_none():
    y, x = weather(100, random_state=0)
    history = ConformalHMM().fit(y, x)._data.history
    assert remember(Full(), Order(1), history) == remember(Full(), 1, history) == Full()
    assert remember(Full(), 2, history) == Remembering(Full(), Order(2))
    plain, first = ConformalHMM(random_state=0), ConformalHMM(memory=Order(1), random_state=0)
    new = ["umbrella", "hat"]
    assert plain.fit(y, x).predict_ranks(new) == first.fit(y, x).predict_ranks(new)


@pytest.mark.parametrize("memory", [2, Age(5), "observation"])
def test_departures_reach_any_horizon(memory):
    y, x = weather(600, random_state=3)
    cp = ConformalHMM(symmetry="departures", memory=memory, train_size=280, random_state=0)
    cp.fit(y[:560], x[:560])
    far = cp.predict_set(y[560:], 0.5)
    assert isinstance(far, LatticeSet)
    assert "the future depending on" in far.method
    assert cp.predict_set(None, 0.5, horizon=5) is not None
    steps = cp.set_params(guarantee="steps").predict_set(y[560:], 0.5)
    assert isinstance(steps, StepSets)
    listed = cp.set_params(guarantee="all", max_candidates=100)
    few, lattice = (listed.predict_set(y[560 : 560 + k], 0.5) for k in (3, 8))
    for sequence in few:
        assert cp.p_value(y[560:563], sequence) == few.p_value(sequence)
    for sequence in lattice.sequences[:20] if lattice.size().high < 1000 else ():
        assert cp.p_value(y[560:568], sequence) == lattice.p_value(sequence)


def test_names_and_numbers():
    assert resolve_memory(1) == Order(1)
    assert resolve_memory(np.int64(2)) == Order(2)
    assert resolve_memory("age") == Age()
    assert resolve_memory(Age(9)) == Age(9)
    for wrong in (0, -1, 1.5, True, "ages", "order", None):
        with pytest.raises(ValueError, match="memory must be a whole number of steps ≥ 1, one of"):
            ConformalHMM(memory=wrong).fit(*weather(20, random_state=0))
    with pytest.raises(ValueError, match="most must be a whole number ≥ 1"):
        Age(0)


def refused(match, *args, **settings):
    with pytest.raises(ValueError, match=match):
        ConformalHMM(**settings).fit(*args)


def test_what_makes_no_sense_is_refused_with_a_remedy():
    y, x = weather(30, random_state=0)
    refused("memory=31 is longer than the history of 30 steps; take", y, x, memory=31)
    refused("memory=16 is longer than the history of 15", y, x, memory=16, train_size=0.5)
    refused("needs a state that was seen to end, and all 30 steps", y, ["sun"] * 30, memory="age")
    refused("needs observations that are symbols.*name bins", np.arange(30) / 7, x,
            memory="observation", model=HMM(emission=Gaussian()))  # fmt: skip
    refused("an observation at every step", [None, *y[1:]], x, memory="observation")
    refused("an observation at every step", None, x, memory="observation")
    many = [f"state {k}" for k in range(MOST + 1)]
    refused(r"memory makes 2,050 tokens.*cap the age, memory=definetti.memory.Age\(most=20\)",
            None, [*many, many[0]], memory="age")  # fmt: skip


def test_what_is_not_observed_yet_is_no_token():
    y, x = weather(100, random_state=0)
    cp = ConformalHMM(memory="observation").fit(y, x)
    with pytest.raises(
        ValueError, match=r"depend on the present state and the present observ.*'dep"
    ):
        cp.predict_set(horizon=1)


def test_long_horizons_by_a_list_name_what_needs_none():
    y, x = weather(100, random_state=0)
    cp = ConformalHMM(memory=2, symmetry="spaced", train_size=0.5).fit(y, x)
    with pytest.raises(
        ValueError, match="use symmetry='departures', or memory=1, which needs no list"
    ):
        cp.predict_set(horizon=40)


@pytest.mark.parametrize("memory", some_slow([2, 3, "age"], [3, "age"]))
def test_candidates_that_end_in_other_tokens_have_estimates_of_their_own(memory):
    """What is learned with departures depends on the last token, which counts of states hide."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        x, y = rng.integers(0, 2, (2, 9)).tolist()
        x[0] = 1 - x[1]
        settings = {"symmetry": "departures", "states": [0, 1], "random_state": 0}
        cp = ConformalHMM(memory=memory, **settings).fit(y, x)
        everything = cp.predict_p([0, 0, 0])
        for sequence in everything:
            assert cp.p_value([0, 0, 0], sequence) == everything.p_value(sequence)


def test_what_fit_refuses_partial_fit_does():
    cp = ConformalHMM(memory="observation", states=[0, 1]).fit([0, 1], [0, 0])
    before = cp.predict_p([1])
    with pytest.raises(ValueError, match="an observation at every step"):
        cp.partial_fit([None, 1], [1, 1])
    with (
        pytest.warns(GapWarning),
        pytest.raises(ValueError, match="an observation at every step"),
    ):
        cp.predict_set([None])
    assert cp.n_steps_ == 2
    assert cp.predict_p([1]) == before


def test_what_is_learned_must_not_depend_on_what_is_not_observed_yet():
    y, x = weather(60, random_state=0)
    cp = ConformalHMM(memory="observation", symmetry="departures").fit(y, x)
    with pytest.raises(ValueError, match="depend on the present state and the present observ"):
        cp.predict_set(horizon=1)
    fixed = ConformalHMM(memory="observation", symmetry="departures", train_size=30).fit(y, x)
    assert len(fixed.predict_set(horizon=1, confidence_level=0.5)) >= 1


def test_the_cap_of_an_age_is_a_machine_number():
    states, seen = drawn(30)
    assert np.array_equal(Age(10**18).trace(states, seen), Age().trace(states, seen))
    with pytest.raises(ValueError, match="is more than 1,000,000,000,000,000,000 steps; leave"):
        Age(10**18 + 1)
