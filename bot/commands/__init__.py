"""The commands: each parses, calls one method and prints."""
