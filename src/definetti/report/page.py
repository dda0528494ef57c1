"""The report as an object, and its page: one HTML file that opens without a network."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from definetti._system.files import replace_file

MOST_STEPS = 200  # the most steps, and series, in sentences


@dataclass(frozen=True)
class Report:
    """The contents of a report, and the page that shows them.

    Attributes
    ----------
    contents : all numbers and words of the report, ready for JSON
    """

    contents: dict[str, Any]

    @property
    def html(self) -> str:
        """The page: one file that opens without a network."""
        return _render(self.contents)

    def save(self, path: str | Path) -> Path:
        """Write the page, whole or not at all."""
        path = Path(path)
        text = self.html
        # A label may hold half of a surrogate pair, which UTF-8 cannot encode.
        replace_file(path, lambda part: part.write_text(text, "utf-8", errors="replace"))
        return path

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="definetti report" '
            'style="width:100%;height:48rem;border:1px solid #ccc"></iframe>'
        )

    def __repr__(self) -> str:
        found = self.contents
        if found["levels"] is None:
            number = found["series"]["number"]
            return f"Report: {number:,} series; .save('report.html') writes the page"
        new, test = found["new"], found["backtest"]
        parts = [
            f"{found['labelled']:,} labelled steps",
            f"{new['steps']:,} new" if new else "no new rows",
            f"{test['windows']:,} windows of backtest" if test else "no backtest",
        ]
        return f"Report: {', '.join(parts)}; .save('report.html') writes the page"


def _render(contents: dict[str, Any]) -> str:
    """Return the report as one HTML document."""
    try:
        from jinja2 import Environment
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            f"a report needs {error.name}; pip install 'definetti-hmm[report]'"
        ) from None
    folder = files("definetti.report") / "assets"
    page, style, script = (
        (folder / name).read_text(encoding="utf-8")
        for name in ("page.html", "style.css", "report.js")
    )
    template = Environment(autoescape=True, keep_trailing_newline=True).from_string(page)
    return template.render(
        title=contents["title"],
        lines=_summarise(contents),
        style=Markup(style),
        contents=Markup(embedded(contents)),
        plotly=Markup(get_plotlyjs()),
        script=Markup(script),
    )


def _summarise(contents: dict[str, Any]) -> list[str]:
    """Return the sets in sentences, for a browser without scripts."""
    lines = []
    if series := contents["series"]:
        each = (f"{one['series']}: {one['verdict']}" for one in series["listed"][:MOST_STEPS])
        lines += [f"{series['verdict']}.", *each, *([series["shown"]] if series["shown"] else [])]
    if contents["levels"] is None:
        return lines
    place, new, states = contents["asked"], contents["new"], contents["states"]
    lines.append(contents["promise"][place])
    for step, row in enumerate(new["first"][:MOST_STEPS] if new else [], 1):
        there = [state for state, first in zip(states, row, strict=True) if first <= place]
        lines.append(f"Step {step}: {', '.join(there) or 'none'}")
    if contents["check"]:
        lines.append(contents["check"]["verdict"])
    return lines


def embedded(contents: dict[str, Any]) -> str:
    r"""Write JSON so that no text in it can end the script element that holds it.

    >>> embedded({"state": "</script>"})
    '{"state": "\\u003c/script>"}'
    """
    text = json.dumps(contents, allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
