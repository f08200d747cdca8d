"""Tests of what reads the results of commands."""
