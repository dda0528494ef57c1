"""From options to an estimator and what to ask it: what several commands have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from definetti.cli.columns import LabelledTable
    from definetti.cli.options import Columns, Grouping, Settings

LONGEST = 100  # characters of --memory; Python itself reads no number of thousands of digits
MOST = 100_000  # candidates that may be listed, as the estimator has it


def read_both(labelled: str, new: str | None, columns: Columns) -> LabelledTable:
    """Read labelled rows and new ones, which come in a file of their own or below the others."""
    from definetti.cli.columns import split_labelled_rows
    from definetti.cli.fields import BadTable
    from definetti.cli.kinds import tidy_columns
    from definetti.cli.new_rows import name_symbols
    from definetti.cli.reading import import_polars, name_source, read_table

    if labelled == new == "-":
        raise BadTable("standard input can be read once only; name a file for one of the two")
    state = columns.state_column
    table = read_table(labelled, state)
    others = None
    if new is not None:
        # Not all that is text in a file is: numbers may have words such as NA among them.
        text = table.select(import_polars().selectors.string().exclude(state))
        tidy, _ = tidy_columns(text, name_source(labelled), text.columns)
        others = read_table(new, state, symbols=name_symbols(tidy))
    return split_labelled_rows(
        table, name_source(labelled), state=state, observed=columns.observation_columns,
        new=others, new_name=name_source(new or ""),
    )  # fmt: skip


def make_estimator(
    settings: Settings,
    data: LabelledTable,
    steps: int,
    *,
    lag: int = 0,
    verbose: bool = True,
    many: bool = False,
) -> Any:
    """Return the estimator that was asked for, not fitted yet, for so many steps at most.

    A model is fixed on the first half where nobody said otherwise and it has to be.

    Parameters
    ----------
    many : whether it is for many series; whether refitting would be slow each decides by itself
    """
    from definetti.cli.levels import read_confidence
    from definetti.conformal import ConformalHMM

    check_errors(settings.guarantee.value, settings.max_errors, steps - lag)
    forecast = 0 < data.new_rows < steps
    needed = (
        settings.guarantee.value != "all" or forecast or lag > 0
        or settings.classifier is not None
    )  # fmt: skip
    return ConformalHMM(
        find_model(settings, data),
        conformity_score=settings.score, symmetry=settings.symmetry,
        memory=read_memory(settings.memory),
        confidence_level=read_confidence(settings.confidence[0], data.states),
        guarantee=settings.guarantee.value, max_errors=settings.max_errors,
        states=read_labels(settings.states, data.states),
        train_size=choose_share(
            data, steps, settings.train_size, needed, "" if many else settings.symmetry,
            settings.memory,
        ),
        smoothing=settings.smoothing, allow_empty=settings.allow_empty,
        random_state=settings.seed, verbose=verbose,
    )  # fmt: skip


def find_model(settings: Settings, data: LabelledTable) -> Any:
    """Return what stands behind the score: a classifier by its name, or what the data call for."""
    if settings.classifier is None:
        return "auto"
    from definetti.cli.classifiers import make_classifier
    from definetti.cli.columns import as_frame

    data.observations, data.new = as_frame(data.observations), as_frame(data.new)
    return make_classifier(settings.classifier.value, data.observations, settings.seed)


def read_labels(text: str | None, known: list[Any]) -> list[Any] | None:
    """Read the states there can be, with commas between: labels of the kind that rows have.

    >>> read_labels("W,N1,N2", ["W", "N1"]), read_labels("1, 2, 3", [1, 2]), read_labels(None, [])
    (['W', 'N1', 'N2'], [1, 2, 3], None)
    """
    if text is None:
        return None
    named = {str(label): label for label in known}
    number = all(type(label) is int for label in known)
    found = [named.get(word.strip(), word.strip()) for word in text.split(",") if word.strip()]
    read = [int(one) if number and str(one).lstrip("-").isdecimal() else one for one in found]
    missing = [label for label in named.values() if label not in read]
    if missing:
        raise ValueError(
            f"--states {text} leaves out {missing[0]!r}, which rows have; name all states there "
            "can be, or leave --states out"
        )
    return read


def cut_new(data: LabelledTable, steps: int) -> tuple[Any, int | None]:
    """Return the new observations, and the horizon where it reaches beyond them."""
    from definetti.data.labels import piece

    new = None if data.new is None else piece(data.new, 0, min(steps, data.new_rows))
    return new, None if new is not None and len(new) == steps else steps


def read_memory(text: str) -> Any:
    """Read what the future depends on: a number of states, a name, or an age with its cap.

    >>> read_memory("2"), read_memory("observation"), read_memory("age:20")
    (2, 'observation', Age(most=20))
    """
    from definetti.memory import Age

    if len(text) > LONGEST:
        raise ValueError(f"--memory {text[:LONGEST]}… is too long; name a memory, such as 2 or age")
    if text.isdecimal():
        return int(text)
    name, colon, most = text.partition(":")
    if colon and name == Age.known_as and most.isdecimal() and int(most):
        return Age(int(most))
    return text


def write_memory(memory: Any) -> str:
    """Write a memory as `read_memory` reads it.

    >>> write_memory(2), write_memory("age"), write_memory(read_memory("age:20"))
    ('2', 'age', 'age:20')
    """
    from definetti.memory import Age

    if isinstance(memory, Age):
        return memory.known_as if memory.most is None else f"{memory.known_as}:{memory.most}"
    return str(memory)


def check_share(train_size: float | None) -> None:
    """Refuse what is neither a share nor a number of rows."""
    if train_size is None or 0 < train_size < 1 or (isinstance(train_size, int) and train_size > 1):
        return
    raise ValueError(
        f"--train-size must be a share between 0 and 1, both excluded, or a whole number of rows "
        f"> 1, got {train_size:g}; 0.5 fixes the model on the first half of the rows"
    )


def choose_share(
    data: LabelledTable,
    steps: int,
    train_size: float | None,
    needed: bool = False,
    symmetry: str = "",
    memory: str = "1",
) -> float | None:
    """Return the share of rows to fix the model on, and note it where nobody asked for it.

    It goes by what all rearrangements share: how many states, steps and rows there are, and what
    is observed; never by a clock. With "departures" nothing of that is fixed in advance, and
    whoever needs a fixed model says on how many rows.

    Parameters
    ----------
    needed : whether a fixed model is needed however few candidates there are
    symmetry, memory : what candidates are compared with; whether fixing the model saves the list
    """
    from definetti.data.candidates import is_long, is_slow
    from definetti.symmetry import Spaced

    if train_size is not None or symmetry == "departures":
        return train_size
    n, rows = len(set(data.states)), len(data.states)
    if needed or is_long(n, steps, MOST):
        data.notes.append("the model is fixed on the first half of the rows (--train-size 0.5)")
        return 0.5
    if symmetry not in ("auto", "spaced") or memory != "1":
        return None
    if is_slow(n, steps, rows, _shares(data), Spaced.recent):
        data.notes.append(
            "the model is fixed on the first half of the rows (--train-size 0.5): to refit it for "
            f"each of {n**steps:,} sequences would take seconds"
        )
        return 0.5
    return None


def _shares(data: LabelledTable) -> bool:
    """Tell whether refitted candidates share likelihoods, under the law of what is observed."""
    import numpy as np

    from definetti.emissions import Mixed
    from definetti.emissions.choice import kinds_of

    seen = [kinds_of(part) for part in (data.observations, data.new) if part is not None]
    if not seen:
        return True
    emission = seen[0].join(seen[-1]).emission()
    laws = [emission]
    if isinstance(emission, Mixed):
        laws = [*emission.columns.values()] if emission.columns != "auto" else []
    for law in {type(law): law for law in laws}.values():
        table, codes = law.encode([None], None, "observations")
        rows = law.statistics(table, codes, np.zeros(1, dtype=np.int64), 1)
        if law.judge_rows(table, rows, rows.sum(axis=0), codes) is None:
            return False
    return True


def check_errors(guarantee: str, max_errors: int, steps: int) -> None:
    """Refuse errors that nobody asked to allow, and so many that nothing is promised."""
    if max_errors and guarantee != "errors":
        raise ValueError(
            f"--max-errors {max_errors} is for --guarantee errors, and the guarantee is "
            f"{guarantee!r}; add --guarantee errors, or leave --max-errors out"
        )
    if max_errors >= steps:
        few = "the one step" if steps == 1 else f"all {steps} steps"
        raise ValueError(
            f"--guarantee errors with --max-errors {max_errors} lets {few} be wrong and so "
            f"promises nothing; give --max-errors {steps - 1} at most, or more steps with --horizon"
        )


def check_lag(lag: int, steps: int) -> None:
    """Refuse not to ask about any step."""
    if lag >= steps:
        raise ValueError(
            f"--lag {lag} leaves none of {steps} steps to ask about; give --lag {steps - 1} at "
            "most, or more steps with --horizon"
        )


def check_grouping(grouping: Grouping) -> None:
    """Refuse options that are for many series where there is one."""
    given = {"--order-column": grouping.order_column is not None,
             "--series": grouping.series.value != "own"}  # fmt: skip
    names = [name for name, there in given.items() if there]
    if grouping.group_column is None and names:
        raise ValueError(
            f"{names[0]} is for many series; tell them apart with --group-column, or leave it out"
        )
