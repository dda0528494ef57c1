"""Errors of the command line: one line and exit code 2, no traceback; limits of memory."""

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

# Parameters of estimators, and the options that set them.
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
# Any parameter with a value; without a value, only names that are not English words.
OPTION = re.compile(
    r"\b(\w+)=('?)([\w.:]+)\2|\b(confidence_level|max_errors|train_size|n_resamples|conformity_score)\b"
)
BY_STATE = re.compile(r"\bconfidence_level=(\{[^{}]*\})")
CAPPED = re.compile(r"\bmemory=(?:definetti\.memory\.)?Age\(most=(\d+)\)")
# A parameter at the start of a message; alternatives that the command line does not offer.
NAMED = re.compile(rf"^({'|'.join(OPTIONS)}) must be ")
OBJECTS = re.compile(r",? or a definetti\.\S+(?=, got)|, a function(?: of windows)?(?= or a|, got)")
ERRORS = (
    ValueError, TypeError, ImportError, OSError, EOFError, zlib.error, OverflowError, MemoryError,
)  # fmt: skip
# Bytes of address space that the libraries take. Measured with a table of 2,400 rows: 1.6 GB are
# too little (`ulimit -v`), 2 GB are enough.
BASE = 2_000_000_000
WORDS = re.compile(
    r"cannot allocate|failed to allocate|allocation of|out of memory|bad_alloc|os error 12\b"
    r"|can't start new thread|load shared object file",
    re.IGNORECASE,
)


class BadTable(ValueError):
    """A wrong file or argument; the message says where."""


def take_first_line(error: Exception | str) -> str:
    """Return the first line of an error, without its advice for programmers."""
    return str(error).strip().split("\n", 1)[0]


@contextmanager
def report_errors() -> Iterator[None]:
    """Print errors as one line and exit with code 2, on Ctrl-C with 1; print warnings as notes."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        except (KeyboardInterrupt, *ERRORS) as error:
            if isinstance(error, KeyboardInterrupt) or interrupts.is_stopping():
                print_stderr(interrupts.MESSAGE)
                raise typer.Exit(interrupts.CODE) from None
            if terminal.has_failed():
                raise typer.Exit(terminal.BROKEN) from None  # `main` prints the reason
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # the reader closed the pipe: no message
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
            # Print one warning per category; none from tasks that Ctrl-C cancelled.
            for category, number in Counter(warning.category for warning in heard).items():
                text = next(
                    str(warning.message) for warning in heard if warning.category is category
                )
                more = f" (and {number - 1:,} more like it)" if number > 1 else ""
                if not interrupts.is_stopping():
                    print_stderr(f"note: {write_options(text)}{more}")


def write_options(text: str) -> str:
    """Replace parameters in a message by options of the command line.

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
    """Write levels by state in the format of `estimators.read_confidence`."""
    try:
        levels = ast.literal_eval(match[1])
    except (ValueError, SyntaxError):  # labels are neither text nor numbers
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
    """Return the smallest known memory limit in bytes: machine, container or `ulimit -v`."""
    limits = [find_limit()]
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # no such file, or no limit
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min((limit for limit in limits if limit), default=None)


def check_address_space(name: str, paths: Iterable[Path]) -> None:
    """Refuse files that do not fit into the address space: mapping them would end the process."""
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
    """Return whether an error of any library means that memory ran out."""
    if isinstance(error, MemoryError) or WORDS.search(str(error)) is not None:
        return True
    return isinstance(error, OSError) and error.errno == errno.ENOMEM
