"""What people read is in ordinary technical English: phrases of a private dialect are banned.

Looked at are the pages, and every string literal and docstring of the package. `BANNED` has what to
write instead.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "RELEASING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "studies" / "RESULTS.md",
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
]
MODULES = sorted((ROOT / "src" / "definetti").rglob("*.py"))
TEMPLATES = [
    path
    for path in sorted((ROOT / "src" / "definetti").rglob("*"))
    if path.suffix in (".html", ".js", ".jinja", ".j2")
]
BANNED = {
    r"speaks? against": "evidence against",
    r"strange(st|ness)?": "nonconforming, nonconformity score",
    r"who is (asked|to answer)": "name the object",
    r"what is told": "name the information",
    r"is told here": "is computed here",
    r"li(ves?|ving) with": "follow a stream",
    r"linger(s|ing|ed)?": "autocorrelated",
    r"has a meaning each": "how … are handled",
    r"tells? (something|nothing)": "informative, uninformative",
    r"everything has the truth": "the full set always covers",
    r"each time it is in": "averaged over the visits to the state",
    r"counted by visits": "averaged over its visits",
    r"say which states are possible": "predict sets of states",
    r"front[ _-]doors?": "methods, interface",
    r"stretch(es)?": "segment",
    r"break(s|ing)? off|break_off": "begin a new segment",
    r"judging": "evaluation",
    r"lessons?": "training subset",
    r"contests?": "benchmark",
    r"nothing was plausible, and": "no candidate has a p-value above alpha",
    r"has lost the window": "the window is missed",
    r"score=\W*(path|filter|smoother|joint|band|emission|transition)": "conformity_score=",
}
PATTERN = re.compile(
    r"(?<![\w-])(?<!conformity_)(" + "|".join(BANNED) + r")(?![\w-])", re.IGNORECASE
)


def find_banned(text: str) -> list[str]:
    """Return the banned phrases of a text, line breaks taken for spaces."""
    return [found[0] for found in PATTERN.finditer(re.sub(r"\s+", " ", text))]


def strings_of(path: Path) -> list[tuple[int, str]]:
    """Return the string literals and docstrings of a module, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def name_file(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [*PAGES, *TEMPLATES], ids=name_file)
def test_page_has_no_banned_phrase(page):
    assert not find_banned(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=name_file)
def test_strings_have_no_banned_phrase(path):
    found = [(line, phrase) for line, text in strings_of(path) for phrase in find_banned(text)]
    assert not found


@pytest.mark.parametrize(
    "text",
    [
        "Nothing speaks against it that the chain is Markov",
        "how strange\na window is",
        "Who is asked, and what is told",
        "observations linger",
        "columns that tell something",
        'ConformalHMM(score="path")',
        "the same front door",
    ],
)
def test_banned_phrase_is_found(text):
    assert find_banned(text)


@pytest.mark.parametrize("text", ['conformity_score="path"', "evidence against it", "a stranger"])
def test_ordinary_words_pass(text):
    assert not find_banned(text)
