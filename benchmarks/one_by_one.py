"""A plugin of pytest, `-p benchmarks.one_by_one`: every window is predicted by itself.

So the tests can be run as if all windows of a segment had never been predicted in one pass: by the
switch that `roll_levels` has for its witness.
"""

from definetti.evaluation.rolling import roll_levels


def pytest_configure() -> None:
    defaults = roll_levels.__kwdefaults__
    assert defaults is not None
    defaults["at_once"] = False
