"""Where a command fixes the model on its own account: by counts alone, and it says so."""

import numpy as np
import pytest

from definetti.cli.estimators import choose_share
from definetti.data.candidates import is_slow


class Table:
    """What `choose_share` looks at of a table."""

    def __init__(self, n_states, length, columns=None, new=None):
        self.states = [k % n_states for k in range(length)]
        self.observations, self.new, self.notes = columns, new, []


def switches(length):
    return np.arange(3 * length).reshape(length, 3) % 2


@pytest.mark.parametrize(
    ("n_states", "steps", "real", "expected"),
    [
        (11, 3, False, None),
        (11, 3, True, None),
        (17, 3, True, 0.5),
        (5, 3, True, None),
        (40, 3, False, 0.5),
        (60, 1, True, None),
    ],
)
def test_a_refit_that_would_take_seconds_is_not_begun(n_states, steps, real, expected):
    values = switches(2000) + (0.5 if real else 0)
    table = Table(n_states, 2000, values)
    assert choose_share(table, steps, None, symmetry="auto") == expected
    assert len(table.notes) == (expected is not None)
    assert all("--train-size 0.5" in note for note in table.notes)
    assert choose_share(table, steps, 0.3, symmetry="auto") == 0.3


def test_types_of_new_rows_count_in_choice_of_share():
    table = Table(17, 2000, switches(2000), new=np.array([[0, 1, 0.5]]))
    assert choose_share(table, 3, None, symmetry="spaced") == 0.5


@pytest.mark.parametrize(
    ("symmetry", "memory", "expected"),
    [("full", "1", None), ("spaced", "2", None), ("departures", "1", None), ("", "1", None)],
)
def test_model_is_fixed_only_if_that_saves_the_listing(symmetry, memory, expected):
    table = Table(17, 2000, switches(2000) + 0.5)
    assert choose_share(table, 3, None, symmetry=symmetry, memory=memory) == expected


def test_is_slow_is_monotone_in_states_steps_and_rows():
    for shared in (True, False):
        slow = [
            is_slow(n, h, t, shared, None) for n in (5, 40) for h in (2, 3) for t in (100, 10**6)
        ]
        for first, second in ((0, 1), (0, 2), (0, 4), (2, 3), (4, 6), (6, 7)):
            assert slow[first] <= slow[second]
    assert not is_slow(300, 1, 10**6, False, None)
