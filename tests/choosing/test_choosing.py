"""What is chosen by the training stretch, and that coverage over the choice is the level."""

import warnings
from fractions import Fraction
from itertools import product
from math import fsum

import numpy as np
import pytest

from definetti import HMM, ConformalHMM, choosing
from definetti.algorithm import rank
from definetti.exceptions import SpareMemoryWarning
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
    least = {Observation(): "'observation'", Age(7): "Age(most=7)"}.get(memory) or memory.k
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

    def chosen(data, *how):
        key = data.training.states.tobytes(), data.training.observations.tobytes()
        if key not in known:
            known[key] = choose(data, *how)
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


@pytest.mark.parametrize("states", [list(range(300)), list("abc" * 100), list("aabb" * 75)])
def test_what_cannot_be_told_speaks_for_nothing(states):
    """Of such a path there is one rearrangement only, so that no test can fail."""
    memory = "auto" if states[0] == states[1] else 1
    cp = ConformalHMM(train_size=250, memory=memory, random_state=0, states=sorted(set(states)))
    choice = cp.fit(None, states).choice_
    assert not choice.diagnosis.told
    assert choice.symmetry == "spaced"
    assert "nothing in the 250 training steps could speak against it" in choice.words
    assert memory == 1 or choice.memory == Order(2)


def ask_beyond(cp, seen):
    """Ask what tokens of steps cannot answer."""
    return {
        "long": cp.predict_set(seen[:20]),
        "forecast": cp.predict_set(horizon=40),
        "lag": cp.predict_set(seen[:3], lag=1),
        "partly": cp.predict_set(seen[:2], horizon=3),
        "steps": cp.set_params(guarantee="steps").predict_set(seen[:3]),
        "errors": cp.set_params(guarantee="errors", max_errors=1).predict_set(seen[:3]),
    }


@pytest.mark.parametrize("name", ["order two", "regular", "feedback"])
def test_where_a_memory_that_was_chosen_cannot_be_used_the_state_stands_in(name):
    """With the sets of one who had named the state; the set says so, and a warning."""
    seen, states = trained(name, 600)
    length = len(states)
    auto = ConformalHMM(train_size=0.5, memory="auto", max_candidates=5000, random_state=0)
    auto.fit(seen, states)
    assert auto.memory_ == CHOSEN[name][0] or name == "regular"
    assert length >= 600
    plain = ConformalHMM(train_size=0.5, symmetry="spaced", max_candidates=5000, random_state=0)
    with pytest.warns(SpareMemoryWarning, match="the tests chose a future that depends on"):
        found = ask_beyond(auto, list(seen))
    for how, one in ask_beyond(plain.fit(seen, states), list(seen)).items():
        assert found[how].steps == one.steps, how
        assert f"and not on {auto.memory_.assumption}" in found[how].method
    auto.set_params(guarantee="all", max_errors=0)
    assert auto.memory_.assumption in auto.predict_set(list(seen[:2])).method
    assert "not on" not in auto.predict_set(list(seen[:2])).method
    path = tuple(found["long"].best)
    with pytest.warns(SpareMemoryWarning):
        p_value = auto.p_value(list(seen[:20]), path)
    assert (p_value > 0.1) == (path in found["long"])


@pytest.mark.filterwarnings("ignore::definetti.exceptions.GapWarning")
@pytest.mark.filterwarnings("ignore::definetti.exceptions.SpareMemoryWarning")
def test_what_is_not_observed_is_no_refusal_of_a_memory_that_was_chosen():
    seen, states = trained("feedback", 300)
    gappy = [None if k == 900 else symbol for k, symbol in enumerate(seen.tolist())]
    how = {"train_size": 600, "random_state": 0}
    plain = ConformalHMM(symmetry="spaced", **how).fit(gappy, states)
    whole = ConformalHMM(memory="auto", **how).fit(seen, states)
    later = ConformalHMM(memory="auto", **how).fit(seen[:900], states[:900])
    later.partial_fit(gappy[900:], states[900:])
    first = ConformalHMM(memory="auto", **how).fit(gappy, states)
    for cp in (first, later):
        found = cp.predict_set([1, 0])
        assert "not on" in found.method
        assert found.sequences == plain.predict_set([1, 0]).sequences
    assert "not on" in whole.predict_set([1, None]).method
    assert "not on" not in whole.predict_set([1, 0]).method
    cp = ConformalHMM(memory="auto", **how).fit(seen[:890], states[:890])
    judged = cp.evaluate(gappy[890:920], states[890:920], horizon=1)
    one_by_one = []
    for symbol, state in zip(gappy[890:920], states[890:920], strict=True):
        one_by_one.append(cp.p_value([symbol], [state]))
        cp.partial_fit([symbol], [state])
    assert judged.p_values.tolist() == one_by_one


@pytest.mark.parametrize("guarantee", ["steps", "errors"])
def test_a_guarantee_leaves_the_choice_that_it_can_use(guarantee):
    states = regular(600)
    how = {"train_size": 0.5, "memory": "auto", "guarantee": guarantee, "random_state": 0}
    cp = ConformalHMM(**how).fit(None, states)
    assert (cp.memory_, cp.choice_.symmetry, cp.symmetry_) == (Order(1), "spaced", Spaced())
    assert cp.choice_.words.startswith(
        f"memory=1 and symmetry='spaced': guarantee={guarantee!r} can use no other; in the 300 "
    )
    assert "with symmetry='departures' another memory can be used" in cp.choice_.words
    assert len(cp.predict_set(horizon=3).steps) == 3
    departing = ConformalHMM(symmetry="departures", **how).fit(None, states)
    assert isinstance(departing.memory_, Age)
    assert len(departing.predict_set(horizon=3).steps) == 3


def test_coverage_where_the_state_stands_in_is_the_level(once):
    """A forecast of two steps where the present observation would have a say, enumerated."""
    seen, states = trained("feedback")
    found = []
    for path in product((0, 1), repeat=5):
        for symbols in product((0, 1), repeat=3):
            cp = ConformalHMM(train_size=len(states), memory="auto", states=[0, 1], random_state=0)
            cp.fit([*seen, *symbols], [*states, *path[:3]])
            with pytest.warns(SpareMemoryWarning):
                rank = cp.predict_ranks(horizon=2)[path[3:]]
            weight = probability(path, [*symbols, 0, 0], int(states[-1]), SHOWN)
            weight /= SHOWN[path[3], 0] * SHOWN[path[4], 0]
            found.append((rank, weight))
    assert_level(found)
    assert cp.memory_ == Observation()


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"symmetry": "full", "train_size": 0.5}, "use symmetry='spaced', or 'departures'"),
        ({"memory": 2, "train_size": 0.5}, "use symmetry='departures', or memory=1"),
        (
            {"symmetry": "full", "memory": 2, "train_size": 0.5},
            "use symmetry='departures', or 'spaced' with memory=1",
        ),
        ({}, "set train_size=0.5"),
        ({"symmetry": "full"}, "set train_size=0.5 and use symmetry='spaced', or 'departures'"),
    ],
)
def test_a_refusal_advises_nothing_that_is_done(settings, remedy):
    observations, states = weather(300, random_state=0)
    cp = ConformalHMM(HMM(), max_candidates=50, **settings).fit(observations[:280], states[:280])
    new = observations[280:]
    for ask in (
        lambda: cp.predict_set(new[:2], lag=1),
        lambda: cp.predict_set(new[:2], horizon=3),
        lambda: cp.predict_set(new),
        lambda: cp.predict_ranks(new),
        lambda: cp.predict_set(horizon=30),
        lambda: cp.set_params(guarantee="steps").predict_set(new[:3]),
    ):
        with pytest.raises(ValueError, match=f"; {remedy},") as refused:
            ask()
        if "train_size" in settings:
            assert "train_size" not in str(refused.value)


def test_a_forecast_by_what_is_observed_is_refused_with_what_is_left_to_do():
    observations, states = weather(300, random_state=0)
    cp = ConformalHMM(memory="observation", train_size=0.5).fit(observations, states)
    with pytest.raises(ValueError, match="; use symmetry='departures', so that the present"):
        cp.predict_set(horizon=2)
    cp = ConformalHMM(memory="observation", symmetry="departures").fit(observations, states)
    with pytest.raises(ValueError, match=r"; set train_size=0\.5, so that the present"):
        cp.predict_set(horizon=2)


THREE = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.1, 0.6]])


@pytest.mark.parametrize(
    ("name", "few", "ways"),
    [
        ("a hidden Markov model", 4, {("full", ""), ("spaced", "")}),
        ("order two", 100, {("full", ""), ("spaced", "the last 2 states")}),
    ],
)
def test_coverage_where_states_that_nobody_declared_decide_what_is_used(
    once, monkeypatch, name, few, ways
):
    """What is used goes by the states of the completed sequence, which rearrangements share."""
    monkeypatch.setattr("definetti.conformal._choice.FEW", few)
    states, level = trained(name)[1], Fraction(4, 5)
    most = 4 if few > 4 else 1000  # with three states there are nine candidates
    cp = ConformalHMM(
        train_size=len(states), memory="auto", smoothing=True, max_candidates=most, random_state=0
    )
    covered, all_, used = np.zeros(3), np.zeros(3), set()
    for past in product(range(3), repeat=3):
        cp.fit(None, [*states, *past])
        for new in product(range(3), repeat=2):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SpareMemoryWarning)
                question, codes = cp._ask_about(None, new)
            used.add((question.symmetry.known_as, question.unused))
            chance = rank(question, codes[None])[0][0].chance(1 - level)
            x = np.array([states[-1], *past, *new])
            probability = THREE[x[:-1], x[1:]].prod()
            covered[x[-1]] += probability * float(chance)
            all_[x[-1]] += probability
    assert used == ways
    np.testing.assert_allclose(covered / all_, float(level), rtol=0, atol=1e-12)
