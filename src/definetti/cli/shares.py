"""Shares of rows, as options give them."""

from __future__ import annotations


def check_share(train_size: float | None) -> None:
    """Refuse what is no share; a number of rows would be mistaken for one."""
    if train_size is not None and not 0 < train_size < 1:
        raise ValueError(
            f"--train-size must be a share between 0 and 1, both excluded, got {train_size:g}; 0.5 "
            "fixes the model on the first half of the rows"
        )
