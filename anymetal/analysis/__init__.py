"""Questions about a thread program, which change nothing."""
