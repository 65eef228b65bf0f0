"""What a launch on device arrays costs, against the same dispatch in bare wgpu-py calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import tilec
from tests.bench.measure import Contender, Row, Table, in_turn
from tilec import driver
from tilec.runtime.compute import Device
from tilec.runtime.launch import options_for
from tilec.wgsl.layout import bindings, fold, pack_uniforms

_EXAMPLE = Path(__file__).parents[2] / "examples" / "token_loss.ph"
_ROWS = 8
_LAUNCHES = 100
GOAL = 1.3
BATCH_GOAL = 60.0


def launching(device: Device, seconds: float) -> Table:
    """Microseconds a launch of 8 x 512, in batches, so that waiting for the device does not count."""
    kernel = tilec.compile(_EXAMPLE).token_loss
    logits = device.array(np.ones((_ROWS, 512), np.float32))
    target = device.array(np.zeros((_ROWS, 1), np.int32))
    loss = device.array(np.zeros((_ROWS, 1), np.float32))
    prepared = kernel.bind(logits, target, Loss=loss)
    bare = _bare(device, {"Logits": logits, "Target": target, "Loss": loss})
    runs = {
        "bare wgpu-py": _repeated(bare),
        "prepared": _repeated(prepared.launch),
        "a call, output given": _repeated(lambda: kernel(logits, target, Loss=loss)),
        "a call, output allocated": _repeated(lambda: kernel(logits, target)),
        "prepared, all in one submission": _submitted_once(device, prepared.launch),
    }
    # The calling thread alone, and until all is done.
    calling = in_turn({name: Contender(run, device.synchronize) for name, run in runs.items()}, seconds / 2)
    whole = {name: Contender(_finished(run, device), device.synchronize) for name, run in runs.items()}
    done = in_turn(whole, seconds / 2)
    rows: list[Row] = [
        {
            "launch": name,
            "us": 1e3 * calling[name].wall / _LAUNCHES,
            "x": calling[name].wall / calling["bare wgpu-py"].wall,
            "cpu us": 1e3 * calling[name].thread / _LAUNCHES,
            "cpu x": calling[name].thread / calling["bare wgpu-py"].thread,
            "us until done": 1e3 * done[name].wall / _LAUNCHES,
            "batches": calling[name].runs,
        }
        for name in runs
    ]
    by_name = {row["launch"]: row for row in rows}
    ratio, batch = by_name["prepared"]["x"], by_name["prepared, all in one submission"]["us until done"]
    goals = [
        ("a prepared launch at most 1.3 times the bare calls", ratio <= GOAL, f"{ratio:.2f} times"),
        (f"{_LAUNCHES} launches in one submission at most 60 us each", batch <= BATCH_GOAL, f"{batch:.0f} us"),
    ]
    return Table(f"launching token_loss of {_ROWS} x 512 on {device.name}, {_LAUNCHES} at a time", rows, goals)


def _submitted_once(device: Device, run: Callable[[], object]) -> Callable[[], object]:
    def repeat() -> None:
        with device.batch():
            for _ in range(_LAUNCHES):
                run()

    return repeat


def _finished(run: Callable[[], object], device: Device) -> Callable[[], object]:
    def both() -> None:
        run()
        device.synchronize()

    return both


def _repeated(run: Callable[[], object]) -> Callable[[], object]:
    def repeat() -> None:
        for _ in range(_LAUNCHES):
            run()

    return repeat


def _bare(device: Device, arrays: dict[str, tilec.DeviceArray]) -> Callable[[], object]:
    """The dispatch that tilec makes, in wgpu-py's own calls, with all that can be made once made once."""
    dims = {"M": _ROWS}
    loaded = driver.parse_file(_EXAMPLE)
    compiled = driver.compile_kernel(loaded.program, "token_loss", dims=dims, options=options_for(device))
    program = compiled.program
    own = bindings(program)
    data = pack_uniforms(program, dims, {})
    uniforms = device.create_buffer(len(data), uniform=True)
    device.write(uniforms, data)
    pipeline = device.compute_pipeline(compiled.wgsl, program.dispatches[0].name, [binding.kind for binding in own])
    buffers = [uniforms if binding.tensor is None else arrays[binding.tensor].buffer for binding in own]
    entries = [
        {"binding": binding.number, "resource": {"buffer": buffer.handle, "offset": 0, "size": buffer.size}}
        for binding, buffer in zip(own, buffers, strict=True)
    ]
    handle = device.handle
    group = handle.create_bind_group(layout=pipeline.layout, entries=entries)
    groups = fold(program.dispatches[0].workgroups.evaluate(dims))

    def run(uniforms: object = uniforms) -> None:  # a buffer lives as long as something holds it
        encoder = handle.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline.handle)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(*groups)
        work.end()
        handle.queue.submit([encoder.finish()])

    return run
