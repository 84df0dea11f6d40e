"""The sanitizer: runs kernels in builds that watch every access, and tells what is wrong."""

from anymetal.sanitizer.api import Sanitizing, sanitize
from anymetal.sanitizer.session import Session

__all__ = ["Sanitizing", "Session", "sanitize"]
