"""Damaged sources through the whole compiler: what ends in anything but text or tilec's own words is a fault."""

from __future__ import annotations

import hashlib
import random
import re
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.mutate import draw
from tests.fuzz.shrink import shrink
from tilec import driver
from tilec.errors import InternalError, TilecError
from tilec.options import Options
from tilec.source import Source

MOST_SECONDS = 10.0


class TookTooLong(BaseException):
    """Nothing that the compiler would catch."""


@dataclass(slots=True)
class Tally:
    inputs: int = 0
    parsed: int = 0
    compiled: int = 0
    faults: int = 0
    slowest: float = 0.0
    slowest_seed: int = -1

    def __str__(self) -> str:
        return (
            f"{self.inputs:,} inputs, {self.parsed:,} past the parser, {self.compiled:,} compiled, "
            f"{self.faults} faults; the slowest took {self.slowest:.2f} s (number {self.slowest_seed})"
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` is the same for inputs that show one fault."""

    kind: str
    words: str


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Ends what takes longer, in seconds of this process's own work."""

    def stop(_number: int, _frame: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def attempt(text: str, seed: int, tally: Tally, seconds: float = MOST_SECONDS) -> Fault | None:
    """Compiles every kernel of a text, and a gradient; gives what should not have happened."""
    tally.inputs += 1
    started = time.process_time()
    fault = None
    try:
        with limited(seconds):
            _compile(text, random.Random(seed), tally)
    except InternalError as error:
        fault = _fault(error.__cause__ or error, str(error))
    except TilecError as error:
        if not str(error):
            fault = Fault("an error without words", repr(error))
        if re.search(r"E(?!01)\d{4}", str(error)) and not re.search(r"E01\d\d", str(error)):
            tally.parsed += 1
    except TookTooLong as error:
        fault = _fault(error, f"more than {seconds:g} s")
    except Exception as error:
        fault = _fault(error, f"{type(error).__name__}: {error}")
    taken = time.process_time() - started
    if taken > tally.slowest:
        tally.slowest, tally.slowest_seed = taken, seed
    tally.faults += fault is not None
    return fault


def _fault(error: BaseException, words: str) -> Fault:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/tilec/" in frame.filename]
    place = f"{Path(own[-1].filename).name}:{own[-1].name}" if own else "?"
    if isinstance(error, TookTooLong):
        rooms = [Path(frame.filename).parent.name for frame in own]
        place = next((room for room in rooms if room != "tilec"), place)
    kind = f"{type(error).__name__} in {place}"
    return Fault(kind, f"{kind}: {words}\n{''.join(traceback.format_list(frames[-12:]))}")


def _compile(text: str, choose: random.Random, tally: Tally) -> None:
    loaded = driver.parse_file(Source("input.ph", text))
    tally.parsed += 1
    program, refused = loaded.program, None
    for name in list(loaded.signatures)[:2]:
        signature = loaded.signatures[name]
        dims = {dim: choose.choice((1, 3, 8, 64, 1000, 1 << 20)) for dim in signature.dims}
        options = Options(fusion=choose.random() < 0.8, verify=choose.random() < 0.2)
        try:
            known = dims if choose.random() < 0.5 else None
            _ = driver.compile_kernel(program, name, dims=known, options=options).wgsl
            tally.compiled += 1
            if choose.random() < 0.3:
                floats = [one.name for one in signature.parameters if one.kind == "tensor"]
                derived, own = driver.derive(
                    program, name, [choose.choice(floats)], choose.choice(floats), in_place=choose.random() < 0.5
                )
                _ = driver.compile_kernel(derived, own.name).wgsl
        except InternalError:
            raise
        except TilecError as error:
            refused = error
    if refused is not None and not str(refused):
        raise refused


def run(minutes: float | None, count: int | None, seed: int, folder: Path, shrinking: float) -> Tally:
    """Inputs from number `seed` on, until the time is over or `count` are done. Each new kind of fault is shrunk and
    written to `folder`, with a `.txt` that says what happened."""
    end = time.monotonic() + 60 * minutes if minutes is not None else None
    tally, kinds = Tally(), set[str]()
    while (end is None or time.monotonic() < end) and (count is None or tally.inputs < count):
        text = draw(seed)
        fault = attempt(text, seed, tally)
        if fault is not None and fault.kind not in kinds:
            kinds.add(fault.kind)
            print(f"number {seed}: {fault.kind}", flush=True)
            path = write(_smallest(text, seed, fault, shrinking), seed, fault, folder)
            print(f"written to {path}", flush=True)
        seed += 1
        if tally.inputs % 10_000 == 0:
            print(f"next number {seed}; {tally}", flush=True)
    print(f"next number {seed}; {tally}")
    return tally


def _smallest(text: str, seed: int, fault: Fault, seconds: float) -> str:
    def fails(candidate: str) -> bool:
        found = attempt(candidate, seed, Tally())
        return found is not None and found.kind == fault.kind

    return shrink(text, fails, seconds) if seconds > 0 and "TookTooLong" not in fault.kind else text


def write(text: str, seed: int, fault: Fault, folder: Path) -> Path:
    """The input as a file, and beside it what happened."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"source_{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:10]}.ph"
    path.write_text(text, encoding="utf-8", newline="")
    path.with_suffix(".txt").write_text(f"number {seed}\n{fault.words}\n", encoding="utf-8")
    return path
