"""Subpackages import only from those listed above them in docs/architecture.md.

The page is the only list of subpackages and of deferred imports, and is read here. Imports for the
type checker alone do not count. A function may import a later subpackage where the page lists it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import definetti

HERE = Path(definetti.__file__).parent
PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
Scope = tuple[ast.FunctionDef | ast.ClassDef, ...]


def read_table(heading: str) -> list[tuple[str, str]]:
    """Return the first two columns of the table under a heading of the page."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`|]+)` \| ([^|]+) \|", section, re.MULTILINE)
    return [(name, other.strip().strip("`")) for name, other in rows]


SUBPACKAGES = [name for name, _ in read_table("Subpackages")]
DEFERRED = read_table("Deferred imports")


class Import(NamedTuple):
    """An import of one subpackage by another, with the function that it stands in, if in any."""

    subpackage: str
    target: str
    function: str
    line: str


def imports(path: Path, folder: Path = HERE) -> Iterator[Import]:
    """Yield what a module imports of other subpackages."""
    module = ".".join(path.relative_to(folder).with_suffix("").parts)
    subpackage = module.partition(".")[0]
    for node, scope in statements(ast.parse(path.read_text(encoding="utf-8"))):
        inside = any(isinstance(one, ast.FunctionDef) for one in scope)
        function = ".".join([module, *(one.name for one in scope)]) if inside else ""
        for target in map(subpackage_of, imported(node)):
            if target not in ("", subpackage):
                yield Import(subpackage, target, function, f"{path.name}:{node.lineno}")


def statements(node: ast.AST, scope: Scope = ()) -> Iterator[tuple[ast.stmt, Scope]]:
    """Yield the statements that import when the module is run, with what they stand in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, scope
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from statements(ast.Module(child.orelse, []), scope)
        elif isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            yield from statements(child, (*scope, child))
        else:
            yield from statements(child, scope)


def imported(node: ast.stmt) -> list[str]:
    """Return the full names that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        assert not node.level, f"line {node.lineno}: imports name the package in full"
        return [f"{node.module}.{one.name}" for one in node.names]
    assert isinstance(node, ast.Import)
    return [one.name for one in node.names]


def subpackage_of(name: str) -> str:
    """Return the subpackage of a name; none for other packages, and for the version."""
    package, _, rest = name.partition(".")
    first = rest.partition(".")[0]
    if package != "definetti" or first in ("", "__version__"):
        return ""
    return definetti._HOMES.get(first, first).partition(".")[0]


def upward(found: Iterator[Import]) -> list[Import]:
    """Return the imports of a subpackage that comes later on the page."""
    order = SUBPACKAGES.index
    return [one for one in found if order(one.target) > order(one.subpackage)]


def test_page_lists_every_subpackage_once():
    there = {path.stem for path in HERE.glob("*.py")} - {"__init__", "__main__"}
    there |= {path.parent.name for path in HERE.glob("*/__init__.py")}
    assert sorted(SUBPACKAGES) == sorted(there), "docs/architecture.md lists every subpackage, once"


def test_package_itself_imports_no_subpackage():
    assert not list(imports(HERE / "__init__.py")), "`import definetti` is to cost nothing"


@pytest.mark.parametrize("subpackage", SUBPACKAGES)
def test_subpackages_import_in_the_order_of_the_page(subpackage):
    single = HERE / f"{subpackage}.py"
    paths = [single] if single.exists() else sorted((HERE / subpackage).rglob("*.py"))
    found = [one for path in paths for one in upward(imports(path))]
    against = [f"{one.line} imports {one.target}" for one in found if not one.function]
    assert not against, f"listed after {subpackage} in docs/architecture.md: {against}"
    deferred = {(one.function, one.target) for one in found}
    listed = {pair for pair in DEFERRED if pair[0].partition(".")[0] == subpackage}
    assert deferred == listed, "docs/architecture.md lists other deferred imports"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from definetti.cli import app", [("data", "cli", "")]),
        ("import definetti.cli.app", [("data", "cli", "")]),
        ("from definetti import ConformalHMM", [("data", "conformal", "")]),
        ("from definetti import cli", [("data", "cli", "")]),
        ("try:\n    import definetti.cli\nexcept ImportError: ...", [("data", "cli", "")]),
        ("class A:\n    import definetti.cli", [("data", "cli", "")]),
        (
            "class A:\n    def b(self):\n        import definetti.cli",
            [("data", "cli", "data.new.A.b")],
        ),
        ("if TYPE_CHECKING:\n    import definetti.cli", []),
        ("if TYPE_CHECKING: ...\nelse:\n    import definetti.cli", [("data", "cli", "")]),
        ("from definetti._system import arrays\nimport numpy, definetti", []),
        ("from definetti import __version__", []),
    ],
)
def test_what_counts_as_import_of_later_subpackage(text, expected, tmp_path):
    path = tmp_path / "data" / "new.py"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert [one[:3] for one in upward(imports(path, tmp_path))] == expected
