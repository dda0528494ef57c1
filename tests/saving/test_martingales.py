"""Martingales, alarms and levels that adapt go on where they were."""

import numpy as np
import pytest
from tests.saving.answers import passed

from definetti.levels import AdaptiveLevel
from definetti.martingales import Alarm, Martingale

P_VALUES = np.random.default_rng(0).random(40)


@pytest.mark.parametrize("name", Martingale.named)
def test_martingales(name, tmp_path):
    bet = Martingale.named[name]()
    bet.update_many(P_VALUES[:20])
    again = passed(bet, tmp_path)
    assert (again.update_many(P_VALUES[20:]) == bet.update_many(P_VALUES[20:])).all()


@pytest.mark.parametrize("name", Alarm.named)
def test_alarms(name, tmp_path):
    alarm = Alarm.named[name](parts=2)
    logs = np.cumsum(P_VALUES.reshape(20, 2) - 0.4, axis=0)
    alarm.update_many(logs[:10])
    again = passed(alarm, tmp_path)
    assert (again.statistics == alarm.statistics).all()
    assert (again.update_many(logs[10:]) == alarm.update_many(logs[10:])).all()


@pytest.mark.parametrize("name", AdaptiveLevel.named)
def test_levels(name, tmp_path):
    level = AdaptiveLevel.named[name](confidence_level=0.8)
    for p_value in P_VALUES[:20]:
        level.update(float(p_value))
    late = level.issue()
    again = passed(level, tmp_path)
    for one in (level, again):
        one.update(0.25, late)
        for p_value in P_VALUES[20:]:
            one.update(float(p_value))
    assert again.alpha == level.alpha
    assert again.state == level.state
