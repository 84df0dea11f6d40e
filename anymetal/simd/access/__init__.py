"""Planning of memory access: what the lanes of a gang load and store together."""
