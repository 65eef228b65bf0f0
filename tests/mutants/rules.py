"""Mutants of the operations: columns of their rows, references, type rules, folding of constants."""

from tests.mutants.table import Table

RULES = Table("rules", ("tests/ops/test_rows.py", "tests/tile/test_interp.py",
                        "tests/ops/test_derivatives.py", "tests/ops/test_on_devices.py"))  # fmt: skip

(
    RULES.file("tilec/ops/pointwise.py", "tests/ops/test_rows.py::test_operands_of_what_commutes_may_change_places",
               "tests/ops/test_derivatives.py", "tests/ops/test_on_devices.py::test_values_are_within_the_bound",
               "tests/ops/test_rows.py")
    ("derivative", '("1.0", "-1.0"), "`x - y`', '("1.0", "1.0"), "`x - y`')
    ("derivative", '("y", "x"), "`x * y`.', '("x", "y"), "`x * y`.')
    ("derivative", '("1.0 / y", "-r / y")', '("1.0 / y", "r / y")')
    ("derivative", '("1.0 / y", "-r / y")', '("1.0 / y", "-x / y")')
    ("derivative", '("1.0", "-trunc(x / y)")', '("1.0", "-floor(x / y)")')
    ("derivative", '("where(x < y, 1.0, where(x == y, 0.5, 0.0))",', '("where(x <= y, 1.0, 0.0)",')
    ("derivative", '"where(y > x, 1.0, where(x == y, 0.5, 0.0))"', '"where(y < x, 1.0, where(x == y, 0.5, 0.0))"')
    ("derivative", '"where(x < y, 0.0, where(x > z, 0.0, 1.0))"', '"where(x <= y, 0.0, where(x >= z, 0.0, 1.0))"')
    ("derivative", '"where(y > z, 0.0, where(x < y, 1.0, 0.0))"', '"where(x < y, 1.0, 0.0)"')
    ("derivative", '("sign(x)",)', '("where(x < 0.0, -1.0, 1.0)",)')
    ("derivative", '("2.0 * x",)', '("x",)')
    ("derivative", '(None, "where(x, 1.0, 0.0)", "where(x, 0.0, 1.0)")', '(None, "where(x, 0.0, 1.0)", "where(x, 1.0, 0.0)")')
    ("derivative", '("0.5 / r",)', '("0.5 * r",)')
    ("derivative", '("-0.5 * r * r * r",)', '("-0.5 * r * r",)')
    ("derivative", '"r * 0.6931471805599453"', '"r * 1.4426950408889634"')
    ("derivative", '"expm1", ("exp(x)",)', '"expm1", ("r",)')
    ("derivative", '("1.0 / (x + 1.0)",)', '("1.0 / x + 1.0",)')
    ("derivative", '("sigmoid(x - y)", "sigmoid(y - x)")', '("sigmoid(y - x)", "sigmoid(x - y)")')
    ("derivative", '"where(y == 0.0, 0.0, y * pow(x, y - 1.0))"', '"y * pow(x, y - 1.0)"')
    ("derivative", '"where(x == 0.0, where(y >= 0.0, 0.0, r * log(x)), r * log(x))"', '"r * log(x)"')
    ("derivative", '"cos", ("-sin(x)",)', '"cos", ("sin(x)",)')
    ("derivative", '("1.0 - r * r",)', '("1.0 - r",)')
    ("derivative", '("r * sigmoid(-x)",)', '("r * sigmoid(x)",)')
    ("derivative", '("1.1283791670955126 * exp(-x * x)",)', '("1.1283791670955126 * exp(x * x)",)')
    ("operator", '_same(Infix("-"), F32, I32, U32)', '_same(Infix("+"), F32, I32, U32)')
    ("operator", '_same(Infix("|"), BOOL)', '_same(Infix("&"), BOOL)')
    ("operator", '_comparison("ge", ">=",', '_comparison("ge", ">",')
    ("operator", '{F32: Helper("min_f32"), I32: Call("min"), U32: Call("min")}', '{F32: Helper("max_f32"), I32: Call("min"), U32: Call("min")}')
    ("rounding", '_same(Call("round"), F32)', '_same(Call("floor"), F32)')
    ("rounding", '"i32", "to_i32", {F32: Helper("i32_from_f32"),', '"i32", "to_i32", {F32: Call("i32"),')
    ("condition", 'commutes=rule == "equality")', 'commutes=True)')
    ("condition", '_same(Infix("-"), F32, I32, U32), ("1.0", "-1.0"), "`x - y`. Integers wrap.",\n        special="hardware", domain=(_WIDE, _WIDE), bound=ROUNDED, in_source=False,', '_same(Infix("-"), F32, I32, U32), ("1.0", "-1.0"), "`x - y`. Integers wrap.",\n        special="hardware", domain=(_WIDE, _WIDE), bound=ROUNDED, in_source=False, commutes=True,')
)  # fmt: skip

(
    RULES.file("tilec/ops/reduce.py", "tests/ops/test_reductions.py", "tests/plan/test_corners.py")
    ("identity", '{F32: 0.0, I32: 0, U32: 0}, "add"', '{F32: 1.0, I32: 1, U32: 1}, "add"')
    ("identity", '{F32: 0.0, I32: 0, U32: 0}, "add"', '{F32: 0.0, I32: 1, U32: 0}, "add"')
    ("identity", '{F32: 1.0, I32: 1, U32: 1}, "mul"', '{F32: 0.0, I32: 0, U32: 0}, "mul"')
    ("identity", '{F32: -inf, I32: _LOWEST, U32: 0}', '{F32: 0.0, I32: _LOWEST, U32: 0}')
    ("identity", '{F32: -inf, I32: _LOWEST, U32: 0}', '{F32: -inf, I32: 0, U32: 0}')
    ("identity", '{F32: -inf, I32: _LOWEST, U32: 0}', '{F32: -inf, I32: _LOWEST, U32: 1}')
    ("identity", '{F32: inf, I32: _HIGHEST, U32: _HIGHEST_U32}', '{F32: 3.4028234663852886e38, I32: _HIGHEST, U32: _HIGHEST_U32}')
    ("identity", '{F32: inf, I32: _HIGHEST, U32: _HIGHEST_U32}', '{F32: inf, I32: _HIGHEST, U32: _HIGHEST}')
    ("identity", '{F32: inf, I32: _HIGHEST, U32: _HIGHEST_U32}', '{F32: inf, I32: _HIGHEST_U32, U32: _HIGHEST_U32}')
    ("identity", '{BOOL: False}', '{BOOL: True}')
    ("identity", '{BOOL: True}', '{BOOL: False}')
    ("combine", 'U32: 0}, "max", "plain"', 'U32: 0}, "max_fast", "plain"')
    ("combine", '"logical", {BOOL: False}, "or"', '"logical", {BOOL: False}, "and"')
    ("combine", '{F32: 1.0, I32: 1, U32: 1}, "mul"', '{F32: 1.0, I32: 1, U32: 1}, "add"')
)  # fmt: skip

(
    RULES.file("tilec/ops/reference.py", "tests/ops/test_reductions.py::test_a_nan_is_the_extreme_and_its_index_the_first_ones",
               "tests/ops/test_reductions.py", "tests/ops/test_rows.py", "tests/tile/test_interp.py",
               "tests/passes/test_fold_constants.py")
    ("bound", '(bits >> np.uint32(16)) | np.uint32(0x40)', '(bits >> np.uint32(16)) | np.uint32(0x00)')
    ("rounding", '(bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))', '(bits + np.uint32(0x8000))')
    ("operator", 'np.fmod(wide, np.where(divisor == 0, 1, divisor))', 'np.mod(wide, np.where(divisor == 0, 1, divisor))')
    ("operator", 'quotient = -(-wide // np.where', 'quotient = (wide // np.where')
    ("condition", 'np.where(divisor == 0, wide, quotient).astype(np.int32)', 'np.where(divisor == 0, 0, quotient).astype(np.int32)')
    ("condition", 'np.where(np.isnan(x), 0.0, np.trunc(x.astype(np.float64)))', 'np.where(np.isnan(x), 0.0, np.rint(x.astype(np.float64)))')
    ("mask", 'kept = np.where(active, x, x.dtype.type(0))', 'kept = x')
    ("mask", 'kept = np.where(active, x, x.dtype.type(1))', 'kept = x')
    ("mask", 'np.asarray((x | ~active).all(', 'np.asarray((x | active).all(')
    ("mask", 'np.asarray((x & active).any(', 'np.asarray(x.any(')
    ("mask", 'hit = hit & active  # the mask', 'hit = hit  # the mask')
    ("mask", 'shifted = np.where(active, x.astype(np.float64) - largest, -np.inf)', 'shifted = x.astype(np.float64) - largest')
    ("condition", 'hit = (x == best) | (np.isnan(x) & np.isnan(best)) if', 'hit = (x == best) if')
    ("condition", 'np.where(np.isinf(largest), 0.0, total)', 'total')
    ("rounding", 'wide = np.float64 if x.dtype == np.float32 else np.int64', 'wide = x.dtype')
)  # fmt: skip

(
    RULES.file("tilec/ops/rules.py", "tests/sema/test_types.py", "tests/ops/test_rows.py")
    ("condition", 'if F32 in by_dtype:\n        return Operand(F32)', 'if False:\n        return Operand(F32)')
    ("condition", 'if U32 in by_dtype and len(by_dtype) > 1:', 'if U32 in by_dtype and F32 in by_dtype:')
    ("condition", 'if all(operand.dtype is not F32 for operand in operands):', 'if any(operand.dtype is U32 for operand in operands):')
    ("condition", 'return Operand(I32, True)', 'return Operand(I32)')
    ("condition", 'common = common_number(operands, (1, 2))', 'common = common_number(operands)')
    ("operator", 'return Operand(I32) if operand.dtype is BOOL else operand', 'return operand')
)  # fmt: skip

(
    RULES.file("tilec/ops/fold.py", "tests/passes/test_fold_constants.py", "tests/ops/test_rows.py")
    ("rounding", '(bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000', '(bits + 0x8000) & 0xFFFF0000')
    ("rounding", 'return round_f32(function(*values))', 'return function(*values)')
    ("bound", 'value > I32_HIGHEST else value', 'value >= I32_HIGHEST else value')
    ("bound", 'low, high = (I32_LOWEST, I32_HIGHEST) if dtype is DType.I32', 'low, high = (-I32_HIGHEST, I32_HIGHEST) if dtype is DType.I32')
    ("condition", 'return math.nan if x != x or y != y else max(x, y)', 'return max(x, y)')
    ("condition", 'if x == 0.0 or math.isnan(x):', 'if math.isnan(x):')
    ("condition", 'math.copysign(math.inf, x) * math.copysign(1.0, y)', 'math.copysign(math.inf, x)')
    ("operator", '"ceil": lambda x: x if math.isinf(x) or x == 0 else math.copysign(math.ceil(x), x)', '"ceil": lambda x: x if math.isinf(x) or x == 0 else float(math.ceil(x))')
)  # fmt: skip

(
    RULES.file("tilec/sema/fold.py", "tests/sema/test_types.py")
    ("condition", 'return _exact(value) if is_weak else wrap(int(value), dtype)', 'return wrap(int(value), dtype)')
    ("condition", 'return value if abs(value) < 2**64 else None', 'return value if abs(value) < 2**31 else None')
)  # fmt: skip
