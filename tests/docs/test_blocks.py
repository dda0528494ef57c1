"""Every fenced block of the documentation is run, so that no page says what is not so.

The blocks of a page run in order, with one namespace and one folder. What may stand in a fence:

- ``python``: executed; with ``>>>``, what is printed is compared, as in a docstring;
- ``console``: a ``definetti`` command is run and must succeed; one that names a FOLDER of data is
  only parsed; of ``make``, ``pip install`` and ``python -m`` it is checked that they can work;
- ``text``: anything but ``>>>``. After the comment ``<!-- printed -->`` it is what the block before
  printed.

What a page adds to the named scores, symmetries, emissions and baselines is gone after it.

A block after the comment ``<!-- needs: module -->`` is left out where the module is not installed.
Comments of these two kinds stand right before a block, and nothing is skipped in another way. A
fence may be indented by spaces and stands alone on its line; any other is refused.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
import typer
from tests.cli import forked

import definetti
from definetti._system.mixins import Named
from definetti.cli import app
from definetti.scores import Score

try:
    from joblib.externals import cloudpickle
except ImportError:  # joblib 1.6 has it no longer inside
    import cloudpickle

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Pages that compare with other packages run these, too; others go on for many steps.
LONG = {
    f"docs/{name}.md"
    for name in ("choosing", "from-conformal", "from-hmmlearn", "limits", "streams")
}
LONG |= {"README.md"}
LONG |= {f"docs/gallery/{name}.md" for name in ("network", "regimes", "sleep", "words")}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PRINTED = "<!-- printed -->"


class Block(NamedTuple):
    """A fenced block: where its text begins, counted from one, and the comment before it."""

    language: str
    text: str
    line: int
    comment: str


def blocks(page: Path) -> Iterator[Block]:
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), start=1))
    comment = ""
    for number, line in lines:
        where = f"{page}:{number}"
        fence = re.fullmatch(r"( *)(`{3,}|~{3,})\s*([^\s`]*)[^`]*", line)
        if not fence:
            if "```" in line or "~~~" in line:
                pytest.fail(f"{where}: not read as a fence: {line.strip()}")
            if line.strip():  # blank lines may stand between
                check_used(comment, where)
                comment = line.strip()
            continue
        indent, marks, language = fence.groups()
        text = []
        for _, inside in lines:
            if set(inside.strip()) == {marks[0]} and len(inside.strip()) >= len(marks):
                break
            if "```" in inside or "~~~" in inside:
                pytest.fail(f"{where}: a fence in a fence: {inside.strip()}")
            text.append(inside.removeprefix(indent))
        else:
            pytest.fail(f"{where}: the fence is not closed")
        if language != "text" and comment == PRINTED:
            pytest.fail(f"{where}: {PRINTED} is for a text block")
        yield Block(language, "\n".join(text) + "\n", number + 1, comment)
        comment = ""
    check_used(comment, f"{page}: end")


def check_used(comment: str, where: str) -> None:
    """Refuse a comment for a block that has no block after it."""
    if comment == PRINTED or comment.startswith("<!-- needs"):
        pytest.fail(f"{where}: no block comes right after {comment}")


def run_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all blocks of a page in a folder; whatever is wrong raises."""
    try:
        run_blocks(page, folder, monkeypatch)
    finally:
        forget_names("page")


def forget_names(module: str) -> None:
    """Take out of all contracts the names that a module gave its classes."""
    for contract in Named.__subclasses__():
        for name, one in list(contract.named.items()):
            if one.__module__ == module:
                del contract.named[name]


def run_blocks(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # what a page defines can be pickled,
    cloudpickle.register_pickle_by_value(module)  # and sent to other processes
    printed, missing = "", []
    for block in blocks(page):
        where = f"{page}:{block.line}"
        needed = re.fullmatch(r"<!-- needs: (\w+) -->", block.comment)
        if needed and not re.search(rf"^(import|from) {needed[1]}\b", block.text, re.MULTILINE):
            pytest.fail(f"{where}: {needed[1]!r} is said to be needed and is not imported")
        if needed and importlib.util.find_spec(needed[1]) is None:
            missing.append(f"{where}: {needed[1]} is not installed")
        elif block.language == "python":
            printed = run_python(block, page, vars(module))
        elif block.language == "console":
            printed = "".join(run_command(line, folder, where) for line in commands(block.text))
        elif block.language != "text":
            pytest.fail(f"{where}: {block.language!r} is not python, console or text")
        elif ">>>" in block.text:
            pytest.fail(f"{where}: >>> in a text block is not run; make it python")
        elif block.comment == PRINTED:
            agree = doctest.OutputChecker().check_output(block.text, printed, FLAGS)
            assert agree, f"{where}: the block before it printed\n{printed}"
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    if missing:
        pytest.skip("; ".join(missing))


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> str:
    if not re.search(r"^>>>", block.text, re.MULTILINE):
        # As many lines before it as the page has: a traceback shows the line of the page.
        code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, namespace)
        return out.getvalue()
    assert "# doctest:" not in block.text, f"{page}:{block.line}: options of doctest are refused"
    for part in re.split(r"\n\s*\n", block.text.strip()):  # doctest takes the rest for prose
        assert part.startswith(">>>"), f"{page}:{block.line}: not run, for want of >>>\n{part}"
    test = doctest.DocTestParser().get_doctest(
        block.text, namespace, page.name, str(page), block.line - 1
    )
    told: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    runner.run(test, out=told.append, clear_globs=False)
    namespace.update(test.globs)  # doctest works on a copy
    assert not runner.failures, "".join(told)
    return ""


def commands(text: str) -> list[list[str]]:
    lines = re.sub(r"\\\n", " ", text).splitlines()
    found = [shlex.split(re.sub(r"(^|\s)#.*", "", line)) for line in lines]
    return [words for words in found if words]


def run_command(words: list[str], folder: Path, where: str) -> str:
    match words:
        case ["definetti", name, *arguments] if "FOLDER" in arguments:
            command = typer.main.get_command(app).commands[name]
            command.make_context(name, [str(folder) if a == "FOLDER" else a for a in arguments])
        case ["definetti", *arguments]:
            source = str(Path(definetti.__file__).parents[1])  # wherever the tests have it from
            environment = {**os.environ, "PYTHONPATH": source, "PYTHONUTF8": "1", "COLUMNS": "100"}
            done = forked.run(arguments, folder=folder, environment=environment)
            printed, said = done.stdout.decode(), done.stderr.decode()
            assert not done.returncode, f"{where}: {shlex.join(words)}\n{printed}{said}"
            return printed
        case ["make", target]:
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), f"{where}: {words}"
        case ["pip", "install", *names]:
            project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
                "project"
            ]
            for extra in re.findall(r"[\w-]+", " ".join(re.findall(r"\[(.*?)\]", " ".join(names)))):
                assert extra in project["optional-dependencies"], f"{where}: no extra {extra!r}"
        case ["python", "-m", "benchmarks", name, *_]:
            assert (ROOT / "benchmarks" / f"{name}.py").exists(), f"{where}: no benchmark {name!r}"
        case ["python", "-m", name, *_] if name.startswith("studies."):
            module = ROOT.joinpath(*name.split(".")).with_suffix(".py")
            assert module.exists(), f"{where}: no module {name!r}"
        case ["python", "-m", "http.server", "-d", "site"]:
            pass
        case _:
            pytest.fail(f"{where}: {shlex.join(words)!r} is no command that can be checked")
    return ""


def named(page: Path):
    name = page.relative_to(ROOT).as_posix()
    return pytest.param(page, id=name, marks=pytest.mark.slow if name in LONG else ())


@pytest.mark.slow_cases(
    "docs/gallery/seattle.md",
    "docs/is-my-chain-markov.md",
    "docs/questions.md",
    "docs/start.md",
)
@pytest.mark.parametrize("page", list(map(named, PAGES)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(page, tmp_path, monkeypatch)


def run_text(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    run_page(page, folder, monkeypatch)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```python\n1 / 0\n```", "division by zero"),
        ("```python exec='1'\nimport warnings\nwarnings.warn('careful')\n```", "careful"),
        ("```python\n>>> 1 + 1\n3\n```", "Expected"),
        ("```python\nx = 1\n```\n```python\n>>> x\n2\n```", "Expected"),
        ("```python\n>>> 1 + 1\n2\n\nx = undefined\n```", "for want of >>>"),
        ("```python\nprint(1)\n```\n<!-- printed -->\n```text\n2\n```", "before it printed"),
        ("- A list:\n\n  ```python\n  1 / 0\n  ```", "division by zero"),
        ("```json\n{}\n```", "'json' is not python, console or text"),
        ("```\nnothing\n```", "'' is not python, console or text"),
        ("```python\n1\n", "not closed"),
        ("```console\ndefinetti predict nowhere.csv\n```", "nowhere.csv"),
        ("```console\ndefinetti reproduce table1 --data FOLDER --typo\n```", "--typo"),
        ("```console\nmake coffee\n```", "coffee"),
        ("```console\npip install 'definetti-hmm[cli,coffee]'\n```", "no extra 'coffee'"),
        ("```console\npython -m studies.coffee\n```", "no module 'studies.coffee'"),
        ("```console\npython -m benchmarks coffee\n```", "no benchmark 'coffee'"),
        ("```console\nls -l\n```", "'ls -l' is no command"),
        ("1. A list:\n\n\t```python\n\t1 / 0\n\t```", "not read as a fence"),
        ("> ```python\n> 1 / 0\n> ```", "not read as a fence"),
        ("- ```python\n  1 / 0\n  ```", "not read as a fence"),
        ("> ~~~python\n> 1 / 0\n> ~~~", "not read as a fence"),
        ("````text\n```python\n1 / 0\n```\n````", "a fence in a fence"),
        ("```python\n>>> 1 / 0  # doctest: +SKIP\n```", "options of doctest"),
        ("```text\n>>> 1 / 0\n```", "in a text block is not run"),
        ("```python\nprint(1)\n```\n<!-- printed -->\nBy the way\n```text\n2\n```", "right after"),
        ("```python\nprint(1)\n```\n<!-- printed -->\n```python\n2\n```", "is for a text block"),
        ("```python\nprint(1)\n```\n<!-- printed -->\n", "right after"),
        ("<!-- needs: torch -->\nBy the way\n```python\n1\n```", "right after"),
        ("<!-- needs: torhc -->\n```python\n1 / 0\n```", "and is not imported"),
    ],
)
def test_a_wrong_page_fails(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises((Exception, pytest.fail.Exception), match=re.escape(message)):
        run_text(text, tmp_path, monkeypatch)


def test_a_right_page_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "```python\nx = 1\nprint(x)\n```\n\n<!-- printed -->\n```text\n1\n```\n"
        "```python exec='1' session='a'\n>>> x + 1\n2\n```\n"
        "```console\ndefinetti simulate days.csv \\\n  --rows 9  # few\nmake test\n```\n"
        "```python\nfrom pathlib import Path\nassert Path('days.csv').exists()\n```\n"
    )
    run_text(text, tmp_path, monkeypatch)


def test_a_traceback_names_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_text("# A page\n\n```python\nx = 0\n1 / x\n```\n", tmp_path, monkeypatch)
    assert (Path(caught.traceback[-1].path).name, caught.traceback[-1].lineno) == ("page.md", 4)


def test_a_block_may_need_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "<!-- needs: no_such_module -->\n```python\nimport no_such_module\n```\n"
    with pytest.raises(pytest.skip.Exception, match="no_such_module is not installed"):
        run_text(text, tmp_path, monkeypatch)
    with pytest.raises(ZeroDivisionError):  # the other blocks are run all the same
        run_text(text + "```python\n1 / 0\n```\n", tmp_path, monkeypatch)


def test_names_that_a_page_gives_are_gone_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "```python\nfrom definetti.scores import Score\n"
        "class Mine(Score, name='mine'): ...\nassert 'mine' in Score.named\n```\n"
    )
    run_text(text, tmp_path, monkeypatch)
    assert "mine" not in Score.named
    with pytest.raises(ZeroDivisionError):
        run_text(text + "```python\n1 / 0\n```\n", tmp_path, monkeypatch)
    assert "mine" not in Score.named
