"""The printed tree."""

from tests.syntax.helpers import KERNEL, parse_clean
from tilec.syntax.print import print_ast


def test_small() -> None:
    assert print_ast(parse_clean("const A = -f(1, b: 2.0)")).splitlines() == [
        "File",
        "  items: 1",
        "    Const",
        "      name: Name name='A'",
        "      value: Unary op='-'",
        "        operand: Call function='f'",
        "          arguments: 2",
        "            Argument",
        "              value: Number value=1",
        "            Argument name='b'",
        "              value: Number value=2.0",
    ]


def test_every_line_of_a_kernel_is_there() -> None:
    text = print_ast(parse_clean(KERNEL))
    for word in (
        "KernelAttribute",
        "TypeParameter",
        "is_const=True",
        "NewAxis",
        "While",
        "Break",
        "value='lib/more.ph'",
    ):
        assert word in text
