"""What a type checker makes of the common case, in a user's own file under `mypy --strict`."""

import subprocess
import sys

import pytest

SCRIPT = """
from collections.abc import Hashable, Sequence

from definetti import ConformalHMM, Errors, Evaluation, GroupedConformalHMM, StepSets
from definetti.sets import BasePredictionSet
from definetti.simulate import weather

y, x = weather(100, random_state=0)
cp = ConformalHMM(random_state=0).fit(y, x)
s = cp.predict_set(["hat"])
members: Sequence[tuple[Hashable, ...]] = s.sequences
steps: list[tuple[Hashable, ...]] = s.steps
p: float = s.p_value(("sun",))
inside: bool = ("sun",) in s
several: list[BasePredictionSet] = cp.predict_set(["hat"], confidence_level=[0.8, 0.9])
found: Evaluation = cp.evaluate(y, x, horizon=1)
one: BasePredictionSet = GroupedConformalHMM(cp).fit(y, x, x).predict_set(["hat"], group="sun")
few = ConformalHMM(guarantee=Errors(1), train_size=0.5).fit(y, x).predict_set(["hat"])
if isinstance(few, StepSets):
    print(few.max_errors, few.marginals)
cp = cp.set_params(confidence_level=0.8).partial_fit(y, x)
"""


@pytest.mark.slow
def test_sets_are_used_without_telling_their_kinds_apart(tmp_path):
    (tmp_path / "use.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "use.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    errors = [line for line in done.stdout.splitlines() if line.startswith("use.py")]
    assert errors == [], done.stdout
    assert done.returncode in (0, 1)


def test_step_sets_say_that_they_have_no_sequences():
    from definetti import ConformalHMM
    from definetti.simulate import weather

    cp = ConformalHMM(guarantee="steps", train_size=0.5).fit(*weather(100, random_state=0))
    s = cp.predict_set(["hat"])
    assert not hasattr(s, "sequences")
    with pytest.raises(AttributeError, match=r"has no p_value.*guarantee='all'"):
        s.p_value(("sun",))
