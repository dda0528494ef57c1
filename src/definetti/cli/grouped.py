"""The backtest of many series, in parts: on one machine or many, and from where it was stopped."""

from __future__ import annotations

import hashlib
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.cells.cell import Cell
from definetti.cells.running import iterate_cells
from definetti.cli.column_types import tidy_columns
from definetti.cli.columns import (
    LabelledTable,
    check_columns,
    choose_observed,
    read_states,
    split_labelled_rows,
    take_columns,
)
from definetti.cli.errors import BadTable
from definetti.cli.estimators import check_lag, make_estimator, read_numbers, write_level
from definetti.cli.experiments import check_jobs, explain_resuming, use_cluster
from definetti.cli.grouped_steps import list_series_steps, pack_steps, unpack_steps
from definetti.cli.parts import Part, PartedTable, open_parts
from definetti.cli.reading import import_polars, name_source
from definetti.cli.text_tables import NUMBER
from definetti.cli.writing import say_escaped, write_pieces
from definetti.data.labels import Alphabet
from definetti.data.timing import HOLE
from definetti.exceptions import HoleWarning
from definetti.judging.series import BARE, SeriesEvaluation, SeriesRecord
from definetti.judging.work import SeriesWork
from definetti.series.totals import SeriesTotals, count_series

if TYPE_CHECKING:
    import polars as pl

    from definetti.cli.options import Columns, Grouping, Settings, Spreading

WHOLE = 5_000_000  # rows, up to which series that need all the others are worked out in one piece
DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}|$)"
SEEN = "_state"  # the labels as they were read
ROWS = "_rows"  # how many rows a state has


@dataclass(frozen=True)
class PartWork:
    """Work out the series of a part: read it, and backtest each.

    What comes of it: level by level a record for each series; and packed, a row for each step.

    Attributes
    ----------
    table, work, state : where to read, what to do, and the column with the states
    steps : how the levels are written in a row a step; None where nobody asked for these rows
    """

    table: PartedTable
    work: SeriesWork
    state: str
    steps: tuple[float | str, ...] | None = None

    def __call__(self, cell: Cell, part: range) -> list[Any]:
        point = dict(cell.point)
        rows = read_part(self.table, Part(point["first"], point["last"], 0, 0), self)
        names = sorted(dict.fromkeys(rows[self.table.group].to_list()))
        import narwhals as nw

        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", HoleWarning)
            found = self.work.judge(nw.from_native(rows, eager_only=True))
        told = [str(one.message) for one in heard if issubclass(one.category, HoleWarning)]
        for one in heard:
            if not issubclass(one.category, HoleWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        nothing = [SeriesRecord(name, 0, note=BARE) for name in names]
        records = []
        for level in found:
            there = {one.series: one for one in level}
            records.append([list(there.get(one.series, one)) for one in nothing])
        if self.steps is None:
            return [[records, None, told]]
        steps = list_series_steps(found, self.steps, rows, self.table.group, self.work.order, SEEN)
        return [[records, pack_steps(steps), told]]


def read_part(table: PartedTable, part: Part, how: PartWork) -> pl.DataFrame:
    """Read the rows of a part, with their states as labels."""
    pl = import_polars()
    work = how.work
    columns = [table.group, how.state, *([work.order] if work.order else []), *work.observed]
    rows, _ = tidy_columns(table.read(part, columns), table.name, list(work.observed))
    labels, _ = read_states(rows, table.name, how.state)
    return rows.with_columns(pl.Series(SEEN, labels, strict=False))


def read_whole(
    data: str, columns: Columns, grouping: Grouping
) -> tuple[pl.DataFrame, LabelledTable, list[str]]:
    """Read a table of series in one piece, rows as they are in it.

    Returns
    -------
    the table, with states as labels; what a series is like; and notes
    """
    group, state, order = grouping.group_column, columns.state_column, grouping.order_column
    assert group is not None
    with open_parts(data, group, state) as table:
        parts = table.parts()
        head, notes = look_at_head(table, parts[0], columns, grouping)
        whole = Part(parts[0].first, parts[-1].last, 0, 0)
        work = SeriesWork(None, group, SEEN, order, tuple(head.columns))  # type: ignore[arg-type]
        return read_part(table, whole, PartWork(table, work, state)), head, notes


def read_one(
    data: str, columns: Columns, grouping: Grouping, name: Any, observed: list[str]
) -> LabelledTable:
    """Read one series of a table as a file of its own is read: new rows below labelled ones."""
    group, state, order = grouping.group_column, columns.state_column, grouping.order_column
    assert group is not None
    with open_parts(data, group, state) as table:
        rows = table.read(Part(name, name, 1, 0), [state, *observed, *([order] if order else [])])
    by = None
    if order is not None:
        rows = rows.sort(order)
        by, rows = rows[order], rows.drop(order)
    return split_labelled_rows(
        rows, f"{name_source(data)}, series {name!r}", state=state, observed=",".join(observed),
        order=by,
    )  # fmt: skip


def judge_groups(
    data: str,
    columns: Columns,
    settings: Settings,
    grouping: Grouping,
    spreading: Spreading,
    *,
    horizon: int,
    start: float,
    windows: int | None,
    lag: int = 0,
    output: Path | None = None,
) -> tuple[list[SeriesEvaluation], dict[str, Any], list[str]]:
    """Backtest every series of a table; return how they fared at each level, how, and notes.

    Parameters
    ----------
    data : a file, a folder of Parquet files, or - for standard input
    output : a file for a row a step, if that is wanted
    """
    check_jobs(spreading.jobs)
    check_lag(lag, horizon)
    assert grouping.group_column is not None
    with ExitStack() as stack:
        state = columns.state_column
        table = stack.enter_context(open_parts(data, grouping.group_column, state))
        parts = table.parts()
        head, notes = look_at_head(table, parts[0], columns, grouping)
        observed = tuple(head.columns)
        levels = read_numbers(settings.confidence, head.states)
        cp = make_for_series(settings, head, horizon, lag, grouping, verbose=False)
        work = SeriesWork(
            cp, grouping.group_column, SEEN, grouping.order_column, observed, horizon, start,
            windows, lag=lag, levels=tuple(levels) if len(levels) > 1 else (),
            framed=settings.classifier is not None,
        )  # fmt: skip
        wanted = None if output is None else tuple(map(write_level, levels))
        how = PartWork(table, work, state, wanted)
        if cp.series != "own":
            parts, how = _share(how, parts)
        else:  # a series knows the states that others have, whatever the part that they are in
            how = replace(how, work=replace(work, totals=count_states(table, state)))
        folder = spreading.cells
        if folder is None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="definetti-")))
        else:
            stack.enter_context(explain_resuming(folder))
        stack.enter_context(use_cluster(spreading.cluster))
        cells = [_cell(how, part, settings.seed) for part in parts]
        jobs = None if spreading.cluster else spreading.jobs
        found = iterate_cells(
            cells, how, folder / "cells", n_jobs=jobs, fresh=spreading.fresh, verbose=True,
            what="parts of the table",
        )  # fmt: skip
        records: list[list[SeriesRecord]] = [[] for _ in levels]
        told: list[str] = []
        pieces = _take_pieces(found, records, told)
        if output is None:
            deque(pieces, maxlen=0)
        elif write_pieces(pieces, output):
            notes.append(say_escaped(output))
    if told:
        more = f" (and in {len(told) - 1:,} more parts of the table)" if told[1:] else ""
        notes.append(f"{told[0]}{more}")
    from definetti.series import Promise, say_promise

    promise = say_promise(grouping.series, cp.symmetry)
    said = {
        "series": grouping.series, "promise": promise, "observed": head.columns,
        "model": repr(cp.model), "levels": levels, "states": list(dict.fromkeys(head.states)),
    }  # fmt: skip
    source = Promise.named[cp.series].source
    each = [SeriesEvaluation(one, says=promise, source=source) for one in records]
    return each, said, [*notes, *head.notes]


def _take_pieces(
    found: Iterator[list[Any]], records: list[list[SeriesRecord]], told: list[str]
) -> Iterator[pl.DataFrame]:
    """Put records and notes of each part where they belong; go through the steps of all parts."""
    for [[each, steps, notes]] in found:
        told += notes
        for there, new in zip(records, each, strict=True):
            there += [SeriesRecord(*one) for one in new]
        if steps is not None:
            yield unpack_steps(steps)


def make_for_series(
    settings: Settings, head: LabelledTable, steps: int, lag: int, grouping: Grouping, **how: Any
) -> Any:
    """Return the estimator that was asked for, for many series."""
    told = len(head.notes)
    cp = make_estimator(settings, head, steps, lag=lag, many=True, **how)
    cp.series = str(grouping.series)
    if cp.series != "own":  # a model of others is fixed as it is: there is no half to note
        cp.train_size = settings.train_size
        del head.notes[told:]
    return cp


def look_at_head(
    table: PartedTable, part: Part, columns: Columns, grouping: Grouping
) -> tuple[LabelledTable, list[str]]:
    """Look at the first part: which columns are observed, and what a series is like."""
    pl = import_polars()
    there, notes = table.columns(), []
    state, group, order = columns.state_column, table.group, grouping.order_column
    if order is not None:
        check_columns(
            pl.DataFrame(schema=dict.fromkeys(there)), table.name, [order], "--order-column"
        )
        if order in (state, group):
            raise BadTable(f"column {order!r} is another thing already, and cannot be the order")
        notes += check_order(table, order)
    rows = table.read(part, there)
    if order is not None:  # in which a counter is one, whatever the order of the file
        rows = rows.sort(group, order, maintain_order=True)
    kept = [one for one in rows.columns if one not in (group, order)]
    first = rows[group] == rows[group][0]
    observed, said = choose_observed(
        rows.select(kept), rows.filter(first), table.name, state, columns.observation_columns
    )
    labels, odd = read_states(rows, table.name, state)
    every = table.collect(table.scan().select(pl.col(state).unique()))
    known, _ = read_states(every, table.name, state)
    states = sorted(
        {one for one in known if one is not None}, key=lambda one: (str(type(one)), one)
    )
    if not states:
        raise BadTable(
            f"{table.name}: column {state!r} is empty in every row; the states of the first rows "
            "must be known"
        )
    own = [label for label, here in zip(labels, first, strict=True) if here and label is not None]
    tidy, more = tidy_columns(rows.filter(first), table.name, observed)
    if order is None and len(rows[group].rle()) > rows[group].n_unique():
        notes.append(
            "the rows of series are interleaved, and each is taken in the order of the file; "
            "--order-column sorts them"
        )
    kinds = tidy.select(observed).schema
    head = LabelledTable(
        observations=take_columns(tidy, observed), states=[*own, *states], new=None, new_rows=0,
        columns={one: str(kind).lower() for one, kind in kinds.items()}, notes=[*said, *more],
    )  # fmt: skip
    return head, [*notes, *odd]


def count_states(table: PartedTable, state: str) -> SeriesTotals:
    """Count the rows of each state of a table, and nothing else of it."""
    pl = import_polars()
    found = table.collect(table.scan().group_by(state).agg(pl.len().alias(ROWS)))
    labels, _ = read_states(found, table.name, state)
    rows = found.with_columns(pl.Series(SEEN, labels, strict=False)).drop_nulls(SEEN)
    rows = rows.group_by(SEEN).agg(pl.col(ROWS).sum()).sort(SEEN)
    n = len(rows)
    nothing = np.zeros((n, 0), dtype=np.int64)
    return SeriesTotals(
        Alphabet(rows[SEEN].to_list()), Alphabet(), np.zeros((n, n), dtype=np.int64), nothing,
        rows[ROWS].to_numpy().astype(np.int64),
    )  # fmt: skip


def check_order(table: PartedTable, order: str) -> list[str]:
    """Refuse text that is sorted otherwise than it is meant; return notes of text that may be."""
    pl = import_polars()
    if table.scan().collect_schema()[order] != pl.String:
        return []
    text = pl.col(order)
    found = table.collect(
        table.scan().select(
            rows=text.count(),
            numbers=text.str.contains(f"^\\s*{NUMBER}\\s*$").sum(),
            dates=text.str.contains(DATE).sum(),
            shortest=text.str.len_chars().min(),
            longest=text.str.len_chars().max(),
            first=text.min(),
            last=text.max(),
        )
    ).row(0, named=True)
    if found["numbers"] and found["shortest"] != found["longest"]:
        raise BadTable(
            f"{table.name}: column {order!r} has numbers in text, which sort as '10' before '9'; "
            "write numbers alone"
        )
    if found["numbers"] == found["rows"] or found["dates"] == found["rows"]:
        return []
    return [
        f"rows are sorted by column {order!r} as text, from {found['first']!r} to "
        f"{found['last']!r}; numbers, or dates such as 2024-01-31, are sorted as such"
    ]


def _share(how: PartWork, parts: list[Part]) -> tuple[list[Part], PartWork]:
    """Let every part know of the others: by their counts, or by working them out in one piece."""
    work, table = how.work, how.table
    if work.predictor.series == "others" and work.predictor.model == "auto":
        symbols = _symbol(how, parts[0])
        if symbols is not None:
            counted = [_count(how, part, symbols) for part in parts]
            totals = counted[0]
            for one in counted[1:]:
                totals = totals + one
            return parts, replace(how, work=replace(work, totals=totals))
    rows = sum(part.rows for part in parts)
    if rows > WHOLE:
        raise ValueError(
            f"{table.name}: --series {work.predictor.series} puts {rows:,} rows together, and up "
            f"to {WHOLE:,} are read at once; take --series own, or one column of symbols and "
            "--series others, which counts where the rows are"
        )
    whole = Part(parts[0].first, parts[-1].last, sum(part.series for part in parts), rows)
    return [whole], how


def _symbol(how: PartWork, part: Part) -> str | None:
    """Return the one column of symbols, "" where nothing is observed; None where there are more."""
    pl = import_polars()
    if not how.work.observed:
        return ""
    if len(how.work.observed) > 1:
        return None
    [column] = how.work.observed
    kind = read_part(how.table, part, how)[column].dtype
    return column if kind == pl.String or kind.is_integer() or kind == pl.Boolean else None


def _count(how: PartWork, part: Part, symbol: str) -> SeriesTotals:
    rows = read_part(how.table, part, how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HoleWarning)  # which the backtest of the part tells of
        return count_series(rows, SEEN, how.table.group, how.work.order, symbol or None)


def _cell(how: PartWork, part: Part, seed: int) -> Cell:
    """Return the cell of a part, named by all that its records depend on."""
    work, totals = how.work, how.work.totals
    counts = "" if totals is None else _digest(totals)
    point = (
        ("table", how.table.digest()), ("group", how.table.group), ("state", how.state),
        ("order", work.order), ("observed", list(work.observed)),
        ("first", part.first), ("last", part.last),
    )  # fmt: skip
    method = (
        ("predictor", repr(sorted(work.predictor.get_params(deep=False).items(), key=str))),
        ("horizon", work.horizon), ("start", work.start), ("windows", work.windows),
        ("totals", counts), ("lag", work.lag), ("levels", list(work.levels)),
        ("steps", None if how.steps is None else list(how.steps)), ("cut at holes", HOLE),
        ("fields", len(SeriesRecord._fields)),
    )  # fmt: skip
    return Cell("series", point, method, 1, seed)


def _digest(totals: SeriesTotals) -> str:
    labels = repr((totals.states.labels, totals.symbols.labels)).encode()
    numbers = np.ascontiguousarray(totals.moves).tobytes() + totals.seen.tobytes()
    return hashlib.sha256(labels + numbers + totals.rows.tobytes()).hexdigest()
