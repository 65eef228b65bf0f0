"""`tilec devices`: what there is to run on, and what is wrong with it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tilec.cli.options import add_json_option, command_parser
from tilec.cli.terminal import print_json

if TYPE_CHECKING:
    from tilec.runtime.device import DeviceInfo


def parser() -> argparse.ArgumentParser:
    result = command_parser(
        "devices",
        "Lists the adapters of this machine, best first: driver, features, limits, problems and their fixes.",
        ["tilec devices", "tilec devices --json"],
    )
    add_json_option(result)
    return result


def main(options: argparse.Namespace) -> int:
    from tilec.errors import DeviceError
    from tilec.runtime.adapters import no_adapter_reason
    from tilec.runtime.device import devices

    try:
        found = devices()
        reason = None if any(info.is_usable for info in found) else no_adapter_reason(found)
    except DeviceError as error:
        found, reason = [], str(error)
    if options.json:
        print_json({"devices": [_json(info) for info in found], "reason": reason})
        return 0
    for info in found:
        print(_text(info))
    if reason is not None:
        print(reason)
    print("numpy: the NumPy interpreter, always there (slow; for results to compare with)")
    return 0


def _json(info: DeviceInfo) -> dict[str, Any]:
    return {
        "index": info.index,
        "name": info.name,
        "backend": info.backend,
        "driver": info.driver,
        "kind": info.kind,
        "features": list(info.features),
        "subgroup_sizes": list(info.subgroup_sizes),
        "limits": dict(info.limits),
        "usable": info.is_usable,
        "problems": list(info.problems),
    }


# Those that decide whether a kernel runs, with their units.
_SHOWN = {
    "max-compute-invocations-per-workgroup": "threads a workgroup",
    "max-compute-workgroup-storage-size": "bytes of workgroup memory",
    "max-storage-buffers-per-shader-stage": "storage buffers",
    "max-storage-buffer-binding-size": "bytes a tensor",
}


def _text(info: DeviceInfo) -> str:
    lines = [f"{info.index}: {info.name}"]
    lines.append(f"   {info.backend}, {info.kind}, driver {info.driver or 'unnamed'}")
    lines.append(f"   features: {', '.join(info.features) or 'none'}; subgroups of {info.subgroup_sizes[0]} to "
                 f"{info.subgroup_sizes[1]}")  # fmt: skip
    limits = (f"{info.limits[name]:,} {unit}" for name, unit in _SHOWN.items() if name in info.limits)
    lines.append(f"   limits: {', '.join(limits)}")
    lines += [f"   not used: {problem}" for problem in info.problems]
    return "\n".join(lines)
