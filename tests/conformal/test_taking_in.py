"""Sequences as they come: lists of them, a label per row, probabilities of others."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from definetti import ConformalHMM, ConformalSequences
from definetti.simulate import weather

WEEKS = [weather(4 + seed % 5, random_state=seed) for seed in range(30)]
THINGS = [thing for week in WEEKS for thing in week.observations]
SKIES = [sky for week in WEEKS for sky in week.states]
LENGTHS = [len(week.states) for week in WEEKS]
NAMES = [f"week {k}" for k, week in enumerate(WEEKS) for _ in week.states]
WORN = {"hat": [0.8, 0.2], "nothing": [0.6, 0.4], "umbrella": [0.1, 0.9]}
STATES = ["sun", "rain"]
NEW = ["hat", "umbrella", "nothing"]


def probabilities(things):
    return np.array([WORN[thing] for thing in things])


def steps(cp, new=NEW):
    return cp.predict_set(new).nodes.tolist()


def test_a_list_of_sequences_is_what_lengths_say():
    wanted = ConformalSequences().fit(THINGS, SKIES, LENGTHS)
    listed = ConformalSequences().fit(
        [week.observations for week in WEEKS], [week.states for week in WEEKS]
    )
    assert steps(listed) == steps(wanted)
    pair = [NEW, NEW[:2]]
    assert [s.nodes.tolist() for s in listed.predict_sets(pair)] == [
        s.nodes.tolist() for s in wanted.predict_set(NEW + NEW[:2], lengths=[3, 2])
    ]
    judged = wanted.evaluate(THINGS, SKIES, LENGTHS)
    nested = [week.observations for week in WEEKS], [week.states for week in WEEKS]
    assert listed.evaluate(*nested) == judged
    assert listed.evaluate(THINGS, SKIES, groups=NAMES) == judged


def test_a_label_per_row_names_the_sequence_in_whatever_order_rows_come():
    wanted = ConformalSequences().fit(THINGS, SKIES, LENGTHS)
    times = np.concatenate([np.arange(length) for length in LENGTHS])
    rows = np.random.default_rng(0).permutation(len(SKIES))
    # Which sequence comes first decides which train, so the first rows stay where they are.
    rows = sorted(rows.tolist(), key=lambda row: times[row] > 0)
    rows = [*np.flatnonzero(times == 0).tolist(), *rows[len(LENGTHS) :]]
    found = ConformalSequences().fit(
        [THINGS[row] for row in rows], [SKIES[row] for row in rows],
        groups=[NAMES[row] for row in rows], order=times[rows],
    )  # fmt: skip
    assert steps(found) == steps(wanted)


@pytest.mark.parametrize("given", ["function", "probabilities", "frame"])
def test_probabilities_of_others_are_calibrated(given):
    """As a function of what is seen, or as what is seen: the limit is that of their own scores."""
    model = probabilities if given == "function" else "probabilities"
    seen = THINGS if given == "function" else probabilities(THINGS)
    new = NEW if given == "function" else probabilities(NEW)
    if given == "frame":
        seen, new = (pl.DataFrame(one, schema=STATES) for one in (seen, new))
    cp = ConformalSequences(model, train_size=None, states=STATES, confidence_level=0.8)
    s = cp.fit(seen, SKIES, LENGTHS).predict_set(new)
    assert cp.n_units_ == 30
    strange = 1 - probabilities(THINGS)[np.arange(len(SKIES)), [STATES.index(x) for x in SKIES]]
    # Conformal risk control by hand: the smallest limit whose misses, one unit more, are few.
    owner = np.repeat(np.arange(30), LENGTHS)
    for limit in sorted(set(strange.round(12))):
        missed = np.bincount(owner, strange > limit + 1e-9) / LENGTHS
        if missed.sum() + 1 <= 0.2 * 31:
            break
    assert s.nodes.tolist() == (1 - probabilities(NEW) <= limit + 1e-9).tolist()


@pytest.mark.parametrize(
    ("model", "how", "message"),
    [
        (probabilities, {"states": None}, "states is not declared"),
        (probabilities, {"train_size": 0.5}, "set train_size=None"),
        (lambda things: np.ones((len(things), 3)) / 3, {}, r"returned shape \(1, 4, 3\)"),
        (lambda things: np.ones((len(things), 2)), {}, "they must sum to one"),
        (lambda things: ["?"] * len(things), {}, "no array of numbers"),
    ],
)
def test_what_are_no_probabilities_is_refused(model, how, message):
    cp = ConformalSequences(model, **{"train_size": None, "states": STATES, **how})
    with pytest.raises((ValueError, TypeError), match=message):
        cp.fit(THINGS, SKIES, LENGTHS)


def test_lists_that_do_not_go_together_are_refused():
    with pytest.raises(ValueError, match="number 1 differs; give lists of equal sequences"):
        ConformalSequences().fit([["a"], ["b", "a"]], [["x"], ["y"]])
    with pytest.raises(ValueError, match="leave lengths out"):
        ConformalSequences().fit([["a"], ["b"]], [["x"], ["y"]], lengths=[1, 1])
    with pytest.raises(ValueError, match="groups is None; name these"):
        ConformalSequences().fit(["a", "b"], ["x", "y"], order=[1, 2])


FORMS = {
    "array": lambda rows: rows,
    "list": lambda rows: rows.tolist(),
    "frame": lambda rows: pd.DataFrame(rows, columns=STATES),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("given", ["function", "probabilities"])
def test_probabilities_are_numbers_whatever_those_of_the_labelled_rows_are(given, form):
    """Certain ones, 0 and 1, are no switches: others may come later."""
    certain = np.eye(len(STATES))[[STATES.index(x) for x in SKIES]]
    new = np.full((3, len(STATES)), 1 / len(STATES))
    cp = ConformalSequences(
        np.asarray if given == "function" else given, train_size=None, states=STATES
    )
    cp.fit(FORMS[form](certain), SKIES, LENGTHS)
    assert cp.predict_set(FORMS[form](new)).marginals.tolist() == new.tolist()
    assert cp.predict_sets([FORMS[form](new)])[0].marginals.tolist() == new.tolist()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("first", [np.eye(2), 3 * np.eye(2)])
def test_a_function_reads_numbers_whatever_those_of_the_labelled_rows_are(form, first):
    rows = first[[STATES.index(x) for x in SKIES]]
    cp = ConformalHMM(lambda before, seen: np.full((*np.shape(seen)[:2], 2), 0.5), states=STATES)
    cp.fit(FORMS[form](rows), SKIES)
    assert cp.predict_set(FORMS[form](np.full((2, 2), 0.5))).horizon == 2
