"""Martingales against independent uniform p-values, alarms and confidence sequences.

An alarm is raised when the capital of a martingale is evidence of a change. A confidence sequence
is an interval for coverage that holds at all times together.
"""

from definetti.martingales.alarms import CUSUM as CUSUM
from definetti.martingales.alarms import Alarm as Alarm
from definetti.martingales.alarms import ShiryaevRoberts as ShiryaevRoberts
from definetti.martingales.alarms import Ville as Ville
from definetti.martingales.base import Martingale as Martingale
from definetti.martingales.base import show_capital as show_capital
from definetti.martingales.bets import Mixture as Mixture
from definetti.martingales.bets import PlugIn as PlugIn
from definetti.martingales.bets import SimpleJumper as SimpleJumper
from definetti.martingales.confidence_sequences import BetaMixture as BetaMixture
from definetti.martingales.confidence_sequences import ConfidenceSequence as ConfidenceSequence
from definetti.martingales.confidence_sequences import NormalMixture as NormalMixture
from definetti.martingales.sleepers import Absence as Absence
from definetti.martingales.sleepers import Misses as Misses
from definetti.martingales.sleepers import SleeperStayer as SleeperStayer
