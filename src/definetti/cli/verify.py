"""`definetti verify`: exact coverage, by enumeration."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from definetti.cli import options
from definetti.cli.estimators import list_levels, name_levels, read_confidence, write_memory
from definetti.cli.printing import make_table, print_result

if TYPE_CHECKING:
    from rich.table import Table

# The paper's two-state model with its parameters p and b, and two without mixing.
MODELS = {
    name: (np.array(initial), np.array(transition), np.array(emission))
    for name, initial, transition, emission in (
        ("p=0.1 b=0.5", [0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]]),
        ("p=0.9 b=0.75", [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.75, 0.25], [0.25, 0.75]]),
        ("iid b=0.9", [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]),
        ("reducible", [0.5, 0.5], [[0.8, 0.2], [0.0, 1.0]], [[0.7, 0.3], [0.2, 0.8]]),
        ("alternating", [1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], [[0.7, 0.3], [0.4, 0.6]]),
    )
}
# A fixed model that knows one of two symbols predicts beyond the observed steps.
FORECAST, BEYOND = "forecast", 2
STATES = (0, 1)
TEXT = {"symmetry", "model", "process", "memory"}  # left-aligned columns
# By horizon: the visit whose departure is predicted, from the windows before it.
VISITS = {1: 10, 2: 4, 3: 2}
SHORTEST, LONGEST = 2, 4  # range of labelled steps for higher-order laws
# Caption of each table, and its columns with their keys in the JSON rows.
BY_SYMMETRY = (
    "coverage: of the conservative set; worst state: conditional on the last state, the "
    "smallest; smoothed: with ties broken at random, integrated over the uniform; "
    f"{FORECAST}: a fixed model, a symbol that it has not seen, and {BEYOND} steps beyond the "
    "observations; valid: yes if the symmetry is exact and the level is reached; not proved: "
    "the level is reached here, and may be missed under another model",
    {"symmetry": "symmetry", "model": "model", "coverage": "coverage",
     "worst state": "worst_state", "smoothed": "smoothed", "valid": "valid"},
)  # fmt: skip
BY_VISIT = (
    "a fixed model predicts at visit {departure} to the state; coverage: one minus "
    "the probability that this visit comes and is missed; smoothed: with ties broken at "
    "random; at a fixed time: smoothed, at the end of the labelled steps, conditional on the "
    "current state",
    {"model": "model", "state": "state", "coverage": "coverage", "smoothed": "smoothed",
     "at a fixed time": "by_the_clock", "valid": "valid"},
)  # fmt: skip
BY_LAW = (
    "processes whose future depends on more than the current state, with a memory of that "
    "state alone and with the memory that they need; smoothed: conditional on the last state "
    "for which it is farthest from the level",
    {"process": "law", "memory": "memory", "symmetry": "symmetry",
     "worst state": "worst_state", "smoothed": "smoothed", "valid": "valid"},
)  # fmt: skip


def verify(
    length: Annotated[int, typer.Option(min=1, max=7, help="labelled steps")] = 5,
    horizon: Annotated[int, typer.Option(min=1, max=3, help="new steps")] = 1,
    confidence: options.Level = "0.9",
    score: options.Score = "filter",
    prior: Annotated[float, typer.Option(help="added to every count; 0 is the paper's")] = 0.0,
    json: options.Json = False,
) -> None:
    """Compute exact coverage: the total probability of all sequences that are covered.

    The states are 0 and 1, and may have different levels: --confidence 1=0.9,0.6.

    Example: definetti verify --length 6 --horizon 1 --confidence 0.9
    """
    from definetti import HMM
    from definetti.levels import read_levels
    from definetti.symmetry import Symmetry

    level = read_confidence(confidence, STATES)
    read_levels(level).check(STATES)
    model = HMM(prior=prior)
    model.check()
    asked: dict[str, Any] = {"length": length, "horizon": horizon, "confidence": level}
    clocked = {name: kind for name, kind in Symmetry.named.items() if kind.given == "last state"}
    exact_first = sorted(clocked, key=lambda name: not clocked[name]().exact)
    rows = [
        row
        for symmetry in (*exact_first, FORECAST)
        for row in _verify_symmetry(symmetry, model, score, **asked)
    ]
    departures = _verify_departures(score, **asked)
    memories = _verify_memories(score, **asked)
    title = f"{length} labelled steps, horizon {horizon}, {score} score, prior {prior:g}"
    after = f"{horizon} step{'s' * (horizon > 1)} after a state, {score} score"
    document = {
        "confidence_level": name_levels(level, STATES), "length": length, "horizon": horizon,
        "score": score, "prior": prior, "rows": rows, "departures": departures,
        "memories": memories,
    }  # fmt: skip
    laws = f"Higher-order processes: {score} score, level {confidence}"
    tables = [
        _show(rows, f"Exact coverage at level {confidence}: {title}", *BY_SYMMETRY),
        _show(departures, f"Departures: {after}, level {confidence}", *BY_VISIT),
        _show(memories, laws, *BY_LAW),
    ]
    print_result(document, tables, json)


def _verify_symmetry(
    symmetry: str, model: Any, score: str, *, length: int, horizon: int, confidence: Any
) -> list[dict[str, Any]]:
    """Return a row per model: coverage, whether it reaches the level, and whether it must."""
    from definetti import ConformalHMM
    from definetti.exceptions import NotExactWarning
    from definetti.symmetry import Symmetry
    from definetti.verify import enumerate_ranks

    ahead = BEYOND if symmetry == FORECAST else 0
    if ahead:  # fix a model that has seen one of the two symbols
        states = [0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0]
        symbols = [0 if state == 0 else None for state in states]
        fitted = ConformalHMM(states=[0, 1]).fit(symbols, states)
        model = ConformalHMM(fitted, states=[0, 1]).fit([0], [0]).model_
    known_as = "spaced" if ahead else symmetry
    predictor = ConformalHMM(model, conformity_score=score, symmetry=known_as, allow_empty=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)  # the table reports it
        everything = enumerate_ranks(
            predictor, 2, 2, length, horizon + ahead, verbose=True, observed=horizon
        )
    broken = everything._replace(smoothing=True)
    rows, own = [], np.array(list_levels(confidence, STATES))
    for name, law in MODELS.items():
        given = everything.coverage_given_last(*law, confidence)
        exactly = broken.coverage_given_last(*law, confidence)
        rows.append({
            "symmetry": symmetry, "model": name, "coverage": everything.coverage(*law, confidence),
            "worst_state": float(given[np.nanargmin(given - own)]),
            "smoothed": broken.coverage(*law, confidence),
            "valid": bool(np.nanmin([given - own, exactly - own]) >= -1e-12),
            "proved": bool(Symmetry.named[known_as]().exact),
        })  # fmt: skip
    return rows


def _show(rows: list[dict[str, Any]], title: str, caption: str, columns: dict[str, str]) -> Table:
    """Return a table of some columns of rows, with a section per value of the first column."""
    table = make_table(
        columns, left=TEXT, title=title, title_justify="center", pad_edge=False,
        caption=caption.format_map(rows[0]),
    )  # fmt: skip
    first = next(iter(columns.values()))
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        cells = (_write_cell(row, name) for name in columns.values())
        table.add_row(*cells, end_section=after is None or after[first] != row[first])
    return table


def _write_cell(row: dict[str, Any], name: str) -> Any:
    from rich.text import Text

    value = row[name]
    if name == "valid":
        proved = row.get("proved", True) or "law" in row  # laws are enumerated one by one
        return Text("NO", "bold") if not value else "yes" if proved else "not proved"
    if isinstance(value, list):
        value = value[row["farthest"]]
    return f"{value:.8f}" if isinstance(value, float) else "never" if value is None else str(value)


def _verify_departures(
    score: str, *, length: int, horizon: int, confidence: Any
) -> list[dict[str, Any]]:
    """Return a row per model and current state: coverage over visits, and at a fixed time."""
    from definetti import ConformalHMM, given_hmm
    from definetti.verify import enumerate_departures, enumerate_ranks

    # Any fixed model will do: it need not generate the sequences.
    model = given_hmm([[0.7, 0.3], [0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]])
    predictor = ConformalHMM(model, conformity_score=score, symmetry="departures", allow_empty=True)
    which = VISITS[horizon]
    plain = enumerate_departures(predictor, 2, 2, which, horizon, verbose=True)
    clock = enumerate_ranks(predictor, 2, 2, length, horizon, verbose=True)
    smoothed, ticking = plain._replace(smoothing=True), clock._replace(smoothing=True)
    rows, own = [], list_levels(confidence, (0, 1))
    for name, (initial, steps, emitted) in MODELS.items():
        law = steps, emitted, confidence
        by_clock = ticking.coverage_given_present(initial, *law, horizon)
        figures = zip(
            1 - plain.missed(*law), smoothed.coverage(*law), by_clock.tolist(), strict=True
        )
        for state, (kept, exactly, timed) in enumerate(figures):
            valid = kept >= own[state] - 1e-12 and abs(exactly - own[state]) < 1e-9
            rows.append({"model": name, "state": state, "departure": which, "coverage": kept,
                         "smoothed": exactly, "by_the_clock": timed if timed == timed else None,
                         "valid": bool(valid)})  # fmt: skip
    return rows


def _verify_memories(
    score: str, *, length: int, horizon: int, confidence: Any
) -> list[dict[str, Any]]:
    """Return a row per law and symmetry: coverage conditional on the last state."""
    from definetti import ConformalHMM
    from definetti.memory import Order
    from definetti.symmetry import Symmetry
    from definetti.verify import LAWS, enumerate_sequences

    exact = [
        name for name, kind in Symmetry.named.items() if kind().exact and kind.given == "last state"
    ]
    own = np.array(list_levels(confidence, (0, 1)))
    rows, known = [], {}
    for name, law in LAWS.items():
        for symmetry, memory in [("spaced", Order(1)), *((kind, law.memory) for kind in exact)]:
            if (symmetry, memory) not in known:
                cp = ConformalHMM(symmetry=symmetry, memory=memory, conformity_score=score)
                steps = max(SHORTEST, min(length, LONGEST))
                known[symmetry, memory] = enumerate_sequences(cp, steps, horizon, verbose=True)
            enumerated = known[symmetry, memory]
            plain, smoothed = (
                enumerated.coverage_given_last(law, confidence, ties) for ties in (False, True)
            )
            short, off = (plain - own).argmin(), abs(smoothed - own).argmax()
            valid = (plain - own)[short] >= -1e-12 and abs(smoothed - own)[off] < 1e-9
            rows.append({
                "law": name, "memory": write_memory(memory).replace(":", " to "),
                "symmetry": symmetry, "worst_state": float(plain[short]),
                "smoothed": smoothed.tolist(), "farthest": int(off), "valid": bool(valid),
                "proved": memory != Order(1),
            })  # fmt: skip
    return rows
