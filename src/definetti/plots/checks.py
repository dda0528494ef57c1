"""Plot a diagnosis: residuals with exact bands, and test statistics with their draws."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from definetti.check import Curve, Diagnosis, Residuals
from definetti.plots._axes import escape_name, take_axes, take_pyplot

Picture = Literal["quantiles", "histogram", "autocorrelation"]
PICTURES: tuple[Picture, ...] = ("quantiles", "histogram", "autocorrelation")
SHOWN = 3  # default number of kinds of residuals
PANEL = 2.6  # minimal width of a plot in inches
TALL = 2.1  # height of a plot in inches


def plot_check(diagnosis: Diagnosis, of: str | None = None, width: float = 9.0) -> Any:
    """Plot residuals with exact bands, and the statistic of each test with its draws.

    Parameters
    ----------
    diagnosis : Diagnosis
    of : name of `Diagnosis.residuals`, or of a column; default: the next state and two columns
    width : of the figure, in inches

    Returns
    -------
    the figure, with plots as of `plot_residuals`, then of `plot_statistic` for each test

    Examples
    --------
    >>> from definetti.check import check
    >>> from definetti.simulate import weather
    >>> found = check(*weather(200, random_state=0), random_state=0)
    >>> figure = plot_check(found, "next state", width=4)
    >>> [ax.get_title() for ax in figure.axes[:2]]
    ['quantiles', 'histogram']
    """
    names = _choose(diagnosis, of)
    across = 3 if width >= 3 * PANEL else 1  # three plots in a row, or below each other
    rows = -(-len(diagnosis.tests) // max(2, int(width / PANEL)))
    per_row = -(-len(diagnosis.tests) // rows)
    down = [3 // across] * len(names) + [rows]
    height = TALL * sum(down) + 0.4 * len(down) + 0.9
    figure = take_pyplot().figure(figsize=(width, height), layout="constrained")
    groups = figure.subfigures(len(down), 1, height_ratios=[k + 0.2 for k in down], squeeze=False)
    for group, name in zip(groups[:, 0], names, strict=False):
        residuals = diagnosis.residuals[name]
        whose = escape_name(name if name.startswith("column ") else f"the {name}")
        group.suptitle(f"Residuals of {whose}", fontsize="medium", x=0.01, ha="left")
        axes = group.subplots(down[0], across, squeeze=False).ravel()
        for ax, picture in zip(axes, PICTURES, strict=True):
            _draw_curve(ax, residuals, picture)
    if names:
        ax = figure.axes[0]
        figure.legend(*ax.get_legend_handles_labels(), loc="outside lower left", frameon=False,
                      ncols=2 if across < 3 else 4, fontsize="small")  # fmt: skip
    title = f"Statistics, observed and of up to {diagnosis.n_resamples:,} rearrangements"
    groups[-1, 0].suptitle(title, fontsize="medium", x=0.01, ha="left")
    axes = groups[-1, 0].subplots(down[-1], per_row, squeeze=False).ravel()
    for ax, name in zip(axes, diagnosis.tests, strict=False):
        plot_statistic(diagnosis, name, ax=ax)
    for ax in axes[len(diagnosis.tests) :]:
        ax.remove()
    return figure


def plot_residuals(
    diagnosis: Diagnosis, picture: Picture = "quantiles", of: str | None = None, ax: Any = None
) -> Any:
    """Plot forecast pseudo-residuals with exact bands from the rearrangements; return the axes.

    A residual is the rank of a step among those before it, as a normal deviate: of the next state
    among those that followed the same state, of an observation among those of its own state. Ties
    are broken at random. If the assumption holds, residuals are independent and normal.

    Parameters
    ----------
    diagnosis : Diagnosis
    picture : {"quantiles", "histogram", "autocorrelation"}
        Quantiles minus those of the normal distribution; a histogram over equal parts of it; or
        correlations with residuals some steps before.
    of : name of `Diagnosis.residuals`, or of a column; default: the first
    ax : matplotlib axes, optional

    Notes
    -----
    If the assumption holds, the line leaves the pale band *anywhere* with probability 0.05 at most,
    and the dark band at any one point. Both are exact at every length, by ranks among the draws of
    the tests. A cross marks points outside of the pale band. `Diagnosis.p_value` is the verdict for
    all tests together.

    Examples
    --------
    >>> from definetti.check import check
    >>> from definetti.simulate import weather
    >>> found = check(*weather(200, random_state=0), random_state=0)
    >>> plot_residuals(found, "autocorrelation", "observations").get_xlabel()
    'lag'
    """
    if picture not in PICTURES:
        raise ValueError(f"picture must be one of {', '.join(PICTURES)}, got {picture!r}")
    name = _choose(diagnosis, of)[:1]
    if not name:
        raise ValueError(
            "diagnosis has no residuals; call check with pictures=True, on more than one state"
        )
    ax = take_axes(ax, 5, 3.2)
    _draw_curve(ax, diagnosis.residuals[name[0]], picture)
    ax.set_title(f"{picture} of residuals, {escape_name(name[0])}", fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_statistic(diagnosis: Diagnosis, test: str, ax: Any = None) -> Any:
    """Plot the statistic of a test and its histogram over rearrangements; return the axes.

    Parameters
    ----------
    diagnosis : Diagnosis
    test : the name of one of its tests
    ax : matplotlib axes, optional

    Notes
    -----
    The p-value is the share of statistics, the observed one included, that are as large. Of a test
    with several parts the most extreme is shown, and its p-value accounts for the choice.

    Examples
    --------
    >>> from definetti.check import check
    >>> from definetti.simulate import weather
    >>> found = check(*weather(200, random_state=0), random_state=0)
    >>> plot_statistic(found, "order").get_title(loc="left")
    'order: p = 0.59'
    """
    if test not in diagnosis.tests:
        raise ValueError(f"test must be one of {', '.join(diagnosis.tests)}, got {test!r}")
    finding = diagnosis.tests[test]
    ax = take_axes(ax, 5, 3.2)
    fails = finding.adjusted_p_value <= diagnosis.alpha
    finite = finding.drawn[np.isfinite(finding.drawn)]
    if len(finite):
        bins = min(30, len(np.unique(np.round(finite, 9))))
        ax.hist(finite, bins=bins, color="0.72", label="rearrangements")
    ax.axvline(finding.statistic, color="black", linewidth=1.6, label="observed",
               linestyle="-" if fails else "--")  # fmt: skip
    ax.plot([finding.statistic], [0.96], marker="v", color="black", markersize=6, clip_on=False,
            transform=ax.get_xaxis_transform())  # fmt: skip
    part = f" ({finding.part})" if finding.part else ""
    ax.set_title(f"{escape_name(test)}: p = {finding.p_value:.2g}", loc="left", fontsize="medium",
                 fontweight="bold" if fails else "normal")  # fmt: skip
    ax.set_xlabel(escape_name(f"statistic{part}"), fontsize="small")
    ax.set_yticks([])
    ax.tick_params(labelsize="small")
    ax.locator_params(axis="x", nbins=4)
    ax.margins(y=0.15)
    ax.spines[["left", "right", "top"]].set_visible(False)
    return ax


def _choose(diagnosis: Diagnosis, of: str | None) -> list[str]:
    """Return the names of the chosen residuals."""
    names = list(diagnosis.residuals)
    if of is None:
        return names[:SHOWN]
    chosen = next((name for name in (of, f"column {of}") if name in names), None)
    if chosen is None:
        there = ", ".join(map(repr, names)) or "none; call check with pictures=True"
        raise ValueError(f"of must be one of the residuals, {there}; got {of!r}")
    return [chosen]


def _draw_curve(ax: Any, residuals: Residuals, picture: Picture) -> None:
    curve: Curve = getattr(residuals, picture)
    at, base = curve.at, curve.at if picture == "quantiles" else 0.0
    observed, both, alone = (
        values - base for values in (curve.observed, curve.simultaneous, curve.pointwise)
    )
    if picture == "histogram":  # draw steps from edge to edge
        edges = np.arange(len(at) + 1) / len(at)
        at = np.repeat(edges, 2)[1:-1]
        observed, both, alone = (
            np.repeat(values, 2, axis=-1) for values in (observed, both, alone)
        )
    ax.fill_between(at, *both, color="0.87", linewidth=0, label="95 % band, all points together")
    ax.fill_between(at, *alone, color="0.72", linewidth=0, label="95 % band, each point")
    ax.axhline(1 if picture == "histogram" else 0, color="#d95f02", linestyle="--", linewidth=1,
               label="expected")  # fmt: skip
    ax.plot(at, observed, color="black", linewidth=1.3, label="observed",
            marker="o" if picture == "autocorrelation" else None, markersize=3)  # fmt: skip
    out, high = curve.outside, curve.observed - base
    ax.plot(curve.at[out], high[out], "X", color="black", markersize=6, markeredgecolor="white",
            markeredgewidth=0.5, label="outside")  # fmt: skip
    words = {
        "quantiles": ("normal quantile", "residual − normal"),
        "histogram": ("uniform residual", "density"),
        "autocorrelation": ("lag", "correlation"),
    }[picture]
    ax.set_title(picture, fontsize="medium")
    ax.set_xlabel(words[0], fontsize="small")
    ax.set_ylabel(words[1], fontsize="small")
    ax.tick_params(labelsize="small")
    ax.margins(x=0.02)
    ax.xaxis.get_major_locator().set_params(integer=picture != "histogram")
    if picture == "histogram":
        ax.set_ylim(bottom=0)
