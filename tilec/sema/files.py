"""Where the files of a program are found and read: below the folder of the file that imports them, nowhere else."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tilec.syntax.parse import MAXIMUM_SIZE

MOST_BYTES = 4 * MAXIMUM_SIZE + 8
"""As many as a source within the limit of characters can have; a device file has no end."""

LONGEST_PATH = 1024
"""Characters of an import's path."""

# To some systems these are devices in every folder and with every ending, and `a:b` is a drive or a hidden part of `a`.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]) *(\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a program. Two places with equal keys are one file, under two names perhaps."""

    key: Hashable
    path: Path
    """What its own imports are relative to."""


class Refused(Exception):
    """An import that is not followed. `is_outside`: it leads out of the folder; else `reason` says why."""

    def __init__(self, reason: str = "", *, is_outside: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_outside = is_outside


class Files(Protocol):
    """What a program is read from."""

    def main(self, path: Path) -> Place:
        """The file that is compiled."""
        ...

    def locate(self, importing: Place, parts: Sequence[str]) -> Place:
        """The file that an import of `importing` names, by the parts of its path. Raises Refused."""
        ...

    def read(self, place: Place) -> bytes:
        """Its content, at most the first `MOST_BYTES`. Raises OSError and ValueError."""
        ...


class Disk:
    """Files on disk. The file that is compiled may be anything that can be read. What it imports is a regular file
    below its folder, also after all symbolic links, and also if folders change between the look and the reading."""

    def __init__(self) -> None:
        self._root = Path()
        self._main: Hashable = None

    def main(self, path: Path) -> Place:
        try:
            self._root, self._main = path.parent.resolve(), path.resolve()
        except (OSError, RuntimeError, ValueError):  # no file can be called so, which reading it will say
            self._main = path
        return Place(self._main, path)

    def locate(self, importing: Place, parts: Sequence[str]) -> Place:
        target = importing.path.parent.joinpath(*parts)
        try:
            resolved, folder = target.resolve(), importing.path.parent.resolve()
        except (OSError, RuntimeError, ValueError):
            raise Refused("not readable") from None
        # A symbolic link may lead out as well as `..`.
        if not resolved.is_relative_to(folder) or not resolved.is_relative_to(self._root):
            raise Refused(is_outside=True)
        return Place(resolved, target)

    def read(self, place: Place) -> bytes:
        if place.key == self._main:
            with place.path.open("rb") as file:
                return file.read(MOST_BYTES)
        assert isinstance(place.key, Path)
        with open(self._open_below(place.key.relative_to(self._root).parts), "rb") as file:
            return file.read(MOST_BYTES)

    def _open_below(self, parts: Sequence[str]) -> int:
        """A descriptor of the regular file at a path that had no symbolic links; one that has some now is refused."""
        if os.open not in os.supports_dir_fd:
            path = self._root.joinpath(*parts)
            _check_regular(path.lstat())
            return _regular(os.open(path, _READ))
        folder = os.open(self._root, _FOLDER)
        try:
            for part in parts[:-1]:
                below = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = below
            # Looked at before it is opened: opening alone may do something to a device.
            _check_regular(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False))
            return _regular(os.open(parts[-1], _READ | os.O_NOFOLLOW, dir_fd=folder))
        finally:
            os.close(folder)


_READ = os.O_RDONLY
for _name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):  # opening a pipe would wait for its other end
    _READ |= getattr(os, _name, 0)
_FOLDER = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def _regular(descriptor: int) -> int:
    try:
        _check_regular(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(0, "is a directory")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, "not a regular file")


def decoded(data: bytes) -> str:
    """The text of a file. Raises UnicodeDecodeError."""
    # Of too many bytes the last character may be incomplete, and the parser refuses the size anyhow.
    return data.decode("utf-8-sig", "strict" if len(data) < MOST_BYTES else "ignore")


def check_path(name: str, parts: Sequence[str]) -> None:
    """Raises Refused for a path that is the name of no `.ph` file on some system, before any is looked for."""
    if not name.endswith(".ph") or "\0" in name:
        raise Refused("only `.ph` files are imported")
    if len(name) > LONGEST_PATH:
        raise Refused(f"a path has at most {LONGEST_PATH:,} characters")
    if any(not part.isprintable() or ":" in part for part in parts):
        raise Refused("no file is called so on every system")
    if any(_DEVICE.fullmatch(part.strip()) for part in parts):
        raise Refused("it is a device on some systems")
