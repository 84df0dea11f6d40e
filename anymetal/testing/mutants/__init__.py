"""Does the sanitizer find mistakes that somebody might make? `python -m anymetal.testing.mutants`.

Each kernel case is changed in one place, as people err (operators.py). Not every change does harm:
a barrier may have been one too many. So an oracle that shares nothing with the sanitizer runs the
changed kernel (oracles.py), and what it finds harmful the sanitizer must find, too (run.py).
"""
