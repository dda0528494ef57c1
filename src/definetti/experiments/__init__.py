"""The paper's figures and table, the methods of others, and all methods compared.

As their authors give them, none of the methods of others is exactly valid for the states of a
hidden Markov model from one labelled history, which is what `definetti.ConformalHMM` is for. Two
come near. `UnionOverSequences` is exact from one history with ``conditional=True``, which compares
state by state, an option of ours. `UnionMultiStep` is exact where it is given several sequences
that are exchangeable with the new one. Each says what it guarantees, and when; its ``exact`` says
whether the guarantee holds. Parameters that a class does not describe are those of `Baseline`.
"""

from definetti.experiments.adapting import AdaptiveInference as AdaptiveInference
from definetti.experiments.adapting import ControlledLevel as ControlledLevel
from definetti.experiments.adapting import TunedLevel as TunedLevel
from definetti.experiments.baseline import Baseline as Baseline
from definetti.experiments.benchmark import compare as compare
from definetti.experiments.classical import Classical as Classical
from definetti.experiments.grids import figure1 as figure1
from definetti.experiments.grids import figure2 as figure2
from definetti.experiments.recorded_series import figure3 as figure3
from definetti.experiments.recorded_series import table1 as table1
from definetti.experiments.reproduction import METHODS as METHODS
from definetti.experiments.reproduction import OURS as OURS
from definetti.experiments.reproduction import PAIRS as PAIRS
from definetti.experiments.reproduction import PUBLISHED as PUBLISHED
from definetti.experiments.reproduction import Method as Method
from definetti.experiments.reproduction import Reproduction as Reproduction
from definetti.experiments.resampling import ClassConditional as ClassConditional
from definetti.experiments.resampling import EnsembleSliding as EnsembleSliding
from definetti.experiments.resampling import ShiftPermutations as ShiftPermutations
from definetti.experiments.resampling import Thinned as Thinned
from definetti.experiments.unions import UnionMultiStep as UnionMultiStep
from definetti.experiments.unions import UnionOverSequences as UnionOverSequences
from definetti.experiments.weighted import LikelihoodRatio as LikelihoodRatio
from definetti.experiments.weighted import NonExchangeable as NonExchangeable
from definetti.experiments.weighted import Robust as Robust
