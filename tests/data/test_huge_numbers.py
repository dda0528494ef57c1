"""Numbers beyond what a machine number holds are refused with their place."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from definetti import HMM, ConformalHMM, ConformalSequences, experiments
from definetti.emissions import (
    Bernoulli,
    Categorical,
    Gaussian,
    LogLikelihood,
    Poisson,
)

X = ["sun", "rain"] * 10
HUGE = {
    "whole": 10**400,
    "negative": -(10**400),
    "fraction": Fraction(10**400, 3),
    "more digits than may be written": 10**5000,
}
OTHERS = {"decimal": Decimal(10) ** 400, "complex": 1 + 2j}
FITS = {
    "numbers": ([0.5, 1.5] * 10, Gaussian(), "row 4"),
    "rows": ([[1, 0.5], [0, 1.5]] * 10, Gaussian(), "row 4, column 1"),
    "diagonal": ([[1, 0.5], [0, 1.5]] * 10, Gaussian("diagonal"), "row 4, column 1"),
    "counts": ([[1, 0], [0, 1]] * 10, Poisson(), "row 4, column 1"),
    "switches": ([[1, 0], [0, 1]] * 10, Bernoulli(), "row 4, column 1"),
    "judged": ([[-1, -2], [-2, -1]] * 10, LogLikelihood(), "row 4, column 1"),
}


def with_one(values, number):
    """Put a number into the fourth row, at its end."""
    row = [*values[3][:-1], number] if isinstance(values[3], list) else number
    return [*values[:3], row, *values[4:]]


@pytest.mark.parametrize("number", [*HUGE, *OTHERS])
@pytest.mark.parametrize("kind", FITS)
def test_the_row_is_named(kind, number):
    values, emission, place = FITS[kind]
    error = ValueError if number in HUGE else TypeError
    wrong = with_one(values, {**HUGE, **OTHERS}[number])
    cp = ConformalHMM(model=HMM(emission=emission), states=["sun", "rain"])
    with pytest.raises(error, match=f"^observations: {place} is .*; (rescale|leave)"):
        cp.fit(wrong, X)
    cp.fit(values, X)
    with pytest.raises(error, match=f"^new_observations: {place} is "):
        cp.predict_set(wrong[:4])
    with pytest.raises(error, match=f"^observations: {place} is "):
        cp.partial_fit(wrong, X)


@pytest.mark.parametrize("number", [10**400, -(10**400)], ids=["above", "below"])
def test_where_the_model_is_chosen_too(number):
    for cp in (ConformalHMM(), ConformalHMM(train_size=0.5)):
        with pytest.raises(ValueError, match=r"^observations: row 4 is beyond"):
            cp.fit(with_one([0.5, 1.5] * 10, number), X)
        with pytest.raises(ValueError, match=r"^new_observations: row 1 is beyond"):
            cp.fit([0.5, 1.5] * 10, X).predict_set([number])
    with pytest.raises(ValueError, match=r"^observations: row 4 is beyond"):
        ConformalSequences().fit(with_one([0.5, 1.5] * 10, number), X, lengths=[2] * 10)
    frame = pd.DataFrame({"u": [0.5] * 20, "v": with_one([0.5, 1.5] * 10, number)})
    with pytest.raises(ValueError, match=r"^observations: row 4, column 'v' is beyond"):
        ConformalHMM().fit(frame, X)
    # Among whole numbers it is a symbol like any other.
    symbols = with_one([3, 4] * 10, number)
    assert ConformalHMM().fit(symbols, X).symbols_ == (3, 4, number)


@pytest.mark.parametrize("number", [10**400, Fraction(10**400, 3)], ids=["whole", "fraction"])
def test_parameters_and_what_functions_return(number):
    for make in (lambda: Gaussian(prior=number), lambda: Categorical(prior=number)):
        with pytest.raises(ValueError, match=r"^prior must be a finite number"):
            make()
    with pytest.raises(ValueError, match=r"^radius must be a finite number"):
        experiments.Robust(radius=number).fit([1, 2] * 10, X)
    with pytest.raises(ValueError, match=r"^score must return one number per window"):
        ConformalHMM(conformity_score=lambda windows: [number] * len(windows.start)).fit(
            [1, 2] * 10, X
        ).predict_set([1])
    with pytest.raises(TypeError, match=r"^weight must return one number per window"):
        experiments.LikelihoodRatio(weight=lambda start, _: [number] * len(start)).fit(
            [1, 2] * 10, X
        ).predict_set([1])

    def probabilities(_, observations):
        return np.full((*observations.shape, 2), number, dtype=object)

    cp = ConformalHMM(model=probabilities, states=["sun", "rain"]).fit([1, 2] * 10, X)
    with pytest.raises(TypeError, match=r"^model returned a ndarray that is no array of numbers"):
        cp.predict_set([1])


def test_a_horizon_too():
    with pytest.raises(ValueError, match="takes more memory than there is"):
        ConformalHMM().fit([1, 2] * 10, X).predict_set(horizon=10**400)
    with pytest.raises(ValueError, match="candidate sequences, more than max_candidates"):
        ConformalHMM(HMM()).fit([1, 2] * 10, X).predict_set(horizon=10**400)
