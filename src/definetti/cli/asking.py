"""From options to an estimator and what to ask it: what `predict` and `report` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from definetti.cli.columns import Given


def read_both(labelled: str, new: str | None, state: str, observed: str | None) -> Given:
    """Read labelled rows and new ones, which come in a file of their own or below the others."""
    from definetti.cli.columns import given
    from definetti.cli.reading import BadTable, called, read_table

    if labelled == new == "-":
        raise BadTable("standard input can be read once only; name a file for one of the two")
    table = read_table(labelled)
    others = None if new is None else read_table(new)
    return given(table, called(labelled), state, observed, others, called(new or ""))


def asked_of(
    data: Given,
    steps: int,
    confidence: float,
    guarantee: str,
    max_errors: int,
    train_size: float | None,
    smoothing: bool,
    seed: int,
) -> tuple[Any, Any, int | None]:
    """Return an estimator, the new observations, and the horizon where it reaches beyond them.

    A model is fixed on the first half where nobody said otherwise and it has to be.
    """
    from definetti import ConformalHMM
    from definetti.candidates import is_long
    from definetti.sequence import piece

    long = is_long(len(set(data.states)), steps, 100_000)
    if train_size is None and (long or guarantee != "all" or 0 < data.new_rows < steps):
        train_size = 0.5
        data.notes.append("the model is fixed on the first half of the rows (--train-size 0.5)")
    cp = ConformalHMM(
        confidence_level=confidence, guarantee=guarantee, max_errors=max_errors,
        train_size=train_size, smoothing=smoothing, random_state=seed, verbose=True,
    )  # fmt: skip
    new = None if data.new is None else piece(data.new, 0, min(steps, data.new_rows))
    return cp, new, None if new is not None and len(new) == steps else steps
