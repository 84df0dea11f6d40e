"""The gallery shows what the sanitizer prints today."""

from __future__ import annotations

from tests.sanitize import gallery


def test_the_page_is_up_to_date() -> None:
    assert gallery.PAGE.read_text() == gallery.page(), "python -m tests.sanitize.gallery --write"


def test_pictures_are_up_to_date() -> None:
    for name, text in gallery.pictures().items():
        path = gallery.PAGE.parent / "gallery" / name
        assert path.read_text() == text, "python -m tests.sanitize.gallery --write"
