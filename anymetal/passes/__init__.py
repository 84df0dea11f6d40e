"""Transformations of the thread program, one a file; each is `run(program) -> None`."""
