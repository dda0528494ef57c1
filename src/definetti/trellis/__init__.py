"""Sets of paths that are too many to list, handled through the trellis they run in.

A set holds the paths whose cost is within the limit of the state they end in. What can be said of
it without listing it: the nodes and edges its paths use (`trellis`), its paths one by one from the
best (`members`), and how many they are (`counting`).
"""

from definetti.trellis.counting import count, count_bounds, size_bounds
from definetti.trellis.members import members
from definetti.trellis.trellis import Trellis, arrivals, completions, edges, headroom, nodes

__all__ = [
    "Trellis",
    "arrivals",
    "completions",
    "count",
    "count_bounds",
    "edges",
    "headroom",
    "members",
    "nodes",
    "size_bounds",
]
