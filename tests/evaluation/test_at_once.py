"""All windows in one pass, and one by one: the same answers to the last bit."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from definetti import HMM, ConformalHMM
from definetti.emissions import Classifier, Emission
from definetti.engine.step_counts import find_step_score
from definetti.evaluation.backtest import run_backtest
from definetti.evaluation.window_loop import roll_at_once, roll_levels
from definetti.exceptions import FewBlocksWarning, GapWarning
from definetti.experiments import Classical
from definetti.memory import Memory
from definetti.scores import Path, Score
from definetti.simulate import weather
from definetti.symmetry import Spaced, Symmetry

LENGTH, KNOWN = 74, 44
LEVELS = {
    "own": ([None], False),
    "several": ([0.3, 0.6, 0.9], False),
    "by state": ([{"a": 0.5, None: 0.8}], False),
    "p-values": ([0.3, 0.6, 0.9], True),
}
rng = np.random.default_rng(5)
MOVES = np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.2, 0.4, 0.4]])
CODES = [0]
for _ in range(LENGTH - 1):
    CODES.append(int(rng.choice(3, p=MOVES[CODES[-1]])))
STATES = ["abc"[code] for code in CODES]
SYMBOLS = [int(c if rng.random() < 0.6 else rng.integers(0, 3)) for c in CODES]
NUMBERS = [float(c + rng.normal()) for c in CODES]
OBSERVED = {
    "symbols": SYMBOLS,
    "text": [f"word {code}" for code in SYMBOLS],
    "numbers": NUMBERS,
    "gaps": [None if k % 13 == 6 else code for k, code in enumerate(SYMBOLS)],
    "late symbols": [9 if k in (52, 60) else code for k, code in enumerate(SYMBOLS)],
    "nothing": None,
}


def rolled(cp, observations, states, horizon, levels="own", **how):
    """Both ways, once it is known that there are two."""
    asked, by_p_values = LEVELS[levels]
    how = {"lag": 0, "observed": None, "by_p_values": by_p_values, **how}
    segment = (None if observations is None else observations[KNOWN:]), states[KNOWN:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cp.fit(None if observations is None else observations[:KNOWN], states[:KNOWN])
        return (
            roll_at_once(cp, *segment, asked, horizon, **how),
            roll_levels(cp, *segment, asked, horizon, at_once=False, **how),
        )


def check_same(at_once, one_by_one):
    assert at_once is not None
    for name, mine, theirs in zip(at_once._fields, at_once, one_by_one, strict=True):
        if isinstance(theirs, np.ndarray):
            assert mine.dtype == theirs.dtype, name
            np.testing.assert_array_equal(mine, theirs, err_msg=name)
        else:
            assert mine == theirs, name


def some(settings, number):
    """Some of the settings for the fast tests, five times as many for the slow ones."""
    settings = list(settings)
    settings = random.Random(1).sample(settings, min(5 * number, len(settings)))
    chosen = range(number)
    return [
        pytest.param(*one, marks=() if k in chosen else pytest.mark.slow)
        for k, one in enumerate(settings)
    ]


FIXED = product(
    ("spaced", "departures"),
    sorted(Score.named),
    ("gaps", "numbers", "nothing", "late symbols"),
    (1, 2, 3),
    ((False, False), (True, True), (True, False)),  # smoothing, allow_empty
    ("own", "p-values"),
)


@pytest.mark.parametrize(
    ("symmetry", "score", "seen", "horizon", "ties", "levels"), some(FIXED, 24)
)
def test_a_fixed_model(symmetry, score, seen, horizon, ties, levels):
    smoothing, allow_empty = ties
    cp = ConformalHMM(
        conformity_score=score, symmetry=symmetry, train_size=13, smoothing=smoothing,
        random_state=1,
        allow_empty=allow_empty, confidence_level=0.6,
    )  # fmt: skip
    check_same(*rolled(cp, OBSERVED[seen], STATES, horizon, levels))


@pytest.mark.parametrize("seen", ["symbols", "numbers"])
@pytest.mark.parametrize("levels", ["several", "p-values"])
def test_pieces_make_no_difference(monkeypatch, seen, levels):
    cp = ConformalHMM(symmetry="spaced", train_size=13, smoothing=True, random_state=1)
    whole, _ = rolled(cp, OBSERVED[seen], STATES, 2, levels)
    for name in ("CANDIDATES", "ROWS"):
        monkeypatch.setattr(f"definetti.engine.past.{name}", 30)  # three windows, or a few steps
        check_same(*(roll_again(cp, seen, 2, levels), whole))


def roll_again(cp, seen, horizon, levels):
    asked, by_p_values = LEVELS[levels]
    return roll_at_once(
        cp, OBSERVED[seen][KNOWN:], STATES[KNOWN:], asked, horizon, lag=0, observed=None,
        by_p_values=by_p_values,
    )  # fmt: skip


CLASSICAL = product(
    ("path", "filter"),
    ("gaps", "numbers", "nothing", "late symbols"),
    (1, 2, 3),
    ("own", "several", "p-values"),
)


@pytest.mark.parametrize(("score", "seen", "horizon", "levels"), some(CLASSICAL, 8))
def test_the_classical_way(score, seen, horizon, levels):
    them = Classical(conformity_score=score, train_size=13, confidence_level=0.6, random_state=1)
    check_same(*rolled(them, OBSERVED[seen], STATES, horizon, levels))


def test_a_state_that_the_classical_way_never_saw():
    late = [*STATES[:60], "new", *STATES[61:]]
    check_same(*rolled(Classical(train_size=13), SYMBOLS, late, 2))


def test_what_derives_from_the_classical_way_is_asked_window_by_window():
    class Other(Classical):
        pass

    for them in (Other(train_size=13), Classical(train_size=0.3, stride=2)):
        at_once, one_by_one = rolled(them, SYMBOLS, STATES, 1)
        assert at_once is None
        assert len(one_by_one.covers) == LENGTH - KNOWN


REFITTED = product(
    ("spaced", "full"),
    [name for name in sorted(Score.named) if find_step_score(Score.named[name]())],
    ("symbols", "text", "gaps", "late symbols", "nothing"),
    ((False, False), (True, True), (False, True)),
    ("own", "several", "p-values"),
)


@pytest.mark.parametrize(("symmetry", "score", "seen", "ties", "levels"), some(REFITTED, 16))
def test_a_refitted_model_one_step_ahead(symmetry, score, seen, ties, levels):
    smoothing, allow_empty = ties
    cp = ConformalHMM(
        conformity_score=score, symmetry=symmetry, smoothing=smoothing, allow_empty=allow_empty,
        confidence_level=0.5, random_state=2,
    )  # fmt: skip
    check_same(*rolled(cp, OBSERVED[seen], STATES, 1, levels))


MEMORIES = product(("spaced", "departures"), [2, *sorted(Memory.named)], (1, 2), tuple(LEVELS))


@pytest.mark.parametrize(("symmetry", "memory", "horizon", "levels"), some(MEMORIES, 10))
def test_memories(symmetry, memory, horizon, levels):
    if memory == "order":
        memory = 3
    cp = ConformalHMM(
        symmetry=symmetry, memory=memory, train_size=13, smoothing=True, random_state=4
    )
    check_same(*rolled(cp, SYMBOLS, STATES, horizon, levels))


LATE = dict.fromkeys((50, 61, 62), "new") | {57: "newer"}
FIXED_SPACED = {"train_size": 13, "symmetry": "spaced"}
NEW_STATES = product(
    (FIXED_SPACED, {"train_size": 13, "symmetry": "departures"}, {}, {"symmetry": "full"}),
    ((1, 0), (2, 0), (3, 1)),
    ("own", "several", "p-values"),
)


@pytest.mark.parametrize(("how", "steps", "levels"), some(NEW_STATES, 8))
def test_states_that_come_up_on_the_way(how, steps, levels):
    horizon, lag = steps
    if "train_size" not in how and horizon > 1:
        pytest.skip("one step ahead only")
    states = [LATE.get(k, state) for k, state in enumerate(STATES)]
    cp = ConformalHMM(random_state=0, smoothing=True, confidence_level=0.6, **how)
    check_same(*rolled(cp, OBSERVED["gaps"], states, horizon, levels, lag=lag))


@pytest.mark.parametrize("observed", [0, 1])
@pytest.mark.parametrize("symmetry", ["spaced", "departures"])
def test_steps_that_are_not_observed_yet(symmetry, observed):
    cp = ConformalHMM(symmetry=symmetry, train_size=13, smoothing=True, random_state=1)
    check_same(*rolled(cp, SYMBOLS, STATES, 3, "p-values", observed=observed))


def test_segments_and_levels_by_state():
    for how in ({}, FIXED_SPACED, {"symmetry": "full"}):
        cp = ConformalHMM(random_state=1, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cp.fit(SYMBOLS[:KNOWN], STATES[:KNOWN], lengths=[20, KNOWN - 20])
            segment = cp, SYMBOLS[KNOWN:], STATES[KNOWN:], [{"a": 0.5, None: 0.9}], 1
            found = [roll_levels(*segment, at_once=way) for way in (True, False)]
        check_same(*found)


EMISSIONS = [name for name, one in Emission.named.items() if one.example and not one.ordered]


@pytest.mark.parametrize("name", EMISSIONS)
def test_emissions_that_are_fixed(name):
    example = Emission.named[name].example
    seen = [example[code % len(example)] for code in CODES]
    cp = ConformalHMM(
        HMM(emission=name), symmetry="spaced", train_size=0.5, smoothing=True, random_state=0
    )
    check_same(*rolled(cp, seen, STATES, 2))


def test_predictors_trained_elsewhere_are_asked_about_all_windows_at_once():
    calls = []

    def guess(start, windows):
        calls.append(len(windows))
        found = np.full((*windows.shape[:2], 3), 0.2)
        found[..., 1] = 0.6
        return found

    cp = ConformalHMM(guess, states=["a", "b", "c"], symmetry="departures", random_state=0)
    at_once, alone = rolled(cp, SYMBOLS, STATES, 1)
    check_same(at_once, alone)
    calls.clear()
    cp.evaluate(SYMBOLS[KNOWN:], STATES[KNOWN:], horizon=1)
    assert len(calls) == 2  # the past, and all candidates
    forest = HMM(emission=Classifier(GaussianNB()))
    seen = np.array(NUMBERS)[:, None]
    check_same(*rolled(ConformalHMM(forest, symmetry="spaced", train_size=0.4), seen, STATES, 2))


@pytest.mark.parametrize("name", sorted(Symmetry.named))
def test_what_it_does_not_know_is_left_to_the_slow_way(name):
    how = {"train_size": 13} if name in ("full", "returns", "pairs") else {}
    cp = ConformalHMM(symmetry=name, random_state=0, **how)
    at_once, alone = rolled(cp, SYMBOLS, STATES, 2)
    assert at_once is None
    assert len(alone.covers) == (LENGTH - KNOWN) // 2


class Doubled(Path):
    def __call__(self, estimate, windows):
        return 2.0 * super().__call__(estimate, windows)


class Fewer(Spaced):
    def reference(self, completion, generator):
        found = super().reference(completion, generator)
        return found._replace(ends=found.ends[:3], weights=found.weights[:3])


class Flat(HMM):
    def estimate(self, completion, table, statistics, labels):
        found = super().estimate(completion, table, statistics, labels)
        flat = np.full_like(found.transition, 1 / len(labels))
        return replace(found, transition=flat)


@pytest.mark.parametrize(
    "how",
    [
        {"conformity_score": Doubled()},
        {"symmetry": Fewer()},
        {"symmetry": Fewer(), "train_size": 13},
        {"model": Flat()},
        {"model": HMM(prior=0)},
        {"guarantee": "steps", "train_size": 13},
        {"max_candidates": 2, "train_size": 13},
    ],
)
def test_what_is_derived_is_not_taken_for_what_it_derives_from(how):
    at_once, _ = rolled(ConformalHMM(random_state=0, **how), SYMBOLS, STATES, 1)
    assert at_once is None


def test_a_law_that_may_change_on_the_way_is_left_to_the_slow_way():
    seen = [*SYMBOLS[:60], *NUMBERS[60:]]
    assert rolled(ConformalHMM(random_state=0), seen, STATES, 1)[0] is None
    words = [f"{code} {k if k > 40 else 0}" for k, code in enumerate(SYMBOLS)]
    cp = ConformalHMM(HMM(emission="text"), random_state=0)
    assert rolled(cp, words, STATES, 1)[0] is not None  # too few to be words
    assert rolled(cp, [f"{word} {k}" for k, word in enumerate(words)], STATES, 1)[0] is None


def test_it_warns_of_what_the_slow_way_warns_of():
    cp = ConformalHMM(symmetry="spaced", train_size=0.5, confidence_level=0.97).fit(
        *weather(60, random_state=0)
    )
    y, x = weather(12, random_state=1)
    for way in (True, False):
        with pytest.warns(FewBlocksWarning, match="too few blocks of 1 steps"):
            roll_levels(cp, y, x, [None], 1, at_once=way)
    cp = ConformalHMM(symmetry="spaced", train_size=0.5, confidence_level=0.6).fit(
        *weather(60, random_state=0)
    )
    y[5] = None
    for way in (True, False):
        with pytest.warns(GapWarning):
            roll_levels(cp, y, x, [None], 1, at_once=way)


def test_errors_come_where_they_come_one_by_one():
    cp = ConformalHMM(symmetry="spaced", train_size=0.5).fit(*weather(60, random_state=0))
    y, x = weather(12, random_state=1)
    x[7] = 3
    heard = []
    for way in (True, False):
        with pytest.raises(TypeError, match="states") as error:
            roll_levels(cp, y, x, [None], 1, at_once=way)
        heard.append(str(error.value))
    assert heard[0] == heard[1]


def test_a_backtest_has_the_same_numbers(monkeypatch):
    y, x = weather(90, random_state=3)
    cp = ConformalHMM(random_state=0, smoothing=True)
    levels = [0.5, 0.9]
    quick = run_backtest(cp, y, x, levels=levels).methods["definetti"]
    monkeypatch.setattr("definetti.evaluation.window_loop.roll_at_once", lambda *_, **__: None)
    check_same(quick, run_backtest(cp, y, x, levels=levels).methods["definetti"])
