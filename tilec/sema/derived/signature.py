"""What a derived kernel takes and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tilec.diag.report import suggest
from tilec.errors import ArrayError
from tilec.sema.program import Derivation, KernelSignature, ParameterSignature, Program
from tilec.types import DType

UPSTREAM = ("tensor", "scalar")
"""How the weights of the losses are given: one an element of the loss, or one for all."""


def derive_program(
    program: Program, kernel: str, wrt: Sequence[str], loss: str, *, in_place: bool, upstream: str
) -> tuple[Program, KernelSignature]:
    """The program with one more kernel, the gradient kernel of `kernel`, and its signature.

    Raises ArrayError for names that are no float tensors of the kernel.
    """
    forward = program.kernels[kernel]
    if upstream not in UPSTREAM:
        raise ArrayError(f'{kernel}: upstream is "tensor", "scalar" or a number, not {upstream!r}')
    if not wrt:
        raise ArrayError(f"{kernel}: wrt names no tensor")
    for name in (*wrt, loss):
        _check_tensor(forward, name)
    for name in wrt:
        if name == loss:
            raise ArrayError(f"{kernel}: {name} cannot be both wrt and the loss")
        if list(wrt).count(name) > 1:
            raise ArrayError(f"{kernel}: wrt names {name} twice")
    signature = _derived(forward, tuple(wrt), loss, in_place, upstream, program.kernels)
    kernels = {**program.kernels, signature.name: signature}
    return replace(program, kernels=kernels), signature


def _check_tensor(forward: KernelSignature, name: str) -> None:
    parameter = forward.parameter(name)
    tensors = [
        one.name
        for one in forward.parameters
        if one.kind == "tensor" and all(dtype.is_float for dtype in one.alternatives)
    ]
    if parameter is None:
        near = suggest(name, tensors)
        hint = f"did you mean {near}?" if near else f"there is {', '.join(tensors)}"
        raise ArrayError(f"{forward.name}: no tensor is called {name!r}; {hint}")
    if parameter.kind != "tensor":
        raise ArrayError(f"{forward.name}: {name} is a scalar; gradients are taken with respect to tensors")
    if not all(dtype.is_float for dtype in parameter.alternatives):
        types = "|".join(map(str, parameter.alternatives))
        raise ArrayError(f"{forward.name}: {name} is a tensor of {types}, and only floats have gradients")


def _derived(
    forward: KernelSignature,
    wrt: tuple[str, ...],
    loss: str,
    in_place: bool,
    upstream: str,
    kernels: Mapping[str, KernelSignature],
) -> KernelSignature:
    taken = {parameter.name for parameter in forward.parameters} | set(forward.dims) | set(forward.type_variables)

    def fresh(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    weights = fresh(f"D{loss}")
    outputs = {} if in_place else {name: fresh(f"D{name}") for name in wrt}
    variables = dict(forward.type_variables)
    same_type: dict[str, str] = {}
    for name in wrt:
        parameter = forward.parameter(name)
        assert parameter is not None
        if not in_place and len(parameter.alternatives) > 1 and parameter.type_variable is None:
            # The gradient has the storage type of what it is the gradient of.
            same_type[name] = fresh(f"T_{name}")
            variables[same_type[name]] = parameter.alternatives
    parameters: list[ParameterSignature] = []
    for parameter in forward.parameters:
        own = parameter
        if parameter.name in same_type:
            own = replace(parameter, type_variable=same_type[parameter.name])
        parameters.append(own)
        if parameter.name == loss:
            parameters.append(_weights(parameter, weights, upstream))
    for name, output in outputs.items():
        source = next(parameter for parameter in parameters if parameter.name == name)
        parameters.append(replace(source, name=output, doc=f"The gradient with respect to `{name}`."))
    name = f"{forward.name}_grad"
    while name in kernels:
        name += "_"
    derivation = Derivation(forward.name, wrt, loss, in_place, upstream, weights, outputs, same_type)
    return replace(
        forward, name=name, parameters=tuple(parameters), type_variables=variables, derivation=derivation,
        doc=_doc(forward, derivation),
    )  # fmt: skip


def _weights(loss: ParameterSignature, name: str, upstream: str) -> ParameterSignature:
    if upstream == "scalar":
        doc = f"The weight of every element of `{loss.name}` in the sum that is differentiated."
        return ParameterSignature(name, "scalar", (DType.F32,), None, (), 1.0, False, doc, loss.span)
    doc = f"The weight of each element of `{loss.name}` in the sum that is differentiated: the upstream gradient."
    return ParameterSignature(name, "tensor", (DType.F32,), None, loss.dims, None, False, doc, loss.span)


def _doc(forward: KernelSignature, derivation: Derivation) -> str:
    names = " and ".join(f"`{name}`" for name in derivation.wrt)
    where = "in place" if derivation.in_place else "as " + " and ".join(f"`{n}`" for n in derivation.outputs.values())
    first = f"The kernel `{forward.name}`, and the gradient of the sum of `{derivation.weights}` times "
    first += f"`{derivation.loss}` with respect to {names}, {where}."
    return f"{first}\n\n{forward.doc}" if forward.doc else first
