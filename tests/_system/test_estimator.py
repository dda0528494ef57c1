"""Estimators do without scikit-learn until somebody asks for it."""

import subprocess
import sys

import pytest

PREDICTED = """
import sys
from definetti import HMM, ConformalHMM
from definetti.simulate import weather

y, x = weather(60, random_state=0)
cp = ConformalHMM(HMM(), random_state=0).fit(y[:58], x[:58])
cp.predict_set(y[58:])
"""


def run(script):
    command = [sys.executable, "-c", PREDICTED + script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_a_prediction_needs_no_scikit_learn():
    script = """
import copy, pickle
pickled = pickle.dumps(copy.deepcopy(cp))
finders = [type(finder).__module__ for finder in sys.meta_path]
assert not any(name.startswith("definetti") for name in finders)
print(cp.set_params(smoothing=True, model__prior=2).get_params()["model__prior"])
print(repr(cp).replace(" ", ""))
assert not any(name.partition(".")[0] == "sklearn" for name in sys.modules)

from sklearn.base import clone
again = clone(pickle.loads(pickled))
assert type(again) is ConformalHMM and again.get_params()["random_state"] == 0
class Mine(ConformalHMM): ...
print(clone(Mine(smoothing=True)))
"""
    shown = "ConformalHMM(model=HMM(prior=2),smoothing=True,random_state=0)"
    assert run(script) == ["2", shown, "Mine(smoothing=True)"]


@pytest.mark.slow
def test_who_is_not_fitted_says_so_in_the_words_of_scikit_learn():
    script = """
from sklearn.exceptions import NotFittedError
try:
    ConformalHMM().predict_set([])
except NotFittedError as error:
    print("told")
"""
    assert run(script) == ["told"]
