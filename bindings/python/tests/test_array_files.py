"""Files of several arrays, as the safetensors package and NumPy write them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from test_batches import ALL_DTYPES

safetensors = pytest.importorskip("safetensors", reason="needs safetensors (pip install safetensors)")
stored = pytest.importorskip("safetensors.numpy", reason="needs safetensors (pip install safetensors)")


def stored_bytes(dataset: dataline.Dataset) -> dict[str, bytes]:
    """Each field, all samples one after another."""
    batch = next(iter(dataline.Loader(dataset, batch_size=max(len(dataset), 1))))
    return {field.name: batch.tensor(field.name).tobytes() for field in dataset.fields}


def arrays() -> dict[str, Any]:
    draw = np.random.default_rng(5)
    names = [name for name in ALL_DTYPES if name not in ("bf16", "c128")]
    return {name: draw.integers(0, 2, (4, 3, 2)).astype(ALL_DTYPES[name]) for name in names}


@pytest.mark.parametrize("io", ["mmap", "pread", "memory"])
@pytest.mark.parametrize("rows", ["true", "false"])
def test_what_safetensors_writes_is_read(tmp_path: Path, io: Any, rows: str) -> None:
    wanted = arrays()
    path = tmp_path / "a.safetensors"
    stored.save_file(wanted, path, metadata={"format": "np"})
    dataset = dataline.open(f"safetensors:{path}?rows={rows}", io=io)
    assert len(dataset) == (4 if rows == "true" else 1)
    assert {field.name: field.dtype for field in dataset.fields} == {name: name for name in wanted}
    assert {field.shape for field in dataset.fields} == {(3, 2) if rows == "true" else (4, 3, 2)}
    assert stored_bytes(dataset) == {name: array.tobytes() for name, array in wanted.items()}
    assert dataset.notes == ("written for 'np'",)


def test_a_directory_of_latents_is_a_dataset(tmp_path: Path) -> None:
    latents = np.random.default_rng(1).random((12, 4, 8, 8), dtype=np.float32)
    for index, latent in enumerate(latents):
        stored.save_file({"latent": latent, "label": np.array(index)}, tmp_path / f"{index}.safetensors")
    for uri in (f"safetensors:{tmp_path}?rows=false", f"safetensors:{tmp_path}?rows=false&fields=label,latent"):
        dataset = dataline.open(uri)
        assert len(dataset) == 12
        for batch in dataline.Loader(dataset, batch_size=5, shuffle="full"):
            np.testing.assert_array_equal(batch["latent"], latents[batch["label"]])


def test_bfloat16_of_torch_is_read(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch_files = pytest.importorskip("safetensors.torch")
    weights = {"w": torch.arange(12, dtype=torch.bfloat16).reshape(3, 4), "step": torch.tensor(7)}
    torch_files.save_file(weights, tmp_path / "model.safetensors")
    dataset = dataline.open(f"safetensors:{tmp_path / 'model.safetensors'}?rows=false")
    types = {field.name: (field.dtype, field.shape) for field in dataset.fields}
    assert types == {"w": ("bf16", (3, 4)), "step": ("i64", ())}
    assert stored_bytes(dataset)["w"] == weights["w"].view(torch.int16).numpy().tobytes()
    with pytest.raises(dataline.Error, match=r"array 'step' without dims i64.*rows=false"):
        dataline.open(tmp_path / "model.safetensors")


def damaged(good: bytes, draw: random.Random) -> bytes:
    """One to three changes to the header's text, under the right length."""
    length = struct.unpack("<Q", good[:8])[0]
    text = bytearray(good[8 : 8 + length])
    letters = b'{}[]:,"0123456789 -.eUIF\\x'
    for _ in range(draw.choice([1, 1, 2, 3])):
        at, kind = draw.randrange(len(text)), draw.randrange(6)
        if kind == 0:
            text[at] = draw.choice(letters)
        elif kind == 1:
            text.insert(at, draw.choice(letters))
        elif kind == 2:
            del text[at]
        else:
            text.insert(at, ord(" "))  # between values it changes nothing
    return struct.pack("<Q", len(text)) + bytes(text) + good[8 + length :]


def test_what_is_read_of_damaged_files_safetensors_reads_alike(tmp_path: Path) -> None:
    draw = random.Random(3)
    shorts = np.arange(12, dtype=np.int16).reshape(3, 4)
    good = stored.save({"x": shorts, "y": np.arange(3, dtype=np.uint8), "z": np.array(7.0)})
    path = tmp_path / "damaged.safetensors"
    both = theirs = unnamed = 0
    for _ in range(1500):
        data = damaged(good, draw)
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        try:
            told = {name: bytes(tensor["data"]) for name, tensor in safetensors.deserialize(data)}
        except safetensors.SafetensorError:
            told = {}
        try:
            got = stored_bytes(dataline.open(f"safetensors:{path}?rows=false"))
        except dataline.Error as error:
            theirs += bool(told)
            unnamed += str(path) not in str(error)
            continue
        assert got == told
        both += 1
    assert both > 100, "the damage was too great to show anything"
    assert unnamed == 0
    # Other keys of a tensor, dtypes that NumPy lacks.
    assert theirs < both


def test_the_order_of_fields_is_that_of_the_data(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    stored.save_file({"a": np.zeros(2, np.uint8), "b": np.zeros(2, np.float64), "c": np.zeros(2, np.float32)}, path)
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    wanted = sorted(header, key=lambda name: header[name]["data_offsets"])
    assert [field.name for field in dataline.open(path).fields] == wanted


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_numpy_writes_is_read(tmp_path: Path, save: Any) -> None:
    wanted = arrays()
    save(tmp_path / "a.npz", **wanted)
    try:
        dataset = dataline.open(tmp_path / "a.npz")
    except dataline.UnsupportedError as error:
        pytest.skip(str(error))  # a build without libdeflate
    assert (len(dataset), dataset.format) == (4, "npz")
    assert stored_bytes(dataset) == {name: array.tobytes() for name, array in wanted.items()}
