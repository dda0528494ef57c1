"""Whatever comes in whatever order, a monitor that is saved and loaded in between is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import definetti
from definetti import ConformalHMM, Monitor
from definetti.martingales import CUSUM
from definetti.simulate import weather
from definetti.symmetry import Spaced

Y, X = weather(240, random_state=5)
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "warned": ({"symmetry": "full"}, {}),
    "restarted": (
        {"symmetry": "spaced", "smoothing": True},
        {"on_alarm": "restart", "alarm": CUSUM(5)},
    ),
    "latest blocks": (
        {"symmetry": Spaced(recent=4)},
        {"on_alarm": "restart", "alarm": CUSUM(5)},
    ),
    "from the change": (
        {"symmetry": "full"},
        {"on_alarm": "restart", "restart_from": "change", "alarm": CUSUM(3)},
    ),
    "adapting": (
        {"symmetry": "full", "smoothing": True},
        {"adapt_from": "beginning", "parts": ["transitions", "visits"]},
    ),
    "fixed": (
        {"symmetry": "departures", "train_size": 20},
        {"on_alarm": "adapt", "alarm": CUSUM(3)},
    ),
}


def live(way: str, seed: int, path: Path | None) -> list[Any]:
    """Observe, label early steps and late ones, skip, break off; save and load if there is a path.

    What cannot be is asked for now and then, and leaves all as it was.
    """
    rng, (settings, reaction) = np.random.default_rng(seed), WAYS[way]
    cp = ConformalHMM(random_state=0, **settings).fit(Y[:40], X[:40])
    monitor, told, waiting = Monitor(cp, random_state=1, **reaction), [], list[int]()
    for _ in range(120):
        what, which, again = rng.random(), int(rng.integers(10**6)), rng.random() < 0.1
        if not waiting or (what < 0.45 and len(waiting) < 4):
            waiting.append(monitor.n_observed)
            seen = None if which % 10 == 0 else Y[40 + waiting[-1]]
            found = monitor.observe(seen, predict=bool(which % 9))
            told.append(None if found is None else sorted(map(str, found)))
        elif what < 0.8:
            time = waiting.pop(which % len(waiting) if which % 5 < 2 else 0)
            steps = monitor.label(X[40 + time], time=time)
            told += [(one.time, one.state, one.covered, dict(one.p_values)) for one in steps]
        elif what < 0.9:
            time = waiting.pop(which % len(waiting))
            told += [one.time for one in monitor.skip(time=time)]
        else:
            told += [one.time for one in monitor.gap()]
            waiting = []
        with pytest.raises(ValueError, match="time="):
            monitor.label("sun", time=10**6)
        if again and path is not None:
            monitor.save(path)
            monitor = definetti.load(path)
    capitals = [one.state.tolist() for one in monitor.martingales.values()]
    return [*told, capitals, monitor.coverage.overall, monitor.n_labels, monitor.n_skipped]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_saved_and_loaded_at_any_moment(way: str, tmp_path: Path) -> None:
    assert live(way, 3, tmp_path / "on.definetti") == live(way, 3, None)
