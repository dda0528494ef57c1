"""Questions that are far too long are refused before anything so long is made."""

import pytest

from definetti import ConformalHMM, experiments
from definetti.data.encoded import EncodedHistory
from definetti.engine.task import is_long
from definetti.simulate import weather

Y, X = weather(100, random_state=0)
HUGE = 10**9

QUESTIONS = {
    "p_value": lambda cp: cp.p_value(None, ["sun"], horizon=HUGE),
    "p_value, a label too many": lambda cp: cp.p_value(Y[:1], ["sun"] * 3, horizon=2),
    "predict_set": lambda cp: cp.predict_set(horizon=HUGE),
    "predict_p": lambda cp: cp.predict_p(Y[:1], horizon=HUGE),
    "evaluate": lambda cp: cp.evaluate(None, ["sun"] * 3, horizon=HUGE),
}
LATE = {
    "p_value": lambda cp: cp.p_value(None, ["sun"], lag=HUGE),
    "predict_set": lambda cp: cp.predict_set(horizon=HUGE + 1, lag=HUGE),
    "predict_ranks": lambda cp: cp.predict_ranks(horizon=HUGE // 10),
}
ESTIMATORS = {
    "refitted": ConformalHMM(),
    "fixed": ConformalHMM(train_size=0.5),
    "fixed, returns": ConformalHMM(train_size=0.5, symmetry="returns"),
    "baseline": experiments.Classical(),
}


def check_refused(monkeypatch, cp, ask):
    def made(*_):
        raise AssertionError("something as long as the task was made")

    cp.fit(Y, X)
    with monkeypatch.context() as patched:
        patched.setattr(EncodedHistory, "read_new", made)
        with pytest.raises(ValueError, match=r"states has|horizon|lag"):
            ask(cp)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("task", QUESTIONS)
def test_lengths_are_compared_first(monkeypatch, estimator, task):
    check_refused(monkeypatch, ESTIMATORS[estimator], QUESTIONS[task])


@pytest.mark.parametrize("estimator", list(ESTIMATORS)[:3])
@pytest.mark.parametrize("task", LATE)
def test_late_labels_too(monkeypatch, estimator, task):
    check_refused(monkeypatch, ESTIMATORS[estimator], LATE[task])


def test_the_number_of_candidates_is_compared_without_writing_it():
    class Counted(int):
        def __pow__(self, exponent):
            assert exponent < 64
            return int(self) ** exponent

    assert is_long(Counted(3), 10**8, 10**9)
    assert not is_long(Counted(2), 9, 512)
    assert is_long(Counted(2), 10, 512)
    assert is_long(Counted(3), 6, 728)
    assert not is_long(Counted(3), 6, 729)
