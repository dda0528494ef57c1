"""The estimator for what follows one labelled history, or each of many."""

from definetti.conformal.estimator import ConformalHMM as ConformalHMM
