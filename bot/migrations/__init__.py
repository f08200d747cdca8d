"""The history of the tables of runs, applied by `memory.database.upgrade`."""
