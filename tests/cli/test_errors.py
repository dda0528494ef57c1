"""What is asked for: long horizons, and promises that promise something."""

import json

import pytest

from definetti.cli.errors import OPTION, _write_option


@pytest.fixture
def file(tmp_path):
    rows = "".join(f"{k * k % 7},{'abcde'[k * k % 11 % 5]}\n" for k in range(400))
    (tmp_path / "x.csv").write_text("seen,state\n" + rows)


@pytest.mark.slow
def test_backtest_of_long_windows_fixes_the_model(ask_all, file):
    found = ask_all({
        "long": ("backtest", "x.csv", "--horizon", 20, "--confidence", 0.5),
        "long, for programs": ("backtest", "x.csv", "--horizon", 20, "--json"),
        "own share": ("backtest", "x.csv", "--horizon", 20, "--train-size", 0.4),
        "between": ("backtest", "x.csv", "--horizon", 8, "--windows", 2, "--train-size", 0.4,
                    "--json"),
    })  # fmt: skip
    for name, done in found.items():
        assert done.returncode == 0, (name, done.err)
        assert "classical prediction is left out: it lists" in done.err, name
        assert "train_size" not in done.err, name
    fixed = "note: the model is fixed on the first half of the rows (--train-size 0.5)"
    assert [name for name, done in found.items() if fixed in done.err] == [
        "long", "long, for programs",
    ]  # fmt: skip
    assert list(json.loads(found["between"].out)["methods"]) == [
        "definetti", "without observations", "repeat last state",
    ]  # fmt: skip
    assert "classical" not in found["long"].out
    assert "10 windows of 20" in found["long"].out


ERRORS = {
    "too many": (["--horizon", 3, "--guarantee", "errors", "--max-errors", 5],
                 "--guarantee errors with --max-errors 5 lets all 3 steps be wrong, so nothing "
                 "is guaranteed; give --max-errors 2 at most, or more steps with --horizon"),
    "one": (["--horizon", 1, "--guarantee", "errors", "--max-errors", 1], "lets the one step be"),
    "alone": (["--horizon", 3, "--max-errors", 2], "--max-errors 2 is for --guarantee errors"),
}  # fmt: skip


@pytest.mark.slow_cases("predict")
@pytest.mark.parametrize("command", ["predict", "report"])
def test_max_errors_that_guarantee_nothing_are_refused(ask_all, file, command):
    found = ask_all({name: (command, "x.csv", *asked) for name, (asked, _) in ERRORS.items()})
    for name, done in found.items():
        assert (done.returncode, done.out) == (2, ""), name
        assert ERRORS[name][1] in done.err, done.err
        assert "=" not in done.err


def test_parameters_in_messages_are_written_as_options():
    said = "horizon=20 with max_errors=2 is for guarantee='errors'; set train_size=0.5, or n=3"
    assert OPTION.sub(_write_option, said) == (
        "--horizon 20 with --max-errors 2 is for --guarantee errors; set --train-size 0.5, or n=3"
    )
    assert OPTION.sub(_write_option, "confidence_level must be; shorten the horizon") == (
        "--confidence must be; shorten the horizon"
    )
