"""What runs at launch time: native thread pool, disk cache, MLX array binding.

Nothing here imports the compiler: a process that finds its kernels in the cache needs only this.
"""
