"""The report as an object, and its page: one HTML file that needs nothing from elsewhere."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from definetti._system.checks import checked_number, checked_share
from definetti._system.files import replace_file
from definetti.check.diagnosis import Diagnosis
from definetti.evaluation import START
from definetti.evaluation.series import SeriesEvaluation
from definetti.levels import read_levels
from definetti.report.contents import collect_contents
from definetti.report.outcomes import describe_series

MOST_STEPS = 200  # the most steps, and series, in sentences


@dataclass(frozen=True)
class Report:
    """What a report says, and the page that shows it.

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
        # Half a character, which some labels end in, has no place in a file.
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
            f"{new['steps']:,} new" if new else "none new",
            f"{test['windows']:,} windows of backtest" if test else "no backtest",
        ]
        return f"Report: {', '.join(parts)}; .save('report.html') writes the page"


def make_report(
    predictor: Any,
    observations: Any,
    states: Any,
    new_observations: Any = None,
    *,
    horizon: int | None = None,
    lag: int = 0,
    levels: Sequence[float] = (),
    lengths: Sequence[int] | None = None,
    start: float = START,
    windows: int | None = None,
    check: Diagnosis | None = None,
    title: str | None = None,
    settings: dict[str, Any] | None = None,
    verbose: bool = False,
) -> Report:
    """Predict, backtest, and put all of it on one page.

    Parameters
    ----------
    predictor : ConformalHMM
        Its settings; it need not be fitted, and is left as it is.
    observations, states : the labelled sequence, as `ConformalHMM.fit` takes it
    new_observations, horizon : what is to be predicted, as `ConformalHMM.predict_set` takes it;
        without either, the page has a backtest only
    lag : int, default 0
        How many of the first new steps not to ask about, as in `ConformalHMM.predict_set`.
    levels : list of float, optional
        Levels to choose from on the page, beside the predictor's own and those that are there
        anyway.
    lengths : list of int, optional
        The lengths of segments of the labelled sequence, with gaps between, as of `fit`.
    start : float, default 0.5
        The share of the labelled steps before the first window of the backtest.
    windows : int, optional
        The most windows that the backtest has, spread over the rows; as in `run_backtest` if left
        out. A window has as many steps as are to be predicted; where the rows have no room for one,
        the page says so and has no backtest.
    check : Diagnosis, optional
        What `ConformalHMM.check` or `definetti.check.check` found of the labelled sequence; the
        page then says whether its promise may be trusted.
    title : str, optional
    settings : dict, optional
        Further settings to show, so that the page can be made again.
    verbose : bool, default False
        Show a progress bar when it takes more than two seconds; on a terminal or in a notebook
        only.

    Returns
    -------
    Report

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(102, random_state=0)
    >>> report = make_report(ConformalHMM(random_state=0), y[:100], x[:100], y[100:], windows=20)
    >>> report
    Report: 100 labelled steps, 2 new, 20 windows of backtest; .save('report.html') writes the page
    >>> report.contents["promise"][report.contents["asked"]]
    'Of 100 such predictions, at least 90, on average, name the true states of all 2 steps among \
the sequences that they leave possible.'
    """
    from definetti import ConformalHMM, __version__

    if not isinstance(predictor, ConformalHMM):
        raise TypeError(
            f"predictor must be a ConformalHMM, got {type(predictor).__name__}; a model of your "
            "own goes into one: ConformalHMM(model=…)"
        )
    checked_share(start, "start")
    if windows is not None:
        checked_number(windows, "windows")
    if check is not None and not isinstance(check, Diagnosis):
        raise TypeError(
            f"check must be a Diagnosis, got {type(check).__name__}; definetti.check.check and "
            "ConformalHMM.check make one"
        )
    found = collect_contents(
        predictor,
        observations,
        states,
        new_observations,
        horizon,
        start,
        windows,
        check,
        lag,
        [read_levels(level).written for level in levels],
        lengths,
        verbose,
    )
    shown = {
        **(settings or {}),
        "horizon": "as many as there are new observations" if horizon is None else horizon,
        "lag": lag,
        "start": start,
        "windows": "as many as there are, or 500" if windows is None else windows,
        **{name: _plain(repr(value)) for name, value in predictor.get_params(deep=False).items()},
        **{name: _plain(value) for name, value in found.pop("used").items()},
        "definetti": __version__,
    }
    if predictor.random_state is None:
        shown["random_state"] = "none was set: what is drawn at random will be drawn anew"
    return Report(
        {
            "title": title or "What the hidden states can be",
            **found,
            "settings": {name: _short(value) for name, value in shown.items()},
        }
    )


def report_series(
    found: SeriesEvaluation | Sequence[SeriesEvaluation],
    horizon: int = 1,
    *,
    one: Report | None = None,
    name: Hashable = None,
    title: str | None = None,
    settings: dict[str, Any] | None = None,
) -> Report:
    """Put on one page how many series fared, and one of them in full.

    Parameters
    ----------
    found : SeriesEvaluation, or a list of them
        What `definetti.evaluation.backtest_series` found. Of several levels there is a verdict
        each, and the table is that of the first.
    horizon : int, default 1
        The steps of its windows.
    one, name : Report and its series, optional
        What `make_report` made of the rows of one series: the page goes on with it.
    title : str, optional
    settings : dict, optional
        Settings to show, so that the page can be made again; before those of `one`.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.evaluation import backtest_series
    >>> from definetti.simulate import weather
    >>> y, x = weather(200, random_state=0)
    >>> towns = ["Rome"] * 100 + ["Oslo"] * 100
    >>> cp = ConformalHMM(random_state=0)
    >>> found = backtest_series(cp, y, x, towns)
    >>> report_series(found)
    Report: 2 series; .save('report.html') writes the page
    >>> rome = make_report(cp, y[:100], x[:100], windows=20)
    >>> report_series(found, one=rome, name="Rome").contents["series"]["shown"]
    'Rome'
    """
    from definetti import __version__

    checked_number(horizon, "horizon")
    each: list[Any] = [found] if isinstance(found, SeriesEvaluation) else list(found)
    odd = [one for one in each if not isinstance(one, SeriesEvaluation)]
    if odd or not each:
        raise TypeError(
            "found must be a SeriesEvaluation, or one for each level, got "
            f"{type(odd[0]).__name__ if odd else 'none'}; definetti.evaluation.backtest_series and "
            "ConformalHMM.evaluate make one"
        )
    rest: dict[str, Any] = {"levels": None, "states": [], "notes": []}
    if one is not None:
        rest = one.contents
    shown = {**(settings or {}), **rest.get("settings", {"definetti": __version__})}
    return Report(
        {
            **rest,
            "title": title or "How each series fared",
            "series": {
                **describe_series(each[0], horizon),
                "verdicts": [level.verdict() for level in each],
                "shown": None if one is None else str(name),
            },
            "settings": {key: _short(value) for key, value in shown.items()},
        }
    )  # fmt: skip


def _plain(text: str) -> str:
    """Write a setting so that it reads the same each time: no place in memory."""
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 400 else f"{text[:400]} …"


def _render(contents: dict[str, Any]) -> str:
    """Return the report as HTML that needs nothing from elsewhere."""
    try:
        from jinja2 import Environment
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            f"a report needs {error.name}; pip install 'definetti-hmm[report]'"
        ) from None
    folder = files("definetti.report") / "page"
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
    """Return the sets in sentences, for a reader that runs no scripts."""
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
