"""Compiled code that is kept on disk: damaged files are replaced, and a full disk does no harm."""

import errno
from pathlib import Path
from shutil import copytree

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from definetti._system.compiled import kernel


def grow(values):
    return values + 1


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def run(*types):
    """Compute as a new process would; return how often the compiled code came from a file."""
    compiled = kernel(grow)
    for kind in types or [np.int64]:
        assert compiled(np.zeros(2, dtype=kind)).tolist() == [1, 1]
    return sum(compiled.dispatcher.stats.cache_hits.values())


def find(folder, ending):
    return sorted(Path(folder).rglob(f"*{ending}"))


DAMAGE = {
    "empty": lambda content: b"",
    "cut after the version": lambda content: content[:17],
    "cut in half": lambda content: content[: len(content) // 2],
    "without its last byte": lambda content: content[:-1],
    "zeros": lambda content: bytes(len(content)),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with the files of a compiled kernel."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "CACHE_DIR", str(folder))
        assert [run(), run()] == [0, 1]
    return folder


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_cache_files_are_compiled_anew(damage, ending, filled, cache):
    copytree(filled, cache, dirs_exist_ok=True)
    (path,) = find(cache, ending)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert [run(), run()] == [0, 1]


def test_one_damaged_file_among_several(cache):
    kinds = np.int64, np.float64
    run(*kinds)
    path = find(cache, ".nbc")[1]
    path.write_bytes(path.read_bytes()[:-1])
    assert [run(*kinds) for _ in range(3)][-1] == 2


@pytest.mark.parametrize("step", ["_save_index", "_save_data"])
def test_a_full_disk_costs_the_cache_alone(step, cache, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(IndexDataCacheFile, step, fail)
        assert [run(), run()] == [0, 0]
    assert [run(), run()] == [0, 1]


def test_code_of_an_earlier_version_is_not_taken_for_the_new(cache, monkeypatch):
    """A process that ends after the index is written leaves no old code under its name."""
    run()
    (index,) = find(cache, ".nbi")
    index.unlink()  # as after an upgrade: the code of the earlier version is still there

    class Killed(BaseException):
        pass

    def end(*arguments):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(IndexDataCacheFile, "_save_data", end)
        with pytest.raises(Killed):
            run()
    assert find(cache, ".nbi")
    assert not find(cache, ".nbc")
    assert [run(), run()] == [0, 1]
