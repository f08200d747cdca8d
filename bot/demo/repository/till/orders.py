"""An order: its lines, a voucher, and what is due."""

VOUCHER = 1000
VOUCHER_ABOVE = 10000


class Order:
    def __init__(self, lines, has_voucher=False):
        self.lines = list(lines)
        self.has_voucher = has_voucher

    def due(self):
        """Cents to pay; a voucher takes off ten euros from orders above a hundred."""
        amount = sum(line.total() for line in self.lines)
        if self.has_voucher and amount > VOUCHER_ABOVE:
            amount -= VOUCHER
        return amount

    def pieces(self):
        return sum(line.quantity for line in self.lines)
