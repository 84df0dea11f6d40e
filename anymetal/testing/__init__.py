"""Tools for testing kernels and AnyMetal itself."""
