"""The code of the README runs, each block by itself.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import dataline

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)


def digits(folder: Path) -> None:
    """Four MNIST files of nothing much."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    for name, count in (("train", 4000), ("t10k", 100)):
        images, labels = rng.integers(0, 256, (count, 28, 28)), rng.integers(0, 10, count)
        for kind, values in (("images-idx3", images), ("labels-idx1", labels)):
            header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
            (folder / f"{name}-{kind}-ubyte").write_bytes(header + values.astype(np.uint8).tobytes())


def test_there_is_code() -> None:
    assert len(BLOCKS) == 12


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_the_code_of_the_readme_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "torch" in code:
        torch = pytest.importorskip("torch")
        if 'device="cuda"' in code and not torch.cuda.is_available():
            pytest.skip("PyTorch finds no CUDA device")
    monkeypatch.chdir(tmp_path)
    digits(tmp_path / "data")
    exec(compile(code, str(README), "exec"), {"np": np, "dataline": dataline})
