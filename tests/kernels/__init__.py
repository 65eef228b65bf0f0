"""Kernels as their users write them, each against its NumPy float64 twin."""
