"""Where a program's data lies: bindings, the uniform block, the fold of workgroups into two axes."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tilec.loop.ir import Dispatch, If, Loop, Program, Statement, UniformField, While
from tilec.types import DType
from tilec.wgsl.literals import f32_bits

MOST_WORKGROUPS_AN_AXIS = 65_535


@dataclass(frozen=True, slots=True)
class Binding:
    """One binding of group 0. `kind` is uniform, read or read_write; `tensor` is None for the uniforms and scratch."""

    number: int
    name: str
    kind: str
    tensor: str | None


def bindings(program: Program) -> tuple[Binding, ...]:
    """All bindings: the uniform block as number 0 if there are fields, then the buffers of all dispatches, once each, a
    debug build's log last.

    A buffer is read_write here if any dispatch writes it.
    """
    found: dict[str, Binding] = {}
    first = 1 if program.uniforms else 0
    buffers = [buffer for dispatch in program.dispatches for buffer in dispatch.buffers]
    for is_log in (False, True):
        for buffer in buffers:
            if buffer.is_log is not is_log:
                continue
            known = found.get(buffer.name)
            writable = buffer.writable or (known is not None and known.kind == "read_write")
            number = first + len(found) if known is None else known.number
            found[buffer.name] = Binding(number, buffer.name, "read_write" if writable else "read", buffer.tensor)
    block = (Binding(0, "params", "uniform", None),) if program.uniforms else ()
    return block + tuple(found.values())


def dispatch_bindings(program: Program, dispatch: Dispatch) -> tuple[Binding, ...]:
    """Those of `bindings` that one dispatch has, by number: the uniform block and the buffers that it touches.

    Here `kind` is what this dispatch does: it may only read what another one writes.
    """
    touched = {buffer.name: "read_write" if buffer.writable else "read" for buffer in dispatch.buffers}
    return tuple(
        binding if binding.kind == "uniform" else replace(binding, kind=touched[binding.name])
        for binding in bindings(program)
        if binding.kind == "uniform" or binding.name in touched
    )


def uniform_offsets(program: Program) -> tuple[int, ...]:
    """Byte offset of each field of the uniform block, in the fields' order: names may be the same, as those of one
    size in two types are."""
    return tuple(4 * place for place in range(len(program.uniforms)))


def uniform_size(program: Program) -> int:
    """Bytes of the uniform block: a multiple of 16, 0 if there is none."""
    return -(-4 * len(program.uniforms) // 16) * 16


def pack_uniforms(program: Program, values: Mapping[str, int], scalars: Mapping[str, bool | int | float]) -> bytes:
    """The bytes of the uniform block. `values` holds dims and i32 scalars by name, `scalars` the scalar parameters.

    Integers beyond 32 bits wrap, as the shader's arithmetic does.
    """
    words = [_word(field, values, scalars) for field in program.uniforms]
    return struct.pack(f"<{len(words)}I", *words).ljust(uniform_size(program), b"\0")


def _word(field: UniformField, values: Mapping[str, int], scalars: Mapping[str, bool | int | float]) -> int:
    if field.extent is not None:
        number: bool | int | float = field.extent.evaluate(values)
    else:
        assert field.scalar is not None
        number = scalars[field.scalar]
    if field.dtype is DType.F32:
        return f32_bits(float(number))
    return int(bool(number)) if field.dtype is DType.BOOL else int(number) & 0xFFFFFFFF


def fold(workgroups: int) -> tuple[int, int, int]:
    """The dispatch size for that many workgroups: more than 65,535 make rows of equal length along y."""
    if workgroups <= MOST_WORKGROUPS_AN_AXIS:
        return workgroups, 1, 1
    rows = -(-workgroups // MOST_WORKGROUPS_AN_AXIS)
    return -(-workgroups // rows), rows, 1


def may_fold(dispatch: Dispatch) -> bool:
    """Whether the dispatch may have more workgroups than an axis holds, as far as compilation knows."""
    count = dispatch.workgroups.constant
    return count is None or count > MOST_WORKGROUPS_AN_AXIS


DEEPEST_NESTING = 60
"""Statements may be nested so deep in a dispatch: Tint refuses a shader with more than 62 levels."""


def deepest_nesting(program: Program) -> int:
    """How deep statements are nested in the dispatch that nests them most."""
    deepest = 0
    blocks: list[tuple[int, tuple[Statement, ...]]] = [(1, dispatch.body) for dispatch in program.dispatches]
    while blocks:
        depth, block = blocks.pop()
        deepest = max(deepest, depth)
        for statement in block:
            match statement:
                case If():
                    blocks += [(depth + 1, statement.then), (depth + 1, statement.otherwise)]
                case Loop():
                    blocks.append((depth + 1, statement.body))
                case While():
                    blocks += [(depth + 1, statement.prelude), (depth + 1, statement.body)]
    return deepest
