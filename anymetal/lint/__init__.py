"""The linter behind `anymetal check`: mistakes in kernels, found without running the program."""
