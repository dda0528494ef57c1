"""The report object, its HTML page, and sentences on the guarantee."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.files import replace_file
from definetti.engine.pvalues import miscoverage
from definetti.levels import ConfidenceLevel
from definetti.levels.by_state import grouped
from definetti.memory import Memory, Order

MOST_STEPS = 200  # maximal number of steps, and of series, in sentences
MOST_DIGITS = 6  # of "999,999 of 1,000,000"; with more digits, write a percentage


@dataclass(frozen=True)
class Report:
    """The contents of a report, and the page that shows them.

    Attributes
    ----------
    contents : all numbers and text of the report, ready for JSON
    """

    contents: dict[str, Any]

    @property
    def html(self) -> str:
        """The page as one HTML file that needs no network."""
        return _render(self.contents)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, atomically."""
        path = Path(path)
        text = self.html
        # A label may hold an unpaired surrogate, which UTF-8 cannot encode.
        replace_file(path, lambda part: part.write_text(text, "utf-8", errors="replace"))
        return path

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="definetti report" '
            'style="width:100%;height:48rem;border:1px solid #ccc"></iframe>'
        )

    def __repr__(self) -> str:
        contents = self.contents
        if contents["levels"] is None:
            number = contents["series"]["number"]
            return f"Report: {number:,} series; .save('report.html') writes the page"
        new, test = contents["new"], contents["backtest"]
        parts = [
            f"{contents['labelled']:,} labelled steps",
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
    names = ("page.html", "style.css", "report.js")
    page, style, script = ((folder / name).read_text(encoding="utf-8") for name in names)
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
    """Return the sets as text, for a browser without scripts."""
    lines = []
    if series := contents["series"]:
        verdicts = (
            f"{record['series']}: {record['verdict']}" for record in series["listed"][:MOST_STEPS]
        )
        lines += [
            f"{series['verdict']}.",
            *verdicts,
            *([series["shown"]] if series["shown"] else []),
        ]
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
    """Return the contents as JSON that cannot end the enclosing script element."""
    text = json.dumps(contents, allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


# --- Sentences


def assumed(cp: Any, memory: Memory, observed: bool) -> str:
    """Return the assumption behind the guarantee of a fitted estimator, as a sentence."""
    words = (
        f"This holds for all transition {'and emission ' * observed}probabilities, known or not, "
        "as long as "
    )
    if memory != Order(1):
        words += f"the future depends on the past only through {memory.assumption}"
    else:
        words += "the states follow one Markov chain, in the past and now"
    if observed and not memory.reads_observations:
        words += ", and each observation depends only on the state at its own time"
    if observed and cp._data.history.gaps:
        words += "; observations must be missing at random"
    if cp.model_.fixed and cp.train_size is None:
        words += "; the given model must not have been fitted on these rows"
    return f"{words}."


def percent(level: ConfidenceLevel) -> str:
    """Write a level as a percentage: 99.5 %, or 99 % for N1, 80 % for all others."""
    if isinstance(level, Mapping):
        parts = grouped(level)
        return ", ".join(
            f"{percent(group_level)} for {names or 'all others'}" for group_level, names in parts
        )
    return f"{float(100 * (1 - miscoverage(level))):.12g} %"


def promise(
    level: ConfidenceLevel,
    steps: int,
    guarantee: str,
    max_errors: int,
    exact: bool,
    given: str = "last state",
) -> str:
    """Return the guarantee as a sentence, conditional on the last or the present state."""
    if not exact:
        return f"No guarantee: these settings aim at {percent(level)} without a proof."
    if guarantee == "errors" and max_errors >= steps:
        return f"No guarantee: {max_errors} errors are allowed in {steps} steps."
    by_visits = "At a fixed time coverage may be slightly lower while visits are few."
    if isinstance(level, Mapping):
        sentences = [
            f"Where the {given} is {names or 'another'}: "
            f"{_lowered(_on_average(group_level, steps, guarantee, max_errors))}"
            for group_level, names in grouped(level)
        ]
        return " ".join(sentences if given == "last state" else [*sentences, by_visits])
    sentence = _on_average(level, steps, guarantee, max_errors)
    if given == "last state":
        return sentence
    return f"Given the present state, averaged over its visits: {_lowered(sentence)} {by_visits}"


def _lowered(sentence: str) -> str:
    return f"{sentence[0].lower()}{sentence[1:]}"


def _on_average(level: float, steps: int, guarantee: str, max_errors: int) -> str:
    often, number = _of(1 - miscoverage(level))
    if guarantee == "steps":
        return f"On average, at least {often} of {number} steps have their true state in the set."
    begin = f"On average, at least {often} of {number} such sets"
    if guarantee == "errors" and max_errors:
        return f"{begin} miss the true state at no more than {max_errors:,} of {steps:,} steps."
    if steps == 1:
        return f"{begin} contain the true state."
    return f"{begin} contain the true states of all {steps:,} steps."


def _of(level: Fraction) -> tuple[str, str]:
    """Write a share as a fraction of a power of ten: 9,999 of 10,000."""
    for digits in range(2, MOST_DIGITS + 1):
        if (level * 10**digits).denominator == 1:
            return f"{int(level * 10**digits):,}", f"{10**digits:,}"
    return f"{float(100 * level):.12g}", "100"


def round_for_page(p_values: FloatArray | Any) -> list[Any]:
    """Round numbers to five digits, to shorten the page."""
    rounded: list[Any] = np.round(p_values, 5).tolist()
    return rounded
