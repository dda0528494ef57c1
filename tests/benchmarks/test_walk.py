"""The count of the files that a prediction passes."""

from benchmarks.walk import switches, walked

from definetti import ConformalHMM
from definetti.simulate import weather

Y, X = weather(60, random_state=0)


def predicted():
    return ConformalHMM(random_state=0).fit(Y, X).predict_set(["hat"])


def test_it_counts_the_calls_of_the_package_and_no_others():
    assert walked(lambda: sorted("others", key=str.lower)) == []
    calls = walked(lambda: weather(3, random_state=0))
    assert set(calls) == {"simulate.py"}
    assert switches(calls) == 0


def test_it_is_the_same_each_time():
    calls = walked(predicted)
    assert calls == walked(predicted)
    assert 0 < len(set(calls)) <= switches(calls) + 1
    assert all(name.endswith(".py") for name in calls)
