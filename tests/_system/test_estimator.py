"""Estimators are scikit-learn's, and do without it until somebody asks for it."""

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
def test_a_prediction_needs_no_scikit_learn_and_an_import_makes_estimators_its_own():
    script = """
import copy, pickle
pickled = pickle.dumps(copy.deepcopy(cp))
assert not any(name.partition(".")[0] == "sklearn" for name in sys.modules)

from sklearn.base import BaseEstimator, clone
assert isinstance(cp, BaseEstimator) and isinstance(cp.model, BaseEstimator)
assert issubclass(ConformalHMM, BaseEstimator)
again = clone(cp)
assert type(again) is ConformalHMM and again.get_params()["random_state"] == 0
assert callable(ConformalHMM.set_fit_request) and callable(again.set_partial_fit_request)
assert repr(pickle.loads(pickled)) == repr(again) == "ConformalHMM(model=HMM(), random_state=0)"

import sklearn.base
assert sklearn.base.__spec__.loader is sklearn.base.__loader__
assert not any("estimator" in type(finder).__module__ for finder in sys.meta_path)
class Mine(ConformalHMM): ...
print(clone(Mine(smoothing=True)))
"""
    assert run(script) == ["Mine(smoothing=True)"]


@pytest.mark.slow
def test_what_scikit_learn_gives_an_estimator_is_there_without_asking_for_it():
    script = """
assert "sklearn" not in sys.modules
print(cp.set_params(smoothing=True).get_params()["smoothing"])
print(cp._repr_mimebundle_()["text/plain"] == repr(cp))
"""
    assert run(script) == ["True", "True"]


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
