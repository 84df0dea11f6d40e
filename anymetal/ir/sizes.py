"""Sizes that programs rely on: Metal's, and one of ours."""

#: Threads of a SIMD-group.
SIMD_GROUP = 32
#: The most threads of a threadgroup.
MAX_THREADS_PER_THREADGROUP = 1024
#: Bytes of a threadgroup's memory, at most.
THREADGROUP_LIMIT = 32768
#: Bytes that may be read of each parameter that describes an input (its shape, say), however few
#: mean something: runtime/arrays.py and bridge/task.cpp see to it.
DESCRIPTION_BYTES = 32


def is_power_of_two(number: int) -> bool:
    """Of a number that is not negative; 0 counts as one."""
    return number & (number - 1) == 0
