"""Kernels as differentiable functions of PyTorch tensors in CPU memory: `tilec.torch.function`.

The only place of tilec that imports torch. Install it with `pip install "tilec[torch]"`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

try:
    import torch
except ImportError as error:
    raise ImportError('tilec.torch needs PyTorch: pip install "tilec[torch]"') from error

from tilec.diag.report import suggest
from tilec.errors import ArrayError, CompileError
from tilec.runtime.arrays import DeviceArray
from tilec.runtime.compute import Device
from tilec.runtime.kernel import Kernel
from tilec.sema.program import ParameterSignature

__all__ = ["Function", "function"]

_REDUCTIONS = ("none", "sum", "mean")
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def function(
    kernel: Kernel,
    loss: str | None = None,
    wrt: str | Sequence[str] | None = None,
    *,
    reduction: str = "none",
    ignore_index: int | None = None,
    target: str | None = None,
    device: Device | str | int | None = None,
) -> Function:
    """A kernel that computes losses as a function that autograd differentiates.

    It is called with the kernel's inputs and scalars, by position or name, float tensors in float32, float16 or
    bfloat16, and gives the tensor `loss` (the only float output, if none is named), in its own shape, or reduced:

    - "none": as it is;
    - "sum": the sum of its elements;
    - "mean": their mean; with `ignore_index` over the elements whose class is another, and NaN if there is none.

    `wrt` are the tensors that gradients flow to, by default all float inputs. Elements whose class in the tensor
    `target` (the only integer input, by default) is `ignore_index` count 0 and send exactly no gradient, whatever else
    their rows hold. A kernel that has a scalar `ignore_index` is given it, and its value serves if none is said here.
    `device` is that of a call. The backward pass runs `kernel.grad(wrt, loss)`, which computes the loss once more, with
    the upstream gradient as weights. Raises ArrayError for names that do not fit and for tensors of other devices or
    types, CompileError where there is no gradient.
    """
    return Function(kernel, loss, wrt, reduction, ignore_index, target, device)


class Function:
    """What `function` gives. `loss`, `wrt` and `reduction` are what it was made with."""

    def __init__(
        self,
        kernel: Kernel,
        loss: str | None,
        wrt: str | Sequence[str] | None,
        reduction: str,
        ignore_index: int | None,
        target: str | None,
        device: Device | str | int | None,
    ) -> None:
        if reduction not in _REDUCTIONS:
            raise ArrayError(f"{kernel.name}: reduction is one of {', '.join(_REDUCTIONS)}, not {reduction!r}")
        self.kernel, self.reduction, self.device = kernel, reduction, device
        tensors = kernel._variants({}).kernel.tensors
        self._inputs = [tensor.name for tensor in tensors if tensor.access == "in"]
        updated = [tensor.name for tensor in tensors if tensor.access == "inout"]
        if updated:
            raise ArrayError(f"{kernel.name} updates {updated[0]}: only a kernel that leaves its inputs is a function")
        self.loss = loss if loss is not None else self._only_loss()
        self.wrt = self._floats() if wrt is None else (wrt,) if isinstance(wrt, str) else tuple(wrt)
        self._check_gradients()
        self._ignore_index = ignore_index
        self._has_parameter = kernel.signature.parameter("ignore_index") is not None
        self._target = target
        if target is not None or ignore_index is not None or self._has_parameter:
            self._target = self._target_name(target, is_needed=ignore_index is not None)

    def __repr__(self) -> str:
        return f"<tilec.torch.Function {self.loss} of {self.kernel.name} by {', '.join(self.wrt)}, {self.reduction}>"

    # --- names ---------------------------------------------------------------------------------------------------

    def _float_outputs(self) -> list[str]:
        return [t.name for t in self.kernel._variants({}).kernel.tensors if t.access == "out" and t.dtype.is_float]

    def _only_loss(self) -> str:
        outputs = self._float_outputs()
        if len(outputs) != 1:
            what = f"it writes {', '.join(outputs)}" if outputs else "it writes no float tensor"
            raise ArrayError(f"{self.kernel.name}: which tensor is the loss? {what}: say it with loss=")
        return outputs[0]

    def _parameters(self) -> Mapping[str, ParameterSignature]:
        return {parameter.name: parameter for parameter in self.kernel.signature.parameters}

    def _floats(self) -> tuple[str, ...]:
        parameters = self._parameters()
        return tuple(n for n in self._inputs if all(dtype.is_float for dtype in parameters[n].alternatives))

    def _target_name(self, given: str | None, *, is_needed: bool) -> str | None:
        parameters = self._parameters()
        integers = [n for n in self._inputs if not any(dtype.is_float for dtype in parameters[n].alternatives)]
        if given is not None:
            if given in integers:
                return given
            near = suggest(given, integers)
            hint = f"did you mean {near}?" if near else f"there is {', '.join(integers) or 'none'}"
            raise ArrayError(f"{self.kernel.name}: no integer input is called {given!r}; {hint}")
        if len(integers) == 1:
            return integers[0]
        if not is_needed:
            return None
        what = f"there are {', '.join(integers)}" if integers else "there is no integer input"
        raise ArrayError(f"{self.kernel.name}: which tensor holds the classes? {what}: say it with target=")

    def _check_gradients(self) -> None:
        """Raises CompileError where one of `wrt` has no gradient, with the call for those that have."""
        try:
            self.gradient(self.wrt)
        except CompileError as error:
            found = [name for name in self._floats() if self._has_gradient(name)]
            if not found:
                raise
            names = f'"{found[0]}"' if len(found) == 1 else f"""({", ".join(f'"{name}"' for name in found)})"""
            without = ", ".join(name for name in self.wrt if name not in found)
            loss = f', "{self.loss}"' if len(self._float_outputs()) > 1 else ""
            advice = (
                f"{self.kernel.name}: there are gradients with respect to {' and '.join(found)}, not to {without}: "
                f"tilec.torch.function({self.kernel.name}{loss}, wrt={names})"
            )
            raise CompileError([str(error), advice]) from None

    def _has_gradient(self, name: str) -> bool:
        try:
            self.gradient([name])
        except CompileError:
            return False
        return True

    def gradient(self, wrt: Sequence[str]) -> Kernel:
        """The kernel that the backward pass runs for the tensors `wrt`."""
        return self.kernel.grad(tuple(wrt), self.loss)

    # --- calling -------------------------------------------------------------------------------------------------

    def __call__(self, *positional: Any, **named: Any) -> torch.Tensor:
        """The loss. Arguments as in a call of the kernel."""
        from tilec.runtime.call import assign

        values = assign(self.kernel, positional, named)
        if self._ignore_index is not None and self._has_parameter and "ignore_index" not in self.kernel.constants:
            values.setdefault("ignore_index", self._ignore_index)
        for name, value in values.items():
            if isinstance(value, DeviceArray):
                raise ArrayError(f"{self.kernel.name}: {name} is a device array: pass a tensor or {name}.numpy()")
            if isinstance(value, torch.Tensor):
                self._check(name, value)
        tensors = {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}
        others = {name: value for name, value in values.items() if name not in tensors}
        ignored = self._ignored(values)
        losses = _Launch.apply(self, others, tuple(tensors), ignored, *tensors.values())
        return self._reduced(losses, ignored)

    def _check(self, name: str, value: torch.Tensor) -> None:
        kernel = self.kernel.name
        if value.device.type != "cpu":
            raise ArrayError(f"{kernel}: {name} is on {value.device}, and tilec.torch takes CPU tensors: {name}.cpu()")
        if value.layout is not torch.strided:
            raise ArrayError(f"{kernel}: {name} is a tensor of layout {value.layout}: pass {name}.to_dense()")
        if not value.requires_grad or not torch.is_grad_enabled():
            return
        if name not in self.wrt:
            raise ArrayError(
                f"{kernel}: {name} requires a gradient, and this function has gradients with respect to "
                f"{', '.join(self.wrt)}: name it in wrt, or pass {name}.detach()"
            )
        if value.dtype not in _FLOATS:
            raise ArrayError(
                f"{kernel}: {name} is {value.dtype}, and gradients are computed in float32, float16 or bfloat16: "
                f"{name}.float()"
            )

    def _ignored(self, values: Mapping[str, Any]) -> torch.Tensor | None:
        """Where the class is the one to ignore, in the shape of the targets."""
        name = self._target
        if name is None or name not in values:
            return None
        index = self._ignore_index
        if index is None and self._has_parameter:
            parameter = self._parameters()["ignore_index"]
            index = values.get("ignore_index", self.kernel.constants.get("ignore_index", parameter.default))
        if index is None:
            return None
        return torch.as_tensor(values[name]) == int(index)

    def _reduced(self, losses: torch.Tensor, ignored: torch.Tensor | None) -> torch.Tensor:
        if ignored is not None:
            if ignored.numel() != losses.numel():
                raise ArrayError(
                    f"{self.kernel.name}: ignore_index needs one loss a class, and {self._target} of shape "
                    f"{tuple(ignored.shape)} has {ignored.numel()} where {self.loss} has {losses.numel()}"
                )
            # The untaken side gets exactly no gradient from `where`, and so does the kernel, as its weight.
            losses = torch.where(ignored.reshape(losses.shape), torch.zeros((), dtype=losses.dtype), losses)
        if self.reduction == "none":
            return losses
        total = losses.sum()
        if self.reduction == "sum":
            return total
        count = losses.numel() if ignored is None else int((~ignored).sum())
        return total / count


class _Launch(torch.autograd.Function):
    """The kernel itself: the losses in the kernel's shape."""

    @staticmethod
    def forward(
        ctx: Any,
        owner: Function,
        others: Mapping[str, Any],
        names: tuple[str, ...],
        ignored: torch.Tensor | None,
        *tensors: torch.Tensor,
    ) -> torch.Tensor:
        ctx.owner, ctx.others, ctx.names, ctx.ignored = owner, others, names, ignored
        ctx.save_for_backward(*tensors)
        arguments = {**others, **dict(zip(names, tensors, strict=True))}
        return _tensor(owner.kernel(args=arguments, device=owner.device)[owner.loss])

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # pyright: ignore
        owner: Function = ctx.owner
        inputs = ctx.saved_tensors
        with torch.no_grad():
            found = _Launch.gradients(ctx, owner, upstream[0])
        if torch.is_grad_enabled():
            # `create_graph=True`: a second derivative would be taken to be 0, were it not refused.
            found = {name: _First.apply(owner, gradient, upstream[0], *inputs) for name, gradient in found.items()}
        return (None, None, None, None, *(found.get(name) for name in ctx.names))

    @staticmethod
    def gradients(ctx: Any, owner: Function, upstream: torch.Tensor) -> dict[str, torch.Tensor]:
        """The gradients that are asked for, by name."""
        arguments = {**ctx.others, **dict(zip(ctx.names, ctx.saved_tensors, strict=True))}
        wrt = [name for place, name in enumerate(ctx.names) if ctx.needs_input_grad[4 + place]]
        kernel = owner.gradient(wrt)
        derivation = kernel.signature.derivation
        assert derivation is not None
        arguments[derivation.weights] = upstream.to(torch.float32)
        result = kernel(args=arguments, device=owner.device)
        found = {name: _tensor(result[derivation.outputs[name]]) for name in wrt}
        if ctx.ignored is not None:
            for gradient in found.values():
                _clear(gradient, ctx.ignored)
        return found


class _First(torch.autograd.Function):
    """A first derivative, which depends on tensors in ways that are not known to autograd."""

    @staticmethod
    def forward(ctx: Any, owner: Function, gradient: torch.Tensor, *inputs: torch.Tensor) -> torch.Tensor:
        ctx.owner = owner
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # pyright: ignore
        raise ArrayError(
            f"{ctx.owner.kernel.name}: tilec.torch gives first derivatives, and a second one was asked for: let a "
            "kernel compute it, with grad(...) of grad(...)"
        )


def _tensor(array: Any) -> torch.Tensor:
    """The tensor of a NumPy array, bfloat16 included."""
    if array.dtype.name == "bfloat16":
        import numpy as np

        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _clear(gradient: torch.Tensor, ignored: torch.Tensor) -> None:
    """Sets the rows of ignored classes to exactly 0: 0 times an infinity or a NaN of theirs is not."""
    shape = tuple(ignored.shape)
    while len(shape) > 0 and shape[-1] == 1:
        shape = shape[:-1]
    if gradient.shape[: len(shape)] == shape and shape:
        gradient[ignored.reshape(shape)] = 0
