"""Benchmarks: `python -m tests.bench [--device NAME] [--topic TOPIC ...] [--seconds S] [--json]`.

On a GPU the topics of `tests.bench.gpu` run too, and where torch has CUDA those of `tests.bench.cuda`.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import platform
import sys

import numpy as np

import tilec
from tests.bench.compiling import compiling
from tests.bench.launching import launching
from tests.bench.losses import forward, training
from tests.bench.measure import Table, print_table

# Idle OpenMP threads spin for a while, and would spend the processor time of what is measured next.
QUIET_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}
TOPICS = ("forward", "training", "compiling", "launching")
GPU_TOPICS = ("gpu training", "gpu forward")
CUDA_TOPICS = ("cuda training", "cuda forward")


def main() -> int:
    """One table a topic, as text or as JSON; 1 if a result is wrong, 0 otherwise (a missed goal is only said)."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Times tilec against its peers.")
    parser.add_argument("--device", default="llvmpipe", help="an adapter's name or index (default: llvmpipe)")
    choices = (*TOPICS, *GPU_TOPICS, *CUDA_TOPICS)
    parser.add_argument("--topic", action="append", choices=choices, help="may be repeated; default: all that can run")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each line of a table (default: 2)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    for variable, value in QUIET_THREADS.items():  # before anything imports torch
        os.environ.setdefault(variable, value)
    name = int(arguments.device) if arguments.device.isdecimal() else arguments.device
    device = tilec.device(name)
    about = {
        "device": str(device.info), "processors": os.cpu_count(), "load": os.getloadavg()[0],
        "machine": platform.machine(), "python": platform.python_version(), "numpy": np.__version__,
        "torch": _torch_version(),
    }  # fmt: skip
    if not arguments.json:
        print(", ".join(f"{key} {value}" for key, value in about.items()))
    topics = {
        "forward": lambda: forward(device, arguments.seconds),
        "training": lambda: training(device, arguments.seconds),
        "compiling": lambda: compiling(arguments.seconds),
        "launching": lambda: launching(device, arguments.seconds),
        "gpu training": lambda: _gpu(name, "training"),
        "gpu forward": lambda: _gpu(name, "forward"),
        "cuda training": lambda: _cuda(name, "training"),
        "cuda forward": lambda: _cuda(name, "forward"),
    }
    tables: dict[str, Table] = {}
    for topic in arguments.topic or _possible(device):
        with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
            tables[topic] = topics[topic]()
        if not arguments.json:
            print_table(tables[topic])
    if arguments.json:
        results = {topic: dataclasses.asdict(table) for topic, table in tables.items()}
        print(json.dumps({"about": about, **results}, indent=2))
    return 0 if all(table.is_right for table in tables.values()) else 1


def _possible(device: tilec.Device) -> tuple[str, ...]:
    """What can be measured here."""
    if device.info.kind == "cpu":
        return TOPICS
    try:
        import torch

        has_cuda = torch.cuda.is_available()
    except ImportError:
        has_cuda = False
    return (*TOPICS, *GPU_TOPICS, *(CUDA_TOPICS if has_cuda else ()))


def _gpu(name: str | int, topic: str) -> Table:
    from tests.bench import gpu

    chosen = gpu.parse(["--device", str(name), "--topic", topic])
    opened = gpu.open_gpu(str(name))
    if topic == "training":
        return gpu.training_table(gpu.training(opened, chosen))
    return gpu.forward_table(gpu.forward(opened, chosen))


def _cuda(name: str | int, topic: str) -> Table:
    from tests.bench import cuda

    return cuda.measure(cuda.parse(["--adapter", str(name), "--topic", topic]))


def _torch_version() -> str | None:
    try:
        import torch
    except ImportError:
        return None
    return torch.__version__


if __name__ == "__main__":
    sys.exit(main())
