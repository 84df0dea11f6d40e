"""Differential fuzzing: random Metal kernels against an oracle written in NumPy.

* types, launch, tree: what a case is made of;
* generate: a random well-defined case from a seed, with the help of statements, values, reals,
  vectors, lanes and scope;
* printer: the case as Metal text;
* oracle: what it must compute, with the help of numerics, crosslane and memory;
* execute, check: what AnyMetal computes, and the verdict;
* rules, shrink, report: a failure made small and readable.

Run it with `python -m anymetal.testing.fuzz --count 2000 --seed 0 --jobs 2`.
"""
