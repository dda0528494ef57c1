"""What the future depends on: a token for every step, which carries more than the state.

All that is proved of hidden Markov models uses one fact, that the future depends on the past
through the present state. With a token in the place of the state the same proofs hold word for
word, under a weaker assumption.
"""

from definetti.memory.base import Memory as Memory
from definetti.memory.memories import Age as Age
from definetti.memory.memories import Observation as Observation
from definetti.memory.memories import Order as Order
from definetti.memory.memories import resolve_memory as resolve_memory
