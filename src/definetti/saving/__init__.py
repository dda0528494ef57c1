"""Models in files that travel: no pickle, no code, and nothing believed before it is checked."""

from definetti.saving.files import load as load
from definetti.saving.files import read_manifest as read_manifest
from definetti.saving.files import save as save
