"""Sets for the new rows of many series."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.cli.columns import as_frame, take_columns
from definetti.cli.estimators import check_lag, check_share
from definetti.cli.fields import BadTable
from definetti.cli.grouped import SEEN, make_for_series, read_whole
from definetti.cli.levels import read_confidences
from definetti.cli.predict import SHOWN, list_steps
from definetti.cli.printing import console, format_label, format_set, print_json, print_notes
from definetti.cli.reading import name_source
from definetti.cli.writing import note_formulas, write_rows
from definetti.data.series import at_rows, read_series

if TYPE_CHECKING:
    from definetti.cli.options import Columns, Grouping, Settings


def predict_groups(
    data: str,
    columns: Columns,
    settings: Settings,
    grouping: Grouping,
    *,
    horizon: int | None,
    lag: int,
    output: Path | None,
    json: bool,
) -> None:
    """Predict the rows of each series that are below its last state; print or write the sets."""
    assert grouping.group_column is not None
    if grouping.series.value in ("own", "others"):
        check_share(settings.train_size)
    group, order = grouping.group_column, grouping.order_column
    rows, head, notes = read_whole(data, columns, grouping)
    observed = list(head.columns)
    labels, names = rows[SEEN].to_list(), rows[group].to_list()
    series = read_series(names, len(rows), None if order is None else rows[order])
    known = np.array([label is not None for label in labels])[series.rows]
    spans = [series.span(place) for place in range(len(series))]
    ends = [begin + int(np.flatnonzero(known[begin:end])[-1:].sum()) + 1 for begin, end in spans]
    bare = [series.names[k] for k, (begin, end) in enumerate(spans) if not known[begin:end].any()]
    if bare:
        raise BadTable(
            f"{name_source(data)}: series {bare[0]!r} has no row with a state, so that there "
            "is nothing to go on from; leave it out, or label its first rows"
        )
    new = {name: series.rows[end:last] for name, (_, last), end in zip(
        series.names, spans, ends, strict=True)}  # fmt: skip
    steps = horizon or max(map(len, new.values()))
    if not steps:
        raise BadTable("there are no new rows; give some without a state, or --horizon to forecast")
    check_lag(lag, steps)
    head.new_rows = min((len(one) for one in new.values() if 0 < len(one) < steps), default=0)
    cp = make_for_series(settings, head, steps, lag, grouping)
    levels = read_confidences(settings.confidence, head.states)
    seen = take_columns(rows, observed)
    seen = seen if settings.classifier is None else as_frame(seen)
    # Gaps count: what is not labelled before the last state of a series begins a new stretch.
    stretch = (series.begins | ~known).cumsum()[known]
    lengths = np.unique(stretch, return_counts=True)[1]
    labelled = series.rows[known]
    cp.fit(
        None if seen is None else at_rows(seen, labelled), [labels[row] for row in labelled],
        lengths=lengths, groups=[names[row] for row in labelled],
    )  # fmt: skip
    found: list[dict[str, Any]] = []
    for name, places in new.items():
        number = horizon or len(places)
        if number <= lag:
            continue
        some = places[:number]
        fresh = None if seen is None or not len(some) else at_rows(seen, some)
        asked = {"horizon": number if fresh is None or len(some) < number else None, "lag": lag}
        one = cp.series_[name]
        for level in levels:
            s = one.predict_set(fresh, level, **asked)
            for row in list_steps(s, lag, level):
                step = row["step"] - 1
                key = {group: name}
                if order is not None:
                    key[order] = rows[order][int(some[step])] if step < len(some) else None
                found.append({_name_key(one, row): value for one, value in key.items()} | row)
    if output is not None:
        write_rows(found, output)
        notes = [*notes, *note_formulas(found, output)]
    print_notes([*notes, *head.notes])
    from definetti.series import say_promise

    promise = say_promise(grouping.series, cp.symmetry)
    if json:
        print_json({"series": grouping.series.value, "promise": promise, "steps": found})
        return
    _show(found, group, promise, len(series), output)


def _name_key(name: str, row: dict[str, Any]) -> str:
    """Name a column of the file beside ours, as `writing.add_keys` does."""
    return f"file_{name}" if name in row else name


def _show(
    found: list[dict[str, Any]], group: str, promise: str, number: int, output: Path | None
) -> None:
    from rich.table import Table

    screen = console()
    screen.print(f"{number:,} series; {promise}", soft_wrap=True)
    several = len({row["confidence"] for row in found}) > 1
    table = Table()
    for column in (group, "step", *["level"] * several, "possible states", "best"):
        table.add_column(column)
    for row in found[:SHOWN]:
        best = "" if row["best"] is None else format_label(row["best"])
        level = [f"{row['confidence']}"] * several
        table.add_row(
            format_label(next(iter(row.values()))),
            str(row["step"]),
            *level,
            format_set(row["set"]),
            best,
        )
    screen.print(table)
    if len(found) > SHOWN:
        screen.print(f"… and {len(found) - SHOWN:,} more; -o writes all to a file")
    if output is not None:
        screen.print(f"written: {output}", soft_wrap=True)
