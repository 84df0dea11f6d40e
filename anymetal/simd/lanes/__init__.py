"""Lowering of cross-lane calls and of products of matrices."""
