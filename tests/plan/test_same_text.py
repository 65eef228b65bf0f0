"""The same source gives the same text, whatever lies where in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilec import driver
from tilec.options import Options

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("fusion", [False, True], ids=["naive", "grouped"])
@pytest.mark.parametrize("name", ["normalisation.ph", "policy.ph"])
def test_compiling_again_gives_the_same_text(name: str, fusion: bool) -> None:
    loaded = driver.parse_file(ROOT / "tests/kernels" / name)
    for kernel in loaded.signatures:
        kept, texts = [], set()
        for _ in range(3):
            compiled = driver.compile_kernel(loaded.program, kernel, options=Options(fusion=fusion))
            kept.append(compiled)  # so that the next one lies elsewhere
            texts.add(compiled.wgsl)
        assert len(texts) == 1, kernel
