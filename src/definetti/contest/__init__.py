"""All methods side by side, on the same data."""

from definetti.contest.compare import compare

__all__ = ["compare"]
