"""What is the same for all threads of a workgroup, as far as a WGSL compiler can see it.

WGSL refuses barriers where it cannot prove that all threads of a workgroup arrive. Uniform are constants, uniform
fields, the workgroup's number, `workgroupUniformLoad`, reads of read-only buffers at uniform indices, and what is
computed from those; a variable if every assignment to it is uniform and stands in uniform control flow.
"""

from __future__ import annotations

from collections.abc import Iterable

from tilec.loop import ir


class Uniformity:
    """The locals of one dispatch that may differ between threads."""

    def __init__(self, dispatch: ir.Dispatch) -> None:
        self._varying: set[int] = set()
        before = -1
        while len(self._varying) > before:  # a variable assigned in a loop varies before its assignment too
            before = len(self._varying)
            self._block(dispatch.body, True)

    def of(self, expression: ir.Expr) -> bool:
        """Whether the expression's value is the same for all threads."""
        match expression:
            case ir.Const() | ir.Uniform() | ir.UniformLoad():
                return True
            case ir.Local(number=number):
                return number not in self._varying
            case ir.Builtin(name):
                return name == "workgroup"
            case ir.Load(buffer, index):
                return not buffer.writable and self.of(index)
            case ir.SharedLoad():
                return False
            case ir.Component(vector):
                return self.of(vector)
            case ir.Op() | ir.Bits():
                return all(map(self.of, expression.operands))
            case ir.Select(condition, chosen, other):
                return all(map(self.of, (condition, chosen, other)))
            case ir.Vector(components):
                return all(map(self.of, components))
        return False

    def of_loop(self, loop: ir.Loop) -> bool:
        """Whether all threads make the same rounds."""
        parts = [loop.start, loop.stop, loop.step]
        if loop.until is not None:
            parts.append(loop.until)
        return all(map(self.of, parts))

    def _block(self, body: Iterable[ir.Statement], is_uniform: bool) -> None:
        for statement in body:
            match statement:
                case ir.Let(local, value) | ir.Declare(local, value):
                    self._give(local, self.of(value))
                case ir.Assign(local, value):
                    self._give(local, is_uniform and self.of(value))
                case ir.If(condition, then, otherwise):
                    inner = is_uniform and self.of(condition)
                    self._block(then, inner)
                    self._block(otherwise, inner)
                case ir.Loop():
                    inner = is_uniform and self.of_loop(statement)
                    self._give(statement.index, inner)
                    self._block(statement.body, inner)
                case ir.While():
                    inner = is_uniform and self.of(statement.condition)
                    self._block(statement.prelude, inner)
                    self._block(statement.body, inner)

    def _give(self, local: ir.Local, is_uniform: bool) -> None:
        if not is_uniform:
            self._varying.add(local.number)
