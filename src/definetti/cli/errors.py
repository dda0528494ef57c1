"""Errors of the command line: one line and exit code 2, never a traceback; want of memory."""

from __future__ import annotations

import ast
import errno
import os
import re
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from definetti._system import interrupts, terminal
from definetti.cli.printing import print_stderr

# The parameters of estimators, and the options that set them.
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
# With a value any of them; alone, only those that are no English word.
OPTION = re.compile(
    r"\b(\w+)=('?)([\w.:]+)\2|\b(confidence_level|max_errors|train_size|n_resamples|conformity_score)\b"
)
BY_STATE = re.compile(r"\bconfidence_level=(\{[^{}]*\})")
CAPPED = re.compile(r"\bmemory=(?:definetti\.memory\.)?Age\(most=(\d+)\)")
# At the beginning of a message; and alternatives that a command line cannot give.
NAMED = re.compile(rf"^({'|'.join(OPTIONS)}) must be ")
OBJECTS = re.compile(r",? or a definetti\.\S+(?=, got)|, a function(?: of windows)?(?= or a|, got)")
ERRORS = (
    ValueError, TypeError, ImportError, OSError, EOFError, zlib.error, OverflowError, MemoryError,
)  # fmt: skip
# Address space that the libraries take, whatever the table. Measured with a table of 2,400 rows:
# too little at `ulimit -v 1600000`, enough at 2000000.
BASE = 2_000_000_000
WORDS = re.compile(
    r"cannot allocate|failed to allocate|allocation of|out of memory|bad_alloc|os error 12\b"
    r"|can't start new thread|load shared object file",
    re.IGNORECASE,
)


class BadTable(ValueError):
    """A file or an argument that is wrong, with a message that says where."""


def take_first_line(error: Exception | str) -> str:
    """Return the first line of an error, without its advice for programmers."""
    return str(error).strip().split("\n", 1)[0]


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn errors into a line and exit code 2, Ctrl-C into 1; warnings into notes."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        except (KeyboardInterrupt, *ERRORS) as error:
            if isinstance(error, KeyboardInterrupt) or interrupts.is_stopping():
                print_stderr(interrupts.MESSAGE)
                raise typer.Exit(interrupts.CODE) from None
            if terminal.has_failed():
                raise typer.Exit(terminal.BROKEN) from None  # `main` says why
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # the reader of standard output has gone: no message
            text = write_options(OBJECTS.sub("", str(error)))
            text = NAMED.sub(lambda match: f"{OPTIONS[match[1]]} must be ", text)
            if is_out_of_memory(error):
                text = (
                    "not enough memory; allow more, or give fewer rows or a shorter horizon "
                    f"({take_first_line(text) or 'no details'})"
                )
            print_stderr(f"definetti: {text or type(error).__name__}")
            raise typer.Exit(2) from None
        finally:
            # One warning of each category; those of cancelled tasks are of no interest.
            for category, number in Counter(warning.category for warning in heard).items():
                text = next(
                    str(warning.message) for warning in heard if warning.category is category
                )
                more = f" (and {number - 1:,} more like it)" if number > 1 else ""
                if not interrupts.is_stopping():
                    print_stderr(f"note: {write_options(text)}{more}")


def write_options(text: str) -> str:
    """Write the parameters in a message as options of the command line.

    >>> write_options("set train_size=0.5, guarantee='all' or conformity_score='path'")
    'set --train-size 0.5, --guarantee all or --score path'
    >>> write_options("take memory='age', memory=Age(most=7), or symmetry='spaced'")
    'take --memory age, --memory age:7, or --symmetry spaced'
    >>> write_options("or ask less of them: confidence_level={'N1': 0.5, None: 0.9}")
    'or ask less of them: --confidence N1=0.5,0.9'
    """
    text = BY_STATE.sub(_write_levels, CAPPED.sub(r"memory=age:\1", text))
    return OPTION.sub(_write_option, text)


def _write_levels(match: re.Match[str]) -> str:
    """Write levels by states as `estimators.read_confidence` reads them."""
    try:
        levels = ast.literal_eval(match[1])
    except (ValueError, SyntaxError):  # labels that are neither text nor numbers
        return match[0]
    named = [f"{state}={level:g}" for state, level in levels.items() if state is not None]
    return f"--confidence {','.join([*named, f'{levels[None]:g}'])}"


def _write_option(match: re.Match[str]) -> str:
    name, _, value, alone = match.groups()
    if alone:
        return OPTIONS[alone]
    return f"{OPTIONS[name]} {value}" if name in OPTIONS else match[0]


def find_limit() -> int | None:
    """Return the limit of the address space in bytes (`ulimit -v`); None without a limit."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def find_memory() -> int | None:
    """Return the bytes of memory that the machine, container or `ulimit -v` allows, if known."""
    limits = [find_limit()]
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # there is none, or no limit
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min((limit for limit in limits if limit), default=None)


def check_address_space(name: str, paths: Iterable[Path]) -> None:
    """Refuse files that cannot be mapped into the address space: reading would end the process."""
    limit = find_limit()
    if limit is None:
        return
    needed = BASE + sum(path.stat().st_size for path in paths)
    if limit < needed:
        raise BadTable(
            f"{name} takes some {needed / 1e9:.1f} GB of address space, and {limit / 1e9:.1f} GB "
            "are allowed; raise the limit (ulimit -v), or split the files"
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error is for want of memory, whichever library raised it."""
    if isinstance(error, MemoryError) or WORDS.search(str(error)) is not None:
        return True
    return isinstance(error, OSError) and error.errno == errno.ENOMEM
