"""GitHub, read: the only folder that imports PyGithub."""
