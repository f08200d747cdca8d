"""Everything that goes out to GitHub: checked, marked, spaced, and read back before it counts as done."""
