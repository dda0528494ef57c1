"""Labels to codes, and the labelled sequence as it grows."""

import datetime
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from definetti.data.history import Completion, History, Shelves, padded
from definetti.data.labels import (
    MISSING,
    Alphabet,
    checked_states,
    is_missing,
    listed,
)

steady = settings(max_examples=100, deadline=None, derandomize=True, database=None)


# What is missing.


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        np.nan,
        np.float64("nan"),
        np.float32("nan"),
        np.float16("nan"),
        pd.NA,
        pd.NaT,
        complex("nan"),
        np.complex64(complex(0, float("nan"))),
        Decimal("nan"),
        Decimal("sNaN"),
        np.datetime64("NaT"),
        np.timedelta64("NaT"),
        np.ma.masked,
    ],
    ids=repr,
)
def test_what_stands_for_not_known(value):
    assert is_missing(value) is True


@pytest.mark.parametrize(
    "value",
    [0, 0.0, "", "nan", "None", False, (), float("inf"), Decimal(0), np.float64(0), b"", (None,)],
    ids=repr,
)
def test_what_is_there(value):
    assert is_missing(value) is False


@pytest.mark.parametrize("value", [np.datetime64("2020-01-01"), pd.Timestamp(0), [], {}, object])
def test_anything_can_be_asked_for(value):
    assert is_missing(value) is False


# Reading sequences.


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b"],
        ("a", "b"),
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        pd.Series(["a", "b"], index=[5, 3]),
        pd.Series(["a", "b"], dtype="category"),
        pd.Series(["a", "b"], dtype="string"),
        pd.Categorical(["a", "b"]),
        pd.Index(["a", "b"]),
        pl.Series(["a", "b"]),
        pl.Series(["a", "b"], dtype=pl.Categorical),
        iter("ab"),
        {"a": 1, "b": 2}.keys(),
    ],
    ids=lambda values: type(values).__name__,
)
def test_every_container_is_read_as_the_same_list(values):
    found = listed(values, "states")
    assert found == ["a", "b"]
    assert type(found) is list
    assert {type(label) for label in found} == {str}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array([1, 2]), int),
        (np.array([1.0, 2.0], dtype=np.float32), float),
        (np.array([True, False]), bool),
        (pd.Series([1, 2]), int),
        (pd.Series([1, 2], dtype="Int64"), int),
        (pl.Series([1, 2]), int),
        (pl.Series([True, False]), bool),
        (np.array(["2020-01-01"], dtype="M8[D]"), datetime.date),
        (np.array(["2020-01-01"], dtype="M8[us]"), datetime.datetime),
    ],
)
def test_numbers_and_dates_come_as_python_knows_them(values, kind):
    assert {type(label) for label in listed(values, "states")} == {kind}


def test_dates_to_the_nanosecond_stay_dates():
    """They do not fit into Python's own; as plain numbers nobody would know them again."""
    moments = np.array(["2020-01-01T00:00:00.000000001", "2020-01-02"], dtype="M8[ns]")
    found = listed(moments, "states")
    assert [np.datetime64(moment, "ns") for moment in found] == list(moments)
    assert not any(isinstance(moment, int) for moment in found)


def test_what_is_masked_is_missing():
    found = listed(np.ma.array([1, 2, 3], mask=[False, True, False]), "observations")
    assert [is_missing(x) for x in found] == [False, True, False]
    assert found[::2] == [1, 3]


@pytest.mark.parametrize(
    "values",
    [
        "abc",
        b"abc",
        5,
        None,
        2.5,
        {"a": 1},
        {"a", "b"},
        frozenset("ab"),
        object(),
        pd.DataFrame({"a": [1, 2]}),
        pl.DataFrame({"a": [1, 2]}),
        pl.LazyFrame({"a": [1, 2]}),
    ],
    ids=lambda values: type(values).__module__ + type(values).__name__,
)
def test_what_is_no_sequence_of_labels_is_refused(values):
    """The columns of a data frame are no labels, nor are the letters of a word."""
    with pytest.raises(TypeError, match=f"my_labels.*{type(values).__name__}"):
        listed(values, "my_labels")


@pytest.mark.parametrize("shape", [(), (2, 2), (1, 3), (0, 2)])
def test_arrays_have_one_dimension(shape):
    with pytest.raises(ValueError, match=r"my_labels.*shape"):
        listed(np.zeros(shape), "my_labels")


def test_states_are_there_and_hashable():
    assert checked_states(["a", ("b", 1)]) == ["a", ("b", 1)]
    assert checked_states([]) == []
    with pytest.raises(ValueError, match=r"states\[1\] is missing"):
        checked_states(["a", None])
    with pytest.raises(TypeError, match=r"mine\[1\] is a list"):
        checked_states(["a", ["b"]], "mine")
    with pytest.raises(TypeError, match=r"mine\[0\] is a tuple"):
        checked_states([(["b"],)], "mine")


# Alphabets.

labels = st.lists(
    st.one_of(st.text("ab", max_size=2), st.integers(0, 5), st.tuples(st.integers(0, 2))),
    max_size=12,
)


@steady
@given(st.lists(labels, max_size=4))
def test_an_alphabet_knows_every_label_and_keeps_its_codes(batches):
    alphabet, known = Alphabet(), ()
    for batch in batches:
        old = alphabet.labels
        extended = alphabet.extended(batch)
        assert alphabet.labels == old  # not changed behind one's back
        assert extended.labels[: len(known)] == known
        assert set(extended.labels) == set(known) | set(batch)
        assert len(extended) == len(extended.labels) == len(set(extended.labels))
        alphabet, known = extended, extended.labels
        codes = alphabet.encode(batch, "states")
        assert codes.dtype == np.int64
        assert alphabet.decode(codes) == tuple(batch)
    assert alphabet.encode(list(known), "states").tolist() == list(range(len(known)))


@steady
@given(labels, st.data())
def test_codes_do_not_depend_on_how_the_labels_came_in(all_labels, data):
    cut = data.draw(st.integers(0, len(all_labels)))
    whole = Alphabet().extended(all_labels)
    grown = Alphabet().extended(all_labels[:cut]).extended(all_labels[cut:])
    assert grown.labels == whole.labels


@pytest.mark.slow
def test_codes_are_the_same_in_every_process():
    """The order of a set of text differs from one process to the next; codes must not."""
    program = (
        "from definetti.data.labels import Alphabet\n"
        "words = ['ab', 'cd', 'ef', 'gh', 'a', 'zz']\n"
        "for kind in (str, frozenset, lambda w: (w, frozenset(w)), lambda w: (len(w), w)):\n"
        "    labels = [kind(w) for w in words]\n"
        "    print([labels.index(x) for x in Alphabet().extended(labels).labels])\n"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "0123"
    }
    assert len(shown) == 1


def test_missing_labels_have_no_code():
    alphabet = Alphabet().extended(["b", None, "a", float("nan"), "b"])
    assert set(alphabet.labels) == {"a", "b"}
    codes = alphabet.encode_missing(["a", None, float("nan"), "b"])
    assert codes[[1, 2]].tolist() == [MISSING, MISSING]
    assert alphabet.decode(codes[[0, 3]]) == ("a", "b")


def test_a_label_that_is_not_known_is_named():
    alphabet = Alphabet("abcdefghij")
    with pytest.raises(ValueError, match=r"mine\[2\] is 'z'.*'a', 'b'.*….*states=\[…\]"):
        alphabet.encode(["a", "b", "z"], "mine")


def test_equal_labels_are_one_and_the_first_is_kept():
    alphabet = Alphabet([True, 1, 1.0, 2])
    assert alphabet.labels == (True, 2)
    assert alphabet.labels[0] is True


@pytest.mark.parametrize(
    ("known", "new", "row"),
    [(["a"], ["b", 3], 1), ([1], ["1"], 0), ([("a",)], [("b",), "a"], 1), (["a"], [b"a"], 0)],
)
def test_labels_of_another_kind_are_refused(known, new, row):
    with pytest.raises(TypeError, match=rf"mine\[{row}\].*convert"):
        Alphabet(known).check_kind(new, "mine")


@pytest.mark.parametrize(
    ("known", "new"),
    [
        (["a"], ["b", None, float("nan")]),
        ([1], [2.5, True, np.int64(3), np.float32(2)]),
        ([1, "a"], ["b", 2]),
        ([], ["a", 1]),
        (["a"], [np.str_("b")]),
        ([datetime.datetime(2020, 1, 1)], [pd.Timestamp("2020-01-02")]),
        ([pd.Timestamp("2020-01-02")], [datetime.datetime(2020, 1, 1)]),
    ],
)
def test_labels_of_the_same_kind_pass(known, new):
    Alphabet(known).check_kind(new, "mine")


# The history.


class Naive:
    """All that a history says, worked out anew from the whole sequence."""

    def __init__(self, pairs, n_states):
        self.states = [s for s, _ in pairs]
        self.observations = [o for _, o in pairs]
        self.moves = Counter(pairwise(self.states))
        self.pairs = Counter(pairs)
        self.n = n_states

    def transitions(self):
        return [[self.moves[i, j] for j in range(self.n)] for i in range(self.n)]

    def emissions(self, width):
        return [[self.pairs[i, code - 1] for code in range(width)] for i in range(self.n)]

    def visits(self, state):
        return [t for t, s in enumerate(self.states) if s == state]


codes = st.lists(st.tuples(st.integers(0, 4), st.integers(MISSING, 3)), max_size=40)


def arrays(pairs):
    states, observations = zip(*pairs, strict=True) if pairs else ((), ())
    return np.array(states, dtype=np.int64), np.array(observations, dtype=np.int64)


def grown(batches, n_states=5):
    history = History(n_states)
    for batch in batches:
        history.append(*arrays(batch))
    return history


@steady
@given(st.lists(codes, max_size=6), st.booleans())
def test_a_history_says_what_the_whole_sequence_says(batches, declared):
    history, so_far, n = History(5 if declared else 0), [], 5 if declared else 0
    for batch in batches:
        so_far += batch
        n = max([n, *(s + 1 for s, _ in batch)])
        history.append(*arrays(batch), n)
        naive = Naive(so_far, n)
        assert len(history) == len(so_far)
        assert history.states.tolist() == naive.states
        assert history.observations.tolist() == naive.observations
        assert history.n_states == n
        assert history.transitions.tolist() == naive.transitions()
        width = max((o for _, o in so_far), default=MISSING) + 2
        assert history.emissions.tolist() == naive.emissions(width)
        for state in range(n + 2):
            assert history.visits(state).tolist() == naive.visits(state)
        if so_far:
            assert (history.first, history.last) == (so_far[0][0], so_far[-1][0])


@steady
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(MISSING, 2)), min_size=1, max_size=80))
def test_one_step_at_a_time_is_all_at_once(pairs):
    once, stepwise = grown([pairs]), grown([[pair] for pair in pairs])
    np.testing.assert_array_equal(once.transitions, stepwise.transitions)
    np.testing.assert_array_equal(once.emissions, stepwise.emissions)
    for state in range(5):
        np.testing.assert_array_equal(once.visits(state), stepwise.visits(state))


def test_what_is_kept_is_made_once_until_the_history_grows():
    history, made = grown([[(0, 0), (1, 1)]]), []

    def make():
        made.append(len(history))
        return len(history)

    def recall(*asked):
        return history.present.recall(*asked)

    assert [recall("setting", "key", make), recall("setting", "key", make)] == [2, 2]
    assert recall("setting", "other", make) == recall("other", "key", make) == 2
    assert made == [2, 2, 2]
    history.append(*arrays([(0, 0)]))
    assert recall("setting", "key", make) == 3


def test_the_past_is_not_the_caller_s_array():
    states, observations = arrays([(0, 0), (1, 1), (0, 1)])
    history = History(2)
    history.append(states, observations)
    states[:] = observations[:] = 1
    assert history.states.tolist() == [0, 1, 0]
    assert history.observations.tolist() == [0, 1, 1]


def test_a_history_without_symbols_counts_none():
    history = History(2, symbols=False)
    history.append(*arrays([(0, 0), (1, 7), (0, 9)]))
    assert history.emissions.shape == (2, 1)
    assert history.observations.tolist() == [0, 7, 9]


@steady
@given(
    st.lists(st.integers(0, 3), max_size=60),
    st.lists(st.lists(st.integers(0, 3), max_size=40), max_size=5),
)
def test_shelves_hold_the_times_in_order_or_say_that_they_are_full(first, batches):
    shelves, all_states = Shelves(np.array(first, dtype=np.int64), 4), list(first)
    for batch in batches:
        times = np.arange(len(all_states), len(all_states) + len(batch))
        before = [shelves.of(s).tolist() for s in range(4)]
        if shelves.add(np.array(batch, dtype=np.int64), times, 4):
            all_states += batch
        else:
            assert [shelves.of(s).tolist() for s in range(4)] == before
    for state in range(6):
        expected = [t for t, s in enumerate(all_states) if s == state]
        assert shelves.of(state).tolist() == expected


def test_shelves_have_no_room_for_a_state_that_is_new():
    shelves = Shelves(np.array([0, 1]), 2)
    assert not shelves.add(np.array([2]), np.array([2]), 3)
    assert shelves.of(2).tolist() == []


@steady
@given(codes.filter(bool), codes.filter(bool), st.integers(5, 7))
def test_a_completion_says_what_the_completed_sequence_says(past, new, n_states):
    history = grown([past])
    before = (history.transitions.copy(), history.emissions.copy())
    states, observations = arrays(new)
    completion = Completion(history, states, observations, n_states)
    naive = Naive(past + new, n_states)
    width = max(o for _, o in past + new) + 2
    assert completion.horizon == len(new)
    assert completion.last == new[-1][0]
    assert completion.transitions.tolist() == naive.transitions()
    assert completion.emissions.tolist() == naive.emissions(width)
    assert [completion.element(t) for t in range(len(past + new))] == past + new
    sources, targets = completion.moves
    steps = [past[-1][0], *states.tolist()]
    assert list(zip(sources.tolist(), targets.tolist(), strict=True)) == list(pairwise(steps))
    assert completion.window.start.tolist() == [past[-1][0]]
    assert completion.window.states.tolist() == [states.tolist()]
    assert completion.window.observations.tolist() == [observations.tolist()]
    for old, now in zip(before, (history.transitions, history.emissions), strict=True):
        np.testing.assert_array_equal(old, now)


@steady
@given(codes.filter(bool), st.lists(st.integers(0, 2), min_size=1, max_size=6), st.data())
def test_the_key_of_the_counts_tells_classes_apart(past, states, data):
    """Equal keys, if and only if the counts of the completed sequences are equal."""
    history = grown([past])
    seen = data.draw(st.lists(st.integers(MISSING, 1), min_size=len(states), max_size=len(states)))
    order = data.draw(st.permutations(range(len(states))))
    observations = np.array(seen, dtype=np.int64)
    one = Completion(history, np.array(states, dtype=np.int64), observations, 5)
    other = Completion(history, np.array([states[k] for k in order]), observations, 5)
    alike = (
        np.array_equal(one.transitions, other.transitions)
        and np.array_equal(one.emissions, other.emissions)
        and one.last == other.last
    )
    assert (one.counts_key == other.counts_key) == alike
    assert min(one.counts_key) >= 0


@pytest.mark.parametrize(
    ("shape", "wanted", "found"),
    [((2, 2), (3, 3), (3, 3)), ((2, 3), (1, 1), (2, 3)), ((2, 3, 4), (5,), (5, 3, 4))],
)
def test_padding_adds_zeros_at_the_end(shape, wanted, found):
    grown_array = padded(np.ones(shape, dtype=np.int64), *wanted)
    assert grown_array.shape == found
    assert grown_array.sum() == np.prod(shape)
    assert grown_array[tuple(slice(size) for size in shape)].all()
