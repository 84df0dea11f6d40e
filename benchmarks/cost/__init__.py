"""What the routines of `anymetal.linalg.distributed` cost: counted, measured, modelled, projected.

    python -m benchmarks.cost --write

Runs every routine on 1, 2, 4 and 8 ranks of this machine by `mlx.launch`, fits a model to the times
and draws what it says of clusters. Numbers and pictures are in docs/distributed.
"""
