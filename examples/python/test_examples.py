"""The examples do what they say.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
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


def merged(folder: Path, profiler: object) -> list[dict[str, Any]]:
    (folder / "profiler.json").write_text(json.dumps(profiler))
    paths = [folder / name for name in ("dataline.json", "profiler.json", "merged.json")]
    subprocess.run([sys.executable, HERE / "merge_traces.py", *map(str, paths)], check=True, stderr=subprocess.PIPE)
    events: list[dict[str, Any]] = json.loads(paths[2].read_text())["traceEvents"]
    return events


def spans(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return sorted((e for e in events if e["name"] == name and e["ph"] == "X"), key=lambda event: float(event["ts"]))


def test_a_trace_is_merged_with_the_profilers_on_one_clock(tmp_path: Path) -> None:
    """Steps as the profiler would write them, timed here; and those of PyTorch's, where it has a clock."""
    loader = dataline.Loader(dataline.from_arrays({"x": np.arange(1000)}), batch_size=10, num_workers=1)
    base_ns, steps = time.time_ns(), []
    with loader.trace(tmp_path / "dataline.json"):
        for _ in loader:
            began, ended = (time.time_ns() - base_ns) / 1000, (time.time_ns() - base_ns) / 1000
            steps.append({"name": "train", "ph": "X", "pid": 77, "tid": 1, "ts": began, "dur": ended - began})
    events = merged(tmp_path, {"baseTimeNanoseconds": base_ns, "traceEvents": steps})
    calls = spans(events, "next")
    assert len(calls) == len(steps) == 100
    assert {event["pid"] for event in calls} == {78}
    for call, step in zip(calls, spans(events, "train")):  # clocks may be set meanwhile, by a little
        assert call["ts"] + call["dur"] - 1000 < step["ts"]
    for step, call in zip(spans(events, "train"), calls[1:]):
        assert step["ts"] + step["dur"] - 1000 < call["ts"]
    with pytest.raises(subprocess.CalledProcessError):
        merged(tmp_path, steps)


def test_a_trace_is_merged_with_that_of_pytorchs_profiler(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the merge with torch.profiler's trace needs PyTorch")
    if not torch.profiler.kineto_available():
        pytest.skip("this PyTorch was built without Kineto: its profiler writes no clock")
    loader = dataline.Loader(dataline.from_arrays({"x": np.arange(1000)}), batch_size=10, num_workers=1)
    with torch.profiler.profile() as seen, loader.trace(tmp_path / "dataline.json"):
        for batch in loader:
            with torch.profiler.record_function("train"):
                torch.from_numpy(batch["x"]).sum()
    seen.export_chrome_trace(str(tmp_path / "theirs.json"))
    events = merged(tmp_path, json.loads((tmp_path / "theirs.json").read_text()))
    calls, steps = spans(events, "next"), spans(events, "train")
    assert len(calls) == len(steps) == 100
    for call, step in zip(calls, steps):
        assert call["ts"] + call["dur"] - 1000 < step["ts"]
