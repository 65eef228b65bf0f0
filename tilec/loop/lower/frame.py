"""What one dispatch's code is written with: uniforms, buffers, the block and job at hand, registers."""

from __future__ import annotations

from collections.abc import Callable

from tilec.loop import ir
from tilec.loop.lower.arith import add, compare, const, divide, multiply, remainder, signed, unsigned
from tilec.loop.lower.code import ZERO, Code
from tilec.loop.lower.length import Length
from tilec.plan.ir import Plan, Sink, Slot
from tilec.tile import ir as tile
from tilec.tile.reports import LOG
from tilec.types import Apply, DType, Extent, Opaque, Symbol

Evaluate = Callable[[tile.Value], ir.Expr]
"""Gives the scalar of an instruction of rank 0, as an atom."""

_ELEMENTS = {DType.F32: DType.F32, DType.I32: DType.I32, DType.U32: DType.U32}


class Bindings:
    """The program's uniform fields and buffers, made when first used, and the length of its text. Shared by all
    dispatches."""

    def __init__(self, kernel: tile.Kernel, plan: Plan) -> None:
        self.kernel = kernel
        self.length = Length(kernel)
        self.fields: dict[object, ir.UniformField] = {}
        self.stored = set()
        self.buffers: dict[tuple[str, int], ir.Buffer] = {}
        self.offsets: dict[Slot, Extent] = {}
        blocks = kernel.grid[0] * kernel.grid[1] * kernel.grid[2]
        total = Extent.of(0)
        for slot in plan.slots:
            self.offsets[slot] = total
            total = total + (slot.size if slot.is_shared else slot.size * blocks)
        self.scratch_words = total

    def extent(self, extent: Extent, dtype: DType = DType.I32) -> ir.Expr:
        """An extent of dims and scalar parameters as a literal or a uniform."""
        value = extent.constant
        if value is not None:
            return const(value, dtype)
        key = (extent, dtype)
        if key not in self.fields:
            self.fields[key] = ir.UniformField(f"{extent}", dtype, extent=extent)
        return ir.Uniform(self.fields[key])

    def scalar(self, parameter: str, dtype: DType) -> ir.Expr:
        if parameter not in self.fields:
            self.fields[parameter] = ir.UniformField(parameter, dtype, scalar=parameter)
        return ir.Uniform(self.fields[parameter])

    def tensor(self, name: str, width: int) -> ir.Buffer:
        key = (name, width)
        if key not in self.buffers:
            parameter = self.kernel.tensor(name)
            element = _ELEMENTS.get(parameter.dtype, DType.U32)
            self.buffers[key] = ir.Buffer(name, element, name, parameter.access != "in", width)
        return self.buffers[key]

    @property
    def log(self) -> ir.Buffer:
        key = (LOG, 1)
        if key not in self.buffers:
            self.buffers[key] = ir.Buffer(LOG, DType.U32, LOG, True, is_log=True)
        return self.buffers[key]

    @property
    def scratch(self) -> ir.Buffer:
        key = ("", 1)
        if key not in self.buffers:
            self.buffers[key] = ir.Buffer("scratch", DType.U32, None, True)
        return self.buffers[key]


class Frame:
    """The state of lowering one dispatch."""

    def __init__(self, kernel: tile.Kernel, plan: Plan, bindings: Bindings, threads: int) -> None:
        self.kernel = kernel
        self.plan = plan
        self.bindings = bindings
        self.threads = threads
        self.code = Code(bindings.length)
        self.block: tuple[ir.Expr, ir.Expr, ir.Expr] = (ZERO, ZERO, ZERO)
        self.block_number: ir.Expr = ZERO
        self.registers: dict[tile.Value, ir.Expr] = {}
        self.results: dict[tuple[tile.Value, int], ir.Local] = {}
        """Registers of what a loop carried out, by loop and number."""
        self.predeclared: dict[tile.Value, ir.Local] = {}
        self.available: set[tile.Value] = set()
        self.loops: dict[str, ir.Expr] = {}
        self.index: dict[str, ir.Expr] = {".": ZERO}
        self.valid: ir.Expr | None = None
        self.lane: ir.Expr = ZERO
        self.slot: ir.Expr = ZERO
        self.workgroup_words = 4096
        self.shares_words = False
        """Workgroup memory has no room for an array of each type: all types share arrays of words."""
        self.shared: dict[object, ir.SharedArray] = {}
        self.shared_is_read = False
        self.turn: ir.Expr | None = None
        """The turn of lanes that take several jobs, where one exchange a job alternates between two places, so that no
        thread overwrites what another still reads."""
        self.used: dict[str, ir.Buffer] = {}
        self.vectors: frozenset[str] = frozenset()
        self.parts: dict[int, tuple[ir.Expr, int]] = {}
        """Of a local that counts elements: the granule's first element, and how far the local is from it."""
        self.sink_loads: dict[tuple[Sink, int], list[tuple[tile.Load, tuple[str, ...]]]] = {}
        """The loads that vary along a sink's sweep, by the sink and how many values were published by then."""
        self._inside: dict[tile.Region, frozenset[tile.Value]] = {}

    def inside(self, region: tile.Region) -> frozenset[tile.Value]:
        """The instructions of a region."""
        if region not in self._inside:
            self._inside[region] = frozenset(region.body)
        return self._inside[region]

    def set_block(self, number: ir.Expr) -> None:
        """Makes the block with this linear number (i32, x fastest) the one at hand."""
        code, grid = self.code, self.kernel.grid
        self.block_number = code.let("block", number)
        if all(extent.is_one for extent in grid):
            self.block = (ZERO, ZERO, ZERO)
            return
        coordinates: list[ir.Expr] = [ZERO, ZERO, ZERO]
        rest = self.block_number
        for axis in range(3):
            if all(extent.is_one for extent in grid[axis + 1 :]):
                coordinates[axis] = rest
                break
            extent = self.bindings.extent(grid[axis])
            coordinates[axis] = code.let(f"block_{'xyz'[axis]}", remainder(rest, extent))
            rest = code.let("block_rest", divide(rest, extent))
        x, y, z = coordinates
        self.block = (x, y, z)

    def shared_array(self, key: object, hint: str, dtype: DType, length: int) -> ir.SharedArray:
        """Workgroup memory for values of `dtype`. Bools are kept as u32: with arrays of bools one driver lost sums."""
        dtype = DType.U32 if dtype is DType.BOOL else dtype
        if key not in self.shared:
            self.shared[key] = ir.SharedArray(hint, dtype, length)
        return self.shared[key]

    def tensor_buffer(self, name: str) -> ir.Buffer:
        buffer = self.bindings.tensor(name, 4 if name in self.vectors else 1)
        self.used[buffer.name] = buffer
        return buffer

    def scratch_buffer(self) -> ir.Buffer:
        buffer = self.bindings.scratch
        self.used[buffer.name] = buffer
        return buffer

    def log_buffer(self) -> ir.Buffer:
        buffer = self.bindings.log
        self.used[buffer.name] = buffer
        return buffer

    # --- extents ---------------------------------------------------------------------------------------------

    def extent(self, extent: Extent, evaluate: Evaluate) -> ir.Expr:
        """An i32 for any extent; `evaluate(value)` gives the scalar of an `Opaque` atom."""
        if all(_is_host(atom) for atom in extent.atoms):
            return self.bindings.extent(extent)
        key = ("extent", extent)
        found = self.code.find(key)
        if found is None:
            found = self.code.let("extent", self._polynomial(extent, evaluate))
            self.code.remember(key, found)
        return found

    def _polynomial(self, extent: Extent, evaluate: Evaluate) -> ir.Expr:
        host = Extent(tuple(term for term in extent.terms if all(map(_is_host, _all_atoms(term[0])))))
        total: ir.Expr = self.bindings.extent(host) if host.terms else ZERO
        for monomial, factor in extent.terms:
            if all(map(_is_host, _all_atoms(monomial))):
                continue
            product: ir.Expr = const(abs(factor))
            for atom in monomial:
                product = multiply(product, self._atom(atom, evaluate))
            total = add(total, product) if factor > 0 else ir.Op("sub", (total, product), DType.I32)
        return total

    def _atom(self, atom: object, evaluate: Evaluate) -> ir.Expr:
        match atom:
            case Symbol(kind="block"):
                return self.block["xyz".index(atom.name[-1])]
            case Symbol(kind="loop"):
                return self.loops[atom.name]
            case Symbol():
                return self.bindings.extent(Extent.of(atom))
            case Opaque():
                assert isinstance(atom.value, tile.Value)
                return evaluate(atom.value)
            case Apply():
                operands = tuple(self.extent(argument, evaluate) for argument in atom.arguments)
                name = "rem" if atom.function == "mod" else atom.function
                return ir.Op(name, operands, DType.I32)
        raise TypeError(f"unknown atom {atom}")

    # --- slots -----------------------------------------------------------------------------------------------

    def slot_index(self, slot: Slot, indices: tuple[ir.Expr, ...]) -> ir.Expr:
        """Word index (u32) of an element of a slot."""
        linear: ir.Expr = const(0, DType.U32)
        for axis, (extent, index) in enumerate(zip(slot.shape, indices, strict=True)):
            size, place = unsigned(self.bindings.extent(extent)), unsigned(index)
            if any(slot.wraps[axis : axis + 1]):
                place = remainder(place, size)
            linear = add(multiply(linear, size), place)
        base: ir.Expr = self.bindings.extent(self.bindings.offsets[slot], DType.U32)
        if not slot.is_shared:
            size = unsigned(self.bindings.extent(slot.size))
            base = add(base, multiply(unsigned(self.block_number), size))
        return self.code.let("word", add(base, linear))


def _all_atoms(monomial: tuple[object, ...]) -> set[object]:
    found: set[object] = set()
    for atom in monomial:
        found |= {atom}
        if isinstance(atom, Apply):
            for argument in atom.arguments:
                found |= argument.atoms
    return found


def _is_host(atom: object) -> bool:
    """Whether the host can evaluate the atom (an `Apply`'s own atoms are looked at one by one)."""
    return isinstance(atom, Apply) or (isinstance(atom, Symbol) and atom.kind in ("dim", "scalar"))


def store_shared(frame: Frame, array: ir.SharedArray, index: ir.Expr, value: ir.Expr) -> None:
    if value.dtype is DType.BOOL:
        value = ir.Select(value, const(1, DType.U32), const(0, DType.U32))
    if array.dtype is not value.dtype:
        value = ir.Bits("bitcast", (value,), array.dtype)
    frame.code.emit(ir.SharedStore(array, index, value))


def load_shared(array: ir.SharedArray, index: ir.Expr, dtype: DType) -> ir.Expr:
    word = ir.SharedLoad(array, index)
    if dtype is DType.BOOL:
        return compare("ne", word, const(0, DType.U32))
    return word if array.dtype is dtype else ir.Bits("bitcast", (word,), dtype)


def thread_number() -> ir.Expr:
    return signed(ir.Builtin("local_index"))
