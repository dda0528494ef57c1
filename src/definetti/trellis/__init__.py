"""Sets of too many paths to list, handled through the trellis of their steps.

A set holds the paths whose cost is within the limit of the state they end in. Without
listing the set, these modules compute the nodes and edges of its paths (`trellis`), its paths one
by one from the best (`members`), and the number of paths (`counting`).
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
