"""How the log of a debug build lies in memory, as JSON values: with them a host reads what the shader told."""

from __future__ import annotations

from typing import Any

from tilec.source import Span
from tilec.tile.reports import LOG, ROUND, Layout

USUAL_WORDS = 1 << 20
"""Words that tilec's own launches give a log."""

_EVERY_BLOCK = 0xFFFFFFFF


def log_description(layout: Layout, binding: int) -> dict[str, Any]:
    """The log bound as `binding`. Numbers of words are of 32 bits; `docs/manifest.md` says how to read it."""
    first = {0: _EVERY_BLOCK} | {layout.kind_word(kind) + 1: _EVERY_BLOCK for kind in layout.kinds}
    index = 2 + layout.rounds
    return {
        "binding": binding,
        "name": LOG,
        "words": USUAL_WORDS,
        "least_words": layout.head + layout.record * len(layout.kinds),
        "initial": {str(word): value for word, value in first.items()},
        "head": layout.head,
        "record": {
            "words": layout.record, "site": 0, "block": 1, "rounds": [2, layout.rounds], "index": [index, layout.rank],
            "values": [index + layout.rank, layout.values],
        },
        "kinds": [
            {"kind": kind, "counter": layout.kind_word(kind), "first_block": layout.kind_word(kind) + 1}
            for kind in layout.kinds
        ],
        "sites": [
            {
                "kind": site.kind, "text": site.text, **_place(site.span), "counter": layout.site_word(number),
                "names": list(site.names), "dtypes": [dtype.label for dtype in site.dtypes], "rank": site.rank,
                "path": [None if step == ROUND else step for step in layout.paths[number]],
            }
            for number, site in enumerate(layout.sites)
        ],
    }  # fmt: skip


def _place(span: Span) -> dict[str, Any]:
    """The statement, and the calls through which it was reached, from the inside out."""
    found: list[dict[str, Any]] = []
    place: Span | None = span
    while place is not None:
        line, column = place.source.line_column(place.start)
        found.append({"file": place.source.name, "line": line, "column": column})
        place = place.via
    return {**found[0], "calls": found[1:]}
