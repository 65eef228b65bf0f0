"""Tuned plans: what `tilec tune` found faster than the rules' choice, remembered for a kernel on a device.

A text file for each kernel and device, named by a hash of all that a plan is made of: the tile IR, the version, the
device with its driver, the options. In it a plan for each set of guards of the plan that the rules would make, so that
sizes of the same kind share what was measured for one of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from tilec.driver import guards_of
from tilec.options import Options
from tilec.runtime.compute import Device
from tilec.runtime.directory import cache_directory, read_text, write_text
from tilec.tile.ir import Kernel
from tilec.tile.print import print_kernel

_FOLDER = "tuned"
_MOST_KEPT = 256


def tuned_options(kernel: Kernel, device: Device, dims: Mapping[str, int], options: Options) -> Options:
    """The options with the plan that was found fastest for such sizes; as they are where none was, or where the source
    decides."""
    directory = cache_directory()
    is_decided = any(one is not None for one in (options.threads, options.split, options.kept, kernel.threads))
    if is_decided or directory is None or not (directory / _FOLDER).is_dir():
        return options
    path = _path(directory, kernel, device, options)
    plans = _plans(path)
    if not plans:
        return options
    entry = plans.get(_guards_key(guards_of(kernel, dims, options)))
    return _applied(entry, options) if isinstance(entry, dict) else options


def _applied(entry: Mapping[str, Any], options: Options) -> Options:
    """The options with the entry's plan. A file may hold anything: only numbers that a plan can have are believed."""
    threads, split, kept = entry.get("threads"), entry.get("split"), entry.get("kept")
    if threads is not None and not _is_count(threads, options.limits.invocations):
        return options
    if (threads is not None and threads & (threads - 1)) or (split is not None and not _is_count(split, 1 << 30)):
        return options
    if kept is not None and not (type(kept) is int and 0 <= kept <= _MOST_KEPT):
        return options
    is_empty = threads is None and split is None and kept is None
    return options if is_empty else replace(options, threads=threads, split=split, kept=kept)


def _is_count(value: object, most: int) -> bool:
    return type(value) is int and 1 <= value <= most


def remember(
    kernel: Kernel, device: Device, dims: Mapping[str, int], options: Options, chosen: Options, about: Mapping[str, Any]
) -> Path | None:
    """Keeps `chosen` for sizes like these; the same as `options` forgets. `about` is for people who read the file.

    Gives the file, None where nothing is kept. Raises OSError.
    """
    directory = cache_directory()
    if directory is None:
        return None
    path = _path(directory, kernel, device, options)
    plans = _plans(path)
    guards = guards_of(kernel, dims, options)
    plans.pop(_guards_key(guards), None)
    if chosen != options:
        found = {"threads": chosen.threads, "split": chosen.split, "kept": chosen.kept}
        plans[_guards_key(guards)] = {**found, "guards": list(guards), **about}
    elif not path.exists():
        return None
    document = {"kernel": kernel.name, "device": device.name, "driver": device.info.driver, "plans": plans}
    write_text(path, json.dumps(document, indent=2) + "\n")
    return path


def _path(directory: Path, kernel: Kernel, device: Device, options: Options) -> Path:
    from tilec import __version__

    parts = [__version__, print_kernel(kernel), device.name, device.info.driver, repr(options)]
    return directory / _FOLDER / f"{sha256(chr(0).join(parts).encode()).hexdigest()[:40]}.json"


def _guards_key(guards: Sequence[str]) -> str:
    return sha256("\n".join(guards).encode()).hexdigest()[:40]


def _plans(path: Path) -> dict[str, Any]:
    text = read_text(path)
    try:
        document = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return {}
    plans = document.get("plans") if isinstance(document, dict) else None
    return plans if isinstance(plans, dict) else {}
