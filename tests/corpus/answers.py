"""What is read off an estimator, a set, an evaluation: plain documents."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from tests.corpus.data import NEW, Data

LEVEL = 0.8
LISTED = 12  # members of a lattice that are read
WINDOWS = 4  # of an evaluation at most
REFUSALS = (ValueError, TypeError, KeyError, OverflowError)


def tried(ask: Callable[[], Any]) -> Any:
    """Return the answer; of a refusal, its kind, for the words of messages are tested elsewhere."""
    try:
        return ask()
    except REFUSALS as error:
        return {"refused": type(error).__name__}


@contextmanager
def warned(document: dict[str, Any]) -> Any:
    """Note which warnings of the package came up, and let none through."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield
    ours = {one.category for one in heard if one.category.__module__.startswith("definetti")}
    document["warned"] = sorted(category.__name__ for category in ours)


def read_sequence(sequence: Any) -> str:
    """Write labels as text, those that are not text with their type."""
    return " ".join(x if type(x) is str else f"{type(x).__name__}:{x}" for x in sequence)


def read_set(s: Any) -> dict[str, Any]:
    """Return what a set of any kind says of itself."""
    found = {
        "kind": type(s).__name__, "text": repr(s), "states": read_sequence(s.states),
        "horizon": s.horizon, "confidence_level": s.confidence_level, "method": s.method,
        "exact": s.exact, "nodes": s.nodes, "steps": [read_sequence(step) for step in s.steps],
        "best": None if s.best is None else read_sequence(s.best),
    }  # fmt: skip
    if found["kind"] == "StepSets":
        names = ("limit", "guarantee", "max_errors", "marginals")
        return found | {name: getattr(s, name) for name in names}
    members = list(islice(s, LISTED if found["kind"] == "LatticeSet" else None))
    if found["kind"] == "LatticeSet":
        found |= {"marginals": s.marginals, "limits": s.limits}
    return found | {
        "members": [read_sequence(one) for one in members],
        "p_values": [s.p_value(one) for one in members],
        "len": tried(lambda: len(s)),
        "size": [s.size().low, s.size().high],
        "scaled_size": s.scaled_size,
        "step_p_values": s.step_p_values,
        "edges": s.edges,
    }


def read_evaluation(e: Any) -> dict[str, Any]:
    # Told by what was asked, and by the truth.
    told = {
        "given", "unseen", "begins", "guarantee", "shared_calibration", "sure_misses",
        "calibration_noise",
    }  # fmt: skip
    fields = {name: value for name, value in e._asdict().items() if name not in told}
    return {**fields, "states": read_sequence(e.states), "text": repr(e)}


def read_ranks(ranks: dict[Any, Any]) -> dict[str, Any]:
    return {
        read_sequence(one): [rank.greater, rank.equal, rank.total, rank.randomised]
        for one, rank in ranks.items()
    }


def read_answers(
    cp: Any, data: Data, steps: int, observed: int | None = None, lag: int = 0, long: bool = False
) -> dict[str, Any]:
    """Ask a fitted estimator, here `ConformalHMM` or a baseline, all that it answers."""
    seen, truth = data.window(steps)
    more: dict[str, Any] = {"lag": lag} if lag else {}
    if observed is not None or seen is None:
        seen = seen[:observed] if observed and seen is not None else None
        more["horizon"] = steps
    strange = [*truth[lag:-1], "fog"]  # a label that was never seen
    asked = {
        "every": lambda: read_set(cp.predict_p(seen, **more)),
        "set": lambda: read_set(cp.predict_set(seen, LEVEL, **more)),
        "truth": lambda: cp.p_value(seen, truth[lag:], **more),
        "strange": lambda: cp.p_value(seen, strange, **more),
    }
    if long:
        del asked["every"]
    elif hasattr(cp, "predict_ranks"):
        asked["ranks"] = lambda: read_ranks(cp.predict_ranks(seen, **more))
    if observed is None and not long:
        judged = data.window(steps * min(WINDOWS, NEW // steps))
        late = {"lag": lag} if lag else {}
        asked["evaluated"] = lambda: read_evaluation(
            cp.evaluate(*judged, LEVEL, horizon=steps, **late)
        )
    return {"states": read_sequence(cp.states_), **{k: tried(ask) for k, ask in asked.items()}}


def read_rolled(cp: Any, data: Data, steps: int) -> list[Any]:
    """Predict window after window, each from all before it."""
    found = []
    for k in range(NEW // steps):
        seen, truth = data.window(steps, k)
        more = {"horizon": steps} if seen is None else {}
        s = cp.predict_set(seen, LEVEL, **more)
        p_values = s.p_values if hasattr(s, "p_values") else s.marginals
        found.append(
            [read_sequence(cp.states_), list(map(read_sequence, s.steps)), np.asarray(p_values),
             tried(lambda seen=seen, truth=truth: cp.p_value(seen, truth))]
        )  # fmt: skip
        cp.partial_fit(seen, truth)
    return found
