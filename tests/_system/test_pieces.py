"""Long work in compiled code is done in pieces, so that Ctrl-C is heard, and none of them shows."""

import numpy as np
import pytest
from tests.making import drawing

from definetti import HMM, ConformalHMM
from definetti._system import compiled
from definetti._system.compiled import Kernel
from definetti.emissions import Bernoulli, Gaussian, Poisson
from definetti.simulate import weather
from definetti.symmetry import Full, Returns
from definetti.trellis import Trellis, arrivals, counting, size_bounds

Y, X = weather(120, random_state=3)
VECTORS = np.random.default_rng(0).poisson(1.0, size=(120, 3)).astype(float)
TRELLIS = Trellis(*(np.random.default_rng(1).random(shape) for shape in [(3,), (29, 3, 3)]))
LIMITS = arrivals(TRELLIS)[-1] + [0.5, 0.7, -np.inf]


def asked(symmetry, y, emission=None):
    model = "auto" if emission is None else HMM(emission=emission)
    cp = ConformalHMM(symmetry=drawing(symmetry, 99), model=model, random_state=0)
    cp.fit(y[:110], X[:110])
    found = cp.predict_p(y[110:113])
    return found.p_values.tolist()


QUESTIONS = {
    "windows of the whole class": lambda: asked(Full(max_windows=1), Y),
    "orders of blocks": lambda: asked(Returns(max_windows=1), Y),
    "normal vectors": lambda: asked("spaced", VECTORS, Gaussian()),
    "independent normal numbers": lambda: asked("spaced", VECTORS, Gaussian(covariance="diagonal")),
    "counts": lambda: asked("spaced", VECTORS, Poisson()),
    "yes and no": lambda: asked("spaced", np.minimum(VECTORS, 1.0), Bernoulli()),
    "paths one by one": lambda: counting.count(TRELLIS, LIMITS, 10**6),
    "paths on a grid": lambda: size_bounds(TRELLIS, LIMITS),
}


@pytest.mark.slow_cases("independent normal numbers", "windows of the whole class")
@pytest.mark.parametrize("task", QUESTIONS)
def test_every_number_is_the_same(task, monkeypatch):
    calls = []
    real = Kernel.__call__

    def counted(self, *arguments):
        calls.append(self)
        return real(self, *arguments)

    monkeypatch.setattr(Kernel, "__call__", counted)
    whole, in_one_go = QUESTIONS[task](), len(calls)
    calls.clear()
    for module in (compiled, counting):
        monkeypatch.setattr(module, "PIECE", 40)
    assert QUESTIONS[task]() == whole
    assert len(calls) > in_one_go
