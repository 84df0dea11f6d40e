"""The front end under fire: mutated, random and forbidden texts, and odd arguments.

Whatever the text, a kernel is compiled, or refused by one of AnyMetal's documented errors, which
names a place in the user's text and none of our own names, within limits of time and memory. And
what the grammar of Metal forbids is refused, wherever in a valid kernel it stands.

    trial.py       one text, with the arrays of its kernel, and what is expected of it
    corpus.py      the kernels that everything starts from
    mutate.py      edits of tokens and characters
    hostile.py     pieces of text that front ends stumble over, and texts that take long
    forbidden.py   what Metal has not, and where it may stand; what looks like it and is allowed
    calls.py       odd arguments for `metal_kernel` and its kernels
    generate.py    from a seed to a trial
    check.py       from a trial to a verdict
    shrink.py      smaller texts that fail in the same way
    results.py     counts and failures

Mutation by the tokens of a corpus, rather than guided by coverage: what decides is Clang, a program
of its own without counters, and what Python code stands around it is short. With 30 ms for each
text, one that begins as a real kernel gets further than one that is found bit by bit.
"""
