"""Values of expressions of integers, against Python's."""

from __future__ import annotations

import random
import re

import pytest

from anymetal.frontend.numbers import value_of


def words_of(text: str) -> list[str]:
    """As the scanner has them: `<<` is two words."""
    return re.findall(r"[\w']+|[^\w\s]", text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("0x1F", 31),
        ("010u", 8),
        ("0", 0),
        ("0b101", 5),
        ("1'000UL", 1000),
        ("1200 + 3", 1203),
        ("(1 << 3) | 1", 9),
        ("1 + 2 * 3 - -4", 11),
        ("100 >> 2 >> 1", 12),
        ("(((5)))", 5),
        ("~0 & 0xff ^ 3 % 2", 254),
    ],
)
def test_values(text: str, value: int) -> None:
    assert value_of(words_of(text)) == value


def test_operators_bind_as_in_python() -> None:
    numbers = random.Random(3)
    for _ in range(200):
        text = str(numbers.randrange(1, 50))
        for _ in range(numbers.randrange(1, 7)):
            text += f" {numbers.choice(list('+-*&|^'))} {numbers.randrange(9)}"
        assert value_of(words_of(text)) == eval(text), text


@pytest.mark.parametrize(
    "text",
    ["", "N", "1 +", "(1", "1 2", "1 / 0", "1.5", "f(1)", "1 < 2", "09", "1 << 99", "1 >> -1"],
)
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ValueError):
        value_of(words_of(text))
