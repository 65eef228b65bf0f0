"""Reverse-mode derivatives of tile programs, written as sums of guarded products."""
