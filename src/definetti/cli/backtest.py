"""`definetti backtest`: coverage of past predictions for one or many series."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from definetti.cli import options, writing
from definetti.cli.check import check_rows, note_broken
from definetti.cli.columns import LabelledTable, read_labelled
from definetti.cli.errors import BadTable
from definetti.cli.estimators import (
    check_lag,
    make_estimator,
    name_levels,
    read_numbers,
    write_level,
)
from definetti.cli.lazy import pl
from definetti.cli.printing import format_label, is_watched, make_table, print_result
from definetti.cli.table_files import name_source

if TYPE_CHECKING:
    from rich.table import Table

    from definetti.evaluation.backtest import Backtest
    from definetti.evaluation.results import Evaluation
    from definetti.evaluation.series import SeriesEvaluation, SeriesRecord

ENOUGH = 10  # minimal number of windows for an interval
READABLE = 10**7  # sizes below this are written in full
SHOWN = 10  # series in the printed table


def backtest(
    data: options.LabelledRows,
    columns: options.Columns,
    settings: options.Settings,
    grouping: options.Grouping,
    spreading: options.Spreading,
    *,
    horizon: Annotated[
        int | None, options.data_option(min=1, help="steps per window; default: one after --lag")
    ] = None,
    rolling: options.Rolling,
    no_observations: options.NoObservations = False,
    no_check: options.NoCheck = False,
    output: options.StepOutput = None,
    by_series: Annotated[
        Path | None,
        options.output_option(help="file with a row per series, with --group-column: .csv .json …"),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Predict window after window of a labelled history, each from all rows before it.

    Prints coverage with its 95 % interval, overall, by last state and over time, before empty sets
    are filled; sizes; and the same for other methods: without observations, classical conformal
    prediction with the same predictor, which ignores time, without and with the previous state, and
    the last state repeated. Says so where a simpler method does as well; where coverage falls
    short, tries remedies and names one that holds. With --group-column every series is evaluated
    by itself, and all together: the worst, the spread, which to look at; data may then be a folder
    of Parquet files. Exit code 2: an argument or a file is wrong.

    Example: definetti backtest history.csv --state-column stage --confidence 0.9

    Example: definetti backtest nights.parquet --group-column patient --order-column time --jobs 2
    """
    if grouping.group_column is None:
        options.check_single_series({
            "--cluster": spreading.cluster is not None, "--cells": spreading.cells is not None,
            "--fresh": spreading.fresh, "--jobs": spreading.jobs != 1,
            "--by-series": by_series is not None,
        })  # fmt: skip
    if no_observations:
        columns = columns.without_observations()
    writing.check_output(output, [data], force, writing.is_backtest_file)
    writing.check_output(by_series, [data], force, writing.is_series_file)
    if output is not None and by_series is not None and output.resolve() == by_series.resolve():
        raise BadTable(f"--by-series {by_series} is the file of --output; name another")
    steps = horizon or rolling.lag + 1
    if grouping.group_column is not None:
        # Import late: slow to load.
        from definetti.cli.series import backtest_groups

        evaluations, said, notes = backtest_groups(
            data, columns, settings, grouping, spreading, steps, rolling, output
        )
        if by_series is not None:
            from definetti.evaluation.series import join_levels

            writing.write_frames([pl.DataFrame(join_levels(evaluations), strict=False)], by_series)
        levels = [
            {"confidence_level": name_levels(level, said["states"]), **_describe_all(evaluation)}
            for level, evaluation in zip(said["levels"], evaluations, strict=True)
        ]
        document = {**said, "horizon": steps, "lag": rolling.lag, **levels[0], "levels": levels}
        lines = [
            line
            for evaluation in evaluations
            for line in _show_all(evaluation, said["promise"], steps)
        ]
    else:
        document, lines, notes = _backtest_series(
            data, columns, settings, steps, rolling, output, check=not no_check
        )
    print_result(document, lines, json, notes, [output, by_series])


def _backtest_series(
    data: str,
    columns: options.Columns,
    settings: options.Settings,
    steps: int,
    rolling: options.Rolling,
    output: Path | None,
    *,
    check: bool,
) -> tuple[dict[str, Any], list[Any], list[str]]:
    """Backtest one series and the baselines; return the JSON document, printed lines and notes."""
    table = read_labelled(data, None, columns)
    check_lag(rolling.lag, steps)
    # Import late: slow to load.
    from definetti.evaluation.advice import OURS
    from definetti.evaluation.backtest import find_begin, run_backtest
    from definetti.models.base import described
    from definetti.symmetry import find_symmetry

    if find_begin(len(table.states), steps, rolling.start) is None:
        raise ValueError(
            f"{name_source(data)}: {len(table.states)} labelled rows are too few for a "
            f"window of {steps} after a share of {rolling.start:g}; give more rows, or lower "
            "--start or --horizon"
        )
    levels = read_numbers(settings.confidence, table.states)
    table.new_rows = 0
    cp = make_estimator(settings, table, steps, rolling.lag)
    test = run_backtest(
        cp, table.observations, table.states, steps, **asdict(rolling), lengths=table.lengths,
        levels=sorted(levels) if len(levels) > 1 else None, verbose=is_watched(),
    )  # fmt: skip
    used = test.predictor
    checked = check_rows(
        table, used.memory_, settings.seed, train_size=cp.train_size, skip=not check
    )
    evaluations = [test.evaluations(level) for level in levels]
    if output is not None:
        steps_table = writing.list_backtest_steps(
            [{None: methods[OURS]} for methods in evaluations],
            [*map(write_level, levels)],
            writing.list_rows(table.keys, np.asarray(table.rows) + 1, table.states),
            {None: np.arange(len(table.states))},
        )
        table.notes += writing.write_frames([steps_table], output)
    by_level = [
        _describe_level(methods, level, table, test)
        for methods, level in zip(evaluations, levels, strict=True)
    ]
    model = described(used.model_, list(table.columns), test.begin - used.n_steps_)
    result = {
        **by_level[0], "levels": by_level, "model": model, "fixed": bool(used.model_.fixed),
        "horizon": steps, "lag": rolling.lag, "windows": test.windows,
        "guarantee": settings.guarantee.value, "max_errors": settings.max_errors,
        "allow_empty": settings.allow_empty, "smoothing": settings.smoothing,
        "symmetry": settings.symmetry, "memory": settings.memory, "score": settings.score,
        "train_size": cp.train_size, "given": find_symmetry(settings.symmetry).given,
        "first_row": int(table.rows[test.begin]) + 1, "observed": table.columns,
        "check": None if checked is None else checked.to_dict(), "advice": test.advice,
    }  # fmt: skip

    lines: list[Any] = [f"model: {model}"]
    for description in by_level:
        lines += [*_show_methods({**result, **description}), f"verdict: {description['verdict']}"]
    lines += [f"advice: {line}" for line in test.advice]
    return result, lines, [*table.notes, *test.notes, *note_broken(checked, settings.symmetry)]


# --- One series


def _describe_level(
    evaluations: dict[str, Evaluation], level: Any, table: LabelledTable, test: Backtest
) -> dict[str, Any]:
    """Return the evaluation of each method at one level, with row numbers of the file."""
    from definetti.evaluation.advice import OURS
    from definetti.evaluation.results import summary

    rows, asked = np.asarray(table.rows), test.horizon - test.lag
    evaluations = {
        name: evaluation._replace(begins=rows[evaluation.begins])
        for name, evaluation in evaluations.items()
    }
    return {
        "confidence_level": name_levels(level, table.states),
        "verdict": str(evaluations[OURS].verdict),
        "methods": {
            name: {**summary(evaluation, asked), "guaranteed": test.guaranteed[name]}
            for name, evaluation in evaluations.items()
        },
    }


def _show_methods(result: dict[str, Any]) -> list[Any]:
    """Return two tables to print: a row per method, and coverage in detail."""
    level = result["confidence_level"]
    written = f"a level for each {result['given']}" if isinstance(level, dict) else f"{level:g}"
    title = (
        f"{result['windows']} windows of {result['horizon']}, each from all rows before it, "
        f"at {written}"
    )
    columns = ("", "covered", "in a set", "states per step", "empty", "level guaranteed")
    table = make_table(columns, left=[""], title=title, caption=_explain(result))
    table.columns[1].no_wrap = True
    for name, way in result["methods"].items():
        size = way["mean_size"]
        table.add_row(
            name, _write_share(way), f"{size:.2f}" if size < READABLE else f"{size:.1e}",
            f"{way['mean_states_per_step']:.2f}", f"{way['share_empty']:.3f}",
            "yes" if way["guaranteed"] else "no",
        )  # fmt: skip
    return [table, _detail(result)]


def _explain(result: dict[str, Any]) -> str:
    """Return the caption of the table of methods."""
    from definetti.evaluation.advice import CLASSICAL, OURS

    stepwise = result["guarantee"] == "steps"
    said = f"shares {'of steps ' * stepwise}covered, with 95 % intervals"
    own = result["methods"][OURS]
    if own["effective_windows"] < own["windows"]:
        said += (
            f" that take windows for independent; misses come together, and the {own['windows']:,} "
            f"windows are worth {own['effective_windows']:,.0f}"
        )
    if any(way["share_empty"] for way in result["methods"].values()):
        said += ", before filling" * (not result["allow_empty"])
        said += f"; empty: {'steps' if stepwise else 'sets'} in which nothing was plausible"
        if not result["allow_empty"]:
            said += ", which are counted as misses, and were filled with the most plausible"
    if CLASSICAL in result["methods"]:
        said += "; classical: the same predictor"
        if not result["fixed"]:
            said += ", fixed on the first half of the rows before the first window"
    return said


def _detail(result: dict[str, Any]) -> Table:
    """Return coverage by last state and over time, for our sets and classical prediction."""
    from definetti.evaluation.advice import CLASSICAL, OURS

    shown = [name for name in (OURS, CLASSICAL) if name in result["methods"]]
    table = make_table(["", *shown], left=[""], title="in detail")
    ways = [result["methods"][name] for name in shown]
    own, present = ways[0].get("by_state", {}), result["given"] == "present state"
    for label in ways[0]["by_last_state"]:
        shares = (_write_share(way["by_last_state"][label]) for way in ways)
        asked = None if present else own.get(label, {}).get("promised")
        promised = "" if asked is None else f" (promised {asked:g})"
        table.add_row(f"ends in {format_label(label)}{promised}", *shares)
    for label, share in own.items() if present else ():
        name = f"when in {format_label(label)} (promised {share['promised']:g})"
        table.add_row(name, _write_share(share), *["–"] * len(ways[1:]))
    table.add_section()
    if ways[0]["unseen"]:
        apart = (f"{way['unseen']:,}" for way in ways)
        table.add_row("a state not seen before", *apart)
    for k, part in enumerate(ways[0]["over_time"]):
        name = f"rows {part['first_row']:,} to {part['last_row']:,}"
        table.add_row(name, *(_write_share(way["over_time"][k]) for way in ways))
    return table


def _write_share(share: dict[str, Any]) -> str:
    if share["windows"] < ENOUGH:
        return f"{share['coverage']:.2f} (of {share['windows']})"
    return f"{share['coverage']:.3f} [{share['low']:.3f}, {share['high']:.3f}]"


# --- Many series


def _describe_all(evaluation: SeriesEvaluation) -> dict[str, Any]:
    """Return overall coverage, the spread, the worst series and those significantly short."""
    worst, (low, high) = evaluation.worst, evaluation.interval
    return {
        "verdict": evaluation.verdict(), "number": len(evaluation),
        "judged": len(evaluation.judged), "trained": evaluation.trained,
        "source": evaluation.source, "windows": evaluation.windows, "unseen": evaluation.unknown,
        "coverage": evaluation.coverage,
        "low": low, "high": high, "promised": evaluation.promised, "share_empty": evaluation.empty,
        "mean_size": evaluation.mean_size, "mean_states_per_step": evaluation.states_per_step,
        "spread": evaluation.spread, "spread_by_chance": evaluation.spread_by_chance,
        "worst": None if worst is None else _describe_record(worst),
        "look_at": [_describe_record(record) for record in evaluation.look_at],
    }  # fmt: skip


def _describe_record(record: SeriesRecord) -> dict[str, Any]:
    low, high = record.interval
    return {
        "series": record.series, "windows": record.windows, "coverage": record.coverage,
        "low": low, "high": high, "mean_size": record.mean_size,
        "share_empty": record.empty / record.judged if record.judged else None,
    }  # fmt: skip


def _show_all(evaluation: SeriesEvaluation, promise: str, horizon: int) -> list[Any]:
    """Return the verdict and a table of the worst series to print."""
    from definetti.evaluation.series import rank_series

    judged, verdict = evaluation.judged, f"{evaluation.verdict()}."
    if not judged:
        return [verdict]
    source = f", each from {evaluation.source}" if evaluation.source else ""
    trained = f"; {evaluation.trained:,} series trained the model" if evaluation.trained else ""
    title = (
        f"{evaluation.windows:,} windows of {horizon} in {len(judged):,} series{source}{trained}; "
        f"promised {evaluation.promised:g}"
    )
    columns = ("series", "windows", "covered", "size", "states a step", "empty")
    table = make_table(columns, left=["series"], title=title)
    table.add_row("all", *_show_record(evaluation, evaluation.empty))
    table.add_section()
    for record in sorted(judged, key=rank_series)[:SHOWN]:
        share = record.empty / record.judged
        table.add_row(format_label(str(record.series)), *_show_record(record, share))
    hidden = len(judged) - SHOWN
    left = f"; {hidden:,} more fared better" if hidden > 0 else ""
    before = ", before empty sets are filled" if evaluation.empty else ""
    table.caption = f"shares covered{before}; worst first{left}; {promise}"
    return [verdict, table]


def _show_record(result: SeriesEvaluation | SeriesRecord, empty: float) -> list[str]:
    """Return the table cells of one series, or of all series together."""
    low, high = result.interval
    interval = f" [{low:.3f}, {high:.3f}]" if low == low else ""
    return [
        f"{result.windows:,}", f"{result.coverage:.3f}{interval}", f"{result.mean_size:.2f}",
        f"{result.states_per_step:.2f}", f"{empty:.3f}",
    ]  # fmt: skip
