"""Memories: tokens for every step that carry more of the past than the state.

The proofs for hidden Markov models use one fact: the future depends on the past through the
present state. With tokens in place of states the same proofs hold, under a weaker assumption.
"""

from definetti.memory.base import Memory as Memory
from definetti.memory.memories import Age as Age
from definetti.memory.memories import Observation as Observation
from definetti.memory.memories import Order as Order
from definetti.memory.memories import resolve_memory as resolve_memory
