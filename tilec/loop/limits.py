"""Limits of a device that a lowered program may exceed."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.loop.ir import Declare, If, Loop, Program, Statement, While
from tilec.tile.ir import Kernel, TensorParameter

LONGEST_TEXT = 1 << 20
"""Characters of the WGSL of a kernel."""
PRIVATE_BYTES = 8192
"""What WGSL guarantees for the variables of one function."""


def check_limits(program: Program, kernel: Kernel, storage_buffers: int, reporter: Reporter) -> None:
    """Reports a dispatch that binds more than `storage_buffers` storage buffers, and one with too many variables."""
    _check_private_memory(program, kernel, reporter)
    most = max(program.dispatches, key=lambda dispatch: len(dispatch.buffers), default=None)
    if most is None or len(most.buffers) <= storage_buffers:
        return
    tensors = sum(buffer.tensor is not None for buffer in most.buffers)
    scratch = " and scratch memory" if tensors < len(most.buffers) else ""
    reporter.error(
        catalog.TOO_MANY_BUFFERS,
        kernel.span,
        name=kernel.name,
        given=len(most.buffers),
        limit=storage_buffers,
        count=tensors,
        scratch=scratch,
        merge=_mergeable(kernel, {buffer.tensor for buffer in most.buffers}),
    )


def _mergeable(kernel: Kernel, bound: set[str | None]) -> str:
    """The most tensors of one type, shape and use among those bound, in words; else just `tensors`."""
    groups: dict[object, list[TensorParameter]] = {}
    for tensor in kernel.tensors:
        if tensor.name in bound:
            groups.setdefault((tensor.dtype, tensor.dims, tensor.access), []).append(tensor)
    most = max(groups.values(), key=len)
    if len(most) < 2:
        return "tensors"
    names = [tensor.name for tensor in most]
    dims = ", ".join(map(str, (len(names), *most[0].dims)))
    return f"{', '.join(names[:-1])} and {names[-1]}, all {most[0].dtype}, into one tensor of [{dims}]"


def _check_private_memory(program: Program, kernel: Kernel, reporter: Reporter) -> None:
    """Reports the dispatch that declares the most variables, if they take more than `PRIVATE_BYTES`."""
    given = max((_private_bytes(dispatch.body) for dispatch in program.dispatches), default=0)
    if given > PRIVATE_BYTES:
        given, limit = f"{given:,}", f"{PRIVATE_BYTES:,}"
        reporter.error(catalog.PRIVATE_MEMORY, kernel.span, name=kernel.name, given=given, limit=limit)


def _private_bytes(body: tuple[Statement, ...]) -> int:
    """The bytes of the variables that are in scope together, where they are most."""
    own, inner = 0, 0
    for statement in body:
        match statement:
            case Declare():
                own += 4 * statement.local.width
            case If():
                inner = max(inner, _private_bytes(statement.then), _private_bytes(statement.otherwise))
            case Loop():
                inner = max(inner, _private_bytes(statement.body))
            case While():
                inner = max(inner, _private_bytes(statement.prelude), _private_bytes(statement.body))
    return own + inner
