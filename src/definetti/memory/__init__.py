"""What the future depends on: a token for every step, which carries more than the state.

All that is proved of hidden Markov models uses one fact, that the future depends on the past
through the present state. With a token in the place of the state the same proofs hold word for
word, under a weaker assumption.
"""

from definetti.memory.age import Age as Age
from definetti.memory.base import Memory as Memory
from definetti.memory.observation import Observation as Observation
from definetti.memory.order import Order as Order
from definetti.memory.order import resolve_memory as resolve_memory
