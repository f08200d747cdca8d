"""How to ask a model one question, and how code judges the answer."""
