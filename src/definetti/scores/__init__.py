"""How strange is a window? Large means strange: one score a file, one contract."""

from definetti.scores.band import Band as Band
from definetti.scores.base import Score as Score
from definetti.scores.base import StepScore as StepScore
from definetti.scores.emission import Emission as Emission
from definetti.scores.filter import Filter as Filter
from definetti.scores.joint import Joint as Joint
from definetti.scores.own import LabelledWindows as LabelledWindows
from definetti.scores.own import OnWindows as OnWindows
from definetti.scores.path import Path as Path
from definetti.scores.smoother import Smoother as Smoother
from definetti.scores.transition import Transition as Transition
