"""A second fuzzer, with an oracle of its own: the kernel's text as it stands, compiled as C++.

The body of a random kernel is compiled by an ordinary C++ compiler, with our own reading of Metal's
names (metal.h) and a simulator that runs the threads of a threadgroup in lockstep (lockstep.h,
lanes.h). Nothing is shared with the compiler under test. What AnyMetal computes in each build
(AVX-512, AVX2, SSE, and scalar code without masks) must be the same bit for bit.

* case, text: a kernel with its arrays and its launch, and its text in the making;
* generators: classes of kernels, one a module;
* dialect: six words that stand for what C++ leaves undefined, or that lead the simulator;
* oracle, arrays: what it must compute, in memory with guard pages;
* builds, check: what AnyMetal computes, and the verdict;
* fired: which passes and ways a kernel has taken;
* worker, results, shrink: processes that may die, what they found, and failures made small.

Run it with `python -m anymetal.testing.lockstep --count 1000 --seed 0 --jobs 2`. A case is decided
by its seed (and class, if one is asked for), so runs can be split over machines by their seeds, and
their results added (`--json`, `--merge`).
"""
