"""The directory in which this machine remembers things between processes: small texts, read with suspicion.

Whoever can write there could otherwise decide what a later process does, so a file counts only if it is a plain file of
this user that nobody else may write, of a sane size, in a folder of this user that is closed to others. What is in it
is checked by whoever reads it, and never executed.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

MOST_BYTES = 1 << 20


def cache_directory() -> Path | None:
    """`$TILEC_CACHE`, or `tilec` among the user's caches. None where `TILEC_CACHE` is empty: nothing is remembered."""
    asked = os.environ.get("TILEC_CACHE")
    if asked is not None:
        return Path(asked) if asked else None
    base = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    try:
        return Path(base) / "tilec" if base else Path.home() / ".cache" / "tilec"
    except RuntimeError:  # no home
        return None


def is_own(folder: Path) -> bool:
    """Whether the folder is there, this user's, no link, and closed to others (0700)."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_closed = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
    return stat.S_ISDIR(found.st_mode) and is_closed


def read_text(path: Path, most: int = MOST_BYTES) -> str | None:
    """The text of a file that can be trusted to be this user's own, None of any other or where there is none."""
    if not is_own(path.parent):
        return None
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return None
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
            return None
        with open(handle, "rb", closefd=False) as file:
            return file.read(most).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    finally:
        os.close(handle)


def write_text(path: Path, text: str) -> None:
    """Writes the file whole or not at all, for this user alone. Raises OSError, also where others may write."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_own(path.parent):
        raise PermissionError(f"{path.parent} is not this user's alone (chmod 700)")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
