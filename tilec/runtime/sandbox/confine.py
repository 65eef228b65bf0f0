"""What the compiler's own process gives up, by the standard library alone. Runs in that process, before all else.

`begin` limits what it may use; `close`, when everything is loaded and before a stranger's text is read, also takes away
its descriptors, which is all of disk and network: who may open none can neither read a file nor make a socket.
"""

from __future__ import annotations

import os
import sys

NOBODY = 65534
"""The user and group that a process started as root becomes."""

MEMORY, PROCESSOR, FILE_SIZE, PROCESSES, DESCRIPTORS = "memory", "processor", "file size", "processes", "descriptors"

_held: list[str] = []


def required() -> set[str]:
    """The limits without which nothing is compiled on this system."""
    if sys.platform == "win32":
        return set()
    found = {PROCESSOR, FILE_SIZE, PROCESSES, DESCRIPTORS}
    return found | {MEMORY} if sys.platform == "linux" else found


def begin(memory_bytes: int, processor_seconds: int, seconds: float) -> None:
    """Limits memory and time, forbids to write files and to start processes."""
    if sys.platform == "win32":
        return
    import resource
    import signal

    # The other side ends this process in time, unless it has died itself.
    signal.setitimer(signal.ITIMER_REAL, seconds + 1.0)
    _limit(MEMORY, resource.RLIMIT_AS, memory_bytes)
    _limit(PROCESSOR, resource.RLIMIT_CPU, processor_seconds, 1)  # a second to be ended by the signal that says why
    _limit(FILE_SIZE, resource.RLIMIT_FSIZE, 0)
    _limit(PROCESSES, resource.RLIMIT_NPROC, 0)
    _limit("core", resource.RLIMIT_CORE, 0)


def close() -> list[str]:
    """No descriptor can be opened any more; a process of root sees the empty folder it stands in only, and becomes
    nobody. Gives the names of the limits that hold."""
    if sys.platform != "win32":
        import resource

        if os.geteuid() == 0:
            _leave_root()
        _limit(DESCRIPTORS, resource.RLIMIT_NOFILE, 0)
    return list(_held)


def _limit(name: str, number: int, most: int, more: int = 0) -> None:
    if sys.platform != "win32":
        import resource

        _, highest = resource.getrlimit(number)
        last = most + more
        if highest != resource.RLIM_INFINITY:
            most, last = min(most, highest), min(last, highest)
        try:
            resource.setrlimit(number, (most, last))
        except (OSError, ValueError):
            return
        _held.append(name)


def _leave_root() -> None:
    """Root is exempt from the limit on processes, and may raise the others."""
    if sys.platform != "win32":
        try:
            os.chroot(".")
            os.chdir("/")
        except OSError:  # root of a container that may not: it still becomes nobody
            pass
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
