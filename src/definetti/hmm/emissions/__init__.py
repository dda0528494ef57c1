"""How observations are told apart, counted and judged: one emission a file, one contract."""

from definetti.hmm.emissions.categorical import Categorical
from definetti.hmm.emissions.contract import Emission

__all__ = ["Categorical", "Emission"]
