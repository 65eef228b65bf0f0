"""Mutants of the emitted text: precedence, literals, helper functions, names and places of data, control flow."""

from tests.mutants.table import Table

EMISSION = Table("emission", ("tests/wgsl/test_layout.py", "tests/wgsl/test_emit.py", "tests/wgsl/test_expressions.py",
                              "tests/ops/test_on_devices.py"))  # fmt: skip

(
    EMISSION.file("tilec/wgsl/expressions.py", "tests/wgsl/test_expressions.py")
    ("precedence", '"-": (Level.SUM, Level.SUM, Level.PRODUCT),', '"-": (Level.SUM, Level.SUM, Level.SUM),')
    ("precedence", '"/": (Level.PRODUCT, Level.PRODUCT, Level.UNARY),', '"/": (Level.PRODUCT, Level.PRODUCT, Level.PRODUCT),')
    ("precedence", '"%": (Level.PRODUCT, Level.PRODUCT, Level.UNARY),', '"%": (Level.PRODUCT, Level.SUM, Level.UNARY),')
    ("precedence", '"*": (Level.PRODUCT, Level.PRODUCT, Level.UNARY),', '"*": (Level.PRODUCT, Level.SUM, Level.UNARY),')
    ("precedence", '"<<": (Level.SHIFT, Level.UNARY, Level.UNARY),', '"<<": (Level.SHIFT, Level.SUM, Level.UNARY),')
    ("precedence", '("==", "!=", "<", "<=", ">", ">="), (Level.RELATION, Level.SUM, Level.SUM)', '("==", "!=", "<", "<=", ">", ">="), (Level.RELATION, Level.SHIFT, Level.SHIFT)')
    ("precedence", '"|": (Level.BITS_OR, Level.UNARY, Level.UNARY),', '"|": (Level.BITS_OR, Level.BITS_AND, Level.BITS_AND),')
    ("precedence", 'text = self._of(operands[0], Level.UNARY)', 'text = self._of(operands[0], Level.PRODUCT)')
    ("precedence", 'return f"{symbol}({text})" if text.startswith("-") else f"{symbol}{text}", Level.UNARY', 'return f"{symbol}{text}", Level.UNARY')
    ("precedence", 'return (f"{text} != 0u", Level.RELATION) if node.dtype is DType.BOOL', 'return (f"{text} != 0u", Level.PRIMARY) if node.dtype is DType.BOOL')
    ("precedence", 'return f"({text})" if count > 1 and Level.OR <= level <= Level.SHIFT else text', 'return text')
    ("precedence", 'return f"({text})" if level < least else text', 'return f"({text})" if level <= least - 1 and least < Level.PRIMARY else text',
     "only the vector of a component has to be primary, and the text of every vector is: a name, a load or a call")
    ("order", 'return self._call("select", (node.other, node.chosen, node.condition))', 'return self._call("select", (node.chosen, node.other, node.condition))')
    ("safety", 'node is not root and not is_leaf and (depth > DEEPEST or uses[id(node)] > 1)', 'node is not root and not is_leaf and uses[id(node)] > 1')
    ("safety", 'is_risky = isinstance(last, Const) and last.dtype is not DType.F32 and not 0 < last.value < 32', 'is_risky = isinstance(last, Const) and last.dtype is not DType.F32 and not 0 < last.value < 33')
    ("safety", 'return self._hoist("index", text) if is_outside else text', 'return text')
    ("index", '.{\'xyzw\'[node.index]}"', '.{\'xyzw\'[node.index % 2]}"')
    ("operator", '_BIT_SYMBOLS = {"and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}', '_BIT_SYMBOLS = {"and": "&", "or": "^", "xor": "^", "shl": "<<", "shr": ">>"}')
    ("condition", 'key = node.operands[1].dtype if row.rule == "where" else node.operands[0].dtype', 'key = node.operands[0].dtype')
)  # fmt: skip

(
    EMISSION.file("tilec/wgsl/guarded.py", "tests/wgsl/test_guarded.py")
    ("safety", 'node = self._lets[node.number]', 'break')
    ("safety", 'return _Form.SUM if node.number in self._variables else _Form.OTHER', 'return _Form.OTHER')
    ("condition", 'return forms[0]\n        return', 'pass\n        return')
    ("bound", 'abs(exponent) > _LARGE_EXPONENT', 'abs(exponent) > 128')
    ("safety", 'if literal == 0.0:\n        return True', 'if False:\n        return True')
    ("safety", 'if term.op != "mul" or not _is_exact_factor(float(each.value)):', 'if term.op != "mul":')
)  # fmt: skip

(
    EMISSION.file("tilec/wgsl/literals.py", "tests/wgsl/test_layout.py", "tests/wgsl/test_emit.py")
    ("rounding", 'for digits in range(1, 10):', 'for digits in range(1, 7):',
     "only text: what needs more digits is written as a hexadecimal literal, as exactly")
    ("rounding", 'if f32_bits(float(text)) == bits and abs(float(text)) <= _LARGEST:', 'if abs(float(text) - value) <= 1e-6 * abs(value) and abs(float(text)) <= _LARGEST:')
    ("safety", 'if f32_bits(float(text)) == bits and abs(float(text)) <= _LARGEST:', 'if f32_bits(float(text)) == bits:')
    ("bound", 'return f32_bits(float(value)) == 0 or 0 < exponent < 255', 'return f32_bits(float(value)) == 0 or 0 <= exponent < 255')
    ("bound", 'return f32_bits(float(value)) == 0 or 0 < exponent < 255', 'return f32_bits(float(value)) == 0 or 0 < exponent <= 255')
    ("bound", 'return str((int(value) + 2**31) % 2**32 - 2**31)', 'return str(int(value))')
    ("bound", 'return f"{int(value) & 0xFFFFFFFF}u"', 'return f"{int(value)}u"')
)  # fmt: skip

(
    EMISSION.file("tilec/wgsl/layout.py", "tests/wgsl/test_layout.py")
    ("index", 'first = 1 if program.uniforms else 0', 'first = 1')
    ("index", 'return tuple(4 * place for place in range(len(program.uniforms)))', 'return tuple(4 * place for place in reversed(range(len(program.uniforms))))')
    ("order", 'words = [_word(field, values, scalars) for field in program.uniforms]', 'words = [_word(field, values, scalars) for field in sorted(program.uniforms, key=lambda one: one.name)]')
    ("bound", 'return -(-4 * len(program.uniforms) // 16) * 16', 'return 4 * len(program.uniforms)')
    ("bound", 'rows = -(-workgroups // MOST_WORKGROUPS_AN_AXIS)', 'rows = workgroups // MOST_WORKGROUPS_AN_AXIS')
    ("bound", 'return -(-workgroups // rows), rows, 1', 'return workgroups // rows, rows, 1')
    ("bound", 'return count is None or count > MOST_WORKGROUPS_AN_AXIS', 'return count is not None and count > MOST_WORKGROUPS_AN_AXIS')
    ("safety", 'writable = buffer.writable or (known is not None and known.kind == "read_write")', 'writable = buffer.writable')
    ("index", 'number = first + len(found) if known is None else known.number', 'number = first + len(found)')
    ("bound", 'int(number) & 0xFFFFFFFF\n', 'int(number)\n')
    ("condition", 'return f32_bits(float(number))', 'return int(number)')
)  # fmt: skip

(
    EMISSION.file("tilec/wgsl/emit.py", "tests/loop/test_shuffles.py::test_the_text_enables_subgroups_where_it_uses_them",
                  "tests/wgsl/test_emit.py", "tests/wgsl/test_layout.py", "tests/loop/test_shuffles.py")
    ("index", 'writer.line(f"let {self._workgroup} = {group}.x + {group}.y * {groups}.x;")', 'writer.line(f"let {self._workgroup} = {group}.x + {group}.y * {groups}.y;")')
    ("mask", 'writer.open(f"if ({self._workgroup} < {count}) {{")', 'writer.open(f"if ({self._workgroup} <= {count}) {{")')
    ("barrier", 'self._writer.line("workgroupBarrier();")', 'pass')
    ("barrier", 'if statement.storage:\n                    self._writer.line("storageBarrier();")', 'pass')
    ("safety", 'return text if is_fixed else self._hoist(hint, text)', 'return text')
    ("operator", 'condition = f"{index} < {stop}"', 'condition = f"{index} <= {stop}"')
    ("operator", '& !{self._locals[statement.until.number]}"', '& {self._locals[statement.until.number]}"')
    ("bound", '{rounds} < {statement.bound}u; {rounds} += 1u', '{rounds} <= {statement.bound}u; {rounds} += 1u')
    ("precedence", 'if (!{self._printer.operand(statement.condition, Level.UNARY)}) {{', 'if (!{self._printer.operand(statement.condition, Level.BITS_XOR)}) {{')
    ("condition", 'self._module.uses_subgroups |= isinstance(statement.value, Shuffle | SubgroupReduce)', 'pass')
    ("condition", 'isinstance(statement.value, Shuffle | SubgroupReduce)', 'isinstance(statement.value, Shuffle)')
    ("condition", 'access = "read_write" if writable else "read"', 'access = "read_write"')
    ("condition", 'stored = DType.U32 if one.dtype is DType.BOOL else one.dtype', 'stored = one.dtype')
)  # fmt: skip

(
    EMISSION.file("tilec/wgsl/helpers_numbers.py",
                  "tests/wgsl/test_emit.py::test_remainders_of_signed_integers_are_not_left_to_the_driver",
                  "tests/ops/test_on_devices.py::test_special_values_are_numpys",
                  "tests/ops/test_on_devices.py")
    ("bound", '(bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;', '(bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u;')
    ("bound", '(bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;', '(bitcast<u32>(x) & 0x7fffffffu) <= 0x7f800000u;')
    ("mask", '(bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;', 'bitcast<u32>(x) == 0x7f800000u;')
    ("constant", 'select(bits, -2147483648 - bits, bits < 0)', 'select(bits, -2147483647 - bits, bits < 0)')
    ("condition", 'return (order_key(x) == order_key(y)) & !isnan_f32(x);', 'return order_key(x) == order_key(y);')
    ("condition", 'return (order_key(x) != order_key(y)) | isnan_f32(x);', 'return order_key(x) != order_key(y);')
    ("condition", 'return (order_key(x) > order_key(y)) & !either_nan(x, y);', 'return order_key(x) > order_key(y);')
    ("operator", 'return (order_key(x) <= order_key(y)) & !either_nan(x, y);', 'return (order_key(x) < order_key(y)) & !either_nan(x, y);')
    ("condition", 'select(select(max(x, y), y, isnan_f32(y)), x, isnan_f32(x))', 'select(max(x, y), x, isnan_f32(x))')
    ("order", 'return min_f32(max_f32(x, low), high);', 'return max_f32(min_f32(x, high), low);')
    ("operator", 'return select(x - y * (x / y), 0, y == 0);', 'return select(x % y, 0, y == 0);')
    ("condition", 'return select(x - y * (x / y), 0, y == 0);', 'return x - y * (x / y);')
    ("condition", '((x < 0) == (y < 0))', '((x < 0) != (y < 0))')
    ("bound", 'select(inside, 2147483647, x >= 2147483648.0)', 'select(inside, 2147483520, x >= 2147483648.0)')
    ("bound", 'u32(clamp(x, 0.0, 4294967040.0))', 'u32(clamp(x, 0.0, 2147483520.0))')
    ("condition", 'return select(sign, x, isnan_f32(x));', 'return sign;')
    ("bound", 'if (dividend >= 0x7f800000u || divisor > 0x7f800000u || divisor == 0u) {', 'if (dividend >= 0x7f800000u || divisor >= 0x7f800000u || divisor == 0u) {')
)  # fmt: skip

(
    EMISSION.file("tilec/wgsl/helpers_packing.py",
                  "tests/ops/test_on_devices.py::test_two_numbers_are_rounded_into_their_halves",
                  "tests/ops/test_on_devices.py::test_of_two_halves_the_high_one_is_widened",
                  "tests/ops/test_on_devices.py::test_every_midpoint_is_rounded_to_even_and_widened",
                  "tests/wgsl/test_emit.py", "tests/ops/test_on_devices.py")
    ("rounding", 'sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13u) & 1u)) >> 13u)', 'sign | ((magnitude - 0x38000000u + 0x1000u) >> 13u)')
    ("bound", '  if (magnitude >= 0x477ff000u) {\n    return sign | 0x7c00u;', '  if (magnitude >= 0x47800000u) {\n    return sign | 0x7c00u;',
     "the same program: what lies between rounds to 0x7c00 by itself, the carry runs into the exponent")
    ("bound", '  if (magnitude >= 0x477ff000u) {\n    return sign | 0x7c00u;', '  if (magnitude >= 0x477fe001u) {\n    return sign | 0x7c00u;')
    ("bound", '  if (magnitude > 0x7f800000u) {\n    return sign | 0x7e00u;\n  }\n', '')
    ("rounding", 'return sign | ((digits + (1u << (shift - 1u)) - 1u + ((digits >> shift) & 1u)) >> shift);', 'return sign | ((digits + (1u << (shift - 1u))) >> shift);')
    ("bound", 'select(normal, subnormal, magnitude < 0x400u)', 'select(normal, subnormal, magnitude <= 0x400u)',
     "the same program: both forms give 2^-14 for 0x400")
    ("bound", 'select(normal, subnormal, magnitude < 0x400u)', 'select(normal, subnormal, magnitude < 0x200u)')
    ("order", 'return f32_to_f16(low) | (f32_to_f16(high) << 16u);', 'return f32_to_f16(high) | (f32_to_f16(low) << 16u);')
    ("rounding", 'let rounded = bits + 0x7fffu + ((bits >> 16u) & 1u);', 'let rounded = bits + 0x8000u;')
    ("rounding", 'bitcast<f32>(sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u)) & 0xffffe000u))', 'bitcast<f32>(sign | ((magnitude + 0x1000u) & 0xffffe000u))')
    ("mask", '(nearest_bf16(low) >> 16u) | (nearest_bf16(high) & 0xffff0000u)', '(nearest_bf16(low) >> 16u) | nearest_bf16(high)')
    ("rounding", 'let rounded = bits + 0x7fffu + ((bits >> vec2<u32>(16u)) & vec2<u32>(1u));', 'let rounded = bits + 0x8000u;')
    ("mask", 'return (rounded.x >> 16u) | (rounded.y & 0xffff0000u);', 'return (rounded.x >> 16u) | rounded.y;')
    ("condition", 'select(rounded, bits | 0x400000u, (bits & 0x7fffffffu) > 0x7f800000u)', 'rounded')
    ("mask", 'return bitcast<f32>(word & 0xffff0000u);', 'return bitcast<f32>(word);')
    ("condition", 'small, sign == (small >> 31u))', 'small, sign == 0)')
)  # fmt: skip

(
    EMISSION.file("tilec/wgsl/helpers_functions.py",
                  "tests/ops/test_on_devices.py::test_expm1_of_the_least_normal_numbers_is_the_number",
                  "tests/ops/test_on_devices.py::test_logarithms_of_subnormal_numbers_are_right_or_those_of_0",
                  "tests/ops/test_on_devices.py")
    ("bound", 'let inside = select(exp(clamp(x, -104.0, 88.7228)), f32_from_bits(0x7f800000u), x > 88.72284);\n', 'let inside = exp(clamp(x, -104.0, 88.7228));\n')
    ("bound", 'exp(clamp(x, -104.0, 88.7228))', 'exp(clamp(x, -80.0, 88.7228))')
    ("condition", 'select(select(inside, q, n == 0.0), x, isnan_f32(x))', 'select(inside, x, isnan_f32(x))')
    ("constant", '0.69314718246 + r * (0.24022647738', '0.69314718246 + r * (0.24022')
    ("bound", 'if (bits < 0x800000u) {', 'if (bits < 0x400000u) {')
    ("condition", 'result = f32_from_bits(0xff800000u);', 'result = f32_from_bits(0x7f800000u);')
    ("condition", 'return select(high, sum, isfinite_f32(high));', 'return sum;')
    ("condition", 'let is_near = (x > -0.29) & (x < 0.41);', 'let is_near = (x > -0.29) & (x < 0.0);')
    ("condition", 'select(result, -result, is_odd)', 'result')
    ("condition", '(bitcast<u32>(x) == 0x3f800000u) | ((bitcast<u32>(y) & 0x7fffffffu) == 0u)', '(bitcast<u32>(y) & 0x7fffffffu) == 0u')
    ("bound", 'expm1_f32(-2.0 * min(abs(x), 20.0))', 'expm1_f32(-2.0 * min(abs(x), 2.0))')
    ("condition", 'select(1.0, e, x < 0.0) / (1.0 + e)', '1.0 / (1.0 + e)')
    ("bound", 'let result = select(far, near, size < 1.0);', 'let result = select(far, near, size < 2.0);')
    ("condition", 'return select(value, -value, (q & 2) == 2);', 'return value;')
    ("condition", 'sine_of(i32(turns.x) + 1, turns.y)', 'sine_of(i32(turns.x) - 1, turns.y)')
    ("constant", 'let place = min((bits >> 23u) - 120u, 140u);', 'let place = min((bits >> 23u) - 121u, 140u);')
)  # fmt: skip
