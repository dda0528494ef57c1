"""Checks that anyone can run on a score, symmetry, emission, model, memory or bet of their own.

Each raises an AssertionError that says what is wrong and what to do; none returns anything. They
work as the proofs of the package do: every sequence of a small model is enumerated, and a p-value
that is not exactly uniform is found out. What they cannot see is how a thing was made: a score or a
model that knows the labels that calibrate it is not valid, and passes.
"""

from definetti.testing.comparisons import check_memory as check_memory
from definetti.testing.comparisons import check_score as check_score
from definetti.testing.comparisons import check_symmetry as check_symmetry
from definetti.testing.martingale import check_martingale as check_martingale
from definetti.testing.models import check_emission as check_emission
from definetti.testing.models import check_model as check_model
