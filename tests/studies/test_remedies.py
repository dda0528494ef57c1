from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console
from studies import remedies
from studies.choices import RecordedKind

from definetti.experiments.worlds import Recording


def test_each_remedy_that_is_named_is_applied(capsys: pytest.CaptureFixture[str]) -> None:
    lasts = np.random.default_rng(0).integers(4, 7, 60)
    states = np.repeat(np.arange(60) % 2, lasts).tolist()
    data = RecordedKind("regular", [Recording(None, states, "regular")], "auto")
    remedies.apply(data, 10, Console(width=110))
    said = capsys.readouterr().out
    assert said.startswith("regular: durations, order fails")
    for words in ("as it is, full", "memory=2", "memory=Age(20)", "symmetry='spaced'"):
        assert said.count(words) == 1
