"""Exact coverage by enumeration of all sequences of small models, and the smallest valid sets."""

from definetti.verify.by_visit import VisitEnumeration as VisitEnumeration
from definetti.verify.by_visit import enumerate_departures as enumerate_departures
from definetti.verify.enumeration import Enumeration as Enumeration
from definetti.verify.enumeration import enumerate_ranks as enumerate_ranks
from definetti.verify.enumeration import exact_coverage as exact_coverage
from definetti.verify.enumeration import oracle_size as oracle_size
from definetti.verify.enumeration import stationary as stationary
from definetti.verify.higher_order import LAWS as LAWS
from definetti.verify.higher_order import HigherOrderEnumeration as HigherOrderEnumeration
from definetti.verify.higher_order import HigherOrderLaw as HigherOrderLaw
from definetti.verify.higher_order import enumerate_sequences as enumerate_sequences
