"""The closed table: all classes that a file can name, and nothing else is ever made of one."""

from __future__ import annotations

from definetti.adaptive import AdaptiveLevel
from definetti.check import Diagnosis, Finding, Residuals
from definetti.check.bands import Curve
from definetti.conformal import ConformalHMM
from definetti.conformal.sequences import ConformalSequences, Units
from definetti.data.encoded import EncodedHistory, Trained
from definetti.data.labels import Alphabet
from definetti.data.series import Part
from definetti.emissions import Emission
from definetti.emissions.base import JudgedAlone
from definetti.emissions.categorical import FixedCategorical
from definetti.emissions.choice import Kinds
from definetti.emissions.classifier import TrainedClassifier
from definetti.emissions.gaussian import Centred
from definetti.emissions.mixed import Column, Columns, FixedMixed
from definetti.emissions.tables import Chunks, Raw, Rows
from definetti.emissions.words import FixedLabels, Lexicon
from definetti.martingales import Alarm, ConfidenceSequence, Martingale
from definetti.memory import Memory
from definetti.models import HMM, Auto, FromHmmlearn, TrainedHMM
from definetti.models.hmmlearn import HmmlearnEmission
from definetti.models.predictors import SequenceSmoother
from definetti.monitor import Monitor
from definetti.saving import checks
from definetti.saving.kinds import Kind, kind_of
from definetti.scores import Score
from definetti.sets import PredictionSet
from definetti.symmetry import BlockGroup, Symmetry, TogetherDepartures
from definetti.symmetry.remembering import Remembering

# Whatever fulfils one of these under a name, and is a dataclass, is in the table.
CONTRACTS = (
    Score, Symmetry, Emission, Memory, Martingale, Alarm, ConfidenceSequence, AdaptiveLevel,
)  # fmt: skip

KINDS = (
    kind_of("conformal hmm", ConformalHMM),
    kind_of("conformal sequences", ConformalSequences),
    kind_of("monitor", Monitor),
    kind_of("prediction set", PredictionSet, checks.check_set),
    kind_of("labelled", EncodedHistory),
    kind_of("units", Units, checks.check_units),
    kind_of("trained segment", Trained),
    kind_of("part", Part),
    kind_of("diagnosis", Diagnosis),
    kind_of("finding", Finding),
    kind_of("residuals", Residuals),
    kind_of("curve", Curve),
    Kind("alphabet", Alphabet, ("labels",), memory=lambda kept: 160 * len(kept["labels"])),
    kind_of("chunks", Chunks, checks.check_chunks),
    kind_of("rows", Rows, checks.check_rows),
    kind_of("centred", Centred, checks.check_centred),
    kind_of("lexicon", Lexicon),
    kind_of("raw", Raw),
    kind_of("column", Column, checks.check_column),
    kind_of("columns", Columns, checks.check_columns),
    kind_of("kinds", Kinds),
    Kind("hmm", HMM, ("prior", "emission"), checks.check_hmm),
    Kind("auto", Auto),
    kind_of("trained hmm", TrainedHMM, checks.check_trained),
    kind_of("from hmmlearn", FromHmmlearn, checks.check_hmmlearn),
    kind_of("whole smoother", SequenceSmoother, checks.check_smoother),
    Kind("judged alone", JudgedAlone, ("emission", "table"), checks.check_alone),
    kind_of("fixed categorical", FixedCategorical, checks.check_known),
    kind_of("fixed labels", FixedLabels, checks.check_known),
    kind_of("fixed mixed", FixedMixed, checks.check_laws),
    kind_of("trained classifier", TrainedClassifier, checks.check_classifier),
    kind_of("hmmlearn emission", HmmlearnEmission, checks.check_hmmlearn_emission),
    kind_of("block group", BlockGroup),
    kind_of("together departures", TogetherDepartures),
    kind_of("remembering", Remembering, checks.check_remembering),
)
