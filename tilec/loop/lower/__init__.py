"""From a plan to per-thread code. Reads the plan only: no facts, no limits."""

from tilec.loop.lower.program import lower

__all__ = ["lower"]
