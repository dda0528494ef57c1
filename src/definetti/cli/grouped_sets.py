"""Sets for the new rows of many series."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.cli.columns import as_frame, take_columns
from definetti.cli.errors import BadTable
from definetti.cli.estimators import check_errors, check_lag, check_share, read_confidences
from definetti.cli.grouped import SEEN, make_for_series, read_whole
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
    new, holes = {}, []
    for name, (_, last), end in zip(series.names, spans, ends, strict=True):
        after = np.flatnonzero(series.begins[end:last])
        new[name] = series.rows[end : end + int(after[0]) if len(after) else last]
        holes += [name] * bool(len(after))
    if holes:
        notes = [*notes, _note_holes(holes)]
    steps = horizon or max(map(len, new.values()))
    if holes and not any(len(new[name]) or (horizon and name not in holes) for name in new):
        raise BadTable(f"{name_source(data)}: {_note_holes(holes)}")
    if not steps:
        raise BadTable("there are no new rows; give some without a state, or --horizon to forecast")
    check_lag(lag, steps)
    check_errors(settings.guarantee.value, settings.max_errors, steps - lag)
    levels = read_confidences(settings.confidence, head.states)
    seen = take_columns(rows, observed)
    seen = seen if settings.classifier is None else as_frame(seen)
    # Gaps count: what is not labelled before the last state of a series begins a new stretch.
    stretch = (series.begins | ~known).cumsum()[known]
    lengths = np.unique(stretch, return_counts=True)[1]
    labelled = series.rows[known]
    past = (
        None if seen is None else at_rows(seen, labelled), [labels[row] for row in labelled],
        lengths, [names[row] for row in labelled],
    )  # fmt: skip
    fitted: dict[Any, Any] = {}  # by the share of rows that a model is fixed on
    fixed, few = [], []
    found: list[dict[str, Any]] = []
    for name, places in new.items():
        number = horizon or len(places)
        if number <= lag or (name in holes and not len(places)):
            continue
        if number - lag <= settings.max_errors:  # all of its steps may be wrong
            few.append(name)
            continue
        # Each series is decided by itself: what one needs is no business of the others.
        told, head.new_rows = len(head.notes), len(places)
        cp = make_for_series(settings, head, number, lag, grouping)
        fixed += [name] * (len(head.notes) > told)
        del head.notes[told:]
        if cp.train_size not in fitted:
            if cp.states is None:  # a series may come to a state that only another has
                cp.states = list(dict.fromkeys(head.states))
            fitted[cp.train_size] = cp.fit(*past)
        cp = fitted[cp.train_size]
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
    if fixed:
        several = f"{fixed[0]!r} and {len(fixed) - 1:,} others" if fixed[1:] else repr(fixed[0])
        notes = [
            *notes,
            f"the model is fixed on the first half of the rows (--train-size 0.5) of {several}",
        ]
    if few:
        notes = [*notes, _note_few(few, settings.max_errors)]
    print_notes([*notes, *head.notes])
    from definetti.series import say_promise

    promise = say_promise(grouping.series, cp.symmetry)
    if json:
        print_json({"series": grouping.series.value, "promise": promise, "steps": found})
        return
    _show(found, group, promise, len(series), output)


def _note_holes(names: list[Any]) -> str:
    """Say which series have new rows that follow no label."""
    some = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
    return (
        f"new rows after a hole in time have no set, in {some}: no state is known to go on from; "
        "label a row after the hole"
    )


def _note_few(names: list[Any], max_errors: int) -> str:
    """Say which series have so few new rows that all of them may be wrong."""
    some = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
    return (
        f"series with no more new rows than may be wrong (--max-errors {max_errors}) have no set: "
        f"{some}"
    )


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
