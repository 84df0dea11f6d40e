"""Which of several ways to compute something is taken: measured tables and the switch."""
