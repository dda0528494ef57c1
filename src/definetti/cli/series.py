"""Predict, check and backtest many series for the command line."""

from __future__ import annotations

import base64
import hashlib
import io
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti import conformal
from definetti._system.arrays import IntArray
from definetti._system.cells import Cell, iterate_cells
from definetti._system.checks import checked_jobs
from definetti.cli import estimators, series_tables, writing
from definetti.cli.columns import LabelledTable, as_frame, read_states, take_columns
from definetti.cli.errors import BadTable
from definetti.cli.experiments import explain_resuming, use_cluster
from definetti.cli.lazy import pl
from definetti.cli.printing import name_some
from definetti.cli.series_tables import LABEL, GroupedTable, Part, read_all_series
from definetti.cli.table_files import name_source
from definetti.data.labels import Alphabet, training_length
from definetti.data.series import at_rows, read_series
from definetti.data.timing import HOLE
from definetti.evaluation.series import BARE, SeriesEvaluation, SeriesRecord
from definetti.evaluation.series_backtest import SeriesWork
from definetti.exceptions import HoleWarning

if TYPE_CHECKING:
    from definetti.cli.options import Columns, Grouping, Rolling, Settings, Spreading
    from definetti.data.series import SeriesRows

WHOLE = 5_000_000  # maximal number of rows for modes that need all series at once
ROWS = "_rows"  # column of the number of rows per state


def make_grouped_estimator(
    settings: Settings, head: LabelledTable, steps: int, lag: int, series: str
) -> Any:
    """Return the unfitted estimator of many series that the options describe."""
    return conformal.GroupedConformalHMM(
        estimators.make_estimator(settings, head, steps, lag, series), series
    )


# --- Predict


def predict_groups(
    data: str,
    columns: Columns,
    settings: Settings,
    grouping: Grouping,
    *,
    horizon: int | None,
    lag: int,
) -> tuple[list[dict[str, Any]], str, int, list[str]]:
    """Predict the unlabelled rows at the end of each series."""
    group, order = str(grouping.group_column), grouping.order_column
    rows, head, notes = read_all_series(data, columns, grouping)
    labels, names = rows[LABEL].to_list(), rows[group].to_list()
    series = read_series(names, len(rows), None if order is None else rows[order])
    known = np.array([label is not None for label in labels])[series.rows]
    new, holes = _find_new_rows(series, known, name_source(data))
    steps = horizon or max(map(len, new.values()))
    if holes:
        note = (
            f"new rows after a hole in time have no set, in {name_some(holes)}: there is no state "
            "to continue from; label a row after the hole"
        )
        notes = [*notes, note]
        if not any(len(new[name]) or (horizon and name not in holes) for name in new):
            raise BadTable(f"{name_source(data)}: {note}")
    if not steps:
        raise BadTable("there are no new rows; give some without a state, or --horizon to forecast")
    estimators.check_lag(lag, steps)
    estimators.check_errors(settings.guarantee.value, settings.max_errors, steps - lag)
    levels = estimators.read_confidences(settings.confidence, head.states)
    seen = take_columns(rows, list(head.columns))
    seen = seen if settings.classifier is None else as_frame(seen)
    # An unlabelled row before the last state of a series begins a new segment.
    segment = (series.begins | ~known).cumsum()[known]
    labelled = series.rows[known]
    past = (
        None if seen is None else at_rows(seen, labelled), [labels[row] for row in labelled],
        [names[row] for row in labelled], None, np.unique(segment, return_counts=True)[1],
    )  # fmt: skip
    fitted: dict[Any, Any] = {}  # by train_size
    fixed, few, mode = [], [], str(grouping.series)
    predictions: list[dict[str, Any]] = []
    for name, places in new.items():
        number = horizon or len(places)
        if number <= lag or (name in holes and not len(places)):
            continue
        if number - lag <= settings.max_errors:  # every step may be wrong
            few.append(name)
            continue
        # Decide for each series whether the model has to be fixed.
        train_size, head.new_rows = settings.train_size, len(places)
        if mode == "own":
            train_size = estimators.find_train_size(settings, head, number, lag)
        fixed += [name] * (train_size != settings.train_size)
        if train_size not in fitted:
            own_settings = replace(settings, train_size=train_size)
            cp = make_grouped_estimator(own_settings, head, number, lag, mode)
            if cp.estimator.states is None:  # a series may reach a state of another series
                cp.estimator.states = list(dict.fromkeys(head.states))
            fitted[train_size] = cp.fit(*past)
        cp = fitted[train_size]
        own = places[:number]
        fresh = None if seen is None or not len(own) else at_rows(seen, own)
        ahead = number if fresh is None or len(own) < number else None
        beyond = {group: name, **({order: None} if order else {})}
        keys = rows.select(list(beyond))[own].to_dicts()
        for level in levels:
            sets = cp.predict_set(fresh, level, group=name, horizon=ahead, lag=lag, verbose=True)
            predictions += writing.list_prediction_steps(sets, lag, level, keys, beyond)
    if fixed:
        notes.append(
            "the model is fixed on the first half of the rows (--train-size 0.5) of "
            f"{name_some(fixed)}"
        )
    if few:
        notes.append(
            f"series with --max-errors {settings.max_errors} new rows or fewer have no set: "
            f"{name_some(few)}"
        )
    promise = conformal.say_promise(grouping.series, cp.estimator.symmetry)
    return predictions, promise, len(series), [*notes, *head.notes]


def _find_new_rows(
    series: SeriesRows, known: Any, source: str
) -> tuple[dict[Any, IntArray], list[Any]]:
    """Return the rows after the last label of each series, and the series with a hole there."""
    new, holes = {}, []
    for place, name in enumerate(series.names):
        begin, end = series.span(place)
        labelled = np.flatnonzero(known[begin:end])
        if not len(labelled):
            raise BadTable(
                f"{source}: series {name!r} has no row with a state to predict from; leave it out, "
                "or label its first rows"
            )
        first = begin + int(labelled[-1]) + 1
        after = np.flatnonzero(series.begins[first:end])
        new[name] = series.rows[first : first + int(after[0]) if len(after) else end]
        holes += [name] * bool(len(after))
    return new, holes


# --- Check


def read_for_check(
    data: str, columns: Columns, grouping: Grouping, train_size: float | None
) -> tuple[dict[str, Any], list[str]]:
    """Return the calibration rows of many series, as arguments of a check; and notes.

    The first rows of each series, which train the fixed model, stay without labels, so that every
    row keeps its place in the file.
    """
    rows, head, notes = read_all_series(data, columns, grouping)
    order = None if grouping.order_column is None else rows[grouping.order_column]
    labels, names = rows[LABEL].to_list(), rows[str(grouping.group_column)].to_list()
    if train_size is not None:
        series = read_series(names, len(labels), order, cut=False)
        for place in range(len(series)):
            own = [
                row for row in series.rows[slice(*series.span(place))] if labels[row] is not None
            ]
            for row in own[: training_length(train_size, len(own))] if len(own) > 1 else own:
                labels[row] = None
    seen = take_columns(rows, list(head.columns))
    arguments = {"observations": seen, "states": labels, "groups": names, "order": order}
    return arguments, [*notes, *head.notes]


# --- Backtest


def backtest_groups(
    data: str,
    columns: Columns,
    settings: Settings,
    grouping: Grouping,
    spreading: Spreading,
    horizon: int,
    rolling: Rolling,
    output: Path | None = None,
) -> tuple[list[SeriesEvaluation], dict[str, Any], list[str]]:
    """Backtest every series of a table, in parts that can be resumed and run on many machines."""
    checked_jobs(spreading.jobs, 1)
    estimators.check_lag(rolling.lag, horizon)
    group, state = str(grouping.group_column), columns.state_column
    with ExitStack() as stack:
        table = stack.enter_context(series_tables.open_series(data, group, state))
        parts = table.parts()
        head, notes = series_tables.read_head(table, parts[0], columns, grouping)
        levels = estimators.read_numbers(settings.confidence, head.states)
        cp = make_grouped_estimator(settings, head, horizon, rolling.lag, str(grouping.series))
        work = SeriesWork(
            cp, group, LABEL, grouping.order_column, tuple(head.columns), horizon,
            **asdict(rolling), levels=tuple(levels) if len(levels) > 1 else (),
            framed=settings.classifier is not None,
        )  # fmt: skip
        step_levels = None if output is None else tuple(map(estimators.write_level, levels))
        task = PartBacktest(table, work, state, step_levels)
        if cp.series != "own":
            parts, task = _share_counts(task, parts)
        else:  # share the states of all parts with every series
            task = replace(task, work=replace(work, totals=_count_states(table, state)))
        folder = spreading.cells
        if folder is None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="definetti-")))
        else:
            stack.enter_context(explain_resuming(folder))
        stack.enter_context(use_cluster(spreading.cluster))
        results = iterate_cells(
            [task.cell(part, settings.seed) for part in parts], task, folder / "cells",
            n_jobs=None if spreading.cluster else spreading.jobs, fresh=spreading.fresh,
            verbose=True, what="parts of the table",
        )  # fmt: skip
        records: list[list[SeriesRecord]] = [[] for _ in levels]
        hole_notes: list[str] = []

        def collect_parts() -> Iterator[pl.DataFrame]:
            for [[part_records, steps, part_notes]] in results:
                hole_notes.extend(part_notes)
                for gathered, new in zip(records, part_records, strict=True):
                    gathered += [SeriesRecord(*fields) for fields in new]
                if steps is not None:
                    yield pl.read_parquet(io.BytesIO(base64.b64decode(steps)))

        if output is None:
            deque(collect_parts(), maxlen=0)
        else:
            notes += writing.write_frames(collect_parts(), output)
    if hole_notes:
        others = len(hole_notes) - 1
        more = f" (and in {others:,} more parts of the table)" if others else ""
        notes.append(f"{hole_notes[0]}{more}")
    promise = conformal.say_promise(grouping.series, cp.estimator.symmetry)
    source = conformal.SeriesMode.named[cp.series].source
    description = {
        "series": grouping.series, "promise": promise, "observed": head.columns,
        "model": repr(cp.estimator.model), "levels": levels,
        "states": list(dict.fromkeys(head.states)),
    }  # fmt: skip
    evaluations = [SeriesEvaluation(record, says=promise, source=source) for record in records]
    return evaluations, description, [*notes, *head.notes]


@dataclass(frozen=True)
class PartBacktest:
    """Backtest the series of one part of a table."""

    table: GroupedTable
    work: SeriesWork
    state: str  # the column of states
    levels: tuple[float | str, ...] | None = None  # levels as text, for a row per step

    def __call__(self, cell: Cell, _: range) -> list[Any]:
        """Return records by level and series, the table of steps in base64, and notes on holes."""
        import narwhals as nw

        rows = self.read(Part(*dict(cell.point)["part"]))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", HoleWarning)
            evaluations = self.work.judge(nw.from_native(rows, eager_only=True))
        holes = []
        for warning in heard:
            if issubclass(warning.category, HoleWarning):
                holes.append(str(warning.message))
            else:
                warnings.warn_explicit(
                    warning.message, warning.category, warning.filename, warning.lineno
                )
        names = sorted(rows[self.table.group].unique().to_list())
        records = []
        for evaluation in evaluations:
            judged = {record.series: record for record in evaluation}
            records.append([
                list(judged.get(name, SeriesRecord(name, 0, note=BARE))) for name in names
            ])  # fmt: skip
        if self.levels is None:
            return [[records, None, holes]]
        group, order = self.table.group, self.work.order
        number = rows.select(pl.int_range(1, pl.len() + 1).over(group, order_by=order))
        keys = writing.list_rows(
            rows.select([group] if order is None else [group, order]), number[:, 0], rows[LABEL]
        )
        by_level = [evaluation.evaluations for evaluation in evaluations]
        steps = writing.list_backtest_steps(by_level, self.levels, keys, evaluations[0].rows)
        steps.write_parquet(file := io.BytesIO())
        return [[records, base64.b64encode(file.getvalue()).decode("ascii"), holes]]

    def read(self, part: Part) -> pl.DataFrame:
        work = self.work
        return self.table.read_labelled(part, self.state, work.order, list(work.observed))

    def cell(self, part: Part, seed: int) -> Cell:
        """Return the cell of a part, whose key contains everything that its records depend on."""
        work = self.work
        plain = {
            name: value for name, value in vars(work).items() if name not in ("predictor", "totals")
        }
        point = (
            ("table", self.table.digest()), ("state", self.state), ("part", [part.first, part.last])
        )  # fmt: skip
        method = (
            ("predictor", repr(sorted(work.predictor.get_params().items(), key=str))),
            ("work", repr(plain)),
            ("totals", "" if work.totals is None else _digest(work.totals)),
            ("steps", None if self.levels is None else list(self.levels)), ("cut at holes", HOLE),
            ("fields", len(SeriesRecord._fields)),
        )  # fmt: skip
        return Cell("series", point, method, 1, seed)


def _digest(totals: conformal.SeriesTotals) -> str:
    labels = repr((totals.states.labels, totals.symbols.labels)).encode()
    numbers = np.ascontiguousarray(totals.moves).tobytes() + totals.seen.tobytes()
    return hashlib.sha256(labels + numbers + totals.rows.tobytes()).hexdigest()


def _count_states(table: GroupedTable, state: str) -> conformal.SeriesTotals:
    """Count the rows of each state of a table; leave transitions and symbols at zero."""
    counts = table.collect(table.scan().group_by(state).agg(pl.len().alias(ROWS)))
    labels, _ = read_states(counts, table.name, state)
    rows = counts.with_columns(pl.Series(LABEL, labels, strict=False)).drop_nulls(LABEL)
    rows = rows.group_by(LABEL).agg(pl.col(ROWS).sum()).sort(LABEL)
    n = len(rows)
    return conformal.SeriesTotals(
        Alphabet(rows[LABEL].to_list()), Alphabet(), np.zeros((n, n), dtype=np.int64),
        np.zeros((n, 0), dtype=np.int64), rows[ROWS].to_numpy().astype(np.int64),
    )  # fmt: skip


def _share_counts(task: PartBacktest, parts: list[Part]) -> tuple[list[Part], PartBacktest]:
    """Give every part the counts of all parts; merge the parts where counts do not suffice."""
    work = task.work
    if work.predictor.series == "others" and work.predictor.settings().model == "auto":
        kinds = task.read(parts[0]).select(work.observed).schema.dtypes()
        if not kinds or (
            len(kinds) == 1 and (kinds[0].is_integer() or kinds[0] in (pl.String, pl.Boolean))
        ):
            symbol = work.observed[0] if work.observed else None
            counts = [_count(task, part, symbol) for part in parts]
            totals = counts[0]
            for more in counts[1:]:
                totals = totals + more
            return parts, replace(task, work=replace(work, totals=totals))
    rows = sum(part.rows for part in parts)
    if rows > WHOLE:
        raise ValueError(
            f"{task.table.name}: --series {work.predictor.series} puts {rows:,} rows together, and "
            f"up to {WHOLE:,} are read at once; take --series own, or one column of symbols and "
            "--series others, which counts where the rows are"
        )
    return [Part(parts[0].first, parts[-1].last, rows)], task


def _count(task: PartBacktest, part: Part, symbol: str | None) -> conformal.SeriesTotals:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HoleWarning)  # the backtest of the part reports it
        return conformal.count_series(
            task.read(part), LABEL, task.table.group, task.work.order, symbol
        )
