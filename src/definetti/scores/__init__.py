"""Nonconformity scores of windows of states: large where a window is nonconforming."""

from definetti.scores.base import LabelledWindows as LabelledWindows
from definetti.scores.base import OnWindows as OnWindows
from definetti.scores.base import Score as Score
from definetti.scores.base import StepScore as StepScore
from definetti.scores.model_scores import Band as Band
from definetti.scores.model_scores import Emission as Emission
from definetti.scores.model_scores import Filter as Filter
from definetti.scores.model_scores import Joint as Joint
from definetti.scores.model_scores import Path as Path
from definetti.scores.model_scores import Smoother as Smoother
from definetti.scores.model_scores import Transition as Transition
