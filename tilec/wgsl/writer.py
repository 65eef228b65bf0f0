"""Lines of text with their indentation."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Writer:
    """Collects lines; `depth` is the present indentation, `length` the characters so far."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0
    length: int = 0

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text if text else "")
        self.length += len(self.lines[-1]) + 1

    def open(self, text: str) -> None:
        self.line(text)
        self.depth += 1

    def close(self, text: str = "}") -> None:
        self.depth -= 1
        self.line(text)
