"""`python -m anymetal`: the same as the `anymetal` command."""

from __future__ import annotations

import sys

from anymetal_start.command import main

sys.exit(main())
