"""The examples do what they say.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from digest import MASK, OFFSET, PRIME, Digest

HERE = Path(__file__).parent


def byte_by_byte(data: bytes) -> int:
    value = OFFSET
    for byte in data:
        value = ((value ^ byte) * PRIME) & MASK
    return value


def test_the_digest_is_fnv_1a() -> None:
    digest = Digest()
    assert str(digest) == "cbf29ce484222325"
    digest.add(np.frombuffer(b"foo", np.uint8))
    digest.add(np.frombuffer(b"bar", np.uint8))
    assert str(digest) == "85944171f73967e8"


def test_the_digest_takes_any_array_in_any_parts() -> None:
    data = np.random.default_rng(1).standard_normal(5000).astype(np.float32)
    digest = Digest()
    for part in np.split(data, [1, 1, 7, 3000]):
        digest.add(part)
    assert digest.value == byte_by_byte(data.tobytes())


def idx(path: Path, values: np.ndarray) -> None:  # type: ignore[type-arg]
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    path.write_bytes(header + values.astype(np.uint8).tobytes())


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_it_trains_on_digits_that_are_easy_to_tell_apart(tmp_path: Path, device: str) -> None:
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device")
    rng = np.random.default_rng(1)
    for name, count in (("train", 1000), ("t10k", 200)):
        labels = rng.integers(0, 10, count)
        images = rng.integers(0, 30, (count, 28, 28))
        images[np.arange(count), 2 * labels] = 255  # a line at the height of the label
        idx(tmp_path / f"{name}-images-idx3-ubyte", images)
        idx(tmp_path / f"{name}-labels-idx1-ubyte", labels)
    command = [sys.executable, str(HERE / "train_mnist.py"), str(tmp_path), "2", "--device", device]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert re.search(r"^epoch 2: loss \d+\.\d{4}$", output, re.MULTILINE)
    assert re.search(r"^first epoch digest: [0-9a-f]{16}$", output, re.MULTILINE)
    assert re.search(r"^waited for data: \d+\.\d %$", output, re.MULTILINE)
    accuracy = re.search(r"^test accuracy: (\d+\.\d\d) %$", output, re.MULTILINE)
    assert accuracy is not None
    assert float(accuracy[1]) > 97


def test_a_folder_without_digits_is_said_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, HERE / "train_mnist.py", tmp_path], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"train_mnist: .*\n", done.stderr)


def test_a_device_that_pytorch_has_not_is_said_in_one_line(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    device = f"cuda:{torch.cuda.device_count()}"
    command = [sys.executable, str(HERE / "train_mnist.py"), str(tmp_path), "--device", device]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert re.fullmatch(f"train_mnist: device='{device}': PyTorch .*\n", done.stderr)
