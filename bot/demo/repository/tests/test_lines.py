import pytest
from till.lines import Line, parse_line


def test_one_mug_costs_its_price():
    assert Line("mug", 1, 450).total() == 450


def test_nine_mugs_cost_the_full_price():
    assert Line("mug", 9, 450).total() == 4050


def test_eleven_mugs_cost_a_tenth_less():
    assert Line("mug", 11, 1000).total() == 9900


def test_a_line_needs_a_piece():
    with pytest.raises(ValueError, match="at least one"):
        Line("mug", 0, 450).total()


def test_a_line_is_read_from_text():
    assert parse_line("3 x tea pot @ 1999") == Line("tea pot", 3, 1999)
