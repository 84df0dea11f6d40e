"""Transformations of the thread program, one a file, for any target."""
