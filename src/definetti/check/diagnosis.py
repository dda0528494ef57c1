"""The report of a check: the result of each test, and one verdict."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import ceil
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.arrays import FloatArray
from definetti.check.coverage_loss import MeasuredCoverage
from definetti.check.residuals import Residuals
from definetti.sets.base import Backend, installed


@dataclass(frozen=True)
class Finding:
    """The result of one test.

    Attributes
    ----------
    statistic : the most extreme part's statistic of the sample, large where the assumption fails
    p_value : the exact p-value of this test alone
    adjusted_p_value : adjusted so that the chance that any is at most a level is at most the level
    effect : the effect in words; "not significant" where the adjusted p-value is above alpha
    size : the effect as a number, whatever the p-value
    row : number of rows before the change, where the test estimates one
    part : name of the most extreme part, such as a column
    question : the question that the test answers
    verdict : a sentence, with a remedy where the effect is material and a remedy is feasible
    testable : whether rearrangements differ in the statistic; if not, the test cannot reject
    stands_out : number of standard deviations above the mean of rearrangements
    follows : name of the failure that explains this one, if any
    material : whether the test fails with at least the minimum effect, so that advice is given
    drawn : the statistic of each rearrangement
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
    p_value : the exact p-value of all tests together: under the assumption it is ``a`` or less with
        probability at most ``a``, at any length
    tests : the result of each test, by name
    untested : what could not be tested, and why
    assumption : the assumption that was tested, in words
    alpha : the significance level of the verdict
    n_steps, n_resamples : number of steps, and the largest number of rearrangements drawn
    residuals : forecast pseudo-residuals of the next state and of the first five columns, by name,
        with bands from the same draws; empty with ``pictures=False``
    least_p_value : the smallest `p_value` that so many rearrangements can give
    coverage : coverage of default sets on the same history; None with ``horizon=None``, or where
        coverage cannot be measured
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
        """Whether rearrangements differ in any test; if not, no test can reject."""
        return any(finding.testable for finding in self.tests.values())

    @property
    def failures(self) -> tuple[str, ...]:
        """Names of the tests that fail at the level `alpha`, adjusted for all tests.

        Material effects come first, then those with the largest `stands_out`, each after the
        failure that explains it.
        """
        items, alpha = self.tests.items(), self.alpha
        failing = {
            k: finding
            for k, finding in items
            if finding.testable and finding.adjusted_p_value <= alpha
        }

        def tells(name: str) -> tuple[bool, float, bool]:
            finding = failing[name]
            also = (other.stands_out for other in failing.values() if other.follows == name)
            return finding.material, max(finding.stands_out, *also, -np.inf), not finding.follows

        return tuple(sorted(failing, key=tells, reverse=True))

    @property
    def verdict(self) -> str:
        """The verdict in words, with remedies where the assumption fails."""
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
        sentences = [self.tests[name].verdict for name in self.failures]
        if len(sentences) > 1:
            sentences.insert(1, "The other failures may follow from it:")
        first = f"Evidence against the assumption that {self.assumption} (p = {self.p_value:.3g})."
        return " ".join([first, *sentences])

    def beyond_spaced(self) -> Diagnosis:
        """Return a copy without the remedy ``symmetry="spaced"``, for users of that symmetry."""

        def drop(words: str) -> str:
            words = words.replace(", or symmetry='spaced'", "")
            words = words.replace(": take symmetry='spaced'.", ".")
            words = words.replace("take symmetry='spaced', or name", "name")
            return words.replace("symmetry='spaced', or ", "")

        items = self.tests.items()
        left = {name: replace(finding, verdict=drop(finding.verdict)) for name, finding in items}
        return replace(self, tests=left)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame with a row for each test, and one for the measured coverage.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed if left out.
        """
        columns: dict[str, list[Any]] = {"test": list(self.tests)}
        for key in ("statistic", "p_value", "adjusted_p_value", "size", "row", "part", "effect",
                    "verdict"):  # fmt: skip
            columns[key] = [getattr(finding, key) for finding in self.tests.values()]
        columns["row"] = [-1 if row is None else row for row in columns["row"]]
        if self.coverage is not None:
            share, words = self.coverage.coverage, self.coverage.verdict
            entries = ("coverage", share, np.nan, np.nan, share - self.coverage.level, -1, "",
                       words, words)  # fmt: skip
            for column, entry in zip(columns.values(), entries, strict=True):
                column.append(entry)
        return nw.from_dict(columns, backend=backend or installed()).to_native()

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the data of plots, as plain Python values."""
        return {
            "p_value": self.p_value, "rejected": self.rejected, "failures": list(self.failures),
            "verdict": self.verdict, "alpha": self.alpha, "rows": self.n_steps,
            "resamples": self.n_resamples,
            "tests": {
                name: {key.name: getattr(test, key.name) for key in fields(test) if key.compare}
                for name, test in self.tests.items()
            },
            "untested": dict(self.untested),
            "coverage": None if self.coverage is None else self.coverage._asdict(),
        }  # fmt: skip

    def plot(self, of: str | None = None, width: float = 9.0) -> Any:
        """Plot residuals with their bands, and each statistic among those of the draws.

        Parameters
        ----------
        of : name of `residuals`, or of a column; the next state and the first two columns if left
            out
        width : width of the figure in inches

        Returns
        -------
        the figure; see `definetti.plots.plot_check`
        """
        from definetti.plots import plot_check

        return plot_check(self, of, width)

    def _notes(self) -> list[str]:
        """List untested parts with their reasons, and the measured coverage."""
        notes = [f"{name}: not tested, {why}" for name, why in self.untested.items()]
        if self.coverage is not None:
            notes.append(self.coverage.verdict)
        return notes

    def _method(self) -> str:
        return f"exact tests, {self.n_steps:,} steps, up to {self.n_resamples:,} rearrangements"

    def __repr__(self) -> str:
        wide = max(len(name) for name in self.tests)
        rows = [
            f"{name:<{wide}}  p = {test.p_value:<6.3g} adjusted {test.adjusted_p_value:<6.3g} "
            f"{test.effect}"
            for name, test in self.tests.items()
        ]
        first, last = f"Diagnosis: {self.verdict}", f"({self._method()})"
        return "\n  ".join([first, *rows, *self._notes(), last])

    def _repr_html_(self) -> str:
        table = [
            (
                name,
                test.question,
                f"{test.p_value:.3g}",
                f"{test.adjusted_p_value:.3g}",
                test.effect,
            )
            for name, test in self.tests.items()
        ]
        cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in table)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        head = "".join(f"<th>{heading}</th>" for heading in ("test", "", "p", "adjusted", "effect"))
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in [*self._notes(), self._method()])
        return (
            f"<p>{html.escape(self.verdict)}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}"
        )
