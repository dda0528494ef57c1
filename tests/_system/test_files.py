"""Files that are there whole or not at all, whoever else is about in their folder."""

import os
import secrets
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from definetti._system import files
from definetti.report import Report

SOURCE = str(Path(__file__).parents[2] / "src")
posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and signals as POSIX has them")


def write(text="new"):
    return lambda part: part.write_text(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o400, 0o755])
def test_the_mode_is_kept(tmp_path, umask, mode):
    path = tmp_path / "x.csv"
    path.write_text("old")
    path.chmod(mode)
    files.replace_file(path, write())
    assert path.stat().st_mode & 0o7777 == mode
    assert path.read_text() == "new"


@posix
def test_what_is_private_is_so_while_it_is_written(tmp_path, umask):
    path, seen = tmp_path / "x.csv", []
    path.touch(0o600)
    files.replace_file(path, lambda part: seen.append(part.stat().st_mode & 0o777))
    assert seen == [0o600]


@posix
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path, umask):
    files.replace_file(tmp_path / "x.csv", write())
    assert (tmp_path / "x.csv").stat().st_mode & 0o777 == 0o640


@posix
@pytest.mark.parametrize("target", ["there", "to come"])
def test_a_link_stays_one(tmp_path, target):
    """And a link to a link: the file at the end is replaced, whether it is there yet or not."""
    (tmp_path / "elsewhere").mkdir()
    real = tmp_path / "elsewhere" / "real.csv"
    if target == "there":
        real.write_text("old")
    (tmp_path / "middle.csv").symlink_to(Path("elsewhere") / "real.csv")
    (tmp_path / "x.csv").symlink_to("middle.csv")
    files.replace_file(tmp_path / "x.csv", write())
    assert (tmp_path / "x.csv").is_symlink()
    assert (tmp_path / "middle.csv").is_symlink()
    assert (real.read_text(), real.is_symlink()) == ("new", False)
    assert names(tmp_path / "elsewhere") == ["real.csv"]


@posix
def test_a_report_keeps_mode_and_link(tmp_path, monkeypatch):
    monkeypatch.setattr(Report, "html", "<!doctype html>")
    (tmp_path / "real.html").touch(0o600)
    (tmp_path / "x.html").symlink_to("real.html")
    Report({}).save(tmp_path / "x.html")
    assert (tmp_path / "x.html").is_symlink()
    assert (tmp_path / "real.html").read_text() == "<!doctype html>"
    assert (tmp_path / "real.html").stat().st_mode & 0o777 == 0o600


@posix
def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    """At the name that it had before, and even at the one that it will have."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f"x.csv.{os.getpid()}.part").symlink_to(victim)
    files.replace_file(tmp_path / "x.csv", write())
    monkeypatch.setattr(secrets, "token_hex", lambda *_: "known")
    (tmp_path / ".known.part").symlink_to(victim)
    with pytest.raises(FileExistsError):
        files.replace_file(tmp_path / "x.csv", write("other"))
    assert (victim.read_text(), (tmp_path / "x.csv").read_text()) == ("precious", "new")


def test_many_write_one_path(tmp_path):
    """Each one writes a while, all at once, in one process: the file is one writer's, whole."""
    path, together, wrong = tmp_path / "x.csv", threading.Barrier(8), []

    def work(letter):
        def slowly(part):
            with part.open("w") as file:
                for _ in range(50):
                    file.write(letter * 1_000)
                    file.flush()

        try:
            for _ in range(5):
                together.wait(timeout=300)
                files.replace_file(path, slowly)
        except Exception as error:
            wrong.append(error)
            together.abort()

    threads = [threading.Thread(target=work, args=(letter,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    text = path.read_text()
    assert text == text[0] * 50_000
    assert names(tmp_path) == ["x.csv"]


ENDED = """
import os, signal, sys, time
from pathlib import Path
from definetti._system.files import replace_file
end = signal.Signals[sys.argv[1]]
signal.signal(end, signal.SIG_DFL)  # whoever runs the tests may ignore it, as nohup does
def half(part):
    part.write_text("half")
    os.kill(os.getpid(), end)
    time.sleep(300)
replace_file(Path(sys.argv[2]), half)
"""


@posix
@pytest.mark.parametrize("end", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_no_part(tmp_path, end):
    path = tmp_path / "x.csv"
    path.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", ENDED, end, str(path)], env={**os.environ, "PYTHONPATH": SOURCE}
    )
    assert done.returncode == -signal.Signals[end]  # as it would have ended without us
    assert (names(tmp_path), path.read_text()) == (["x.csv"], "old")


@posix
def test_who_listens_to_signals_goes_on_doing_so(tmp_path):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(True))
    try:
        files.replace_file(tmp_path / "x", lambda part: os.kill(os.getpid(), signal.SIGTERM))
        assert heard == [True]
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        files.replace_file(tmp_path / "x", write())
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


@posix
def test_what_is_no_file_is_refused_and_left(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to(os.devnull)
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "folder").mkdir()
    before = names(tmp_path)
    for name in before:
        with pytest.raises(OSError, match=name):
            files.replace_file(tmp_path / name, write())
    assert names(tmp_path) == before
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "null").is_symlink()


def test_names_as_long_as_can_be(tmp_path):
    path = tmp_path / ("x" * 251 + ".csv")
    files.replace_file(path, write())
    assert names(tmp_path) == [path.name]
