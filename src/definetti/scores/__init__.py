"""Nonconformity scores of windows of states: large where a window is nonconforming."""

from definetti.scores.nonconformity import Band as Band
from definetti.scores.nonconformity import Emission as Emission
from definetti.scores.nonconformity import Filter as Filter
from definetti.scores.nonconformity import Joint as Joint
from definetti.scores.nonconformity import LabelledWindows as LabelledWindows
from definetti.scores.nonconformity import OnWindows as OnWindows
from definetti.scores.nonconformity import Path as Path
from definetti.scores.nonconformity import Score as Score
from definetti.scores.nonconformity import Smoother as Smoother
from definetti.scores.nonconformity import StepScore as StepScore
from definetti.scores.nonconformity import Transition as Transition
