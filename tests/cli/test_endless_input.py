"""Input without an end, or out of all proportion: refused by name, in bounded memory."""

import gzip
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from definetti.cli import table_files
from definetti.cli.errors import BadTable
from definetti.cli.stream_reader import Interrupts, follow_lines
from definetti.cli.table_files import read_table
from definetti.simulate import weather

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and devices by name")
ZEROS = "/dev/zero"


@pytest.fixture
def endless(tmp_path):
    """Return the name of a pipe that never ends; the number of bytes written to it is kept."""
    threads, ends = [], []

    def made(begin, forever):
        path = tmp_path / "pipe"
        os.mkfifo(path)
        written = [0]

        def write():
            with suppress(BrokenPipeError), path.open("wb", buffering=0) as pipe:
                written[0] += pipe.write(begin)
                while not ends:
                    written[0] += pipe.write(forever)

        threads.append(threading.Thread(target=write, daemon=True))
        threads[-1].start()
        return str(path), written

    yield made
    ends.append(True)
    for thread in threads:
        thread.join(10)


@pytest.fixture
def small(monkeypatch):
    """Lower the limits, so that reaching them takes no time."""
    monkeypatch.setattr(table_files, "LONGEST", 2**18)
    monkeypatch.setattr(table_files, "PIECE", 2**16)
    monkeypatch.setattr("definetti.cli.stream_reader.PIECE", 2**16)
    monkeypatch.setattr(table_files, "FLOOR", 2**18)
    monkeypatch.setattr(table_files, "find_memory", lambda: 2**24)


def follow(source):
    with Interrupts() as interrupts:
        for _ in follow_lines(source, 0, False, interrupts):
            pass


@pytest.mark.skipif(not Path(ZEROS).exists(), reason="no such device")
@pytest.mark.parametrize("command", ["check", "predict", "backtest", "monitor"])
def test_a_device_of_zeros_is_refused_at_once(ask, command):
    asked = ask(command, ZEROS)
    assert (asked.returncode, asked.out) == (2, "")
    assert "has a zero byte, so it is no text" in asked.err


@pytest.mark.parametrize("read", [read_table, follow])
def test_a_line_without_an_end_is_refused(endless, small, read):
    source, written = endless(b"seen,state\n1,a\n", b"x" * 1000)
    with pytest.raises(BadTable, match="a line has more than 0 MB and no end yet"):
        read(source)
    assert written[0] < 2**20


def test_endless_rows_are_refused_beyond_memory(endless, small):
    source, written = endless(b"seen,state\n", b"1,a\n" * 100)
    with pytest.raises(BadTable, match="to read it takes 4 times as much memory, which is more"):
        read_table(source)
    assert written[0] < 2**23


def test_endless_rows_are_streamed(endless, small):
    source, _ = endless(b"seen,state\n", b"1,a\n" * 100)
    with Interrupts() as interrupts:
        lines = follow_lines(source, 0, False, interrupts)
        assert sum(len(some) for some, _ in (next(lines) for _ in range(1_000))) > 100_000
        lines.close()


def test_a_list_in_one_long_line_is_read(tmp_path, small):
    rows = ", ".join(f'{{"seen": {k}, "state": "a"}}' for k in range(20_000))
    (tmp_path / "rows.json").write_text(f"[{rows}]")
    with (tmp_path / "rows.json").open("rb") as file:
        content = table_files._read_all(Unnamed(file), "rows.json")
    assert len(content) > 2 * table_files.LONGEST
    assert len(read_table(str(tmp_path / "rows.json"))) == 20_000


class Unnamed:
    """A file of which the system knows no size, as a pipe."""

    def __init__(self, file):
        self.read = file.read


def test_disproportionate_gzip_file_is_refused(tmp_path, ask):
    """Of 130 kB, and 150 MB in it."""
    piece = gzip.compress(b"1,a\n" * 250_000)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"seen,state\n") + piece * 150)
    asked = ask("check", "bomb.csv.gz")
    assert (asked.returncode, asked.out) == (2, "")
    assert "bomb.csv.gz is a gzip file that holds more than 134 MB, 100 times its size" in asked.err
    assert "unpack it and give the file" in asked.err


def test_large_gzip_files_of_ordinary_tables_are_read(tmp_path, small):
    y, x = weather(30_000, random_state=0)
    rows = [f"{k},{seen},{k * 7919 % 997},{state}\n"
            for k, (seen, state) in enumerate(zip(y, x, strict=True))]  # fmt: skip
    text = ("row,seen,size,state\n" + "".join(rows)).encode()
    assert len(text) > table_files.FLOOR
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text) + gzip.compress(b"0,hat,1,sun\n"))
    table = read_table(str(tmp_path / "rows.csv.gz"))
    assert len(table) == 30_001  # of two members
