"""Find the state, observed and time columns of a table, and its labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from definetti.cli import column_types
from definetti.cli.errors import BadTable
from definetti.cli.lazy import pl
from definetti.cli.table_files import name_source, read_table
from definetti.cli.text_tables import ROW_NAME, find_repeated
from definetti.data.labels import piece
from definetti.data.timing import Clock, Holes, Times, find_holes, read_times, rows_until_hole

if TYPE_CHECKING:
    from definetti.cli.options import Columns

BY_COLUMN = "leave out column {!r} if the rows are consecutive"
SHOWN = 20  # maximal number of columns in a message
# Words for a missing state. "none" and "Na" are left out: they can be names of states.
NO_LABEL = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL")


class TimeColumn(NamedTuple):
    """The time column of a table: its name, all times, and the holes among these."""

    name: str
    times: Times
    holes: Holes


def find_time_column(
    table: pl.DataFrame, columns: list[str], order: pl.Series | None = None
) -> tuple[TimeColumn | None, list[str]]:
    """Return the first column of ascending dates, or the given order column; and notes."""
    notes: list[str] = []
    if order is not None:
        times = None if order.null_count() else read_times(order.to_list())
        named_times = None if times is None else (order.name, times)
    else:
        named_times = None
        for name in columns:
            times = as_times(table[name])
            back: Any = [] if times is None else np.flatnonzero(np.diff(times.values) < 0)
            if len(back):
                notes.append(
                    f"column {name!r} goes back in time at row {back[0] + 2:,}: rows are taken in "
                    "the order of the file"
                )
            elif times is not None:
                named_times = name, times
                break
    if named_times is None:
        return None, notes
    name, times = named_times
    holes = find_holes(times, np.arange(len(times.values)) == 0, BY_COLUMN.format(name))
    return TimeColumn(name, times, holes), [holes.note] if holes.note else []


def as_times(series: pl.Series) -> Times | None:
    """Parse a column of dates, or of dates as text; return None if a row has no date."""
    if series.dtype == pl.String:
        series = column_types.parse_dates(series.to_frame(), [])[series.name]
    if series.dtype not in (pl.Date, pl.Datetime) or series.null_count() or not len(series):
        return None
    return read_times(series.to_list())


@dataclass
class LabelledTable:
    """Labelled rows and new ones, ready for an estimator."""

    observations: Any  # of the labelled rows; None where no column is observed
    states: list[Any]
    new: Any = None  # observations of the new rows
    new_rows: int = 0
    columns: dict[str, str] = field(default_factory=dict)  # the observed ones, with their types
    notes: list[str] = field(default_factory=list)  # how the files were read
    lengths: list[int] | None = None  # of the segments between gaps; None for one segment
    rows: Sequence[int] = ()  # places of the labelled rows in their file, from 0
    keys: Any = None  # columns of labelled rows that are neither observed nor the state
    new_keys: pl.DataFrame | None = None  # the same columns of new rows
    time: str | None = None  # name of the time column
    clock: Clock | None = None  # time of the last labelled row
    new_until: int = 0  # new rows before a hole in time
    hole: str = ""  # error message for rows after the hole

    def cut(self, begin: int) -> LabelledTable:
        """Return the labelled rows from position `begin` on."""
        seen, lengths = self.observations, self.lengths
        if seen is not None:
            seen = piece(seen, begin, len(self.states))
        if lengths is not None:
            left = np.diff(np.maximum(np.cumsum(lengths) - begin, 0), prepend=0)
            lengths = left[left > 0].tolist()
        states, rows = self.states[begin:], self.rows[begin:]
        return replace(self, observations=seen, states=states, lengths=lengths, rows=rows)

    def add_new(
        self, rows: pl.DataFrame, state: str, observed: Any, times: Times | None, name: str
    ) -> None:
        """Add new rows with their observations, and find the first hole in their times."""
        self.new, self.new_rows = observed, len(rows)
        self.new_keys = rows.drop(state, *self.columns, strict=False)
        if times is not None and len(times.values):
            self.new_until, self.hole = rows_until_hole(times, self.clock, name)

    def check_new(self, steps: int) -> None:
        """Refuse to predict new rows that come after a hole in time."""
        if self.hole and min(steps, self.new_rows) > self.new_until:
            raise BadTable(self.hole)


def read_labelled(labelled: str, new: str | None, columns: Columns) -> LabelledTable:
    """Read labelled and new rows; new rows are in a second file or below the labelled ones."""
    if labelled == new == "-":
        raise BadTable("standard input can be read once only; name a file for one of the two")
    state = columns.state_column
    table = read_table(labelled, state)
    others = None
    if new is not None:
        # A text column may hold numbers mixed with words such as NA.
        text = table.select(pl.selectors.string().exclude(state))
        tidy, _ = column_types.tidy_columns(text, name_source(labelled), text.columns)
        others = read_table(new, state, symbols=column_types.name_symbols(tidy))
    return split_labelled_rows(
        table, name_source(labelled), state=state, observed=columns.observation_columns,
        new=others, new_name=name_source(new or ""),
    )  # fmt: skip


def split_labelled_rows(
    table: pl.DataFrame,
    name: str,
    *,
    state: str,
    observed: str | None,
    new: pl.DataFrame | None = None,
    new_name: str = "the file of new rows",
    order: pl.Series | None = None,
) -> LabelledTable:
    """Split a table into labelled and new rows, and select the observed columns."""
    check_columns(table.columns, name, [state], "--state-column")
    columns, notes = _choose_columns(table, name, state, observed)
    table, type_notes = column_types.tidy_columns(table, name, columns)
    labels, label_notes = read_states(table, name, state)
    notes += type_notes + label_notes
    rows = find_labelled(labels, name, state)
    end = rows[-1] + 1
    uninformative = column_types.find_uninformative(table[:end], columns)
    if observed is None:
        columns = _leave_out(columns, uninformative, notes)
    else:
        notes += [
            f"column {column!r} {why} and is uninformative" for column, why in uninformative.items()
        ]
    if not columns:
        notes.append("no column is observed, so the states are modelled as a plain Markov chain")
    rest, known = table[end:], table[:end] if len(rows) == end else table[rows]
    keys = [column for column in table.columns if column not in {state, *columns}]
    timed, time_notes = find_time_column(table, keys, order)
    notes += time_notes
    lengths = _find_segments(rows, None if timed is None else timed.holes.after)
    if len(rows) < end:
        notes.append(_note_gaps(rows, lengths or [], name, state))
    if new is not None:
        if len(rest):
            raise BadTable(
                f"{name}: the last {len(rest)} rows have no state, and there is a file of new rows "
                "as well; leave one of them out"
            )
        check_columns(new.columns, new_name, columns)
        rest, new_notes = column_types.match_new_rows(
            new, new_name, table, name, columns=columns, state=state
        )
        notes += new_notes
    states = [labels[row] for row in rows]
    notes += _note_states(len(rows), state, len(set(states)))
    labelled = LabelledTable(
        observations=take_columns(known, columns), states=states,
        columns=name_types(table, columns), notes=notes, lengths=lengths, rows=rows,
        keys=known.select(keys),
    )  # fmt: skip
    later = None
    if timed is not None:
        times, usual = timed.times, float(timed.holes.usual[0])
        labelled.time, labelled.clock = (
            timed.name,
            Clock(times.kind, times.values[rows[-1]].item(), usual),
        )
        later = times._replace(values=times.values[end:])
        if new is not None:
            later = as_times(new[timed.name]) if timed.name in new.columns else None
    seen = take_columns(rest, columns) if len(rest) else None
    labelled.add_new(rest, state, seen, later, name if new is None else new_name)
    return labelled


def name_types(table: pl.DataFrame, columns: list[str]) -> dict[str, str]:
    """Return the type of each column as text."""
    return {name: str(kind).lower() for name, kind in table.select(columns).schema.items()}


def check_columns(there: list[str], name: str, columns: list[str], option: str = "") -> None:
    """Raise BadTable if a table lacks one of the named columns."""
    known = set(there)
    column = next((column for column in columns if column not in known), None)
    if column is None:
        return
    alike = [existing for existing in there if existing.strip().lower() == column.strip().lower()]
    remedy = f"; name one of these with {option}" if option else ""
    if alike:
        remedy = f"; is it {alike[0]!r}?"
    raise BadTable(f"{name} has no column {column!r}; it has {_list_some(there)}{remedy}")


def _list_some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _choose_columns(
    table: pl.DataFrame, name: str, state: str, observed: str | None
) -> tuple[list[str], list[str]]:
    """Return the named observed columns, or all that may be observed; and notes."""
    kinds, notes = table.schema, []
    dated = {
        column: None for column, kind in kinds.items() if kind.is_temporal() and column != state
    }
    if observed is None:
        columns = [column for column in kinds if column != state and column not in dated]
        if dated:
            notes.append(f"columns of dates are left out: {', '.join(dated)}")
        if ROW_NAME in columns:
            columns.remove(ROW_NAME)
            notes.append(
                f"{name}: the header has one name fewer than the rows have fields, so that the "
                "first field is taken as the name of its row and left out"
            )
        return columns, notes
    columns = [column.strip() for column in observed.split(",") if column.strip()]
    check_columns(table.columns, name, columns, "--observation-columns")
    if repeated := find_repeated(columns):
        raise BadTable(f"--observation-columns names {repeated[0]!r} twice; leave one out")
    if state in columns:
        raise BadTable(f"column {state!r} is the state and cannot be observed as well")
    if column := next((column for column in columns if column in dated), None):
        raise BadTable(
            f"{name}: column {column!r} holds dates, which do not repeat; leave it out, or "
            "turn it into numbers (the hour of the day, say)"
        )
    return columns, notes


def choose_observed(
    table: pl.DataFrame, first: pl.DataFrame, name: str, state: str, observed: str | None
) -> tuple[list[str], list[str]]:
    """Return the observed columns of many series, and notes; `first` has the first series."""
    columns, notes = _choose_columns(table, name, state, observed)
    if observed is not None:
        return columns, notes
    uninformative = column_types.find_uninformative(table, columns)
    # Counters restart in every series; a column constant in one series may vary between series.
    uninformative |= {
        column: why
        for column, why in column_types.find_uninformative(first, columns).items()
        if first[column].n_unique() > 1
    }
    return _leave_out(columns, uninformative, notes), notes


def read_states(table: pl.DataFrame, name: str, column: str) -> tuple[list[Any], list[str]]:
    """Return the label of each row, None for blanks and words such as NA; and notes."""
    series = table[column]
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype != pl.String:
        tidy, notes = column_types.tidy_columns(table.select(column), name, [column])
        return tidy[column].to_list(), notes
    bare = series.str.strip_chars()
    absent = bare.is_in(NO_LABEL).fill_null(False)
    kept = series.to_frame().select(pl.when((bare != "") & ~absent).then(series))[:, 0]
    notes = []
    if absent.any():
        words = ", ".join(map(repr, bare.filter(absent).unique(maintain_order=True)))
        number = absent.sum()
        rows = "1 row" if number == 1 else f"{number:,} rows"
        notes.append(
            f"{name}: column {column!r} has {words} in {rows}, read as empty; to use it as a "
            f"state, write it otherwise, '({bare.filter(absent)[0]})' say"
        )
    return kept.to_list(), notes + _note_blanks(kept, name, column)


def find_labelled(labels: list[Any], name: str, column: str) -> Sequence[int]:
    """Return the positions of the labelled rows; new rows come after the last."""
    known = [row for row, label in enumerate(labels) if label is not None]
    if not known:
        raise BadTable(
            f"{name}: column {column!r} is empty in every row; the states of the first rows must "
            "be known"
        )
    return known if len(known) <= known[-1] else range(len(known))


def _find_segments(rows: Sequence[int], holes: Any = None) -> list[int] | None:
    """Return the lengths of the segments between gaps and holes; None for one segment."""
    places = np.asarray(rows)
    begins = np.diff(places) > 1
    if holes is not None:
        begins |= holes[places[1:]]
    lengths = np.diff(np.flatnonzero(begins) + 1, prepend=0, append=len(rows))
    return lengths.tolist() if begins.any() else None


def _note_gaps(rows: Sequence[int], lengths: list[int], name: str, state: str) -> str:
    """Return a note on unlabelled rows before the last label."""
    lacking = np.setdiff1d(np.arange(rows[-1]), rows) + 1
    number = "1 row has" if len(lacking) == 1 else f"{len(lacking):,} rows have"
    last = lengths[-1] if lengths else len(rows)
    return (
        f"{name}: {number} no {state} before the last label, the first in row {lacking[0]:,}; "
        f"these rows are gaps. Predictions are compared with the {last:,} rows after the last gap; "
        "the model is fitted on all"
    )


def _note_blanks(series: pl.Series, name: str, column: str) -> list[str]:
    """Return a note if two labels differ only by blanks."""
    first: dict[str, str] = {}
    for label in series.drop_nulls().unique(maintain_order=True):
        other = first.setdefault(label.strip(), label)
        if other != label:
            return [
                f"{name}: column {column!r} has {other!r} and {label!r}, which differ by blanks "
                "alone and are two states; take the blanks out if they are one"
            ]
    return []


def _leave_out(columns: list[str], uninformative: dict[str, str], notes: list[str]) -> list[str]:
    """Remove the uninformative columns, and add a note on them."""
    if uninformative:
        excluded = _list_some([f"{column!r} {why}" for column, why in uninformative.items()])
        notes.append(
            f"left out as uninformative: {excluded}; --observation-columns keeps the columns it "
            "names"
        )
    return [column for column in columns if column not in uninformative]


def _note_states(rows: int, state: str, number: int) -> list[str]:
    """Return a note if there is one state only, or too many for the number of rows."""
    if number == 1:
        return [f"column {state!r} has one state only, so every set contains it"]
    if rows >= column_types.MANY and number > rows / 2:
        return [f"column {state!r} has {number} states in {rows} rows; is it the state?"]
    return []


def take_columns(table: pl.DataFrame, columns: list[str]) -> Any:
    """Return one column as a series, several as a data frame, none as None."""
    if not columns:
        return None
    table = table.select(columns).cast({pl.Null: pl.String})
    return table[columns[0]] if len(columns) == 1 else table


def as_frame(observed: Any) -> Any:
    """Convert a series from `take_columns` to a data frame; return other values unchanged."""
    return observed.to_frame() if isinstance(observed, pl.Series) else observed
