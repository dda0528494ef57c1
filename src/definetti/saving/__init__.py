"""Save and load models as portable files: no pickle, no code, every part checked before use."""

from definetti.saving.files import load as load
from definetti.saving.files import read_manifest as read_manifest
from definetti.saving.files import save as save
