"""What became of a kernel: facts about its lines, and what its loops cost."""
