"""One file for each step, `m0001_what_it_does.py`; a step that was released is never edited."""
