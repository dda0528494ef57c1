"""One file that opens anywhere: the page, its style, its script, its numbers, and Plotly."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

PARTS = ("style.css", "report.js")
MOST_STEPS = 200  # in words


def page(contents: dict[str, Any]) -> str:
    """Return the report as HTML that needs nothing from elsewhere."""
    folder = files("definetti.report") / "page"
    text = (folder / "page.html").read_text(encoding="utf-8")
    parts = {part: (folder / part).read_text(encoding="utf-8") for part in PARTS}
    parts["plotly.js"] = _plotly()
    parts["contents.json"] = embedded(contents)
    parts["title"] = html.escape(contents["title"])
    parts["plainly"] = plainly(contents)
    # Split, not replaced one by one: what a user wrote must not be taken for a place to fill.
    pieces = text.split("@@")
    return "".join(piece if k % 2 == 0 else parts[piece] for k, piece in enumerate(pieces))


def plainly(contents: dict[str, Any]) -> str:
    """Return what was asked for as bare HTML, for a reader that runs no scripts."""
    lines = _plainly_series(contents["series"]) if contents["series"] else []
    if contents["levels"] is not None:
        lines += _plainly_one(contents)
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def _plainly_series(found: dict[str, Any]) -> list[str]:
    each = (f"{one['series']}: {one['verdict']}" for one in found["listed"][:MOST_STEPS])
    return [f"{found['verdict']}.", *each, *([found["shown"]] if found["shown"] else [])]


def _plainly_one(contents: dict[str, Any]) -> list[str]:
    place, new, states = contents["asked"], contents["new"], contents["states"]
    lines = [contents["promise"][place]]
    for step, row in enumerate(new["first"][:MOST_STEPS] if new else [], 1):
        there = [state for state, first in zip(states, row, strict=True) if first <= place]
        lines.append(f"Step {step}: {', '.join(there) or 'none'}")
    if contents["check"]:
        lines.append(contents["check"]["verdict"])
    return lines


def embedded(contents: dict[str, Any]) -> str:
    r"""Write JSON so that no text in it can end the element that it stands in.

    >>> embedded({"state": "</script>"})
    '{"state": "\\u003c/script>"}'
    """
    text = json.dumps(contents, allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError("a report needs plotly; pip install 'definetti[report]'") from None
    script: str = get_plotlyjs()
    return script
