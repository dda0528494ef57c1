"""Windows that departed from the present state: chosen as said, and exact by visits."""

import itertools
import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from tests.making import promising

from definetti import HMM, ConformalHMM, LatticeSet, StepSets, given_hmm, load
from definetti.cli.verify import MODELS
from definetti.data.history import Completion, History
from definetti.engine.algorithm import rank
from definetti.exceptions import FewBlocksWarning
from definetti.monitor import Monitor
from definetti.report.page import promise
from definetti.simulate import weather
from definetti.symmetry import Departures, TogetherDepartures
from definetti.symmetry.departures import ForwardChain
from definetti.verify import enumerate_departures

LEVELS = (0.5, 0.75, 0.8)
TRANSITION, EMISSION = [[0.7, 0.3], [0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]]
FIXED = given_hmm(TRANSITION, EMISSION)


def fixed(**settings):
    return ConformalHMM(FIXED, symmetry="departures", random_state=0, **settings)


def drawn(steps, seed=0):
    rng = np.random.default_rng(seed)
    states = [0]
    for _ in range(steps - 1):
        states.append(int(rng.random() < TRANSITION[states[-1]][1]))
    return [int(rng.random() < EMISSION[state][1]) for state in states], states


def naive_ends(states, horizon):
    """As the definition reads: the first visit, then the first one when the window is over."""
    present, ends, free = states[-1], [], 0
    for time, state in enumerate(states):
        if state == present and time >= free and time + horizon <= len(states) - 1:
            free = time + horizon
            ends.append(free)
    return ends[::-1]


@pytest.mark.parametrize("horizon", [1, 2, 3, 7])
def test_windows_are_chosen_forwards_and_do_not_overlap(horizon):
    rng = np.random.default_rng(horizon)
    for _ in range(200):
        states = rng.integers(0, rng.integers(1, 4), rng.integers(1, 30)).tolist()
        chain = ForwardChain(horizon)
        for length in range(1, len(states) + 1):  # extended, and not chosen anew
            wanted = naive_ends(states[:length], horizon)
            for most in (1, 2, 10**6):
                found = chain.latest_ends(np.array(states[:length]), states[length - 1], most)
                assert found.tolist() == wanted[:most]


def test_the_reference_does_not_depend_on_the_candidate():
    history = History(n_states=3)
    history.append(np.array([0, 1, 0, 2, 0, 1, 1, 0]), np.zeros(8, dtype=np.int64))
    seen = set()
    for candidate in itertools.product(range(3), repeat=2):
        completion = Completion(history, np.array(candidate), np.zeros(2, dtype=np.int64), 3)
        reference = Departures().reference(completion, np.random.default_rng)
        seen.add(tuple(reference.ends.tolist()))
    assert seen == {(6, 4, 2)}


# By visits, with a fixed model: m windows from a state, drawn one after the other.


@pytest.mark.slow_cases("10-1-path")
@pytest.mark.parametrize(("departures", "horizon", "score"), [
    (1, 1, "path"), (2, 1, "filter"), (4, 1, "smoother"), (10, 1, "path"), (2, 2, "band"),
    pytest.param(3, 2, "path", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_fixed_model_is_exact_at_the_mth_departure(departures, horizon, score):
    filled = enumerate_departures(fixed(conformity_score=score), 2, 2, departures, horizon)
    plain = filled._replace(predictions=())  # as with allow_empty=True
    smoothed = plain._replace(smoothing=True)
    for name, (_, transition, emission) in MODELS.items():
        law = np.array(transition), np.array(emission)
        assert plain._by_state(plain.probabilities(*law), 2) == pytest.approx(1.0, abs=1e-12)
        for level in LEVELS:
            assert (plain.coverage(*law, level) >= level - 1e-12).all(), name
            assert (plain.missed(*law, level) <= 1 - level + 1e-12).all(), name
            assert smoothed.coverage(*law, level) == pytest.approx(level, abs=1e-9), name
            for one in (filled, filled._replace(smoothing=True)):  # no set is empty
                assert (one.coverage(*law, level) >= level - 1e-9).all(), name
            missed = smoothed.missed(*law, level)
            assert (missed <= 1 - level + 1e-9).all(), name
            if name != "reducible":  # it is sure to come back
                assert missed == pytest.approx(1 - level, abs=1e-9), name


def test_earlier_windows_in_all_their_orders_are_counted_by_one():
    law = np.array(TRANSITION), np.array(EMISSION)
    found = enumerate_departures(fixed(allow_empty=True), 2, 2, 4, 1)
    total = np.zeros(2)
    for i, windows in itertools.product(
        range(2), itertools.product(itertools.product(range(2), range(2)), repeat=4)
    ):
        xs, ys = walk(i, (i, 0), [(one,) for one in windows], {1 - i: []})
        chance = own_rank(fixed(), xs, ys, windows[-1:]).exceeds(Fraction(2, 5))
        weight = np.prod([law[0][i, x] * law[1][x, y] for x, y in windows])
        total[i] += weight * chance
    assert found.coverage(*law, 0.6) == pytest.approx(total, abs=1e-12)


def test_by_the_clock_it_is_off_by_what_the_docstring_says():
    """A chain that stays with probability 0.9, eight labelled steps: 0.762 for 0.8."""
    stay = np.array([[0.9, 0.1], [0.1, 0.9]])
    cp = ConformalHMM(given_hmm(stay, [[1.0], [1.0]]), symmetry="departures", states=[0, 1])
    covered = 0.0
    for states in itertools.product(range(2), repeat=8):
        cp.fit([0] * 8, states)
        for new in range(2):
            weight = 0.5 * np.prod([stay[a, b] for a, b in itertools.pairwise((*states, new))])
            found = own_rank(None, states, None, [(new, 0)], fitted=cp)
            covered += weight * float(found.chance(Fraction(1, 5)))
    assert covered == pytest.approx(0.762, abs=5e-4)


def test_enumeration_refuses_a_model_that_looks_at_more_than_the_windows():
    with pytest.raises(ValueError, match="fixed one, such as given_hmm"):
        enumerate_departures(ConformalHMM(symmetry="departures"), 2, 2, 2, 1)


# A refitted model, class by class: windows in all orders, the cards of other states as they lie.


def walk(present, first, windows, stacks):
    """Follow the cards up to the last departure; where a stack ends, the way leads back."""
    used = dict.fromkeys(stacks, 0)
    path = [first]
    for window in (*windows[:-1], None):
        while path[-1][0] != present:
            state = path[-1][0]
            place, used[state] = used[state], used[state] + 1
            path.append(stacks[state][place] if place < len(stacks[state]) else (present, 0))
        path.extend(window or ())
    states, observations = zip(*path, strict=True)
    return list(states), list(observations)


def own_rank(cp, states, observations, window, fitted=None):
    """Rank one window after a history."""
    fitted = cp.fit(observations, states) if fitted is None else fitted
    task, codes = fitted._ask_about([y for _, y in window], [x for x, _ in window])
    return rank(task, codes[None]).ranks()[0]


def class_coverage(symmetry, shape, classes, conformity_score="path"):
    """Return the smoothed coverage, for a half and for 0.8, of classes drawn from all there are.

    In a class all orders of the windows are alike.
    """
    n, m, departures, horizon, depth = shape
    cp = ConformalHMM(
        HMM(), symmetry=symmetry, conformity_score=conformity_score, states=list(range(n))
    )
    rng = np.random.default_rng(0)
    found, known = [], {}
    for _ in range(classes):
        cards = np.stack([rng.integers(0, n, 99), rng.integers(0, m, 99)], axis=1)
        take = iter([(int(x), int(y)) for x, y in cards])
        present, first = int(rng.integers(n)), next(take)
        windows = [tuple(itertools.islice(take, horizon)) for _ in range(departures)]
        stacks = {s: list(itertools.islice(take, depth)) for s in range(n) if s != present}
        half, most = Fraction(0), Fraction(0)
        orders = list(itertools.permutations(windows))
        for order in orders:
            states, seen = walk(present, first, order, stacks)
            key = (*states, -1, *seen, -1, order[-1])
            if key not in known:
                known[key] = own_rank(cp, states, seen, order[-1])
            half += known[key].chance(Fraction(1, 2)) / len(orders)
            most += known[key].chance(Fraction(1, 5)) / len(orders)
        found.append((half, most))
    return found


# States, symbols, departures, horizon, and the cards of each other state before the way back.
SHAPES = [(2, 1, 3, 1, 3), (2, 2, 3, 1, 2), (3, 2, 3, 1, 2), (2, 2, 3, 2, 2), (3, 1, 3, 2, 2)]
EXACT = (Fraction(1, 2), Fraction(4, 5))


@pytest.mark.parametrize("recent", [None, 1, 2])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_refitted_model_is_exact_in_every_class(shape, recent):
    assert set(class_coverage(Departures(recent=recent), shape, 40)) == {EXACT}


@pytest.mark.slow
@pytest.mark.parametrize("shape", [*SHAPES, (2, 2, 4, 1, 3), (3, 2, 4, 1, 2)], ids=str)
@pytest.mark.parametrize("score", ["path", "filter", "band"])
def test_a_refitted_model_is_exact_in_many_classes(shape, score):
    assert set(class_coverage(Departures(), shape, 400, score)) == {EXACT}


@dataclass(frozen=True)
class LearnsFromAll(Departures):
    """Departures with an estimate from all counts of the completed history."""

    def training_subset(self, completion):
        return None


@pytest.mark.parametrize(("shape", "exact"), [
    ((2, 1, 3, 1, 3), True), ((3, 1, 3, 1, 2), True), ((2, 2, 3, 1, 2), False),
    ((2, 1, 3, 2, 2), False),
])  # fmt: skip
def test_all_counts_are_exact_for_a_plain_chain_at_one_step_only(shape, exact):
    found = class_coverage(LearnsFromAll(), shape, 40)
    assert (set(found) == {EXACT}) is exact


@pytest.mark.parametrize(("symmetry", "coverage"), [
    (LearnsFromAll(), 0.797488), (Departures(), 0.8),
])  # fmt: skip
def test_all_counts_fall_short_at_the_third_visit_to_a_state(symmetry, coverage):
    """A chain that goes back at once, so that there are few histories: all are added up."""
    stay, emission = 0.3, [[0.9, 0.1], [0.4, 0.6]]
    cp = ConformalHMM(HMM(), symmetry=symmetry, states=[0, 1])
    found, cards = 0.0, list(itertools.product(range(2), range(2)))
    for windows in itertools.product(cards, repeat=3):
        back = sum(state for state, _ in windows[:-1])
        for first, *seen in itertools.product(range(2), repeat=1 + back):
            path = walk(0, (0, first), [(one,) for one in windows], {1: [(0, y) for y in seen]})
            weight = np.prod([(1 - stay if x else stay) * emission[x][y] for x, y in windows])
            weight *= np.prod([emission[0][y] for y in (first, *seen)])
            found += weight * float(own_rank(cp, *path, windows[-1:]).chance(Fraction(1, 5)))
    assert found == pytest.approx(coverage, abs=1e-6 if coverage < 0.8 else 1e-9)


def test_a_refitted_model_leaves_few_steps_out():
    """Of the ways back at most one for each end is not learned from."""
    observations, states = drawn(400)
    cp = ConformalHMM(symmetry="departures").fit(observations, states)
    task = cp._task([0], None)
    for last in range(2):
        learned = Departures().training_subset(task.complete_with(last))
        assert 390 <= len(learned) <= 400
        assert (np.diff(learned) > 0).all()


# What "spaced" can do with a fixed model.


@pytest.mark.parametrize("score", ["path", "band", "filter"])
@pytest.mark.parametrize("smoothing", [False, True])
@pytest.mark.parametrize("lag", [0, 2])
def test_a_lattice_is_the_listed_set(score, smoothing, lag):
    y, x = drawn(400, seed=1)
    listed = fixed(conformity_score=score, smoothing=smoothing).fit(y[:390], x[:390])
    lattice = fixed(conformity_score=score, smoothing=smoothing, max_candidates=5).fit(
        y[:390], x[:390]
    )
    for level in (0.6, 0.9):
        s, long = (cp.predict_set(y[390:396], level, lag=lag) for cp in (listed, lattice))
        assert isinstance(long, LatticeSet)
        assert set(s.sequences) == set(itertools.islice(long, 1000))
        assert len(set(long.limits.tolist())) == 1  # one limit, whatever the last state
        for one in itertools.product(range(2), repeat=6 - lag):
            assert long.p_value(one) == s.p_value(one)
        assert long.step_p_values == pytest.approx(s.step_p_values)


@pytest.mark.parametrize("guarantee", ["steps", "errors"])
def test_step_sets_have_one_limit(guarantee):
    y, x = drawn(600, seed=2)
    cp = fixed(guarantee=promising(guarantee, 1), confidence_level=0.8)
    cp.fit(y[:590], x[:590])
    s = cp.predict_set(y[590:])
    assert isinstance(s, StepSets)
    ends = np.array(naive_ends(x[:590], 10))
    steps = np.array([
        [1 - s_.marginals[k, x[end - 9 + k]] for k in range(10)]
        for end in ends
        for s_ in [cp_at(y, x, end - 9)]
    ])  # fmt: skip
    if guarantee == "errors":
        ordered = np.sort(np.sort(steps, axis=1)[:, -2])
        assert s.limit == pytest.approx(ordered[int(np.ceil(0.8 * (len(ends) + 1))) - 1], abs=1e-8)
    else:
        wrong = int(np.floor(10 * (0.2 * (len(ends) + 1) - 1) + 1e-9))
        assert s.limit == pytest.approx(np.sort(steps, axis=None)[-1 - wrong], abs=1e-8)


def cp_at(y, x, begin):
    """The model's probabilities of ten steps after a time, by itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewBlocksWarning)
        cp = ConformalHMM(FIXED, guarantee="steps").fit(y[begin - 1 : begin], x[begin - 1 : begin])
        return cp.predict_set(y[begin : begin + 10])


def test_a_horizon_beyond_what_is_observed():
    y, x = drawn(300, seed=3)
    cp = fixed().fit(y[:290], x[:290])
    s = cp.predict_p(y[290:291], horizon=3)
    ends = np.array(naive_ends(x[:290], 3))
    for one in itertools.product(range(2), repeat=3):
        own = path_score(x[289], one, y[290])
        past = [path_score(x[e - 3], x[e - 2 : e + 1], y[e - 2]) for e in ends]
        as_strange = sum(score >= own - 1e-9 for score in past)
        assert s.p_value(one) == pytest.approx((1 + as_strange) / (1 + len(past)))


def path_score(start, path, symbol):
    """Minus the log-probability of three states of which the first alone is observed."""
    joint = [TRANSITION[start][k] * EMISSION[k][symbol] for k in range(2)]
    p = joint[path[0]] / sum(joint)
    return -np.log(p * TRANSITION[path[0]][path[1]] * TRANSITION[path[1]][path[2]])


@pytest.mark.parametrize("settings", [
    {"horizon": 1}, {"horizon": 3}, {"horizon": 3, "max_candidates": 4},
    {"horizon": 3, "guarantee": "steps"}, {"horizon": 3, "lag": 1}, {"horizon": 1, "refit": True},
], ids=str)  # fmt: skip
def test_rolling_is_as_fitting_afresh(settings):
    """The present state changes from window to window, and each has a past of its own."""
    asked = dict(settings)
    horizon, lag = asked.pop("horizon"), asked.pop("lag", 0)
    model = HMM() if asked.pop("refit", False) else FIXED
    make = {"symmetry": "departures", "random_state": 0, "confidence_level": 0.6, **asked}
    y, x = drawn(160, seed=4)
    rolled = ConformalHMM(model, **make).fit(y[:100], x[:100])
    presents = set()
    for begin in range(100, 154, horizon):
        presents.add(x[begin - 1])
        fresh = ConformalHMM(model, **make).fit(y[:begin], x[:begin])
        new = y[begin : begin + horizon]
        assert rolled.predict_set(new, lag=lag) == fresh.predict_set(new, lag=lag)
        if "guarantee" not in settings:
            truth = x[begin + lag : begin + horizon]
            assert rolled.p_value(new, truth, lag=lag) == fresh.p_value(new, truth, lag=lag)
        rolled.partial_fit(new, x[begin : begin + horizon])
    assert presents == {0, 1}


def test_labels_never_seen_have_the_p_value_of_something_never_seen():
    y, x = drawn(200, seed=5)
    cp = ConformalHMM(symmetry="departures", train_size=100).fit(y, x)
    number = len(naive_ends(x[100:], 1))
    assert cp.p_value([0], ["never"]) == 1 / (number + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no last state is too rare to be left out
        assert len(cp.predict_set([0], 0.6)) < 2


# What is said.


def test_the_sets_say_given_what_they_promise():
    y, x = drawn(300, seed=6)
    words = "given the present state, averaged over its visits"
    for settings in ({}, {"max_candidates": 2}, {"guarantee": "steps"}, {"guarantee": "errors"}):
        s = fixed(**settings).fit(y[:290], x[:290]).predict_set(y[290:292])
        assert s.given == "present state"
        assert words in repr(s)
        usual = ConformalHMM(FIXED, **settings).fit(y[:290], x[:290]).predict_set(y[290:292])
        assert usual.given == "last state"
        assert words not in repr(usual)


@pytest.mark.parametrize("memory", [2, "age", "observation"])
def test_sets_with_a_memory_are_conditional_on_the_state_with_its_memory(memory):
    y, x = drawn(300, seed=6)
    words = "given the present state with its memory, averaged over its visits"
    for settings in ({}, {"max_candidates": 2}, {"guarantee": "steps"}, {"guarantee": "errors"}):
        cp = fixed(memory=memory, **settings).fit(y[:290], x[:290])
        s = cp.predict_set(y[290:292])
        assert s.given == "present state with its memory"
        assert words in repr(s)
    assert words in repr(cp.set_params(guarantee="all").predict_sets([y[290:292]]))
    promise = "exact by visits to the present state with its memory, if the law stays as it is"
    assert Monitor(cp).promise == promise


def test_the_report_says_given_what_it_promises():
    said = promise(0.9, 1, "all", 0, True, "present state")
    assert said.startswith(
        "Given the present state, averaged over its visits: on average, at least"
    )
    assert "No guarantee" in promise(0.9, 1, "all", 0, False, "present state")


@pytest.mark.parametrize("settings", [{}, {"max_candidates": 2}, {"guarantee": "steps"}], ids=str)
def test_too_few_departures_are_told_with_the_state(settings):
    observations, states = ["dry"] * 41, ["sun", "sun", "rain", "sun"] * 10 + ["snow"]
    cp = ConformalHMM(symmetry="departures", train_size=20, states=["sun", "rain", "snow"],
                      **settings).fit(observations, states)  # fmt: skip
    told = r"present state 'snow' was left 0 times of the 9 that it takes; merge"
    with pytest.warns(FewBlocksWarning, match=told):
        s = cp.predict_set(["dry"] * 2)
    assert s.nodes.all()


def test_a_rare_last_state_is_sent_to_departures():
    observations, states = ["dry"] * 80, (["sun", "sun", "rain", "rain"] * 20)
    states[70] = "snow"
    cp = ConformalHMM(train_size=20, max_candidates=2).fit(observations, states)
    with pytest.warns(FewBlocksWarning, match=r"'snow' has 0 of the 9 .*symmetry='departures'"):
        cp.predict_set(["dry"] * 2)


# Bad input.


@pytest.mark.parametrize(("asked", "told"), [
    ({"lag": 1}, "lag=1 is exact with a fixed model and symmetry='spaced' or 'departures'"),
    ({"horizon": 4}, "reaches beyond the 2 new_observations, which is exact with a fixed model"),
])  # fmt: skip
def test_a_refitted_model_cannot_do_all(asked, told):
    y, x = weather(100, random_state=0)
    cp = ConformalHMM(symmetry="departures").fit(y[:98], x[:98])
    with pytest.raises(ValueError, match=told):
        cp.predict_set(y[98:], **asked)


def test_steps_need_a_fixed_model():
    y, x = weather(100, random_state=0)
    cp = ConformalHMM(symmetry="departures", guarantee="steps").fit(y[:98], x[:98])
    with pytest.raises(ValueError, match="'departures' only; set train_size to a number of rows"):
        cp.predict_set(y[98:])


def test_an_unknown_name_is_told_with_those_there_are():
    with pytest.raises(ValueError, match="'departures'"):
        ConformalHMM(symmetry="departure").fit(["a"], ["b"])


@dataclass(frozen=True)
class Refusing(Departures):
    """Departures that can do nothing with a history of fewer than 50 steps."""

    def check(self, history):
        if len(history) < 50:
            raise ValueError(f"a history of {len(history)} steps is too short")


@pytest.mark.parametrize("memory", [1, 2])
def test_fit_calls_the_check_of_a_symmetry(memory):
    y, x = drawn(60)
    cp = ConformalHMM(symmetry=Refusing(), memory=memory)
    cp.fit(y, x)
    with pytest.raises(ValueError, match="a history of 49 steps is too short"):
        cp.fit(y[:49], x[:49])


@pytest.mark.parametrize("memory", [1, 2])
@pytest.mark.parametrize(("begins", "owners"), [
    ((0, 10**9), (0, 1)), ((0, 30, 20), (0, 1, 2)), ((0, 30), (0,)), ((5,), (0,)),
    ((0.0, 7.5), (0, 1)),
])  # fmt: skip
def test_fit_refuses_series_that_do_not_cut_the_history(begins, owners, memory):
    y, x = drawn(60)
    cp = ConformalHMM(FIXED, symmetry=TogetherDepartures(begins, owners), memory=memory)
    with pytest.raises(ValueError, match="begins does not cut a history of 60 steps"):
        cp.fit(y, x)


def test_load_refuses_series_that_do_not_cut_the_history(tmp_path):
    y, x = drawn(60)
    cp = ConformalHMM(FIXED, symmetry=TogetherDepartures((0, 30), (0, 1))).fit(y, x)
    cp.save(tmp_path / "sound.definetti")
    assert load(tmp_path / "sound.definetti").p_value([0], [0]) == cp.p_value([0], [0])
    cp._remembering = TogetherDepartures((0, 10**9), (0, 1))
    cp.save(tmp_path / "broken.definetti")
    with pytest.raises(ValueError, match="begins does not cut a history of 60 steps"):
        load(tmp_path / "broken.definetti")


def test_several_series_need_a_fixed_model_and_states_alone():
    y, x = drawn(60)
    together = TogetherDepartures((0, 30), (0, 1))
    with pytest.raises(ValueError, match="TogetherDepartures needs a fixed model"):
        ConformalHMM(HMM(), symmetry=together).fit(y, x).p_value([0], [0])
    with pytest.raises(ValueError, match="depend on the present state alone; use memory=1"):
        ConformalHMM(FIXED, symmetry=together, memory=2).fit(y, x).p_value([0], [0])
