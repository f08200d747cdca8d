"""An order as text for the printer."""

WIDTH = 32


def euros(cents):
    return f"{cents // 100}.{cents % 100:02d}"


def receipt(order):
    """Lines of the receipt, each `WIDTH` characters wide."""
    rows = [_row(f"{line.quantity} x {line.article}", line.total()) for line in order.lines]
    return [*rows, "-" * WIDTH, _row("due", order.due())]


def _row(label, cents):
    amount = euros(cents)
    return label[: WIDTH - len(amount) - 1].ljust(WIDTH - len(amount)) + amount
