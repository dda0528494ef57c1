"""Whether there is room: the memory that this process is allowed, and errors for want of it."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from definetti.cli.fields import BadTable

# What the libraries that read and compile take of a process's addresses, whatever the table. Tried
# with a table of 2,400 rows: too little at `ulimit -v 1600000`, enough at 2000000.
BASE = 2_000_000_000
WORDS = re.compile(
    r"cannot allocate|failed to allocate|allocation of|out of memory|bad_alloc|os error 12\b"
    r"|can't start new thread|load shared object file",
    re.IGNORECASE,
)


def find_limit() -> int | None:
    """Return how many bytes of addresses this process may have (`ulimit -v`); None for any."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def find_memory() -> int | None:
    """Return how many bytes of memory this process can have at most; None where that is not known.

    The machine's, or what its control group (a container, say) or `ulimit -v` allows of it.
    """
    found = [find_limit()]
    with suppress(AttributeError, ValueError, OSError):  # which Windows has not
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # where there is none, or it says "max"
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min((one for one in found if one), default=None)


def check_room(name: str, paths: Iterable[Path]) -> None:
    """Refuse files that cannot be mapped into the memory allowed: who tries is ended, or waits.

    A table may be larger than memory, since it is read in parts; but its files are mapped, which
    takes addresses.
    """
    limit = find_limit()
    if limit is None:
        return
    needed = BASE + sum(path.stat().st_size for path in paths)
    if limit < needed:
        raise BadTable(
            f"{name} takes some {needed / 1e9:.1f} GB of addresses, and {limit / 1e9:.1f} GB are "
            "allowed; raise the limit (ulimit -v), or split the files and ask for some at a time"
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error is for want of memory, whatever library raised it.

    >>> is_out_of_memory(OSError("Cannot allocate memory (os error 12)"))
    True
    """
    if isinstance(error, MemoryError) or WORDS.search(str(error)) is not None:
        return True
    return isinstance(error, OSError) and error.errno == errno.ENOMEM
