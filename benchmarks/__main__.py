"""Run the benchmarks: all of them, or those named, as in `python -m benchmarks pairs growth`."""

from __future__ import annotations

import argparse
import os
import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console

MODULES = {
    "filter": "filter_smoother",
    "pairs": "pairs",
    "one_step": "crepes_p_values",
    "growth": "growth",
    "rolling": "rolling",
    "figure1": "figure1",
    "long": "long",
    "symmetries": "symmetries",
    "refitted": "refitted",
    "sizes": "sizes",
    "imports": "imports",
    "check": "checking",
    "stream": "stream",
    "walk": "walk",
    "series": "series",
}
LIBRARIES = ("numpy", "numba", "scikit-learn", "hmmlearn", "crepes", "online-cp")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(MODULES)}")
    parser.add_argument("--list", action="store_true", help="of walk: name the files, too")
    asked = parser.parse_args()
    names = asked.names
    for name in names:
        if name not in MODULES:
            parser.error(f"no benchmark is called {name!r}; there are {', '.join(MODULES)}")
    console = Console()
    # Where the output is kept in a file there is no terminal to fit, and tables stay whole.
    if not console.is_terminal:
        console = Console(width=140)
    _print_machine(console)
    for name in names or MODULES:
        more = {"listed": True} if name == "walk" and asked.list else {}
        import_module(f"benchmarks.{MODULES[name]}").run(console, **more)


def _print_machine(console: Console) -> None:
    system = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    libraries = ", ".join(filter(None, map(_name_version, LIBRARIES)))
    console.print(f"{system}, Python {platform.python_version()}, {libraries}", highlight=False)
    console.print("Ratios say how many times faster definetti is.\n", highlight=False)


def _name_version(name: str) -> str:
    """Name a library with its version; nothing where it is not installed."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    main()
