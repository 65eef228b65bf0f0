"""Every diagnostic, by identifier (`catalog.SHAPE_MISMATCH`) and by code (`ROWS["E0312"]`).

Ranges: E01 syntax, E02 names, E03 types and shapes, E04 effects, gradients and races, E05 limits; warnings count in the
same ranges with W. A failure inside the compiler has no code. A new diagnostic is a `Row` in the file of its range and
a fixture `tests/diag/CODE.ph`.
"""

from __future__ import annotations

from tilec.diag.row import Row
from tilec.diag.rows_calls import *  # noqa: F403
from tilec.diag.rows_derived import *  # noqa: F403
from tilec.diag.rows_effects import *  # noqa: F403
from tilec.diag.rows_gradients import *  # noqa: F403
from tilec.diag.rows_limits import *  # noqa: F403
from tilec.diag.rows_names import *  # noqa: F403
from tilec.diag.rows_shapes import *  # noqa: F403
from tilec.diag.rows_statements import *  # noqa: F403
from tilec.diag.rows_tokens import *  # noqa: F403
from tilec.diag.rows_types import *  # noqa: F403
from tilec.diag.rows_warnings import *  # noqa: F403

IDENTIFIERS: dict[str, Row] = {name: value for name, value in globals().items() if isinstance(value, Row)}
ROWS: dict[str, Row] = {row.code: row for row in sorted(IDENTIFIERS.values(), key=lambda row: row.code)}
