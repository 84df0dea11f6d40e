"""Speed of AnyMetal beside what a user would take instead: `make bench`, `python -m benchmarks`."""
