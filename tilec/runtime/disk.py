"""Compiled kernels on disk, from one process to the next: text files in a folder that nobody else can write.

An entry is named by what it was made from, and says it again inside. Whatever is not exactly as it was written, or may
have been written by somebody else, is not there: then the kernel is compiled.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tilec.runtime.directory import cache_directory, is_own, read_text, write_text

_FOLDER = "compiled"
_FORMAT = 1
_MOST_BYTES = 4 << 20
_MOST_TOGETHER = 256 << 20
_MOST_VARIANTS = 64
_WRITES_BETWEEN_CLEANING = 64


def choose_store(cache: bool | str | os.PathLike[str] | None) -> Store | None:
    """What `cache=` of `tilec.compile` asks for: False nothing, a path what is there, otherwise what is among the
    user's caches (see `cache_directory`)."""
    if cache is False:
        return None
    directory = cache_directory() if cache is None or cache is True else Path(cache)
    return None if directory is None else Store(directory / _FOLDER)


@functools.cache
def compiler_digest() -> str:
    """SHA-256 over the compiler's own files: an edited compiler finds nothing that another one wrote."""
    import lark

    digest = hashlib.sha256(lark.__version__.encode())
    package = Path(__file__).resolve().parents[1]
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".lark") and path.is_file():
            data = path.read_bytes()
            digest.update(f"{path.relative_to(package).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def _text(values: Any) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


def digest_of(values: Any) -> str:
    """SHA-256 of JSON values."""
    return hashlib.sha256(_text(values).encode()).hexdigest()


class Store:
    """The entries in one folder. Nothing here raises: what does not work is as if it were not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writes = 0

    def find(self, key: Mapping[str, Any]) -> Iterator[Any]:
        """The values that were stored under the key, those that are whole."""
        start = digest_of(key)
        names: list[str] = []
        with contextlib.suppress(OSError):
            names = os.listdir(self.folder) if is_own(self.folder) else []
        for name in sorted(name for name in names if name.startswith(start))[:_MOST_VARIANTS]:
            values = self._read(name, key)
            if values is not None:
                yield values

    def _read(self, name: str, key: Mapping[str, Any]) -> Any:
        """The values of one entry, or None if it is not whole, not ours or not of this key."""
        text = read_text(self.folder / name, _MOST_BYTES)
        try:
            entry = json.loads(text) if text is not None else {}
            is_right = entry["format"] == _FORMAT and entry["key"] == key
            return entry["values"] if is_right and entry["sha256"] == digest_of(entry["values"]) else None
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    def put(self, key: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        """Stores values beside those that are there under the key."""
        digest = digest_of(values)
        text = _text({"format": _FORMAT, "key": key, "sha256": digest, "values": values})
        if len(text) > _MOST_BYTES:
            return
        with contextlib.suppress(OSError):
            write_text(self.folder / f"{digest_of(key)}-{digest[:16]}.json", text)
            self._writes += 1
            if self._writes % _WRITES_BETWEEN_CLEANING == 1:
                self._clean()

    def _clean(self) -> None:
        """Removes the oldest entries while all together are too large."""
        found: list[tuple[float, int, Path]] = []
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):
                one = path.lstat()
                found.append((one.st_mtime, one.st_size, path))
        together = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if together <= _MOST_TOGETHER:
                return
            with contextlib.suppress(OSError):
                path.unlink()
                together -= size
