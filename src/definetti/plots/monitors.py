"""Plot a monitor: capitals of its martingales, coverage so far, and the latest sets."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from definetti.martingales import Ville
from definetti.monitor import COVERAGE, Monitor
from definetti.plots._axes import draw_cells, draw_rows, draw_truth, take_pyplot

POINTS = 1_000  # maximal number of points on a line
COLOURS = ("#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02")
LINES = ("-", "--", "-.", ":")  # used when there are more parts than colours


def plot_monitor(monitor: Monitor, ax: Any = None) -> Any:
    """Plot the capitals, the coverage so far and the latest sets of a monitor; return the axes.

    Parameters
    ----------
    monitor : Monitor
    ax : three matplotlib axes, optional
        Axes from an earlier call are cleared and drawn again.
    """
    if ax is None:
        _, ax = take_pyplot().subplots(
            3, figsize=(10, 8), layout="constrained", height_ratios=[2, 1.5, 1.5]
        )
    if len(ax) != 3:
        raise ValueError(f"ax must be three axes, got {len(ax)}; leave it out for new ones")
    for axes in ax:
        axes.clear()
    _draw_capitals(monitor, ax[0])
    _draw_coverage(monitor, ax[1])
    _draw_sets(monitor, ax[2])
    return ax


def _thinned(number: int) -> Any:
    """Return at most `POINTS` evenly spread positions, with the last."""
    return np.unique(np.linspace(0, max(number - 1, 0), min(number, POINTS)).astype(int))


def _draw_capitals(monitor: Monitor, ax: Any) -> None:
    history = monitor.history
    some = _thinned(len(history))
    times = history[some, 0]
    limits = {name: limit / np.log(10) for name, limit in monitor.log_thresholds.items()}
    for k, (name, logs) in enumerate(monitor.log_capitals.items()):
        # Coverage is a broad black line; the other lines show which assumption fails.
        colour = "black" if name == COVERAGE else COLOURS[(k - 1) % len(COLOURS)]
        line = LINES[max(k - 1, 0) // len(COLOURS) % len(LINES)]
        width = 2.5 if name == COVERAGE else 1.0
        values = logs[some] / np.log(10)
        ax.plot(times, values, color=colour, linestyle=line, linewidth=width, label=name)
    # Alarms other than Ville's compare the growth since the start or since the minimum.
    by_capital = isinstance(monitor.alarm, Ville)
    for name, colour in ((COVERAGE, "black"), (monitor.parts[0], "0.6")):
        number = 1 if name == COVERAGE else len(monitor.parts)
        reached = f"{number}/α" if by_capital else f"grown {10 ** limits[name]:,.0f} times"
        label = f"{name if name == COVERAGE else 'law'}: {reached}"
        ax.axhline(limits[name], color=colour, linestyle="--", linewidth=1, label=label)
    threshold = monitor.alarm.log_threshold / np.log(10)
    for alert in monitor.alarms:
        ax.axvline(alert.time, color="#a6761d", linewidth=1)
        ax.annotate(alert.part, (alert.time, threshold), rotation=90, va="top", ha="right",
                    fontsize=8, color="#a6761d")  # fmt: skip
    ax.yaxis.set_major_formatter(lambda value, _: f"$10^{{{value:g}}}$")
    ax.legend(loc="upper left", framealpha=0.7, edgecolor="none", ncols=2, fontsize="small")
    title = fill(f"{monitor.n_labels:,} labels; {monitor.promise}", 100)
    ax.set(ylabel="capital", title=title)


def _draw_coverage(monitor: Monitor, ax: Any) -> None:
    history = monitor.history
    judged = history[~np.isnan(history[:, 1])]
    overall = monitor.coverage.overall
    # Add steps that are no longer in the history.
    before = overall.judged - len(judged)
    held = overall.held - judged[:, 1].sum() + judged[:, 1].cumsum()
    trials = before + np.arange(1, len(judged) + 1)
    some = _thinned(len(judged))
    if len(some):
        low, high = monitor.coverage.sequence.interval(held[some], trials[some])
        ax.fill_between(judged[some, 0], low, high, color="0.85", label="at all times, 95 %"
                        if monitor.coverage.sequence.alpha == 0.05 else "at all times")  # fmt: skip
        ax.plot(judged[some, 0], held[some] / trials[some], color="black", label="coverage so far")
    level = monitor.confidence_level
    if isinstance(level, float):
        ax.axhline(level, color="#d95f02", linestyle="--", label=f"promised, {level:g}")
    ax.legend(loc="lower left", frameon=False, ncols=3)
    ax.set(ylabel="coverage", ylim=(0, 1.02))


def _draw_sets(monitor: Monitor, ax: Any) -> None:
    recent = [step for step in monitor.recent if step[2] is not None]
    states = monitor.states
    code = {label: k for k, label in enumerate(states)}
    nodes = np.zeros((len(recent), len(states)), dtype=bool)
    truth = np.array([code[label] for _, label, _ in recent], dtype=np.int64)
    for row, (_, _, members) in zip(nodes, recent, strict=True):
        row[[code[label] for label in members or ()]] = True
    first = recent[0][0] if recent else 0
    if recent:
        draw_cells(ax, np.where(nodes, 0.25, np.nan), first)
    draw_rows(ax, states, first, first + max(len(recent) - 1, 0))
    draw_truth(ax, truth, nodes[np.arange(len(truth)), truth], first)
    ax.set(xlabel="step", ylabel="latest sets")
