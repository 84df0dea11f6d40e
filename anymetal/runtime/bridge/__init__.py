"""A C++ extension that speaks to MLX directly, for what its Python interface cannot do.

It is built with the system's compiler when it is first of use, in the background, and kept in the
disk cache. Nothing depends on it: whoever asks `loader` gets None as long as there is no bridge.
"""
