"""Measurements on labelled data; run by hand, never a part of the test run."""
