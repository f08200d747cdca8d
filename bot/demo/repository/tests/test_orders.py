from till.lines import Line
from till.orders import Order


def test_an_order_adds_up_its_lines():
    assert Order([Line("mug", 2, 450), Line("pot", 1, 1999)]).due() == 2899


def test_pieces_are_counted():
    assert Order([Line("mug", 2, 450), Line("pot", 1, 1999)]).pieces() == 3


def test_a_voucher_counts_above_a_hundred_euros():
    assert Order([Line("lamp", 3, 4000)], has_voucher=True).due() == 11000


def test_a_voucher_does_not_count_at_a_hundred_euros():
    assert Order([Line("lamp", 4, 2500)], has_voucher=True).due() == 10000


def test_ten_cups_with_a_voucher_get_the_bulk_price():
    assert Order([Line("cup", 10, 1000)], has_voucher=True).due() == 9000
