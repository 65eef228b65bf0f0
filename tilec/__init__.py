"""tilec: a compiler for a small tile language, `.ph` in, WGSL out."""

__version__ = "0.1.0"
