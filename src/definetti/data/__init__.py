"""Labels in, codes out: sequences, histories, and what a candidate makes of them."""

from definetti.data.history import Completion, History
from definetti.data.labels import MISSING, Alphabet
from definetti.data.windows import Windows

__all__ = ["MISSING", "Alphabet", "Completion", "History", "Windows"]
