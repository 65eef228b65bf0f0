"""Kernels derived from kernels: the loss of a forward kernel together with its gradient.

`signature` says what the derived kernel takes and returns, `straighten` brings the reads and the stores that matter
into one straight line, `places` proves what may be stored where, and `kernel` adds the gradient.
"""
