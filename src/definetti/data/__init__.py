"""Labels in, codes out: sequences, histories, and what a candidate makes of them."""

from definetti.data.history import Completion, History, Windows
from definetti.data.labels import MISSING, Alphabet

__all__ = ["MISSING", "Alphabet", "Completion", "History", "Windows"]
