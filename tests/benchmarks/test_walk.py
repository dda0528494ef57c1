"""The count of the files that a prediction passes."""

from benchmarks.walk import count_switches, record_calls

from definetti import ConformalHMM
from definetti.evaluation.intervals import exact_interval
from definetti.simulate import weather

Y, X = weather(60, random_state=0)


def predicted():
    return ConformalHMM(random_state=0).fit(Y, X).predict_set(["hat"])


def test_it_counts_the_calls_of_the_package_and_no_others():
    assert record_calls(lambda: sorted("others", key=str.lower)) == []
    calls = record_calls(lambda: exact_interval(1, 2))
    assert set(calls) <= {"evaluation/intervals.py", "_system/checks.py"}
    calls = [one for one in calls if one == "evaluation/intervals.py"]
    assert calls
    assert count_switches(calls) == 0


def test_it_is_the_same_each_time():
    calls = record_calls(predicted)
    assert calls == record_calls(predicted)
    assert 0 < len(set(calls)) <= count_switches(calls) + 1
    assert all(name.endswith(".py") for name in calls)
