"""The check that commands make by themselves, and what they say of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from definetti.cli.mistakes import write_options

if TYPE_CHECKING:
    from definetti.check import Diagnosis
    from definetti.cli.columns import LabelledTable
    from definetti.cli.options import Columns, Grouping


def check_rows(
    data: LabelledTable,
    memory: Any,
    seed: int,
    *,
    train_size: float | None = None,
    skip: bool = False,
    pictures: bool = False,
) -> Diagnosis | None:
    """Check labelled rows in a moment, by random numbers of its own; None where nothing can be.

    Parameters
    ----------
    train_size : the share of rows that a model was fixed on, which calibrate nothing
    skip : whether nobody wants to know
    """
    if skip:
        return None
    from definetti.check import CannotTest, check_quickly
    from definetti.data.labels import piece

    seen, states, lengths, before = leave_training(data, train_size).values()
    if lengths is not None:  # what calibrates is what follows the last gap
        begin, end = len(states) - lengths[-1], len(states)
        before = before[begin]
        seen, states = None if seen is None else piece(seen, begin, end), states[begin:]
    try:
        return check_quickly(
            seen, states, memory=memory, rows_before=before, random_state=seed, pictures=pictures
        )
    except CannotTest:
        return None


def take_groups(
    data: str, columns: Columns, grouping: Grouping, train_size: float | None
) -> tuple[dict[str, Any], list[str]]:
    """Return the rows of many series that calibrate, as arguments of a check; and notes.

    The first rows of each series, on which its model is fixed, have no label then, so that every
    row keeps its place in the file.
    """
    from definetti.cli.columns import take_columns
    from definetti.cli.grouped import SEEN, read_whole
    from definetti.data.series import read_series
    from definetti.data.splitting import training_length

    rows, head, notes = read_whole(data, columns, grouping)
    order = None if grouping.order_column is None else rows[grouping.order_column]
    assert grouping.group_column is not None
    labels, names = rows[SEEN].to_list(), rows[grouping.group_column].to_list()
    if train_size is not None:
        series = read_series(names, len(labels), order, cut=False)
        for place in range(len(series)):
            own = [
                row for row in series.rows[slice(*series.span(place))] if labels[row] is not None
            ]
            for row in own[: training_length(train_size, len(own))] if len(own) > 1 else own:
                labels[row] = None
    seen = take_columns(rows, list(head.columns))
    asked = {"observations": seen, "states": labels, "groups": names, "order": order}
    return asked, [*notes, *head.notes]


def leave_training(data: LabelledTable, train_size: float | None) -> dict[str, Any]:
    """Return the rows that calibrate, as arguments of a check: with where they begin."""
    from definetti.data.labels import piece
    from definetti.data.splitting import training_length

    if train_size is None:
        return _asked(data.observations, data.states, data.lengths, data.rows, 0)
    end = len(data.states)
    begin = training_length(train_size, end)
    seen = None if data.observations is None else piece(data.observations, begin, end)
    lengths = None
    if data.lengths is not None:
        ends = [max(sum(data.lengths[: k + 1]) - begin, 0) for k in range(len(data.lengths))]
        lengths = [
            late - early for early, late in zip([0, *ends], ends, strict=False) if late > early
        ]
    return _asked(seen, data.states[begin:], lengths, data.rows, begin)


def _asked(
    seen: Any, states: list[Any], lengths: list[int] | None, rows: Sequence[int], begin: int
) -> dict[str, Any]:
    before: Any = begin
    if rows:
        before = rows[begin] if lengths is None else list(rows[begin:])
    return {"observations": seen, "states": states, "lengths": lengths, "rows_before": before}


def note_broken(found: Diagnosis | None, symmetry: str) -> list[str]:
    """Return one sentence where the assumption is clearly broken, with a remedy; else none."""
    if found is None or not found.rejected:
        return []
    if symmetry in ("auto", "spaced"):  # what the default does anyway is no remedy
        found = found.beyond_spaced()
    words = found.tests[found.failures[0]].verdict.rstrip(".")
    return [
        f"the assumption is clearly broken (quick check of {found.n_steps:,} rows: p = "
        f"{found.p_value:.3g}, {len(found.failures)} of {len(found.tests)} tests fail): "
        f"{words[:1].lower()}{write_options(words[1:])}; `definetti check` tells more, "
        "--no-check leaves this out"
    ]
