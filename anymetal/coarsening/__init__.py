"""Coarsening of SIMD-groups: several of a threadgroup run as one."""
