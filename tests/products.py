"""Which of many combinations are for the fast tests."""

from itertools import product

import pytest


def some_slow(values, slow):
    """Values as parameters, of which those in `slow` are left to the slow tests.

    >>> [one.values for one in some_slow("abc", "ac") if not one.marks]
    [('b',)]
    """
    marks = {True: pytest.mark.slow, False: ()}
    return [pytest.param(value, marks=marks[value in slow]) for value in values]


def covering(*axes, fast=None):
    """All combinations of some axes, as parameters: those that are not needed to cover are slow.

    A few of them are enough to have each value of each axis once; these are fast, or where they
    take long, the first so many of them.

    >>> [one.values for one in covering("abc", [0, 1]) if not one.marks]
    [('a', 0), ('b', 1), ('c', 0)]
    >>> len(covering("abc", [0, 1]))
    6
    >>> [one.values for one in covering("abc", fast=2) if not one.marks]
    [('a',), ('b',)]
    """
    axes = [list(axis) for axis in axes]
    longest = max(map(len, axes))
    few = {tuple(k % len(axis) for axis in axes) for k in range(longest)[:fast]}
    return [
        pytest.param(
            *(axis[k] for axis, k in zip(axes, places, strict=True)),
            marks=() if places in few else pytest.mark.slow,
        )
        for places in product(*(range(len(axis)) for axis in axes))
    ]
