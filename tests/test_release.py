"""What a release needs agrees: versions, and the Pythons that are tested."""

import re
import tomllib
from pathlib import Path

import definetti

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = re.search(r"^version: (\S+)$", citation, re.MULTILINE)
    assert PROJECT["version"] == definetti.__version__ == cited[1]


def test_distribution_is_not_called_as_the_package():
    """On the package index `definetti` belongs to another project."""
    assert PROJECT["name"] == "definetti-hmm"
    assert set(PROJECT["scripts"]) == {"definetti"}


def test_workflow_tests_the_pythons_that_are_declared():
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    matrix = re.search(r"python: \[(.+)\]", workflow)
    assert re.findall(r"3\.\d+", matrix[1]) == declared
