"""All forms of values, in the order in which they are tried."""

from __future__ import annotations

from definetti.saving.containers import Array, Dictionary, List, Masked, Objects, Tuple
from definetti.saving.estimators import Estimator
from definetti.saving.forms import Form
from definetti.saving.frames import Frame
from definetti.saving.generators import Generator
from definetti.saving.hmmlearn import Hmmlearn
from definetti.saving.scalars import Exact, NotFinite
from definetti.saving.things import Thing

FORMS: tuple[Form, ...] = (
    NotFinite(), Tuple(), List(), Array(), Dictionary(), Thing(), Objects(), Masked(), Exact(),
    Generator(), Hmmlearn(), Estimator(), Frame(),
)  # fmt: skip
