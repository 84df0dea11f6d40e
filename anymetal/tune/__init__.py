"""Which of several ways to compute something is taken: measured tables, the switch, tuning."""

from typing import TYPE_CHECKING, Any

from anymetal.tune.switch import Choice as Choice
from anymetal.tune.switch import choose as choose
from anymetal.tune.switch import explain as explain

if TYPE_CHECKING:
    from anymetal.tune.bench import do_bench as do_bench
    from anymetal.tune.configurations import autotune as autotune
    from anymetal.tune.operations import Case as Case
    from anymetal.tune.operations import Operation as Operation
    from anymetal.tune.operations import register as register

#: What only measuring needs, and no routine shall wait for: names and their modules.
_LATER = {
    "autotune": "anymetal.tune.configurations",
    "do_bench": "anymetal.tune.bench",
    "Case": "anymetal.tune.operations",
    "Operation": "anymetal.tune.operations",
    "register": "anymetal.tune.operations",
}


def __getattr__(name: str) -> Any:
    if module := _LATER.get(name):
        import importlib

        return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
