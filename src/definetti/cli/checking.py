"""The check that commands make by themselves, and what they say of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from definetti.cli.mistakes import write_options

if TYPE_CHECKING:
    from definetti.check import Diagnosis
    from definetti.choosing import Choice
    from definetti.cli.columns import LabelledTable


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

    seen, states, lengths, before = leave_training(data, train_size)
    if lengths is not None:  # what calibrates is what follows the last gap
        begin, end = len(states) - lengths[-1], len(states)
        before += begin
        seen, states = None if seen is None else piece(seen, begin, end), states[begin:]
    try:
        return check_quickly(
            seen, states, memory=memory, rows_before=before, random_state=seed, pictures=pictures
        )
    except CannotTest:
        return None


def leave_training(
    data: LabelledTable, train_size: float | None
) -> tuple[Any, list[Any], list[int] | None, int]:
    """Return observations, states and lengths of the rows that calibrate, and where they begin."""
    from definetti.data.labels import piece
    from definetti.data.splitting import training_length

    if train_size is None:
        return data.observations, data.states, data.lengths, 0
    end = len(data.states)
    begin = training_length(train_size, end)
    seen = None if data.observations is None else piece(data.observations, begin, end)
    lengths = None
    if data.lengths is not None:
        ends = [max(sum(data.lengths[: k + 1]) - begin, 0) for k in range(len(data.lengths))]
        lengths = [
            late - early for early, late in zip([0, *ends], ends, strict=False) if late > early
        ]
    return seen, data.states[begin:], lengths, begin


def find_memory(cp: Any, data: LabelledTable) -> Any:
    """Return what the future is taken to depend on, found by a fit where that is to be chosen."""
    import copy

    from definetti._system.checks import is_auto

    if not is_auto(cp.memory):
        return cp.memory
    return copy.deepcopy(cp).fit(data.observations, data.states, data.lengths).memory_


def say_choice(choice: Choice | None) -> list[str]:
    """Say what was chosen by tests, in the words of commands; nothing that goes without saying."""
    return [] if choice is None or not choice.worth_saying else [write_options(choice.words)]


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
