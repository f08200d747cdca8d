"""What the outside touches: the command line, the runner, the settings."""
