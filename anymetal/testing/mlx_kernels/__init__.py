"""MLX's own Metal back end as a test: every kernel of every unit is compiled, and each family
is run against NumPy.

    python -m anymetal.testing.mlx_kernels --source CHECKOUT --state FOLDER --jobs 16 --seconds 560

It needs a checkout of MLX and fetches nothing. What is done stands in the folder, so the same call
goes on where the one before has stopped. `--page` writes docs/mlx-kernels.md from it.
"""
