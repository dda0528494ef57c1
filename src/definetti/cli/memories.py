"""The part of `definetti verify` about laws whose future depends on more than the state."""

from __future__ import annotations

from typing import Any

SHORTEST, LONGEST = 2, 4  # labelled steps: for a memory of two, and for the state alone to fail


def verify_memories(
    score: str, *, length: int, horizon: int, confidence: Any
) -> list[dict[str, Any]]:
    """Return a row a law, symmetry and memory: coverage given each last state."""
    import numpy as np

    from definetti import ConformalHMM
    from definetti.cli.levels import list_levels
    from definetti.memory import Order
    from definetti.symmetry import Symmetry
    from definetti.verify import LAWS, enumerate_sequences

    exact = [
        name for name, one in Symmetry.named.items() if one().exact and one.given == "last state"
    ]
    own = np.array(list_levels(confidence, (0, 1)))
    rows, known = [], {}
    for name, law in LAWS.items():
        for symmetry, memory in [("spaced", Order(1)), *((one, law.memory) for one in exact)]:
            if (symmetry, memory) not in known:
                cp = ConformalHMM(symmetry=symmetry, memory=memory, conformity_score=score)
                steps = max(SHORTEST, min(length, LONGEST))
                known[symmetry, memory] = enumerate_sequences(cp, steps, horizon, verbose=True)
            found = known[symmetry, memory]
            plain, smoothed = (
                found.coverage_given_last(law, confidence, ties) for ties in (False, True)
            )
            right = memory != Order(1)
            short, off = (plain - own).argmin(), abs(smoothed - own).argmax()
            valid = (plain - own)[short] >= -1e-12 and abs(smoothed - own)[off] < 1e-9
            rows.append({"law": name, "memory": _name(memory), "symmetry": symmetry,
                         "worst_state": float(plain[short]), "smoothed": smoothed.tolist(),
                         "farthest": int(off), "valid": bool(valid), "proved": right})  # fmt: skip
    return rows


def _name(memory: Any) -> str:
    from definetti.memory import Age, Order

    if isinstance(memory, Order):
        return str(memory.k)
    capped = isinstance(memory, Age) and memory.most is not None
    return f"{memory.known_as} to {memory.most}" if capped else str(memory.known_as)


def show_memories(rows: list[dict[str, Any]], title: str) -> None:
    """Print the rows as a table that eighty columns will do for."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"More than the state: {title}", pad_edge=False)
    for column in ("law", "memory", "symmetry", "worst state", "smoothed", "valid"):
        table.add_column(
            column, justify="right" if column in ("worst state", "smoothed") else "left"
        )
    table.caption = (
        "laws of which the future depends on more than the present state, with a memory of that "
        "state alone, and with the memory that they need; smoothed: given the last state for which "
        "it is farthest from the level"
    )
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        smoothed = row["smoothed"][row["farthest"]]
        verdict = "yes" if row["valid"] else "[bold]NO[/bold]"
        last = after is None or after["law"] != row["law"]
        table.add_row(row["law"], row["memory"], row["symmetry"], f"{row['worst_state']:.8f}",
                      f"{smoothed:.8f}", verdict, end_section=last)  # fmt: skip
    Console().print(table)
