"""Encode labels and observations; hold histories, windows and completed histories."""

from definetti.data.history import Completion, History, Windows
from definetti.data.labels import MISSING, Alphabet

__all__ = ["MISSING", "Alphabet", "Completion", "History", "Windows"]
