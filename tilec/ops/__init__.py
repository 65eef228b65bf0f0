"""The operations: one row each, and type rules by name."""

from tilec.ops.pointwise import POINTWISE
from tilec.ops.reduce import REDUCTIONS
from tilec.ops.rules import RULES, Operand, Signature, TypeRuleError, apply_rule
from tilec.ops.spec import Call, Domain, ErrorBound, Helper, Infix, PointwiseOp, ReductionOp

__all__ = [
    "POINTWISE", "REDUCTIONS", "RULES", "Call", "Domain", "ErrorBound", "Helper", "Infix", "Operand", "PointwiseOp",
    "ReductionOp", "Signature", "TypeRuleError", "apply_rule",
]  # fmt: skip
