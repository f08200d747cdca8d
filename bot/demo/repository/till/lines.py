"""What is bought: an article, how many of it, and at what price."""

from dataclasses import dataclass

BULK_FROM = 10
BULK_PERCENT = 10


@dataclass(frozen=True)
class Line:
    article: str
    quantity: int
    price: int

    def total(self):
        """Cents for the line; from ten pieces on, one tenth less."""
        if self.quantity < 1:
            raise ValueError(f"{self.article}: a line needs at least one piece")
        full = self.quantity * self.price
        if self.quantity > BULK_FROM:
            return full - full * BULK_PERCENT // 100
        return full


def parse_line(text):
    """A line from `3 x mug @ 450`."""
    quantity, rest = text.split(" x ", 1)
    article, price = rest.rsplit(" @ ", 1)
    return Line(article.strip(), int(quantity), int(price))
