"""What is promised for many series, by adding up the probability of all pairs of sequences."""

import copy
import itertools
from math import fsum

import numpy as np
import pytest
from tests.making import grouped

from definetti import ConformalHMM, given_hmm
from definetti.conformal import SeriesMode
from definetti.data.series import read_series
from definetti.engine import Rank
from definetti.engine.past import find_chains
from definetti.engine.pvalues import miscoverage
from definetti.levels.by_state import chances_by_state
from definetti.symmetry import Departures, TogetherDepartures
from definetti.verify.by_visit import connect_windows

LEVELS = (0.5, 0.8, 0.9)
INITIAL = np.array([0.3, 0.7])
TRANSITION = np.array([[0.8, 0.2], [0.45, 0.55]])
EMISSION = np.array([[0.7, 0.3], [0.25, 0.75]])
MODEL = given_hmm(TRANSITION, EMISSION)
STEPS = list(itertools.product(range(2), repeat=2))


def law(path, initial=INITIAL, transition=TRANSITION, emission=EMISSION):
    """The probability of states and symbols."""
    x = [state for state, _ in path]
    moves = [transition[a, b] for a, b in itertools.pairwise(x)]
    return initial[x[0]] * np.prod(moves) * np.prod([emission[a, b] for a, b in path])


def paths(length):
    return list(itertools.product(STEPS, repeat=length))


def fitted(series, *histories, **how):
    """Fit several histories, each a series by its number."""
    cp = grouped(
        series=series, smoothing=True, allow_empty=True, states=[0, 1], random_state=0, **how
    )
    rows = [(k, *step) for k, path in enumerate(histories) for step in path]
    groups, x, y = zip(*rows, strict=True)
    return cp.fit(list(y), list(x), groups=list(groups))


def covered(cp, history, horizon):
    """Yield every completion of a history, with the chances that its states are in the sets."""
    for new in itertools.product(range(2), repeat=horizon):
        for states, rank in cp.predict_ranks(list(new)).items():
            chances = [
                chances_by_state([rank], np.array([0]), level, True, ())[0] for level in LEVELS
            ]
            yield (*history, *zip(states, new, strict=True)), np.array(chances)


def assert_exact(parts, total=1.0):
    """What is covered, by level, is the level."""
    found = [fsum(column) / total for column in zip(*parts, strict=True)]
    assert found == pytest.approx(LEVELS, abs=1e-9)


@pytest.mark.slow_cases("others-full-1-some2", "others-spaced-1-some1")
@pytest.mark.parametrize(
    ("series", "symmetry", "horizon", "some"),
    [
        ("own", "spaced", 1, slice(5, None, 9)),
        ("others", "spaced", 1, slice(1, None, 5)),
        ("others", "full", 1, slice(3, None, 9)),
        pytest.param("own", "full", 2, slice(None), marks=pytest.mark.slow),
        pytest.param("others", "spaced", 1, slice(None), marks=pytest.mark.slow),
        pytest.param("others", "returns", 2, slice(None), marks=pytest.mark.slow),
    ],
)
def test_each_series_by_its_own_history_is_exact_whatever_the_other_is(
    series, symmetry, horizon, some
):
    """Given every single sequence of the other series, the smoothed coverage is the level."""
    for other in paths(2)[some]:
        held, total = [], []
        for history in paths(3 if horizon == 1 else 2):
            cp = fitted(series, other, history, symmetry=symmetry).estimators_[1]
            for whole, chances in covered(cp, history, horizon):
                held.append(law(whole) * chances)
                total.append(law(whole))
        assert fsum(total) == pytest.approx(1, abs=1e-12)
        assert_exact(held)


@pytest.mark.parametrize("horizon", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_first_windows_of_others_are_exact_given_the_present_at_any_time(horizon):
    """Pairs of sequences of one law, each with a first state of its own law."""
    start = np.array([0.9, 0.1])
    held, total = ([], []), ([], [])
    for other in paths(3 if horizon > 1 else 2):
        weight = law(other, start)
        for history in paths(2):
            cp = fitted("first", other, history, model=MODEL).estimators_[1]
            present = history[-1][0]
            for whole, chances in covered(cp, history, horizon):
                held[present].append(weight * law(whole) * chances)
            total[present].append(weight * law(history))
    assert_exact(held[0], fsum(total[0]))
    assert_exact(held[1], fsum(total[1]))


@pytest.mark.parametrize("present", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_all_windows_are_exact_counted_by_visits_over_all_series(present):
    """The third window that departs from a state, whether the other series has two, one or none.

    The own series goes on until it comes; between its windows a fixed model looks at nothing.
    """
    held, total = [], []
    leave = TRANSITION[present, :, None] * EMISSION  # of a state and its symbol
    for other in paths(3):
        there = sum(x == present for x, _ in other[:-1])
        for own in itertools.product(STEPS, repeat=2 - there):
            weight = law(other) * np.prod([leave[step] for step in own])
            y, x = connect_windows(present, tuple((step,) for step in own))
            history = tuple(zip(x, y, strict=True))
            cp = fitted("all", other, history, model=MODEL).estimators_[1]
            total.append(weight)
            for whole, chances in covered(cp, history, 1):
                held.append(weight * leave[whole[-1]] * chances)
    assert fsum(total) == pytest.approx(1, abs=1e-12)
    assert_exact(held)


@pytest.mark.parametrize(
    ("length", "trained"),
    [
        (2, ((0, 1), (1, 0), (0, 0))),
        pytest.param(3, ((1, 1), (1, 1), (0, 0), (0, 1)), marks=pytest.mark.slow),
        pytest.param(3, ((0, 0), (1, 1), (1, 0)), marks=pytest.mark.slow),
    ],
)
def test_all_is_exact_by_visits_for_a_series_that_trained_the_model(length, trained):
    """The last of `length` windows that depart from a state, in all rows that did not train.

    Series 0 trains the model, series 1 calibrates it, and series 0 goes on after its training
    rows. Given those rows, every sequence of the rest is weighted by its probability.
    """
    held, total = [], []
    present = trained[-1][0]
    leave = TRANSITION[present, :, None] * EMISSION
    for other in paths(length):
        there = sum(x == present for x, _ in other[:-1])
        cp = fitted("all", trained, other, train_size=1)
        for own in itertools.product(STEPS, repeat=length - 1 - there):
            weight = law(other) * np.prod([leave[step] for step in own])
            y, x = connect_windows(present, tuple((step,) for step in own))
            one = copy.deepcopy(cp.estimators_[0])  # which goes its own way
            if own:
                one.partial_fit(y[1:], x[1:])
            total.append(weight)
            for whole, chances in covered(one, trained, 1):
                held.append(weight * leave[whole[-1]] * chances)
    assert fsum(total) == pytest.approx(1, abs=1e-12)
    assert_exact(held)


@pytest.mark.parametrize("trained", [((0, 1), (1, 0), (0, 0)), ((1, 1), (1, 1), (1, 0), (1, 1))])
@pytest.mark.parametrize("horizon", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_first_is_exact_at_any_time_for_a_series_that_trained_the_model(trained, horizon):
    """Given the training rows, over all sequences of the calibrating series and the window."""
    held, total = [], []
    present = trained[-1][0]
    for other in paths(3):
        cp = fitted("first", trained, other, train_size=1).estimators_[0]
        weight = law(other)
        total.append(weight)
        for whole, chances in covered(cp, trained, horizon):
            held.append(weight * law(whole[-horizon:], TRANSITION[present]) * chances)
    assert_exact(held, fsum(total))


@pytest.mark.slow
@pytest.mark.parametrize("present", [0, 1])
def test_all_is_exact_by_visits_with_a_model_trained_on_another_series(present):
    """The third window that departs from a state in series 1; series 0 trains, 2 calibrates."""
    trained = ((0, 1), (1, 0), (0, 0), (0, 0))
    held, total = [], []
    leave = TRANSITION[present, :, None] * EMISSION
    for other in paths(3):
        there = sum(x == present for x, _ in other[:-1])
        for own in itertools.product(STEPS, repeat=2 - there):
            weight = law(other) * np.prod([leave[step] for step in own])
            y, x = connect_windows(present, tuple((step,) for step in own))
            history = tuple(zip(x, y, strict=True))
            cp = fitted("all", trained, history, other, train_size=1).estimators_[1]
            total.append(weight)
            for whole, chances in covered(cp, history, 1):
                held.append(weight * leave[whole[-1]] * chances)
    assert fsum(total) == pytest.approx(1, abs=1e-12)
    assert_exact(held)


THREE = {
    "transition": np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.6, 0.3, 0.1]]),
    "emission": np.array([[0.7, 0.3], [0.3, 0.7], [0.5, 0.5]]),
}


@pytest.mark.parametrize(
    ("horizon", "length"), [(1, 2), pytest.param(2, 3, marks=pytest.mark.slow)]
)
def test_states_that_only_calibrating_series_have_do_not_enter_the_model(horizon, length):
    """Undeclared states: a model of states 0 and 1, and a third that may come up later.

    Where it has not come up, its window is unlike all others, and no set lists it.
    """
    steps, start = list(itertools.product(range(3), range(2))), np.array([0.6, 0.3, 0.1])
    trained, held = ((0, 1), (1, 0), (0, 0), (1, 1), (1, 1), (0, 0)), []
    for other in itertools.product(steps, repeat=length):
        rows = [(k, *step) for k, path in enumerate((trained, other)) for step in path]
        groups, x, y = (list(column) for column in zip(*rows, strict=True))
        cp = grouped(
            series="first", train_size=1, smoothing=True, allow_empty=True, random_state=0
        ).fit(y, x, groups=groups)
        weight = law(other, start, **THREE)
        for new in itertools.product(range(2), repeat=horizon):
            ranks = cp.estimators_[0].predict_ranks(list(new))
            total = next(iter(ranks.values())).total
            for states in itertools.product(range(3), repeat=horizon):
                rank = ranks.get(states, Rank(0, 1, total))
                window = tuple(zip(states, new, strict=True))
                chances = [float(rank.chance(miscoverage(level))) for level in LEVELS]
                held.append(
                    weight * law(window, THREE["transition"][0], **THREE) * np.array(chances)
                )
    assert_exact(held)


def test_glued_series_are_not_exact_where_their_laws_differ():
    """What is promised is not true of series that are put one after the other as one history."""
    odd, held = np.array([[0.1, 0.9], [0.9, 0.1]]), []
    for other in paths(3)[::9]:
        weight = law(other, transition=odd)
        for history in paths(2):
            y, x = zip(*[(y, x) for x, y in (*other, *history)], strict=True)
            cp = ConformalHMM(smoothing=True, allow_empty=True, states=[0, 1], random_state=0)
            for whole, chances in covered(cp.fit(list(y), list(x)), history, 1):
                held.append(weight * law(whole) * chances)
    some = fsum(law(other, transition=odd) for other in paths(3)[::9])
    assert abs(fsum(one[1] for one in held) / some - LEVELS[1]) > 1e-3


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_no_window_leads_from_one_series_into_the_next(first, horizon):
    """The windows, one series after the other, are those that each series has by itself."""
    rng = np.random.default_rng(horizon)
    parts = [rng.integers(0, 3, length) for length in (7, 1, 4, 12, 2, 9)]
    owners = (0, 1, 2, 2, 3, 4)  # the third has a gap
    ends = np.cumsum([len(part) for part in parts])
    begins = tuple((ends - [len(part) for part in parts]).tolist())
    symmetry = TogetherDepartures(begins, owners, first)
    tokens = np.concatenate(parts)
    chains = find_chains(symmetry, tokens, horizon)
    found = {(int(g), end) for end, g in enumerate(chains.groups) if g >= 0}
    wanted, met = set(), set()
    for owner, begin, part in zip(owners, begins, parts, strict=True):
        for end, group in enumerate(find_chains(Departures(), part, horizon).groups.tolist()):
            if group < 0 or (first and (owner == 4 or (owner, group) in met)):
                continue
            met.add((owner, group))
            wanted.add((group, begin + end))
    assert found == wanted
    for state in range(3):  # and each leads back to the one before it
        ends = [end for group, end in sorted(found) if group == state]
        assert [chains.parents[end] for end in ends[1:]] == ends[:-1]


def test_every_promise_says_what_it_is():
    assert set(SeriesMode.named) == {"own", "others", "all", "first"}
    assert all(one.says for one in SeriesMode.named.values())


def test_rows_are_sorted_into_their_series():
    found = read_series(list("bababb"), 6, order=[3, 9, 1, 4, 2, 7], lengths=[2, 4])
    assert found.names == ("b", "a")
    assert [found.rows[slice(*found.span(k))].tolist() for k in (0, 1)] == [[2, 4, 0, 5], [3, 1]]
    assert found.segments(0).tolist() == [2, 1, 1]  # a gap before and after row 0
    assert found.all_segments.tolist() == [2, 1, 1, 1, 1]


@pytest.mark.parametrize("symmetry", ["spaced", "returns"])
def test_others_choose_the_law_without_the_predicted_series(symmetry):
    """Only the predicted series has fractions in the first third; the tenth other one differs."""
    values = (0.0, 1.0, 2.5)
    emission = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]])
    others = [([0.0, 1.0, 0.0, 1.0, 1.0, 0.0], [0, 1, 0, 1, 1, 0])] * 2
    others += [([0.0, 1.0, 2.5, 1.0, 0.0, 2.5], [0, 1, 1, 1, 0, 1])] * 7
    others += [([0.0, 1.0, 2.5, 1.0, 0.0, 2.5, 0.0, 1.0] * 12, [1, 0, 0, 0, 1, 0, 1, 0] * 12)]
    groups = [f"other {k}" for k, (y, _) in enumerate(others) for _ in y]
    covered_by_state, total = np.zeros((2, len(LEVELS))), np.zeros(2)
    for x in itertools.product(range(2), repeat=2):
        for y in itertools.product(range(3), repeat=2):
            cp = grouped(
                series="others", symmetry=symmetry, smoothing=True, allow_empty=True,
                states=[0, 1], random_state=0,
            )  # fmt: skip
            cp.fit(
                [values[k] for k in y] + [value for seen, _ in others for value in seen],
                [*x, *(state for _, states in others for state in states)],
                groups=["own", "own", *groups],
            )
            for new, state in itertools.product(range(3), range(2)):
                rank = cp.estimators_["own"].predict_ranks([values[new]])[state,]
                path = [*zip(x, y, strict=True), (state, new)]
                chance = law(path, INITIAL, TRANSITION, emission)
                for k, level in enumerate(LEVELS):
                    inside = rank.chance(miscoverage(level))
                    covered_by_state[state, k] += chance * float(inside)
                total[state] += chance
    np.testing.assert_allclose(covered_by_state / total[:, None], [LEVELS] * 2, atol=1e-9)
