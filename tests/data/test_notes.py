"""What is remembered between predictions: right among threads, bounded, and left out of pickles."""

import copy
import pickle
import sys
import threading

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.data.history import SETTINGS, History, LRUCache
from definetti.simulate import weather


def test_of_many_settings_the_last_few_are_kept():
    memory, made = LRUCache(), []

    def recall(setting):
        return memory.recall(setting, "key", lambda: made.append(setting) or setting)

    assert SETTINGS == 4
    assert [recall(setting) for setting in "abcdabeac"] == list("abcdabeac")
    assert made == ["a", "b", "c", "d", "e", "c"]  # "c" was not asked for longest when "e" came
    assert len(memory) == SETTINGS


def test_what_is_returned_is_what_was_made_whatever_happens_meanwhile():
    memory = LRUCache()

    def interrupted():
        memory.note("setting", "key", "of another thread")
        return "mine"

    assert memory.recall("setting", "key", interrupted) == "mine"


@pytest.fixture
def short_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


QUESTIONS = [["umbrella"], ["new"], ["newer"], ["hat", "newest"], ["hat", "hat"], ["nothing", "x"]]


@pytest.mark.parametrize("each", [60, pytest.param(2_500, marks=pytest.mark.slow)])
def test_eight_threads_get_what_one_gets(short_switches, each):
    """A fixed model asked about symbols that it has not met, all at once."""
    y, x = weather(60, random_state=0)
    cp = ConformalHMM(train_size=20, random_state=0).fit(y, x)
    alone = [copy.deepcopy(cp).predict_p(new).p_values for new in QUESTIONS]
    wrong, start = [], threading.Barrier(8)

    def ask(first):
        start.wait()
        for k in range(each):
            which = (first + k) % len(QUESTIONS)
            if not np.array_equal(cp.predict_p(QUESTIONS[which]).p_values, alone[which]):
                wrong.append(which)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", ["spaced", "returns", "pairs"])
def test_a_thousand_different_questions_leave_no_more_than_a_few_behind(symmetry):
    y, x = weather(400, random_state=0)
    parameters = {"train_size": 100} if symmetry == "spaced" else {}
    cp = ConformalHMM(symmetry=symmetry, max_candidates=1_000, **parameters).fit(y, x)
    for horizon in range(2, 502 if symmetry == "spaced" else 10):
        if symmetry == "spaced":
            for lag in (0, 1):
                cp.predict_set(["hat"], horizon=horizon, lag=lag)
        else:
            cp.p_value(y[:horizon], x[:horizon])
    history: History = cp._data.history
    assert len(history.lasting) <= SETTINGS
    assert len(history.present) <= SETTINGS


def test_a_pickle_has_what_was_fitted_and_nothing_else():
    y, x = weather(5000, random_state=0)
    cp = ConformalHMM(train_size=0.5, random_state=0).fit(y, x)
    fresh = len(pickle.dumps(cp))
    before = [cp.predict_p(y[:h]).p_values for h in (1, 2, 3)]
    assert len(pickle.dumps(cp)) == fresh
    again = pickle.loads(pickle.dumps(cp))
    for h, found in zip((1, 2, 3), before, strict=True):
        np.testing.assert_array_equal(again.predict_p(y[:h]).p_values, found)
    assert not len(copy.deepcopy(cp)._data.history.lasting)
