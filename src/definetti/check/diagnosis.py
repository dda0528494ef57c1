"""The report of a check: what each test found, and one verdict."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import ceil
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.arrays import FloatArray
from definetti.check.coverage import MeasuredCoverage
from definetti.check.residuals import Residuals
from definetti.sets.base import Backend, installed


@dataclass(frozen=True)
class Finding:
    """What one test found.

    Attributes
    ----------
    statistic : of the sample, large where the assumption fails; of its most extreme part
    p_value : exact, of this test alone
    adjusted_p_value : so that the chance that any is below a level is at most the level
    effect : what was found, in words; "not significant" where the adjusted p-value is above alpha
    size : the number in them, of the sample itself whatever the p-value
    row : how many rows come before the place of a change, where the test looks for one
    part : the most extreme part: the name of a column, say
    question : what the test answers
    verdict : in words; with a remedy where the effect is material and one is feasible
    testable : whether rearrangements differ in the statistic; if not, the test cannot reject
    stands_out : by how many standard deviations of rearrangements it is above them
    follows : the name of the failure that explains this one, where one does
    material : whether it fails by at least the minimum effect, so that its verdict has advice
    drawn : the same statistic of each rearrangement
    """

    statistic: float
    p_value: float
    adjusted_p_value: float
    effect: str
    size: float
    row: int | None
    part: str
    question: str
    verdict: str
    testable: bool = True
    stands_out: float = 0.0
    follows: str | None = None
    material: bool = False
    drawn: FloatArray = field(default_factory=lambda: np.zeros(0), compare=False, repr=False)


@dataclass(frozen=True)
class Diagnosis:
    """The result of a check: exact p-values, and a verdict in words.

    Attributes
    ----------
    p_value : of all tests together, exact: at most a share ``a`` of true hidden Markov models has
        one of ``a`` or less, at any length
    tests : what each test found, by its name
    untested : what could not be tested, and why
    assumption : what was tested, in words
    alpha : the level of the verdict
    n_steps, n_resamples : how long the history is, and how many rearrangements were drawn at most
    residuals : forecast pseudo-residuals of the next state and of the first five columns, by name,
        with bands from the same draws; empty with ``pictures=False``
    least_p_value : the smallest `p_value` that so many rearrangements can give
    coverage : what departures cost: coverage of default sets on the same history; None with
        ``horizon=None``, or where it cannot be measured
    """

    p_value: float
    tests: Mapping[str, Finding]
    untested: Mapping[str, str]
    assumption: str
    alpha: float
    n_steps: int
    n_resamples: int
    residuals: Mapping[str, Residuals] = field(default_factory=dict, compare=False, repr=False)
    least_p_value: float = 0.0
    coverage: MeasuredCoverage | None = None

    @property
    def rejected(self) -> bool:
        """Whether the assumption is rejected at the level `alpha`."""
        return self.p_value <= self.alpha and self.testable

    @property
    def testable(self) -> bool:
        """Whether rearrangements differ in any test: if not, no test can reject."""
        return any(one.testable for one in self.tests.values())

    @property
    def failures(self) -> tuple[str, ...]:
        """The names of the tests that fail at the level `alpha`, all taken together.

        Material effects come first, then those that stand out the most, each after the failure
        that explains it.
        """
        found, alpha = self.tests.items(), self.alpha
        failing = {k: one for k, one in found if one.testable and one.adjusted_p_value <= alpha}

        def tells(name: str) -> tuple[bool, float, bool]:
            finding = failing[name]
            also = (one.stands_out for one in failing.values() if one.follows == name)
            return finding.material, max(finding.stands_out, *also, -np.inf), not finding.follows

        return tuple(sorted(failing, key=tells, reverse=True))

    @property
    def verdict(self) -> str:
        """In words, with remedies where the assumption fails."""
        if not self.testable:
            return (
                f"Nothing could be tested: all rearrangements of these {self.n_steps:,} steps look "
                f"the same to every test (p = {self.p_value:.3g}). Try a longer history."
            )
        if self.least_p_value > self.alpha:
            enough = ceil(round(self.least_p_value * (self.n_resamples + 1)) / self.alpha - 1e-9)
            return (
                f"No test can reject at {self.alpha:g} with {self.n_resamples:,} rearrangements, "
                f"whose smallest p-value is {self.least_p_value:.3g} (p = {self.p_value:.3g}): "
                f"draw {enough - 1:,} or more."
            )
        if not self.rejected:
            return (
                f"No evidence against the assumption that {self.assumption} "
                f"(p = {self.p_value:.3g})."
            )
        found = [self.tests[name].verdict for name in self.failures]
        if len(found) > 1:
            found.insert(1, "The other failures may follow from it:")
        first = f"Evidence against the assumption that {self.assumption} (p = {self.p_value:.3g})."
        return " ".join([first, *found])

    def beyond_spaced(self) -> Diagnosis:
        """Return a copy without the remedy ``symmetry="spaced"``, for whoever uses it already."""

        def drop(words: str) -> str:
            words = words.replace(", or symmetry='spaced'", "")
            words = words.replace(": take symmetry='spaced'.", ".")
            words = words.replace("take symmetry='spaced', or name", "name")
            return words.replace("symmetry='spaced', or ", "")

        found = self.tests.items()
        left = {name: replace(one, verdict=drop(one.verdict)) for name, one in found}
        return replace(self, tests=left)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame, one row a test, and one for the measured coverage.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed if left out.
        """
        columns: dict[str, list[Any]] = {"test": list(self.tests)}
        for key in ("statistic", "p_value", "adjusted_p_value", "size", "row", "part", "effect",
                    "verdict"):  # fmt: skip
            columns[key] = [getattr(one, key) for one in self.tests.values()]
        columns["row"] = [-1 if row is None else row for row in columns["row"]]
        if self.coverage is not None:
            share, words = self.coverage.coverage, self.coverage.verdict
            entries = ("coverage", share, np.nan, np.nan, share - self.coverage.level, -1, "",
                       words, words)  # fmt: skip
            for column, entry in zip(columns.values(), entries, strict=True):
                column.append(entry)
        return nw.from_dict(columns, backend=backend or installed()).to_native()

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the data of pictures, as plain data."""
        return {
            "p_value": self.p_value, "rejected": self.rejected, "failures": list(self.failures),
            "verdict": self.verdict, "alpha": self.alpha, "rows": self.n_steps,
            "resamples": self.n_resamples,
            "tests": {
                name: {key.name: getattr(one, key.name) for key in fields(one) if key.compare}
                for name, one in self.tests.items()
            },
            "untested": dict(self.untested),
            "coverage": None if self.coverage is None else self.coverage._asdict(),
        }  # fmt: skip

    def plot(self, of: str | None = None, width: float = 9.0) -> Any:
        """Draw residuals with their bands, and where each statistic is among those of the draws.

        Parameters
        ----------
        of : name of `residuals`, or of a column; those of the next state and of the first two
            columns if left out
        width : of the figure, in inches

        Returns
        -------
        the figure; see `definetti.plots.plot_check`
        """
        from definetti.plots import plot_check

        return plot_check(self, of, width)

    def _notes(self) -> list[str]:
        """List what was not tested, and the measured coverage."""
        notes = [f"{name}: not tested, {why}" for name, why in self.untested.items()]
        if self.coverage is not None:
            notes.append(self.coverage.verdict)
        return notes

    def _method(self) -> str:
        return f"exact tests, {self.n_steps:,} steps, up to {self.n_resamples:,} rearrangements"

    def __repr__(self) -> str:
        wide = max(len(name) for name in self.tests)
        rows = [
            f"{name:<{wide}}  p = {one.p_value:<6.3g} adjusted {one.adjusted_p_value:<6.3g} "
            f"{one.effect}"
            for name, one in self.tests.items()
        ]
        first, last = f"Diagnosis: {self.verdict}", f"({self._method()})"
        return "\n  ".join([first, *rows, *self._notes(), last])

    def _repr_html_(self) -> str:
        table = [
            (name, one.question, f"{one.p_value:.3g}", f"{one.adjusted_p_value:.3g}", one.effect)
            for name, one in self.tests.items()
        ]
        cells = ("".join(f"<td>{html.escape(one)}</td>" for one in row) for row in table)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        head = "".join(f"<th>{one}</th>" for one in ("test", "", "p", "adjusted", "effect"))
        notes = "".join(f"<p>{html.escape(one)}</p>" for one in [*self._notes(), self._method()])
        return (
            f"<p>{html.escape(self.verdict)}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}"
        )
