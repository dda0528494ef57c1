"""A user's mistake ends in one line on standard error, never in a traceback."""

from __future__ import annotations

import ast
import errno
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from definetti._system import interrupts, terminal
from definetti.cli.fields import take_first_line
from definetti.cli.printing import tell
from definetti.cli.room import is_out_of_memory

# What the estimators call their parameters, and what the command line does.
OPTIONS = {
    "confidence_level": "--confidence",
    "max_errors": "--max-errors",
    "train_size": "--train-size",
    "guarantee": "--guarantee",
    "horizon": "--horizon",
    "symmetry": "--symmetry",
    "memory": "--memory",
    "conformity_score": "--score",
    "alpha": "--alpha",
    "n_jobs": "--jobs",
    "n_resamples": "--resamples",
    "tests": "--tests",
}
# With a value any of them; by itself, only what is no word of plain English.
OPTION = re.compile(
    r"\b(\w+)=('?)([\w.:]+)\2|\b(confidence_level|max_errors|train_size|n_resamples)\b"
)
BY_STATE = re.compile(r"\bconfidence_level=(\{[^{}]*\})")
CAPPED = re.compile(r"\bmemory=(?:definetti\.memory\.)?Age\(most=(\d+)\)")
# At the beginning of what is wrong with one; and what a person at a terminal cannot give.
NAMED = re.compile(rf"^({'|'.join(OPTIONS)}) must be ")
OBJECTS = re.compile(r",? or a definetti\.\S+(?=, got)|, a function(?: of windows)?(?= or a|, got)")
MISTAKES = (
    ValueError, TypeError, ImportError, OSError, EOFError, zlib.error, OverflowError, MemoryError,
)  # fmt: skip


@contextmanager
def report_mistakes() -> Iterator[None]:
    """Turn errors into a line and exit code 2, Ctrl-C into 1; warnings into notes."""
    heard = CollectedWarnings()
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = heard
        try:
            yield
        except KeyboardInterrupt:
            raise tell_stopped() from None
        except MISTAKES as error:
            if interrupts.is_stopping():
                raise tell_stopped() from None
            if terminal.has_failed():
                raise typer.Exit(terminal.BROKEN) from None  # and `main` says why
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # whoever read our output has gone, and wants no message
            raise tell_mistake(error) from None
        finally:
            if not interrupts.is_stopping():  # whoever has stopped wants no notes, least of all
                heard.tell()  # those of what was stopped: of tasks that were cancelled


def tell_mistake(error: Exception) -> typer.Exit:
    """Tell of a user's mistake; raise what is returned."""
    text = write_options(OBJECTS.sub("", str(error)))
    text = NAMED.sub(lambda found: f"{OPTIONS[found[1]]} must be ", text)
    if is_out_of_memory(error):
        details = take_first_line(text) or "no details"
        text = f"not enough memory; allow more, or give fewer rows or a shorter horizon ({details})"
    tell(f"definetti: {text or type(error).__name__}")
    return typer.Exit(2)


def write_options(text: str) -> str:
    """Write parameters as the options of commands that they are, if they are any.

    >>> write_options("set train_size=0.5, guarantee='all' or conformity_score='path'")
    'set --train-size 0.5, --guarantee all or --score path'
    >>> write_options("take memory='age', memory=Age(most=7), or symmetry='spaced'")
    'take --memory age, --memory age:7, or --symmetry spaced'
    >>> write_options("or ask less of them: confidence_level={'N1': 0.5, None: 0.9}")
    'or ask less of them: --confidence N1=0.5,0.9'
    """
    text = BY_STATE.sub(_write_levels, CAPPED.sub(r"memory=age:\1", text))
    return OPTION.sub(_write_option, text)


def _write_levels(found: re.Match[str]) -> str:
    """Write levels by states as `definetti.cli.levels` reads them."""
    try:
        levels = ast.literal_eval(found[1])
    except (ValueError, SyntaxError):  # labels that are neither text nor numbers
        return found[0]
    named = [f"{state}={level:g}" for state, level in levels.items() if state is not None]
    return f"--confidence {','.join([*named, f'{levels[None]:g}'])}"


def _write_option(found: re.Match[str]) -> str:
    name, _, value, alone = found.groups()
    if alone:
        return OPTIONS[alone]
    return f"{OPTIONS[name]} {value}" if name in OPTIONS else found[0]


def tell_stopped() -> typer.Exit:
    """Tell of Ctrl-C; raise what is returned."""
    tell(interrupts.MESSAGE)
    return typer.Exit(interrupts.CODE)


class CollectedWarnings:
    """Warnings, each kind told once: a backtest may give the same one for every window."""

    def __init__(self) -> None:
        self.first: dict[type[Warning], str] = {}
        self.number: Counter[type[Warning]] = Counter()

    def __call__(self, message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        self.first.setdefault(category, str(message))
        self.number[category] += 1

    def tell(self) -> None:
        """Write them to standard error."""
        for category, text in self.first.items():
            others = self.number[category] - 1
            more = f" (and {others:,} more like it)" if others else ""
            tell(f"note: {write_options(text)}{more}")
