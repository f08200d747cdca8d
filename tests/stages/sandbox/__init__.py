"""Tests of the sandbox: every attack is shown to work outside first."""
