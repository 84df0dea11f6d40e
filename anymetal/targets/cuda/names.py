"""What compiling and launching have to agree on."""

import functools
from typing import NamedTuple

from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP

#: Architectures, old ones first, and the oldest version of PTX that knows each. Drivers of CUDA 12
#: read all of them but the last, which takes 12.7.
PTX_OF = {
    "sm_70": 70, "sm_75": 70, "sm_80": 70, "sm_86": 71, "sm_89": 78, "sm_90": 78, "sm_100": 86,
}  # fmt: skip


@functools.cache
def entry_of(function: str) -> str:
    """The name in PTX of the function that a kernel is, by which profilers call it: "metal_" in
    front keeps it from being a word of PTX, which takes only ASCII."""
    letters = (
        c if c.isascii() and c.isalnum() else "_" if c == "_" else f"${ord(c):x}" for c in function
    )
    return "metal_" + "".join(letters)


class Form(NamedTuple):
    """What is known of the launches for which code is compiled."""

    threads: int = MAX_THREADS_PER_THREADGROUP  #: a block has at most so many
    written_last: bool = False  #: as MLX passes what a library's kernel writes to
    in_a_row: bool = False  #: blocks and threads are numbered in x (arguments.py)
    #: Threadgroups are equally large, and their SIMD-groups have all lanes. Not in a row.
    whole: bool = False
    flat: bool = False  #: the grid has an extent in x alone. Not in a row.
    aligned: bool = False  #: buffers begin at multiples of 16 bytes


ANY_FORM = Form()
