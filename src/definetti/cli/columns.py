"""Which column is the state, which are observed, and which rows are labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from definetti.cli.fields import ROW_NAME, BadTable, find_repeated
from definetti.cli.kinds import tidy_columns
from definetti.cli.new_rows import match_new_rows
from definetti.cli.telling import MANY, find_idle
from definetti.cli.times import as_times, find_time_column, read_order_times
from definetti.data.timing import Clock, Times, rows_until_hole

if TYPE_CHECKING:
    import polars as pl

SHOWN = 20  # columns that a message names
# Words for a state that is missing. "none" and "Na" are not among them: they are names, too.
NO_LABEL = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL")


@dataclass
class LabelledTable:
    """Labelled rows and new ones, ready for an estimator.

    Attributes
    ----------
    observations, states : of the labelled rows; observations are None where no column is observed
    new : the observations of the new rows
    columns : the observed columns, with what they hold
    notes : what a person should know of how the files were read
    lengths : of the segments between gaps, rows that have no state or that are missing altogether;
        None where that is one
    rows : the labelled rows' places in their file, from 0
    keys, new_keys : the columns of labelled and of new rows that are neither observed nor the
        state, as they are in the file
    time, clock : the column that says when rows were taken, if there is one, and the time of the
        last labelled row
    new_until, hole : how many new rows follow the last labelled one step by step, and what to say
        of the others; all do where there is nothing to say
    """

    observations: Any
    states: list[Any]
    new: Any
    new_rows: int
    columns: dict[str, str]
    notes: list[str] = field(default_factory=list)
    lengths: list[int] | None = None
    rows: Sequence[int] = ()
    keys: pl.DataFrame | None = None
    new_keys: pl.DataFrame | None = None
    time: str | None = None
    clock: Clock | None = None
    new_until: int = 0
    hole: str = ""

    def check_new(self, steps: int) -> None:
        """Refuse to predict new rows that come after a hole in time."""
        if self.hole and min(steps, self.new_rows) > self.new_until:
            raise BadTable(self.hole)


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
    """Tell labelled rows from new ones, and take the columns asked for.

    Parameters
    ----------
    table, name : the labelled rows, and new ones below them if they have no state; and their file
    state : the column with the states
    observed : names of the observed columns, with commas between; if left out all others, but for
        those that cannot tell anything of the state
    new, new_name : further new rows, and their file
    order : what the rows were sorted by; a column of dates if left out
    """
    check_columns(table, name, [state], "--state-column")
    notes: list[str] = []
    columns = _choose_columns(table, name, state, observed, notes)
    table, found = tidy_columns(table, name, columns)
    labels, odd = read_states(table, name, state)
    notes += found + odd
    rows = find_labelled(labels, name, state)
    end = rows[-1] + 1
    idle = find_idle(table[:end], columns)
    if observed is None:
        columns = _leave_out(columns, idle, notes)
    else:
        notes += [f"column {column!r} {why} and tells nothing" for column, why in idle.items()]
    if not columns:
        notes.append("no column is observed, so the states are taken as a plain Markov chain")
    rest, known = table[end:], table[:end] if len(rows) == end else table[rows]
    used = {state, *columns}
    left = [column for column in table.columns if column not in used]
    timed, told = find_time_column(table, left)
    if order is not None:
        timed, told = read_order_times(order), []
        told += [timed.holes.note] if timed is not None and timed.holes.note else []
    notes += told
    lengths = _find_segments(rows, None if timed is None else timed.holes.after)
    if len(rows) < end:
        notes.append(_note_gaps(rows, lengths or [], name, state))
    if new is not None:
        if len(rest):
            raise BadTable(
                f"{name}: the last {len(rest)} rows have no state, and there is a file of new rows "
                "as well; leave one of them out"
            )
        check_columns(new, new_name, columns)
        rest, found = match_new_rows(new, new_name, table, name, columns=columns, state=state)
        notes += found
    clock = None if timed is None else timed.clock(rows[-1])
    until, hole = len(rest), ""
    if timed is not None and len(rest):
        later: Times | None = timed.times._replace(values=timed.times.values[end:])
        if new is not None:
            later = as_times(new[timed.name]) if timed.name in new.columns else None
        if later is not None and len(later.values):
            until, hole = rows_until_hole(later, clock, name if new is None else new_name)
    states = [labels[row] for row in rows]
    notes += _note_states(len(rows), state, len(set(states)))
    kinds = table.select(columns).schema
    return LabelledTable(
        observations=take_columns(known, columns),
        states=states,
        new=take_columns(rest, columns) if columns and len(rest) else None,
        new_rows=len(rest),
        columns={column: str(dtype).lower() for column, dtype in kinds.items()},
        notes=notes,
        lengths=lengths,
        rows=rows,
        keys=known.drop(state, *columns),
        new_keys=rest.drop(state, *columns, strict=False),
        time=None if timed is None else timed.name,
        clock=clock,
        new_until=until,
        hole=hole,
    )


def check_columns(table: pl.DataFrame, name: str, columns: list[str], option: str = "") -> None:
    """Refuse columns that are not there."""
    there = table.columns
    known = set(there)
    column = next((one for one in columns if one not in known), None)
    if column is None:
        return
    alike = [one for one in there if one.strip().lower() == column.strip().lower()]
    remedy = f"; name one of these with {option}" if option else ""
    if alike:
        remedy = f"; is it {alike[0]!r}?"
    raise BadTable(f"{name} has no column {column!r}; it has {_list_some(there)}{remedy}")


def _list_some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _choose_columns(
    table: pl.DataFrame, name: str, state: str, observed: str | None, notes: list[str]
) -> list[str]:
    kinds = table.schema
    dated = {one: None for one, kind in kinds.items() if kind.is_temporal() and one != state}
    if observed is None:
        columns = [column for column in kinds if column != state and column not in dated]
        if dated:
            notes.append(f"left out, being dates: {', '.join(dated)}")
        if ROW_NAME in columns:
            columns.remove(ROW_NAME)
            notes.append(
                f"{name}: the header has one name fewer than the rows have fields, so that the "
                "first field is taken as the name of its row and left out"
            )
    else:
        columns = [column.strip() for column in observed.split(",") if column.strip()]
    check_columns(table, name, columns, "--observation-columns")
    if twice := find_repeated(columns):
        raise BadTable(f"--observation-columns names {twice[0]!r} twice; leave one out")
    for column in columns:
        if column == state:
            raise BadTable(f"column {column!r} is the state and cannot be observed as well")
        if column in dated:
            raise BadTable(
                f"{name}: column {column!r} holds dates, which come once only; leave it out, or "
                "turn it into numbers (the hour of the day, say)"
            )
    return columns


def choose_observed(
    table: pl.DataFrame, first: pl.DataFrame, name: str, state: str, observed: str | None
) -> tuple[list[str], list[str]]:
    """Return the columns that are observed in a table of many series, and notes.

    Parameters
    ----------
    table, first : rows of some series, and of the first of them
    observed : as `split_labelled_rows` has it
    """
    notes: list[str] = []
    columns = _choose_columns(table, name, state, observed, notes)
    idle = find_idle(table, columns)
    # What counts rows begins anew in every series; what one series has throughout tells of others.
    idle |= {
        one: why for one, why in find_idle(first, columns).items() if first[one].n_unique() > 1
    }
    return (_leave_out(columns, idle, notes) if observed is None else columns), notes


def read_states(table: pl.DataFrame, name: str, column: str) -> tuple[list[Any], list[str]]:
    """Return the label of each row, None where there is none, and notes.

    Text stays as it is, whatever it looks like; blank text and words such as NA are no label.

    Parameters
    ----------
    table, name : what was read, and where it is from
    column : the column with the states
    """
    import polars as pl

    series = table[column]
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype != pl.String:
        tidy, notes = tidy_columns(table.select(column), name, [column])
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
            f"{name}: column {column!r} has {words} in {rows}, read as empty; to have a state of "
            f"such a name write it otherwise, '({bare.filter(absent)[0]})' say"
        )
    return kept.to_list(), notes + _note_blanks(kept, name, column)


def find_labelled(labels: list[Any], name: str, column: str) -> Sequence[int]:
    """Return the places of the rows that are labelled; what follows the last is to be predicted."""
    known = [row for row, label in enumerate(labels) if label is not None]
    if not known:
        raise BadTable(
            f"{name}: column {column!r} is empty in every row; the states of the first rows must "
            "be known"
        )
    return known if len(known) <= known[-1] else range(len(known))


def _find_segments(rows: Sequence[int], holes: Any = None) -> list[int] | None:
    """Return the lengths of segments of rows that follow each other; None where that is one.

    Parameters
    ----------
    holes : of all rows of the table, whether some are missing just before each
    """
    if len(rows) > rows[-1] and holes is None:
        return None
    begins = [
        k
        for k in range(1, len(rows))
        if rows[k] > rows[k - 1] + 1 or (holes is not None and holes[rows[k]])
    ]
    found = [late - early for early, late in pairwise([0, *begins, len(rows)])]
    return found if len(found) > 1 else None


def _note_gaps(rows: Sequence[int], lengths: list[int], name: str, state: str) -> str:
    """Say which rows are left out for having no state, and what that means."""
    known = set(rows)
    lacking = [row + 1 for row in range(rows[-1]) if row not in known]
    number = "1 row has" if len(lacking) == 1 else f"{len(lacking):,} rows have"
    last = lengths[-1] if lengths else len(rows)
    return (
        f"{name}: {number} no {state} before others that have one, row {lacking[0]:,} the first: "
        f"taken as gaps. What is predicted follows the last gap and is compared with the {last:,} "
        "rows after it; a model learns from all"
    )


def _note_blanks(series: pl.Series, name: str, column: str) -> list[str]:
    """Return a note where labels differ by blanks alone, which nobody sees."""
    first: dict[str, str] = {}
    for label in series.drop_nulls().unique(maintain_order=True):
        other = first.setdefault(label.strip(), label)
        if other != label:
            return [
                f"{name}: column {column!r} has {other!r} and {label!r}, which differ by blanks "
                "alone and are two states; take the blanks out if they are one"
            ]
    return []


def _leave_out(columns: list[str], idle: dict[str, str], notes: list[str]) -> list[str]:
    """Return the columns but for those that tell nothing, and note these."""
    if idle:
        told = _list_some([f"{column!r} {why}" for column, why in idle.items()])
        notes.append(
            f"left out, telling nothing: {told}; --observation-columns keeps what it names"
        )
    return [column for column in columns if column not in idle]


def _note_states(rows: int, state: str, number: int) -> list[str]:
    """Return what looks like a mistake in so many states of labelled rows, and may be none."""
    if number == 1:
        return [f"column {state!r} has one state only, so every set holds that one"]
    if rows >= MANY and number > rows / 2:
        return [f"column {state!r} has {number} states in {rows} rows; is it the state?"]
    return []


def take_columns(table: pl.DataFrame, columns: list[str]) -> Any:
    """Return one column as a series, several as a frame, none as None."""
    import polars as pl

    if not columns:
        return None
    table = table.select(columns).cast({pl.Null: pl.String})
    return table[columns[0]] if len(columns) == 1 else table


def as_frame(observed: Any) -> Any:
    """Return what `take_columns` does with one column as a frame, too."""
    import polars as pl

    return observed.to_frame() if isinstance(observed, pl.Series) else observed
