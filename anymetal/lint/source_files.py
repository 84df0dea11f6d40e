"""Files of programs as text, with line ends and encoding as they are."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path


def read(path: Path) -> tuple[str, str]:
    """The text and the name of its encoding. Raises OSError, and ValueError if it is no text."""
    content = path.read_bytes()
    encoding = "utf-8-sig" if content.startswith(b"\xef\xbb\xbf") else "utf-8"
    if path.suffix != ".metal":
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        except SyntaxError as error:
            raise ValueError(str(error)) from error
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no {encoding}: {error.reason} at byte {error.start}") from error
    if "\0" in text:
        raise ValueError("it has null characters")
    return text, encoding
