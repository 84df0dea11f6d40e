"""What Python runs at the start of processes whose parent has installed AnyMetal for them, too."""

import importlib.util
import os
import sys


def _inherit() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
    if importlib.util.find_spec("anymetal_start") is None:
        return  # another Python, which has no AnyMetal
    from anymetal_start import children

    children.begin()


def _go_on() -> None:
    """There may be another `sitecustomize` behind this one."""
    ours = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", ours)


_inherit()
_go_on()
