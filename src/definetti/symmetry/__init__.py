"""Symmetries, which define the windows that a candidate is compared with."""

from definetti.symmetry.base import Reference as Reference
from definetti.symmetry.base import Remembering as Remembering
from definetti.symmetry.base import Symmetry as Symmetry
from definetti.symmetry.base import find_symmetry as find_symmetry
from definetti.symmetry.base import remember as remember
from definetti.symmetry.blocks import BlockGroup as BlockGroup
from definetti.symmetry.blocks import Pairs as Pairs
from definetti.symmetry.blocks import Published as Published
from definetti.symmetry.blocks import Returns as Returns
from definetti.symmetry.blocks import Shifts as Shifts
from definetti.symmetry.blocks import Spaced as Spaced
from definetti.symmetry.departures import Departures as Departures
from definetti.symmetry.departures import TogetherDepartures as TogetherDepartures
from definetti.symmetry.full import Full as Full
