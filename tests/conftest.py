"""Property-based tests are the same in every run, and never fail for being slow."""

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.load_profile("steady")
