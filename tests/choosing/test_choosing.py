"""What is chosen by the training stretch, and that coverage over the choice is the level."""

from fractions import Fraction
from itertools import product
from math import fsum

import numpy as np
import pytest

from definetti import ConformalHMM, choosing
from definetti.memory import Age, Observation, Order
from definetti.simulate import weather
from definetti.symmetry import Full, Spaced

LEVELS = [0.5, 0.75, 0.8, 0.9]
CHAIN = np.array([[0.7, 0.3], [0.4, 0.6]])
SHOWN = np.array([[0.8, 0.2], [0.35, 0.65]])


def walk(length, move, seed=0):
    rng = np.random.default_rng(seed)
    path = [0, 1, 0]
    while len(path) < length:
        path.append(int(rng.random() < move(path)))
    return np.array(path)


def regular(length):
    """A state lasts for five steps, give or take one."""
    lasts = np.random.default_rng(0).integers(4, 7, length)
    return np.repeat(np.arange(length) % 2, lasts)[:length]


def shows(states, seed=1):
    uniform = np.random.default_rng(seed).random(len(states))
    return (uniform < SHOWN[np.asarray(states), 1]).astype(int)


def feedback(length):
    """What is observed decides what comes next."""
    rng = np.random.default_rng(3)
    states, seen = [0], [0]
    while len(states) < length:
        states.append(int(rng.random() < (0.85 if seen[-1] else 0.2)))
        same = rng.random() < 0.8
        seen.append(seen[-1] if same else int(rng.random() < SHOWN[states[-1], 1]))
    return np.array(seen), np.array(states)


def trained(name, length=240):
    """Return observations and states of a training stretch."""
    if name == "a hidden Markov model":
        states = walk(length, lambda x: CHAIN[x[-1], 1])
    elif name == "order two":
        states = walk(length, lambda x: 0.9 if x[-2] else 0.15, seed=1)
    elif name == "regular":
        states = regular(length)
    elif name == "feedback":
        return feedback(4 * length)
    elif name == "drift":
        states = walk(length, lambda x: CHAIN[x[-1], 1])
        seen = shows(states)
        seen[length // 2 :] = 1 - seen[length // 2 :]
        return seen, states
    return shows(states), states


CHOSEN = {
    "a hidden Markov model": (Order(1), "full"),
    "order two": (Order(2), "full"),
    "regular": (Age(7), "full"),
    "feedback": (Observation(), "full"),
    "drift": (Order(1), "spaced"),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_what_the_training_stretch_shows_is_chosen_and_said(name):
    seen, states = trained(name)
    more = np.arange(60) % 2
    cp = ConformalHMM(train_size=len(states), memory="auto", random_state=0)
    cp.fit(np.concatenate([seen, 1 - more]), np.concatenate([states, more]))
    memory, symmetry = CHOSEN[name]
    assert (cp.choice_.memory, cp.choice_.symmetry) == (memory, symmetry)
    assert cp.memory_ == memory
    assert cp.symmetry_.known_as == symmetry
    least = memory.k if isinstance(memory, Order) else repr(memory)
    assert cp.choice_.words.startswith(f"memory={least}: ")
    assert f"symmetry={symmetry!r}" in cp.choice_.words
    assert f"the {len(states):,} training steps" in cp.choice_.words
    if name != "feedback":  # forecasts would need what is observed last
        assert "chosen by tests of the training stretch" in cp.predict_set(horizon=1).method


def probability(states, seen, before, shown):
    found = 1.0
    for state, symbol in zip(states, seen, strict=True):
        found *= CHAIN[before][state] * shown[state][symbol]
        before = state
    return found


@pytest.fixture
def once(monkeypatch):
    """Choose once for each training stretch; that nothing else has a say is tested below."""
    known, choose = {}, choosing.choose

    def chosen(data, memory, symmetry, rng):
        key = data.training.states.tobytes(), data.training.observations.tobytes()
        if key not in known:
            known[key] = choose(data, memory, symmetry, rng)
        return known[key]

    monkeypatch.setattr(choosing, "choose", chosen)
    return known


def rank_truth(trained, path, symbols, horizon):
    """Return the rank of the truth, given what came before it; None where that is refused."""
    seen, states = trained
    past = [*states, *path[:-horizon]]
    given = None if seen is None else [*seen, *symbols[:-horizon]]
    cp = ConformalHMM(train_size=len(states), memory="auto", states=[0, 1], random_state=0)
    try:
        cp.fit(given, past)
    except ValueError as refused:  # all of one class, so that the others have their level
        if "memory='age' needs a state that was seen to end" in str(refused):
            return None
        raise
    if seen is None:
        return cp.predict_ranks(horizon=horizon)[tuple(path[-horizon:])]
    return cp.predict_ranks(list(symbols[-horizon:]))[tuple(path[-horizon:])]


def assert_level(found):
    """Ranks of the truth with their probabilities: smoothed sets hold it as often as promised."""
    found = [(rank, weight) for rank, weight in found if rank is not None]
    whole = fsum(weight for _, weight in found)
    for level in LEVELS:
        alpha = 1 - Fraction(str(level))
        inside = fsum(weight * float(rank.chance(alpha)) for rank, weight in found)
        assert inside / whole == pytest.approx(level, abs=1e-12)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("name", CHOSEN)
def test_coverage_given_the_training_stretch_is_the_level(name, plain, once):
    """All that may follow it is listed, under hidden Markov models: every choice is right there."""
    seen, states = trained(name)
    steps, horizon = (6, 2) if plain else (4, 1)
    shown = np.array([[1.0], [1.0]]) if plain else SHOWN
    found = []
    for path in product((0, 1), repeat=steps):
        for symbols in product(range(shown.shape[1]), repeat=steps):
            rank = rank_truth((None if plain else seen, states), path, symbols, horizon)
            found.append((rank, probability(path, symbols, int(states[-1]), shown)))
    assert_level(found)
    (choice,) = once.values()
    assert plain or (choice.memory, choice.symmetry) == CHOSEN[name]


def test_coverage_over_all_choices_is_the_level(monkeypatch, once):
    """Training stretches are listed, too, and so short that less has to be enough to choose by."""
    monkeypatch.setattr(choosing, "ENOUGH", 4)
    monkeypatch.setattr(choosing, "ALPHA", 0.45)
    monkeypatch.setattr(choosing, "DRAWS", 39)
    found = []
    for whole in product((0, 1), repeat=10):
        rank = rank_truth((None, whole[:6]), whole[6:], [0] * 4, 1)
        found.append((rank, probability(whole[1:], [0] * 9, whole[0], [[1], [1]])))
    assert_level(found)
    assert {choice.symmetry for choice in once.values()} == {"full", "spaced"}
    assert len({choice.memory for choice in once.values()}) > 1


def test_what_only_spaced_blocks_can_do_they_do():
    observations, states = weather(900, random_state=0)
    cp = ConformalHMM(train_size=0.5, random_state=0).fit(observations[:880], states[:880])
    assert (cp.choice_.symmetry, cp.symmetry_) == ("full", Full())
    new = observations[880:]
    assert "full symmetry, chosen" in cp.predict_set(new[:3]).method
    assert "full symmetry, chosen" in cp.predict_set(horizon=3).method
    for found in (
        cp.predict_set(new),
        cp.predict_set(new[:3], lag=1),
        cp.predict_set(new[:2], horizon=3),
        cp.set_params(guarantee="steps").predict_set(new[:3]),
    ):
        assert "spaced symmetry" in found.method
        assert "chosen" not in found.method


def test_who_names_a_symmetry_or_sets_nothing_aside_gets_no_choice():
    data = weather(500, random_state=0)
    assert ConformalHMM(train_size=0.5, symmetry="spaced").fit(*data).choice_ is None
    cp = ConformalHMM().fit(*data)
    assert cp.choice_ is None
    assert cp.symmetry_ == Spaced()
    with pytest.raises(ValueError, match="memory='auto' is chosen by tests of a training stretch"):
        ConformalHMM(memory="auto").fit(*data)
    given = ConformalHMM(train_size=0.5, memory=2, random_state=0).fit(*data)
    assert given.choice_.memory is None
    assert given.memory_ == Order(2)
    assert "the last 2 states" in given.choice_.words
    departing = ConformalHMM(train_size=0.5, memory="auto", symmetry="departures").fit(*data)
    assert departing.choice_.symmetry is None
    assert "symmetry" not in departing.choice_.words


def test_the_labels_that_calibrate_have_no_say():
    """Neither in what is chosen, nor in the draws it is chosen by; and it changes no other draw."""
    observations, states = weather(800, random_state=1)
    first, second = (
        ConformalHMM(train_size=400, memory="auto", random_state=5).fit(
            observations[:length], states[:length]
        )
        for length in (800, 450)
    )
    assert first.choice_ == second.choice_
    assert first.partial_fit(["hat"], ["sun"]).choice_ == second.choice_
    named = ConformalHMM(train_size=400, symmetry="full", memory=1, random_state=5)
    chosen = ConformalHMM(train_size=400, random_state=5)
    new = observations[:2]
    assert chosen.fit(observations, states).symmetry_ == Full()
    ranks = named.fit(observations, states).predict_ranks(new)
    assert chosen.predict_ranks(new) == ranks


def test_too_short_a_stretch_leaves_all_as_it_is():
    data = weather(300, random_state=0)
    cp = ConformalHMM(train_size=0.5, memory="auto").fit(*data)
    assert cp.memory_ == Order(1)
    assert cp.symmetry_ == Spaced()
    assert "150 training steps are fewer than the 200" in cp.choice_.words
    cp = ConformalHMM(train_size=250, memory="auto").fit(None, ["a"] * 300)
    assert "cannot be tested" in cp.choice_.words


def test_a_memory_that_was_chosen_names_its_remedy():
    states = regular(600)
    cp = ConformalHMM(train_size=0.5, memory="auto", random_state=0).fit(None, states)
    with pytest.raises(ValueError, match="use symmetry='departures', or memory=1"):
        cp.set_params(guarantee="steps").predict_set(horizon=3)
    with pytest.raises(ValueError, match="'departures', or 'spaced' with memory=1"):
        cp.set_params(guarantee="all").predict_set(horizon=50)
    with pytest.raises(ValueError, match="use symmetry='departures', or memory=1"):
        cp.predict_set(horizon=3, lag=1)
