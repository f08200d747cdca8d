"""The history of memory's tables, applied by `memory.database.upgrade`."""
