"""The public check of memories: all there are pass it, and what is wrong does not."""

import numpy as np
import pytest

from definetti.memory import Age, Memory, Observation, Order
from definetti.testing import check_memory


@pytest.mark.parametrize("name", Memory.named)
def test_every_memory(name):
    check_memory(Memory.named[name]())


@pytest.mark.parametrize("memory", [Order(2), Order(4), Age(1), Age(3)], ids=repr)
def test_memories_of_some_length(memory):
    check_memory(memory)


# Memories that are wrong, each in one way.


class NoState(Order):
    """Its tokens do not begin with the state."""

    def follow(self, tokens, states, observations):
        return super().follow(tokens, states, observations)[:, ::-1]


class OwnTrace(Age):
    """Its fast way is another than `follow`."""

    def trace(self, states, observations, before=None):
        return super().trace(states, observations, before) * [1, 1, 0]


class NotAfter(Age):
    """Its fast way begins anew after every token."""

    def trace(self, states, observations, before=None):
        return super().trace(states, observations)


class Counting(Order):
    """Looks at how many tokens it is asked for together."""

    def follow(self, tokens, states, observations):
        return np.column_stack([states, np.full(len(states), len(states))])

    trace = Memory.trace


class Rising(Order):
    """Takes codes for numbers: whether the state has risen."""

    def begin(self, state, observation):
        return np.array([state, -1])

    def follow(self, tokens, states, observations):
        return np.column_stack([states, states > tokens[:, 0]])

    trace = Memory.trace


class Unobserved(Observation):
    """Says that it does not look at observations, and does."""

    reads_observations = False


class Newborn(Age):
    """Takes the first state for one that has just begun."""

    def begin(self, state, observation):
        return np.array([state, 1, 0])

    trace = Memory.trace


class Settled(Order):
    """Takes the first state for one that has always been."""

    def begin(self, state, observation):
        return np.array([state] * self.k)

    trace = Memory.trace


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (NoState(2), "begin with the code of its state"),
        (OwnTrace(), "`trace` is not `begin`"),
        (NotAfter(), "`trace` after a token"),
        (Counting(2), "depends on more"),
        (Rising(2), "compute with codes"),
        (Unobserved(), "reads_observations"),
        (Newborn(), "`begin` gives a token"),
        (Newborn(2), "`begin` gives a token"),
        (Settled(2), "`begin` gives a token"),
        (Settled(3), "`begin` gives a token"),
    ],
    ids=repr,
)
def test_wrong_memories_are_found_out(memory, message):
    with pytest.raises(AssertionError, match=message):
        check_memory(memory)


class Even(Memory):
    """Whether the step is even: what is not known makes the same difference to all steps."""

    reads_observations = False
    assumption = "the present state and whether the step is even"

    def begin(self, state, observation):
        return np.array([state, 0])

    def follow(self, tokens, states, observations):
        return np.column_stack([states, 1 - tokens[:, 1]])


def test_a_first_token_may_come_again_if_what_shares_it_would_do_so_anyway():
    check_memory(Even())
