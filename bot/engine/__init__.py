"""Durable work: jobs are taken one after the other for each repository, and go on when a process dies."""
