"""The parameters of the kernel that is being written, and reads of them in every form."""

from __future__ import annotations

from tests.fuzz.parts import Axis, Chooser, Expr, Mask, Scalar, Space, Tensor, padded

MOST_TENSORS = 7  # with scratch, WebGPU's 8 storage buffers
NAMES = ["X", "filter", "target", "W", "out", "ref", "Logits", "type", "self", "main", "params", "scratch", "set", "B"]
FLOATS = [("f32", "f16", "bf16"), ("f32",), ("f16", "bf16"), ("bf16",), ("f16",)]
INTEGERS = [("i32",), ("i8", "u8"), ("i32", "i64"), ("u8",), ("i64",)]
SIZES = {"float": 1e3, "index": 1e3, "int": 1e3, "bool": 1.0}


class Reads:
    """Tensors and scalars, declared when they are first wanted."""

    def __init__(self, choose: Chooser, top: Space) -> None:
        self._choose = choose
        self.top = top
        self.tensors: list[Tensor] = []
        self.scalars: list[Scalar] = []
        self._names = list(NAMES)
        # Spots that the statement being written must not read: it stores there from another position
        self.prevents_shifts = False

    # --- declaring -------------------------------------------------------------------------------------------

    def new_name(self, wanted: str = "") -> str:
        if wanted and wanted in self._names:
            self._names.remove(wanted)
            return wanted
        return self._names.pop(0) if self._names else f"T{len(self.tensors)}"

    def declare(self, compute: str, mask: Mask, role: str, dims: tuple[str, ...] | None = None) -> Tensor:
        """A new tensor over the axes of the top space that the mask has."""
        choose = self._choose
        own = dims or self._dims(mask)
        match compute:
            case "f32":
                dtypes: tuple[str, ...] = choose.one_of(FLOATS)
            case "i32":
                dtypes = choose.one_of(INTEGERS) if role != "out" else choose.one_of([("i32",), ("i8",), ("u8",)])
            case _:
                dtypes = (compute,)
        tensor = Tensor(self.new_name(), dtypes, own, mask, role, compute, size=SIZES.get(role, 1e3))
        self.tensors.append(tensor)
        return tensor

    def _dims(self, mask: Mask) -> tuple[str, ...]:
        keeps_ones = self._choose.flag(30)
        return tuple(
            axis.dim if has else "1" for axis, has in zip(self.top.axes, mask, strict=True) if has or keeps_ones
        )

    @property
    def has_room(self) -> bool:
        return len(self.tensors) < MOST_TENSORS - 2

    # --- subscripts ------------------------------------------------------------------------------------------

    def subscript(self, tensor: Tensor, space: Space, spans: dict[int, str] | None = None) -> str:
        """The tensor at the block's place, of the space's rank, or of less where leading axes are absent. `spans` says
        other spans by axis."""
        parts: list[str] = []
        keeps_ones = len(tensor.dims) > sum(tensor.mask)
        for at, (axis, has) in enumerate(zip(space.axes, tensor.mask, strict=True)):
            if has:
                parts.append((spans or {}).get(at, axis.span))
            elif keeps_ones:
                parts.append(self._choose.one_of([":", "0 :+ 1"]))
            else:
                parts.append("new")
        while parts and parts[0] == "new" and not keeps_ones and self._choose.flag(60):
            parts.pop(0)
        return f"{tensor.name}[{', '.join(parts)}]"

    # --- reading ---------------------------------------------------------------------------------------------

    def tile(self, dtype: str, mask: Mask, space: Space) -> Expr:
        """A tile of the mask, read from a tensor; converted where the program has no room for one of that dtype."""
        choose = self._choose
        mask = padded(mask, space.rank)
        role = {"f32": "float", "bool": "bool"}.get(dtype, "int")
        known = [tensor for tensor in self.tensors if tensor.mask == mask and self._may_read(tensor)]
        exact = [tensor for tensor in known if tensor.compute == dtype]
        if exact and (choose.flag(75) or not self.has_room):
            tensor = choose.one_of(exact)
        elif self.has_room:
            if role == "int":
                role = choose.one_of(["index", "int"])
            tensor = self.declare(dtype, mask, role)
        else:
            return self._substitute(dtype, mask, space, known)
        return self._read(tensor, space)

    def _may_read(self, tensor: Tensor) -> bool:
        return tensor.role not in ("out", "point")

    def _substitute(self, dtype: str, mask: Mask, space: Space, known: list[Tensor]) -> Expr:
        """Of another dtype, or made of parts, or made of numbers."""
        if known:
            x = self._read(self._choose.one_of(known), space)
            text = {"f32": "f32({x})", "i32": "i32({x})", "u32": "u32({x})", "bool": "({x} > 0)"}[dtype]
            if x.dtype == "bool" and dtype == "bool":
                return x
            if x.dtype == "u32" and dtype == "bool":
                return Expr(f"({x.text} > u32(1))", "bool", x.mask)
            if x.dtype == "bool" and dtype != "bool":
                return Expr(text.format(x=x.text), dtype, x.mask, 1.0)
            return Expr(text.format(x=x.text), dtype, x.mask, x.size)
        last = len(mask) - 1
        numbers = f"iota({last}, {space.axes[last].extent})" if mask[-1] else "2"
        forms = {"f32": "f32({x}) * 0.25", "i32": "{x} * 3", "u32": "u32({x})", "bool": "{x} % 2 == 0"}
        text = f"({forms[dtype].format(x=numbers)})"
        return Expr(text, dtype, (*(False,) * last, True) if mask[-1] else (), 1e3)

    def _read(self, tensor: Tensor, space: Space) -> Expr:
        choose = self._choose
        spans: dict[int, str] = {}
        fill = ""
        if not tensor.in_place and not self.prevents_shifts and any(tensor.mask) and choose.flag(20):
            at = choose.one_of([at for at, has in enumerate(tensor.mask) if has])
            spans[at] = self._shifted(space.axes[at])
            if choose.flag(50):
                fill = " else " + self._fill(tensor.compute)
        text = self.subscript(tensor, space, spans)
        own = tensor.mask
        keeps_ones = len(tensor.dims) > sum(tensor.mask)
        if not keeps_ones:
            dropped = len(own) - (text.count(",") + 1)
            own = own[dropped:]
        size = tensor.size
        return Expr(f"({text}{fill})" if fill else text, tensor.compute, own, size)

    def _shifted(self, axis: Axis) -> str:
        by = self._choose.one_of(["+ 1", "- 1", "+ 3", "- 2"])
        if axis.is_whole:
            return f"{by.replace('+ ', '').replace(' ', '')} :+ {axis.extent}"
        return f"{axis.start} {by} :+ {axis.extent}"

    def _fill(self, compute: str) -> str:
        fills = {"f32": ["0.0", "-1.5", "2.0"], "i32": ["-100", "0", "3"], "u32": ["7", "0"], "bool": ["true", "false"]}
        return self._choose.one_of(fills[compute])

    def scalar(self, dtype: str, space: Space) -> Expr | None:
        """A scalar parameter, a dim, the block's index or a point of a tensor."""
        choose = self._choose
        kinds = ["parameter"]
        if dtype == "i32":
            kinds += ["dim", "block"]
        kinds.append("point")
        match choose.one_of(kinds):
            case "dim":
                dims = [axis.dim for axis in self.top.axes]
                return Expr(choose.one_of(dims), "i32", (), 300.0) if dims else None
            case "block":
                names = [f"ctx.block.{name}" for name, axis in zip("xyz", self._block_axes, strict=False) if axis]
                return Expr(choose.one_of(names), "i32", (), 300.0) if names else None
            case "point":
                return self._point(dtype)
        return self._parameter(dtype)

    @property
    def _block_axes(self) -> list[Axis]:
        return [axis for axis in self.top.axes if axis.is_block]

    def _parameter(self, dtype: str) -> Expr:
        choose = self._choose
        known = [scalar for scalar in self.scalars if scalar.dtype == dtype]
        if len(known) < 2 and (not known or choose.flag(30)):
            name = {"f32": "alpha", "i32": "count", "u32": "mask_bits", "bool": "enable"}[dtype]
            default = choose.one_of([
                "", {"f32": "0.75", "i32": "3", "u32": "5", "bool": "true"}[dtype]
            ])  # fmt: skip
            is_const = choose.flag(25)
            scalar = Scalar(f"{name}{len(self.scalars)}", dtype, default, is_const)
            self.scalars.append(scalar)
            known = [scalar]
        return Expr(choose.one_of(known).name, dtype, (), 3.0)

    def _point(self, dtype: str) -> Expr | None:
        """One element of a tensor that is only read."""
        known = [t for t in self.tensors if t.compute == dtype and not t.in_place and self._may_read(t)]
        if not known:
            return None
        tensor = self._choose.one_of(known)
        indices = [
            self._choose.one_of(["0", "1", "ctx.block.x" if self._block_axes else "2", "-1"]) for _ in tensor.dims
        ]
        return Expr(f"{tensor.name}[{', '.join(indices)}]", dtype, (), tensor.size)
