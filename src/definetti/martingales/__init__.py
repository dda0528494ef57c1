"""Capital that is bet against p-values being independent and uniform: one bet a file, one contract.

What may be concluded of it is an alarm, which has a contract of its own; and what holds of coverage
at all times is a confidence sequence.
"""

from definetti.martingales.absence import Absence as Absence
from definetti.martingales.alarm import Alarm as Alarm
from definetti.martingales.base import Martingale as Martingale
from definetti.martingales.beta_mixture import BetaMixture as BetaMixture
from definetti.martingales.cusum import CUSUM as CUSUM
from definetti.martingales.mixture import Mixture as Mixture
from definetti.martingales.normal_mixture import NormalMixture as NormalMixture
from definetti.martingales.plug_in import PlugIn as PlugIn
from definetti.martingales.sequence import ConfidenceSequence as ConfidenceSequence
from definetti.martingales.shiryaev_roberts import ShiryaevRoberts as ShiryaevRoberts
from definetti.martingales.simple_jumper import SimpleJumper as SimpleJumper
from definetti.martingales.sleeper_stayer import SleeperStayer as SleeperStayer
from definetti.martingales.ville import Ville as Ville
