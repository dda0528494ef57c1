"""Two estimators that should not differ, asked the same."""

import warnings

import numpy as np

import definetti
from definetti.exceptions import GapWarning, NotExactWarning


def passed(thing, folder, name="model.definetti"):
    """Save something, see that it has the same bytes when saved again, and load it."""
    one, two = folder / name, folder / f"again {name}"
    thing.save(one)
    loaded = definetti.load(one)
    loaded.save(two)
    assert one.read_bytes() == two.read_bytes()
    return loaded


def answers(cp, new, **how):
    """All p-values of a prediction, as the bits that they are."""
    found = cp.predict_p(new, **how)
    if isinstance(found, definetti.LatticeSet):
        return [found.step_p_values.tobytes(), [(one, found.p_value(one)) for one in first(found)]]
    ranks = cp.predict_ranks(new, **how)
    return [list(ranks.items()), list(zip(found.sequences, found.p_values, strict=True))]


def first(found, number=20):
    return [one for one, _ in zip(found, range(number), strict=False)]


def check_same(cp, folder, steps, more, **how):
    """A saved and loaded estimator gives equal p-values, now and after it has learned more.

    Parameters
    ----------
    steps : lists of new observations to ask about, by what came before
    more : observations and states to learn
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)
        warnings.simplefilter("ignore", GapWarning)
        again = passed(cp, folder)
        for new in steps:
            assert answers(again, new, **how) == answers(cp, new, **how)
        for one in (cp, again):
            one.partial_fit(*more)
        for new in steps:
            assert answers(again, new, **how) == answers(cp, new, **how)
        third = passed(again, folder, "third.definetti")
        for new in steps:
            assert answers(third, new, **how) == answers(cp, new, **how)
        assert third.states_ == cp.states_
        assert list(map(type, third.states_)) == list(map(type, cp.states_)) or any(
            isinstance(one, np.generic) for one in cp.states_
        )
    return again
