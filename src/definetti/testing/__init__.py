"""Checks of user-defined scores, symmetries, emissions, models, memories and martingales.

Each check raises an AssertionError with the fault and the remedy, and returns nothing. As in the
proofs of the package, every sequence of a small model is enumerated, and a p-value that is not
exactly uniform is detected. The checks cannot see how an object was made: a score or a model that
was fitted on the calibration labels is not valid, and passes.
"""

from definetti.testing.comparisons import check_memory as check_memory
from definetti.testing.comparisons import check_score as check_score
from definetti.testing.comparisons import check_symmetry as check_symmetry
from definetti.testing.martingale import check_martingale as check_martingale
from definetti.testing.models import check_emission as check_emission
from definetti.testing.models import check_model as check_model
