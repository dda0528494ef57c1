"""The estimators: for what follows a labelled history, and for whole sequences."""

from definetti.conformal.estimator import ConformalHMM as ConformalHMM
from definetti.conformal.sequences import ConformalSequences as ConformalSequences
