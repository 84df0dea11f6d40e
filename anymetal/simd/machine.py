"""The processor, as far as what is planned depends on it."""

from __future__ import annotations

LINE = 64  #: bytes of a cache line
