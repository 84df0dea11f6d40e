"""What must run before MLX is loaded, or where it cannot be: a package that imports neither MLX nor
`anymetal`, which does.

`mac.py` makes a process believe that it runs on a Mac, `children.py` has the Python processes that
it starts inherit that and the rest of `anymetal.install`.
"""
