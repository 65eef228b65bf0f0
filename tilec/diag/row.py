"""What one row of the catalog holds."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter


@dataclass(frozen=True, slots=True)
class Row:
    """One diagnostic. `message`, `label` and `hint` are templates for `str.format` with named fields.

    code: `E0312` (error) or `W0201` (warning).
    message: one line, without a full stop at its end.
    label: what stands beside the caret; may be empty.
    hint: the fix, or None where it depends on the place (then `Reporter.error(..., hint=...)` gives it).
    explanation: the long form, Markdown.
    wrong, right: whole files; `wrong` yields this code and no other error, `right` yields none.
    """

    code: str
    message: str
    label: str
    hint: str | None
    explanation: str
    wrong: str
    right: str

    @property
    def severity(self) -> str:
        """`error` or `warning`."""
        return "warning" if self.code.startswith("W") else "error"

    @property
    def fields(self) -> frozenset[str]:
        """The named fields that the templates use."""
        templates = (self.message, self.label, self.hint or "")
        return frozenset(name for text in templates for _, name, _, _ in Formatter().parse(text) if name)
