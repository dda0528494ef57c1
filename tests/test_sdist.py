"""What is released as source has all that its tests need."""

import ast
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The source distribution, built and unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "sdist"]
    done = subprocess.run(
        [*build, "--directory", folder], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def imported():
    """The top-level names that tests import."""
    names = set()
    for path in ROOT.glob("tests/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {one.name.partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names


def test_what_tests_import_of_the_project_is_there(unpacked):
    ours = {name for name in imported() if (ROOT / name).is_dir()}
    assert {"benchmarks", "studies", "tests"} <= ours
    for name in ours:
        missing = {p.relative_to(ROOT) for p in (ROOT / name).rglob("*.py")} - {
            p.relative_to(unpacked) for p in (unpacked / name).rglob("*.py")
        }
        assert not missing, f"add /{name} to the sdist in pyproject.toml"


def test_all_tests_can_be_collected_from_it(unpacked):
    path = os.pathsep.join([str(unpacked / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", "-p", "no:xdist"],
        cwd=unpacked, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert "tests/docs/test_blocks.py" in done.stdout


def test_pages_and_numbers_that_tests_read_are_there(unpacked):
    for pattern in ("*.md", "docs/**/*.md", "tests/**/*.csv", "tests/**/*.gz", "Makefile"):
        found = sorted(path.relative_to(ROOT) for path in ROOT.glob(pattern))
        assert found, pattern
        assert found == sorted(path.relative_to(unpacked) for path in unpacked.glob(pattern))
