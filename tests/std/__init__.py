"""The library against its twins and torch, and the examples."""
