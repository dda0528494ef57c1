"""Every combination of settings, through the public API: as promised, or refused.

`promise_of` tells what symmetry, model, memory, guarantee, horizon, lag and series promise
together. Here the estimator must say the same for all of them, levels by state and several segments
included; what it calls exact is enumerated; and docs/limits.md must print the same table.
"""

import re
from fractions import Fraction
from itertools import product
from math import fsum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tests.making import promising
from tests.memory.laws import RETURNING, SHOWN, follow

from definetti import HMM, ConformalHMM, GroupedConformalHMM, given_hmm
from definetti.engine.promise import ANY_TIME, BY_VISITS, LAST, Promise, promise_of
from definetti.levels.by_state import read_levels
from definetti.memory import Order, resolve_memory
from definetti.symmetry import Remembering, find_symmetry
from definetti.symmetry.base import PRESENT
from definetti.verify.by_visit import connect_windows
from definetti.verify.higher_order import EMISSION, LAWS, HigherOrderLaw

pytestmark = pytest.mark.filterwarnings("ignore")

PAGE = Path(__file__).parents[1] / "docs" / "limits.md"
SYMMETRIES = ("full", "returns", "pairs", "spaced", "departures", "shifts", "published")
TABLED = SYMMETRIES[:5]  # the tables of the page
MODELS = ("refitted", "fixed")
MEMORIES = (1, 2, "age", "observation")
FIXED = given_hmm([[0.7, 0.3], [0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]])
BY_STATE = {0: 0.3, 1: 0.75}
LEVELS = (0.3, 0.75, BY_STATE)


class Ask(NamedTuple):
    """What is asked about a window."""

    guarantee: str = "all"
    unseen: int = 0
    lag: int = 0
    steps: int = 2


ASKS = [
    Ask(*ask)
    for ask in product(("all", "steps", "errors"), (0, 1, 2), (0, 1), (1, 2))
    if ask[1] <= ask[3] and ask[2] < ask[3]
]
# As the page has them; what shares a column has the same promise.
COLUMNS = {
    "all observed": [Ask()],
    "none observed": [Ask(unseen=2)],
    'some observed, `lag`, `"steps"`, `"errors"`': [
        Ask(unseen=1),
        Ask(lag=1),
        Ask("steps"),
        Ask("errors"),
    ],
}
CELLS = {(LAST, ANY_TIME): "last", (PRESENT, ANY_TIME): "present", (PRESENT, BY_VISITS): "visits"}


def promised(symmetry, model, memory, ask, **how):
    """Return the promise, or the message that refuses it."""
    found = find_symmetry(symmetry)
    if memory != 1:
        found = Remembering(found, resolve_memory(memory))
    ways = {"guarantee": ask.guarantee, "unseen": ask.unseen, "lag": ask.lag}
    try:
        return promise_of(found, model != "refitted", steps=ask.steps, **ways, **how)
    except ValueError as error:
        return str(error)


def estimator(symmetry, model, memory, ask, **how):
    """Make the estimator of a combination."""
    errors = int(ask == Ask("errors"))
    how = {"states": [0, 1], "random_state": 0, "allow_empty": True, "smoothing": True, **how}
    return ConformalHMM(
        FIXED if model == "fixed" else HMM(), symmetry=symmetry, memory=memory,
        guarantee=promising(ask.guarantee, errors), **how,
    )  # fmt: skip


def query(ask, symbols):
    """Return the arguments of a prediction."""
    seen = list(symbols[: ask.steps - ask.unseen])
    return {"new_observations": seen or None, "horizon": ask.steps, "lag": ask.lag}


EXACT = [
    (symmetry, model, memory, ask)
    for symmetry, model, memory, ask in product(SYMMETRIES, MODELS, MEMORIES, ASKS)
    if getattr(promised(symmetry, model, memory, ask), "exact", False)
]


# What the estimator says is what the table says.

LENGTHS = {"one segment": None, "two segments": [12, 28]}


def check_says(expected, act):
    """The prediction has the promise, or is refused in the same words."""
    if isinstance(expected, Promise):
        s = act()
        assert (s.exact, s.given) == (expected.exact, expected.holds_given)
        assert ("NOT guaranteed" in repr(s)) == (not expected.exact)
        return
    with pytest.raises(ValueError, match="=") as caught:
        act()
    assert str(caught.value).removeprefix("series 'b': ") == expected
    check_message(expected)


def check_message(message):
    """A refusal names an argument with its value, and after a semicolon what to do."""
    why, _, remedy = message.partition("; ")
    arguments = ("lag=", "guarantee=", "horizon=", "symmetry=", "train_size=", "series=")
    assert why.startswith(arguments), message
    assert remedy.startswith(("use ", "set ", "give ", "leave ")), message


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_estimator_promises_what_the_table_says(symmetry, model):
    rng = np.random.default_rng(0)
    y, x = rng.integers(0, 2, 40).tolist(), rng.integers(0, 2, 40).tolist()
    for memory, ask in product(MEMORIES, ASKS):
        expected = promised(symmetry, model, memory, ask)
        for lengths, level in product(LENGTHS.values(), (0.75, BY_STATE)):
            cp = estimator(symmetry, model, memory, ask, confidence_level=level)
            cp.fit(y, x, lengths)
            check_says(expected, lambda cp=cp, ask=ask: cp.predict_set(**query(ask, (0, 1))))


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_an_ask_is_refused_if_one_of_its_parts_is(symmetry):
    """So that the columns of the page, one thing at a time, tell all."""
    for model, memory, ask in product(MODELS, MEMORIES, ASKS):
        plain = Ask(steps=ask.steps)
        names = ("guarantee", "unseen", "lag")
        parts = [plain._replace(**{name: getattr(ask, name)}) for name in names]
        alone = [isinstance(promised(symmetry, model, memory, one), str) for one in parts]
        assert isinstance(promised(symmetry, model, memory, ask), str) == any(alone)


def test_the_remedy_of_a_refusal_is_not_refused():
    """Each symmetry that a refusal names goes with the training rows that it names."""
    single = [ask for column in COLUMNS.values() for ask in column]
    for symmetry, model, memory, ask in product(SYMMETRIES, MODELS, MEMORIES, single):
        message = promised(symmetry, model, memory, ask)
        if isinstance(message, Promise):
            continue
        remedy = message.partition("; ")[2]
        share = 0.5 if "train_size=0.5" in remedy else None
        share = 4 if "a number of rows" in remedy else share
        assert (model == "refitted") == (share is not None), message
        named = [one for one in ("spaced", "departures") if f"'{one}'" in remedy] or [symmetry]
        for one in named:
            kept = 1 if one == "spaced" and symmetry != "spaced" else memory
            found = promised(one, "fixed", kept, ask, train_size=share)
            assert isinstance(found, Promise), (message, found)
        if "memory=1" in remedy:
            blocks = symmetry if "'spaced' with" not in remedy else "spaced"
            found = promised(blocks, "fixed", 1, ask, train_size=share)
            assert isinstance(found, Promise), (message, found)


# At any time, given the last state: all sequences of a length.


class Hidden(HigherOrderLaw):
    """A hidden Markov model, whose first observation depends on its state as all others do."""

    def weigh(self, states, symbols):
        return super().weigh(states, symbols) * EMISSION[states[0], symbols[0]]


def move(token, x, y):
    return (0.8 if x == 0 else 0.2, 0.45 if x == 0 else 0.55)[token[0]] * EMISSION[x, y]


LAW_OF = {
    1: Hidden(Order(1), move),
    2: LAWS["order two"],
    "age": LAWS["sojourns"],
    "observation": LAWS["feedback"],
}
PAIRS = list(product(range(2), repeat=2))


def paths(length):
    """List sequences of states and symbols."""
    return list(product(PAIRS, repeat=length))


def chances(cp, ask, symbols):
    """Return, for each level, the chance by which each path of states is well predicted.

    With a guarantee about steps, the share of its steps, or whether there are few errors.
    """
    asked, known = query(ask, symbols), {}
    every = list(product(range(2), repeat=ask.steps))
    if ask.guarantee == "all":
        ranks = cp.predict_ranks(**asked)
        for level, path in product(range(len(LEVELS)), every):
            known[level, path] = ranks[path[ask.lag :]]
        return known
    for level, given in enumerate(LEVELS):
        s = cp.predict_set(**asked, confidence_level=given)
        for path in every:
            wrong = s.wrong(path[ask.lag :])
            kept = wrong <= s.max_errors if ask.guarantee == "errors" else 1 - wrong / s.horizon
            known[level, path] = float(kept)
    return known


def chance(found, level, state):
    """Return how probably a rank is kept at the level of a state; a chance is one already."""
    if isinstance(found, float):
        return found
    return float(found.chance(read_levels(LEVELS[level]).alpha(state)))


def alpha_of(level, state):
    return float(1 - Fraction(read_levels(LEVELS[level]).alpha(state)))


class Total:
    """What is covered, by level and the state that it is given."""

    def __init__(self, guarantee):
        self.guarantee = guarantee
        self.held = {(level, state): [] for level in range(len(LEVELS)) for state in range(2)}
        self.weights = {0: [], 1: []}

    def add(self, weight, known, path, state):
        self.weights[state].append(weight)
        for level in range(len(LEVELS)):
            self.held[level, state].append(weight * chance(known[level, path], level, state))

    def check(self, states=(0, 1)):
        """Smoothed, the coverage is the level; about steps, it is at least the level."""
        for level, state in product(range(len(LEVELS)), states):
            found = fsum(self.held[level, state]) / fsum(self.weights[state])
            wanted = alpha_of(level, state)
            if self.guarantee == "all":
                assert found == pytest.approx(wanted, abs=1e-9), (LEVELS[level], state)
            else:
                assert found >= wanted - 1e-9, (LEVELS[level], state)
        low = min(fsum(self.held[0, state]) / fsum(self.weights[state]) for state in states)
        assert low < 1 - 1e-6, "the sets leave nothing out, and prove nothing"


def fits(cp, observations, states, lengths=None):
    """Fit, or tell that the memory refuses the history: one in which no state was seen to end."""
    try:
        cp.fit(observations, states, lengths)
    except ValueError as error:
        if "memory" not in str(error):
            raise
        return False
    return True


def check_last(cp, law, ask, lengths):
    """Enumerate all segments of given lengths, and the window that follows the last."""
    total, taken = Total(ask.guarantee), 0
    windows = paths(ask.steps)
    for segments in product(*map(paths, lengths)):
        states, symbols = zip(*[pair for one in segments for pair in one], strict=True)
        if not fits(cp, symbols, states, lengths if len(lengths) > 1 else None):
            continue
        taken += 1
        *earlier, last = segments
        before = np.prod([law.weigh(*zip(*one, strict=True)) for one in earlier])
        known = {}
        for window in windows:
            path, seen = zip(*window, strict=True)
            key = seen[: ask.steps - ask.unseen]
            if key not in known:
                known[key] = chances(cp, ask, seen)
            weight = before * law.weigh(*zip(*last, *window, strict=True))
            total.add(weight, known[key], path, path[-1])
    assert taken > 4
    total.check()


def cases(given, when, fast):
    """Parameters for what holds so; one in a few is fast."""
    some = []
    for symmetry, model, memory, ask in EXACT:
        found = promised(symmetry, model, memory, ask)
        if (found.given, found.when) == (given, when):
            some.append((symmetry, model, memory, ask))
    return [
        pytest.param(*case, marks=() if k % fast == 0 else pytest.mark.slow, id="-".join(map(str, (
            *case[:3], *case[3]))))
        for k, case in enumerate(some)
    ]  # fmt: skip


@pytest.mark.parametrize(("symmetry", "model", "memory", "ask"), cases(LAST, ANY_TIME, fast=9))
def test_exact_given_the_last_state_at_any_time(symmetry, model, memory, ask):
    cp = estimator(symmetry, model, memory, ask)
    check_last(cp, LAW_OF[memory], ask, (3,) if ask.guarantee == "all" else (4,))


# By visits: all ways to the m-th departure from a token.


def brief(token, x, y):
    """State 1 never lasts."""
    return ((0.6, 0.4), (1.0, 0.0))[token[0]][x] * SHOWN[x, y]


# By memory, a law, and histories that end where a token is met for the first time.
RETURNING_BY = {
    1: (HigherOrderLaw(Order(1), brief), [((0, 1),)]),
    2: (RETURNING["order two"][0], [((1, 1), (0, 0)), ((0, 0), (1, 0))]),
    "age": (RETURNING["sojourns"][0], [((1, 1), (0, 0)), ((0, 0), (1, 0))]),
    "observation": (RETURNING["feedback"][0], [((0, 0),), ((1, 0),)]),
}
EARLIER = ((1, 0), (0, 0), (0, 1))  # a segment before, whatever it is


def token_after(law, path):
    """Return the token at the end of a history."""
    token = None
    for pair in path:
        token = law.step(token, *pair)
    return token


def ways_to(law, start, departures, steps, path, weight=1.0, met=0, free=0):
    """List the ways to the m-th departure from a token; the windows between do not overlap."""
    token = token_after(law, path)
    if (token == start).all() and len(path) - 1 >= free:
        met, free = met + 1, len(path) - 1 + steps
        if met == departures:
            yield path, weight
            return
    for pair, share in follow(law, token).items():
        more = (*path, pair), weight * share, met, free
        yield from ways_to(law, start, departures, steps, *more)


def windows_from(law, token, steps):
    """List windows that follow a token, with their probabilities."""
    if not steps:
        yield (), 1.0
        return
    for pair in PAIRS:
        for window, share in windows_from(law, law.step(token, *pair), steps - 1):
            yield (pair, *window), law.move(token, *pair) * share


def check_visits(fit, law, begins, ask, departures):
    """Enumerate all ways to a departure from a token, and the window after it.

    Parameters
    ----------
    fit : from a history, its pairs of states and symbols, to a fitted estimator
    begins : histories that end in a token that they did not have before
    """
    for begin in begins:
        start = token_after(law, begin)
        total, sure = Total(ask.guarantee), []
        for path, weight in ways_to(law, start, departures, ask.steps, begin):
            cp, known = fit(path), {}
            sure.append(weight)
            for window, share in windows_from(law, start, ask.steps):
                truth, seen = zip(*window, strict=True)
                key = seen[: ask.steps - ask.unseen]
                if key not in known:
                    known[key] = chances(cp, ask, seen)
                total.add(weight * share, known[key], truth, int(start[0]))
        assert fsum(sure) == pytest.approx(1, abs=1e-9)
        total.check(states=[int(start[0])])


@pytest.mark.parametrize(("symmetry", "model", "memory", "ask"), cases(PRESENT, BY_VISITS, fast=11))
def test_exact_given_the_present_state_by_visits(symmetry, model, memory, ask):
    cp = estimator(symmetry, model, memory, ask)
    law, begins = RETURNING_BY[memory]

    def fit(path):
        states, symbols = zip(*path, strict=True)
        return cp.fit(symbols, states)

    check_visits(fit, law, begins, ask, 3 if memory in (1, "observation") else 2)


def test_every_exact_combination_is_enumerated():
    """Nothing is left out in silence."""
    walked = [*cases(LAST, ANY_TIME, fast=1), *cases(PRESENT, BY_VISITS, fast=1)]
    assert sorted(map(str, EXACT)) == sorted(str(case.values) for case in walked)


# Several segments.


@pytest.mark.parametrize(("symmetry", "model", "memory", "ask"), [
    pytest.param(*case, marks=() if k % 5 == 0 else pytest.mark.slow)
    for k, case in enumerate(EXACT)
    if case[3] == Ask(steps=1)
])  # fmt: skip
def test_exact_in_the_last_of_two_segments(symmetry, model, memory, ask):
    """Over all sequences of both; by visits, after any segment."""
    cp = estimator(symmetry, model, memory, ask)
    if symmetry != "departures":
        check_last(cp, LAW_OF[memory], ask, (2, 2))
        return

    def fit(path):
        states, symbols = zip(*EARLIER, *path, strict=True)
        return cp.fit(symbols, states, [len(EARLIER), len(path)])

    check_visits(fit, *RETURNING_BY[memory], ask, 2)


# Several series.

SERIES = ("own", "others", "all", "first")
TRAINED = {"refitted": None, "fixed": None, "rows": 1, "share": 0.5}


def promised_of_series(series, symmetry, model, memory, ask):
    """Return the promise for each of several series, or the message that refuses it."""
    how = {"series": series, "train_size": TRAINED[model], "rows": 10}
    if symmetry == "auto" and series in ("all", "first"):
        symmetry = "departures"
    # What trains on the series themselves is fixed later.
    known = "refitted" if series != "own" and model != "fixed" else model
    return promised(symmetry, known, memory, ask, **how)


@pytest.mark.parametrize("symmetry", ["auto", *SYMMETRIES])
@pytest.mark.parametrize("series", SERIES)
def test_the_estimator_of_a_series_promises_what_the_table_says(series, symmetry):
    rng = np.random.default_rng(0)
    y, x = rng.integers(0, 2, 40).tolist(), rng.integers(0, 2, 40).tolist()
    groups = ["a"] * 20 + ["b"] * 20
    asks = [ask for column in COLUMNS.values() for ask in column]
    for model, memory in product(TRAINED, MEMORIES):
        for ask in asks if memory == 1 else [Ask()]:
            expected = promised_of_series(series, symmetry, model, memory, ask)

            def act(model=model, memory=memory, ask=ask):
                cp = estimator(symmetry, model, memory, ask, train_size=TRAINED[model])
                cp = GroupedConformalHMM(cp, series).fit(y, x, groups)
                return cp.predict_set(**query(ask, (0, 1)), group="b")

            check_says(expected, act)


def fit_pair(cp, series, other, history):
    """Fit two series, of which the second is asked about."""
    states, symbols = zip(*other, *history, strict=True)
    groups = ["other"] * len(other) + ["own"] * len(history)
    many = GroupedConformalHMM(cp, series)
    return many.fit(symbols, states, groups).estimators_["own"]


@pytest.mark.parametrize(("series", "symmetry"), [
    ("own", "full"), ("others", "spaced"), ("own", "departures"), ("others", "departures"),
    *[pytest.param(*case, marks=pytest.mark.slow) for case in
      (("own", "spaced"), ("own", "returns"), ("others", "full"), ("others", "pairs"))],
])  # fmt: skip
def test_exact_for_each_series_whatever_the_other_is(series, symmetry):
    ask = Ask(steps=1)
    cp = estimator(symmetry, "refitted", 1, ask)
    if symmetry == "departures":
        check_visits(lambda path: fit_pair(cp, series, EARLIER, path), *RETURNING_BY[1], ask, 3)
        return
    total = Total(ask.guarantee)
    for history in paths(3):
        one = fit_pair(cp, series, EARLIER, history)
        for symbol in range(2):
            known = chances(one, ask, (symbol,))
            for state in range(2):
                weight = LAW_OF[1].weigh(*zip(*history, (state, symbol), strict=True))
                total.add(weight, known, (state,), state)
    total.check()


# One thing at a time, and all of them.
WITH_LIMITS = [
    Ask(steps=1), Ask(), Ask(unseen=1), Ask(lag=1), Ask("steps"), Ask("errors"), Ask("steps", 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("ask", [
    pytest.param(ask, marks=() if k < 1 else pytest.mark.slow) for k, ask in enumerate(WITH_LIMITS)
], ids=str)  # fmt: skip
@pytest.mark.parametrize("series", ["all", "first"])
def test_exact_over_series_of_one_law(series, ask):
    """Given the present state: by visits over both series, or at any time by the other's first.

    Between the windows of the own series a fixed model looks at nothing.
    """
    law, steps = LAW_OF[1], ask.steps
    cp = estimator("auto", "fixed", 1, ask)
    for present in range(2):
        total, start = Total(ask.guarantee), np.array([present])
        windows = list(windows_from(law, start, steps))
        for other in paths(1 + steps):
            # The second departure: the own series has the first one if the other has none.
            met = int(series == "first" or any(x == present for x, _ in other[:-steps]))
            for own in product(windows, repeat=1 - met):
                y, x = connect_windows(present, tuple(window for window, _ in own))
                one = fit_pair(cp, series, other, tuple(zip(x, y, strict=True)))
                before = law.weigh(*zip(*other, strict=True)) * np.prod([w for _, w in own])
                known = {}
                for window, share in windows:
                    path, seen = zip(*window, strict=True)
                    key = seen[: steps - ask.unseen]
                    if key not in known:
                        known[key] = chances(one, ask, seen)
                    total.add(before * share, known[key], path, present)
        total.check(states=[present])


# The page.

# What the page says once for all values.
GENERAL = {
    r"^(guarantee=|lag=|horizon=).* is exact with": "needs",
    r",? only$": "",
    r"^horizon=\d+ reaches": "the horizon reaches",
    r", to the end$": "",
    r"^series='(all|first)'": "series='all' or 'first'",
    r"^train_size=\S+ trains": "train_size trains",
    r"^train_size=0.5 is": "train_size as a share is",
}
BEGIN, END = "<!-- combinations: begin -->\n", "<!-- combinations: end -->\n"


def merged(rows):
    """Merge rows of the same cells: by the last part of their keys, then the one before, and so on.

    Parameters
    ----------
    rows : from keys, tuples of names, to cells
    """
    found = {tuple((name,) for name in key): cells for key, cells in rows.items()}
    for place in range(len(next(iter(rows))) - 1, -1, -1):
        groups = {}
        for key, cells in found.items():
            rest = (*key[:place], *key[place + 1 :])
            groups.setdefault((rest, tuple(cells)), []).append(key[place])
        found = {
            (
                *rest[:place],
                tuple(name for names in merging for name in names),
                *rest[place:],
            ): cells
            for (rest, cells), merging in groups.items()
        }
    return found


def write_table(heads, rows):
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    everything = [set(names) for names in zip(*rows, strict=True)]
    for key, cells in merged(rows).items():
        names = [
            "any" if set(part) == there else ", ".join(f"`{name}`" for name in part)
            for part, there in zip(key, everything, strict=True)
        ]
        lines.append(f"| {' | '.join((*names, *cells))} |")
    return "\n".join(lines)


def write_tables():
    """Write what the page says."""
    whys = {}

    def cell(found):
        if isinstance(found, Promise):
            return CELLS[found.given, found.when]
        why = re.split(r"; |, and memory says|, and symmetry is", found)[0]
        for pattern, words in GENERAL.items():
            why = re.sub(pattern, words, why)
        return f"({whys.setdefault(why, chr(ord('a') + len(whys)))})"

    def asked(key, asks):
        (one,) = {cell(promised(*key, ask)) for ask in asks}
        return one

    combined = {
        key: tuple(asked(key, asks) for asks in COLUMNS.values())
        for key in product(TABLED, MODELS, MEMORIES)
    }
    by_series = {
        (series, symmetry, memory): tuple(
            cell(promised_of_series(series, symmetry, model, memory, Ask())) for model in TRAINED
        )
        for series, symmetry, memory in product(SERIES, ("auto", *TABLED), MEMORIES)
    }
    heads = ("`symmetry`", "model", "`memory`", *COLUMNS)
    models = ("refitted", "trained", "`train_size` in rows", "`train_size` as a share")
    tables = [
        write_table(heads, combined),
        write_table(("`series`", "`symmetry`", "`memory`", *models), by_series),
        "\n".join(f"- ({letter}) {why}" for why, letter in whys.items()),
    ]
    return "\n\n".join(tables) + "\n"


def test_symmetries_left_out_of_the_table_promise_nothing():
    """The page says so in a sentence: refused where `full` is, and not guaranteed elsewhere."""
    asks = [ask for column in COLUMNS.values() for ask in column]
    for symmetry, model, memory, ask in product(SYMMETRIES[5:], MODELS, MEMORIES, asks):
        found, full = (promised(name, model, memory, ask) for name in (symmetry, "full"))
        assert not found.exact if isinstance(found, Promise) else isinstance(full, str)
        assert isinstance(found, Promise) == isinstance(full, Promise)
    for series, symmetry, model, memory in product(SERIES, SYMMETRIES[5:], TRAINED, MEMORIES):
        found, full = (
            promised_of_series(series, name, model, memory, Ask()) for name in (symmetry, "full")
        )
        assert not found.exact if isinstance(found, Promise) else isinstance(full, str)
        assert isinstance(found, Promise) == isinstance(full, Promise)


def test_the_page_has_the_table():
    """To write it anew: python -m tests.test_combinations."""
    page = PAGE.read_text(encoding="utf-8")
    assert page.split(BEGIN)[1].split(END)[0].strip("\n") == write_tables().strip("\n")


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{write_tables()}\n{END}{after}", encoding="utf-8")
