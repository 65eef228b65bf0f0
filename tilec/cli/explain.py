"""`tilec explain`: the long form of a diagnostic, or the schedule of a file's kernels."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tilec.cli.options import (
    add_choice_options,
    add_gradient_options,
    add_json_option,
    check_names,
    choose_kernels,
    command_parser,
    constants,
    derive_kernels,
    dtypes,
    has_type,
    integer,
    pairs,
)
from tilec.cli.terminal import Failure, print_json
from tilec.text import printable

if TYPE_CHECKING:
    from tilec.driver import Explanation
    from tilec.options import Options
    from tilec.plan.profile import Profile
    from tilec.runtime.compute import Device


def parser() -> argparse.ArgumentParser:
    result = command_parser(
        "explain",
        "Explains a diagnostic: what it means, a program that has it, and the fix. Without a code, lists all codes.\n"
        "For a .ph file, shows how its kernels will run: dispatches, sweeps, fences, where values live; with sizes\n"
        "what each sweep moves and computes, against the ideal; for a device, the time that it should take.",
        [
            "tilec explain E0312",
            "tilec explain token_loss.ph --grad Logits",
            "tilec explain token_loss.ph --dim M=8192 --dim V=32768 --device",
            "tilec explain token_loss.ph --dim M=8192 --dim V=50257 --profile h200",
        ],
    )
    result.add_argument("code", nargs="?", metavar="CODE|FILE", help="a code such as E0312 or W0201, or a .ph file")
    result.add_argument("--kernel", metavar="NAME", help="only this kernel of the file")
    result.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="the size of a dim of the file")
    result.add_argument(
        "--device", nargs="?", const="", metavar="DEVICE",
        help="predict the time on this device (the best if none is named), whose rates are measured",
    )  # fmt: skip
    result.add_argument("--profile", metavar="NAME", help="predict the time on a known device that need not be here")
    result.add_argument("--threads", metavar="N", help="threads of a workgroup; default: the plan's choice")
    add_choice_options(result)
    add_gradient_options(result)
    add_json_option(result)
    return result


def _explain_file(options: argparse.Namespace) -> int:
    from tilec.driver import build_kernel, explain, parse_file

    loaded = parse_file(options.code)
    signatures = choose_kernels(loaded.signatures, options.kernel, options.code)
    program, signatures = derive_kernels(loaded.program, signatures, options)
    sizes = {name: integer(text, f"--dim {name}") for name, text in pairs(options.dim, "--dim").items()}
    chosen = dtypes(options.dtype)
    check_names(signatures, {"--dim": sizes, "--dtype": chosen, "--const": pairs(options.const, "--const")})
    compile_options, profile, device = _target(options)
    tuned: list[str] = []
    found: dict[str, Explanation] = {}
    for signature in signatures:
        own = {name: size for name, size in sizes.items() if name in signature.dims}
        fixed = constants(options.const, signature)
        types = {name: dtype for name, dtype in chosen.items() if has_type(signature, name)}
        built = build_kernel(program, signature.name, types, fixed).kernel
        chosen_options = compile_options
        if device is not None:
            from tilec.runtime.tuned import tuned_options

            chosen_options = tuned_options(built, device, own, compile_options)
        if chosen_options != compile_options:
            tuned.append(signature.name)
        found[signature.name] = explain(built, own, chosen_options, profile)
    if options.json:
        print_json({name: _json(one) for name, one in found.items()})
        return 0
    for name, one in found.items():
        if name in tuned:
            print("as `tilec tune` found it fastest on this device:")
        print(printable(one.text.rstrip("\n"), keep="\n"))
        if one.cost is None and (sizes or profile is not None):
            print(f"what it costs depends on {_missing(one)}")
    if profile is None:
        print(_assumed())
    return 0


def _missing(one: Explanation) -> str:
    """The size that the costs need, and how to give it, if anything but the data can."""
    kernel, name = one.compiled.kernel, one.missing
    if name in kernel.dims:
        return f"{name}: --dim {name}=SIZE for every dim"
    if any(scalar.name == name for scalar in kernel.scalars):
        return f"{name}: --const {name}=VALUE"
    return "sizes that only the data says"


def _assumed() -> str:
    """Which machine a plan without a device is for, and how to choose another."""
    from tilec.options import Limits
    from tilec.plan.profile import KNOWN

    known = " or ".join(f"--profile {name}" for name in KNOWN)
    return (
        f"for any GPU with WebGPU's default limits, {Limits().invocations} threads a workgroup; choose a machine with "
        f"--device (the best here), --device NAME or {known}: with all sizes it also predicts the time"
    )


def _target(options: argparse.Namespace) -> tuple[Options, Profile | None, Device | None]:
    """What the plan is made for, the rates that predict its time, and the device itself. Raises Failure and
    DeviceError."""
    from tilec.options import Options
    from tilec.plan.profile import KNOWN

    result, profile, opened = Options(), None, None
    if options.profile is not None and options.device is not None:
        raise Failure("--device and --profile exclude each other")
    if options.profile is not None:
        if options.profile not in KNOWN:
            raise Failure(f"no profile is called {options.profile}; there is {', '.join(KNOWN)}")
        profile = KNOWN[options.profile]
        result = Options(limits=profile.limits)
    if options.device is not None:
        from tilec.runtime.device import device as open_device
        from tilec.runtime.launch import options_for
        from tilec.runtime.profile import measure_profile

        name = options.device or None
        opened = open_device(int(name) if name is not None and name.isdecimal() else name)
        result, profile = options_for(opened), measure_profile(opened)
    if options.threads is not None:
        result = replace(result, threads=max(1, integer(options.threads, "--threads")))
    return result, profile, opened


def _json(explanation: Explanation) -> dict[str, Any]:
    cost = explanation.cost
    if cost is None:
        return {"text": explanation.text, "cost": None}
    return {
        "text": explanation.text,
        "cost": {
            "device": cost.profile.name if cost.profile is not None else None,
            "moved_bytes": cost.moved,
            "ideal_bytes": cost.ideal_bytes,
            "scratch_bytes": cost.scratch_bytes,
            "seconds": cost.seconds,
            "ideal_seconds": cost.ideal_seconds,
            "dispatches": [
                {
                    "workgroups": one.workgroups,
                    "threads": one.dispatch.threads,
                    "moved_bytes": one.moved,
                    "operations": one.operations,
                    "functions": one.functions,
                    "registers": one.registers,
                    "barriers": one.lowered.barriers if one.lowered is not None else None,
                    "workgroup_bytes": one.lowered.workgroup_bytes if one.lowered is not None else None,
                    "seconds": one.seconds,
                    "bound": one.bound or None,
                }
                for one in cost.dispatches
            ],
        },
    }


def main(options: argparse.Namespace) -> int:
    from tilec.diag.catalog import ROWS
    from tilec.diag.render import explain

    if options.code is None:
        if options.json:
            print_json({code: row.message for code, row in ROWS.items()})
        else:
            for code, row in ROWS.items():
                print(f"{code}  {row.message}")
        return 0
    if options.code.endswith(".ph"):
        return _explain_file(options)
    code = options.code.strip().upper()
    if code not in ROWS:
        from difflib import get_close_matches

        near = get_close_matches(code, ROWS, n=3)
        hint = f"near it are {', '.join(near)}" if near else "`tilec explain` lists all"
        raise Failure(f"no diagnostic has the code {options.code}; {hint}")
    if options.json:
        row = ROWS[code]
        texts = {"message": row.message, "hint": row.hint, "explanation": row.explanation.strip()}
        print_json({"code": code, "severity": row.severity, **texts, "wrong": row.wrong, "right": row.right})
    else:
        print(explain(code).rstrip("\n"))
    return 0
