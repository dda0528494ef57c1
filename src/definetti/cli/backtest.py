"""`definetti backtest`: the promise judged on a labelled history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.errors import report_mistakes
from definetti.cli.printing import console, is_watched, print_json, print_notes
from definetti.judging import START

if TYPE_CHECKING:
    from definetti.cli.columns import LabelledTable
    from definetti.judging.backtest import Backtest
    from definetti.sets import Evaluation

ENOUGH = 10  # windows with a last state, to speak of its coverage
READABLE = 10**7  # sequences, of which the number is written in full


def backtest(
    data: options.LabelledRows,
    columns: options.Columns,
    settings: options.Settings,
    grouping: options.Grouping,
    spreading: options.Spreading,
    horizon: Annotated[
        int | None,
        typer.Option(
            min=1, help="steps per window; default: one after --lag", rich_help_panel=options.DATA
        ),
    ] = None,
    lag: options.Lag = 0,
    start: options.Start = START,
    windows: options.Windows = None,
    no_check: options.NoCheck = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="file with a row per step: .csv .json .parquet …",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    by_series: Annotated[
        Path | None,
        typer.Option(
            help="file with a row per series, with --group-column: .csv .json …",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Predict window after window of a labelled history, each from all rows before it.

    Coverage with its 95 % interval, overall, by last state and over time, by the p-values: before
    empty sets are filled; sizes; and the same for what else could be done with the same predictor:
    classical conformal prediction, which ignores time, without and with the previous state, and
    the last state repeated. With --group-column every series
    by itself, and all of them: the worst, the spread, which to look at; data may be a folder of
    Parquet files then. Exit code 2: something is wrong with what was given.

    Example: definetti backtest history.csv --state-column stage --confidence 0.9

    Example: definetti backtest nights.parquet --group-column patient --order-column time --jobs 2
    """
    with report_mistakes():
        if grouping.group_column is not None:
            from definetti.cli.grouped_backtest import backtest_groups

            backtest_groups(
                data, columns, settings, grouping, spreading, horizon=horizon or lag + 1, lag=lag,
                start=start, windows=windows, output=output, by_series=by_series, force=force,
                json=json,
            )  # fmt: skip
            return
        from definetti.cli.check import check_rows, note_broken
        from definetti.cli.estimators import (
            check_grouping,
            check_lag,
            check_share,
            make_estimator,
            read_both,
            read_numbers,
            write_level,
        )
        from definetti.cli.reading import name_source
        from definetti.cli.writing import add_keys, check_output, note_formulas, write_rows

        _check_alone(spreading, by_series)
        check_grouping(grouping)
        if output is not None:
            check_output(output, [data], force, is_backtest_file)
        check_share(settings.train_size)
        table = read_both(data, None, columns)
        steps = horizon or lag + 1
        check_lag(lag, steps)
        # Slow to load, so not before the file is read.
        from definetti.judging.backtest import OURS, find_begin, run_backtest
        from definetti.models.describing import described
        from definetti.symmetry import find_symmetry

        if find_begin(len(table.states), steps, start) is None:
            raise ValueError(
                f"{name_source(data)}: {len(table.states)} labelled rows are too few for a "
                f"window of {steps} after a share of {start:g}; give more rows, or lower "
                "--start or --horizon"
            )
        levels = read_numbers(settings.confidence, table.states)
        table.new_rows = 0
        cp = make_estimator(settings, table, steps, lag=lag, verbose=is_watched())
        test = run_backtest(
            cp, table.observations, table.states, steps, lag=lag, start=start, windows=windows,
            levels=sorted(levels) if len(levels) > 1 else None, lengths=table.lengths,
        )  # fmt: skip
        used = test.predictor
        checked = check_rows(
            table, used.memory_, settings.seed, train_size=cp.train_size, skip=no_check
        )
        found = [test.evaluations(level) for level in levels]
        if output is not None:
            rows, places = [], []
            for level, methods in zip(levels, found, strict=True):
                rows += list_steps(methods[OURS], write_level(level), table)
                places += places_of_steps(methods[OURS])
            add_keys(rows, table.keys, places)
            write_rows(rows, output)
            table.notes += note_formulas(rows, output)
        each = [
            describe_level(methods, level, table, test)
            for methods, level in zip(found, levels, strict=True)
        ]
        fixed_on = test.begin - test.predictor.n_steps_
        model = described(test.predictor.model_, list(table.columns), fixed_on)
        result = {
            **each[0], "levels": each, "model": model, "fixed": bool(used.model_.fixed),
            "horizon": steps, "lag": lag, "windows": test.windows,
            "guarantee": settings.guarantee.value, "max_errors": settings.max_errors,
            "allow_empty": settings.allow_empty, "smoothing": settings.smoothing,
            "symmetry": settings.symmetry, "memory": settings.memory, "score": settings.score,
            "train_size": cp.train_size, "given": find_symmetry(settings.symmetry).given,
            "first_row": int(table.rows[test.begin]) + 1, "observed": table.columns,
            "check": None if checked is None else checked.to_dict(),
        }  # fmt: skip
        broken = note_broken(checked, settings.symmetry)
        print_notes([*table.notes, *test.notes, *broken])
        if json:
            print_json(result)
        else:
            screen = console()
            screen.print(f"model: {model}", soft_wrap=True)
            for one in each:
                print_table({**result, **one})
                screen.print(f"verdict: {one['verdict']}", soft_wrap=True)
            if output is not None:
                screen.print(f"written: {output}", soft_wrap=True)


def _check_alone(spreading: options.Spreading, by_series: Path | None) -> None:
    """Refuse options that are about many series where there is one."""
    options.check_single_series({
        "--cluster": spreading.cluster is not None, "--cells": spreading.cells is not None,
        "--fresh": spreading.fresh, "--jobs": spreading.jobs != 1,
        "--by-series": by_series is not None,
    })  # fmt: skip


def describe_level(
    found: dict[str, Evaluation], level: Any, table: LabelledTable, test: Backtest
) -> dict[str, Any]:
    """Return how the sets of one level fared, method by method, by the rows of the file."""
    import numpy as np

    from definetti.cli.estimators import name_levels
    from definetti.judging.backtest import OURS
    from definetti.judging.summing import summary

    rows, asked = np.asarray(table.rows), test.horizon - test.lag
    found = {name: one._replace(begins=rows[one.begins]) for name, one in found.items()}
    return {
        "confidence_level": name_levels(level, table.states),
        "verdict": str(found[OURS].verdict),
        "methods": {
            name: {**summary(one, asked), "guaranteed": test.guaranteed[name]}
            for name, one in found.items()
        },
    }


OWN = ["row", "window", "confidence", "truth", "set", "size", "covered", "filled", "p_value"]


def is_backtest_file(path: Path) -> bool:
    """Tell whether a file is one of these, by its columns."""
    from definetti.cli.writing import read_columns

    return read_columns(path)[-len(OWN) :] == OWN


def places_of_steps(found: Evaluation) -> list[int]:
    """Return which of the labelled rows each step is."""
    import numpy as np

    steps = len(found.truth) // len(found.covered)
    each: list[int] = (found.begins[:, None] + np.arange(steps)).ravel().tolist()
    return each


def list_steps(found: Evaluation, level: Any, table: LabelledTable) -> list[dict[str, Any]]:
    """Return a row a step: its place in the file, the truth, and the set that was given for it."""
    steps = len(found.truth) // len(found.covered)
    rows = []
    for k, place in enumerate(places_of_steps(found)):
        window, there = k // steps, found.nodes[k]
        p_value = float(found.p_values[window])
        states = [label for label, one in zip(found.states, there, strict=True) if one]
        values = (
            table.rows[place] + 1, window + 1, level, table.states[place], states, len(states),
            bool(found.covered[window]), bool(found.filled[window]),
            p_value if p_value == p_value else None,
        )  # fmt: skip
        rows.append(dict(zip(OWN, values, strict=True)))
    return rows


def print_table(result: dict[str, Any]) -> None:
    """Print what `definetti backtest` found: a row a method, then its shares in detail."""
    from rich.table import Table

    title = (
        f"{result['windows']} windows of {result['horizon']}, each from all rows before it, "
        f"at {_write_level(result['confidence_level'], result['given'])}"
    )
    table, detail = (Table(title=one, title_justify="left") for one in (title, "in detail"))
    for name in ("", "covered", "in a set", "states per step", "empty", "level guaranteed"):
        table.add_column(name, justify="right" if name else "left", no_wrap=name == "covered")
    for name, way in result["methods"].items():
        table.add_row(
            name, _write_share(way), _write_number(way["mean_size"]),
            f"{way['mean_states_per_step']:.2f}", f"{way['share_empty']:.3f}",
            "yes" if way["guaranteed"] else "no",
        )  # fmt: skip
    table.caption = _explain(result)
    console().print(table)
    _fill_details(detail, result)
    console().print(detail)


def _explain(result: dict[str, Any]) -> str:
    """Return what stands below the table of methods."""
    from definetti.judging.rivals import CLASSICAL

    said = "shares covered, with 95 % intervals"
    if result["guarantee"] == "steps":
        said = "shares of steps covered, with 95 % intervals"
    if any(way["share_empty"] for way in result["methods"].values()):
        what = "steps" if result["guarantee"] == "steps" else "sets"
        if result["allow_empty"]:
            said += f"; empty: {what} in which nothing was plausible"
        else:
            said += (
                f", before filling; empty: {what} in which nothing was plausible, which are "
                "counted as misses, and were filled with the most plausible"
            )
    if CLASSICAL in result["methods"]:
        said += "; classical: the same predictor"
        if not result["fixed"]:
            said += ", fixed on the first half of the rows before the first window"
    return said


def _fill_details(table: Any, result: dict[str, Any]) -> None:
    """Add shares by last state and over time, ours and those of classical prediction."""
    from definetti.cli.printing import format_label
    from definetti.judging.backtest import OURS
    from definetti.judging.rivals import CLASSICAL

    shown = [name for name in (OURS, CLASSICAL) if name in result["methods"]]
    for column in ("", *shown):
        table.add_column(column, justify="left" if not column else "right")
    ways = [result["methods"][name] for name in shown]
    own, present = ways[0].get("by_state", {}), result["given"] == "present state"
    for label in ways[0]["by_last_state"]:
        shares = (_write_share(way["by_last_state"][label]) for way in ways)
        asked = None if present else own.get(label, {}).get("promised")
        promised = "" if asked is None else f" (promised {asked:g})"
        table.add_row(f"ends in {format_label(label)}{promised}", *shares)
    for label, one in own.items() if present else ():
        name = f"when in {format_label(label)} (promised {one['promised']:g})"
        table.add_row(name, _write_share(one), *["–"] * len(ways[1:]))
    table.add_section()
    if ways[0]["unseen"]:
        apart = (f"{way['unseen']:,}" for way in ways)
        table.add_row("a state not seen before", *apart)
    for k, part in enumerate(ways[0]["over_time"]):
        name = f"rows {part['first_row']:,} to {part['last_row']:,}"
        table.add_row(name, *(_write_share(way["over_time"][k]) for way in ways))


def _write_level(level: float | dict[str, float], given: str) -> str:
    """Write a level, or say that each state has its own, which the table shows.

    >>> _write_level(0.9, "last state"), _write_level({"N1": 0.99, "W": 0.8}, "last state")
    ('0.9', 'a level for each last state')
    """
    return f"a level for each {given}" if isinstance(level, dict) else f"{level:g}"


def _write_share(share: dict[str, Any]) -> str:
    if share["windows"] < ENOUGH:
        return f"{share['coverage']:.2f} (of {share['windows']})"
    return f"{share['coverage']:.3f} [{share['low']:.3f}, {share['high']:.3f}]"


def _write_number(mean: float) -> str:
    """Write a mean number of sequences, which may be beyond all numbers.

    >>> _write_number(1.106), _write_number(2.0e12), _write_number(float("inf"))
    ('1.11', '2.0e+12', '> 1e+300')
    """
    if mean == float("inf"):
        return "> 1e+300"
    return f"{mean:.2f}" if mean < READABLE else f"{mean:.1e}"
