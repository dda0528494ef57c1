from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from studies import nights
from studies.data import SLEEP
from studies.nights import STAGES, ScaledNight


def test_missing_data_are_named_with_their_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nights.main(["--data", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "PhysioNet Sleep-EDF Expanded" in said
    assert SLEEP.name in said


def made(subject: str, name: str, seed: int) -> ScaledNight:
    rng = np.random.default_rng(seed)
    codes = np.repeat(rng.integers(0, 5, 12), 5)
    observations = rng.normal(size=(60, 2)) + np.stack([codes, codes**2 / 4], axis=1)
    return ScaledNight(subject, name, np.arange(60) / 120, observations, [STAGES[k] for k in codes])


@pytest.mark.slow
def test_every_unit_is_tested_and_none_is_fitted_on_itself(tmp_path: Path) -> None:
    every = [made(f"s{k // 2}", f"s{k // 2}n{k % 2}", k) for k in range(16)]
    for unit, number in (("subject", 8), ("night", 16)):
        found = list(nights.splits(every, unit, 2))
        assert len(found) == 2 * number
        for cp, unseen in found:
            assert len(unseen) == (2 if unit == "subject" else 1)
            assert cp.n_units_ == number - 1 - nights.TRAINED[unit]
    cp, unseen = found[0]
    nights.draw_night(unseen[0], cp.predict_set(unseen[0].observations, confidence_level=0.8),
                 tmp_path / "night.png")  # fmt: skip
    assert (tmp_path / "night.png").stat().st_size > 1000


@pytest.mark.slow
def test_nights(shared: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    shared(f"data/{SLEEP}")
    assert nights.main(["--data", str(shared("data")), "--splits", "1"]) == 0
    said = capsys.readouterr().out
    assert "20 nights of 10 subjects" in said
    assert "7 of 9" in said
