"""Compiling a stranger's source in a process of its own, with limits.

    limits.py    what the process may use: `Sandbox`, which callers give
    confine.py   the process gives up what it does not need; runs in it before all else
    child.py     the process: answers requests with the compiler
    process.py   starts the process, passes lines to and fro, ends it
    records.py   what goes to and fro, in words: programs and diagnostics
    outlines.py  the same for kernels without their statements
    compiler.py  the parent's side: asks, checks every answer, and gives what the compiler would have given

Nothing but lines of JSON comes back, and no answer is believed beyond its shape.
"""
