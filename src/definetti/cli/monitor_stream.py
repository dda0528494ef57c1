"""Pass each row of a stream to the monitor of its series; save and resume the state."""

from __future__ import annotations

import codecs
import re
import secrets
import warnings
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from definetti.cli.column_types import match_new_rows, name_symbols
from definetti.cli.columns import as_times, check_columns, read_states, split_labelled_rows
from definetti.cli.errors import BadTable, write_options
from definetti.cli.estimators import fit_table, make_estimator
from definetti.cli.fit import known_rows, take_observed
from definetti.cli.lazy import pl
from definetti.cli.printing import name_some
from definetti.cli.stream_reader import MOST, Interrupts, Journal, Line, follow_lines
from definetti.cli.table_files import name_source
from definetti.cli.text_tables import decode_text, name_first_field, parse_table
from definetti.exceptions import HoleWarning

if TYPE_CHECKING:
    from definetti.cli.options import Columns, Settings
    from definetti.data.timing import Times
    from definetti.monitor import Step

# Save the whole state after this many rows, and this share of all, were reported since the last
# save: the bytes written add up to a few times the size of the last state.
SAVE_ROWS, SAVE_SHARE = 500, 0.25
KEPT = ("rows", "offset", "columns", "never", "time", "symbols")  # saved attributes


@dataclass(frozen=True)
class StreamOptions:
    """Options of a stream; `watching` has arguments of `Monitor`, ``alpha`` and ``visits``."""

    source: str
    columns: Columns
    settings: Settings
    first: int
    lag: int
    watching: dict[str, Any]
    group: str | None = None


class RowReport(NamedTuple):
    """One row of a stream: its set, and the label that came with it."""

    row: int  # row number in the source, from 1
    states: tuple[Hashable, ...] | None  # the set of the row, if any
    learned: Step | None  # result of `Monitor.label`, if a label came
    labelled_row: int | None  # the row that the label belongs to
    series: str | None


class SeriesMonitor:
    """Read the rows of one series and pass them to its monitor."""

    def __init__(
        self, options: StreamOptions, name: str | None = None, is_saved: bool = False
    ) -> None:
        self.options, self.name, self.is_saved = options, name, is_saved
        self.state, self.source = options.columns.state_column, name_source(options.source)
        self.monitor: Any = None  # None until there are enough rows to fit on
        self.rows = self.offset = 0  # reported rows, and the position in the source after the last
        self.never = 0  # rows whose label was due and missing
        self.columns: list[str] = []
        self.symbols: list[str] = []  # the observed columns that hold text
        self.time: str | None = None
        self.notes: list[str] = []
        self.header = b""
        self.late: deque[tuple[int, Any]] = deque()  # rows that wait for labels, and their labels
        self.early: list[tuple[int, bytes]] = []  # first rows, before the fit
        self._noted: set[str] = set()  # kinds of notes that were added

    def take(self, lines: list[bytes], numbers: Sequence[int]) -> Iterator[RowReport | None]:
        """Yield a report for each row, or None for the first rows, which the model is fitted on."""
        fitted_on = 0
        if self.monitor is None:
            fitted_on = min(self.options.first - len(self.early), len(lines))
            for number, line in zip(numbers[:fitted_on], lines, strict=False):
                self.early.append((number, line))
                if len(self.early) == self.options.first:
                    self._begin()
                yield None
        yield from self.report(lines[fitted_on:], numbers[fitted_on:])

    def _begin(self) -> None:
        """Fit the model on the first rows, and make the monitor."""
        from definetti.martingales import Ville
        from definetti.monitor import Monitor

        settings, observed = self.options.settings, self.options.columns.observation_columns
        numbers, lines = map(list, zip(*self.early, strict=True))
        with name_rows(self.source, numbers):
            self.header = complete_header(self.source, self.header, lines)
            table = split_labelled_rows(
                self._parse(lines), self.source, state=self.state, observed=observed
            )
        if table.new_rows:
            raise BadTable(
                f"{self.source}: {table.new_rows} of the first {len(lines)} rows have no state, "
                "and the model is fitted on these; lower --first"
            )
        cp = fit_table(make_estimator(settings, table, self.options.lag + 1), table)
        arguments = dict(self.options.watching)
        alarm = Ville(arguments.pop("alpha"))
        parts = "all" if arguments.pop("visits") else None
        self.monitor = Monitor(
            cp, parts=parts, alarm=alarm, random_state=settings.seed, **arguments
        )
        self.columns, self.notes, self.time = list(table.columns), table.notes, table.time
        self.symbols = name_symbols(known_rows(cp, self.columns))
        self.rows, self.early = len(lines), []

    def report(self, lines: list[bytes], numbers: Sequence[int]) -> Iterator[RowReport]:
        """Observe and label rows lazily, one per report."""
        if not lines:
            return
        from definetti.monitor import each_row

        with name_rows(self.source, numbers):
            cp, table = self.monitor.known, self._parse(lines)
            check_columns(table.columns, self.source, [self.state, *self.columns])
            states, _ = read_states(table, self.source, self.state)
            rows, _ = match_new_rows(
                table.drop(self.state), self.source, known_rows(cp, self.columns), "the first rows",
                columns=self.columns, state=self.state, batch=True,
            )  # fmt: skip
            observed = take_observed(cp, rows, self.columns)
            observations = [None] * len(states) if observed is None else each_row(observed)
            times = as_times(table[self.time]) if self.time in table.columns else None
        incoming = enumerate(zip(numbers, observations, states, strict=True))
        for k, (number, observation, state) in incoming:
            own = None if times is None else times._replace(values=times.values[[k]])
            clock = self.monitor.clock
            if clock and own and clock.precedes_hole(own, f"row {number:,}"):
                self.late.clear()  # labels of rows before the hole will not come
                self.never = 0
                self._note_once(
                    "hole",
                    f"row {number:,} comes {clock.describe(own)}: a new segment begins, as after "
                    "other holes, and its first row has no set",
                )
            yield self._report_row(number, observation, state, own)

    def _parse(self, lines: list[bytes]) -> Any:
        table = parse_lines(self.source, self.header, lines, self.state, symbols=self.symbols)
        return table if self.options.group is None else table.drop(self.options.group)

    def _note_once(self, kind: str, note: str) -> None:
        if kind not in self._noted:
            self._noted.add(kind)
            self.notes.append(note)

    def _report_row(
        self, number: int, observation: Any, state: Any, times: Times | None
    ) -> RowReport:
        """Observe a row, and learn the label that is due: its own or that of an earlier row."""
        from definetti.monitor import last_states

        self.late.append((number, state))
        is_due = len(self.late) > self.options.lag
        labelled_row, label = self.late.popleft() if is_due else (None, None)
        if label is not None:
            for _ in range(self.never):
                self.monitor.skip()  # skip the rows before this one whose labels are missing
            self.never = 0
        prediction = self._observe(number, observation, times)
        learned = None if label is None else self.monitor.label(label)[0]
        self.never += is_due and label is None
        self.rows += 1
        return RowReport(
            number, None if prediction is None else last_states(prediction), learned,
            None if label is None else labelled_row, self.name,
        )  # fmt: skip

    def _observe(self, number: int, observation: Any, times: Times | None) -> Any:
        """Observe a row; return None if its set is too long to list so far after the last label."""
        from definetti.sets import PredictionSet

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HoleWarning)  # `report` adds a note
            try:
                prediction = self.monitor.observe(observation, times=times)
            except ValueError as error:
                # Raises again if the row itself is wrong.
                self.monitor.observe(observation, predict=False, times=times)
                why = write_options(str(error))
                self._note_once(
                    "bare",
                    f"row {number} and others this long after the last label have no set: {why}",
                )
                return None
        if self.is_saved and not isinstance(prediction, PredictionSet):
            self.monitor.forget_set()  # a set too long to be listed cannot be saved
        return prediction


class StreamMonitor:
    """Monitor all series of a stream; a stream without groups is one series, None.

    The number of series is unknown in advance, so the k-th has level ``α / (k (k + 1))``. These
    levels sum to at most ``α``, the probability of any false alarm.
    """

    def __init__(self, options: StreamOptions, save: Path | None = None) -> None:
        self.options, self.save, self.source = options, save, name_source(options.source)
        self.series: dict[str | None, SeriesMonitor] = {}
        self._header = b""
        self._notes: list[str] = []
        self._journal = None if save is None else Journal(save)
        self._saved = 0  # rows in the saved state
        if options.group is None:
            self.series[None] = SeriesMonitor(options, is_saved=save is not None)
        if save is not None and save.exists():
            self._load(save)

    @property
    def rows(self) -> int:
        """The number of rows that have come."""
        return sum(series.rows + len(series.early) for series in self.series.values())

    @property
    def notes(self) -> list[str]:
        """Notes on how rows were read, and on series too short to fit."""
        if self.options.group is None:
            return [*self.series[None].notes, *self._notes]
        names: dict[str, list[Any]] = {}
        short = f"fewer than {self.options.first} rows have come, which --first requires"
        for name, series in self.series.items():
            for note in series.notes if series.monitor is not None else [short]:
                names.setdefault(note, []).append(name)
        return [
            f"series {name_some(own)}: {note}"
            if len(own) == 1
            else f"{len(own):,} series ({name_some(own)}): {note}"
            for note, own in names.items()
        ]

    def run(self, follow: bool, interrupts: Interrupts) -> Iterator[RowReport]:
        """Read rows as they arrive, and yield a report of each after the first ones.

        A row counts as reported when the next is requested: only then is it in the state or in
        the journal. After a kill, reports resume with the first row that was not reported.
        """
        try:
            self._resume()
            yield from self._read(follow, interrupts)
        finally:
            if self._journal is not None:
                self._journal.close()

    def _read(self, follow: bool, interrupts: Interrupts) -> Iterator[RowReport]:
        source = self.options.source
        # A later call continues where this one ends, so read only whole lines.
        whole = self.save is not None and source != "-"
        read = self.series[None].offset if self.options.group is None else 0
        for lines, end in follow_lines(source, read, follow, interrupts, whole=whole):
            ends = accumulate(len(line) + 1 for line in lines)
            placed = [
                (min(read + at, end), line)
                for at, line in zip(ends, lines, strict=True)
                if line.strip()
            ]
            if placed and not (read and self._header):
                first = placed[0][1].removeprefix(codecs.BOM_UTF8)
                is_repeated = source == "-" and bool(self._header) and self._header.endswith(first)
                if is_repeated or not (self._header or first.lstrip().startswith(b"{")):
                    self._header, placed = self._header or first, placed[1:]
            yield from self._take(placed)
            read = end
        if self._journal is not None and self.series[None].monitor is not None:
            if self.series[None].rows > self._saved:
                self._save()
            self._journal.remove()
        if whole and not interrupts.heard and Path(source).stat().st_size > read:
            self._notes.append(
                f"the last line of {self.source} has no end and may be half-written; it is "
                "left for the next call"
            )

    def _take(self, lines: list[Line]) -> Iterator[RowReport]:
        """Pass each row to the monitor of its series; save it after it was reported."""
        if not lines:
            return
        first = self.rows + 1
        with name_rows(self.source, range(first, first + len(lines))):
            names = self._name_series([line for _, line in lines])
        places: dict[str | None, list[int]] = {}
        for place, name in enumerate(names):
            places.setdefault(name, []).append(place)
        reports = {
            name: self._open(name).take(
                [lines[place][1] for place in own], [first + place for place in own]
            )
            for name, own in places.items()
        }
        for line, name in zip(lines, names, strict=True):
            series = self.series[name]
            is_begun = series.monitor is not None
            report = next(reports[name])
            if report is not None:
                yield report
            if series.monitor is None:
                continue
            series.offset = line[0]
            if self._journal is None:
                continue
            due = max(SAVE_ROWS, SAVE_SHARE * self._saved)
            if not is_begun or series.rows - self._saved >= due:
                self._save()
            else:
                self._journal.append(line)

    def _name_series(self, lines: list[bytes]) -> Sequence[str | None]:
        """Return the series of each row."""
        if self.options.group is None:
            return [None] * len(lines)
        group, state = self.options.group, self.options.columns.state_column
        if not self.series:
            self._header = complete_header(self.source, self._header, lines)
        table = parse_lines(self.source, self._header, lines, state, group=group)
        check_columns(table.columns, self.source, [group], "--group-column")
        if group == state:
            raise BadTable(f"column {group!r} is the state and cannot name the series")
        names = table[group].cast(pl.String)
        empty = names.is_null() | (names.str.strip_chars() == "")
        if empty.any():
            row = self.rows + int(empty.arg_max() or 0) + 1
            raise BadTable(
                f"{self.source}: column {group!r} is empty in row {row:,}; name the series of "
                "each row"
            )
        return cast(list[str], names.to_list())

    def _open(self, name: str | None) -> SeriesMonitor:
        """Return the monitor of a series, a new one for the first row of the series."""
        if name not in self.series:
            number = len(self.series) + 1
            alpha = self.options.watching["alpha"] / (number * (number + 1))
            options = replace(self.options, watching={**self.options.watching, "alpha": alpha})
            self.series[name] = SeriesMonitor(options, name)
        if self.series[name].monitor is None:
            self.series[name].header = self._header
        return self.series[name]

    # --- Saving and resuming one series

    def _resume(self) -> None:
        """Replay the rows of the journal, which were reported before; begin a new journal."""
        if self._journal is None or self.series[None].monitor is None:
            return
        series, lines = self.series[None], self._journal.read()
        for begin in range(0, len(lines), MOST):
            some = [line for _, line in lines[begin : begin + MOST]]
            for _ in series.report(some, range(series.rows + 1, series.rows + len(some) + 1)):
                pass
        if lines:
            series.offset = 0 if self.options.source == "-" else lines[-1][0]
            self._save()

    def _save(self) -> None:
        """Save the whole state, and begin an empty journal."""
        from definetti.saving import save

        series = self.series[None]
        assert self.save is not None
        assert self._journal is not None
        name = secrets.token_hex(8)  # links the journal to this state
        notes = {key: getattr(series, key) for key in KEPT} | self._describe(name)
        save(series.monitor, self.save, notes)
        self._saved = series.rows
        self._journal.begin(name)

    def _describe(self, journal: str) -> dict[str, Any]:
        """Return the entries of a saved state beside the monitor and the attributes in `KEPT`."""
        series, settings = self.series[None], self.options
        given = asdict(settings.settings) | settings.watching | {
            "observation_columns": settings.columns.observation_columns,
            "first": settings.first, "lag": settings.lag,
        }  # fmt: skip
        return {
            "state_column": series.state, "header": series.header.decode("utf-8"),
            "source": settings.source,
            "options": {name: getattr(value, "value", value) for name, value in given.items()},
            "late": [label for _, label in series.late], "journal": journal,
        }  # fmt: skip

    def _load(self, path: Path) -> None:
        from definetti.monitor import Monitor
        from definetti.saving.files import load_with_notes

        monitor, notes = load_with_notes(path)
        series, now = self.series[None], self._describe("")
        if not isinstance(monitor, Monitor) or not notes.keys() >= {*KEPT, *now}:
            raise BadTable(
                f"{path} is not the state of a stream; name another file with --save, or remove it"
            )
        if any(notes[key] != now[key] for key in ("source", "state_column")):
            raise BadTable(
                f"{path} is the state of {notes['source']!r} with the column "
                f"{notes['state_column']!r}; name another file with --save"
            )
        check_resumed(path, notes["options"], now["options"])
        for key in KEPT:
            setattr(series, key, notes[key])
        series.monitor, self._saved = monitor, series.rows
        series.late = deque(enumerate(notes["late"], series.rows - len(notes["late"]) + 1))
        if self.options.source == "-":  # standard input has no rows to skip
            series.offset = 0
        series.header = self._header = str(notes["header"]).encode()
        if self._journal is not None:
            self._journal.name = str(notes["journal"])


def join_lines(name: str, header: bytes, lines: list[bytes]) -> str:
    """Decode lines of a stream, below the header if there is one."""
    return decode_text(b"\n".join([header, *lines] if header else lines), name)


def complete_header(name: str, header: bytes, lines: list[bytes]) -> bytes:
    """Return the header, with a name for the first field if it lacks one, as R writes it."""
    if not header:
        return b""
    return name_first_field(join_lines(name, header, lines), name).encode() + header


def parse_lines(
    name: str, header: bytes, lines: list[bytes], state: str, **parse_options: Any
) -> pl.DataFrame:
    """Parse lines of a stream; refuse rows that span several lines."""
    table = parse_table(join_lines(name, header, lines), name, state, **parse_options)
    if len(table) != len(lines):
        raise BadTable(
            f"{name}: {len(lines):,} lines hold {len(table):,} rows, and a stream has one row a "
            "line; take line ends out of quoted fields"
        )
    return table


@contextmanager
def name_rows(name: str, numbers: Sequence[int]) -> Iterator[None]:
    """Replace row numbers in messages by those of the source."""
    try:
        yield
    except BadTable as error:
        match = re.match(rf"{re.escape(name)}: row (\d+)", str(error))
        if match is None or not 0 < int(match[1]) <= len(numbers):
            raise
        rest = str(error)[match.end() :]
        raise BadTable(f"{name}: row {numbers[int(match[1]) - 1]}{rest}") from None


def check_resumed(path: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse options that differ from those of the state to resume."""
    for name, value in now.items():
        old = before.get(name, value)
        if old != value:
            raise BadTable(
                f"{path} was begun {_write_option(name, old)}, and this call is "
                f"{_write_option(name, value)}; give the same, or another file with --save"
            )


def _write_option(name: str, value: Any) -> str:
    flag = f"--{name.replace('_', '-')}"
    if value is None or value is False:
        return f"without {flag}"
    if value is True:
        return f"with {flag}"
    return f"with {flag} {','.join(map(str, value)) if isinstance(value, list) else value}"
