"""Martingales along streams: how often they alarm without a change, and how soon after one.

`python -m studies.streams ville` draws streams of ten hidden Markov models and prints the share
that ever reaches one over alpha, beside the simple jumper of crepes on p-values that assume
exchangeability. `python -m studies.streams power` plants changes, and prints the share of streams
in which they are found, and after how many steps, beside one who knows both laws and the time of
the change. P-values are those of `full` one step ahead, refitted, smoothed. `python -m
studies.streams late` is told by `studies.late`, `changes` and `real` by `studies.changes`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from crepes.base import p_values_online_regression
from crepes.martingales import SimpleJumper as TheirJumper
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import binom

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.engine.step_counts import PARTS
from definetti.evaluation.intervals import exact_interval
from definetti.martingales import CUSUM, Alarm, Martingale, ShiryaevRoberts, Ville
from definetti.models.hmm import stationary
from studies.p_value_streams import stream_p_values, visit_p_values

ALPHA = 0.05
ERROR = 1e-6  # how probable it is that the study finds fault with what is right, for each share
STEPS = 300  # of a stream without a change; before, and after, a change
PRIORS = (0.5, 0.5)


class World(NamedTuple):
    """Transitions and emissions, ``(n, n)`` and ``(n, m)``, or ``(T, …)`` where they change."""

    steps: FloatArray
    seen: FloatArray


def sticky(n: int, stays: float) -> FloatArray:
    """Return states that stay, and else go anywhere."""
    return np.full((n, n), (1 - stays) / (n - 1)) + np.eye(n) * (stays - (1 - stays) / (n - 1))


def make_worlds() -> dict[str, World]:
    """Return ten models: sticky and not, with rare states, without return, with many symbols."""
    rng = np.random.default_rng(10)
    ring = np.roll(np.eye(4), 1, axis=1) * 0.8 + 0.05
    rare = np.tile(0.2 ** np.arange(4), (4, 1)) + np.eye(4) * 0.5
    worlds = {
        "sticky": (sticky(2, 0.95), sticky(2, 0.8)),
        "very sticky": (sticky(2, 0.99), sticky(2, 0.9)),
        "independent": (np.full((3, 3), 1 / 3), sticky(3, 0.7)),
        "alternating": (sticky(2, 0.1), sticky(2, 0.6)),
        "a ring": (ring, sticky(4, 0.6)),
        "rare states": (rare, np.eye(4) * 0.5 + 0.1),
        "no return": (np.array([[0.99, 0.01], [0.0, 1.0]]), sticky(2, 0.8)),
        "five states": (sticky(5, 0.8), rng.dirichlet(np.ones(3), 5)),
        "many symbols": (sticky(3, 0.9), rng.dirichlet(np.full(8, 0.5), 3)),
        "drawn": (rng.dirichlet(np.ones(4), 4), rng.dirichlet(np.ones(4), 4)),
    }
    return {
        name: World(*(one / one.sum(axis=1, keepdims=True) for one in pair))
        for name, pair in worlds.items()
    }


def make_changes(steps: int = STEPS) -> dict[str, World]:
    """Return worlds whose law changes half-way, two states but for the one that loses one."""
    late = (np.arange(2 * steps) >= steps)[:, None, None]
    slow = np.clip((np.arange(2 * steps) - steps) / steps, 0, 1)[:, None, None]
    move, see = sticky(2, 0.95), sticky(2, 0.8)
    three, fewer = sticky(3, 0.9), sticky(3, 0.9)
    fewer[:, 2] = 0.0
    fewer[2] = [0.5, 0.5, 0.0]
    fewer /= fewer.sum(axis=1, keepdims=True)

    def switch(one: FloatArray, other: FloatArray, share: FloatArray) -> FloatArray:
        return np.asarray(one * (1 - share) + other * share)

    return {
        "transitions .95 to .7": World(switch(move, sticky(2, 0.7), late), see),
        "sensor .8 to .5": World(move, switch(see, sticky(2, 0.5), late)),
        "a state disappears": World(switch(three, fewer, late), sticky(3, 0.8)),
        "slow drift of both": World(
            switch(move, sticky(2, 0.7), slow), switch(see, sticky(2, 0.5), slow)
        ),
    }


@kernel
def walk(steps: FloatArray, seen: FloatArray, uniforms: FloatArray) -> tuple[IntArray, IntArray]:
    """Draw states and symbols; the laws are ``(T, n, n)`` and ``(T, n, m)``."""
    length, n = len(uniforms), steps.shape[1]
    states, codes = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    state = min(int(uniforms[0, 0] * n), n - 1)
    for t in range(length):
        if t:
            state = _pick(steps[t, state], uniforms[t, 0])
        states[t], codes[t] = state, _pick(seen[t, state], uniforms[t, 1])
    return states, codes


@kernel
def _pick(law: FloatArray, uniform: float) -> int:
    last = 0
    for k in range(len(law)):
        if law[k] > 0.0:
            last = k
            uniform -= law[k]
            if uniform < 0.0:
                break
    return last


def draw(
    world: World, length: int, seeds: tuple[int, ...]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return states, symbols and p-values by part, whose ties other random numbers break."""
    data, ties = (np.random.default_rng([*seeds, k]) for k in range(2))
    laws = at_each_step(world, length)
    states, codes = walk(laws[0], laws[1], data.random((length, 2)))
    n, m = world.seen.shape[-2:]
    p_values = stream_p_values(states, codes, n, m, ties.random((length, len(PARTS))), PRIORS)
    return states, codes, np.asarray(p_values[1:])


def at_each_step(world: World, length: int) -> tuple[FloatArray, FloatArray]:
    """Return the laws of all steps, ``(T, n, n)`` and ``(T, n, m)``."""
    steps, seen = (
        np.ascontiguousarray(np.broadcast_to(one, (length, *one.shape[-2:]))) for one in world
    )
    return steps, seen


def visits(states: IntArray, n: int, seeds: tuple[int, ...]) -> FloatArray:
    """Return the p-values of visits to each state."""
    ties = np.random.default_rng([*seeds, 2])
    return np.asarray(visit_p_values(states, n, ties.random((len(states), n)))[1:])


def odds(world: World, states: IntArray, codes: IntArray, change: int) -> FloatArray:
    """Return the log of how much more probable a stream is after the change, law by law.

    Nobody can do better on average than who knows both laws and when the change comes, and bets
    by these odds (Wald).
    """
    length = len(states)
    steps, seen = at_each_step(world, length)
    t = np.arange(change, length)
    before, now, code = states[t - 1], states[t], codes[t]
    after = steps[t, before, now] * seen[t, now, code]
    found = np.zeros(length - 1)
    found[change - 1 :] = np.log(after / (steps[0, before, now] * seen[0, now, code]))
    return found.cumsum()


def bet(name: str, p_values: FloatArray) -> FloatArray:
    """Return the logs of the capital of each part after each step."""
    parts = [Martingale.named[name]().update_many(one) for one in p_values.T]
    return np.column_stack(parts)


def first(alarm: Alarm, logs: FloatArray) -> float:
    """Return after how many steps an alarm is raised; infinite if it is not."""
    # Ville's compares the capital itself, so that there is nothing to go through step by step.
    found = logs if isinstance(alarm, Ville) else alarm.update_many(logs)
    above = np.flatnonzero((found >= alarm.log_threshold).any(axis=1))
    return float(above[0] + 1) if len(above) else np.inf


def together(logs: FloatArray) -> float:
    """Return when any of some parts raises Ville's alarm, at the threshold for all."""
    return first(Ville(ALPHA, parts=logs.shape[1]), logs)


def times(logs: FloatArray) -> dict[str, float]:
    """Return when each part raises Ville's alarm by itself, and when any does, all together."""
    alone = {part: together(logs[:, [k]]) for k, part in enumerate(PARTS)}
    return alone | {"any part": together(logs)}


def their_alarm(world: World, states: IntArray, codes: IntArray, seed: int) -> bool:
    """Tell whether the simple jumper of crepes alarms, by how rare each pair is at all times."""
    pairs = stationary(world.steps)[:, None] * world.seen
    strange = -np.log(pairs[states, codes] + 1e-12)
    p_values = p_values_online_regression(strange, seed=seed)
    return bool((TheirJumper().apply(p_values) >= 1 / ALPHA).any())


def study_ville(streams: int, console: Console) -> bool:
    """Print how often streams without a change alarm; tell whether that is as promised."""
    worlds = make_worlds()
    columns = ["union", *PARTS]
    counts = {name: dict.fromkeys(columns, 0) for name in Martingale.named}
    counts["visits"] = {"union": 0}
    table = Table("model", *[f"{name}: any part" for name in Martingale.named], "visits", "crepes")
    each = streams // len(worlds)
    for number, (name, world) in enumerate(worlds.items()):
        here = dict.fromkeys([*counts, "crepes"], 0)
        for k in track(range(each), description=name, console=console, transient=True):
            states, codes, p_values = draw(world, STEPS, (number, k))
            for martingale in Martingale.named:
                found = times(bet(martingale, p_values))
                here[martingale] += found["any part"] < np.inf
                counts[martingale]["union"] += found["any part"] < np.inf
                for part in PARTS:
                    counts[martingale][part] += found[part] < np.inf
            gone = bet("absence", visits(states, world.seen.shape[-2], (number, k)))
            here["visits"] += together(gone) < np.inf
            counts["visits"]["union"] += together(gone) < np.inf
            here["crepes"] += their_alarm(world, states, codes, k)
        table.add_row(name, *[f"{here[one] / each:.4f}" for one in here])
    console.print(table)
    total, most = each * len(worlds), int(binom.ppf(1 - ERROR, each * len(worlds), ALPHA))
    console.print(
        f"{total:,} streams of {STEPS} steps, alarm at {1 / ALPHA:g}; more than {most:,} alarms "
        f"would refute {ALPHA:g} (exact binomial, error rate {ERROR:g})"
    )
    for martingale, told in counts.items():
        for column, found in told.items():
            low, high = exact_interval(found, total)
            console.print(
                f"{martingale:15} {column:13} {found / total:.4f} [{low:.4f}, {high:.4f}]"
                + ("" if found <= most else "  REFUTED")
            )
    return all(found <= most for told in counts.values() for found in told.values())


def study_power(streams: int, console: Console, change: int = STEPS) -> None:
    """Print the share of changes that are found, and the median delay."""
    quick = {"CUSUM": CUSUM(1000, parts=3), "Shiryaev-Roberts": ShiryaevRoberts(1000, parts=3)}
    more = ("visits", "any, with visits", "both laws known")
    table = Table("change", "martingale", *PARTS, "any part", *more, *quick)
    for number, (name, world) in enumerate(make_changes(change).items()):
        found: dict[str, dict[str, list[float]]] = {one: {} for one in Martingale.named}
        for k in track(range(streams), description=name, console=console, transient=True):
            seeds = 100 + number, k
            states, codes, p_values = draw(world, 2 * change, seeds)
            gone = bet("absence", visits(states, world.seen.shape[-2], seeds))
            known = together(odds(world, states, codes, change)[:, None])
            for martingale in Martingale.named:
                logs = bet(martingale, p_values)
                every = np.column_stack([logs, gone])
                there = times(logs) | dict(
                    zip(more, (together(gone), together(every), known), strict=True)
                )
                for column, time in there.items():
                    found[martingale].setdefault(column, []).append(time)
                for column, alarm in quick.items():
                    alarm.restart()
                    early = first(alarm, logs[: change - 1])
                    alarm.restart()
                    time = early if early < np.inf else first(alarm, logs)
                    found[martingale].setdefault(column, []).append(time)
        for martingale, columns in found.items():
            table.add_row(
                name, martingale, *[tell_delays(np.array(one), change) for one in columns.values()]
            )
    console.print(table)
    console.print(
        f"{streams} streams, a change after {change} steps, {change} steps from there on. Share "
        "found after it, median delay, and share that alarmed before it. Parts by themselves at "
        f"1/{ALPHA:g}, any part at 3/{ALPHA:g}; visits to any of n states, by Absence, at "
        f"n/{ALPHA:g}, with the parts at (n + 3)/{ALPHA:g}; who knows both laws and when the "
        f"change comes at 1/{ALPHA:g}; CUSUM and Shiryaev-Roberts with all parts but visits, a "
        "false alarm in 1,000 steps on average at most."
    )


def tell_delays(when: FloatArray, change: int) -> str:
    """Tell the share of alarms after a change, their median delay, and the share before it."""
    delay = when - (change - 1)  # the first p-value is that of the second step
    after = delay[(delay > 0) & (delay < np.inf)]
    middle = f"{np.median(after):.0f}" if len(after) else "-"
    return f"{len(after) / len(when):.2f} / {middle} ({(delay <= 0).mean():.2f})"


def main() -> None:
    """Read the command line, and run the study."""
    from studies import changes, late  # which draw the worlds that are made here

    parser = argparse.ArgumentParser(prog="python -m studies.streams", description=__doc__)
    parser.add_argument("study", choices=["ville", "power", "late", "changes", "real"])
    parser.add_argument(
        "--streams", type=int, help="how many; 20,000, 500, 100, 20 and 3 if left out"
    )
    parser.add_argument(
        "--steps", type=int, default=STEPS, help="before a change, and after it, for power"
    )
    parser.add_argument("--data", type=Path, help="folder with the recorded histories, for real")
    asked = parser.parse_args()
    console = Console(width=190)
    if asked.study == "power":
        study_power(asked.streams or 500, console, asked.steps)
    elif asked.study == "late":
        late.study_late(asked.streams or 100, console)
    elif asked.study == "changes":
        changes.study_changes(asked.streams or 20, console)
    elif asked.study == "real":
        data = asked.data or Path(__file__).resolve().parents[2] / "shared" / "data"
        changes.study_real(data, asked.streams or 3, console)
    elif not study_ville(asked.streams or 20_000, console):
        raise SystemExit("the bound is refuted")


if __name__ == "__main__":
    main()
