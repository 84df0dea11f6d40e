"""Prefetching: asking for memory before it is needed."""
