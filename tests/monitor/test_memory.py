"""A monitor of what remembers more than the state: over gaps, restarts, and in files."""

import numpy as np
import pytest

from definetti import ConformalHMM, Monitor, load
from definetti.martingales import Ville
from definetti.simulate import weather

Y, X = weather(100, random_state=0)
SETTINGS = [{"memory": 3}, {"memory": "age"}]


@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_it_lives_on_after_a_gap_and_a_restart(how, tmp_path):
    cp = ConformalHMM(random_state=0, **how).fit(Y[:70], X[:70])
    how = {
        "listen_to": "law",
        "on_alarm": "restart",
        "alarm": Ville(0.99),
        "martingale": "simple_jumper",
    }
    monitor = Monitor(cp, parts=["whole window"], random_state=1, **how)
    again = None
    for k, (y, x) in enumerate(zip(Y[70:], X[70:], strict=True)):
        both = [one for one in (monitor, again) if one is not None]
        assert len({str(one.observe(y)) for one in both}) == 1
        steps = [one.skip() if k == 8 else one.label(x) for one in both]
        assert steps[0] == steps[-1]
        if k == 9:  # a single label is known since the gap
            monitor.save(tmp_path / "stream.definetti")
            again = load(tmp_path / "stream.definetti")
    values = monitor.p_values["whole window"]
    assert np.isnan(values).sum() == 1
    assert monitor.n_labels == 29
    assert any("restarted" in alert.done for alert in monitor.alarms)


def test_an_estimator_is_read_that_knows_one_label_since_a_gap(tmp_path):
    cp = ConformalHMM(memory=2, random_state=0).fit(Y[:70], X[:70])
    cp.new_segment().partial_fit(Y[70:71], X[70:71]).save(tmp_path / "model.definetti")
    assert load(tmp_path / "model.definetti").predict_p(Y[71:72]) == cp.predict_p(Y[71:72])


@pytest.mark.parametrize("observations", [[float(k % 7) / 2 for k in range(40)], None])
def test_what_is_no_observation_is_refused_when_it_comes(observations):
    cp = ConformalHMM(memory=2, random_state=0).fit(observations, X[:40])
    monitor = Monitor(cp, random_state=0)
    for predict in (True, False):
        with pytest.raises((TypeError, ValueError), match="observation"):
            monitor.observe("text" if observations else 1.5, predict=predict)
    monitor.gap()
    with pytest.raises((TypeError, ValueError), match="observation"):
        monitor.observe("text" if observations else 1.5)
    assert monitor.n_observed == 0
    monitor.observe(0.5 if observations else None)
    assert len(monitor.label(X[40])) == 1
