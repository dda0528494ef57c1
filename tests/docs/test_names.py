"""Commands, files, pages and anchors that the documentation names exist.

Blocks of commands are run by test_blocks.py. This looks at what stands in the text: in backticks or
in parentheses after a figure.
"""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
from benchmarks.__main__ import MODULES

from definetti.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "RELEASING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "studies" / "RESULTS.md",
]
COMMANDS = typer.main.get_command(app).commands
FOLDERS = ("src/", "tests/", "docs/", "studies/", "benchmarks/", "notebooks/", ".github/")
ELSEWHERE = {"build", "http.server", "venv", "pip", "pytest", "mkdocs", "ruff", "mypy", "definetti"}


def name_page(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def in_backticks(text: str) -> list[str]:
    """Return what stands in single backticks, line breaks as spaces; fenced blocks left out."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [re.sub(r"\s+", " ", found) for found in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose)]


def options_of(command: typer.core.TyperCommand) -> set[str]:
    return {"--help"} | {
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


def explain_missing(words: list[str]) -> str | None:
    """Say why a command cannot be run; None if it can, or is no command."""
    match words:
        case ["make", *targets] if targets:
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            there = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
            wrong = [one for one in targets if "=" not in one and one not in there]
            return f"no target {wrong}" if wrong else None
        case ["definetti", name, *rest] if not name.startswith("-"):
            if name not in COMMANDS:
                return f"no command {name!r}"
            options = {word.partition("=")[0] for word in rest if re.match(r"-{1,2}[a-z]", word)}
            wrong = options - options_of(COMMANDS[name])
            return f"no option {sorted(wrong)}" if wrong else None
        case ["python", "-m", "benchmarks", *names]:
            names = [one for one in names if not one.startswith("-")]
            wrong = [one for one in names if one not in MODULES]
            return f"no benchmark {wrong}" if wrong else None
        case ["python", "-m", name, *_] if name not in ELSEWHERE:
            if name.split(".")[0] not in ("studies", "benchmarks", "tests"):
                return f"no module {name!r}"
            return None if find_spec(name) else f"no module {name!r}"
        case ["pytest", *paths]:
            wrong = [one for one in paths if one[0] != "-" and not (ROOT / one).exists()]
            return f"no file {wrong}" if wrong else None
    return None


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_commands_named_in_text_exist(page):
    wrong = {}
    for quoted in in_backticks(page.read_text(encoding="utf-8")):
        try:
            words = shlex.split(quoted)
        except ValueError:  # a quotation mark of prose
            continue
        if why := explain_missing(words):
            wrong[quoted] = why
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_files_named_in_text_exist(page):
    named = {
        quoted.partition("::")[0]
        for quoted in in_backticks(page.read_text(encoding="utf-8"))
        if quoted.startswith(FOLDERS) and not re.search(r"[\s*<{…]", quoted)
    }
    assert not [name for name in named if not (ROOT / name).exists()]


def named_places(text: str) -> set[tuple[str, str]]:
    """Return the pairs of subpackage and name that the tables of places list."""
    found = set()
    for heading in ("Where would I change …?", "One prediction", "One backtest"):
        section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
        for row in re.findall(r"^\|.*\| (.+) \|$", section, re.MULTILINE):
            for subpackage, names in re.findall(r"`(\w+)`: ([^;]+)", row):
                found |= {(subpackage, name) for name in re.findall(r"`(\w+)`", names)}
    return found


def test_places_named_in_architecture_exist():
    named = named_places((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    assert len(named) > 30
    package = ROOT / "src" / "definetti"
    sources = {
        subpackage: [
            path.read_text(encoding="utf-8") for path in (package / subpackage).glob("*.py")
        ]
        + [path.stem for path in (package / subpackage).glob("*.py")]
        for subpackage in {subpackage for subpackage, _ in named}
    }
    missing = [
        (subpackage, name)
        for subpackage, name in sorted(named)
        if not any(
            text == name or re.search(rf"^ *(def|class) {name}\b", text, re.MULTILINE)
            for text in sources[subpackage]
        )
    ]
    assert not missing


def slug(heading: str) -> str:
    """Return the anchor of a heading as the pages and GitHub have it."""
    text = re.sub(r"[^\w\s-]", "", heading.replace("`", "").strip().lower())
    return re.sub(r"\s", "-", text)


def anchors(page: Path) -> set[str]:
    text = re.sub(
        r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_links_lead_to_files_and_headings(page):
    text = page.read_text(encoding="utf-8")
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert not wrong


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("make coffee", "coffee"),
        ("definetti coffee", "coffee"),
        ("definetti check days.csv --coffee", "--coffee"),
        ("python -m studies.coffee --quick", "studies.coffee"),
        ("python -m benchmarks coffee", "coffee"),
        ("python -m coffee", "coffee"),
        ("pytest tests/coffee", "tests/coffee"),
    ],
)
def test_what_does_not_exist_is_found(command, why):
    assert why in explain_missing(shlex.split(command))


@pytest.mark.parametrize("name", ["demo", "test"])
def test_readme_names_make_targets(name):
    assert f"make {name}" in (ROOT / "README.md").read_text(encoding="utf-8")
