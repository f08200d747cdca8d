"""What past runs taught: lessons, notes, and the one place that chooses among them."""
