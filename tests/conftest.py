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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Move the cases that `slow_cases` names to the slow lane; refuse names of no case."""
    missing = {}
    for item in items:
        for marker in item.iter_markers("slow_cases"):
            cases = missing.setdefault(item.nodeid.partition("[")[0], set(marker.args))
            if item.callspec.id in marker.args:
                cases.discard(item.callspec.id)
                item.add_marker(pytest.mark.slow)
    missing = {test: cases for test, cases in missing.items() if cases}
    if missing and not any("[" in argument for argument in config.args):
        raise pytest.UsageError(f"slow_cases names cases that are not there: {missing}")


@pytest.fixture(scope="session")
def shared():
    """Find a file or folder of the data folder, or skip and say what is missing where."""

    def find(name):
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"needs real data that are not part of the project: no {name} in {SHARED}")
        return path

    return find
