from till.lines import Line
from till.orders import Order
from till.receipt import WIDTH, euros, receipt


def test_cents_have_two_digits():
    assert euros(905) == "9.05"


def test_every_row_is_as_wide_as_the_paper():
    rows = receipt(Order([Line("a very long name of a very small thing", 1, 100)]))

    assert {len(row) for row in rows} == {WIDTH}


def test_the_last_row_says_what_is_due():
    assert receipt(Order([Line("mug", 2, 450)]))[-1].split() == ["due", "9.00"]
