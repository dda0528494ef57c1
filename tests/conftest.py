"""What all tests share: steady property-based tests, two lanes, and the way to the data folder."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Property-based tests are the same in every run, and never fail for being slow.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")

# A job in the background ignores Ctrl-C, and what it starts would, too; the tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"  # beside the project, not in it: the data have other owners

# Tests, by their ids, that take so long that they are slow: a matter of cost, not of meaning, so
# that it stands apart from them. Where one is of many, others of its kind are fast.
LONG = frozenset((ROOT / "tests" / "long.txt").read_text(encoding="utf-8").splitlines())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put long tests into the slow lane, before those of the other lane are left out."""
    for item in items:
        if item.nodeid in LONG:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def shared():
    """Find a file or folder of the data folder, or skip and say what is missing where."""

    def find(name):
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"needs real data that are not part of the project: no {name} in {SHARED}")
        return path

    return find
