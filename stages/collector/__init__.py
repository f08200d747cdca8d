"""What runs inside the target's interpreter; the program itself imports nothing of it."""
