"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says something about the machine; what must be fast is measured by its own tests.
settings.register_profile("machine", deadline=None)
settings.load_profile("machine")
