"""The methods of others that the paper names, for state sequences, with one front door.

As their authors give them, none is exactly valid for the states of a hidden Markov model from one
labelled history, which is what `definetti.ConformalHMM` is for. Two come near. `UnionOverSequences`
is exact from one history with ``conditional=True``, which compares state by state, an option of
ours. `UnionMultiStep` is exact where it is given several sequences that are exchangeable with the
new one. Each says what it does guarantee, and when; its ``exact`` says whether it is so.
"""

from definetti.baselines.adaptive import AdaptiveLevel as AdaptiveLevel
from definetti.baselines.adaptive import ControlledLevel as ControlledLevel
from definetti.baselines.adaptive import TunedLevel as TunedLevel
from definetti.baselines.base import Baseline as Baseline
from definetti.baselines.classical import Classical as Classical
from definetti.baselines.conditional import ClassConditional as ClassConditional
from definetti.baselines.ensemble import EnsembleSliding as EnsembleSliding
from definetti.baselines.likelihood_ratio import LikelihoodRatio as LikelihoodRatio
from definetti.baselines.multi_step import UnionMultiStep as UnionMultiStep
from definetti.baselines.non_exchangeable import NonExchangeable as NonExchangeable
from definetti.baselines.over_sequences import UnionOverSequences as UnionOverSequences
from definetti.baselines.robust import Robust as Robust
from definetti.baselines.shifts import ShiftPermutations as ShiftPermutations
from definetti.baselines.thinned import Thinned as Thinned
