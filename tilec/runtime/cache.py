"""The variants of a kernel that were compiled, by their guards."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence

from tilec.driver import Compiled, compile_built
from tilec.options import Options
from tilec.tile.ir import Kernel
from tilec.types import Extent, apply


def _integer_function(name: str) -> Callable[..., int | None]:
    return lambda *arguments: apply(name, *map(Extent.of, arguments)).constant


_FUNCTIONS = {name: _integer_function(name) for name in ("ceildiv", "div", "mod", "min", "max")}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\()?")


def guard_test(guards: Sequence[str]) -> Callable[[Mapping[str, int]], bool]:
    """Whether values of dims meet all guards, as a function of them; guards are texts that `Facts` wrote."""
    if not guards:
        return lambda dims: True
    tests = " and ".join(f"({guard.replace('&&', ' and ')})" for guard in guards)
    names: list[str] = []

    def quoted(match: re.Match[str]) -> str:
        word = match.group()
        if word == "and" or match.group(1):
            return word
        # A dim may be called by any name, also by one that Python reserves.
        names.append(word)
        return f"dims[{word!r}]"

    code = compile(_NAME.sub(quoted, tests), "<guards>", "eval")

    def holds(dims: Mapping[str, int]) -> bool:
        # `%` is Python's here: guards only ask whether it is 0, where both agree.
        return bool(eval(code, {"__builtins__": {}, **_FUNCTIONS}, {"dims": dims}))

    return holds


class Variants:
    """A normalised tile kernel and what it was compiled to so far, one variant per set of guards and options."""

    _most = 64

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._variants: dict[Options, list[tuple[Callable[[Mapping[str, int]], bool], Compiled]]] = {}
        self._lock = threading.RLock()

    def for_dims(self, dims: Mapping[str, int], options: Options) -> Compiled:
        """The variant that is right for these dims, compiled now if there is none yet."""
        with self._lock:
            known = self._variants.setdefault(options, [])
            for place, (holds, compiled) in enumerate(known):
                if holds(dims):
                    if place:
                        known.insert(0, known.pop(place))
                    return compiled
            compiled = compile_built(self.kernel, dims, options)
            known.insert(0, (guard_test(compiled.guards), compiled))
            del known[self._most :]
            return compiled

    def count(self) -> int:
        """How many variants were compiled and kept."""
        return sum(map(len, self._variants.values()))

    def general(self, options: Options, dims: Mapping[str, int] | None = None) -> Compiled:
        """A variant for `dims` that are only partly known (none: right for every value)."""
        return compile_built(self.kernel, dims, options)


