"""The methods of others that the paper names, for state sequences, with one front door.

As their authors give them, none is exactly valid for the states of a hidden Markov model from one
labelled history, which is what `definetti.ConformalHMM` is for. Two come near. `UnionOverSequences`
is exact from one history with ``conditional=True``, which compares state by state, an option of
ours. `UnionMultiStep` is exact where it is given several sequences that are exchangeable with the
new one. Each says what it does guarantee, and when; its ``exact`` says whether it is so.
"""

from definetti.baselines.adaptive import AdaptiveLevel
from definetti.baselines.base import Baseline
from definetti.baselines.classical import Classical
from definetti.baselines.conditional import ClassConditional
from definetti.baselines.ensemble import EnsembleSliding
from definetti.baselines.likelihood_ratio import LikelihoodRatio
from definetti.baselines.multi_step import UnionMultiStep
from definetti.baselines.non_exchangeable import NonExchangeable
from definetti.baselines.over_sequences import UnionOverSequences
from definetti.baselines.robust import Robust
from definetti.baselines.shifts import ShiftPermutations
from definetti.baselines.thinned import Thinned

NAMED: dict[str, type[Baseline]] = {
    "classical": Classical,
    "classconditional": ClassConditional,
    "shiftpermutations": ShiftPermutations,
    "ensemblesliding": EnsembleSliding,
    "unionoversequences": UnionOverSequences,
    "unionmultistep": UnionMultiStep,
    "likelihoodratio": LikelihoodRatio,
    "robust": Robust,
    "adaptivelevel": AdaptiveLevel,
    "nonexchangeable": NonExchangeable,
    "thinned": Thinned,
}

__all__ = [
    "NAMED",
    "AdaptiveLevel",
    "Baseline",
    "ClassConditional",
    "Classical",
    "EnsembleSliding",
    "LikelihoodRatio",
    "NonExchangeable",
    "Robust",
    "ShiftPermutations",
    "Thinned",
    "UnionMultiStep",
    "UnionOverSequences",
]
