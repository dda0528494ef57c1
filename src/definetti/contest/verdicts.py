"""Whose sets are the smallest of those that reach the level, world by world."""

from __future__ import annotations

from typing import Any

from definetti.contest.rows import Rows
from definetti.paper.methods import PROMISED

PROMISES = {
    "yes": "guaranteed",
    "if Markov": "guaranteed if the data are an HMM",
    "lost": "its guarantee is lost here",
    "no": "not guaranteed",
}


def verdicts(rows: Rows) -> Rows:
    """Tell for each world whose sets are the smallest of those that reach the level.

    Notes
    -----
    A method reaches the level if the exact 95 % interval of its coverage does: it is not refuted,
    which is less than a guarantee. "guaranteed" says whether it has one. Of equals the guaranteed
    one is named. "ours" is the smallest of ours that reach the level. "by_state" is the smallest
    of those that reach it given each last state as well, as far as there are windows to tell;
    it is what ours, and the paper's theorem, promise.

    Examples
    --------
    >>> shared = {"world": "w", "horizon": 1}
    >>> rows = [
    ...     {
    ...         **shared,
    ...         "method": "full+path",
    ...         "by": "ours",
    ...         "guaranteed": "yes",
    ...         "high": 0.9,
    ...         "scaled_size": 0.5,
    ...     },
    ...     {
    ...         **shared,
    ...         "method": "classical",
    ...         "by": "others",
    ...         "guaranteed": "no",
    ...         "high": 0.7,
    ...         "scaled_size": 0.2,
    ...     },
    ... ]
    >>> found = verdicts(rows)[0]
    >>> found["smallest"], found["guaranteed"], found["ours_over_smallest"]
    ('full+path', 'yes', 1.0)
    """
    places = dict.fromkeys((row["world"], row["horizon"]) for row in rows)
    found = []
    for world, horizon in places:
        own = [r for r in rows if (r["world"], r["horizon"]) == (world, horizon)]
        valid = sorted(
            (r for r in own if r.get("high", 0.0) >= PROMISED),
            key=lambda r: (r["scaled_size"], r["guaranteed"] == "no"),
        )
        ours = [r for r in valid if r["by"] == "ours"]
        by_state = [r["method"] for r in valid if r.get("by_state")]
        line: dict[str, Any] = {"world": world, "horizon": horizon, "smallest": None,
                                "guaranteed": None, "ours": None, "ours_over_smallest": None,
                                "by_state": by_state[0] if by_state else None}  # fmt: skip
        if valid:
            line |= {"smallest": valid[0]["method"], "guaranteed": valid[0]["guaranteed"]}
        if ours:
            ratio = ours[0]["scaled_size"] / max(valid[0]["scaled_size"], 1e-300)
            line |= {"ours": ours[0]["method"], "ours_over_smallest": ratio}
        found.append(line)
    return found


def told(verdict: dict[str, Any]) -> str:
    """Say a verdict in words.

    >>> told(
    ...     {
    ...         "smallest": "classical",
    ...         "guaranteed": "no",
    ...         "ours": "full+path",
    ...         "ours_over_smallest": 1.05,
    ...         "by_state": None,
    ...     }
    ... )
    'smallest that reaches the level: classical (not guaranteed); full+path is 1.05 times as large'
    """
    if verdict["smallest"] is None:
        return "no method reaches the level"
    promise = PROMISES[verdict["guaranteed"]]
    words = f"smallest that reaches the level: {verdict['smallest']} ({promise})"
    if verdict["ours"] is None:
        words += "; none of ours reaches it"
    elif verdict["ours"] != verdict["smallest"]:
        words += f"; {verdict['ours']} is {verdict['ours_over_smallest']:.2f} times as large"
    if verdict["by_state"] not in (None, verdict["smallest"]):
        words += f"; given each last state: {verdict['by_state']}"
    return words
