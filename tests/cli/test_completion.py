"""Shell completion: commands, options, and the values of options that have a choice."""

import pytest

from definetti.cli.options import complete_from
from definetti.memory import Memory
from definetti.scores import Score

# Where a shell is named rather than looked for among the processes above: CI may have none.
NAMED = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
CASES = {
    "definetti ": {
        "predict",
        "backtest",
        "check",
        "report",
        "simulate",
        "demo",
        "verify",
        "reproduce",
        "compare",
    },
    "definetti ver": {"verify"},
    "definetti predict --gua": {"--guarantee"},
    "definetti predict x.csv --guarantee ": {"all", "steps", "errors"},
    "definetti verify --score ": set(Score.named),
    "definetti predict x.csv --memory ": {"1", "2", *set(Memory.named) - {"order"}},
    "definetti simulate x.csv --world s": {"sensors"},
    "definetti reproduce f": {"figure1", "figure2", "figure3"},
    "definetti check x.csv --tests order,dr": {"order,drift"},
    "definetti compare --worlds sticky,ra": {"sticky,rare"},
    "definetti compare --methods full+path,classi": {"full+path,classical"},
}


def test_completion_offers_names(ask):
    for typed, expected in CASES.items():
        done = ask(
            _DEFINETTI_COMPLETE="complete_bash",
            COMP_WORDS=typed,
            COMP_CWORD=str(len(typed.split(" ")) - 1),
        )
        found = set(done.out.split())
        assert expected <= found, (typed, done.out, done.err)
        assert typed.endswith(" ") or found == expected, (typed, found)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_is_printed(ask, shell):
    done = ask(_DEFINETTI_COMPLETE=f"source_{shell}")
    assert "_DEFINETTI_COMPLETE" in done.out


def test_completion_is_installed(ask, tmp_path):
    done = ask("--install-completion", "bash", HOME=str(tmp_path), **NAMED)
    assert done.returncode == 0, done.err
    installed = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_DEFINETTI_COMPLETE" in path.read_text() for path in installed)


@pytest.mark.parametrize(("arguments", "choices"), [
    (("predict", "x.csv", "--guarantee", "most"), "'all', 'steps', 'errors'"),
    (("verify", "--score", "best"), ", ".join(map(repr, Score.named))),
    (("simulate", "x.csv", "--world", "moon"), "'weather', 'sensors'"),
    (("reproduce", "figure9"), "'figure1', 'figure2', 'table1', 'figure3', 'all'"),
    (("compare", "--worlds", "mars"), "choose among figure1, figure2"),
    (("verify", "--length", "8"), "less than or equal to 7"),
    (("predict", "x.csv", "--horizon", "0"), "greater than or equal to 1"),
    (("predict", "--sed", "1"), "--sed"),
])  # fmt: skip
def test_wrong_choice_lists_the_choices(ask, arguments, choices):
    done = ask(*arguments, COLUMNS="200")
    assert (done.returncode, done.out) == (2, "")
    assert choices in " ".join(done.err.replace("│", " ").split()), done.err


def test_completion_skips_names_already_given():
    complete = complete_from("definetti.experiments.worlds", "DRAWN", "NEEDS")
    assert "rare,sticky" in complete("rare,")
    assert "rare,rare" not in complete("rare,")
